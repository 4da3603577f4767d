// Element-wise operations of one operand.
#include "dialects/Graph/Interpreter/OpCall.h"
#include "dialects/Graph/NumberFormats.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

/// Floats by `real`, integers by `integer`.
template <double (*real)(double), int64_t (*integer)(int64_t)>
static LogicalResult unary(OpCall &call) {
  const TensorValue &in = call.in();
  for (int64_t i = 0, n = in.count(); i < n; ++i) {
    if (isFloat(in.type))
      call.out().setReal(i, real(in.real(i)));
    else
      call.out().setInteger(i, integer(in.integer(i)));
  }
  return success();
}

/// For ops whose verifier admits floats only.
static int64_t never(int64_t value) { return value; }
template <double (*real)(double)>
static LogicalResult unaryReal(OpCall &call) {
  return unary<real, never>(call);
}

static double negate(double x) { return -x; }
static double sign(double x) { return std::isnan(x) ? x : double((x > 0) - (x < 0)); }
static double relu(double x) { return x > 0 || std::isnan(x) ? x : 0.0; }
static double rsqrt(double x) { return 1 / std::sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static int64_t negateInteger(int64_t x) { return int64_t(-uint64_t(x)); }
static int64_t absInteger(int64_t x) { return x < 0 ? negateInteger(x) : x; }
static int64_t signInteger(int64_t x) { return (x > 0) - (x < 0); }
static int64_t reluInteger(int64_t x) { return x > 0 ? x : 0; }

static LogicalResult complement(NotOp, OpCall &call) {
  const TensorValue &in = call.in();
  for (int64_t i = 0, n = in.count(); i < n; ++i)
    call.out().setInteger(i, in.type == ElementType::I1 ? !in.integer(i) : ~in.integer(i));
  return success();
}

static LogicalResult isNan(IsNanOp, OpCall &call) {
  for (int64_t i = 0, n = call.in().count(); i < n; ++i)
    call.out().setInteger(i, std::isnan(call.in().real(i)));
  return success();
}

static LogicalResult isInf(IsInfOp, OpCall &call) {
  for (int64_t i = 0, n = call.in().count(); i < n; ++i)
    call.out().setInteger(i, std::isinf(call.in().real(i)));
  return success();
}

static LogicalResult convert(ConvertOp, OpCall &call) {
  const TensorValue &in = call.in();
  for (int64_t i = 0, n = in.count(); i < n; ++i)
    convertElement(in.type, in.element(i), call.out().type, call.out().element(i));
  return success();
}

ArrayRef<InterpreterEntry> elementwiseInterpreters() {
  static const InterpreterEntry entries[] = {
      {AbsOp::getOperationName(), unary<std::fabs, absInteger>},
      {NegOp::getOperationName(), unary<negate, negateInteger>},
      {SignOp::getOperationName(), unary<sign, signInteger>},
      {ReluOp::getOperationName(), unary<relu, reluInteger>},
      {ExpOp::getOperationName(), unaryReal<std::exp>},
      {Expm1Op::getOperationName(), unaryReal<std::expm1>},
      {LogOp::getOperationName(), unaryReal<std::log>},
      {Log1pOp::getOperationName(), unaryReal<std::log1p>},
      {SqrtOp::getOperationName(), unaryReal<std::sqrt>},
      {RsqrtOp::getOperationName(), unaryReal<rsqrt>},
      {SinOp::getOperationName(), unaryReal<std::sin>},
      {CosOp::getOperationName(), unaryReal<std::cos>},
      {TanOp::getOperationName(), unaryReal<std::tan>},
      {AsinOp::getOperationName(), unaryReal<std::asin>},
      {AcosOp::getOperationName(), unaryReal<std::acos>},
      {AtanOp::getOperationName(), unaryReal<std::atan>},
      {SinhOp::getOperationName(), unaryReal<std::sinh>},
      {CoshOp::getOperationName(), unaryReal<std::cosh>},
      {AsinhOp::getOperationName(), unaryReal<std::asinh>},
      {AcoshOp::getOperationName(), unaryReal<std::acosh>},
      {AtanhOp::getOperationName(), unaryReal<std::atanh>},
      {TanhOp::getOperationName(), unaryReal<std::tanh>},
      {ErfOp::getOperationName(), unaryReal<std::erf>},
      {SigmoidOp::getOperationName(), unaryReal<sigmoid>},
      {FloorOp::getOperationName(), unaryReal<std::floor>},
      {CeilOp::getOperationName(), unaryReal<std::ceil>},
      {RoundEvenOp::getOperationName(), unaryReal<std::nearbyint>},
      entry<NotOp, complement>(),
      entry<IsNanOp, isNan>(),
      entry<IsInfOp, isInf>(),
      entry<ConvertOp, convert>(),
  };
  return entries;
}

} // namespace stator::graph
