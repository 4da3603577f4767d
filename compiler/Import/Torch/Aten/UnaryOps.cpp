// Functions of one tensor, element by element. Functions with real values take integers and booleans as f32; what rounds or takes signs
// leaves integers what they are.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace stator::torch {

using trace::Tensor;

namespace {

/// Integers stay integers; booleans, which have no such function, are as they are or refused.
template <Tensor (*function)(const Tensor &), bool allowsBool = false>
Value sameType(OpCall &op) {
  Tensor x = op.tensor(0);
  if (op.ok() && x.type() == ElementType::I1)
    return allowsBool ? op.result(x) : op.invalid("the tensor is of booleans; PyTorch refuses them too");
  return op.result(function(x));
}

template <Tensor (*function)(const Tensor &)>
Value plain(OpCall &op) {
  return op.result(function(op.tensor(0)));
}

template <Tensor (*function)(const Tensor &)>
constexpr OpHandler wide = floatUnary<function, Precision::Wide>;

Tensor exp2Of(const Tensor &x) { return fn::pow(fn::scalarLike(x, 2), x); }
Tensor log2Of(const Tensor &x) { return fn::div(fn::log(x), fn::scalarLike(x, std::numbers::ln2)); }
Tensor log10Of(const Tensor &x) { return fn::div(fn::log(x), fn::scalarLike(x, std::numbers::ln10)); }
/// NaN has no sign.
Tensor signOf(const Tensor &x) { return isFloat(x.type()) ? fn::where(fn::isNan(x), zeroLike(x), fn::sign(x)) : fn::sign(x); }
Tensor fracOf(const Tensor &x) { return fn::sub(x, fn::trunc(x)); }
Tensor degreesToRadians(const Tensor &x) { return times(x, std::numbers::pi / 180); }
Tensor radiansToDegrees(const Tensor &x) { return times(x, 180 / std::numbers::pi); }
Value roundDecimals(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::Plain, Precision::Wide);
  int64_t decimals = op.integer(1);
  if (!op.ok() || decimals == 0 || !isFloat(x.type))
    return x.result(op, fn::roundEven(x[0]));
  Tensor factor = fn::scalarLike(x[0], std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals)));
  if (decimals < 0)
    return x.result(op, fn::mul(fn::roundEven(fn::div(x[0], factor)), factor));
  return x.result(op, fn::div(fn::roundEven(fn::mul(x[0], factor)), factor));
}

Value sigmoidOf(OpCall &op) { return floatUnary<fn::sigmoid>(op); }

Value logit(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  Tensor p = x[0];
  if (!op.isNone(1)) {
    double epsilon = op.number(1);
    p = fn::clip(p, epsilon, 1 - epsilon);
  }
  return op.ok() ? x.result(op, fn::log(fn::div(p, fn::sub(fn::scalarLike(p, 1), p)))) : Value::poison();
}

Value isReal(OpCall &op) { return op.result(fn::full(op.builder(), ElementType::I1, op.tensor(0).dims(), 1)); }
Value isInf(OpCall &op) { return op.result(fn::isInf(op.tensor(0))); }
Value isPosInf(OpCall &op) { return op.result(fn::isInf(op.tensor(0), /*detectNegative=*/false, /*detectPositive=*/true)); }
Value isNegInf(OpCall &op) { return op.result(fn::isInf(op.tensor(0), /*detectNegative=*/true, /*detectPositive=*/false)); }

Value isFinite(OpCall &op) {
  Tensor x = op.tensor(0);
  return op.result(fn::logicalNot(fn::logicalOr(fn::isNan(x), fn::isInf(x))));
}

/// The sign bit: also that of minus zero.
Value signBit(OpCall &op) {
  Tensor x = op.tensor(0);
  if (!op.ok())
    return Value::poison();
  Tensor isNegative = fn::lt(x, zeroLike(x));
  if (!isFloat(x.type()))
    return op.result(x.type() == ElementType::I1 ? fn::logicalXor(x, x) : isNegative);
  Tensor isMinusZero = fn::logicalAnd(fn::eq(x, zeroLike(x)), fn::lt(fn::reciprocal(x), zeroLike(x)));
  return op.result(fn::logicalOr(isNegative, isMinusZero));
}

/// Of real numbers: 0, or pi for negative ones.
Tensor angleOf(const Tensor &x) {
  Tensor angle = fn::where(fn::lt(x, zeroLike(x)), fn::scalarLike(x, std::numbers::pi), zeroLike(x));
  return fn::where(fn::isNan(x), x, angle);
}

double largest(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 65504;
  case ElementType::BF16:
    return 3.3895313892515355e38;
  case ElementType::F64:
    return std::numeric_limits<double>::max();
  default:
    return std::numeric_limits<float>::max();
  }
}

Value nanToNum(OpCall &op) {
  Tensor x = op.tensor(0);
  if (!op.ok() || !isFloat(x.type()))
    return op.result(x);
  double nan = op.isNone(1) ? 0 : op.number(1), most = op.isNone(2) ? largest(x.type()) : op.number(2);
  double least = op.isNone(3) ? -largest(x.type()) : op.number(3);
  Tensor result = fn::where(fn::isNan(x), fn::scalarLike(x, nan), x);
  result = fn::where(fn::isInf(x, false, true), fn::scalarLike(x, most), result);
  return op.result(fn::where(fn::isInf(x, true, false), fn::scalarLike(x, least), result));
}

