// Convolutions as PyTorch's operators describe them, used by the forward and the backward forms, and the operands of contractions.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTRACTION_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTRACTION_H

#include "compiler/Import/Torch/Aten/OpCall.h"

namespace stator::torch {

/// The tensor in the type of torch.autocast, where one is on. Absent for None.
trace::Tensor contractionOperand(OpCall &op, size_t index);

struct Convolution {
  trace::Ints stride = {}, padding = {}, dilation = {}, outputPadding = {}; // one entry per spatial axis
  /// Padding at the end where it differs from that at the start; empty: the same.
  trace::Ints paddingHigh = {};
  bool isTransposed = false;
  int64_t groups = 1;
};

/// `list` with one entry per spatial axis; a single entry stands for all. An error when there are others.
trace::Ints perSpatialAxis(OpCall &op, trace::Ints list, int64_t count, int64_t fallback, const char *what);

/// x [N, C, spatial...] or without N; bias may be absent.
trace::Tensor convolve(OpCall &op, const trace::Tensor &x, const trace::Tensor &weight, const trace::Tensor &bias, Convolution convolution);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTRACTION_H
