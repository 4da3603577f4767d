// Plans of the views that cut and rearrange. A write through a slice joins what lies before it, the new part and what lies behind it;
// where sizes known only at run time leave open which of these exist, or elements are skipped, each element asks instead whether it lies
// inside of the view. Both are moves that later stages see through.
#include "compiler/Import/Torch/Aten/Views.h"

#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>
#include <limits>

namespace stator::torch {

namespace fn = trace::fn;
using trace::BuilderImpl;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

Dims withoutAxis(Dims dims, int64_t axis) {
  dims.erase(dims.begin() + axis);
  return dims;
}

Dims withAxis(Dims dims, int64_t axis, const Dim &size) {
  dims.insert(dims.begin() + axis, size);
  return dims;
}

Ints iotaInts(int64_t count) {
  Ints result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    result[i] = i;
  return result;
}

Tensor positions(trace::Builder &builder, const Dim &size, int64_t axis, int64_t rank) {
  Dims dims(static_cast<size_t>(rank), Dim(1));
  dims[axis] = size;
  return fn::iota(builder, ElementType::I64, dims, axis);
}

Value viewResult(OpCall &call, const TensorRef &base, const MaybePlan &plan) {
  if (!plan || !call.ok())
    return Value::poison();
  return Value::tensor(call.context().view(base, plan->step, plan->strides, plan->offset));
}

Value copyResult(OpCall &call, const TensorRef &base, const MaybePlan &plan) {
  if (!plan || !call.ok())
    return Value::poison();
  return call.result(plan->step.read(call.context().read(base)));
}

Value scatterResult(OpCall &call, const TensorRef &base, const Tensor &part, const MaybePlan &plan) {
  if (!plan || !call.ok())
    return Value::poison();
  Tensor whole = call.context().read(base), view = plan->step.read(whole);
  if (!call.ok())
    return Value::poison();
  return call.result(plan->step.write(whole, fn::broadcastTo(fn::cast(part, base->type()), view.dims())));
}

Value becomeResult(OpCall &call, const TensorRef &self, const TensorRef &other) {
  if (!call.ok())
    return Value::poison();
  if (call.context().isInsideScope())
    return call.unsupported("a tensor is given another shape or memory under a condition that depends on data; use the form that returns "
                            "a new tensor");
  if (!call.context().become(self, other))
    return call.unsupported("the tensor is given another shape or memory in place after views of it were taken; use the form that returns "
                            "a new tensor");
  return call.argument(0);
}

std::optional<Dims> completeDims(OpCall &call, const TensorRef &base, Dims wanted) {
  Dim total(1), rest(1);
  int64_t open = -1;
  for (const Dim &dim : call.context().dims(base))
    total = total * dim;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != Dim(-1))
      rest = rest * wanted[i];
    else if (open >= 0)
      return call.invalid("two sizes are -1"), std::nullopt;
    else
      open = static_cast<int64_t>(i);
  }
  if (open < 0)
    return wanted;
  if (rest == Dim(0))
    return call.invalid("a size of -1 beside a size of 0"), std::nullopt;
  wanted[open] = floorDiv(total, rest);
  return wanted;
}

