//===- ModelFile.h - from a file to a graph --------------------------------===//
//
// The import stage: tells the kind of a file from its first bytes and hands it
// to the importer of that format.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_MODELFILE_H
#define STATOR_COMPILER_MODELFILE_H

#include "compiler/Import/ImportOptions.h"
#include "stator/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace stator::compiler {

enum class ModelKind { Onnx, Mlir };

/// From the first bytes; `forced` is the name of a kind or empty. Unsupported for kinds that a later version will read, by name.
Result<ModelKind> modelKindOf(const std::string &path, const std::string &forced);

/// A model that has been read, as far as it could be.
struct ImportedModel {
  /// One method per entry point; null unless status is ok.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Status status;
  /// Every part that is not supported.
  std::vector<UnsupportedPart> unsupported;
  std::vector<std::pair<std::string, unsigned>> operators;
  /// For people: "producer", "opset", ...
  std::vector<std::pair<std::string, std::string>> info;
};

ImportedModel readModel(const std::string &path, ModelKind kind, const ImportOptions &options, mlir::MLIRContext &context);

/// Reads IR as a dump of a stage left it, with its parameters.
Result<mlir::OwningOpRef<mlir::ModuleOp>> readDump(const std::string &path, mlir::MLIRContext &context);

/// Replaces symbols of all methods as `options` say; for models that come as IR, where no importer does it.
Status specialise(mlir::ModuleOp module, const ImportOptions &options);

} // namespace stator::compiler

#endif // STATOR_COMPILER_MODELFILE_H
