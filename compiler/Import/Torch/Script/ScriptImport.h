//===- ScriptImport.h - from a TorchScript file to the graph dialect ---------===//
//
// A .pt file of torch.jit.save holds a module (a pickle), its weights and the
// text of its methods. Import runs the methods at compile time (Evaluator.h).
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTIMPORT_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTIMPORT_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/ImportedModel.h"
#include "compiler/Import/ModelSummary.h"
#include "stator/Result.h"

#include "mlir/IR/MLIRContext.h"

namespace stator::torch {

/// Imports the methods that the options name (else `forward`) into one module. Weights stay in the mapped file. Nothing in the file is
/// executed. Never throws.
compiler::ImportedModel importScript(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context);

/// What the file holds, without importing it.
Result<compiler::ModelSummary> summariseScript(const std::string &path);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTIMPORT_H
