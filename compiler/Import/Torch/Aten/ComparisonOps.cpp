// Comparisons, logic, bits, choices and bounds of two operands.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <limits>

namespace stator::torch {

using trace::Tensor;

namespace {

template <Tensor (*function)(const Tensor &, const Tensor &)>
Value compare(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  return op.result(function(x[0], x[1]));
}

template <Tensor (*function)(const Tensor &, const Tensor &)>
Value logical(OpCall &op) {
  return op.result(function(op.tensor(0), op.tensor(1)));
}

template <Tensor (*function)(const Tensor &, const Tensor &)>
Value bits(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  if (op.ok() && isFloat(x.type))
    return op.invalid("bits of floating-point numbers");
  return x.result(op, function(x[0], x[1]));
}

template <bool toTheLeft>
Value shift(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  if (!op.ok())
    return Value::poison();
  // A float is multiplied by the power of two.
  if (isFloat(x.type)) {
    Tensor factor = fn::pow(fn::scalarLike(x[1], 2), x[1]);
    return x.result(op, toTheLeft ? fn::mul(x[0], factor) : fn::div(x[0], factor));
  }
  if (x.type == ElementType::I1)
    return op.unsupported("shifts of booleans; convert them to an integer type first");
  return x.result(op, toTheLeft ? fn::shiftLeft(x[0], x[1]) : fn::shiftRight(x[0], x[1]));
}

Value where(OpCall &op) {
  Operands x = promoted(op, {1, 2}, Promotion::Plain, Precision::Exact);
  return op.result(fn::where(op.tensor(0), x[0], x[1]));
}

/// torch.where(condition): a list of index vectors.
Value clampBetween(OpCall &op, size_t low, size_t high) {
  size_t count = op.schema().parameters.size();
  bool hasLow = low < count && !op.isNone(low), hasHigh = high < count && !op.isNone(high);
  if (!hasLow && !hasHigh)
    return op.invalid("neither a lower nor an upper bound is given");
  Operands x = hasLow && hasHigh ? promoted(op, {0, low, high}, Promotion::Plain, Precision::Exact)
                                 : promoted(op, {0, hasLow ? low : high}, Promotion::Plain, Precision::Exact);
  Tensor result = hasLow ? fn::maximum(x[0], x[1]) : x[0];
  return op.result(hasHigh ? fn::minimum(result, x[hasLow ? 2 : 1]) : result);
}

Value clamp(OpCall &op) { return clampBetween(op, 1, 2); }
Value clampMin(OpCall &op) { return clampBetween(op, 1, 2); } // There is no third argument.
Value clampMax(OpCall &op) { return clampBetween(op, 2, 1); }

template <Tensor (*function)(const Tensor &, const Tensor &)>
Value extremum(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  return x.result(op, function(x[0], x[1]));
}

/// NaN counts as absent.
template <Tensor (*function)(const Tensor &, const Tensor &)>
Value extremumOfNumbers(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  if (!op.ok() || !isFloat(x.type))
    return x.result(op, function(x[0], x[1]));
  return x.result(op, fn::where(fn::isNan(x[0]), x[1], fn::where(fn::isNan(x[1]), x[0], function(x[0], x[1]))));
}

Value heaviside(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  if (!op.ok())
    return Value::poison();
  Tensor zero = zeroLike(x[0]), isNan = isFloat(x.type) ? fn::isNan(x[0]) : Tensor();
  Tensor step = fn::where(fn::eq(x[0], zero), x[1], fn::cast(fn::gt(x[0], zero), x[0].type()));
  return x.result(op, isNan ? fn::where(isNan, x[0], step) : step);
}

Tensor isClose(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  double relative = op.number(2), absolute = op.number(3);
  bool nanIsEqual = op.flag(4);
  if (!op.ok())
    return {};
  Tensor distance = fn::abs(fn::sub(x[0], x[1])), allowed = plus(times(fn::abs(x[1]), relative), absolute);
  Tensor isNear =
      fn::logicalAnd(fn::le(distance, allowed), fn::lt(distance, fn::scalarLike(distance, std::numeric_limits<double>::infinity())));
  Tensor result = fn::logicalOr(fn::eq(x[0], x[1]), isNear);
  return nanIsEqual ? fn::logicalOr(result, fn::logicalAnd(fn::isNan(x[0]), fn::isNan(x[1]))) : result;
}

Value isclose(OpCall &op) { return op.result(isClose(op)); }

Value allOf(OpCall &op, const Tensor &x) {
  return op.ok() ? op.context().item(fn::reduce(x, fn::Reduction::All, trace::Ints{}, /*keepDims=*/false)) : Value::poison();
}

Value allclose(OpCall &op) { return allOf(op, isClose(op)); }

Value equal(OpCall &op) {
  TensorRef a = op.ref(0), b = op.ref(1);
  if (!op.ok())
    return Value::poison();
  bool isComparable = a->rank() == b->rank();
  for (int64_t axis = 0; isComparable && axis < a->rank(); ++axis) {
    const trace::Dim &x = a->dims()[axis], &y = b->dims()[axis];
    isComparable = !(x.isConstant() && y.isConstant()) || x == y;
  }
  if (!isComparable)
    return Value::boolean(false);
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Exact);
  return allOf(op, fn::eq(x[0], x[1]));
}

} // namespace

