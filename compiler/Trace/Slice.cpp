// Cutting and joining. Bounds are clamped as in NumPy; what depends on a symbol gives `min` and `max` in the sizes, which the ranges of
// the symbols or a later equality usually decide. A backward slice is a forward one that is reversed.
#include "compiler/Trace/ElementwiseSupport.h"

#include <limits>

namespace stator::trace {

namespace {

/// Front-ends write "to the end" as a number that no size reaches.
constexpr int64_t kEndless = std::numeric_limits<int32_t>::max();

struct AxisSlice {
  DimExpr start; // of the elements in memory order
  DimExpr size;
  int64_t stride = 1; // positive
  bool isReversed = false;
};

bool isNegative(BuilderImpl &b, const DimExpr &value) {
  // `-N` with N possibly 0 is meant to count from the end too.
  DimInterval range = b.bounds(value);
  return range.hi && *range.hi <= 0 && !(value.isConstant() && *value.constant() == 0);
}

/// A bound of NumPy as a position in [low, high].
std::optional<DimExpr> position(const Call &call, DimExpr bound, const DimExpr &size, const DimExpr &low, const DimExpr &high) {
  BuilderImpl &b = *call;
  if (std::optional<int64_t> value = bound.constant()) {
    if (*value >= kEndless)
      return high;
    if (*value <= -kEndless)
      return low;
  }
  if (isNegative(b, bound))
    bound = bound + size;
  else if (!b.assumeNonNegative(bound)) {
    call.unsupported("the bound `" + bound.str() + "` may be positive or negative");
    return std::nullopt;
  }
  return b.min(b.max(bound, low), high);
}

std::optional<AxisSlice> resolve(const Call &call, const DimExpr &size, const DimExpr &start, const DimExpr &end, int64_t step) {
  BuilderImpl &b = *call;
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
    call.invalid("the step is " + llvm::Twine(step));
    return std::nullopt;
  }
  AxisSlice slice;
  slice.isReversed = step < 0;
  slice.stride = step < 0 ? -step : step;
  // Forward positions lie in 0..size, backward ones in -1..size-1.
  DimExpr low = slice.isReversed ? DimExpr(-1) : DimExpr(0), high = slice.isReversed ? size - 1 : size;
  std::optional<DimExpr> from = position(call, start, size, low, high), to = position(call, end, size, low, high);
  if (!from || !to)
    return std::nullopt;
  DimExpr span = slice.isReversed ? *from - *to : *to - *from;
  slice.size = b.max(span.ceilDiv(DimExpr(slice.stride)), DimExpr(0));
  slice.start = slice.isReversed ? *from - (slice.size - 1) * DimExpr(slice.stride) : *from;
  if (slice.size.isConstant(0))
    slice.start = DimExpr(0);
  if (!slice.size.isValid() || !slice.start.isValid()) {
    call.invalid("the bounds `" + start.str() + "` and `" + end.str() + "` with step " + llvm::Twine(step) + " are out of range");
    return std::nullopt;
  }
  return slice;
}

/// x with the slices of all axes applied.
Tensor applySlices(const Call &call, const Tensor &x, llvm::ArrayRef<AxisSlice> slices) {
  Sizes starts, dims;
  Axes strides;
  Ints reversed;
  bool isWhole = true;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const AxisSlice &slice = slices[axis];
    starts.push_back(slice.start);
    dims.push_back(slice.size);
    // A stride past the only element means nothing; 1 keeps the slice a view.
    strides.push_back(slice.size.isConstant(1) ? 1 : slice.stride);
    if (slice.isReversed && !slice.size.isConstant(1))
      reversed.push_back(axis);
    isWhole &= slice.start.isConstant(0) && slice.size == call->dims(x)[axis] && strides.back() == 1;
  }
  std::optional<Axes> shape = constantShape(x);
  if (const Contents *contents = shape ? call->contents(x) : nullptr) {
    llvm::SmallVector<llvm::SmallVector<int64_t>> indices(x.rank());
    Axes target;
    bool isConstant = true;
    for (int64_t axis = 0; axis < x.rank() && isConstant; ++axis) {
      std::optional<int64_t> start = starts[axis].constant(), size = dims[axis].constant();
      isConstant = start && size && *size <= kMaxKnownElements && *start >= 0 && *start + (*size - 1) * strides[axis] < (*shape)[axis];
      for (int64_t i = 0; isConstant && i < *size; ++i)
        indices[axis].push_back(*start + (slices[axis].isReversed ? *size - 1 - i : i) * strides[axis]);
      target.push_back(size.value_or(0));
    }
    if (isConstant) {
      Contents picked;
      for (int64_t offset : gridOffsets(*shape, indices))
        picked.push_back((*contents)[offset]);
      return call->known(x.type(), target, std::move(picked));
    }
  }
  Tensor result =
      isWhole ? x : emitAs(*call, "graph.slice", {x}, x.type(), dims, Attributes(*call).sizes("starts", starts).ints("strides", strides));
  return reversed.empty() ? result : emit(*call, "graph.reverse", {result}, Attributes(*call).ints("axes", reversed));
}

