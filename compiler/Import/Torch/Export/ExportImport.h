//===- ExportImport.h - from a torch.export archive to the graph dialect ---===//
//
// The front-end of .pt2 files. Programs name operators and overloads, values
// and sizes, so that importing one is walking its nodes; what the operators
// mean is in compiler/Import/Torch/Aten, shared with TorchScript.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_EXPORTIMPORT_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_EXPORTIMPORT_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/ImportedModel.h"
#include "compiler/Import/ModelSummary.h"
#include "stator/Result.h"

#include <memory>

namespace stator::torch {

class Archive;

/// Imports every program of the archive, or those that the options name, as methods of one module: `model` becomes `forward`, others
/// keep their name. Weights stay in the mapped file. Never throws.
compiler::ImportedModel importExport(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context);

/// The same for an archive that is open; `path` is for messages.
compiler::ImportedModel importExport(std::shared_ptr<Archive> archive, const std::string &path, const compiler::ImportOptions &options,
                                     mlir::MLIRContext &context);

/// What is in the file, for people; nothing is imported.
Result<compiler::ModelSummary> summariseExport(const std::string &path);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_EXPORTIMPORT_H
