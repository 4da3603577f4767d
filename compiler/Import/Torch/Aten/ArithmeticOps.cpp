// Sums, products, quotients and powers. Operands meet in PyTorch's result type; booleans add as "or" and multiply as "and"; `/` of
// integers is a quotient of f32.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>
#include <limits>

namespace stator::torch {

using trace::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The operand at `index` times the factor at `scale`.
Tensor scaledBy(OpCall &op, const Tensor &x, size_t scale) {
  if (op.schema().parameters.size() <= scale || isNumber(op, scale, 1))
    return x;
  return fn::mul(x, scalarArgument(op, scale, x.type()));
}

Precision precisionWith(OpCall &op, size_t scale) {
  return op.schema().parameters.size() <= scale || isNumber(op, scale, 1) ? Precision::Same : Precision::Wide;
}

Value add(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, precisionWith(op, 2));
  if (op.ok() && x.type == ElementType::I1)
    return op.result(fn::logicalOr(x[0], x[1]));
  return x.result(op, fn::add(x[0], scaledBy(op, x[1], 2)));
}

Value subtract(OpCall &op, size_t from, size_t what) {
  Operands x = promoted(op, {from, what}, Promotion::Plain, precisionWith(op, 2));
  if (op.ok() && x.type == ElementType::I1)
    return op.invalid("booleans cannot be subtracted; PyTorch has logical_not and logical_xor for them");
  return x.result(op, fn::sub(x[0], scaledBy(op, x[1], 2)));
}

Value sub(OpCall &op) { return subtract(op, 0, 1); }
Value rsub(OpCall &op) { return subtract(op, 1, 0); }

Value mul(OpCall &op) {
  Operands x = promoted(op, {0, 1});
  if (op.ok() && x.type == ElementType::I1)
    return op.result(fn::logicalAnd(x[0], x[1]));
  return x.result(op, fn::mul(x[0], x[1]));
}

Value trueDivide(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat);
  return x.result(op, fn::div(x[0], x[1]));
}

/// Quotients that are whole keep the type of the operands.
Value wholeQuotient(OpCall &op, bool isFloor) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Wide);
  if (!op.ok())
    return Value::poison();
  if (x.type == ElementType::I1)
    return op.invalid("a rounded quotient of booleans");
  if (isFloor)
    return x.result(op, fn::floorDiv(x[0], x[1]));
  Tensor quotient = fn::div(x[0], x[1]);
  return x.result(op, isFloat(x.type) ? fn::trunc(quotient) : quotient);
}

Value floorDivide(OpCall &op) { return wholeQuotient(op, /*isFloor=*/true); }

Value divideRounded(OpCall &op) {
  if (op.isNone(2))
    return trueDivide(op);
  std::string mode = op.text(2);
  if (mode != "floor" && mode != "trunc")
    return op.invalid("the rounding mode is `" + mode + "`, expected `floor`, `trunc` or None");
  return wholeQuotient(op, mode == "floor");
}

template <Tensor (*function)(const Tensor &, const Tensor &)>
Value binary(OpCall &op) {
  Operands x = promoted(op, {0, 1});
  return x.result(op, function(x[0], x[1]));
}

template <Tensor (*function)(const Tensor &, const Tensor &)>
Value floatBinary(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  return x.result(op, function(x[0], x[1]));
}

/// Small constant powers as PyTorch computes them; absent for the others.
Tensor specialPower(const Tensor &x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return fn::mul(x, x);
  if (exponent == 3)
    return fn::mul(fn::mul(x, x), x);
  if (!isFloat(x.type()))
    return {};
  if (exponent == 0.5)
    return fn::sqrt(x);
  if (exponent == -0.5)
    return fn::rsqrt(x);
  if (exponent == -1)
    return fn::reciprocal(x);
  if (exponent == -2)
    return fn::reciprocal(fn::mul(x, x));
  return {};
}

