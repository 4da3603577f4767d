//===- LowerElementwise.cpp - element-wise ops as scalar code --------------===//
//
// What the descriptions in GraphElementwise*.td say, element by element. Integer
// division is guarded, since the processor traps where the dialect defines a
// value; lanes outside of a mask divide too.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static Value compareFloat(Body &b, arith::CmpFPredicate predicate, Value x, Value y) { return arith::CmpFOp::create(b, predicate, x, y); }
static Value compareInt(Body &b, arith::CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(b, predicate, x, y); }
static Value isZero(Body &b, Value x) {
  if (isa<FloatType>(x.getType()))
    return compareFloat(b, arith::CmpFPredicate::OEQ, x, b.number(x.getType(), 0));
  return compareInt(b, arith::CmpIPredicate::eq, x, b.integer(x.getType(), 0));
}
static Value either(Body &b, Value x, Value y) { return arith::OrIOp::create(b, x, y); }
static Value both(Body &b, Value x, Value y) { return arith::AndIOp::create(b, x, y); }

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static Value signOf(Body &b, Value x, bool isUnsigned) {
  Type type = x.getType();
  Value zero = b.number(type, 0), one = b.number(type, 1), minusOne = b.number(type, -1);
  if (isUnsigned)
    return b.select(isZero(b, x), zero, one);
  Value negative = b.select(b.less(x, zero), minusOne, isa<FloatType>(type) ? b.select(isZero(b, x), zero, x) : zero);
  return b.select(b.less(zero, x), one, negative);
}

template <typename MathOp>
static Value apply(Body &b, Value x) {
  return MathOp::create(b, x);
}

static Value unary(Body &b, Operation *op, Value x, bool isUnsigned) {
  bool isFloat = isa<FloatType>(x.getType());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::AbsOp) -> Value { return isUnsigned ? x
                                                : isFloat  ? apply<math::AbsFOp>(b, x)
                                                           : apply<math::AbsIOp>(b, x); })
      .Case([&](graph::NegOp) { return isFloat ? apply<arith::NegFOp>(b, x) : b.sub(b.integer(x.getType(), 0), x); })
      .Case([&](graph::SignOp) { return signOf(b, x, isUnsigned); })
      .Case([&](graph::ReluOp) -> Value {
        if (isUnsigned)
          return x;
        Value zero = b.number(x.getType(), 0);
        return isFloat ? arith::MaximumFOp::create(b, x, zero).getResult() : b.max(x, zero);
      })
      .Case([&](graph::ExpOp) { return apply<math::ExpOp>(b, x); })
      .Case([&](graph::Expm1Op) { return apply<math::ExpM1Op>(b, x); })
      .Case([&](graph::LogOp) { return apply<math::LogOp>(b, x); })
      .Case([&](graph::Log1pOp) { return apply<math::Log1pOp>(b, x); })
      .Case([&](graph::SqrtOp) { return apply<math::SqrtOp>(b, x); })
      .Case([&](graph::RsqrtOp) { return apply<math::RsqrtOp>(b, x); })
      .Case([&](graph::SinOp) { return apply<math::SinOp>(b, x); })
      .Case([&](graph::CosOp) { return apply<math::CosOp>(b, x); })
      .Case([&](graph::TanOp) { return apply<math::TanOp>(b, x); })
      .Case([&](graph::AsinOp) { return apply<math::AsinOp>(b, x); })
      .Case([&](graph::AcosOp) { return apply<math::AcosOp>(b, x); })
      .Case([&](graph::AtanOp) { return apply<math::AtanOp>(b, x); })
      .Case([&](graph::SinhOp) { return apply<math::SinhOp>(b, x); })
      .Case([&](graph::CoshOp) { return apply<math::CoshOp>(b, x); })
      .Case([&](graph::AsinhOp) { return apply<math::AsinhOp>(b, x); })
      .Case([&](graph::AcoshOp) { return apply<math::AcoshOp>(b, x); })
      .Case([&](graph::AtanhOp) { return apply<math::AtanhOp>(b, x); })
      .Case([&](graph::TanhOp) { return apply<math::TanhOp>(b, x); })
      .Case([&](graph::ErfOp) { return apply<math::ErfOp>(b, x); })
      .Case([&](graph::SigmoidOp) -> Value {
        Value one = b.number(x.getType(), 1);
        Value exponential = apply<math::ExpOp>(b, apply<arith::NegFOp>(b, x));
        return arith::DivFOp::create(b, one, b.add(one, exponential));
      })
      .Case([&](graph::FloorOp) { return apply<math::FloorOp>(b, x); })
      .Case([&](graph::CeilOp) { return apply<math::CeilOp>(b, x); })
      .Case([&](graph::RoundEvenOp) { return apply<math::RoundEvenOp>(b, x); })
      .Case([&](graph::NotOp) -> Value { return arith::XOrIOp::create(b, x, b.integer(x.getType(), -1)); })
      .Case([&](graph::IsNanOp) { return compareFloat(b, arith::CmpFPredicate::UNO, x, x); })
      .Case([&](graph::IsInfOp) {
        return compareFloat(b, arith::CmpFPredicate::OEQ, apply<math::AbsFOp>(b, x), b.number(x.getType(), infinity));
      })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

