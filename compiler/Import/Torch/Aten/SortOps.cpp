// Scans along a dimension and everything that puts elements in order.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <limits>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

namespace {

/// Runs `scan` in wide floats along the axis; a rank-0 tensor is a vector of one.
template <typename Scan>
Tensor scanAlong(const Tensor &x, int64_t axis, Scan &&scan) {
  Tensor input = x.rank() == 0 ? fn::reshape(x, {1}) : x;
  Tensor result = fn::cast(scan(widened(input), axis), x.type());
  return x.rank() == 0 ? fn::reshape(result, Dims{}) : result;
}

/// cumsum(self, dim, *, dtype)
template <bool isSum>
Value cumulative(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t axis = op.axis(1, x.rank());
  std::optional<ElementType> type = op.dtype(2);
  if (!op.ok())
    return Value::poison();
  Tensor input = fn::cast(x, type ? *type : isFloat(x.type()) ? x.type() : ElementType::I64);
  return op.result(scanAlong(input, axis, [](const Tensor &y, int64_t at) { return isSum ? fn::cumSum(y, at) : fn::cumProd(y, at); }));
}

Value logcumsumexp(OpCall &op) {
  Tensor x = toFloat(op.tensor(0));
  int64_t axis = op.axis(1, x.rank());
  if (!op.ok())
    return Value::poison();
  return op.result(scanAlong(x, axis, [](const Tensor &y, int64_t at) {
    // In f64, since the sums are of numbers far below the largest one.
    Tensor z = fn::cast(y, ElementType::F64), most = fn::reduce(z, fn::Reduction::Max, Ints{at});
    Tensor shift = fn::where(fn::isInf(most), zeroLike(most), most);
    return fn::cast(fn::add(fn::log(fn::cumSum(fn::exp(fn::sub(z, shift)), at)), shift), y.type());
  }));
}

/// Running maximum and the position that it came from, the last one of equals. NaN stays.
template <bool isMax>
Value cumulativeExtremum(OpCall &op) {
  Tensor given = op.tensor(0);
  int64_t axis = op.axis(1, given.rank());
  if (!op.ok())
    return Value::poison();
  Tensor x = given.rank() == 0 ? fn::reshape(given, {1}) : given;
  if (x.type() == ElementType::I1)
    x = fn::cast(x, ElementType::U8);
  // The minimum is the maximum of the complements: -x of floats, ~x of integers.
  auto flip = [](const Tensor &y) { return isMax ? y : isFloat(y.type()) ? fn::neg(y) : fn::bitwiseNot(y); };
  Tensor flipped = flip(x), best = fn::cumMax(flipped, axis);
  Tensor isNew = fn::eq(flipped, best);
  if (isFloat(x.type()))
    isNew = fn::logicalOr(isNew, fn::isNan(flipped));
  Tensor position = fn::iota(op.builder(), ElementType::I64, x.dims(), axis);
  Tensor indices = fn::cumMax(fn::where(isNew, position, zeroLike(position)), axis), values = fn::cast(flip(best), given.type());
  if (given.rank() == 0)
    return op.results({fn::reshape(values, Dims{}), fn::reshape(indices, Dims{})});
  return op.results({values, indices});
}

struct Sorted {
  Tensor values, indices;
};

/// The first k in order; of rank 1 at least. Booleans are sorted as numbers.
Sorted firstInOrder(const Tensor &x, const Dim &k, int64_t axis, bool isDescending) {
  Tensor input = x.type() == ElementType::I1 ? fn::cast(x, ElementType::U8) : x;
  auto [values, indices] = fn::topK(input, k, axis, isDescending, /*sorted=*/true);
  return {fn::cast(values, x.type()), indices};
}

Sorted sortAlong(OpCall &op, const Tensor &x, int64_t axis, bool isDescending) {
  if (!op.ok())
    return {};
  if (x.rank() == 0)
    return {x, fn::full(op.builder(), ElementType::I64, {}, 0)};
  return firstInOrder(x, x.dim(axis), axis, isDescending);
}

/// sort(self, dim, descending), sort.stable(self, *, stable, dim, descending); ours is always stable.
template <size_t dim, bool wantsIndicesOnly = false>
Value sort(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t axis = op.axis(dim, x.rank());
  bool isDescending = op.flag(dim + 1);
  Sorted sorted = sortAlong(op, x, axis, isDescending);
  return wantsIndicesOnly ? op.result(sorted.indices) : op.results({sorted.values, sorted.indices});
}

Value msort(OpCall &op) {
  Tensor x = op.tensor(0);
  return op.result(sortAlong(op, x, 0, false).values);
}

Value topk(OpCall &op) {
  Tensor x = op.tensor(0);
  Dim k = op.dim(1);
  int64_t axis = op.axis(2, x.rank());
  bool isLargest = op.flag(3);
  if (!op.ok())
    return Value::poison();
  if (x.rank() == 0)
    return op.results({x, fn::full(op.builder(), ElementType::I64, {}, 0)});
  Sorted best = firstInOrder(x, k, axis, isLargest);
  return op.results({best.values, best.indices});
}

/// The element at `position` in ascending order along the axis.
Sorted elementInOrder(const Tensor &x, const Dim &position, int64_t axis, bool keepDims) {
  Sorted sorted = firstInOrder(x, position + 1, axis, /*isDescending=*/false);
  auto pick = [&](const Tensor &from) {
    Tensor element = fn::slice(from, {position}, {position + 1}, {axis});
    return keepDims ? element : fn::squeeze(element, {axis});
  };
  return {pick(sorted.values), pick(sorted.indices)};
}

Value kthvalue(OpCall &op) {
  Tensor x = op.tensor(0);
  Dim k = op.dim(1);
  int64_t axis = op.axis(2, x.rank());
  bool keepDims = op.flag(3);
  if (!op.ok())
    return Value::poison();
  if (x.rank() == 0)
    return op.results({x, fn::full(op.builder(), ElementType::I64, {}, 0)});
  if (k.isConstant() && k.constant() < 1)
    return op.invalid("k is " + k.str() + ", expected at least 1");
  Sorted element = elementInOrder(x, k - 1, axis, keepDims);
  return op.results({element.values, element.indices});
}

/// The lower of the two middle elements; NaN if there is one.
Sorted medianAlong(const Tensor &x, int64_t axis, bool keepDims) {
  Sorted middle = elementInOrder(x, floorDiv(x.dim(axis) - 1, 2), axis, keepDims);
  if (!isFloat(x.type()))
    return middle;
  Tensor hasNan = fn::reduce(fn::isNan(x), fn::Reduction::Any, Ints{axis}, keepDims);
  Tensor nan = fn::scalarLike(x, std::numeric_limits<double>::quiet_NaN());
  return {fn::where(hasNan, nan, middle.values), fn::where(hasNan, fn::argMax(x, axis, keepDims), middle.indices)};
}

Value median(OpCall &op) {
  Tensor x = op.tensor(0);
  return op.ok() ? op.result(medianAlong(fn::reshape(x, {-1}), 0, false).values) : Value::poison();
}

Value medianDim(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t axis = op.axis(1, x.rank());
  bool keepDims = op.flag(2);
  if (!op.ok())
    return Value::poison();
  if (x.rank() == 0)
    return op.results({x, fn::full(op.builder(), ElementType::I64, {}, 0)});
  Sorted middle = medianAlong(x, axis, keepDims);
  return op.results({middle.values, middle.indices});
}

/// The lower of the two in the middle of those that are numbers.
Sorted nanmedianAlong(const Tensor &x, int64_t axis, bool keepDims) {
  if (!isFloat(x.type()))
    return medianAlong(x, axis, keepDims);
  Sorted sorted = firstInOrder(x, x.dim(axis), axis, /*isDescending=*/false); // NaN comes last.
  Tensor count = fn::reduce(fn::cast(fn::logicalNot(fn::isNan(x)), ElementType::I64), fn::Reduction::Sum, Ints{axis});
  Tensor middle = fn::maximum(fn::floorDiv(plus(count, -1), fn::scalarLike(count, 2)), zeroLike(count));
  auto pick = [&](const Tensor &from) {
    Tensor element = fn::gatherElements(from, middle, axis);
    return keepDims ? element : fn::squeeze(element, {axis});
  };
  return {pick(sorted.values), pick(sorted.indices)};
}

Value nanmedian(OpCall &op) {
  Tensor x = op.tensor(0);
  bool hasDim = op.schema().parameters.size() > 1;
  int64_t axis = hasDim ? op.axis(1, x.rank()) : 0;
  bool keepDims = hasDim && op.flag(2);
  if (!op.ok())
    return Value::poison();
  if (!hasDim)
    return op.result(nanmedianAlong(fn::reshape(x, {-1}), 0, false).values);
  if (x.rank() == 0)
    return op.results({x, fn::full(op.builder(), ElementType::I64, {}, 0)});
  Sorted middle = nanmedianAlong(x, axis, keepDims);
  return op.results({middle.values, middle.indices});
}

/// The most frequent element, the smallest of several, and where it is last; by comparing all with all.
Value mode(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t axis = op.axis(1, x.rank());
  bool keepDims = op.flag(2);
  if (!op.ok())
    return Value::poison();
  if (x.rank() == 0)
    return op.results({x, fn::full(op.builder(), ElementType::I64, {}, 0)});
  Tensor isEqual = fn::eq(fn::unsqueeze(x, {axis}), fn::unsqueeze(x, {axis + 1}));
  Tensor counts = fn::reduce(fn::cast(isEqual, ElementType::I64), fn::Reduction::Sum, Ints{axis}, /*keepDims=*/false);
  Tensor isMost = fn::eq(counts, fn::reduce(counts, fn::Reduction::Max, Ints{axis}));
  Tensor candidates = fn::where(isMost, x, fn::reduce(x, fn::Reduction::Max, Ints{axis}));
  Tensor value = fn::reduce(candidates, fn::Reduction::Min, Ints{axis});
  Tensor index = fn::argMax(fn::logicalAnd(isMost, fn::eq(x, value)), axis, keepDims, /*selectLast=*/true);
  return op.results({keepDims ? value : fn::squeeze(value, {axis}), index});
}

/// diff(self, n, dim, prepend, append): neighbours subtracted, n times.
Value diff(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t count = op.integer(1), axis = op.axis(2, x.rank());
  if (!op.ok())
    return Value::poison();
  constexpr int64_t kMostDifferences = 64;
  if (x.rank() == 0 || count < 0 || count > kMostDifferences)
    return op.invalid("differences of order " + std::to_string(count) + " of a tensor of rank " + std::to_string(x.rank()));
  Tensors parts{x};
  if (!op.isNone(3))
    parts.insert(parts.begin(), op.tensor(3));
  if (!op.isNone(4))
    parts.push_back(op.tensor(4));
  if (parts.size() > 1)
    x = fn::concat(parts, axis);
  for (int64_t i = 0; i < count && op.ok() && !(x.dim(axis) == Dim(0)); ++i) {
    Tensor after = fn::slice(x, {Dim(1)}, {x.dim(axis)}, {axis}), before = fn::slice(x, {Dim(0)}, {x.dim(axis) - 1}, {axis});
    x = x.type() == ElementType::I1 ? fn::logicalXor(after, before) : fn::sub(after, before);
  }
  return op.result(x);
}

/// quantile(self, q, dim, keepdim, *, interpolation) with linear interpolation between neighbours in order.
Value quantile(OpCall &op) {
  Tensor x = op.tensor(0), q = fn::cast(op.tensor(1), x.type());
  bool hasDim = !op.isNone(2), keepDims = op.flag(3);
  int64_t axis = hasDim ? op.axis(2, x.rank()) : 0;
  std::string interpolation = op.text(4);
  if (!op.ok())
    return Value::poison();
  if (!isFloat(x.type()) || q.rank() > 1 || x.rank() == 0)
    return op.unsupported("quantiles are supported of floats with at least one dimension, at a number or a vector of numbers");
  if (interpolation != "linear" && interpolation != "lower" && interpolation != "higher" && interpolation != "nearest" &&
      interpolation != "midpoint")
    return op.invalid("the interpolation `" + interpolation + "` is unknown");
  Tensor input = widened(hasDim ? x : fn::reshape(x, {-1})), wanted = fn::cast(q.rank() == 0 ? fn::reshape(q, {1}) : q, input.type());
  Tensor sorted = firstInOrder(input, input.dim(axis), axis, false).values;
  Tensor last = plus(countOf(input, {axis}, input.type()), -1), position = fn::mul(wanted, last);
  Tensor below = fn::floor(position), above = fn::ceil(position), weight = fn::sub(position, below);
  if (interpolation == "lower")
    above = below;
  else if (interpolation == "higher")
    below = above;
  else if (interpolation == "nearest")
    below = above = fn::roundEven(position);
  else if (interpolation == "midpoint")
    weight = fn::scalarLike(weight, 0.5);
  // The quantiles become the first axis.
  Ints order{axis};
  for (int64_t i = 0; i < input.rank(); ++i)
    if (i != axis)
      order.push_back(i);
  Tensor rows = fn::transpose(sorted, order);
  Tensor low = fn::gather(rows, fn::cast(below, ElementType::I64), 0), high = fn::gather(rows, fn::cast(above, ElementType::I64), 0);
  Dims spread(input.rank(), 1);
  spread[0] = wanted.dim(0);
  Tensor result = fn::add(low, fn::mul(fn::reshape(weight, spread), fn::sub(high, low)));
  Tensor hasNan = fn::unsqueeze(fn::reduce(fn::isNan(rows), fn::Reduction::Any, Ints{0}, false), {0});
  result = fn::cast(fn::where(hasNan, fn::scalarLike(result, std::numeric_limits<double>::quiet_NaN()), result), x.type());
  if (!op.ok())
    return Value::poison();
  Dims dims;
  if (q.rank() == 1)
    dims.push_back(q.dim(0));
  Dims kept = hasDim ? reducedDims(x.dims(), {axis}, keepDims) : Dims(keepDims ? x.rank() : 0, 1);
  dims.insert(dims.end(), kept.begin(), kept.end());
  return op.result(fn::reshape(result, dims));
}

} // namespace

std::span<const OpEntry> sortOps() {
  static constexpr OpEntry entries[] = {
      {"cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", cumulative<true>},
      {"cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", cumulative<false>},
      {"logcumsumexp(Tensor self, int dim) -> Tensor", logcumsumexp},
      {"cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", cumulativeExtremum<true>},
      {"cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", cumulativeExtremum<false>},
      {"sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", sort<1>},
      {"sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", sort<2>},
      {"argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", sort<1, true>},
      {"argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", sort<2, true>},
      {"msort(Tensor self) -> Tensor", msort},
      {"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", topk},
      {"kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", kthvalue},
      {"median(Tensor self) -> Tensor", median},
      {"median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", medianDim},
      {"nanmedian(Tensor self) -> Tensor", nanmedian},
      {"nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", nanmedian},
      {"mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", mode},
      {"diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", diff},
      {"quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor", quantile},
      {"quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor", quantile},
  };
  return entries;
}

} // namespace stator::torch
