// Sliding windows: the options of convolutions and pools with defaults filled in and padding modes resolved.
#ifndef STATOR_COMPILER_TRACE_WINDOWS_H
#define STATOR_COMPILER_TRACE_WINDOWS_H

#include "compiler/Trace/FunctionSupport.h"

namespace stator::trace {

struct WindowOptions {
  llvm::ArrayRef<int64_t> strides, padLow, padHigh, dilations;
  fn::AutoPad autoPad;
};

/// One entry per spatial axis.
struct Window {
  Axes kernel, strides, padLow, padHigh, dilations;
  /// How many elements the dilated kernel spans.
  int64_t extent(int64_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// For x of shape [N, C, spatial...]; nothing after an error.
std::optional<Window> resolveWindow(const Call &call, const Tensor &x, llvm::ArrayRef<int64_t> kernel, const WindowOptions &options);

Tensor emitConvolution(BuilderImpl &b, const Tensor &x, const Tensor &filter, const Window &window, int64_t groups);

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_WINDOWS_H
