//===- LowerGelu.cpp - GELU in half the instructions -----------------------===//
//
// GELU is x times the normal distribution function, and that is 2^p(|x|) below
// zero with a smooth p: its logarithm is nearly a parabola. So one polynomial
// and a power of two, whose exponent is added to the bits, replace an erf with
// its exponential and its two ranges: 32 instructions against 50. Beyond 5.6 the
// function is 0 in f32. p has degree 9, the largest error is 1.4e-7 of the result
// for x > 0 and 1e-7 below.
//
// The form with tanh is x / (1 + e^(-2u)), a logistic function.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

/// log2 of the distribution function at -t, t in [0, 5.6], from the constant up.
static constexpr double kLogarithm[] = {-1,
                                        -1.1511062383651733,
                                        -4.5919522643089294e-1,
                                        -5.254289507865906e-2,
                                        7.1331518702209e-3,
                                        -1.8255802569910884e-4,
                                        -1.7687940271571279e-4,
                                        4.2337032937211916e-5,
                                        -4.395973519422114e-6,
                                        1.8160562831326388e-7};
/// 2^r on [-1/2, 1/2], from the constant up.
static constexpr double kPower[] = {1, 6.931470036506653e-1, 2.4022242426872253e-1, 5.550733581185341e-2, 9.671512991189957e-3, 1.326472731307149e-3};

/// The polynomial with `coefficients` from the constant up, as a tree: a chain of this length is longer than what a processor looks ahead.
static Value polynomial(Body &b, Value x, ArrayRef<double> coefficients) {
  auto c = [&](double value) { return b.number(x.getType(), value); };
  SmallVector<Value> terms;
  for (size_t i = 0; i + 1 < coefficients.size(); i += 2)
    terms.push_back(math::FmaOp::create(b, x, c(coefficients[i + 1]), c(coefficients[i])));
  if (coefficients.size() % 2)
    terms.push_back(c(coefficients.back()));
  for (Value power = x; terms.size() > 1;) {
    power = arith::MulFOp::create(b, power, power);
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < terms.size(); i += 2)
      next.push_back(math::FmaOp::create(b, terms[i + 1], power, terms[i]));
    if (terms.size() % 2)
      next.push_back(terms.back());
    terms = next;
  }
  return terms.front();
}

static Value geluByErf(Body &b, Value x) {
  Type type = x.getType(), bits = b.getI32Type();
  auto c = [&](double value) { return b.number(type, value); };
  auto below = [&](Value value, double bound) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, c(bound)).getResult();
  };
  constexpr double end = 5.6, magic = 0x1.8p23;
  Value size = math::AbsFOp::create(b, x), isInside = below(size, end);
  Value t = b.select(isInside, size, c(end)); // Also for NaN.
  Value exponent = polynomial(b, t, kLogarithm);
  // In a float of this size the last place is 1, so that the addition rounds, and the integer is in the low bits.
  Value shifted = arith::AddFOp::create(b, exponent, c(magic));
  Value rest = arith::SubFOp::create(b, exponent, arith::SubFOp::create(b, shifted, c(magic)));
  Value power = polynomial(b, rest, kPower);
  Value integer = arith::ShLIOp::create(b, arith::BitcastOp::create(b, bits, shifted), b.integer(bits, 23));
  Value tail = arith::BitcastOp::create(b, type, arith::AddIOp::create(b, arith::BitcastOp::create(b, bits, power), integer));
  tail = b.select(isInside, tail, c(0));
  Value share = b.select(below(x, 0), tail, arith::SubFOp::create(b, c(1), tail));
  return arith::MulFOp::create(b, x, share);
}

static Value geluByTanh(Body &b, Value x) {
  Type type = x.getType();
  const double factor = 2 * std::sqrt(2 / std::numbers::pi);
  Value square = arith::MulFOp::create(b, x, x);
  Value inner = math::FmaOp::create(b, square, b.number(type, 0.044715 * factor), b.number(type, factor));
  Value argument = arith::MulFOp::create(b, x, inner);
  Value exponential = math::ExpOp::create(b, arith::NegFOp::create(b, argument));
  Value share = arith::DivFOp::create(b, b.number(type, 1), arith::AddFOp::create(b, exponential, b.number(type, 1)));
  return arith::MulFOp::create(b, x, share);
}

bool isLoweredWhole(graph::GeluOp op) {
  return op.getApproximate() == graph::GeluApproximation::Tanh || !cast<RankedTensorType>(op.getType()).getElementType().isF64();
}

Value lowerGelu(LinalgLowering &lowering, graph::GeluOp op) {
  bool byTanh = op.getApproximate() == graph::GeluApproximation::Tanh;
  auto input = cast<TypedValue<RankedTensorType>>(op.getInput());
  return lowering.elementwise(cast<RankedTensorType>(op.getType()), {LinalgLowering::same(input)}, [&](Body &b, ValueRange elements) {
    return byTanh ? geluByTanh(b, elements[0]) : geluByErf(b, elements[0]);
  });
}

} // namespace stator::kernel
