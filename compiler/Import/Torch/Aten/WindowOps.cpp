// Pools of windows that slide. Where positions of maxima are asked for, the windows are laid out by one gather per axis; nothing of that
// is left in the graph when nobody uses the positions.
#include "compiler/Import/Torch/Aten/Pooling.h"

#include "compiler/Import/Torch/Aten/Compute.h"
#include "compiler/Import/Torch/Aten/Contraction.h"

#include <algorithm>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

Batched::Batched(OpCall &op, const Tensor &x, int64_t spatial) {
  isAdded_ = x && x.rank() == spatial + 1;
  if (op.ok() && !isAdded_ && x.rank() != spatial + 2)
    op.invalid("the input has " + std::to_string(x.rank()) + " dimensions, expected " + std::to_string(spatial + 1) + " or " +
               std::to_string(spatial + 2));
  value = isAdded_ ? fn::unsqueeze(x, {0}) : x;
}

Tensor Batched::undo(const Tensor &result) const { return isAdded_ ? fn::squeeze(result, {0}) : result; }

Dims outputDims(OpCall &op, size_t index, int64_t spatial) {
  Dims dims = op.dims(index);
  if (dims.size() == 1)
    dims.assign(static_cast<size_t>(spatial), dims[0]);
  if (op.ok() && static_cast<int64_t>(dims.size()) != spatial)
    op.invalid("the size of the result has " + std::to_string(dims.size()) + " entries, expected " + std::to_string(spatial));
  return dims;
}

Tensor positionsOfMaxima(OpCall &op, const Tensor &x, const Dims &dims, const Windows &windows) {
  int64_t spatial = static_cast<int64_t>(windows.widths.size());
  Tensor laidOut = x;
  Dims split{dims[0], dims[1]};
  Ints order{0, 1};
  int64_t count = 1;
  for (int64_t i = 0; i < spatial; ++i) {
    laidOut = fn::gather(laidOut, windows.positions[i], 2 + i);
    split.push_back(dims[2 + i]);
    split.push_back(windows.widths[i]);
    order.push_back(2 + 2 * i);
    count *= windows.widths[i];
  }
  for (int64_t i = 0; i < spatial; ++i)
    order.push_back(3 + 2 * i);
  Dims joined = dims;
  joined.push_back(count);
  Tensor best = fn::argMax(fn::reshape(fn::transpose(fn::reshape(laidOut, split), order), joined), -1, /*keepDims=*/false);

  // From the place in the window to the position in the plane, axis by axis.
  Tensor flat = zeroLike(best), rest = best;
  int64_t weight = count;
  for (int64_t i = 0; i < spatial; ++i) {
    weight /= windows.widths[i];
    Tensor divisor = fn::scalarLike(rest, static_cast<double>(weight)), place = fn::div(rest, divisor);
    rest = fn::remainder(rest, divisor);
    Tensor window = fn::iota(op.builder(), ElementType::I64, dims, 2 + i);
    Tensor index = fn::add(times(window, static_cast<double>(windows.widths[i])), place);
    flat = fn::add(fn::mul(flat, op.builder().fromDim(x.dim(2 + i))), fn::gather(windows.positions[i], index, 0));
  }
  return flat;
}

