//===- PoolKernel.cpp - windows over channels-last images ------------------===//
//
// Work is shared out by rows of output pixels. Where the whole window lies
// inside along the width (all but a few pixels at the border) its columns are
// written out; elsewhere they are a loop. Rows of the window are always a loop,
// whose bounds are the same for a row of pixels.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/PoolKernel.h"

#include "dialects/Graph/Shapes.h"

using namespace mlir;

namespace stator::kernel {

/// Wider windows are loops everywhere.
static constexpr int64_t maxUnrolledWidth = 7;
/// Vectors of channels that go through a window together.
static constexpr unsigned maxVectors = 4;

bool isPoolKernel(graph::PoolOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  return op.getLayout() == graph::TensorLayout::ChannelsLast && isa<FloatType>(type.getElementType()) &&
         isa<BlockArgument>(op.getInput()) && graph::dimsOf(type).back().isConstant() && !op.getKernel().empty();
}

namespace {

class PoolEmitter {
public:
  using Values = KernelBuilder::Values;

  PoolEmitter(KernelBuilder &b, graph::PoolOp op, Value input, ContractionEpilogue &epilogue)
      : b(b), op(op), epilogue(epilogue), input(input), inputType(cast<RankedTensorType>(op.getInput().getType())),
        storage(inputType.getElementType()), compute(KernelBuilder::computeType(storage)), axes(op.getKernel().size()),
        inputDims(graph::dimsOf(inputType)), resultDims(graph::dimsOf(cast<RankedTensorType>(op.getType()))),
        isMax(op.getKind() == graph::PoolKind::Max) {
    for (const DimExpr &stride : b.stridesOf(inputType, input))
      strides.push_back(b.size(stride));
    channels = *inputDims.back().constant();
  }

  void run();

private:
  struct Window {
    Value begin, end; // positions of the window that lie inside
    Value start;      // input position of the first one, which may be outside
  };
  Window windowOf(unsigned axis, Value output);
  /// How many positions the average counts along `axis`.
  Value countOf(unsigned axis, const Window &window);
  /// Positions of the window before the input position `border`.
  Value before(unsigned axis, Value start, Value border);
  void emitRow(ArrayRef<Value> outer);
  void emitPixel(ArrayRef<Value> outer, Value column, bool isInside);
  void emitChannels(Value channel, unsigned vectors, unsigned lanes, Value mask, bool isInside);
  Values emitAxis(unsigned axis, Value offset, unsigned vectors, unsigned lanes, Value mask, bool isInside, Values carried);
  Values combine(Value offset, unsigned vectors, unsigned lanes, Value mask, Values carried);
  Value combine(Value accumulator, Value element);

  KernelBuilder &b;
  graph::PoolOp op;
  ContractionEpilogue &epilogue;
  Value input;
  RankedTensorType inputType;
  Type storage, compute;
  const unsigned axes;
  SmallVector<DimExpr> inputDims, resultDims;
  const bool isMax;
  int64_t channels = 0;
  SmallVector<Value> strides;

