// Gathers and scatters. A negative index counts from the end; what is still out of range is clamped by gathers and dropped by scatters.
#include "dialects/Graph/Interpreter/OpCall.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

static int64_t fromEnd(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

static int64_t clampIndex(int64_t index, int64_t size) { return std::clamp<int64_t>(fromEnd(index, size), 0, size - 1); }

/// Nothing can be read from an axis without elements.
static LogicalResult checkReadable(OpCall &call, ArrayRef<int64_t> axes) {
  if (call.out().count() == 0)
    return success();
  for (int64_t axis : axes)
    if (call.in().shape[axis] == 0)
      return call.error() << "gathers from axis " << axis << ", which is empty";
  return success();
}

static LogicalResult gather(GatherOp op, OpCall &call) {
  const TensorValue &in = call.in(0), &indices = call.in(1);
  int64_t axis = op.getAxis(), count = indices.count();
  if (failed(checkReadable(call, axis)))
    return failure();
  if (call.out().count() == 0)
    return success();
  AxisSplit split(in.shape, axis);
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = 0; i < split.inner; ++i)
        call.out().copyElement((o * count + k) * split.inner + i, in, split.position(o, clampIndex(indices.integer(k), split.size), i));
  return success();
}

/// Off the axis no size of the indices exceeds the input's. (With symbols the verifier cannot tell.)
static LogicalResult checkWithin(OpCall &call, const TensorValue &in, const TensorValue &indices, int64_t axis) {
  for (int64_t i = 0; i < in.rank(); ++i)
    if (i != axis && indices.shape[i] > in.shape[i])
      return call.error() << "has indices of type " << indices.typeText() << " for an input of type " << in.typeText();
  return success();
}

static LogicalResult gatherElements(GatherElementsOp op, OpCall &call) {
  const TensorValue &in = call.in(0), &indices = call.in(1);
  int64_t axis = op.getAxis();
  if (failed(checkReadable(call, axis)) || failed(checkWithin(call, in, indices, axis)))
    return failure();
  SmallVector<int64_t> strides = rowMajorStrides(in.shape);
  forEachIndex(indices.shape, [&](ArrayRef<int64_t> index, int64_t position) {
    SmallVector<int64_t> from(index);
    from[axis] = clampIndex(indices.integer(position), in.shape[axis]);
    call.out().copyElement(position, in, positionOf(from, strides));
  });
  return success();
}

static LogicalResult gatherNd(GatherNdOp op, OpCall &call) {
  const TensorValue &in = call.in(0), &indices = call.in(1);
  int64_t batch = op.getBatchDims(), length = indices.shape.back();
  if (failed(checkReadable(call, llvm::to_vector(llvm::seq<int64_t>(batch, batch + length)))))
    return failure();
  if (call.out().count() == 0)
    return success();
  SmallVector<int64_t> strides = rowMajorStrides(in.shape);
  int64_t slice = elementCount(ArrayRef<int64_t>(in.shape).drop_front(batch + length));
  forEachIndex(ArrayRef<int64_t>(indices.shape).drop_back(), [&](ArrayRef<int64_t> index, int64_t tuple) {
    int64_t from = positionOf(index.take_front(batch), ArrayRef<int64_t>(strides).take_front(batch));
    for (int64_t k = 0; k < length; ++k)
      from += clampIndex(indices.integer(tuple * length + k), in.shape[batch + k]) * strides[batch + k];
    for (int64_t i = 0; i < slice; ++i)
      call.out().copyElement(tuple * slice + i, in, from + i);
  });
  return success();
}

/// An update meets the element that it hits.
static void combine(TensorValue &out, int64_t position, const TensorValue &updates, int64_t update, ScatterReduction reduction) {
  if (reduction == ScatterReduction::None)
    return out.copyElement(position, updates, update);
  if (!isFloat(out.type)) {
    int64_t a = out.integer(position), b = updates.integer(update);
    switch (reduction) {
    case ScatterReduction::Add:
      return out.setInteger(position, int64_t(uint64_t(a) + uint64_t(b)));
    case ScatterReduction::Mul:
      return out.setInteger(position, int64_t(uint64_t(a) * uint64_t(b)));
    case ScatterReduction::Max:
      return out.setInteger(position, std::max(a, b));
    default:
      return out.setInteger(position, std::min(a, b));
    }
  }
  double a = out.real(position), b = updates.real(update);
  switch (reduction) {
  case ScatterReduction::Add:
    return out.setReal(position, a + b);
  case ScatterReduction::Mul:
    return out.setReal(position, a * b);
  case ScatterReduction::Max:
    return out.setReal(position, std::isnan(a) || a > b ? a : b);
  default:
    return out.setReal(position, std::isnan(a) || a < b ? a : b);
  }
}

static LogicalResult scatterElements(ScatterElementsOp op, OpCall &call) {
  const TensorValue &in = call.in(0), &indices = call.in(1), &updates = call.in(2);
  int64_t axis = op.getAxis();
  if (failed(checkWithin(call, in, indices, axis)))
    return failure();
  call.out().data = in.data;
  SmallVector<int64_t> strides = rowMajorStrides(in.shape);
  forEachIndex(indices.shape, [&](ArrayRef<int64_t> index, int64_t position) {
    SmallVector<int64_t> to(index);
    to[axis] = fromEnd(indices.integer(position), in.shape[axis]);
    if (to[axis] >= 0 && to[axis] < in.shape[axis])
      combine(call.out(), positionOf(to, strides), updates, position, op.getReduction());
  });
  return success();
}

static LogicalResult scatterNd(ScatterNdOp op, OpCall &call) {
  const TensorValue &in = call.in(0), &indices = call.in(1), &updates = call.in(2);
  call.out().data = in.data;
  if (in.count() == 0)
    return success();
  int64_t length = indices.shape.back();
  SmallVector<int64_t> strides = rowMajorStrides(in.shape);
  int64_t slice = elementCount(ArrayRef<int64_t>(in.shape).drop_front(length));
  forEachIndex(ArrayRef<int64_t>(indices.shape).drop_back(), [&](ArrayRef<int64_t>, int64_t tuple) {
    int64_t to = 0;
    for (int64_t k = 0; k < length; ++k) {
      int64_t index = fromEnd(indices.integer(tuple * length + k), in.shape[k]);
      if (index < 0 || index >= in.shape[k])
        return;
      to += index * strides[k];
    }
    for (int64_t i = 0; i < slice; ++i)
      combine(call.out(), to + i, updates, tuple * slice + i, op.getReduction());
  });
  return success();
}

ArrayRef<InterpreterEntry> indexingInterpreters() {
  static const InterpreterEntry entries[] = {
      entry<GatherOp, gather>(),       entry<GatherElementsOp, gatherElements>(),
      entry<GatherNdOp, gatherNd>(),   entry<ScatterElementsOp, scatterElements>(),
      entry<ScatterNdOp, scatterNd>(),
  };
  return entries;
}

} // namespace stator::graph
