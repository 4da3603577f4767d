//===- MathExpansionDouble.cpp - functions computed in f64 -----------------===//
//
// Trigonometric, inverse and hyperbolic functions and pow. For f32 these are
// evaluated in f64 too: they are rare in models, and the wider type makes the
// range reduction and the cancellations harmless.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/MathExpansion.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace stator::kernel {

static constexpr double pi = 3.14159265358979323846, halfPi = 1.57079632679489661923, quarterPi = 0.78539816339744830962;
static constexpr double halfPiRest = 6.123233995736765886130e-17; // pi/2 - (double)pi/2
static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Trigonometric functions
//===----------------------------------------------------------------------===//

MathExpansion::Angle MathExpansion::reduceAngle(Value x) {
  // pi/2 in three parts of 33 bits each, whose products with n < 2^20 are exact.
  Rounded n = round(mul(x, c(2 / pi)));
  Value r = sub(x, mul(n.real, c(1.57079632673412561417e+00)));
  r = sub(r, mul(n.real, c(6.07710050630396597660e-11)));
  r = sub(r, mul(n.real, c(2.02226624879595063154e-21)));
  // Beyond the range of the reduction the result is meaningless, but stays between -1 and 1.
  r = atMost(atLeast(r, -0.7854), 0.7854);
  return {r, n.integer};
}

Value MathExpansion::sineOfRest(Value x) {
  Value z = mul(x, x);
  Value p = polynomial(z, {1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
                           8.33333333332211858878e-3, -1.66666666666666307295e-1});
  return fma(mul(x, z), p, x);
}

Value MathExpansion::cosineOfRest(Value x) {
  Value z = mul(x, x);
  Value p = polynomial(z, {-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
                           -1.38888888888730564116e-3, 4.16666666666665929218e-2});
  return fma(mul(z, z), p, fma(z, c(-0.5), c(1)));
}

/// sin(x + shift * pi/2)
Value MathExpansion::sinOfQuadrant(Angle angle, int64_t shift) {
  Value quadrant = arith::AddIOp::create(b, angle.quadrant, bits(shift));
  Value swaps = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, quadrant, bits(1)), bits(0));
  Value result = select(swaps, cosineOfRest(angle.rest), sineOfRest(angle.rest));
  // Bit 1 of the quadrant becomes the sign.
  Value sign = arith::ShLIOp::create(b, arith::AndIOp::create(b, quadrant, bits(2)), bits(62));
  return asReal(arith::XOrIOp::create(b, asBits(result), sign));
}

Value MathExpansion::sin(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::sin, x);
  Value isInfinite = equal(abs(x), c(infinity));
  Value result = select(isInfinite, c(std::numeric_limits<double>::quiet_NaN()), sinOfQuadrant(reduceAngle(x), 0));
  return select(equal(x, c(0)), x, result);
}

Value MathExpansion::cos(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::cos, x);
  Value isInfinite = equal(abs(x), c(infinity));
  return select(isInfinite, c(std::numeric_limits<double>::quiet_NaN()), sinOfQuadrant(reduceAngle(x), 1));
}

Value MathExpansion::tan(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::tan, x);
  return div(sin(x), cos(x));
}

//===----------------------------------------------------------------------===//
// Inverse trigonometric functions
//===----------------------------------------------------------------------===//

/// asin(x) for |x| <= 1/2.
Value MathExpansion::arcSineSmall(Value x) {
  Value z = mul(x, x);
  Value p = polynomial(z, {3.47933107596021167570e-05, 7.91534994289814532176e-04, -4.00555345006794114027e-02, 2.01212532134862925881e-01,
                           -3.25565818622400915405e-01, 1.66666666666666657415e-01});
  Value q = polynomial(
      z, {7.70381505559019352791e-02, -6.88283971605453293030e-01, 2.02094576023350569471e+00, -2.40339491173441421878e+00, 1.0});
  return fma(mul(x, z), div(p, q), x);
}