namespace {

/// Axes whose window is all of an axis that is known only when the model runs (`avg_pool2d(x, x.size()[2:])`) are reduced here, in `x`.
/// Gives the other sizes of the windows, with 1 for those axes; empty when the kernel is made of numbers only.
Ints reduceWholeAxes(OpCall &op, Tensor &x, int64_t spatial, fn::Reduction reduction, size_t dilation) {
  Dims kernel = op.context().simplify(op.dims(1));
  if (kernel.size() == 1)
    kernel.assign(static_cast<size_t>(spatial), kernel[0]);
  bool isKnown = std::all_of(kernel.begin(), kernel.end(), [](const Dim &size) { return size.isConstant(); });
  if (!op.ok() || isKnown || static_cast<int64_t>(kernel.size()) != spatial || !x)
    return {};
  Ints padding = perSpatialAxis(op, op.integers(3), spatial, 0, "the padding"), sizes, axes;
  Ints dilations = dilation == 0 ? Ints(kernel.size(), 1) : perSpatialAxis(op, op.integers(dilation), spatial, 1, "the dilation");
  Dims dims = op.context().simplify(x.dims());
  for (size_t i = 0; i < kernel.size() && op.ok(); ++i) {
    bool isWhole = !kernel[i].isConstant() && kernel[i] == dims[2 + i] && padding[i] == 0 && dilations[i] == 1;
    if (!isWhole && !kernel[i].isConstant())
      return {};
    sizes.push_back(isWhole ? 1 : kernel[i].constant());
    if (isWhole)
      axes.push_back(2 + static_cast<int64_t>(i));
  }
  if (op.ok())
    x = fn::reduce(x, reduction, axes, /*keepDims=*/true);
  return sizes;
}

/// `kernel`: what reduceWholeAxes left of it.
fn::PoolOptions poolOptions(OpCall &op, int64_t spatial, size_t dilation, size_t ceilMode, const Ints &kernel = {}) {
  fn::PoolOptions options;
  options.kernel = perSpatialAxis(op, kernel.empty() ? op.integers(1) : kernel, spatial, 1, "the kernel");
  Dims strideDims = op.dims(2);
  if (strideDims.size() == 1)
    strideDims.assign(static_cast<size_t>(spatial), strideDims[0]);
  // There is one window only along an axis that has been reduced, whatever the stride.
  for (size_t i = 0; i < strideDims.size() && i < kernel.size(); ++i)
    if (!strideDims[i].isConstant() && kernel[i] == 1)
      strideDims[i] = 1;
  bool areKnown = std::all_of(strideDims.begin(), strideDims.end(), [](const Dim &size) { return size.isConstant(); });
  Ints strides;
  if (!areKnown)
    strides = op.integers(2); // Says what is wrong.
  else
    for (const Dim &stride : strideDims)
      strides.push_back(stride.constant());
  options.strides = strides.empty() ? options.kernel : perSpatialAxis(op, strides, spatial, 1, "the stride");
  options.padLow = perSpatialAxis(op, op.integers(3), spatial, 0, "the padding");
  options.padHigh = options.padLow;
  if (dilation != 0)
    options.dilations = perSpatialAxis(op, op.integers(dilation), spatial, 1, "the dilation");
  options.ceilMode = op.flag(ceilMode);
  for (int64_t i = 0; i < spatial && op.ok(); ++i)
    if (options.padLow[i] * 2 > options.kernel[i])
      op.invalid("the padding " + std::to_string(options.padLow[i]) + " is more than half of the kernel's " +
                 std::to_string(options.kernel[i]) + "; PyTorch refuses it too");
  return options;
}

Windows slidingWindows(OpCall &op, const Tensor &x, const Dims &dims, const fn::PoolOptions &options) {
  Windows windows{{}, options.kernel};
  for (size_t i = 0; i < options.kernel.size(); ++i) {
    int64_t stride = options.strides[i], dilation = options.dilations.empty() ? 1 : options.dilations[i];
    Dims grid{dims[2 + i], options.kernel[i]};
    Tensor start = plus(times(fn::iota(op.builder(), ElementType::I64, grid, 0), static_cast<double>(stride)), -static_cast<double>(options.padLow[i]));
    Tensor position = fn::add(start, times(fn::iota(op.builder(), ElementType::I64, grid, 1), static_cast<double>(dilation)));
    // What lies outside moves by whole dilations to the next element inside.
    auto moved = [&](const Tensor &excess) {
      Tensor positive = fn::maximum(excess, zeroLike(excess)), step = fn::scalarLike(excess, static_cast<double>(dilation));
      return fn::mul(fn::div(plus(positive, static_cast<double>(dilation - 1)), step), step);
    };
    Tensor last = plus(op.builder().fromDim(x.dim(2 + static_cast<int64_t>(i))), -1);
    position = fn::sub(position, moved(fn::sub(position, last)));
    position = fn::add(position, moved(fn::neg(position)));
    windows.positions.push_back(fn::reshape(position, {dims[2 + i] * Dim(options.kernel[i])}));
  }
  return windows;
}

/// max_poolNd(self, kernel_size, stride, padding, dilation, ceil_mode)
template <int64_t spatial, bool withIndices>
Value maxPool(OpCall &op) {
  Batched x(op, op.tensor(0), spatial);
  Ints kernel = withIndices || !op.ok() ? Ints() : reduceWholeAxes(op, x.value, spatial, fn::Reduction::Max, 4);
  fn::PoolOptions options = poolOptions(op, spatial, 4, 5, kernel);
  if (!op.ok())
    return Value::poison();
  Tensor values = fn::maxPool(x.value, options);
  if (!withIndices || !op.ok())
    return op.result(x.undo(values));
  Tensor indices = positionsOfMaxima(op, x.value, values.dims(), slidingWindows(op, x.value, values.dims(), options));
  return op.results({x.undo(values), x.undo(indices)});
}

/// Adds zeros, so that every window of an average is whole: then its elements can be counted in advance.
bool padForWholeWindows(OpCall &op, Tensor &x, fn::PoolOptions &options) {
  Dims low(x.rank(), 0), high(x.rank(), 0);
  for (size_t i = 0; i < options.kernel.size(); ++i) {
    Dim size = x.dim(2 + static_cast<int64_t>(i));
    low[2 + i] = options.padLow[i];
    high[2 + i] = options.padHigh[i];
    if (options.ceilMode && options.strides[i] != 1) {
      if (!size.isConstant()) {
        op.unsupported("divisor_override with ceil_mode over a size that is known only at run time");
        return false;
      }
      int64_t span = size.constant() + options.padLow[i] + options.padHigh[i] - options.kernel[i];
      high[2 + i] = high[2 + i] + Dim((options.strides[i] - span % options.strides[i]) % options.strides[i]);
    }
    options.padLow[i] = options.padHigh[i] = 0;
  }
  // A window that would start in the padding behind the input does not exist; one more than needed is cut off again by the caller.
  x = fn::pad(x, low, high);
  options.ceilMode = false;
  return op.ok();
}

/// avg_poolNd(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
template <int64_t spatial>
Value avgPool(OpCall &op) {
  Operands input = promoted(op, {0}, Promotion::Plain, Precision::Wide);
  if (op.ok() && !isFloat(input.type))
    return op.unsupported("average pools of integers; convert them to floats first");
  if (!op.ok())
    return Value::poison();
  Batched x(op, input[0], spatial);
  bool hasDivisor = spatial > 1 && !op.isNone(6);
  Ints kernel = hasDivisor || !op.ok() ? Ints() : reduceWholeAxes(op, x.value, spatial, fn::Reduction::Mean, 0);
  fn::PoolOptions options = poolOptions(op, spatial, 0, 4, kernel);
  options.countIncludePad = op.flag(5);
  if (!op.ok())
    return Value::poison();
  if (!hasDivisor)
    return input.result(op, x.undo(fn::avgPool(x.value, options)));
  int64_t divisor = op.integer(6), count = 1;
  if (op.ok() && divisor == 0)
    return op.invalid("divisor_override is 0");
  Dims dims = fn::avgPool(x.value, options).dims();
  Tensor padded = x.value;
  if (!op.ok() || !padForWholeWindows(op, padded, options))
    return Value::poison();
  for (int64_t size : options.kernel)
    count *= size;
  Tensor sums = fn::slice(fn::avgPool(padded, options), Dims(dims.size(), 0), dims);
  return input.result(op, x.undo(times(sums, static_cast<double>(count) / static_cast<double>(divisor))));
}

/// max_unpoolNd(self, indices, output_size, ...): each value goes where its maximum was.
template <int64_t spatial>
Value maxUnpool(OpCall &op) {
  Dims outputs = outputDims(op, 2, spatial);
  Batched x(op, op.tensor(0), spatial), indices(op, op.tensor(1), spatial);
  if (!op.ok())
    return Value::poison();
  Dims result{x.value.dim(0), x.value.dim(1)}, rows = result, plane = result;
  rows.push_back(-1);
  plane.push_back(1);
  for (const Dim &size : outputs) {
    plane[2] = plane[2] * size;
    result.push_back(size);
  }
  Tensor zeros = fn::full(op.builder(), x.value.type(), plane, 0);
  Tensor filled = fn::scatterElements(zeros, fn::reshape(indices.value, rows), fn::reshape(x.value, rows), 2);
  return op.result(x.undo(fn::reshape(filled, result)));
}

} // namespace

std::span<const OpEntry> windowOps() {
  static constexpr OpEntry entries[] = {
      {"max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor",
       maxPool<1, false>},
      {"max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
       maxPool<2, false>},
      {"max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
       maxPool<3, false>},
      {"max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
       "bool ceil_mode=False) -> (Tensor, Tensor)",
       maxPool<1, true>},
      {"max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
       "bool ceil_mode=False) -> (Tensor, Tensor)",
       maxPool<2, true>},
      {"max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, "
       "bool ceil_mode=False) -> (Tensor, Tensor)",
       maxPool<3, true>},
      {"avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, "
       "bool count_include_pad=True) -> Tensor",
       avgPool<1>},
      {"avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, "
       "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
       avgPool<2>},
      {"avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, "
       "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
       avgPool<3>},
      {"max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", maxUnpool<2>},
      {"max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor", maxUnpool<3>},
  };
  return entries;
}

} // namespace stator::torch