namespace {

ViewStep identityStep() {
  return {[](const Tensor &base) { return base; }, [](const Tensor &, const Tensor &part) { return part; }};
}

/// A slice with its bounds made positions.
struct Range {
  Dim start, end, length, size;
  int64_t step = 1, axis = 0;
};

std::optional<Dim> position(OpCall &call, const Dim &bound, const Dim &size) {
  BuilderImpl &b = BuilderImpl::of(call.builder());
  constexpr int64_t endless = std::numeric_limits<int32_t>::max();
  if (bound.isConstant() && bound.constant() >= endless)
    return size;
  if (bound.isConstant() && bound.constant() <= -endless)
    return Dim(0);
  DimExpr at = bound.expr();
  DimInterval range = b.bounds(at);
  // `-N` with N possibly 0 is meant to count from the end too.
  if (range.hi && *range.hi <= 0 && !at.isConstant(0)) {
    at = at + size.expr();
  } else if (!b.assumeNonNegative(at)) {
    call.unsupported("the bound `" + bound.str() + "` may be positive or negative; give the sizes in it a range that decides it");
    return std::nullopt;
  }
  return Dim(b.min(b.max(at, DimExpr(0)), size.expr()));
}

/// Part by part along the axis: before, the part, behind. Nothing when the sizes leave open how long these are.
std::optional<Tensor> joined(const Range &range, const Tensor &base, const Tensor &part) {
  BuilderImpl &b = BuilderImpl::of(*base.builder());
  Dim behind = range.start + range.length, rest = range.size - behind;
  if (range.step != 1 || b.bounds(range.start.expr()).lo.value_or(-1) < 0 || b.bounds(rest.expr()).lo.value_or(-1) < 0)
    return std::nullopt;
  Tensors parts;
  if (range.start != Dim(0))
    parts.push_back(fn::slice(base, Dims{0}, Dims{range.start}, {range.axis}));
  parts.push_back(part);
  if (rest != Dim(0))
    parts.push_back(fn::slice(base, Dims{behind}, Dims{range.size}, {range.axis}));
  Dim total(0);
  for (const Tensor &x : parts)
    total = total + x.dim(range.axis);
  if (total != range.size)
    return std::nullopt;
  return fn::concat(parts, range.axis);
}

Tensor writeRange(const Range &range, const Tensor &base, const Tensor &part) {
  if (!base.builder()->ok() || range.length == Dim(0))
    return base;
  if (range.start == Dim(0) && range.length == range.size && range.step == 1)
    return part;
  if (std::optional<Tensor> result = joined(range, base, part))
    return *result;
  trace::Builder &builder = *base.builder();
  Tensor at = positions(builder, range.size, 0, 1), start = builder.fromDim(range.start);
  Tensor distance = fn::sub(at, start), last = builder.fromDim(range.length - Dim(1));
  Tensor step = builder.scalarInt(ElementType::I64, range.step), zero = builder.scalarInt(ElementType::I64, 0);
  Tensor index = range.step == 1 ? distance : fn::floorDiv(distance, step);
  Tensor isInside = fn::logicalAnd(fn::ge(distance, zero), fn::le(index, last));
  if (range.step != 1)
    isInside = fn::logicalAnd(isInside, fn::eq(fn::modulo(distance, step), zero));
  Tensor spread = fn::gather(part, fn::maximum(fn::minimum(index, last), zero), range.axis);
  Dims mask(static_cast<size_t>(base.rank()), Dim(1));
  mask[range.axis] = range.size;
  return fn::where(fn::reshape(isInside, mask), spread, base);
}

ViewStep rangeStep(const Range &range) {
  return {[range](const Tensor &base) {
            return range.start == Dim(0) && range.length == range.size && range.step == 1
                       ? base
                       : fn::slice(base, Dims{range.start}, Dims{range.end}, {range.axis}, {range.step});
          },
          [range](const Tensor &base, const Tensor &part) { return writeRange(range, base, part); }};
}

} // namespace

ViewPlan reshapePlan(OpCall &call, const TensorRef &base, const Dims &dims) {
  ViewPlan plan;
  Dims before = call.context().dims(base);
  plan.step.read = [dims](const Tensor &x) { return fn::reshape(x, dims); };
  plan.step.write = [before](const Tensor &, const Tensor &part) { return fn::reshape(part, before); };
  // Sizes known only at run time can hide that a view is possible; the program ran, so it was.
  plan.strides = viewStrides(before, call.context().strides(base), dims).value_or(contiguousStrides(dims));
  plan.offset = base->offset();
  return plan;
}

ViewPlan permutePlan(OpCall &call, const TensorRef &base, const Ints &permutation) {
  ViewPlan plan;
  Ints inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[permutation[i]] = static_cast<int64_t>(i);
    plan.strides.push_back(call.context().strides(base)[permutation[i]]);
  }
  plan.offset = base->offset();
  if (permutation.empty()) {
    plan.step = identityStep();
    return plan;
  }
  plan.step.read = [permutation](const Tensor &x) { return fn::transpose(x, permutation); };
  plan.step.write = [inverse](const Tensor &, const Tensor &part) { return fn::transpose(part, inverse); };
  return plan;
}

MaybePlan slicePlan(OpCall &call, const TensorRef &base, int64_t axis, const std::optional<Dim> &start, const std::optional<Dim> &end,
                    int64_t step) {
  if (step < 1) {
    call.invalid("the step is " + std::to_string(step) + ", expected at least 1");
    return std::nullopt;
  }
  BuilderImpl &b = BuilderImpl::of(call.builder());
  Range range;
  range.axis = axis;
  range.size = call.context().dims(base)[axis];
  range.step = step;
  std::optional<Dim> from = start ? position(call, *start, range.size) : Dim(0), to = end ? position(call, *end, range.size) : range.size;
  if (!from || !to)
    return std::nullopt;
  range.start = *from;
  range.end = *to;
  range.length = Dim(b.max((to->expr() - from->expr()).ceilDiv(DimExpr(step)), DimExpr(0)));
  ViewPlan plan{rangeStep(range), call.context().strides(base), base->offset() + range.start * call.context().strides(base)[axis]};
  plan.strides[axis] = plan.strides[axis] * Dim(step);
  return plan;
}

