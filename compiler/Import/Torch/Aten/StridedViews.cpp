// Plans of the views that pick elements at regular distances: diagonals, windows, as_strided. They are read by gathers at computed
// positions, unless the windows neither overlap nor leave gaps, which makes them a reshape (the patches of vision models).
#include "compiler/Import/Torch/Aten/Views.h"

#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>

namespace stator::torch {

namespace fn = trace::fn;
using trace::BuilderImpl;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

std::optional<Ints> memoryOrder(const Dims &dims, const Dims &strides) {
  Ints order;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == Dim(1))
      continue;
    if (strides[axis] == Dim(0))
      return std::nullopt;
    order.push_back(static_cast<int64_t>(axis));
  }
  // Strides that are expressions are compared by picking, from the inside out, the axis whose stride is what has been covered.
  Ints result;
  Dim covered(1);
  while (!order.empty()) {
    auto next = std::find_if(order.begin(), order.end(), [&](int64_t axis) { return strides[axis] == covered; });
    if (next == order.end())
      return std::nullopt;
    covered = covered * dims[*next];
    result.insert(result.begin(), *next);
    order.erase(next);
  }
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] == Dim(1))
      result.insert(result.begin(), static_cast<int64_t>(axis));
  return result;
}

namespace {

/// The axes of a memory format from the outermost in memory to the innermost; nothing for row-major order.
std::optional<Ints> formatOrder(int64_t format, size_t rank) {
  if (format == kChannelsLastFormat && rank == 4)
    return Ints{0, 2, 3, 1};
  if (format == kChannelsLast3dFormat && rank == 5)
    return Ints{0, 2, 3, 4, 1};
  return std::nullopt;
}

Dims stridesInOrder(const Dims &dims, const Ints &order) {
  Dims strides(dims.size());
  Dim covered(1);
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = covered;
    covered = covered * dims[order[i]];
  }
  return strides;
}

/// Elements whose positions along the last axis of x are `index`, and back.
ViewStep elementsStep(const Tensor &index, const Dims &dims) {
  ViewStep step;
  step.read = [index](const Tensor &flat) { return fn::gather(flat, index, 0); };
  step.write = [index, dims](const Tensor &flat, const Tensor &part) {
    Dim count(1);
    for (const Dim &dim : dims)
      count = count * dim;
    return fn::scatterElements(flat, fn::reshape(index, Dims{count}), fn::reshape(part, Dims{count}), 0);
  };
  return step;
}

/// first + sum of i_axis * stride_axis over a grid.
Tensor gridPositions(trace::Builder &builder, const Dim &first, const Dims &dims, const Dims &strides) {
  int64_t rank = static_cast<int64_t>(dims.size());
  Tensor sum = builder.fromDim(first);
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] == Dim(1) || strides[axis] == Dim(0))
      continue;
    Tensor along = positions(builder, dims[axis], axis, rank);
    sum = fn::add(sum, strides[axis] == Dim(1) ? along : fn::mul(along, builder.fromDim(strides[axis])));
  }
  return fn::broadcastTo(sum, dims);
}

} // namespace

Dims formatStrides(Context &context, const Dims &dims, int64_t format, const TensorRef &like) {
  if (std::optional<Ints> order = formatOrder(format, dims.size()))
    return stridesInOrder(dims, *order);
  if (format == kPreserveFormat && like && like->rank() == static_cast<int64_t>(dims.size()) &&
      memoryOrder(context.dims(like), context.strides(like)))
    return context.strides(like);
  return contiguousStrides(dims);
}

bool hasFormat(Context &context, const TensorRef &tensor, int64_t format) {
  std::optional<Ints> order = formatOrder(format, tensor->dims().size());
  if (!order)
    return format != kChannelsLastFormat && format != kChannelsLast3dFormat && context.isContiguous(tensor);
  Dims dims, strides;
  for (int64_t axis : *order) {
    dims.push_back(context.dims(tensor)[axis]);
    strides.push_back(context.strides(tensor)[axis]);
  }
  return isContiguous(dims, strides);
}