namespace {
/// Quotient and remainder of integers, rounded towards zero, with the values that the dialect defines where the processor traps.
struct Division {
  Value quotient, remainder;
};
} // namespace

static Division divideTruncating(Body &b, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  Value zero = b.integer(type, 0), one = b.integer(type, 1);
  Value byZero = isZero(b, y);
  if (isUnsigned) {
    Value divisor = b.select(byZero, one, y);
    Value quotient = arith::DivUIOp::create(b, x, divisor);
    Value remainder = b.sub(x, b.mul(quotient, divisor));
    return {b.select(byZero, zero, quotient), b.select(byZero, zero, remainder)};
  }
  // The smallest number divided by -1 overflows, so -1 becomes a negation.
  Value byMinusOne = compareInt(b, arith::CmpIPredicate::eq, y, b.integer(type, -1));
  Value isSpecial = either(b, byZero, byMinusOne);
  Value divisor = b.select(isSpecial, one, y);
  Value quotient = arith::DivSIOp::create(b, x, divisor);
  Value remainder = b.sub(x, b.mul(quotient, divisor));
  Value special = b.select(byZero, zero, b.sub(zero, x));
  return {b.select(isSpecial, special, quotient), b.select(isSpecial, zero, remainder)};
}

/// Whether a nonzero remainder has another sign than the divisor: then the floored quotient is one less.
static Value needsFlooring(Body &b, Value remainder, Value divisor) {
  Value zero = b.number(remainder.getType(), 0);
  Value signsDiffer = arith::XOrIOp::create(b, b.less(remainder, zero), b.less(divisor, zero));
  Value isExact = isZero(b, remainder);
  return both(b, signsDiffer, arith::XOrIOp::create(b, isExact, b.integer(b.getI1Type(), 1)));
}

static Value moduloFloat(Body &b, Value x, Value y) {
  Value remainder = arith::RemFOp::create(b, x, y);
  Value zero = math::CopySignOp::create(b, b.number(x.getType(), 0), y);
  Value floored = b.select(needsFlooring(b, remainder, y), b.add(remainder, y), remainder);
  return b.select(isZero(b, remainder), zero, floored);
}

static Value floorDivideFloat(Body &b, Value x, Value y) {
  Value quotient = arith::DivFOp::create(b, b.sub(x, moduloFloat(b, x, y)), y);
  Value rounded = math::RoundEvenOp::create(b, quotient);
  return b.select(isZero(b, y), arith::DivFOp::create(b, x, y), rounded);
}

