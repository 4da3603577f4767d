// Element-wise functions. Those that the dialect has are one line each; the rest is written with them.
#include "compiler/Trace/ElementwiseSupport.h"

#include <cmath>
#include <limits>

namespace stator::trace::fn {

Tensor abs(const Tensor &x) { return unary("abs", x); }
Tensor neg(const Tensor &x) { return unary("neg", x); }
Tensor sign(const Tensor &x) { return unary("sign", x); }
Tensor exp(const Tensor &x) { return floatUnary("exp", x); }
Tensor expm1(const Tensor &x) { return floatUnary("expm1", x); }
Tensor log(const Tensor &x) { return floatUnary("log", x); }
Tensor log1p(const Tensor &x) { return floatUnary("log1p", x); }
Tensor sqrt(const Tensor &x) { return floatUnary("sqrt", x); }
Tensor rsqrt(const Tensor &x) { return floatUnary("rsqrt", x); }
Tensor sin(const Tensor &x) { return floatUnary("sin", x); }
Tensor cos(const Tensor &x) { return floatUnary("cos", x); }
Tensor tan(const Tensor &x) { return floatUnary("tan", x); }
Tensor asin(const Tensor &x) { return floatUnary("asin", x); }
Tensor acos(const Tensor &x) { return floatUnary("acos", x); }
Tensor atan(const Tensor &x) { return floatUnary("atan", x); }
Tensor sinh(const Tensor &x) { return floatUnary("sinh", x); }
Tensor cosh(const Tensor &x) { return floatUnary("cosh", x); }
Tensor asinh(const Tensor &x) { return floatUnary("asinh", x); }
Tensor acosh(const Tensor &x) { return floatUnary("acosh", x); }
Tensor atanh(const Tensor &x) { return floatUnary("atanh", x); }
Tensor tanh(const Tensor &x) { return floatUnary("tanh", x); }
Tensor erf(const Tensor &x) { return floatUnary("erf", x); }
Tensor sigmoid(const Tensor &x) { return floatUnary("sigmoid", x); }

// Rounding leaves integers alone.
Tensor floor(const Tensor &x) { return x && !isFloat(x.type()) ? x : unary("floor", x); }
Tensor ceil(const Tensor &x) { return x && !isFloat(x.type()) ? x : unary("ceil", x); }
Tensor roundEven(const Tensor &x) { return x && !isFloat(x.type()) ? x : unary("round_even", x); }
Tensor trunc(const Tensor &x) { return x && !isFloat(x.type()) ? x : where(lt(x, scalarLike(x, 0)), ceil(x), floor(x)); }

Tensor reciprocal(const Tensor &x) {
  Tensor value = toFloat(x);
  return div(scalarLike(value, 1), value);
}

Tensor square(const Tensor &x) { return mul(x, x); }
Tensor identity(const Tensor &x) { return x; }

Tensor logicalNot(const Tensor &x) { return unary("not", cast(x, ElementType::I1)); }
Tensor bitwiseNot(const Tensor &x) { return unary("not", x); }

Tensor isNan(const Tensor &x) { return floatUnary("is_nan", x); }

Tensor isInf(const Tensor &x, bool detectNegative, bool detectPositive) {
  if (detectNegative && detectPositive)
    return floatUnary("is_inf", x);
  Tensor value = toFloat(x);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Nothing is NaN and equal to it, so that with neither sign asked for the answer is no.
  double wanted = detectNegative ? -kInfinity : detectPositive ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  return eq(value, scalarLike(value, wanted));
}

Tensor add(const Tensor &a, const Tensor &b) { return binary("add", a, b); }
Tensor sub(const Tensor &a, const Tensor &b) { return binary("sub", a, b); }
Tensor mul(const Tensor &a, const Tensor &b) { return binary("mul", a, b); }
Tensor div(const Tensor &a, const Tensor &b) { return binary("div", a, b); }
Tensor trueDiv(const Tensor &a, const Tensor &b) { return binary("div", toFloat(a), toFloat(b)); }
Tensor floorDiv(const Tensor &a, const Tensor &b) { return binary("floor_div", a, b); }
Tensor remainder(const Tensor &a, const Tensor &b) { return binary("remainder", a, b); }
Tensor modulo(const Tensor &a, const Tensor &b) { return binary("modulo", a, b); }
Tensor atan2(const Tensor &y, const Tensor &x) { return binary("atan2", toFloat(y), toFloat(x)); }

Tensor pow(const Tensor &base, const Tensor &exponent) {
  Call call("pow", {base, exponent});
  if (!call)
    return call.failed();
  if (!isFloat(base.type()) && isFloat(exponent.type()))
    return cast(binary("pow", cast(base, exponent.type()), exponent), base.type());
  return binary("pow", base, cast(exponent, base.type()));
}

Tensor maximum(const Tensor &a, const Tensor &b) {
  bool isLogical = a && b && a.type() == ElementType::I1 && b.type() == ElementType::I1;
  return binary(isLogical ? "or" : "maximum", a, b);
}

Tensor minimum(const Tensor &a, const Tensor &b) {
  bool isLogical = a && b && a.type() == ElementType::I1 && b.type() == ElementType::I1;
  return binary(isLogical ? "and" : "minimum", a, b);
}

Tensor logicalAnd(const Tensor &a, const Tensor &b) { return binary("and", cast(a, ElementType::I1), cast(b, ElementType::I1)); }
Tensor logicalOr(const Tensor &a, const Tensor &b) { return binary("or", cast(a, ElementType::I1), cast(b, ElementType::I1)); }
Tensor logicalXor(const Tensor &a, const Tensor &b) { return binary("xor", cast(a, ElementType::I1), cast(b, ElementType::I1)); }
Tensor bitwiseAnd(const Tensor &a, const Tensor &b) { return binary("and", a, b); }
Tensor bitwiseOr(const Tensor &a, const Tensor &b) { return binary("or", a, b); }
Tensor bitwiseXor(const Tensor &a, const Tensor &b) { return binary("xor", a, b); }
Tensor shiftLeft(const Tensor &a, const Tensor &b) { return binary("shift_left", a, b); }
Tensor shiftRight(const Tensor &a, const Tensor &b) { return binary("shift_right", a, b); }

Tensor eq(const Tensor &a, const Tensor &b) { return compare("eq", graph::CompareDirection::Eq, a, b); }
Tensor ne(const Tensor &a, const Tensor &b) { return compare("ne", graph::CompareDirection::Ne, a, b); }
Tensor lt(const Tensor &a, const Tensor &b) { return compare("lt", graph::CompareDirection::Lt, a, b); }
Tensor le(const Tensor &a, const Tensor &b) { return compare("le", graph::CompareDirection::Le, a, b); }
Tensor gt(const Tensor &a, const Tensor &b) { return compare("gt", graph::CompareDirection::Gt, a, b); }
Tensor ge(const Tensor &a, const Tensor &b) { return compare("ge", graph::CompareDirection::Ge, a, b); }

Tensor clip(const Tensor &x, const Tensor &low, const Tensor &high) {
  Call call("clip", {x}, {low, high});
  if (!call)
    return call.failed();
  Tensor result = low ? maximum(x, cast(low, x.type())) : x;
  return high ? minimum(result, cast(high, x.type())) : result;
}

Tensor clip(const Tensor &x, double low, double high) {
  return clip(x, std::isinf(low) && low < 0 ? Tensor() : scalarLike(x, low), std::isinf(high) && high > 0 ? Tensor() : scalarLike(x, high));
}

namespace {

Tensor fold(llvm::StringRef name, const Tensors &xs, Tensor (*combine)(const Tensor &, const Tensor &)) {
  if (xs.empty())
    return Tensor();
  Call call(name, xs);
  if (!call)
    return call.failed();
  Tensor result = xs.front();
  for (size_t i = 1; i < xs.size(); ++i)
    result = combine(result, xs[i]);
  return result;
}

} // namespace

Tensor sumOf(const Tensors &xs) { return fold("sum", xs, add); }
Tensor maxOf(const Tensors &xs) { return fold("max", xs, maximum); }
Tensor minOf(const Tensors &xs) { return fold("min", xs, minimum); }

Tensor meanOf(const Tensors &xs) {
  Tensor sum = fold("mean", xs, add);
  return xs.size() < 2 ? sum : div(sum, scalarLike(sum, static_cast<double>(xs.size())));
}

Tensor scalarLike(const Tensor &x, double value) {
  Call call("scalar", {x});
  return call ? scalarOf(*call, x.type(), value) : call.failed();
}

} // namespace stator::trace::fn
