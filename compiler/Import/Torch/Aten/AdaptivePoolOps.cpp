// Adaptive pools, whose windows follow from the size of the result: window i of n over a size s reaches from floor(i * s / n) to
// ceil((i + 1) * s / n). Even windows are an ordinary pool or a reduction, others one gather per axis.
#include "compiler/Import/Torch/Aten/Compute.h"
#include "compiler/Import/Torch/Aten/Pooling.h"

#include <algorithm>
#include <limits>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

struct AdaptiveAxis {
  int64_t size, outputs, width;
  Ints starts, lengths;
};

AdaptiveAxis adaptiveAxis(int64_t size, int64_t outputs) {
  AdaptiveAxis axis{size, outputs, 0, {}, {}};
  for (int64_t i = 0; i < outputs; ++i) {
    int64_t start = i * size / outputs, end = ((i + 1) * size + outputs - 1) / outputs;
    axis.starts.push_back(start);
    axis.lengths.push_back(end - start);
    axis.width = std::max(axis.width, end - start);
  }
  return axis;
}

/// Positions of all windows; short ones repeat their last element.
Ints positionsOf(const AdaptiveAxis &axis) {
  Ints positions;
  for (int64_t i = 0; i < axis.outputs; ++i)
    for (int64_t j = 0; j < axis.width; ++j)
      positions.push_back(axis.starts[i] + std::min(j, axis.lengths[i] - 1));
  return positions;
}

// Where sizes are known only at run time, each window looks at the whole axis, masked.

/// [.., outputs, size, ..]: the elements of each window, `fill` elsewhere.
Tensor maskedWindows(OpCall &op, const Tensor &x, int64_t axis, const Dim &outputs, double fill) {
  Dims grid{outputs, x.dim(axis)}, spread(x.rank() + 1, 1);
  auto scalar = [&](const Dim &dim) { return op.builder().fromDim(dim); };
  Tensor window = fn::iota(op.builder(), ElementType::I64, grid, 0), position = fn::iota(op.builder(), ElementType::I64, grid, 1);
  Tensor size = scalar(x.dim(axis)), count = scalar(outputs);
  Tensor start = fn::floorDiv(fn::mul(window, size), count);
  Tensor end = fn::floorDiv(fn::add(fn::mul(plus(window, 1), size), plus(count, -1)), count);
  Tensor isInside = fn::logicalAnd(fn::ge(position, start), fn::lt(position, end));
  spread[axis] = outputs;
  spread[axis + 1] = x.dim(axis);
  return fn::where(fn::reshape(isInside, spread), fn::unsqueeze(x, {axis}), fn::scalarLike(x, fill));
}

constexpr double kLowest = -std::numeric_limits<double>::infinity();

Tensor poolByMask(OpCall &op, const Tensor &x, int64_t axis, const Dim &outputs, bool isMax) {
  auto reduced = [&](const Tensor &y, fn::Reduction kind) { return fn::reduce(y, kind, Ints{axis + 1}, /*keepDims=*/false); };
  if (isMax)
    return reduced(maskedWindows(op, x, axis, outputs, kLowest), fn::Reduction::Max);
  Tensor ones = fn::full(op.builder(), x.type(), {x.dim(axis)}, 1);
  Dims spread(x.rank(), 1);
  spread[axis] = x.dim(axis);
  return fn::div(reduced(maskedWindows(op, x, axis, outputs, 0), fn::Reduction::Sum),
                 reduced(maskedWindows(op, fn::reshape(ones, spread), axis, outputs, 0), fn::Reduction::Sum));
}

/// Values and positions in their plane of the maxima of masked windows, from the last axis to the first: the first of equal ones.
std::pair<Tensor, Tensor> maximaByMask(OpCall &op, const Tensor &x, const Dims &outputs) {
  Tensor values = x, flat;
  Dim stride = 1;
  for (int64_t i = static_cast<int64_t>(outputs.size()) - 1; i >= 0; --i) {
    int64_t axis = 2 + i;
    Tensor masked = maskedWindows(op, values, axis, outputs[i], kLowest), best = fn::argMax(masked, axis + 1, /*keepDims=*/false);
    Tensor offset = fn::mul(best, op.builder().fromDim(stride));
    flat = flat ? fn::add(offset, fn::gatherElements(flat, best, axis)) : offset;
    values = fn::reduce(masked, fn::Reduction::Max, Ints{axis + 1}, /*keepDims=*/false);
    stride = stride * x.dim(axis);
  }
  return {values, flat};
}

