// Resize: the sizes of the result, from scales or given, with ONNX's rules of rounding and aspect; the interpolation is the dialect's.
#include "compiler/Trace/ElementwiseSupport.h"

#include <cmath>

namespace stator::trace::fn {

namespace {

/// The fraction with a small denominator that a number such as 1.7 stands for.
std::optional<std::pair<int64_t, int64_t>> smallFraction(double number) {
  constexpr int64_t kMostDivisor = 4096;
  for (int64_t divisor = 1; divisor <= kMostDivisor && number < 4096; ++divisor) {
    double dividend = std::round(number * static_cast<double>(divisor));
    if (dividend > 0 && dividend / static_cast<double>(divisor) == number)
      return std::pair(static_cast<int64_t>(dividend), divisor);
  }
  return std::nullopt;
}

/// floor(size * scale).
std::optional<DimExpr> scaled(const Call &call, const DimExpr &size, const Element &scale) {
  if (std::optional<int64_t> constant = size.constant()) {
    std::optional<double> factor = scale.constant();
    double result = factor ? std::floor(static_cast<double>(*constant) * *factor) : -1;
    if (result >= 0 && result < 2147483648.0)
      return DimExpr(static_cast<int64_t>(result));
  } else if (std::optional<Element> fraction = scale.asFraction()) {
    DimExpr result = (size * fraction->numerator()).floorDiv(DimExpr(fraction->divisor()));
    if (result.isValid())
      return result;
  }
  if (std::optional<double> factor = scale.constant(); factor && !size.isConstant())
    if (std::optional<std::pair<int64_t, int64_t>> fraction = smallFraction(*factor)) {
      DimExpr result = (size * DimExpr(fraction->first)).floorDiv(DimExpr(fraction->second));
      if (result.isValid())
        return result;
    }
  call.unsupported("the size `" + size.str() + "` times the scale " +
                   (scale.constant() ? llvm::Twine(std::to_string(*scale.constant())) : llvm::Twine("of unknown value")));
  return std::nullopt;
}

struct Target {
  Sizes dims;
  llvm::SmallVector<double> scales; // empty: as the sizes give them
};

std::optional<Target> fromScales(const Call &call, const Tensor &x, const Tensor &scales, llvm::ArrayRef<int64_t> axes) {
  const Contents *contents = call->contents(scales);
  if (!contents || contents->size() != axes.size()) {
    if (contents)
      call.invalid(llvm::Twine(contents->size()) + " scales for " + llvm::Twine(axes.size()) + " axes");
    else
      call.unsupported("the scales must be known when the model is compiled, but depend on data");
    return std::nullopt;
  }
  Target target{sizesOf(x), llvm::SmallVector<double>(x.rank(), 1.0)};
  bool isConstant = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<double> factor = (*contents)[i].constant();
    if (factor && !(*factor > 0)) {
      call.invalid("a scale is not positive");
      return std::nullopt;
    }
    isConstant &= factor.has_value();
    std::optional<DimExpr> size = scaled(call, target.dims[axes[i]], (*contents)[i]);
    if (!size)
      return std::nullopt;
    target.dims[axes[i]] = *size;
    target.scales[axes[i]] = factor.value_or(1.0);
  }
  if (!isConstant)
    target.scales.clear();
  return target;
}

std::optional<Target> fromSizes(const Call &call, const Tensor &x, const Tensor &given, llvm::ArrayRef<int64_t> axes, ResizeAspect aspect) {
  std::optional<Sizes> sizes = call.sizes("the sizes", given);
  if (!sizes)
    return std::nullopt;
  if (sizes->size() != axes.size()) {
    call.invalid(llvm::Twine(sizes->size()) + " sizes for " + llvm::Twine(axes.size()) + " axes");
    return std::nullopt;
  }
  Target target{sizesOf(x), {}};
  if (aspect == ResizeAspect::Stretch) {
    for (size_t i = 0; i < axes.size(); ++i)
      target.dims[axes[i]] = (*sizes)[i];
    return target;
  }
  // One scale for all axes: the smallest or the largest of those that the sizes ask for.
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<int64_t> from = target.dims[axes[i]].constant(), to = (*sizes)[i].constant();
    if (!from || !to || *from <= 0 || *to <= 0) {
      call.unsupported("keeping the aspect needs constant positive sizes");
      return std::nullopt;
    }
    double scale = static_cast<double>(*to) / static_cast<double>(*from);
    common = i == 0 ? scale : aspect == ResizeAspect::NotLarger ? std::min(common, scale) : std::max(common, scale);
  }
  target.scales.assign(x.rank(), 1.0);
  for (int64_t axis : axes) {
    double size = std::floor(common * static_cast<double>(*target.dims[axis].constant()) + 0.5);
    target.dims[axis] = DimExpr(static_cast<int64_t>(std::min(size, 2147483647.0)));
    target.scales[axis] = common;
  }
  return target;
}

graph::ResizeCoordinate coordinateOf(ResizeCoordinate coordinate) {
  switch (coordinate) {
  case ResizeCoordinate::HalfPixel:
    return graph::ResizeCoordinate::HalfPixel;
  case ResizeCoordinate::HalfPixelSymmetric:
    return graph::ResizeCoordinate::HalfPixelSymmetric;
  case ResizeCoordinate::PytorchHalfPixel:
    return graph::ResizeCoordinate::PytorchHalfPixel;
  case ResizeCoordinate::AlignCorners:
    return graph::ResizeCoordinate::AlignCorners;
  case ResizeCoordinate::Asymmetric:
    return graph::ResizeCoordinate::Asymmetric;
  }
  return graph::ResizeCoordinate::HalfPixel;
}

} // namespace

Tensor resize(const Tensor &x, const Tensor &scales, const Tensor &sizes, const ResizeOptions &options) {
  Call call("resize", {x}, {scales, sizes});
  if (!call)
    return call.failed();
  if (bool(scales) == bool(sizes))
    return call.invalid(scales ? "both scales and sizes are given" : "neither scales nor sizes are given");
  Axes axes;
  if (options.axes.empty())
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      axes.push_back(axis);
  else if (!call.axes(options.axes, x.rank()))
    return call.failed();
  else
    for (int64_t axis : options.axes)
      axes.push_back(axis < 0 ? axis + x.rank() : axis);
  std::optional<Target> target = scales ? fromScales(call, x, scales, axes) : fromSizes(call, x, sizes, axes, options.aspect);
  if (!target)
    return call.failed();
  static_assert(static_cast<int>(ResizeMode::Cubic) == static_cast<int>(graph::ResizeMode::Cubic));
  static_assert(static_cast<int>(ResizeNearest::Ceil) == static_cast<int>(graph::ResizeNearest::Ceil));
  Attributes attributes(*call);
  attributes.attr("mode", graph::ResizeModeAttr::get(call->context(), static_cast<graph::ResizeMode>(options.mode)))
      .attr("coordinate", graph::ResizeCoordinateAttr::get(call->context(), coordinateOf(options.coordinate)))
      .attr("nearest_mode", graph::ResizeNearestAttr::get(call->context(), static_cast<graph::ResizeNearest>(options.nearest)))
      .number("cubic_coeff", options.cubicCoefficient)
      .flag("exclude_outside", options.excludeOutside)
      .flag("antialias", options.antialias);
  if (!target->scales.empty())
    attributes.numbers("scales", target->scales);
  return emitAs(*call, "graph.resize", {x}, x.type(), target->dims, attributes);
}

} // namespace stator::trace::fn