std::span<const OpEntry> comparisonOps() {
  static constexpr OpEntry entries[] = {
      {"eq.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::eq>},
      {"eq.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::eq>},
      {"ne.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::ne>},
      {"ne.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::ne>},
      {"not_equal.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::ne>},
      {"not_equal.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::ne>},
      {"lt.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::lt>},
      {"lt.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::lt>},
      {"less.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::lt>},
      {"less.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::lt>},
      {"le.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::le>},
      {"le.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::le>},
      {"less_equal.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::le>},
      {"less_equal.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::le>},
      {"gt.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::gt>},
      {"gt.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::gt>},
      {"greater.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::gt>},
      {"greater.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::gt>},
      {"ge.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::ge>},
      {"ge.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::ge>},
      {"greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", compare<fn::ge>},
      {"greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", compare<fn::ge>},
      {"logical_and(Tensor self, Tensor other) -> Tensor", logical<fn::logicalAnd>},
      {"logical_or(Tensor self, Tensor other) -> Tensor", logical<fn::logicalOr>},
      {"logical_xor(Tensor self, Tensor other) -> Tensor", logical<fn::logicalXor>},
      {"bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", bits<fn::bitwiseAnd>},
      {"bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", bits<fn::bitwiseAnd>},
      {"bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", bits<fn::bitwiseAnd>},
      {"bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", bits<fn::bitwiseOr>},
      {"bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", bits<fn::bitwiseOr>},
      {"bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", bits<fn::bitwiseOr>},
      {"bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", bits<fn::bitwiseXor>},
      {"bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", bits<fn::bitwiseXor>},
      {"bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", bits<fn::bitwiseXor>},
      {"__and__.Tensor(Tensor self, Tensor other) -> Tensor", bits<fn::bitwiseAnd>},
      {"__and__.Scalar(Tensor self, Scalar other) -> Tensor", bits<fn::bitwiseAnd>},
      {"__or__.Tensor(Tensor self, Tensor other) -> Tensor", bits<fn::bitwiseOr>},
      {"__or__.Scalar(Tensor self, Scalar other) -> Tensor", bits<fn::bitwiseOr>},
      {"__xor__.Tensor(Tensor self, Tensor other) -> Tensor", bits<fn::bitwiseXor>},
      {"__xor__.Scalar(Tensor self, Scalar other) -> Tensor", bits<fn::bitwiseXor>},
      {"__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", shift<true>},
      {"__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", shift<true>},
      {"__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", shift<false>},
      {"__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", shift<false>},
      {"bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", shift<true>},
      {"bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", shift<true>},
      {"bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", shift<true>},
      {"bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", shift<false>},
      {"bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", shift<false>},
      {"bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", shift<false>},
      {"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", where},
      {"where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", where},
      {"where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", where},
      {"where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", where},
      {"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp},
      {"clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp},
      {"clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp},
      {"clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp},
      {"clamp_min(Tensor self, Scalar min) -> Tensor", clampMin},
      {"clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", clampMin},
      {"clamp_max(Tensor self, Scalar max) -> Tensor", clampMax},
      {"clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", clampMax},
      {"maximum(Tensor self, Tensor other) -> Tensor", extremum<fn::maximum>},
      {"minimum(Tensor self, Tensor other) -> Tensor", extremum<fn::minimum>},
      {"max.other(Tensor self, Tensor other) -> Tensor", extremum<fn::maximum>},
      {"min.other(Tensor self, Tensor other) -> Tensor", extremum<fn::minimum>},
      {"fmax(Tensor self, Tensor other) -> Tensor", extremumOfNumbers<fn::maximum>},
      {"fmin(Tensor self, Tensor other) -> Tensor", extremumOfNumbers<fn::minimum>},
      {"heaviside(Tensor self, Tensor values) -> Tensor", heaviside},
      {"isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor", isclose},
      {"allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool", allclose},
      {"equal(Tensor self, Tensor other) -> bool", equal},
  };
  return entries;
}

} // namespace stator::torch
