// Sliding windows over the spatial axes of an image-like tensor, for convolutions and pools: which elements of the input each window
// covers, whatever the rank and the layout.
#ifndef STATOR_DIALECTS_GRAPH_INTERPRETER_WINDOWS_H
#define STATOR_DIALECTS_GRAPH_INTERPRETER_WINDOWS_H

#include "dialects/Graph/Interpreter/OpCall.h"

namespace stator::graph {

/// A position of the kernel that falls into the input: its row-major number in the kernel, and how far the element lies from the first
/// one of its channel.
struct Tap {
  int64_t number, offset;
};

class WindowWalk {
public:
  WindowWalk(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output, TensorLayout layout, llvm::ArrayRef<int64_t> kernel,
             llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> padLow, llvm::ArrayRef<int64_t> dilations);

  int64_t batches, channels, inputChannelStride;

  int64_t tapCount() const { return elementCount(kernel); }
  int64_t outputPositions() const { return elementCount(outputSizes); }
  /// The first element of a channel.
  int64_t inputPosition(int64_t batch, int64_t channel) const { return batch * inputBatchStride + channel * inputChannelStride; }
  int64_t outputPosition(int64_t batch, int64_t channel, int64_t window) const {
    return batch * outputBatchStride + channel * outputChannelStride + window * outputWindowStride;
  }

  /// Calls `visit(number, taps)` for every window, in row-major order.
  void forEachWindow(llvm::function_ref<void(int64_t window, llvm::ArrayRef<Tap> taps)> visit) const;
  /// How many taps of window `index` lie in `-low .. size + high - 1` of each axis.
  int64_t countWithin(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high) const;
  llvm::ArrayRef<int64_t> outputShape() const { return outputSizes; }

private:
  /// Where tap `k` of the window at `x` lies along an axis.
  int64_t place(int64_t axis, int64_t x, int64_t k) const { return x * strides[axis] - padLow[axis] + k * dilations[axis]; }

  llvm::SmallVector<int64_t> inputSizes, outputSizes, inputStrides, kernel, strides, padLow, dilations;
  int64_t inputBatchStride, outputBatchStride, outputChannelStride, outputWindowStride;
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INTERPRETER_WINDOWS_H
