// Element-wise operations of two and three operands.
#include "dialects/Graph/Interpreter/OpCall.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

//===- Floats -----------------------------------------------------------------------------------------------------------------===//

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }

static double modulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0)
    return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

static double floorDivide(double a, double b) {
  if (b == 0)
    return a / b;
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0))
    quotient -= 1;
  // (a - rest) / b is an integer but for rounding.
  return std::round(quotient);
}

static double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

static double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

//===- Integers, in 64 bits; storing wraps them to their width ---------------------------------------------------------------===//

static int64_t addIntegers(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static int64_t subtractIntegers(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
static int64_t multiplyIntegers(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

static int64_t divideIntegers(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  // The one quotient that has no representation.
  return b == -1 ? subtractIntegers(0, a) : a / b;
}

static int64_t remainderIntegers(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t moduloIntegers(int64_t a, int64_t b) {
  int64_t rest = remainderIntegers(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t floorDivideIntegers(int64_t a, int64_t b) {
  int64_t quotient = divideIntegers(a, b), rest = remainderIntegers(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t powerIntegers(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent; exponent >>= 1, base = multiplyIntegers(base, base))
    if (exponent & 1)
      result = multiplyIntegers(result, base);
  return result;
}

static int64_t largerInteger(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t smallerInteger(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t bitAnd(int64_t a, int64_t b) { return a & b; }
static int64_t bitOr(int64_t a, int64_t b) { return a | b; }
static int64_t bitXor(int64_t a, int64_t b) { return a ^ b; }

//===- Functions --------------------------------------------------------------------------------------------------------------===//

template <double (*real)(double, double), int64_t (*integer)(int64_t, int64_t)>
static LogicalResult binary(OpCall &call) {
  const TensorValue &a = call.in(0), &b = call.in(1);
  for (int64_t i = 0, n = a.count(); i < n; ++i) {
    if (isFloat(a.type))
      call.out().setReal(i, real(a.real(i), b.real(i)));
    else
      call.out().setInteger(i, integer(a.integer(i), b.integer(i)));
  }
  return success();
}

template <int64_t (*integer)(int64_t, int64_t)>
static LogicalResult bits(OpCall &call) {
  return binary<add, integer>(call);
}

static LogicalResult shift(OpCall &call, bool left) {
  const TensorValue &a = call.in(0), &b = call.in(1);
  int64_t width = int64_t(a.elementBytes()) * 8;
  for (int64_t i = 0, n = a.count(); i < n; ++i) {
    int64_t value = a.integer(i), amount = b.integer(i);
    bool all = amount < 0 || amount >= width;
    int64_t moved = left ? (all ? 0 : int64_t(uint64_t(value) << amount)) : value >> (all ? 63 : amount);
    call.out().setInteger(i, moved);
  }
  return success();
}
static LogicalResult shiftLeft(ShiftLeftOp, OpCall &call) { return shift(call, true); }
static LogicalResult shiftRight(ShiftRightOp, OpCall &call) { return shift(call, false); }

template <typename T>
static bool holds(CompareDirection direction, T a, T b) {
  switch (direction) {
  case CompareDirection::Eq:
    return a == b;
  case CompareDirection::Ne:
    return a != b;
  case CompareDirection::Lt:
    return a < b;
  case CompareDirection::Le:
    return a <= b;
  case CompareDirection::Gt:
    return a > b;
  case CompareDirection::Ge:
    return a >= b;
  }
  llvm_unreachable("every direction is listed");
}

static LogicalResult compare(CompareOp op, OpCall &call) {
  const TensorValue &a = call.in(0), &b = call.in(1);
  for (int64_t i = 0, n = a.count(); i < n; ++i)
    call.out().setInteger(i, isFloat(a.type) ? holds(op.getDirection(), a.real(i), b.real(i))
                                             : holds(op.getDirection(), a.integer(i), b.integer(i)));
  return success();
}

static LogicalResult select(SelectOp, OpCall &call) {
  for (int64_t i = 0, n = call.in().count(); i < n; ++i)
    call.out().copyElement(i, call.in(call.in(0).integer(i) ? 1 : 2), i);
  return success();
}

ArrayRef<InterpreterEntry> elementwiseBinaryInterpreters() {
  static const InterpreterEntry entries[] = {
      {AddOp::getOperationName(), binary<add, addIntegers>},
      {SubOp::getOperationName(), binary<subtract, subtractIntegers>},
      {MulOp::getOperationName(), binary<multiply, multiplyIntegers>},
      {DivOp::getOperationName(), binary<divide, divideIntegers>},
      {FloorDivOp::getOperationName(), binary<floorDivide, floorDivideIntegers>},
      {RemainderOp::getOperationName(), binary<std::fmod, remainderIntegers>},
      {ModuloOp::getOperationName(), binary<modulo, moduloIntegers>},
      {PowOp::getOperationName(), binary<std::pow, powerIntegers>},
      {Atan2Op::getOperationName(), binary<std::atan2, addIntegers>},
      {MaximumOp::getOperationName(), binary<larger, largerInteger>},
      {MinimumOp::getOperationName(), binary<smaller, smallerInteger>},
      {AndOp::getOperationName(), bits<bitAnd>},
      {OrOp::getOperationName(), bits<bitOr>},
      {XorOp::getOperationName(), bits<bitXor>},
      entry<ShiftLeftOp, shiftLeft>(),
      entry<ShiftRightOp, shiftRight>(),
      entry<CompareOp, compare>(),
      entry<SelectOp, select>(),
  };
  return entries;
}

} // namespace stator::graph
