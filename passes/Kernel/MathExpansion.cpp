//===- MathExpansion.cpp - vocabulary and the f32 short forms --------------===//

#include "passes/Kernel/MathExpansion.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace stator::kernel {

/// `type` with other elements.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

MathExpansion::MathExpansion(ImplicitLocOpBuilder &builder, Type type) : b(builder), type(type) {
  isDouble = getElementTypeOrSelf(type).isF64();
  integerType = withElement(type, b.getIntegerType(isDouble ? 64 : 32));
}

Value MathExpansion::c(double value) {
  TypedAttr attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

Value MathExpansion::bits(int64_t value) {
  TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(integerType), value);
  if (auto vector = dyn_cast<VectorType>(integerType))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

Value MathExpansion::add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
Value MathExpansion::sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
Value MathExpansion::mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
Value MathExpansion::div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
Value MathExpansion::neg(Value x) { return arith::NegFOp::create(b, x); }
Value MathExpansion::abs(Value x) { return math::AbsFOp::create(b, x); }
Value MathExpansion::sqrt(Value x) { return math::SqrtOp::create(b, x); }
Value MathExpansion::trunc(Value x) { return math::TruncOp::create(b, x); }
Value MathExpansion::copySign(Value magnitude, Value sign) { return math::CopySignOp::create(b, magnitude, sign); }
Value MathExpansion::fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
Value MathExpansion::less(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y); }
Value MathExpansion::lessEqual(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, x, y); }
Value MathExpansion::equal(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y); }
Value MathExpansion::isNan(Value x) { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x); }
Value MathExpansion::both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
Value MathExpansion::select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }
Value MathExpansion::atLeast(Value x, double bound) { return select(less(x, c(bound)), c(bound), x); }
Value MathExpansion::atMost(Value x, double bound) { return select(less(c(bound), x), c(bound), x); }

Value MathExpansion::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = c(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    result = fma(result, x, c(coefficient));
  return result;
}

Value MathExpansion::monic(Value x, ArrayRef<double> coefficients) {
  Value result = add(x, c(coefficients.front()));
  for (double coefficient : coefficients.drop_front())
    result = fma(result, x, c(coefficient));
  return result;
}

Value MathExpansion::asBits(Value x) { return arith::BitcastOp::create(b, integerType, x); }
Value MathExpansion::asReal(Value x) { return arith::BitcastOp::create(b, type, x); }

MathExpansion::Rounded MathExpansion::round(Value x) {
  // In a float of this size the last place is 1, so that the addition rounds; the integer is then in the low bits. Unlike a conversion
  // this is defined for NaN and for what is out of range.
  double magic = isDouble ? 0x1.8p52 : 0x1.8p23;
  Value shifted = add(x, c(magic));
  Value integer = arith::SubIOp::create(b, asBits(shifted), asBits(c(magic)));
  return {sub(shifted, c(magic)), integer};
}

MathExpansion::HalfPower MathExpansion::roundToPower(Value x, double factor) {
  // With the exponent's bias in the magic number as well, the low bits only have to be shifted into the exponent field. The power is half
  // of what is wanted, so that 2 * 2^127 overflows to infinity in the multiplication that follows.
  Value magic = c(0x1.8p23 + 126);
  Value shifted = fma(x, c(factor), magic);
  return {sub(shifted, magic), asReal(arith::ShLIOp::create(b, asBits(shifted), bits(23)))};
}

Value MathExpansion::powerOfTwo(Value n) {
  Value biased = arith::AddIOp::create(b, n, bits(isDouble ? 1023 : 127));
  return asReal(arith::ShLIOp::create(b, biased, bits(isDouble ? 52 : 23)));
}

Value MathExpansion::scale(Value x, Value n) {
  Value half = arith::ShRSIOp::create(b, n, bits(1));
  Value rest = arith::SubIOp::create(b, n, half);
  return mul(mul(x, powerOfTwo(half)), powerOfTwo(rest));
}

