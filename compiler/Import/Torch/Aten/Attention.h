// Scaled dot-product attention as several operators need it.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_ATTENTION_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_ATTENTION_H

#include "compiler/Import/Torch/Aten/Compute.h"

namespace stator::torch {

struct Attention {
  trace::Tensor query, key, value, mask; // i1 (true: attend) or additive; may be absent
  bool isCausal = false;
  bool sharesKeys = false; // enable_gqa
  std::optional<double> scale = {};
};

/// softmax(query @ key^T * scale + mask) @ value; leading axes broadcast.
trace::Tensor attend(OpCall &call, Attention &a);
/// Scaled and masked products of queries and keys, in f32 for narrower floats.
trace::Tensor scores(OpCall &call, const Attention &a);
/// The mask with sizes that are spelt as those of the scores.
trace::Tensor fittingMask(OpCall &call, const Attention &a);
/// The scale given, else one over the root of the width of a head.
double scaleOf(OpCall &call, const Attention &a);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_ATTENTION_H