Value bitwiseNot(OpCall &op) {
  Tensor x = op.tensor(0);
  return op.ok() && isFloat(x.type()) ? op.invalid("bits of floating-point numbers") : op.result(fn::bitwiseNot(x));
}

} // namespace

std::span<const OpEntry> unaryOps() {
  static constexpr OpEntry entries[] = {
      {"abs(Tensor self) -> Tensor", sameType<fn::abs, true>},
      {"absolute(Tensor self) -> Tensor", sameType<fn::abs, true>},
      {"neg(Tensor self) -> Tensor", sameType<fn::neg>},
      {"negative(Tensor self) -> Tensor", sameType<fn::neg>},
      {"positive(Tensor self) -> Tensor", sameType<fn::identity>},
      {"sign(Tensor self) -> Tensor", sameType<signOf, true>},
      {"sgn(Tensor self) -> Tensor", sameType<signOf, true>},
      {"floor(Tensor self) -> Tensor", sameType<fn::floor>},
      {"ceil(Tensor self) -> Tensor", sameType<fn::ceil>},
      {"trunc(Tensor self) -> Tensor", sameType<fn::trunc>},
      {"fix(Tensor self) -> Tensor", sameType<fn::trunc>},
      {"round(Tensor self) -> Tensor", sameType<fn::roundEven>},
      {"round.decimals(Tensor self, *, int decimals) -> Tensor", roundDecimals},
      {"special_round(Tensor self, *, int decimals=0) -> Tensor", roundDecimals},
      {"angle(Tensor self) -> Tensor", floatUnary<angleOf>},
      {"frac(Tensor self) -> Tensor", sameType<fracOf>},
      {"exp(Tensor self) -> Tensor", floatUnary<fn::exp>},
      {"exp2(Tensor self) -> Tensor", wide<exp2Of>},
      {"special_exp2(Tensor self) -> Tensor", wide<exp2Of>},
      {"expm1(Tensor self) -> Tensor", floatUnary<fn::expm1>},
      {"special_expm1(Tensor self) -> Tensor", floatUnary<fn::expm1>},
      {"log(Tensor self) -> Tensor", floatUnary<fn::log>},
      {"log1p(Tensor self) -> Tensor", floatUnary<fn::log1p>},
      {"special_log1p(Tensor self) -> Tensor", floatUnary<fn::log1p>},
      {"log2(Tensor self) -> Tensor", wide<log2Of>},
      {"log10(Tensor self) -> Tensor", wide<log10Of>},
      {"sqrt(Tensor self) -> Tensor", floatUnary<fn::sqrt>},
      {"rsqrt(Tensor self) -> Tensor", floatUnary<fn::rsqrt>},
      {"sin(Tensor self) -> Tensor", floatUnary<fn::sin>},
      {"cos(Tensor self) -> Tensor", floatUnary<fn::cos>},
      {"tan(Tensor self) -> Tensor", floatUnary<fn::tan>},
      {"asin(Tensor self) -> Tensor", floatUnary<fn::asin>},
      {"arcsin(Tensor self) -> Tensor", floatUnary<fn::asin>},
      {"acos(Tensor self) -> Tensor", floatUnary<fn::acos>},
      {"arccos(Tensor self) -> Tensor", floatUnary<fn::acos>},
      {"atan(Tensor self) -> Tensor", floatUnary<fn::atan>},
      {"arctan(Tensor self) -> Tensor", floatUnary<fn::atan>},
      {"sinh(Tensor self) -> Tensor", floatUnary<fn::sinh>},
      {"cosh(Tensor self) -> Tensor", floatUnary<fn::cosh>},
      {"tanh(Tensor self) -> Tensor", floatUnary<fn::tanh>},
      {"asinh(Tensor self) -> Tensor", floatUnary<fn::asinh>},
      {"arcsinh(Tensor self) -> Tensor", floatUnary<fn::asinh>},
      {"acosh(Tensor self) -> Tensor", floatUnary<fn::acosh>},
      {"arccosh(Tensor self) -> Tensor", floatUnary<fn::acosh>},
      {"atanh(Tensor self) -> Tensor", floatUnary<fn::atanh>},
      {"arctanh(Tensor self) -> Tensor", floatUnary<fn::atanh>},
      {"erf(Tensor self) -> Tensor", floatUnary<fn::erf>},
      {"special_erf(Tensor self) -> Tensor", floatUnary<fn::erf>},
      {"sigmoid(Tensor self) -> Tensor", sigmoidOf},
      {"special_expit(Tensor self) -> Tensor", sigmoidOf},
      {"logit(Tensor self, float? eps=None) -> Tensor", logit},
      {"special_logit(Tensor self, float? eps=None) -> Tensor", logit},
      {"deg2rad(Tensor self) -> Tensor", wide<degreesToRadians>},
      {"rad2deg(Tensor self) -> Tensor", wide<radiansToDegrees>},
      {"isnan(Tensor self) -> Tensor", plain<fn::isNan>},
      {"isreal(Tensor self) -> Tensor", isReal},
      {"isinf(Tensor self) -> Tensor", isInf},
      {"isposinf(Tensor self) -> Tensor", isPosInf},
      {"isneginf(Tensor self) -> Tensor", isNegInf},
      {"isfinite(Tensor self) -> Tensor", isFinite},
      {"signbit(Tensor self) -> Tensor", signBit},
      {"nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", nanToNum},
      {"logical_not(Tensor self) -> Tensor", plain<fn::logicalNot>},
      {"bitwise_not(Tensor self) -> Tensor", bitwiseNot},
  };
  return entries;
}

} // namespace stator::torch