Value MathExpansion::asin(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::asin, x);
  Value a = abs(x);
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)); the root of a negative number makes NaN outside of the domain.
  Value root = sqrt(mul(sub(c(1), a), c(0.5)));
  Value isLarge = less(c(0.5), a);
  Value small = arcSineSmall(select(isLarge, root, a));
  Value large = add(sub(c(halfPi), mul(c(2), small)), c(halfPiRest));
  return copySign(select(isLarge, large, small), x);
}

Value MathExpansion::acos(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::acos, x);
  Value a = abs(x);
  Value root = sqrt(mul(sub(c(1), a), c(0.5)));
  Value isLarge = less(c(0.5), a);
  Value small = arcSineSmall(select(isLarge, root, x));
  Value twice = mul(c(2), small);
  Value large = select(less(x, c(0)), sub(c(pi), sub(twice, c(2 * halfPiRest))), twice);
  return select(isLarge, large, sub(c(halfPi), sub(small, c(halfPiRest))));
}

Value MathExpansion::atan(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::atan, x);
  Value a = abs(x);
  Value isLarge = less(c(2.41421356237309504880), a); // tan(3 pi / 8)
  Value isMedium = less(c(0.66), a);
  Value reduced = select(isLarge, div(c(-1), a), select(isMedium, div(sub(a, c(1)), add(a, c(1))), a));
  Value base = select(isLarge, c(halfPi), select(isMedium, c(quarterPi), c(0)));
  Value rest = select(isLarge, c(halfPiRest), select(isMedium, c(0.5 * halfPiRest), c(0)));
  Value z = mul(reduced, reduced);
  Value p = polynomial(z, {-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1, -1.228866684490136173410e2,
                           -6.485021904942025371773e1});
  Value q = monic(z, {2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2, 4.853903996359136964868e2,
                      1.945506571482613964425e2});
  Value y = fma(reduced, mul(z, div(p, q)), reduced);
  return copySign(add(base, add(y, rest)), x);
}

Value MathExpansion::atan2(Value y, Value x) {
  if (!isDouble) {
    Type wide = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(b.getF64Type())) : b.getF64Type();
    MathExpansion expansion(b, wide);
    Value result = expansion.atan2(arith::ExtFOp::create(b, wide, y), arith::ExtFOp::create(b, wide, x));
    return arith::TruncFOp::create(b, type, result);
  }
  // The angle in the first octants from the ratio of the smaller to the larger magnitude; 0/0 and inf/inf count as 0 and 1.
  Value ax = abs(x), ay = abs(y);
  Value isSteep = less(ax, ay);
  Value small = select(isSteep, ax, ay), large = select(isSteep, ay, ax);
  Value ratio = div(small, large);
  ratio = select(equal(large, c(0)), c(0), ratio);
  ratio = select(equal(small, c(infinity)), c(1), ratio);
  Value angle = atan(ratio);
  angle = select(isSteep, sub(c(halfPi), sub(angle, c(halfPiRest))), angle);
  // The sign bit of x, so that -0 counts as negative.
  Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, asBits(x), bits(0));
  angle = select(isLeft, sub(c(pi), sub(angle, c(2 * halfPiRest))), angle);
  Value result = copySign(angle, y);
  Value hasNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, y);
  return select(hasNan, add(x, y), result);
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

Value MathExpansion::sinh(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::sinh, x);
  Value a = abs(x);
  Value t = expm1(atMost(a, 700));
  Value small = mul(c(0.5), add(t, div(t, add(t, c(1)))));
  Value half = exp(mul(c(0.5), a));
  Value large = mul(mul(c(0.5), half), half);
  return copySign(select(less(c(700), a), large, small), x);
}

Value MathExpansion::cosh(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::cosh, x);
  Value a = abs(x);
  Value e = exp(atMost(a, 700));
  Value small = mul(c(0.5), add(e, div(c(1), e)));
  Value half = exp(mul(c(0.5), a));
  Value large = mul(mul(c(0.5), half), half);
  return select(less(c(700), a), large, small);
}

Value MathExpansion::asinh(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::asinh, x);
  Value a = abs(x);
  Value t = atMost(a, 1e9);
  Value z = mul(t, t);
  Value small = log1p(add(t, div(z, add(c(1), sqrt(add(c(1), z))))));
  Value large = add(log(a), c(0.693147180559945309417));
  return copySign(select(less(c(1e9), a), large, small), x);
}