std::vector<AxisSlice> wholeSlices(const Call &call, const Tensor &x) {
  std::vector<AxisSlice> slices;
  for (const DimExpr &dim : call->dims(x))
    slices.push_back({DimExpr(0), dim, 1, false});
  return slices;
}

Tensor cut(const Call &call, const Tensor &x, int64_t axis, const DimExpr &start, const DimExpr &size) {
  std::vector<AxisSlice> slices = wholeSlices(call, x);
  slices[axis] = {start, size, 1, false};
  return applySlices(call, x, slices);
}

} // namespace

namespace fn {

Tensor slice(const Tensor &x, const Dims &starts, const Dims &ends, const Ints &given, const Ints &steps) {
  Call call("slice", {x});
  if (!call)
    return call.failed();
  size_t count = starts.size();
  if (ends.size() != count || (!given.empty() && given.size() != count) || (!steps.empty() && steps.size() != count))
    return call.invalid(llvm::Twine(count) + " starts, " + llvm::Twine(ends.size()) + " ends, " + llvm::Twine(given.size()) + " axes and " +
                        llvm::Twine(steps.size()) + " steps");
  Ints axes(given);
  for (size_t i = axes.size(); i < count; ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (!call.axes(axes, x.rank()))
    return call.failed();
  Sizes from = call.sizes(starts), to = call.sizes(ends);
  std::vector<AxisSlice> slices = wholeSlices(call, x);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    std::optional<AxisSlice> resolved = resolve(call, call->dims(x)[axis], from[i], to[i], steps.empty() ? 1 : steps[i]);
    if (!resolved)
      return call.failed();
    slices[axis] = *resolved;
  }
  return applySlices(call, x, slices);
}

Tensor slice(const Tensor &x, const Tensor &starts, const Tensor &ends, const Tensor &axes, const Tensor &steps) {
  Call call("slice", {x, starts, ends}, {axes, steps});
  if (!call)
    return call.failed();
  std::optional<Sizes> from = call.sizes("the starts", starts);
  std::optional<Sizes> to = from ? call.sizes("the ends", ends) : std::nullopt;
  if (!to)
    return call.failed();
  Ints axisList, stepList;
  for (const auto &[tensor, list, what] : {std::tuple(axes, &axisList, "the axes"), std::tuple(steps, &stepList, "the steps")}) {
    if (!tensor)
      continue;
    std::optional<Axes> constants = call.constants(what, tensor);
    if (!constants)
      return call.failed();
    list->assign(constants->begin(), constants->end());
  }
  return slice(x, Dims(from->begin(), from->end()), Dims(to->begin(), to->end()), axisList, stepList);
}

Tensor reverse(const Tensor &x, const Ints &given) {
  Call call("reverse", {x});
  if (!call)
    return call.failed();
  std::optional<Axes> axes = call.axes(given, x.rank());
  if (!axes)
    return call.failed();
  std::vector<AxisSlice> slices = wholeSlices(call, x);
  for (int64_t axis : *axes)
    slices[axis].isReversed = true;
  return applySlices(call, x, slices);
}

Tensor concat(const Tensors &given, int64_t axis) {
  Call call("concat", given);
  if (!call)
    return call.failed();
  ElementType type = given[0].type();
  for (const Tensor &x : given) {
    type = promote(type, x.type());
    if (!call.rank("an operand", x, given[0].rank()))
      return call.failed();
  }
  if (!call.axis(axis, given[0].rank()))
    return call.failed();
  llvm::SmallVector<Tensor> xs;
  for (const Tensor &x : given)
    xs.push_back(cast(x, type));
  if (xs.size() == 1)
    return xs[0];
  int64_t rank = xs[0].rank();
  for (int64_t other = 0; other < rank; ++other)
    for (size_t i = 1; i < xs.size() && other != axis; ++i)
      if (!requireEqualSizes(*call, "concat", xs[0], other, xs[i], other))
        return call.failed();
  // The first operand may have been spelt anew while meeting the later ones.
  for (size_t i = 1; i < xs.size(); ++i) {
    Sizes dims = sizesOf(xs[0]);
    dims[axis] = call->dims(xs[i])[axis];
    xs[i] = reshapeTo(*call, xs[i], dims);
  }

  bool isKnown = rank == 1;
  size_t count = 0;
  for (const Tensor &x : xs) {
    const Contents *contents = call->contents(x);
    isKnown = isKnown && contents && (count += contents->size()) <= static_cast<size_t>(kMaxKnownElements);
  }
  if (isKnown) {
    Contents joined;
    for (const Tensor &x : xs)
      joined.insert(joined.end(), call->contents(x)->begin(), call->contents(x)->end());
    return call->known(type, {static_cast<int64_t>(count)}, std::move(joined));
  }
  return emit(*call, "graph.concat", xs, Attributes(*call).integer("axis", axis));
}

Tensor stack(const Tensors &xs, int64_t axis) {
  Tensors rows;
  for (const Tensor &x : xs)
    rows.push_back(unsqueeze(x, {axis}));
  return concat(rows, axis);
}

Tensors split(const Tensor &x, const Dims &given, int64_t axis) {
  Call call("split", {x});
  if (!call || !call.axis(axis, x.rank()))
    return Tensors(given.size(), call.failed());
  Sizes sizes = call.sizes(given);
  DimExpr total(0);
  for (const DimExpr &size : sizes) {
    total += size;
    if (call->bounds(size).hi.value_or(0) < 0)
      call.invalid("a part has the size `" + size.str() + "`");
  }
  call->requireEqual(total, call->dims(x)[axis], "split");
  Tensors parts;
  DimExpr start(0);
  for (const DimExpr &size : sizes) {
    parts.push_back(call ? cut(call, x, axis, call->simplify(start), call->simplify(size)) : call.failed());
    start += size;
  }
  return parts;
}

Tensors splitEven(const Tensor &x, int64_t count, int64_t axis) {
  Call call("split", {x});
  if (count < 1 || count > 65536) {
    if (call)
      call.invalid("into " + llvm::Twine(count) + " parts, expected 1..65536");
    return {};
  }
  if (!call || !call.axis(axis, x.rank()))
    return Tensors(count, call.failed());
  DimExpr size = call->dims(x)[axis], part = size.ceilDiv(DimExpr(count)), left = size;
  Dims sizes;
  for (int64_t i = 0; i < count; ++i) {
    DimExpr take = i + 1 < count ? call->min(part, left) : left;
    sizes.emplace_back(take);
    left -= take;
  }
  return split(x, sizes, axis);
}

} // namespace fn
} // namespace stator::trace
