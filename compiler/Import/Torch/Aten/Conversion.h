// Changing element types as PyTorch does.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_CONVERSION_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_CONVERSION_H

#include "compiler/Import/Torch/Aten/OpCall.h"

namespace stator::torch {

/// x in another type: floats become narrow integers by way of wide ones, so that what does not fit wraps, as in c10/util/TypeCast.h.
trace::Tensor converted(const trace::Tensor &x, ElementType type);
/// Argument `index`, where a tensor may stand for its only element.
Value numberAt(OpCall &call, size_t index);
/// The number in argument `index` as a rank-0 tensor of `type`.
trace::Tensor scalarOf(OpCall &call, size_t index, ElementType type);
/// The type of a tensor made of a Python number: i64, i1, or the default f32.
ElementType defaultTypeOf(const Value &scalar);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_CONVERSION_H
