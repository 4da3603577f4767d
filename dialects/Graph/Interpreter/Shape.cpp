// Operations that move elements.
#include "dialects/Graph/GraphTypeInference.h"
#include "dialects/Graph/Interpreter/OpCall.h"

using namespace mlir;

namespace stator::graph {

static LogicalResult reshape(ReshapeOp op, OpCall &call) {
  if (call.in().count() != call.out().count())
    return op.emitOpError() << "turns " << call.in().typeText() << " into " << call.out().typeText()
                            << ", which has another number of elements";
  call.out().data = call.in().data;
  return success();
}

/// `out[index] = in[sum of index[i] * strides[i] + offset]`.
static LogicalResult copyStrided(OpCall &call, ArrayRef<int64_t> strides, int64_t offset = 0) {
  forEachIndex(call.out().shape, [&](ArrayRef<int64_t> index, int64_t position) {
    call.out().copyElement(position, call.in(), offset + positionOf(index, strides));
  });
  return success();
}

static LogicalResult transpose(TransposeOp op, OpCall &call) {
  SmallVector<int64_t> from = rowMajorStrides(call.in().shape), strides;
  for (int64_t axis : op.getPermutation())
    strides.push_back(from[axis]);
  return copyStrided(call, strides);
}

static LogicalResult broadcast(BroadcastOp op, OpCall &call) {
  SmallVector<int64_t> from = rowMajorStrides(call.in().shape), strides(call.out().rank(), 0);
  for (auto [axis, target] : llvm::enumerate(op.getDimensions()))
    if (call.in().shape[axis] != 1)
      strides[target] = from[axis];
  return copyStrided(call, strides);
}

static LogicalResult slice(SliceOp op, OpCall &call) {
  FailureOr<SmallVector<int64_t>> starts = call.evaluate(op.getStarts());
  if (failed(starts))
    return failure();
  if (call.out().count() == 0)
    return success();
  SmallVector<int64_t> strides = rowMajorStrides(call.in().shape);
  int64_t offset = 0;
  for (int64_t axis = 0; axis < call.in().rank(); ++axis) {
    int64_t start = (*starts)[axis], stride = op.getStrides()[axis], size = call.out().shape[axis], bound = call.in().shape[axis];
    if (start < 0 || start >= bound || (bound - 1 - start) / stride < size - 1)
      return op.emitOpError() << "reads " << size << " elements from " << start << " on, " << stride << " apart, of axis " << axis
                              << " of size " << bound;
    offset += start * strides[axis];
    strides[axis] *= stride;
  }
  return copyStrided(call, strides, offset);
}

static LogicalResult reverse(ReverseOp op, OpCall &call) {
  SmallVector<int64_t> strides = rowMajorStrides(call.in().shape);
  int64_t offset = 0;
  for (int64_t axis : op.getAxes()) {
    offset += strides[axis] * (call.in().shape[axis] - 1);
    strides[axis] = -strides[axis];
  }
  return copyStrided(call, strides, offset);
}

/// The input position that a position of the padded axis shows; below zero for a new element.
static int64_t paddedSource(int64_t position, int64_t size, int64_t low, int64_t interior, PadMode mode) {
  int64_t source = position - low;
  switch (mode) {
  case PadMode::Constant:
    if (source < 0 || source % (interior + 1) != 0 || source / (interior + 1) >= size)
      return -1;
    return source / (interior + 1);
  case PadMode::Edge:
    return std::clamp<int64_t>(source, 0, size - 1);
  case PadMode::Reflect:
    if (source < 0)
      source = -source;
    return source < size ? source : 2 * (size - 1) - source;
  case PadMode::Wrap:
    return ((source % size) + size) % size;
  }
  llvm_unreachable("every mode is listed");
}

static LogicalResult pad(PadOp op, OpCall &call) {
  FailureOr<SmallVector<int64_t>> low = call.evaluate(op.getLow()), high = call.evaluate(op.getHigh());
  if (failed(low) || failed(high))
    return failure();
  const TensorValue &in = call.in();
  PadMode mode = op.getMode();
  for (int64_t axis = 0; axis < in.rank(); ++axis) {
    int64_t most = std::max((*low)[axis], (*high)[axis]), least = std::min((*low)[axis], (*high)[axis]);
    if (most > kMaxAmount || least < -kMaxAmount)
      return op.emitOpError() << "pads axis " << axis << " by " << (*low)[axis] << " and " << (*high)[axis] << ", expected at most "
                              << kMaxAmount;
    bool copies = mode != PadMode::Constant && (least != 0 || most != 0);
    if (copies && (least < 0 || in.shape[axis] == 0 || (mode == PadMode::Reflect && most >= in.shape[axis])))
      return op.emitOpError() << "pads axis " << axis << " of size " << in.shape[axis] << " by " << (*low)[axis] << " and " << (*high)[axis]
                              << ", which its mode does not allow";
  }
  SmallVector<int64_t> strides = rowMajorStrides(in.shape);
  forEachIndex(call.out().shape, [&](ArrayRef<int64_t> index, int64_t position) {
    int64_t from = 0;
    for (int64_t axis = 0; axis < in.rank(); ++axis) {
      int64_t source = paddedSource(index[axis], in.shape[axis], (*low)[axis], op.getInterior()[axis], mode);
      if (source < 0)
        return call.out().copyElement(position, call.in(1), 0);
      from += source * strides[axis];
    }
    call.out().copyElement(position, in, from);
  });
  return success();
}

static LogicalResult concat(ConcatOp op, OpCall &call) {
  AxisSplit to(call.out().shape, op.getAxis());
  int64_t start = 0;
  for (const TensorValue *in : call.operands) {
    AxisSplit from(in->shape, op.getAxis());
    for (int64_t o = 0; o < from.outer; ++o)
      for (int64_t step = 0; step < from.size; ++step)
        for (int64_t i = 0; i < from.inner; ++i)
          call.out().copyElement(to.position(o, start + step, i), *in, from.position(o, step, i));
    start += from.size;
  }
  return success();
}

static LogicalResult iota(IotaOp op, OpCall &call) {
  forEachIndex(call.out().shape, [&](ArrayRef<int64_t> index, int64_t position) { call.out().setInteger(position, index[op.getAxis()]); });
  return success();
}

static LogicalResult dimValues(DimValuesOp op, OpCall &call) {
  FailureOr<SmallVector<int64_t>> values = call.evaluate(op.getValues());
  if (failed(values))
    return failure();
  call.out().setIntegers(*values);
  return success();
}

ArrayRef<InterpreterEntry> shapeInterpreters() {
  static const InterpreterEntry entries[] = {
      entry<ReshapeOp, reshape>(), entry<TransposeOp, transpose>(), entry<BroadcastOp, broadcast>(),
      entry<SliceOp, slice>(),     entry<ReverseOp, reverse>(),     entry<PadOp, pad>(),
      entry<ConcatOp, concat>(),   entry<IotaOp, iota>(),           entry<DimValuesOp, dimValues>(),
  };
  return entries;
}

} // namespace stator::graph
