// What sliding and adaptive pools share: inputs without a batch, and the positions of maxima.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_POOLING_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_POOLING_H

#include "compiler/Import/Torch/Aten/OpCall.h"

namespace stator::torch {

/// A pool's input with a batch axis, whether it came with one or not.
class Batched {
public:
  Batched(OpCall &op, const trace::Tensor &x, int64_t spatial);
  /// A result as the input came.
  trace::Tensor undo(const trace::Tensor &result) const;

  trace::Tensor value;

private:
  bool isAdded_ = false;
};

/// The sizes of a result, one for each spatial axis; one alone stands for all.
trace::Dims outputDims(OpCall &op, size_t index, int64_t spatial);

/// `positions[i]` are those of the input that the windows of spatial axis i hold: a vector of [outputs * width], all of them inside the
/// input and the window; where a window is cut off it holds one of its elements twice.
struct Windows {
  std::vector<trace::Tensor> positions;
  trace::Ints widths;
};

/// The position in its plane of the first maximum of each window; x [N, C, spatial...], `dims` the sizes of the result.
trace::Tensor positionsOfMaxima(OpCall &op, const trace::Tensor &x, const trace::Dims &dims, const Windows &windows);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_POOLING_H
