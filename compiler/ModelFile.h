//===- ModelFile.h - from a file to a graph --------------------------------===//
//
// The import stage: tells the kind of a file from its content and hands it to
// the importer of that format.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_MODELFILE_H
#define STATOR_COMPILER_MODELFILE_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/ImportedModel.h"
#include "compiler/Import/ModelSummary.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace stator::compiler {

enum class ModelKind { Onnx, Mlir, TorchScript, TorchExport };

/// From what is in the file, never from its name; `forced` is "onnx", "mlir", "pt", "pt2" or empty. What is no model is refused with a
/// word on what it is: an artifact, a state dict, a pickle, an array file.
Result<ModelKind> modelKindOf(const std::string &path, const std::string &forced);

/// Also reads the arrays that constants are given as.
ImportedModel readModel(const std::string &path, ModelKind kind, ImportOptions options, mlir::MLIRContext &context);

/// What is in a model file, without an import. Unsupported for MLIR text, which says it itself.
Result<ModelSummary> summarise(const std::string &path, ModelKind kind);

/// Reads IR as a dump of a stage left it, with its parameters.
Result<mlir::OwningOpRef<mlir::ModuleOp>> readDump(const std::string &path, mlir::MLIRContext &context);

/// Replaces symbols of all methods, which have names for their inputs, as `options` say; for models that come as IR, where no importer
/// does it.
Status specialise(mlir::ModuleOp module, const ImportOptions &options);

} // namespace stator::compiler

#endif // STATOR_COMPILER_MODELFILE_H