MaybePlan diagonalPlan(OpCall &call, const TensorRef &base, int64_t offset, int64_t axis1, int64_t axis2) {
  std::optional<int64_t> first = normaliseAxis(axis1, base->rank()), second = normaliseAxis(axis2, base->rank());
  if (!first || !second || *first == *second) {
    call.invalid("the axes " + std::to_string(axis1) + " and " + std::to_string(axis2) + " of a tensor of rank " +
                 std::to_string(base->rank()));
    return std::nullopt;
  }
  BuilderImpl &b = BuilderImpl::of(call.builder());
  Ints toEnd, back(static_cast<size_t>(base->rank()));
  for (int64_t axis = 0; axis < base->rank(); ++axis)
    if (axis != *first && axis != *second)
      toEnd.push_back(axis);
  ViewPlan plan;
  for (int64_t axis : toEnd)
    plan.strides.push_back(call.context().strides(base)[axis]);
  toEnd.insert(toEnd.end(), {*first, *second});
  for (size_t i = 0; i < toEnd.size(); ++i)
    back[toEnd[i]] = static_cast<int64_t>(i);
  Dim rows = call.context().dims(base)[*first], columns = call.context().dims(base)[*second];
  Dim rowStart(std::max<int64_t>(-offset, 0)), columnStart(std::max<int64_t>(offset, 0));
  Dim length(b.max(b.min((rows - rowStart).expr(), (columns - columnStart).expr()), DimExpr(0)));
  plan.strides.push_back(call.context().strides(base)[*first] + call.context().strides(base)[*second]);
  plan.offset = base->offset();
  if (length != Dim(0))
    plan.offset = plan.offset + rowStart * call.context().strides(base)[*first] + columnStart * call.context().strides(base)[*second];

  plan.step.read = [=](const Tensor &x) {
    Tensor moved = fn::transpose(x, toEnd);
    Dims flat = moved.dims();
    flat.resize(flat.size() - 2);
    flat.push_back(rows * columns);
    trace::Builder &builder = *x.builder();
    Tensor at = gridPositions(builder, rowStart * columns + columnStart, {length}, {columns + Dim(1)});
    return fn::gather(fn::reshape(moved, flat), at, static_cast<int64_t>(flat.size()) - 1);
  };
  plan.step.write = [=](const Tensor &x, const Tensor &part) {
    if (length == Dim(0))
      return x;
    Tensor moved = fn::transpose(x, toEnd);
    trace::Builder &builder = *x.builder();
    Tensor row = positions(builder, rows, 0, 2), column = positions(builder, columns, 1, 2);
    Tensor isOn = fn::eq(column, fn::add(row, builder.scalarInt(ElementType::I64, offset)));
    Tensor last = builder.fromDim(length - Dim(1)), zero = builder.scalarInt(ElementType::I64, 0);
    Tensor at = fn::sub(positions(builder, rows, 0, 1), builder.fromDim(rowStart));
    Tensor spread = fn::gather(part, fn::maximum(fn::minimum(at, last), zero), part.rank() - 1);
    return fn::transpose(fn::where(isOn, fn::unsqueeze(spread, {-1}), moved), back);
  };
  return plan;
}

MaybePlan unfoldPlan(OpCall &call, const TensorRef &base, int64_t axis, int64_t size, int64_t step) {
  // A rank-0 tensor counts as one element.
  if (base->rank() == 0)
    return reshapePlan(call, base, Dims{Dim(size)});
  Dim length = call.context().dims(base)[axis];
  if (size < 0 || step < 1 || (length.isConstant() && size > length.constant())) {
    call.invalid("windows of " + std::to_string(size) + " elements, " + std::to_string(step) + " apart, of an axis of size " +
                 length.str());
    return std::nullopt;
  }
  Dim count = floorDiv(length - Dim(size), Dim(step)) + Dim(1);
  ViewPlan plan;
  plan.strides = call.context().strides(base);
  plan.strides.push_back(call.context().strides(base)[axis]);
  plan.strides[axis] = plan.strides[axis] * Dim(step);
  plan.offset = base->offset();
  int64_t rank = base->rank();
  Ints toEnd = iotaInts(rank + 1), back(static_cast<size_t>(rank + 1));
  toEnd.erase(toEnd.begin() + axis + 1);
  toEnd.push_back(axis + 1);
  for (int64_t i = 0; i <= rank; ++i)
    back[toEnd[i]] = i;

  // Windows side by side: cut off what is left over, and split the axis.
  if (step == size && length.isConstant()) {
    MaybePlan cut = slicePlan(call, base, axis, std::nullopt, count * Dim(size), 1);
    if (!cut)
      return std::nullopt;
    Dims split = withAxis(call.context().dims(base), axis + 1, Dim(size)), cutDims = call.context().dims(base);
    split[axis] = count;
    cutDims[axis] = count * Dim(size);
    ViewStep cutStep = cut->step;
    plan.step.read = [=](const Tensor &x) { return fn::transpose(fn::reshape(cutStep.read(x), split), toEnd); };
    plan.step.write = [=](const Tensor &x, const Tensor &part) {
      return cutStep.write(x, fn::reshape(fn::transpose(part, back), cutDims));
    };
    return plan;
  }
  plan.step.read = [=](const Tensor &x) {
    Tensor at = gridPositions(*x.builder(), Dim(0), {count, Dim(size)}, {Dim(step), Dim(1)});
    return fn::transpose(fn::gather(x, at, axis), toEnd);
  };
  plan.step.write = [=](const Tensor &x, const Tensor &part) {
    if (step < size) {
      x.builder()->fail(StatusCode::Unsupported, "a write through windows that overlap");
      return x;
    }
    Tensor at = fn::reshape(gridPositions(*x.builder(), Dim(0), {count, Dim(size)}, {Dim(step), Dim(1)}), Dims{count * Dim(size)});
    Dims spread = x.dims(), aligned(static_cast<size_t>(rank), Dim(1));
    spread[axis] = aligned[axis] = count * Dim(size);
    Tensor updates = fn::reshape(fn::transpose(part, back), spread);
    return fn::scatterElements(x, fn::broadcastTo(fn::reshape(at, aligned), spread), updates, axis);
  };
  return plan;
}