MathExpansion::Split MathExpansion::split(Value x) {
  // Denormals are scaled into the normal range first.
  double smallest = isDouble ? 0x1p-1022 : 0x1p-126, up = isDouble ? 0x1p54 : 0x1p25;
  Value isTiny = less(x, c(smallest));
  Value normal = select(isTiny, mul(x, c(up)), x);
  Value raw = asBits(normal);
  // Subtracting the bits of sqrt(1/2) makes the exponent field the wanted exponent, and leaves a mantissa to be put back.
  int64_t offset = isDouble ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  int64_t width = isDouble ? 52 : 23;
  Value distance = arith::SubIOp::create(b, raw, bits(offset));
  Value exponent = arith::ShRSIOp::create(b, distance, bits(width));
  Value mantissa = asReal(arith::SubIOp::create(b, raw, arith::ShLIOp::create(b, exponent, bits(width))));
  Value real = arith::SIToFPOp::create(b, type, exponent);
  real = sub(real, select(isTiny, c(isDouble ? 54 : 25), c(0)));
  return {sub(mantissa, c(1)), real};
}

Value MathExpansion::logSpecials(Value x, Value value) {
  double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  value = select(equal(x, c(infinity)), x, value);
  value = select(equal(x, c(0)), c(-infinity), value);
  // Negative or NaN.
  Value isValid = lessEqual(c(0), x);
  return select(isValid, value, c(nan));
}

Value MathExpansion::inDouble(Unary function, Value x) {
  Type wide = withElement(type, b.getF64Type());
  MathExpansion expansion(b, wide);
  Value result = (expansion.*function)(arith::ExtFOp::create(b, wide, x));
  return arith::TruncFOp::create(b, type, result);
}

//===----------------------------------------------------------------------===//
// Exponential and logarithm
//===----------------------------------------------------------------------===//

MathExpansion::ExpParts MathExpansion::expParts(Value x) {
  Rounded n = round(mul(x, c(1.44269504088896340736)));
  if (isDouble) {
    Value r = fma(n.real, c(-6.93145751953125e-1), x);
    r = fma(n.real, c(-1.42860682030941723212e-6), r);
    Value z = mul(r, r);
    Value p = mul(r, polynomial(z, {1.26177193074810590878e-4, 3.02994407707441961300e-2, 9.99999999999999999910e-1}));
    Value q = polynomial(z, {3.00198505138664455042e-6, 2.52448340349684104192e-3, 2.27265548208155028766e-1, 2.0});
    Value ratio = div(p, sub(q, p));
    return {add(ratio, ratio), n.integer};
  }
  Value r = fma(n.real, c(-0.693359375), x);
  r = fma(n.real, c(2.12194440e-4), r);
  Value p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return {fma(mul(r, r), p, r), n.integer};
}

Value MathExpansion::exp(Value x) {
  if (isDouble) {
    ExpParts parts = expParts(atMost(atLeast(x, -746), 710));
    return scale(add(parts.fractionMinusOne, c(1)), parts.exponent);
  }
  Value bounded = atMost(atLeast(x, -87.6), 89);
  HalfPower n = roundToPower(bounded, 1.44269504088896340736);
  Value r = fma(n.real, c(-0.693359375), bounded);
  r = fma(n.real, c(2.12194440e-4), r);
  // Twice e^r.
  Value p = polynomial(r, {3.9751383e-4, 2.7963999014e-3, 1.66669038146e-2, 8.3331591788e-2, 3.3333330918e-1, 1.00000002402, 2, 2});
  return mul(p, n.power);
}

Value MathExpansion::onePlusExpNeg(Value x) {
  Value bounded = atMost(atLeast(x, -89), 87.6);
  HalfPower n = roundToPower(bounded, -1.44269504088896340736);
  // -x - n ln 2, negated; the polynomial has its signs accordingly.
  Value r = fma(n.real, c(0.693359375), bounded);
  r = fma(n.real, c(-2.12194440e-4), r);
  // Twice e^-r; the relative error of the coefficients is 9.2e-8.
  Value p = polynomial(r, {-0.016580544292912908, 0.08379632054548369, -0.33335276261842897, 0.9999829567280861, -1.9999994126224824, 2});
  return fma(p, n.power, c(1));
}