/// x^n by repeated squaring, for exponents of any size; a negative exponent has a value only for bases 1 and -1.
static Value powInt(Body &b, Value x, Value n, bool isUnsigned) {
  Type type = x.getType();
  Value zero = b.integer(type, 0), one = b.integer(type, 1);
  Value result = one, square = x, rest = n;
  for (unsigned bit = 0, width = type.getIntOrFloatBitWidth(); bit + (isUnsigned ? 0 : 1) < width; ++bit) {
    Value isSet = compareInt(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, rest, one), zero);
    result = b.select(isSet, b.mul(result, square), result);
    square = b.mul(square, square);
    rest = arith::ShRUIOp::create(b, rest, one);
  }
  if (isUnsigned)
    return result;
  Value isOdd = compareInt(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, n, one), zero);
  Value minusOne = b.integer(type, -1);
  Value reciprocal = b.select(compareInt(b, arith::CmpIPredicate::eq, x, minusOne), b.select(isOdd, minusOne, one),
                              b.select(compareInt(b, arith::CmpIPredicate::eq, x, one), one, zero));
  return b.select(b.less(n, zero), reciprocal, result);
}

/// The only value of a constant float tensor, looking through broadcasts.
static std::optional<double> splatNumber(Value tensor) {
  while (auto broadcast = tensor.getDefiningOp<graph::BroadcastOp>())
    tensor = broadcast.getInput();
  auto constant = tensor.getDefiningOp<graph::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  APFloat number = elements.getSplatValue<APFloat>();
  bool lossy = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return number.convertToDouble();
}

/// Powers that are a few exact operations. pow(x, 0.5) is not a square root at -0 and -inf, which a select mends.
static Value powFloat(Body &b, Value x, Value y, std::optional<double> exponent) {
  Value one = b.number(x.getType(), 1);
  if (exponent == 1.0)
    return x;
  if (exponent == 2.0)
    return b.mul(x, x);
  if (exponent == 3.0)
    return b.mul(b.mul(x, x), x);
  if (exponent == 4.0) {
    Value square = b.mul(x, x);
    return b.mul(square, square);
  }
  if (exponent == -1.0)
    return arith::DivFOp::create(b, one, x);
  if (exponent == -2.0)
    return arith::DivFOp::create(b, one, b.mul(x, x));
  if (exponent == 0.5 || exponent == -0.5) {
    Value root = math::SqrtOp::create(b, math::AbsFOp::create(b, x));
    Value isNegative = b.less(x, b.number(x.getType(), 0));
    Value isMinusInfinity = compareFloat(b, arith::CmpFPredicate::OEQ, x, b.number(x.getType(), -infinity));
    Value nan = b.number(x.getType(), std::numeric_limits<double>::quiet_NaN());
    Value result = b.select(isNegative, b.select(isMinusInfinity, b.number(x.getType(), infinity), nan), root);
    return *exponent > 0 ? result : arith::DivFOp::create(b, one, result).getResult();
  }
  return math::PowFOp::create(b, x, y);
}

static Value shift(Body &b, Value x, Value amount, bool isLeft, bool isUnsigned) {
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value isInside = compareInt(b, arith::CmpIPredicate::ult, amount, b.integer(type, width));
  if (!isLeft && !isUnsigned)
    return arith::ShRSIOp::create(b, x, b.select(isInside, amount, b.integer(type, width - 1)));
  Value bounded = b.select(isInside, amount, b.integer(type, 0));
  Value shifted = isLeft ? arith::ShLIOp::create(b, x, bounded).getResult() : arith::ShRUIOp::create(b, x, bounded).getResult();
  return b.select(isInside, shifted, b.integer(type, 0));
}

static Value compare(Body &b, graph::CompareDirection direction, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType())) {
    static constexpr arith::CmpFPredicate predicates[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
                                                          arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return compareFloat(b, predicates[static_cast<unsigned>(direction)], x, y);
  }
  static constexpr arith::CmpIPredicate predicates[][2] = {
      {arith::CmpIPredicate::eq, arith::CmpIPredicate::eq},   {arith::CmpIPredicate::ne, arith::CmpIPredicate::ne},
      {arith::CmpIPredicate::slt, arith::CmpIPredicate::ult}, {arith::CmpIPredicate::sle, arith::CmpIPredicate::ule},
      {arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt}, {arith::CmpIPredicate::sge, arith::CmpIPredicate::uge}};
  bool unsignedOrder = isUnsigned || x.getType().isInteger(1);
  return compareInt(b, predicates[static_cast<unsigned>(direction)][unsignedOrder], x, y);
}