MaybePlan stridedPlan(OpCall &call, const TensorRef &base, const Dims &dims, const Dims &strides, const std::optional<Dim> &offset) {
  if (dims.size() != strides.size()) {
    call.invalid(std::to_string(dims.size()) + " sizes with " + std::to_string(strides.size()) + " strides");
    return std::nullopt;
  }
  BuilderImpl &b = BuilderImpl::of(call.builder());
  for (const Dim &stride : strides)
    if (b.bounds(stride.expr()).lo.value_or(-1) < 0) {
      call.invalid("the stride " + stride.str() + ", expected none below 0");
      return std::nullopt;
    }
  ViewPlan plan;
  plan.strides = strides;
  plan.offset = offset ? *offset : base->offset();
  std::optional<Ints> order = memoryOrder(call.context().dims(base), call.context().strides(base));
  Dim first = plan.offset - base->offset(), last = first, available(1);
  for (const Dim &dim : call.context().dims(base))
    available = available * dim;
  for (size_t i = 0; i < dims.size(); ++i)
    last = last + (dims[i] - Dim(1)) * strides[i];
  if (!order || b.bounds(first.expr()).lo.value_or(-1) < 0) {
    call.unsupported("the tensor that is seen anew is itself a part with gaps; use slices or clone() it first");
    return std::nullopt;
  }
  bool isEmpty = std::find(dims.begin(), dims.end(), Dim(0)) != dims.end();
  if (!isEmpty && last.isConstant() && available.isConstant() && last.constant() >= available.constant()) {
    call.unsupported("sizes and strides that reach element " + last.str() + " of " + available.str());
    return std::nullopt;
  }
  Ints back(order->size());
  Dims stored;
  for (size_t i = 0; i < order->size(); ++i) {
    back[(*order)[i]] = static_cast<int64_t>(i);
    stored.push_back(call.context().dims(base)[(*order)[i]]);
  }
  auto toFlat = [order = *order, available](const Tensor &x) {
    return fn::reshape(order.empty() ? x : fn::transpose(x, order), Dims{available});
  };
  auto fromFlat = [back, stored](const Tensor &flat) {
    Tensor x = fn::reshape(flat, stored);
    return back.empty() ? x : fn::transpose(x, back);
  };
  // Without gaps it is a stretch of memory under other sizes.
  std::optional<Ints> wantedOrder = isEmpty ? std::nullopt : memoryOrder(dims, strides);
  if (wantedOrder) {
    Dims inMemory;
    Ints toView(dims.size());
    Dim count(1);
    for (size_t i = 0; i < dims.size(); ++i) {
      inMemory.push_back(dims[(*wantedOrder)[i]]);
      toView[(*wantedOrder)[i]] = static_cast<int64_t>(i);
      count = count * dims[i];
    }
    Ints toMemory = *wantedOrder;
    plan.step.read = [=](const Tensor &x) {
      Tensor flat = toFlat(x);
      Tensor part = first == Dim(0) && count == available ? flat : fn::slice(flat, Dims{first}, Dims{first + count}, {0});
      part = fn::reshape(part, inMemory);
      return toView.empty() ? part : fn::transpose(part, toView);
    };
    plan.step.write = [=](const Tensor &x, const Tensor &part) {
      Tensor row = fn::reshape(toMemory.empty() ? part : fn::transpose(part, toMemory), Dims{count});
      if (first == Dim(0) && count == available)
        return fromFlat(row);
      Tensor flat = toFlat(x);
      return fromFlat(
          fn::concat({fn::slice(flat, Dims{0}, Dims{first}, {0}), row, fn::slice(flat, Dims{first + count}, Dims{available}, {0})}, 0));
    };
    return plan;
  }
  ViewStep elements = elementsStep(gridPositions(call.builder(), first, dims, strides), dims);
  plan.step.read = [=](const Tensor &x) { return elements.read(toFlat(x)); };
  plan.step.write = [=](const Tensor &x, const Tensor &part) { return fromFlat(elements.write(toFlat(x), part)); };
  return plan;
}

} // namespace stator::torch