Value power(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Wide);
  if (!op.ok())
    return Value::poison();
  if (x.type == ElementType::I1)
    return op.invalid("powers of booleans");
  std::optional<double> exponent = op.argument(1).knownNumber();
  if (exponent && !isFloat(x.type) && *exponent < 0)
    return op.invalid("integers to negative powers are not integers; PyTorch refuses them too");
  Tensor special = exponent ? specialPower(x[0], *exponent) : Tensor();
  return x.result(op, special ? special : fn::pow(x[0], x[1]));
}

Value floatPower(OpCall &op) {
  return op.result(fn::pow(fn::cast(op.tensor(0), ElementType::F64), fn::cast(op.tensor(1), ElementType::F64)));
}

Value addcmul(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::Plain, Precision::Wide);
  return x.result(op, fn::add(x[0], fn::mul(scaledBy(op, x[1], 3), x[2])));
}

Value addcdiv(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::Plain, Precision::Wide);
  if (op.ok() && !isFloat(x.type))
    return op.invalid("division of integers; PyTorch refuses it too");
  return x.result(op, fn::add(x[0], fn::div(scaledBy(op, x[1], 3), x[2])));
}

Value lerp(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::Plain, Precision::Wide);
  if (!op.ok())
    return Value::poison();
  // From the nearer end, so that both ends are exact.
  const Tensor &start = x[0], &end = x[1], &weight = x[2];
  Tensor span = fn::sub(end, start), one = fn::scalarLike(weight, 1);
  Tensor fromStart = fn::add(start, fn::mul(weight, span)), fromEnd = fn::sub(end, fn::mul(span, fn::sub(one, weight)));
  return x.result(op, fn::where(fn::lt(fn::abs(weight), fn::scalarLike(weight, 0.5)), fromStart, fromEnd));
}

Tensor squareOf(const Tensor &x) { return fn::mul(x, x); }

Value square(OpCall &op) {
  Tensor x = op.tensor(0);
  return op.result(x.type() == ElementType::I1 ? fn::cast(x, ElementType::I64) : squareOf(x));
}

Tensor hypotOf(const Tensor &a, const Tensor &b) {
  Tensor x = fn::abs(a), y = fn::abs(b), most = fn::maximum(x, y), least = fn::minimum(x, y);
  Tensor length = fn::mul(most, fn::sqrt(plus(squareOf(fn::div(least, most)), 1)));
  // Neither zero nor an infinity can be divided by.
  Tensor isPlain = fn::logicalAnd(fn::gt(most, zeroLike(most)), fn::lt(most, fn::scalarLike(most, kInfinity)));
  return fn::where(isPlain, length, most);
}

Tensor copysignOf(const Tensor &magnitude, const Tensor &sign) {
  Tensor one = fn::scalarLike(sign, 1), zero = zeroLike(sign);
  // The zeros are told apart by their reciprocals.
  Tensor isMinusZero = fn::logicalAnd(fn::eq(sign, zero), fn::lt(fn::div(one, sign), zero));
  Tensor size = fn::abs(magnitude);
  return fn::where(fn::logicalOr(fn::lt(sign, zero), isMinusZero), fn::neg(size), size);
}

/// x * log(y), where 0 of x wins over infinities and NaN of y over all.
template <Tensor (*logarithm)(const Tensor &)>
Tensor xlogOf(const Tensor &x, const Tensor &y) {
  Tensor product = fn::where(fn::eq(x, zeroLike(x)), zeroLike(x), fn::mul(x, logarithm(y)));
  return fn::where(fn::isNan(y), y, product);
}

Tensor logaddexpOf(const Tensor &a, const Tensor &b) {
  Tensor most = fn::maximum(a, b), sum = fn::add(most, fn::log1p(fn::exp(fn::neg(fn::abs(fn::sub(a, b))))));
  return fn::where(fn::logicalAnd(fn::eq(a, b), fn::isInf(a)), a, sum);
}

Tensor logaddexp2Of(const Tensor &a, const Tensor &b) {
  const double ln2 = std::log(2.0);
  Tensor distance = times(fn::neg(fn::abs(fn::sub(a, b))), ln2);
  Tensor sum = fn::add(fn::maximum(a, b), times(fn::log1p(fn::exp(distance)), 1 / ln2));
  return fn::where(fn::logicalAnd(fn::eq(a, b), fn::isInf(a)), a, sum);
}

