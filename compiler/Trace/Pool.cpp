// Pools. Rounding sizes up (ceil_mode) is turned into extra padding at the end, which is never counted and never the maximum. A last
// window that would start behind the input and its low padding does not exist, as in PyTorch and ONNX.
#include "compiler/Trace/ElementwiseSupport.h"
#include "compiler/Trace/Windows.h"

namespace stator::trace {

namespace {

struct Pool {
  Window window;
  Axes extra; // per axis, part of window.padHigh
};

std::optional<Pool> resolvePool(const Call &call, const Tensor &x, const fn::PoolOptions &options) {
  if (!call.rankAtLeast("the input", x, 3))
    return std::nullopt;
  int64_t spatial = x.rank() - 2;
  Axes kernel;
  if (options.kernel.empty()) {
    call.invalid("no kernel is given");
    return std::nullopt;
  }
  if (!call.perAxis("kernel", kernel, options.kernel, spatial, 1, 1))
    return std::nullopt;
  std::optional<Window> window =
      resolveWindow(call, x, kernel, {options.strides, options.padLow, options.padHigh, options.dilations, options.autoPad});
  if (!window)
    return std::nullopt;
  Pool pool{*window, Axes(spatial, 0)};
  for (int64_t i = 0; i < spatial && options.ceilMode; ++i) {
    int64_t extent = window->extent(i), stride = window->strides[i], low = window->padLow[i], high = window->padHigh[i];
    if (std::optional<int64_t> size = call->dims(x)[2 + i].constant()) {
      int64_t span = *size + low + high - extent;
      if (span + stride <= 0)
        continue; // no window at all: left to the dialect's check
      int64_t count = (span + stride - 1) / stride + 1;
      if ((count - 1) * stride >= *size + low)
        --count;
      pool.extra[i] = std::max<int64_t>(0, (count - 1) * stride - span);
    } else if (high + stride - 1 < extent) {
      // Such a window cannot occur, and `stride - 1` more elements make the division round up.
      pool.extra[i] = stride - 1;
    } else {
      call.unsupported("ceil mode with padding " + llvm::Twine(high) + " and stride " + llvm::Twine(stride) + " over the size `" +
                       call->dims(x)[2 + i].str() + "`, which must be known when the model is compiled");
      return std::nullopt;
    }
    pool.window.padHigh[i] += pool.extra[i];
  }
  return pool;
}

Tensor emitPool(const Call &call, const Tensor &x, const fn::PoolOptions &options, graph::PoolKind kind) {
  std::optional<Pool> pool = resolvePool(call, x, options);
  if (!pool)
    return call.failed();
  Attributes attributes(*call);
  attributes.attr("kind", graph::PoolKindAttr::get(call->context(), kind))
      .ints("kernel", pool->window.kernel)
      .ints("strides", pool->window.strides)
      .ints("pad_low", pool->window.padLow)
      .ints("pad_high", pool->window.padHigh)
      .ints("dilations", pool->window.dilations);
  if (kind == graph::PoolKind::Average)
    attributes.flag("count_include_pad", options.countIncludePad);
  if (llvm::any_of(pool->extra, [](int64_t extra) { return extra != 0; }))
    attributes.ints("ceil_extra", pool->extra);
  return emit(*call, "graph.pool", {x}, attributes);
}

Ints spatialAxes(const Tensor &x) {
  Ints axes;
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    axes.push_back(axis);
  return axes;
}

Tensor power(const Tensor &x, int64_t p) {
  return p == 1 ? fn::abs(x) : p == 2 ? fn::square(x) : withScalar("pow", fn::abs(x), static_cast<double>(p));
}

Tensor root(const Tensor &x, int64_t p) { return p == 1 ? x : p == 2 ? fn::sqrt(x) : withScalar("pow", x, 1.0 / static_cast<double>(p)); }

} // namespace

namespace fn {

Tensor maxPool(const Tensor &x, const PoolOptions &options) {
  Call call("maxPool", {x});
  return call ? emitPool(call, x, options, graph::PoolKind::Max) : call.failed();
}

Tensor avgPool(const Tensor &x, const PoolOptions &options) {
  Call call("avgPool", {x});
  return call ? emitPool(call, toFloat(x), options, graph::PoolKind::Average) : call.failed();
}

Tensor lpPool(const Tensor &given, int64_t p, const PoolOptions &options) {
  Tensor x = toFloat(given);
  Call call("lpPool", {x});
  if (!call)
    return call.failed();
  if (p < 1)
    return call.invalid("the norm's order is " + llvm::Twine(p) + ", expected at least 1");
  std::optional<Pool> pool = resolvePool(call, x, options);
  if (!pool)
    return call.failed();
  // A sum over windows is a convolution by ones, each channel on its own.
  Sizes dims = sizesOf(x), flat{dims[0] * dims[1], DimExpr(1)}, ones(2, DimExpr(1));
  for (size_t i = 2; i < dims.size(); ++i) {
    flat.push_back(dims[i]);
    ones.emplace_back(pool->window.kernel[i - 2]);
  }
  Tensor filter = broadcastTo(*call, "lpPool", scalarOf(*call, x.type(), 1), ones);
  Tensor sums = emitConvolution(*call, reshapeTo(*call, power(x, p), flat), filter, pool->window, 1);
  if (!call)
    return call.failed();
  Sizes result = sizesOf(sums);
  result[0] = dims[0];
  result[1] = dims[1];
  return root(reshapeTo(*call, sums, result), p);
}

Tensor globalMaxPool(const Tensor &x) {
  Call call("globalMaxPool", {x});
  return call && call.rankAtLeast("the input", x, 3) ? reduce(x, Reduction::Max, spatialAxes(x)) : call.failed();
}

Tensor globalAvgPool(const Tensor &x) {
  Call call("globalAvgPool", {x});
  return call && call.rankAtLeast("the input", x, 3) ? reduce(x, Reduction::Mean, spatialAxes(x)) : call.failed();
}

Tensor globalLpPool(const Tensor &x, int64_t p) {
  Call call("globalLpPool", {x});
  if (!call || !call.rankAtLeast("the input", x, 3))
    return call.failed();
  if (p < 1)
    return call.invalid("the norm's order is " + llvm::Twine(p) + ", expected at least 1");
  return root(reduce(power(x, p), Reduction::Sum, spatialAxes(x)), p);
}

} // namespace fn
} // namespace stator::trace