  // Of the row and pixel being emitted.
  KernelBuilder::Range columns;
  SmallVector<Value> pixel; // the indices of all dims but the last
  SmallVector<Window> windows;
  Value divisor;
};

Value PoolEmitter::before(unsigned axis, Value start, Value border) {
  Value distance = b.max(b.sub(border, start), b.i64(0));
  return b.min(b.ceilDiv(distance, b.i64(op.getDilations()[axis])), b.i64(op.getKernel()[axis]));
}

PoolEmitter::Window PoolEmitter::windowOf(unsigned axis, Value output) {
  Value start = b.sub(b.mul(output, b.i64(op.getStrides()[axis])), b.i64(op.getPadLow()[axis]));
  Value end = before(axis, start, b.size(inputDims[1 + axis]));
  return {b.min(before(axis, start, b.i64(0)), end), end, start};
}

Value PoolEmitter::countOf(unsigned axis, const Window &window) {
  if (!op.getCountIncludePad())
    return b.sub(window.end, window.begin);
  int64_t extra = op.getCeilExtra() ? (*op.getCeilExtra())[axis] : 0;
  if (extra == 0)
    return b.i64(op.getKernel()[axis]);
  Value low = b.i64(-op.getPadLow()[axis]), high = b.add(b.size(inputDims[1 + axis]), b.i64(op.getPadHigh()[axis] - extra));
  return b.sub(before(axis, window.start, high), before(axis, window.start, low));
}

void PoolEmitter::run() {
  // Batch and all spatial axes but the width; a worker's share may begin and end within a row.
  Value rows = b.size(resultDims.front());
  for (unsigned axis = 0; axis + 1 < axes; ++axis)
    rows = b.mul(rows, b.size(resultDims[1 + axis]));
  Value width = b.size(resultDims[axes]);
  KernelBuilder::Range range = b.split(b.mul(rows, width));
  Value firstRow = b.div(range.begin, b.max(width, b.i64(1))), lastRow = b.ceilDiv(range.end, b.max(width, b.i64(1)));
  b.loop(firstRow, lastRow, b.i64(1), [&](Value row) {
    SmallVector<Value> outer(axes);
    Value rest = row;
    for (unsigned axis = axes - 1; axis > 0; --axis) {
      Value size = b.size(resultDims[axis]);
      outer[axis] = b.rem(rest, size);
      rest = b.div(rest, size);
    }
    outer[0] = rest;
    Value start = b.mul(row, width);
    columns = {b.max(b.sub(range.begin, start), b.i64(0)), b.min(b.sub(range.end, start), width)};
    emitRow(outer);
  });
}

void PoolEmitter::emitRow(ArrayRef<Value> outer) {
  unsigned last = axes - 1;
  windows.assign(axes, {});
  for (unsigned axis = 0; axis != last; ++axis)
    windows[axis] = windowOf(axis, outer[1 + axis]);
  int64_t stride = op.getStrides()[last], reach = (op.getKernel()[last] - 1) * op.getDilations()[last];
  auto general = [&](Value begin, Value end) {
    b.loop(begin, end, b.i64(1), [&](Value column) { emitPixel(outer, column, /*isInside=*/false); });
  };
  if (op.getKernel()[last] > maxUnrolledWidth)
    return general(columns.begin, columns.end);
  // Output columns [low, high) have the whole window inside.
  auto clamped = [&](Value column) { return b.max(b.min(column, columns.end), columns.begin); };
  Value low = clamped(b.i64((op.getPadLow()[last] + stride - 1) / stride));
  Value room = b.sub(b.size(inputDims[axes]), b.i64(reach - op.getPadLow()[last])); // of starts, from the low padding on
  Value high = b.max(clamped(b.ceilDiv(b.max(room, b.i64(0)), b.i64(stride))), low);
  general(columns.begin, low);
  b.loop(low, high, b.i64(1), [&](Value column) { emitPixel(outer, column, /*isInside=*/true); });
  general(high, columns.end);
}

void PoolEmitter::emitPixel(ArrayRef<Value> outer, Value column, bool isInside) {
  unsigned last = axes - 1;
  Window &window = windows[last];
  if (isInside) {
    Value start = b.sub(b.mul(column, b.i64(op.getStrides()[last])), b.i64(op.getPadLow()[last]));
    window = {b.i64(0), b.i64(op.getKernel()[last]), start};
  } else {
    window = windowOf(last, column);
  }
  pixel.assign(outer.begin(), outer.end());
  pixel.push_back(column);
  if (!isMax) {
    Value count = b.i64(1);
    for (unsigned axis = 0; axis != axes; ++axis)
      count = b.mul(count, countOf(axis, windows[axis]));
    divisor = arith::SIToFPOp::create(b, compute, b.max(count, b.i64(1)));
  }

  const int64_t lanes = b.lanes(), whole = channels / lanes * lanes;
  const int64_t vectors = std::min<int64_t>(maxVectors, whole / lanes), step = std::max<int64_t>(vectors, 1) * lanes;
  const int64_t wide = whole / step * step;
  if (wide > 0)
    b.loop(b.i64(0), b.i64(wide), b.i64(step), [&](Value channel) { emitChannels(channel, vectors, lanes, {}, isInside); });
  if (whole > wide)
    emitChannels(b.i64(wide), (whole - wide) / lanes, lanes, {}, isInside);
  if (channels == whole)
    return;
  emitChannels(b.i64(whole), 1, lanes, b.maskBelow(b.i64(channels - whole), lanes), isInside);
}

void PoolEmitter::emitChannels(Value channel, unsigned vectors, unsigned lanes, Value mask, bool isInside) {
  Type type = KernelBuilder::laneType(compute, lanes);
  Value initial = isMax ? b.number(type, -std::numeric_limits<double>::infinity()) : b.zero(type);
  Values results = emitAxis(0, b.add(b.mul(pixel.front(), strides.front()), channel), vectors, lanes, mask, isInside, Values(vectors, initial));
  if (!isMax)
    for (Value &result : results)
      result = arith::DivFOp::create(b, result, b.splat(divisor, lanes));
  TilePosition position;
  position.rowIndices = [&](Value) { return pixel; };
  position.column = channel;
  if (mask)
    position.masks.push_back(mask);
  epilogue.emit({1, vectors}, position, results);
}

PoolEmitter::Values PoolEmitter::emitAxis(unsigned axis, Value offset, unsigned vectors, unsigned lanes, Value mask, bool isInside,
                                          Values carried) {
  if (axis == axes)
    return combine(offset, vectors, lanes, mask, std::move(carried));
  const Window &window = windows[axis];
  Value stride = strides[1 + axis], first = b.add(offset, b.mul(window.start, stride));
  auto at = [&](Value k) { return b.add(first, b.mul(b.mul(k, b.i64(op.getDilations()[axis])), stride)); };
  if (axis + 1 == axes && isInside) {
    for (int64_t k = 0; k < op.getKernel()[axis]; ++k)
      carried = emitAxis(axis + 1, at(b.i64(k)), vectors, lanes, mask, isInside, std::move(carried));
    return carried;
  }
  return b.loop(window.begin, window.end, b.i64(1), carried, [&](Value k, ValueRange values) {
    return emitAxis(axis + 1, at(k), vectors, lanes, mask, isInside, Values(values));
  });
}

PoolEmitter::Values PoolEmitter::combine(Value offset, unsigned vectors, unsigned lanes, Value mask, Values carried) {
  for (unsigned v = 0; v != vectors; ++v)
    carried[v] = combine(carried[v], b.load(input, b.add(offset, b.i64(int64_t(v) * lanes)), storage, lanes, mask));
  return carried;
}

Value PoolEmitter::combine(Value accumulator, Value element) {
  if (!isMax)
    return arith::AddFOp::create(b, accumulator, element);
  // The inner select is the processors' max, which gives the second operand if either is NaN.
  Value wins = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, accumulator, element);
  Value extremum = arith::SelectOp::create(b, wins, accumulator, element);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, accumulator, accumulator);
  return arith::SelectOp::create(b, isNan, accumulator, extremum);
}

} // namespace

void emitPool(KernelBuilder &b, graph::PoolOp op, Value input, ContractionEpilogue &epilogue) {
  PoolEmitter(b, op, input, epilogue).run();
}

} // namespace stator::kernel