/// One axis of an adaptive pool, x [N, C, spatial...].
Tensor poolAdaptively(OpCall &op, const Tensor &x, int64_t axis, const Dim &outputs, bool isMax) {
  auto reduce = [&](const Tensor &y, int64_t at, bool keepDims) {
    return fn::reduce(y, isMax ? fn::Reduction::Max : fn::Reduction::Mean, Ints{at}, keepDims);
  };
  Dim size = x.dim(axis);
  if (size == outputs)
    return x;
  if (outputs == Dim(1))
    return reduce(x, axis, true);
  if (!size.isConstant() || !outputs.isConstant())
    return poolByMask(op, x, axis, outputs, isMax);
  if (size.constant() == 0 || outputs.constant() == 0 || size.constant() > (1 << 20) || outputs.constant() > (1 << 20)) {
    op.unsupported("adaptive pooling of " + size.str() + " to " + outputs.str() + " elements");
    return x;
  }
  AdaptiveAxis windows = adaptiveAxis(size.constant(), outputs.constant());
  Dims split = x.dims();
  split[axis] = windows.outputs;
  split.insert(split.begin() + axis + 1, windows.width);
  if (windows.size % windows.outputs == 0)
    return reduce(fn::reshape(x, split), axis + 1, false);
  Tensor laidOut = fn::reshape(fn::gather(x, op.builder().vector(positionsOf(windows)), axis), split);
  if (isMax)
    return reduce(laidOut, axis + 1, false);
  Dims spread(split.size(), 1);
  spread[axis] = windows.outputs;
  Tensor lengths = fn::reshape(op.builder().vector(windows.lengths), spread);
  spread[axis + 1] = windows.width;
  Dims inWindow(split.size(), 1);
  inWindow[axis + 1] = windows.width;
  Tensor isInside = fn::lt(fn::iota(op.builder(), ElementType::I64, inWindow, axis + 1), lengths);
  Tensor sum = fn::reduce(fn::where(isInside, laidOut, zeroLike(laidOut)), fn::Reduction::Sum, Ints{axis + 1}, false);
  spread.erase(spread.begin() + axis + 1);
  return fn::div(sum, fn::cast(fn::reshape(lengths, spread), x.type()));
}

/// Whole windows of the same size on all axes are an ordinary pool; nothing when they are not.
std::optional<fn::PoolOptions> evenWindows(const Tensor &x, const Dims &outputs) {
  fn::PoolOptions options;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Dim size = x.dim(2 + static_cast<int64_t>(i));
    if (!size.isConstant() || !outputs[i].isConstant() || outputs[i].constant() < 1 || size.constant() % outputs[i].constant() != 0 ||
        size.constant() == 0)
      return std::nullopt;
    options.kernel.push_back(size.constant() / outputs[i].constant());
  }
  options.strides = options.kernel;
  return options;
}

template <int64_t spatial>
Value adaptiveAvgPool(OpCall &op) {
  Operands input = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  Dims outputs = outputDims(op, 1, spatial);
  Batched x(op, input[0], spatial);
  if (!op.ok())
    return Value::poison();
  bool isGlobal = std::all_of(outputs.begin(), outputs.end(), [](const Dim &dim) { return dim == Dim(1); });
  if (isGlobal)
    return input.result(op, x.undo(fn::reduce(x.value, fn::Reduction::Mean, axisRange(2, 2 + spatial), /*keepDims=*/true)));
  if (std::optional<fn::PoolOptions> options = evenWindows(x.value, outputs))
    return input.result(op, x.undo(fn::avgPool(x.value, *options)));
  Tensor result = x.value;
  for (int64_t i = 0; i < spatial && op.ok(); ++i)
    result = poolAdaptively(op, result, 2 + i, outputs[i], /*isMax=*/false);
  return input.result(op, x.undo(result));
}

template <int64_t spatial>
Value adaptiveMaxPool(OpCall &op) {
  Dims outputs = outputDims(op, 1, spatial);
  Batched x(op, op.tensor(0), spatial);
  if (!op.ok())
    return Value::poison();
  bool isKnown = true;
  for (int64_t i = 0; i < spatial; ++i)
    isKnown = isKnown && x.value.dim(2 + i).isConstant() && outputs[i].isConstant();
  if (!isKnown) {
    auto [values, indices] = maximaByMask(op, x.value, outputs);
    return op.results({x.undo(values), x.undo(indices)});
  }
  Tensor values = x.value;
  for (int64_t i = 0; i < spatial && op.ok(); ++i)
    values = poolAdaptively(op, values, 2 + i, outputs[i], /*isMax=*/true);
  if (!op.ok())
    return Value::poison();
  Windows windows;
  Dims dims = values.dims();
  for (int64_t i = 0; i < spatial; ++i) {
    Dim size = x.value.dim(2 + i);
    AdaptiveAxis axis = adaptiveAxis(size.constant(), dims[2 + i].constant());
    windows.positions.push_back(op.builder().vector(positionsOf(axis)));
    windows.widths.push_back(axis.width);
  }
  return op.results({x.undo(values), x.undo(positionsOfMaxima(op, x.value, dims, windows))});
}

} // namespace

std::span<const OpEntry> adaptivePoolOps() {
  static constexpr OpEntry entries[] = {
      {"adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", adaptiveAvgPool<1>},
      {"adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool<2>},
      {"adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptiveAvgPool<3>},
      {"_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool<2>},
      {"_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptiveAvgPool<3>},
      {"adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", adaptiveMaxPool<1>},
      {"adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", adaptiveMaxPool<2>},
      {"adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", adaptiveMaxPool<3>},
  };
  return entries;
}

} // namespace stator::torch