static Value binary(Body &b, Operation *op, Value x, Value y, bool isUnsigned) {
  bool isFloat = isa<FloatType>(x.getType());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::AddOp) { return b.add(x, y); })
      .Case([&](graph::SubOp) { return b.sub(x, y); })
      .Case([&](graph::MulOp) { return b.mul(x, y); })
      .Case([&](graph::DivOp) {
        return isFloat ? arith::DivFOp::create(b, x, y).getResult() : divideTruncating(b, x, y, isUnsigned).quotient;
      })
      .Case([&](graph::FloorDivOp) -> Value {
        if (isFloat)
          return floorDivideFloat(b, x, y);
        Division division = divideTruncating(b, x, y, isUnsigned);
        if (isUnsigned)
          return division.quotient;
        Value lower = b.sub(division.quotient, b.integer(x.getType(), 1));
        return b.select(needsFlooring(b, division.remainder, y), lower, division.quotient);
      })
      .Case([&](graph::RemainderOp) {
        return isFloat ? arith::RemFOp::create(b, x, y).getResult() : divideTruncating(b, x, y, isUnsigned).remainder;
      })
      .Case([&](graph::ModuloOp) -> Value {
        if (isFloat)
          return moduloFloat(b, x, y);
        Value remainder = divideTruncating(b, x, y, isUnsigned).remainder;
        return isUnsigned ? remainder : b.select(needsFlooring(b, remainder, y), b.add(remainder, y), remainder);
      })
      .Case([&](graph::PowOp pow) { return isFloat ? powFloat(b, x, y, splatNumber(pow.getRhs())) : powInt(b, x, y, isUnsigned); })
      .Case([&](graph::Atan2Op) { return math::Atan2Op::create(b, x, y).getResult(); })
      .Case([&](graph::MaximumOp) -> Value {
        return isFloat      ? arith::MaximumFOp::create(b, x, y).getResult()
               : isUnsigned ? arith::MaxUIOp::create(b, x, y).getResult()
                            : b.max(x, y);
      })
      .Case([&](graph::MinimumOp) -> Value {
        return isFloat      ? arith::MinimumFOp::create(b, x, y).getResult()
               : isUnsigned ? arith::MinUIOp::create(b, x, y).getResult()
                            : b.min(x, y);
      })
      .Case([&](graph::AndOp) { return both(b, x, y); })
      .Case([&](graph::OrOp) { return either(b, x, y); })
      .Case([&](graph::XorOp) { return arith::XOrIOp::create(b, x, y).getResult(); })
      .Case([&](graph::ShiftLeftOp) { return shift(b, x, y, /*isLeft=*/true, isUnsigned); })
      .Case([&](graph::ShiftRightOp) { return shift(b, x, y, /*isLeft=*/false, isUnsigned); })
      .Case([&](graph::CompareOp compareOp) { return compare(b, compareOp.getDirection(), x, y, isUnsigned); })
      .Default([](Operation *) { return Value(); });
}

Value lowerElementwise(LinalgLowering &lowering, Operation *op) {
  if (!op->hasTrait<graph::Elementwise>() || isa<graph::ConvertOp, graph::GraphComposite>(op))
    return {};
  SmallVector<LinalgLowering::Input> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(LinalgLowering::same(operand));
  auto operandType = cast<RankedTensorType>(op->getOperand(0).getType());
  bool isUnsigned = operandType.getElementType().isUnsignedInteger();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return lowering.elementwise(type, inputs, [&](Body &b, ValueRange elements) -> Value {
    if (isa<graph::SelectOp>(op))
      return b.select(elements[0], elements[1], elements[2]);
    return elements.size() == 1 ? unary(b, op, elements[0], isUnsigned) : binary(b, op, elements[0], elements[1], isUnsigned);
  });
}

} // namespace stator::kernel
