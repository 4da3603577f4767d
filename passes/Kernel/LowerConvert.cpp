//===- LowerConvert.cpp - changes of the element type ----------------------===//
//
// The processor's conversions from float to integer give an arbitrary value out
// of range and for NaN, where the dialect saturates and gives 0; so the value is
// replaced before the conversion and the result selected after it.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

static Value floatToInt(Body &b, Value x, Type target, bool isUnsigned) {
  unsigned width = target.getIntOrFloatBitWidth();
  Type type = x.getType();
  double low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1), high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, b.number(type, high));
  Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, b.number(type, low));
  // NaN is neither.
  Value isInside = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, b.number(type, high));
  isInside = arith::AndIOp::create(b, isInside, arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, b.number(type, low)));
  Value bounded = b.select(isInside, x, b.number(type, 0));
  // Through i32, which the vector instructions convert to.
  Type wide = width < 32 ? b.getI32Type() : target;
  Value result = arith::FPToSIOp::create(b, wide, bounded);
  if (wide != target)
    result = arith::TruncIOp::create(b, target, result);
  int64_t largest = isUnsigned ? -1 : static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  int64_t smallest = isUnsigned ? 0 : static_cast<int64_t>(uint64_t(-1) << (width - 1));
  result = b.select(isAbove, b.integer(target, largest), result);
  return b.select(isBelow, b.integer(target, smallest), result);
}

static Value convert(Body &b, Value x, Type from, Type to) {
  Type source = x.getType(), target = scalarType(to);
  if (to.isInteger(1)) {
    if (isa<FloatType>(source))
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, b.number(source, 0));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, b.integer(source, 0));
  }
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  unsigned sourceWidth = source.getIntOrFloatBitWidth(), targetWidth = target.getIntOrFloatBitWidth();
  if (isa<FloatType>(source) && isa<FloatType>(to)) {
    // A stated rounding mode marks an explicit rounding, which must not be undone (see LaneEvaluatorBody.cpp).
    if (to.isF16() || to.isBF16()) {
      if (from == to)
        return x;
      auto mode = arith::RoundingModeAttr::get(b.getContext(), arith::RoundingMode::to_nearest_even);
      return arith::TruncFOp::create(b, to, x, mode, /*fastmath=*/nullptr);
    }
    if (sourceWidth == targetWidth)
      return x;
    return sourceWidth < targetWidth ? arith::ExtFOp::create(b, target, x).getResult() : arith::TruncFOp::create(b, target, x).getResult();
  }
  if (isa<FloatType>(source))
    return floatToInt(b, x, target, to.isUnsignedInteger());
  if (isa<FloatType>(target))
    return isUnsigned ? arith::UIToFPOp::create(b, target, x).getResult() : arith::SIToFPOp::create(b, target, x).getResult();
  if (sourceWidth == targetWidth)
    return x;
  if (sourceWidth > targetWidth)
    return arith::TruncIOp::create(b, target, x);
  return isUnsigned ? arith::ExtUIOp::create(b, target, x).getResult() : arith::ExtSIOp::create(b, target, x).getResult();
}

Value lowerConvert(LinalgLowering &lowering, graph::ConvertOp op) {
  auto from = cast<RankedTensorType>(op.getInput().getType()), to = cast<RankedTensorType>(op.getResult().getType());
  return lowering.elementwise(to, LinalgLowering::same(op.getInput()), [&](Body &b, ValueRange elements) {
    return convert(b, elements[0], from.getElementType(), to.getElementType());
  });
}

} // namespace stator::kernel
