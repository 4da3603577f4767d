// Convolutions. Padding modes are resolved to numbers; a transposed convolution is the convolution of the input with gaps by the
// reversed filter, which is its definition.
#include "compiler/Trace/ElementwiseSupport.h"
#include "compiler/Trace/Windows.h"

namespace stator::trace {

std::optional<Window> resolveWindow(const Call &call, const Tensor &x, llvm::ArrayRef<int64_t> kernel, const WindowOptions &options) {
  int64_t count = static_cast<int64_t>(kernel.size());
  constexpr int64_t kLeastPad = -(int64_t(1) << 31);
  Window window;
  if (!call.perAxis("kernel", window.kernel, kernel, count, 1, 1) ||
      !call.perAxis("strides", window.strides, options.strides, count, 1, 1) ||
      !call.perAxis("dilations", window.dilations, options.dilations, count, 1, 1) ||
      !call.perAxis("low padding", window.padLow, options.padLow, count, 0, kLeastPad) ||
      !call.perAxis("high padding", window.padHigh, options.padHigh, count, 0, kLeastPad))
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    if (options.autoPad == fn::AutoPad::Explicit)
      continue;
    window.padLow[i] = window.padHigh[i] = 0;
    if (options.autoPad == fn::AutoPad::Valid)
      continue;
    // The result has ceil(size / stride) elements; with stride 1 that needs no size.
    int64_t extent = window.extent(i), stride = window.strides[i], total = extent - 1;
    if (stride != 1) {
      std::optional<int64_t> size = call.constantSize("the input", x, 2 + i);
      if (!size)
        return std::nullopt;
      total = std::max<int64_t>(0, ((*size + stride - 1) / stride - 1) * stride + extent - *size);
    }
    window.padLow[i] = options.autoPad == fn::AutoPad::SameUpper ? total / 2 : total - total / 2;
    window.padHigh[i] = total - window.padLow[i];
  }
  return window;
}

Tensor emitConvolution(BuilderImpl &b, const Tensor &x, const Tensor &filter, const Window &window, int64_t groups) {
  return emit(b, "graph.convolution", {x, filter},
              Attributes(b)
                  .ints("strides", window.strides)
                  .ints("pad_low", window.padLow)
                  .ints("pad_high", window.padHigh)
                  .ints("dilations", window.dilations)
                  .integer("groups", groups));
}

