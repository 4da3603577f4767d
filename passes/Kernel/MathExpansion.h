//===- MathExpansion.h - transcendental functions as polynomials -----------===//
//
// Kernels may not call libm, so every function becomes straight-line vector
// code here: range reduction, a polynomial or rational approximation, and
// selects for the special values. The approximations are those of Cephes
// (Moshier) and fdlibm (Sun), which are given for scalars but have no table
// look-ups; erf of f32 is N. Juffa's.
//
// f32 has its own short forms of exp, expm1, log, log1p, tanh, erf and the
// logistic function, which models use everywhere; its other functions are
// computed as f64 and rounded. Errors of the short forms are at most 3e-7 of the
// result, for exp and the logistic function of |x| > 10 at most 5e-7; results of
// exp below 1.7e-38 (x < -86.98) are 0.
//
// The logistic function is the activation that mobile networks evaluate on
// every element, so it is counted in instructions: a polynomial of degree 5 in
// place of 6 and one division, where x * sigmoid(x) is x / (1 + e^-x).
//
// f64 is accurate to a few units in the last place, except pow with a large
// exponent (relative error about |y ln x| * 1e-16) and the trigonometric
// functions beyond |x| = 1e6, where the range reduction runs out of bits.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_MATHEXPANSION_H
#define STATOR_PASSES_KERNEL_MATHEXPANSION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/ArrayRef.h"

namespace stator::kernel {

/// Emits functions of values of one type: f32 or f64, scalar or vector.
class MathExpansion {
public:
  using Value = mlir::Value;

  MathExpansion(mlir::ImplicitLocOpBuilder &builder, mlir::Type type);

  Value exp(Value x), expm1(Value x), log(Value x), log1p(Value x);
  Value tanh(Value x), erf(Value x);
  /// 1 + e^-x, for 1 / that and x / that. Infinite where e^-x overflows. f32 only.
  Value onePlusExpNeg(Value x);
  Value sin(Value x), cos(Value x), tan(Value x);
  Value asin(Value x), acos(Value x), atan(Value x), atan2(Value y, Value x);
  Value sinh(Value x), cosh(Value x), asinh(Value x), acosh(Value x), atanh(Value x);
  Value pow(Value x, Value y);
  Value rsqrt(Value x);
  /// C's fmod.
  Value remainder(Value x, Value y);

private:
  using Unary = Value (MathExpansion::*)(Value);

  // MathExpansion.cpp: the vocabulary.
  Value c(double value);
  Value bits(int64_t value);
  Value add(Value a, Value b), sub(Value a, Value b), mul(Value a, Value b), div(Value a, Value b);
  Value neg(Value a), abs(Value a), sqrt(Value a), trunc(Value a), copySign(Value magnitude, Value sign);
  Value fma(Value a, Value b, Value c);
  Value less(Value a, Value b), lessEqual(Value a, Value b), equal(Value a, Value b), isNan(Value a);
  Value both(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// NaN stays NaN.
  Value atLeast(Value x, double bound), atMost(Value x, double bound);
  /// Coefficients from the highest power down.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients);
  /// The same with a leading coefficient 1 that is not listed.
  Value monic(Value x, llvm::ArrayRef<double> coefficients);
  Value asBits(Value x), asReal(Value bits);
  /// x rounded to an integer of at most 2^21 (f32) or 2^50 (f64), and that integer in the low bits of an integer value.
  struct Rounded {
    Value real, integer;
  };
  Rounded round(Value x);
  /// The same for 2^(n-1) of f32 in place of the integer: 0 for n = -126, and n at most 128.
  struct HalfPower {
    Value real, power;
  };
  HalfPower roundToPower(Value x, double factor);
  /// 2^n of an integer value within the normal exponents.
  Value powerOfTwo(Value n);
  /// x * 2^n, also where the result is denormal or overflows.
  Value scale(Value x, Value n);
  /// x = mantissa * 2^exponent with mantissa in [sqrt(1/2), sqrt(2)); exponent as a float.
  struct Split {
    Value mantissaMinusOne, exponent;
  };
  Split split(Value x);
  /// Corrects log's result `value` for x = 0, negative, infinite and NaN.
  Value logSpecials(Value x, Value value);
  /// Evaluates `function` in f64 when this is f32.
  Value inDouble(Unary function, Value x);

  // MathExpansionDouble.cpp
  struct Angle {
    Value rest, quadrant; // rest in [-pi/4, pi/4]; quadrant in the low two bits
  };
  Angle reduceAngle(Value x);
  Value sineOfRest(Value x), cosineOfRest(Value x);
  Value sinOfQuadrant(Angle angle, int64_t shift);
  struct ExpParts {
    Value fractionMinusOne, exponent; // e^x = (1 + fractionMinusOne) * 2^exponent
  };
  ExpParts expParts(Value x);
  Value arcSineSmall(Value x);

  mlir::ImplicitLocOpBuilder &b;
  mlir::Type type, integerType;
  bool isDouble;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_MATHEXPANSION_H
