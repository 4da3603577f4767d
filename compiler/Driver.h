//===- Driver.h - runs the stages on one model -----------------------------===//
//
// The inside of stator::compiler::compile(): the state that goes from stage to
// stage, dumps after each, and resuming from a dump.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_DRIVER_H
#define STATOR_COMPILER_DRIVER_H

#include "compiler/CodegenStage.h"
#include "compiler/DiagnosticCollector.h"
#include "compiler/ModelFile.h"
#include "compiler/Pipeline.h"
#include "stator/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace stator::compiler {

/// What a tool adds that the public options cannot say.
struct DriverHooks {
  /// Called for each pass manager before it runs, for MLIR's own flags.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
  /// Called with the IR after the last stage.
  std::function<void(mlir::ModuleOp)> onFinished;
};

class Driver {
public:
  /// The dialects of the compiler are loaded into `context`.
  Driver(mlir::MLIRContext &context, const CompileOptions &options, DriverHooks hooks);

  /// The import stage, or resuming from a dump.
  Status importFile(const std::string &path);
  /// A graph that was traced in memory takes the place of the import stage.
  Status adopt(mlir::OwningOpRef<mlir::ModuleOp> module);
  /// All stages after import, as far as the options want.
  Status run();

  mlir::ModuleOp module() { return *ir; }
  /// With the times until now.
  CompileSummary takeSummary();
  /// What the importer found out about the model; its module has moved on.
  const ImportedModel &imported() const { return model; }

private:
  void warnOfNarrowedSizes(llvm::ArrayRef<SymbolSpec> given);
  void showWarnings();
  Status verifyImported();
  Status verifyDump(const Stage &first);
  Status runStage(const Stage &stage);
  std::unique_ptr<codegen::CompileCache> openCache();
  Status runCodegen();
  Status runArtifact();
  Status dump(const Stage &stage);
  Status writeDump(const std::string &name, mlir::Operation *op);
  void progress(const Stage &stage, const std::string &detail = "");
  mlir::LogicalResult runPasses(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build, bool reproduce = true);
  bool isLast(const Stage &stage) const { return stage.name == options.stopAfter; }

  mlir::MLIRContext &context;
  CompileOptions options;
  DriverHooks hooks;
  DiagnosticCollector diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> ir;
  CompiledKernels kernels;
  std::string optimisedGraph;
  ImportedModel model;
  TimeRecorder times;
  /// Of the stage that has begun last.
  std::string stageName = "import";
  CompileSummary result;
};

/// compile() with hooks.
Result<CompileSummary> compile(const std::string &path, const CompileOptions &options, DriverHooks hooks);

} // namespace stator::compiler

#endif // STATOR_COMPILER_DRIVER_H
