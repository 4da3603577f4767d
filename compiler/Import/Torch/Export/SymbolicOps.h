//===- SymbolicOps.h - Python's arithmetic on sizes and numbers ------------===//
//
// Nodes such as `_operator.mul` and `torch.sym_max` compute with sizes. Where
// the operands are known or expressions over symbols, so is the result, and
// nothing reaches the graph; else it is data, a rank-0 tensor.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICOPS_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICOPS_H

#include "compiler/Import/Torch/Aten/Context.h"
#include "stator/Result.h"

namespace stator::torch::exported {

using SymbolicOp = Result<Value> (*)(Context &context, const Values &arguments);

/// By target, "_operator.add"; null when there is none.
SymbolicOp findSymbolicOp(std::string_view target);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICOPS_H