Value MathExpansion::expm1(Value x) {
  // Where 1 is lost in the result anyway, e^x is it.
  Value large = exp(x);
  Value bounded = atMost(atLeast(x, -40), 40);
  ExpParts parts = expParts(bounded);
  Value power = powerOfTwo(parts.exponent);
  Value result = fma(power, parts.fractionMinusOne, sub(power, c(1)));
  // Keeps the sign of zeros.
  result = select(equal(x, c(0)), x, result);
  return select(less(c(40), x), large, result);
}

Value MathExpansion::log(Value x) {
  Split parts = split(x);
  Value m = parts.mantissaMinusOne, e = parts.exponent;
  Value z = mul(m, m), y;
  if (isDouble) {
    Value p = polynomial(m, {1.01875663804580931796e-4, 4.97494994976747001425e-1, 4.70579119878881725854e0, 1.44989225341610930846e1,
                             1.79368678507819816313e1, 7.70838733755885391666e0});
    Value q = monic(m, {1.12873587189167450590e1, 4.52279145837532221105e1, 8.29875266912776603211e1, 7.11544750618563894466e1,
                        2.31251620126765340583e1});
    y = mul(m, div(mul(z, p), q));
  } else {
    y = polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                       2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
    y = mul(mul(y, m), z);
  }
  y = fma(e, c(-2.121944400546905827679e-4), y);
  y = fma(z, c(-0.5), y);
  Value result = fma(e, c(0.693359375), add(m, y));
  return logSpecials(x, result);
}

Value MathExpansion::log1p(Value x) {
  // ln(u) with u = 1 + x rounded, corrected by what the rounding lost.
  Value u = add(x, c(1));
  Value lost = div(sub(x, sub(u, c(1))), u);
  Value isSpecial = arith::OrIOp::create(b, equal(u, c(0)), equal(u, c(std::numeric_limits<double>::infinity())));
  Value result = add(log(u), select(isSpecial, c(0), lost));
  return select(equal(x, c(0)), x, result);
}

//===----------------------------------------------------------------------===//
// Functions of which f32 has a form of its own
//===----------------------------------------------------------------------===//

Value MathExpansion::tanh(Value x) {
  if (isDouble) {
    Value t = expm1(mul(c(2), atMost(abs(x), 22)));
    Value result = div(t, add(t, c(2)));
    return copySign(result, x);
  }
  // A rational minimax approximation on the range where the result is not 1.
  Value bounded = atMost(atLeast(x, -7.99881172180175781), 7.99881172180175781);
  Value z = mul(bounded, bounded);
  Value p = polynomial(z, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08, 1.48572235717979e-05,
                           6.37261928875436e-04, 4.89352455891786e-03});
  Value q = polynomial(z, {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03});
  Value result = div(mul(bounded, p), q);
  return select(less(abs(x), c(0.0004)), x, result);
}

Value MathExpansion::erf(Value x) {
  Value a = abs(x), z = mul(x, x);
  if (isDouble) {
    Value inner = div(polynomial(z, {9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3,
                                     5.55923013010394962768e4}),
                      monic(z, {3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4,
                                4.92673942608635921086e4}));
    Value t = atMost(a, 8);
    Value p = polynomial(t, {2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
                             1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
                             5.57535335369399327526e2});
    Value q = monic(t, {1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
                        1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2});
    Value complement = div(mul(exp(neg(mul(t, t))), p), q);
    return select(less(a, c(1)), mul(x, inner), copySign(sub(c(1), complement), x));
  }
  Value t = atMost(a, 4);
  Value s = mul(t, t);
  Value r = fma(c(-1.72853470e-5), t, c(3.83197126e-4));
  Value u = fma(c(-3.88396438e-3), t, c(2.42546219e-2));
  r = fma(r, s, u);
  r = fma(r, t, c(-1.06777877e-1));
  r = fma(r, t, c(-6.34846687e-1));
  r = fma(r, t, c(-1.28717512e-1));
  r = fma(r, t, neg(t));
  Value outer = copySign(sub(c(1), exp(r)), x);
  Value inner = polynomial(z, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  inner = fma(inner, x, x);
  return select(less(c(0.927734375), a), outer, inner);
}

Value MathExpansion::rsqrt(Value x) { return div(c(1), sqrt(x)); }

} // namespace stator::kernel
