// Special functions that the graph has no operations for, written with those that it has. They are rare, so they are computed in f64,
// where the formulas are good to more digits than an f32 holds.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace stator::torch {

using trace::Tensor;

namespace {

/// The function of x in f64.
template <Tensor (*function)(const Tensor &)>
Value precise(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  return x.result(op, function(fn::cast(x[0], ElementType::F64)));
}

/// Coefficients from the highest power on.
Tensor polynomial(const Tensor &x, std::initializer_list<double> coefficients) {
  Tensor sum;
  for (double coefficient : coefficients)
    sum = sum ? plus(fn::mul(sum, x), coefficient) : fn::scalarLike(x, coefficient);
  return sum;
}

Tensor from(double number, const Tensor &x) { return fn::sub(fn::scalarLike(x, number), x); }
Tensor over(double number, const Tensor &x) { return fn::div(fn::scalarLike(x, number), x); }

Tensor erfcOf(const Tensor &x) { return from(1, fn::erf(x)); }

Tensor sincOf(const Tensor &x) {
  Tensor angle = times(x, std::numbers::pi);
  return fn::where(fn::eq(x, zeroLike(x)), fn::scalarLike(x, 1), fn::div(fn::sin(angle), angle));
}

/// By a rational function (Giles), made exact by two steps of Newton.
Tensor erfinvOf(const Tensor &y) {
  Tensor size = fn::abs(y), z = fn::mul(y, y);
  Tensor inner = fn::div(fn::mul(y, polynomial(z, {-0.140543331, 0.914624893, -1.645349621, 0.886226899})),
                         polynomial(z, {0.012229801, -0.329097515, 1.442710462, -2.118377725, 1}));
  Tensor t = fn::sqrt(fn::neg(fn::log(times(from(1, size), 0.5))));
  Tensor outer =
      fn::div(polynomial(t, {1.641345311, 3.429567803, -1.624906493, -1.970840454}), polynomial(t, {1.637067800, 3.543889200, 1}));
  Tensor x = fn::where(fn::le(size, fn::scalarLike(y, 0.7)), inner, fn::mul(fn::sign(y), outer));
  for (int step = 0; step < 2; ++step) {
    Tensor slope = times(fn::exp(fn::neg(fn::mul(x, x))), 2 * std::numbers::inv_sqrtpi);
    x = fn::sub(x, fn::div(fn::sub(fn::erf(x), y), slope));
  }
  Tensor one = fn::scalarLike(y, 1), atEnd = fn::mul(y, fn::scalarLike(y, std::numeric_limits<double>::infinity()));
  return fn::where(fn::ge(size, one), fn::where(fn::eq(size, one), atEnd, fn::sqrt(fn::neg(size))), x);
}

/// log |Gamma(x)| by Lanczos' sum, with the reflection for x below one half.
Tensor lgammaOf(const Tensor &x) {
  Tensor isLow = fn::lt(x, fn::scalarLike(x, 0.5)), z = plus(fn::where(isLow, from(1, x), x), -1);
  constexpr double terms[] = {676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
                              12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  Tensor sum = fn::scalarLike(x, 0.99999999999980993);
  for (size_t i = 0; i < std::size(terms); ++i)
    sum = fn::add(sum, over(terms[i], plus(z, static_cast<double>(i + 1))));
  Tensor t = plus(z, 7.5), main = fn::sub(fn::mul(plus(z, 0.5), fn::log(t)), t);
  Tensor result = plus(fn::add(main, fn::log(sum)), 0.5 * std::log(2 * std::numbers::pi));
  // Of |x|'s remainder to 2, so that whole numbers give exactly a pole.
  Tensor angle = times(fn::sub(x, fn::floor(x)), std::numbers::pi);
  Tensor reflected = fn::sub(fn::neg(fn::log(times(fn::sin(angle), std::numbers::inv_pi))), result);
  Tensor infinity = fn::scalarLike(x, std::numeric_limits<double>::infinity());
  return fn::where(fn::isInf(x), infinity, fn::where(isLow, reflected, result));
}

/// The derivative of log Gamma: shifted up by recurrence, then the asymptotic series.
Tensor digammaOf(const Tensor &x) {
  Tensor isLow = fn::lt(x, zeroLike(x)), z = fn::where(isLow, from(1, x), x), rest = zeroLike(x);
  constexpr int kShift = 8;
  for (int i = 0; i < kShift; ++i)
    rest = fn::add(rest, over(1, plus(z, i)));
  Tensor y = plus(z, kShift), square = over(1, fn::mul(y, y));
  Tensor series = fn::mul(square, polynomial(square, {1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12}));
  Tensor result = fn::sub(fn::sub(fn::sub(fn::log(y), over(0.5, y)), series), rest);
  Tensor angle = times(fn::sub(x, fn::floor(x)), std::numbers::pi);
  Tensor nan = fn::scalarLike(x, std::numeric_limits<double>::quiet_NaN()),
         infinity = fn::scalarLike(x, std::numeric_limits<double>::infinity());
  Tensor reflected =
      fn::where(fn::eq(angle, zeroLike(x)), nan, fn::sub(result, fn::div(times(fn::cos(angle), std::numbers::pi), fn::sin(angle))));
  Tensor atZero = fn::where(fn::lt(fn::reciprocal(x), zeroLike(x)), infinity, fn::neg(infinity));
  return fn::where(fn::eq(x, zeroLike(x)), atZero, fn::where(isLow, reflected, result));
}

/// The modified Bessel function of order 0: its power series, which is good to f32 up to 12, and Hankel's expansion behind that.
Tensor besselOf(const Tensor &given) {
  Tensor x = fn::abs(given), quarter = times(fn::mul(x, x), 0.25), term = fn::scalarLike(x, 1), series = term;
  for (int k = 1; k <= 40; ++k) {
    term = fn::div(fn::mul(term, quarter), fn::scalarLike(term, static_cast<double>(k) * k));
    series = fn::add(series, term);
  }
  Tensor inverse = over(1, x), part = fn::scalarLike(x, 1), expansion = part;
  for (int k = 1; k <= 8; ++k) {
    part = times(fn::mul(part, inverse), static_cast<double>((2 * k - 1) * (2 * k - 1)) / (8.0 * k));
    expansion = fn::add(expansion, part);
  }
  Tensor far = fn::mul(fn::div(fn::exp(x), fn::sqrt(times(x, 2 * std::numbers::pi))), expansion);
  return fn::where(fn::lt(x, fn::scalarLike(x, 12)), series, far);
}

/// -x log(x), 0 at 0.
Tensor entropyOf(const Tensor &x) {
  Tensor infinity = fn::scalarLike(x, std::numeric_limits<double>::infinity()), zero = zeroLike(x);
  Tensor inside = fn::where(fn::eq(x, zero), zero, fn::neg(fn::mul(x, fn::log(x))));
  return fn::where(fn::lt(x, zero), fn::neg(infinity), inside);
}

/// The normal distribution's integral, and its inverse.
Tensor normalOf(const Tensor &x) { return times(erfcOf(times(x, -1 / std::numbers::sqrt2)), 0.5); }
Tensor normalInverseOf(const Tensor &p) { return times(erfinvOf(plus(times(p, 2), -1)), std::numbers::sqrt2); }

} // namespace

std::span<const OpEntry> specialOps() {
  static constexpr OpEntry entries[] = {
      {"erfc(Tensor self) -> Tensor", precise<erfcOf>},           {"special_erfc(Tensor self) -> Tensor", precise<erfcOf>},
      {"erfinv(Tensor self) -> Tensor", precise<erfinvOf>},       {"special_erfinv(Tensor self) -> Tensor", precise<erfinvOf>},
      {"sinc(Tensor self) -> Tensor", precise<sincOf>},           {"special_sinc(Tensor self) -> Tensor", precise<sincOf>},
      {"lgamma(Tensor self) -> Tensor", precise<lgammaOf>},       {"special_gammaln(Tensor self) -> Tensor", precise<lgammaOf>},
      {"digamma(Tensor self) -> Tensor", precise<digammaOf>},     {"special_digamma(Tensor self) -> Tensor", precise<digammaOf>},
      {"special_psi(Tensor self) -> Tensor", precise<digammaOf>}, {"i0(Tensor self) -> Tensor", precise<besselOf>},
      {"special_i0(Tensor self) -> Tensor", precise<besselOf>},   {"special_entr(Tensor self) -> Tensor", precise<entropyOf>},
      {"special_ndtr(Tensor self) -> Tensor", precise<normalOf>}, {"special_ndtri(Tensor self) -> Tensor", precise<normalInverseOf>},
  };
  return entries;
}

} // namespace stator::torch