Value MathExpansion::acosh(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::acosh, x);
  // Below 1 the root of a negative number makes NaN.
  Value t = sub(atMost(x, 1e9), c(1));
  Value small = log1p(add(t, sqrt(mul(t, add(t, c(2))))));
  Value large = add(log(x), c(0.693147180559945309417));
  Value result = select(less(c(1e9), x), large, small);
  return select(less(x, c(1)), c(std::numeric_limits<double>::quiet_NaN()), result);
}

Value MathExpansion::atanh(Value x) {
  if (!isDouble)
    return inDouble(&MathExpansion::atanh, x);
  Value a = abs(x);
  Value result = mul(c(0.5), log1p(div(mul(c(2), a), sub(c(1), a))));
  return copySign(result, x);
}

//===----------------------------------------------------------------------===//
// Power and remainder
//===----------------------------------------------------------------------===//

Value MathExpansion::pow(Value x, Value y) {
  if (!isDouble) {
    Type wide = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(b.getF64Type())) : b.getF64Type();
    MathExpansion expansion(b, wide);
    Value result = expansion.pow(arith::ExtFOp::create(b, wide, x), arith::ExtFOp::create(b, wide, y));
    return arith::TruncFOp::create(b, type, result);
  }
  Value a = abs(x);
  Value result = exp(mul(y, log(a)));
  // A negative base: the sign is that of the base for odd exponents, and there is no result for fractions.
  Value isInteger = equal(trunc(y), y);
  Value halfOfY = mul(y, c(0.5));
  Value isOdd = both(isInteger, arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, trunc(halfOfY), halfOfY));
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, asBits(x), bits(0));
  result = select(both(isNegative, isOdd), neg(result), result);
  Value isFinite = both(less(a, c(infinity)), less(abs(y), c(infinity)));
  Value noResult = both(both(less(x, c(0)), isFinite), arith::XOrIOp::create(b, isInteger, equal(c(0), c(0))));
  result = select(noResult, c(std::numeric_limits<double>::quiet_NaN()), result);
  // 1^y, x^0 and (-1)^(+-inf) are 1 even where the product above is 0 * inf or NaN.
  Value isInfiniteY = equal(abs(y), c(infinity));
  Value isOne = arith::OrIOp::create(b, equal(x, c(1)), equal(y, c(0)));
  isOne = arith::OrIOp::create(b, isOne, both(equal(a, c(1)), isInfiniteY));
  return select(isOne, c(1), result);
}

Value MathExpansion::remainder(Value x, Value y) {
  if (!isDouble) {
    Type wide = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(b.getF64Type())) : b.getF64Type();
    MathExpansion expansion(b, wide);
    Value result = expansion.remainder(arith::ExtFOp::create(b, wide, x), arith::ExtFOp::create(b, wide, y));
    return arith::TruncFOp::create(b, type, result);
  }
  // Long division: each step takes at most the upper 29 bits of the quotient, whose product with an f32 divisor is exact; with an f64
  // divisor the fused multiply-add keeps it exact.
  Value divisor = abs(y), rest = abs(x);
  for (double limit : {0x1p58, 0x1p29, 0.0}) {
    Value quotient = trunc(div(rest, divisor));
    if (limit != 0) // Multiples of `limit`: what is left for the next step is smaller than it.
      quotient = mul(trunc(mul(quotient, c(1 / limit))), c(limit));
    Value next = fma(neg(quotient), divisor, rest);
    // The quotient may have been rounded up.
    next = select(less(next, c(0)), add(next, limit != 0 ? mul(divisor, c(limit)) : divisor), next);
    rest = next;
  }
  rest = select(lessEqual(divisor, rest), sub(rest, divisor), rest);
  // x % inf is x; x % 0 and inf % y are NaN by the arithmetic above.
  Value isFiniteX = less(abs(x), c(infinity));
  rest = select(both(equal(divisor, c(infinity)), isFiniteX), abs(x), rest);
  return copySign(rest, x);
}

} // namespace stator::kernel
