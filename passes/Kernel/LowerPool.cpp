//===- LowerPool.cpp - sliding windows -------------------------------------===//
//
// A reduction over the positions of the window, which reads the input where the
// window is. Positions in the padding read the nearest element instead, and a
// select replaces it: cheaper than a branch, and with channels last the test is
// the same for all lanes.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

namespace {

/// Axis numbers and sizes of one pool.
struct Window {
  explicit Window(graph::PoolOp op)
      : op(op), inputType(cast<RankedTensorType>(op.getInput().getType())), resultType(cast<RankedTensorType>(op.getResult().getType())),
        inputDims(graph::dimsOf(inputType)) {
    firstSpatial = op.getLayout() == graph::TensorLayout::ChannelsLast ? 1 : 2;
    space = graph::dimsOf(resultType);
    for (int64_t size : op.getKernel())
      space.push_back(size);
    isPadded = llvm::any_of(op.getPadLow(), [](int64_t pad) { return pad != 0; }) ||
               llvm::any_of(op.getPadHigh(), [](int64_t pad) { return pad != 0; });
  }

  int64_t spatialRank() { return op.getKernel().size(); }
  /// The axes of `space` that run over the window.
  SmallVector<int64_t> windowAxes() {
    int64_t rank = resultType.getRank();
    SmallVector<int64_t> axes;
    for (int64_t i = 0; i < spatialRank(); ++i)
      if (op.getKernel()[i] != 1)
        axes.push_back(rank + i);
    return axes;
  }
  /// Input position of the window's first element along spatial axis i.
  Value start(Body &b, int64_t i) {
    Value offset = b.mul(b.index(firstSpatial + i), b.indexConstant(op.getStrides()[i]));
    return b.sub(offset, b.indexConstant(op.getPadLow()[i]));
  }

  graph::PoolOp op;
  RankedTensorType inputType, resultType;
  SmallVector<DimExpr> inputDims, space;
  int64_t firstSpatial = 0;
  bool isPadded = false;
};

} // namespace

/// The element under the window's current position, or `outside` in the padding.
static Value elementUnderWindow(Body &b, Window &window, TypedAttr outside) {
  int64_t rank = window.resultType.getRank();
  SmallVector<Value> positions;
  for (int64_t axis = 0; axis < rank; ++axis)
    positions.push_back(b.index(axis));
  Value isInside;
  for (int64_t i = 0; i < window.spatialRank(); ++i) {
    Value position = window.start(b, i);
    if (window.op.getKernel()[i] != 1)
      position = b.add(position, b.mul(b.index(rank + i), b.indexConstant(window.op.getDilations()[i])));
    int64_t axis = window.firstSpatial + i;
    if (window.op.getPadLow()[i] != 0 || window.op.getPadHigh()[i] != 0) {
      Value size = b.size(window.inputDims[axis]);
      // One unsigned comparison tests both ends.
      Value isHere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position, size);
      isInside = isInside ? arith::AndIOp::create(b, isInside, isHere).getResult() : isHere;
      position = b.clamp(position, size);
    }
    positions[axis] = position;
  }
  Value element = b.extract(window.op.getInput(), positions);
  return isInside ? b.select(isInside, element, arith::ConstantOp::create(b, outside)) : element;
}

/// How many positions of the window along spatial axis i lie in [low, high).
static Value positionsInside(Body &b, Window &window, int64_t i, Value low, Value high) {
  Value start = window.start(b, i), zero = b.indexConstant(0), size = b.indexConstant(window.op.getKernel()[i]);
  int64_t dilation = window.op.getDilations()[i];
  // The number of window positions before a border.
  auto before = [&](Value border) {
    Value distance = b.max(b.sub(border, start), zero);
    if (dilation != 1)
      distance = arith::DivUIOp::create(b, b.add(distance, b.indexConstant(dilation - 1)), b.indexConstant(dilation));
    return b.min(distance, size);
  };
  return b.sub(before(high), before(low));
}

static Value averageOf(LinalgLowering &lowering, Window &window, Value sum) {
  graph::PoolOp op = window.op;
  Type element = scalarType(window.inputType.getElementType());
  auto sumInput = LinalgLowering::same(sum);
  // The sum's axes are those of the result without the ones that were dropped.
  sumInput.axes.clear();
  SmallVector<DimExpr> dims = graph::dimsOf(window.resultType);
  for (auto [axis, dim] : llvm::enumerate(dims))
    if (!dim.isConstant(1) || static_cast<size_t>(cast<RankedTensorType>(sum.getType()).getRank()) == dims.size())
      sumInput.axes.push_back(axis);
  return lowering.elementwise(window.resultType, sumInput, [&](Body &b, ValueRange elements) -> Value {
    Value count = b.indexConstant(1);
    for (int64_t i = 0; i < window.spatialRank(); ++i) {
      int64_t extra = op.getCeilExtra() ? (*op.getCeilExtra())[i] : 0;
      bool includesPadding = op.getCountIncludePad();
      bool isAlwaysFull = includesPadding ? extra == 0 : op.getPadLow()[i] == 0 && op.getPadHigh()[i] == 0;
      if (isAlwaysFull) {
        count = b.mul(count, b.indexConstant(op.getKernel()[i]));
        continue;
      }
      Value size = b.size(window.inputDims[window.firstSpatial + i]);
      Value low = b.indexConstant(includesPadding ? -op.getPadLow()[i] : 0);
      Value high = includesPadding ? b.add(size, b.indexConstant(op.getPadHigh()[i] - extra)) : size;
      count = b.mul(count, positionsInside(b, window, i, low, high));
    }
    count = b.toInteger(b.max(count, b.indexConstant(1)), b.getI64Type());
    return arith::DivFOp::create(b, elements[0], arith::SIToFPOp::create(b, element, count));
  });
}

Value lowerPool(LinalgLowering &lowering, graph::PoolOp op) {
  Window window(op);
  Type storage = window.inputType.getElementType(), element = scalarType(storage);
  bool isMax = op.getKind() == graph::PoolKind::Max, isUnsigned = storage.isUnsignedInteger();
  TypedAttr outside;
  if (auto real = dyn_cast<FloatType>(element)) {
    outside = isMax ? lowering.b.getFloatAttr(element, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/true))
                    : lowering.b.getFloatAttr(element, 0.0);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    outside = lowering.b.getIntegerAttr(element, isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
  }

  // An average is divided before it is rounded to a half.
  RankedTensorType type = isMax ? window.resultType : graph::withElement(window.resultType, element);
  SmallVector<int64_t> axes = window.windowAxes();
  Value result;
  if (axes.empty()) {
    result = lowering.elementwise(type, {}, [&](Body &b, ValueRange) { return elementUnderWindow(b, window, outside); });
  } else {
    result = lowering.reduction(
        type, window.space, axes, outside, {}, [&](Body &b, ValueRange) { return elementUnderWindow(b, window, outside); },
        [&](Body &b, Value accumulator, Value value) -> Value {
          if (!isMax)
            return b.add(accumulator, value);
          if (isa<FloatType>(element))
            return b.accumulateExtremum(/*isMax=*/true, accumulator, value);
          return isUnsigned ? arith::MaxUIOp::create(b, accumulator, value).getResult() : b.max(accumulator, value);
        });
  }
  return isMax ? result : averageOf(lowering, window, result);
}

} // namespace stator::kernel