namespace {

Tensor addBias(BuilderImpl &b, const Tensor &x, const Tensor &bias) {
  if (!bias || !b.ok())
    return x;
  Tensor vector = fn::cast(bias, x.type());
  if (vector.rank() != 1)
    return b.invalid("the bias has rank " + llvm::Twine(vector.rank()) + ", expected 1");
  DimExpr channels = b.dims(x)[1];
  if (!(b.requireEqual(channels, b.dims(vector)[0], "bias") == channels) && b.ok())
    vector = reshapeTo(b, vector, {channels});
  return b.ok() ? fn::add(x, broadcastAlong(b, vector, sizesOf(x), 1)) : b.poison();
}

std::optional<Axes> filterShape(const Call &call, const Tensor &x, const Tensor &weight) {
  if (!call.rankAtLeast("the input", x, 3) || !call.rank("the filter", weight, x.rank()))
    return std::nullopt;
  Axes shape;
  for (int64_t axis = 0; axis < weight.rank(); ++axis) {
    std::optional<int64_t> size = call.constantSize("the filter", weight, axis);
    if (!size)
      return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

/// [C, O/g, k..] to [O, C/g, k..] with the spatial axes reversed.
Tensor transposedFilter(BuilderImpl &b, const Tensor &weight, llvm::ArrayRef<int64_t> shape, int64_t groups) {
  int64_t inGroup = shape[0] / groups, spatial = static_cast<int64_t>(shape.size()) - 2;
  Sizes split{DimExpr(groups), DimExpr(inGroup), DimExpr(shape[1])}, joined{DimExpr(groups) * DimExpr(shape[1]), DimExpr(inGroup)};
  Ints order{0, 2, 1}, axes;
  for (int64_t i = 0; i < spatial; ++i) {
    split.emplace_back(shape[2 + i]);
    joined.emplace_back(shape[2 + i]);
    order.push_back(3 + i);
    axes.push_back(2 + i);
  }
  Tensor result = fn::transpose(reshapeTo(b, weight, split), order);
  return fn::reverse(reshapeTo(b, result, joined), axes);
}

} // namespace

namespace fn {

Tensor conv(const Tensor &x, const Tensor &weight, const Tensor &bias, const ConvOptions &options) {
  Call call("conv", {x, weight}, {bias});
  if (!call)
    return call.failed();
  std::optional<Axes> shape = filterShape(call, x, weight);
  if (!shape)
    return call.failed();
  std::optional<Window> window = resolveWindow(call, x, llvm::ArrayRef<int64_t>(*shape).drop_front(2),
                                               {options.strides, options.padLow, options.padHigh, options.dilations, options.autoPad});
  if (!window)
    return call.failed();
  if (options.groups < 1 || options.groups > (*shape)[0])
    return call.invalid(llvm::Twine(options.groups) + " groups for " + llvm::Twine((*shape)[0]) + " output channels");
  ElementType type = promote(x.type(), weight.type());
  call->requireEqual(call->dims(x)[1], DimExpr((*shape)[1]) * DimExpr(options.groups), "conv");
  return addBias(*call, emitConvolution(*call, cast(x, type), cast(weight, type), *window, options.groups), bias);
}

Tensor convTranspose(const Tensor &x, const Tensor &weight, const Tensor &bias, const ConvOptions &options) {
  Call call("convTranspose", {x, weight}, {bias});
  if (!call)
    return call.failed();
  std::optional<Axes> shape = filterShape(call, x, weight);
  if (!shape)
    return call.failed();
  int64_t spatial = x.rank() - 2;
  Axes outputPadding, outputShape;
  AutoPad explicitly = options.autoPad == AutoPad::Valid ? AutoPad::Valid : AutoPad::Explicit;
  std::optional<Window> window = resolveWindow(call, x, llvm::ArrayRef<int64_t>(*shape).drop_front(2),
                                               {options.strides, options.padLow, options.padHigh, options.dilations, explicitly});
  if (!window || !call.perAxis("output padding", outputPadding, options.outputPadding, spatial, 0, 0) ||
      !call.perAxis("output shape", outputShape, options.outputShape, spatial, -1, 0))
    return call.failed();
  if (options.groups < 1 || (*shape)[0] % options.groups != 0)
    return call.invalid(llvm::Twine(options.groups) + " groups for " + llvm::Twine((*shape)[0]) + " input channels");
  call->requireEqual(call->dims(x)[1], DimExpr((*shape)[0]), "convTranspose");
  if (!call)
    return call.failed();

  bool isSame = options.autoPad == AutoPad::SameUpper || options.autoPad == AutoPad::SameLower;
  Sizes low(x.rank(), DimExpr(0)), high(x.rank(), DimExpr(0));
  Axes interior(x.rank(), 0);
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t extent = window->extent(i), stride = window->strides[i];
    if (isSame || !options.outputShape.empty()) {
      // What must be cut off so that the result has the size asked for: `size * stride`, or `output shape`.
      int64_t total = extent - stride + outputPadding[i];
      if (!options.outputShape.empty()) {
        std::optional<int64_t> size = call.constantSize("the input", x, 2 + i);
        if (!size)
          return call.failed();
        if (__builtin_mul_overflow(stride, *size - 1, &total))
          return call.invalid("a stride of " + llvm::Twine(stride) + " over " + llvm::Twine(*size) + " elements");
        total += outputPadding[i] + extent - outputShape[i];
      }
      // A result larger than what the input reaches is extended at its end.
      int64_t half = total / 2;
      window->padLow[i] = total < 0 ? 0 : options.autoPad == AutoPad::SameUpper ? half : total - half;
      window->padHigh[i] = total - window->padLow[i];
    }
    low[2 + i] = DimExpr(extent - 1 - window->padLow[i]);
    high[2 + i] = DimExpr(extent - 1 - window->padHigh[i] + outputPadding[i]);
    interior[2 + i] = stride - 1;
    window->padLow[i] = window->padHigh[i] = 0;
    window->strides[i] = 1;
  }
  ElementType type = promote(x.type(), weight.type());
  Tensor gaps = emit(*call, "graph.pad", {cast(x, type), scalarOf(*call, type, 0)},
                     Attributes(*call).sizes("low", low).sizes("high", high).ints("interior", interior));
  Tensor filter = transposedFilter(*call, cast(weight, type), *shape, options.groups);
  return addBias(*call, emitConvolution(*call, gaps, filter, *window, options.groups), bias);
}

} // namespace fn
} // namespace stator::trace