Tensor ldexpOf(const Tensor &x, const Tensor &exponent) { return fn::mul(x, fn::pow(fn::scalarLike(x, 2), exponent)); }

} // namespace

std::span<const OpEntry> arithmeticOps() {
  static constexpr OpEntry entries[] = {
      {"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", add},
      {"add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", add},
      {"sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", sub},
      {"sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", sub},
      {"subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", sub},
      {"subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", sub},
      {"rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", rsub},
      {"rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", rsub},
      {"mul.Tensor(Tensor self, Tensor other) -> Tensor", mul},
      {"mul.Scalar(Tensor self, Scalar other) -> Tensor", mul},
      {"multiply.Tensor(Tensor self, Tensor other) -> Tensor", mul},
      {"multiply.Scalar(Tensor self, Scalar other) -> Tensor", mul},
      {"div.Tensor(Tensor self, Tensor other) -> Tensor", trueDivide},
      {"div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", divideRounded},
      {"div.Scalar(Tensor self, Scalar other) -> Tensor", trueDivide},
      {"div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", divideRounded},
      {"divide.Tensor(Tensor self, Tensor other) -> Tensor", trueDivide},
      {"divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", divideRounded},
      {"divide.Scalar(Tensor self, Scalar other) -> Tensor", trueDivide},
      {"divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", divideRounded},
      {"true_divide.Tensor(Tensor self, Tensor other) -> Tensor", trueDivide},
      {"true_divide.Scalar(Tensor self, Scalar other) -> Tensor", trueDivide},
      {"floor_divide(Tensor self, Tensor other) -> Tensor", floorDivide},
      {"floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", floorDivide},
      {"remainder.Tensor(Tensor self, Tensor other) -> Tensor", binary<fn::modulo>},
      {"remainder.Scalar(Tensor self, Scalar other) -> Tensor", binary<fn::modulo>},
      {"remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", binary<fn::modulo>},
      {"fmod.Tensor(Tensor self, Tensor other) -> Tensor", binary<fn::remainder>},
      {"fmod.Scalar(Tensor self, Scalar other) -> Tensor", binary<fn::remainder>},
      {"pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", power},
      {"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", power},
      {"pow.Scalar(Scalar self, Tensor exponent) -> Tensor", power},
      {"float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", floatPower},
      {"float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", floatPower},
      {"float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", floatPower},
      {"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addcmul},
      {"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addcdiv},
      {"lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", lerp},
      {"lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", lerp},
      {"square(Tensor self) -> Tensor", square},
      {"reciprocal(Tensor self) -> Tensor", floatUnary<fn::reciprocal>},
      {"atan2(Tensor self, Tensor other) -> Tensor", floatBinary<fn::atan2>},
      {"arctan2(Tensor self, Tensor other) -> Tensor", floatBinary<fn::atan2>},
      {"hypot(Tensor self, Tensor other) -> Tensor", floatBinary<hypotOf>},
      {"copysign.Tensor(Tensor self, Tensor other) -> Tensor", floatBinary<copysignOf>},
      {"copysign.Scalar(Tensor self, Scalar other) -> Tensor", floatBinary<copysignOf>},
      {"xlogy.Tensor(Tensor self, Tensor other) -> Tensor", floatBinary<xlogOf<fn::log>>},
      {"xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", floatBinary<xlogOf<fn::log>>},
      {"xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", floatBinary<xlogOf<fn::log>>},
      {"special_xlogy(Tensor self, Tensor other) -> Tensor", floatBinary<xlogOf<fn::log>>},
      {"special_xlog1py(Tensor self, Tensor other) -> Tensor", floatBinary<xlogOf<fn::log1p>>},
      {"logaddexp(Tensor self, Tensor other) -> Tensor", floatBinary<logaddexpOf>},
      {"logaddexp2(Tensor self, Tensor other) -> Tensor", floatBinary<logaddexp2Of>},
      {"ldexp.Tensor(Tensor self, Tensor other) -> Tensor", floatBinary<ldexpOf>},
  };
  return entries;
}

} // namespace stator::torch