MaybePlan selectPlan(OpCall &call, const TensorRef &base, int64_t axis, const Dim &index) {
  Dim size = call.context().dims(base)[axis];
  BuilderImpl &b = BuilderImpl::of(call.builder());
  if (index.isConstant() && size.isConstant() && (index.constant() < -size.constant() || index.constant() >= size.constant())) {
    call.invalid("index " + index.str() + " is out of range for axis " + std::to_string(axis) + " with size " + size.str());
    return std::nullopt;
  }
  DimInterval bounds = b.bounds(index.expr());
  Range range;
  range.axis = axis;
  range.size = size;
  range.start = bounds.hi && *bounds.hi < 0 ? index + size : index;
  range.end = range.start + Dim(1);
  range.length = Dim(1);
  ViewStep slice = rangeStep(range);
  ViewPlan plan;
  plan.step.read = [slice, axis](const Tensor &x) { return fn::squeeze(slice.read(x), {axis}); };
  plan.step.write = [slice, axis](const Tensor &x, const Tensor &part) { return slice.write(x, fn::unsqueeze(part, {axis})); };
  plan.strides = withoutAxis(call.context().strides(base), axis);
  plan.offset = base->offset() + range.start * call.context().strides(base)[axis];
  return plan;
}

ViewPlan selectPlan(OpCall &call, const TensorRef &base, int64_t axis, const Tensor &index) {
  ViewPlan plan;
  plan.step.read = [index, axis](const Tensor &x) { return fn::gather(x, index, axis); };
  plan.step.write = [index, axis](const Tensor &x, const Tensor &part) {
    trace::Builder &builder = *x.builder();
    Tensor count = builder.fromDim(x.dim(axis)), zero = builder.scalarInt(ElementType::I64, 0);
    Tensor at = fn::where(fn::lt(index, zero), fn::add(index, count), index);
    return fn::where(fn::eq(positions(builder, x.dim(axis), axis, x.rank()), at), fn::unsqueeze(part, {axis}), x);
  };
  plan.strides = withoutAxis(call.context().strides(base), axis);
  plan.offset = base->offset();
  return plan;
}

/// What an expanded tensor becomes when its copies are written: one copy is (PyTorch lets nobody write all of them at once), so the one
/// that differs counts.
static Tensor unexpand(const Tensor &base, const Tensor &part, const Dims &before, const Dims &dims, const Ints &repeated) {
  constexpr int64_t kMaxCopies = 64;
  int64_t copies = 1;
  for (int64_t axis : repeated)
    copies = dims[axis].isConstant() && dims[axis].constant() * copies <= kMaxCopies ? copies * dims[axis].constant() : 0;
  Tensor result = base;
  for (int64_t copy = 0; copy < std::max<int64_t>(copies, 1); ++copy) {
    Dims starts(repeated.size(), Dim(0)), ends(repeated.size(), Dim(1));
    int64_t rest = copy;
    for (size_t i = 0; i < repeated.size() && copies > 0; ++i) {
      int64_t size = dims[repeated[i]].constant();
      starts[i] = Dim(rest % size);
      ends[i] = Dim(rest % size + 1);
      rest /= size;
    }
    Tensor one = fn::reshape(repeated.empty() ? part : fn::slice(part, starts, ends, repeated), before);
    if (copies <= 1)
      return one;
    result = fn::where(fn::ne(one, base), one, result);
  }
  return result;
}

MaybePlan expandPlan(OpCall &call, const TensorRef &base, const Dims &wanted) {
  int64_t rank = static_cast<int64_t>(wanted.size()), added = rank - base->rank();
  if (added < 0) {
    call.invalid("a tensor of rank " + std::to_string(base->rank()) + " cannot be expanded to " + std::to_string(rank) + " sizes");
    return std::nullopt;
  }
  ViewPlan plan;
  Dims dims = wanted, before = call.context().dims(base);
  Ints repeated;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Dim old = axis < added ? Dim(1) : before[axis - added];
    if (dims[axis] == Dim(-1)) {
      if (axis < added) {
        call.invalid("size -1 for axis " + std::to_string(axis) + ", which the tensor does not have");
        return std::nullopt;
      }
      dims[axis] = old;
    }
    // A size that is at most 1 (`x[:1]`) must be 1 to be repeated.
    BuilderImpl &b = BuilderImpl::of(call.builder());
    if (!old.isConstant() && dims[axis].isConstant() && dims[axis].constant() > 1 && b.bounds(old.expr()).hi.value_or(2) <= 1) {
      call.builder().constrainEqual(old, Dim(1), "expand");
      old = Dim(1);
    }
    bool isRepeated = axis < added || (old == Dim(1) && dims[axis] != Dim(1));
    if (isRepeated && dims[axis] != Dim(1))
      repeated.push_back(axis);
    plan.strides.push_back(isRepeated ? Dim(0) : call.context().strides(base)[axis - added]);
  }
  plan.offset = base->offset();
  plan.step.read = [dims](const Tensor &x) { return fn::broadcastTo(x, dims); };
  plan.step.overlaps = !repeated.empty();
  plan.step.write = [before, dims, repeated](const Tensor &base, const Tensor &part) { return unexpand(base, part, before, dims, repeated); };
  return plan;
}

} // namespace stator::torch
