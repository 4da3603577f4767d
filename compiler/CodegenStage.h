//===- CodegenStage.h - kernel functions become shared objects -------------===//
//
// The codegen stage: the module @kernels is lowered and compiled once for each
// CPU level.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_CODEGENSTAGE_H
#define STATOR_COMPILER_CODEGENSTAGE_H

#include "codegen/Artifact/ManifestBuilder.h"
#include "codegen/Cpu/CpuCodegen.h"
#include "stator/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace stator::compiler {

struct CompiledKernels {
  std::vector<codegen::KernelLibrary> libraries;
  codegen::KernelScratch scratch;
  codegen::KernelsWithBarrier withBarrier;
  /// The lowered kernels of each level, for dumps; empty unless they were asked for.
  std::vector<std::pair<std::string, mlir::OwningOpRef<mlir::ModuleOp>>> lowered;
};

/// Runs a pass manager as the driver wants it: with its flags, verification and reproducer.
using PassRunner = std::function<mlir::LogicalResult(mlir::ModuleOp, llvm::function_ref<void(mlir::OpPassManager &)>)>;

struct CodegenRequest {
  std::vector<CpuLevel> levels;
  int optimisationLevel = 2;
  std::string dumpKernelsDir;
  bool keepLowered = false;
  PassRunner runPasses;
  std::function<void(const std::string &level)> onLevel;
};

/// `module` holds the module @kernels; it is not changed. No kernels: no libraries.
Result<CompiledKernels> compileKernelLibraries(mlir::ModuleOp module, const CodegenRequest &request);

} // namespace stator::compiler

#endif // STATOR_COMPILER_CODEGENSTAGE_H
