// Reductions, scans and sorting.
#include "dialects/Graph/Interpreter/OpCall.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace stator::graph {

static double maxReal(double a, double b) { return std::isnan(a) || a > b ? a : b; }
static double minReal(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// What nothing at all gives.
static double neutralReal(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Prod:
    return 1;
  case ReduceKind::Max:
    return -INFINITY;
  case ReduceKind::Min:
    return INFINITY;
  default:
    return 0;
  }
}

static double combineReal(ReduceKind kind, double a, double b) {
  switch (kind) {
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::Max:
    return maxReal(a, b);
  case ReduceKind::Min:
    return minReal(a, b);
  default:
    return a + b;
  }
}

/// The lowest or highest integer of a type.
static int64_t extreme(ElementType type, bool highest) {
  if (type == ElementType::U8)
    return highest ? 255 : 0;
  int64_t high = int64_t((uint64_t(1) << (byteSize(type) * 8 - 1)) - 1);
  return highest ? high : -high - 1;
}

static int64_t neutralInteger(ReduceKind kind, ElementType type) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Any:
    return 0;
  case ReduceKind::Prod:
  case ReduceKind::All:
    return 1;
  case ReduceKind::Max:
    return extreme(type, false);
  case ReduceKind::Min:
    return extreme(type, true);
  }
  llvm_unreachable("every kind is listed");
}

static int64_t combineInteger(ReduceKind kind, int64_t a, int64_t b) {
  switch (kind) {
  case ReduceKind::Sum:
    return int64_t(uint64_t(a) + uint64_t(b));
  case ReduceKind::Prod:
    return int64_t(uint64_t(a) * uint64_t(b));
  case ReduceKind::Max:
    return std::max(a, b);
  case ReduceKind::Min:
    return std::min(a, b);
  case ReduceKind::Any:
    return a | b;
  case ReduceKind::All:
    return a & b;
  }
  llvm_unreachable("every kind is listed");
}

static LogicalResult reduce(ReduceOp op, OpCall &call) {
  const TensorValue &in = call.in();
  // The result's strides along the input's axes: 0 along those that are reduced.
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < in.rank(); ++axis)
    kept.push_back(llvm::is_contained(op.getAxes(), axis) ? 1 : in.shape[axis]);
  SmallVector<int64_t> strides = rowMajorStrides(kept);
  for (int64_t axis : op.getAxes())
    strides[axis] = 0;

  ReduceKind kind = op.getKind();
  std::vector<double> reals(call.out().count(), neutralReal(kind));
  std::vector<int64_t> integers(call.out().count(), neutralInteger(kind, in.type));
  forEachIndex(in.shape, [&](ArrayRef<int64_t> index, int64_t position) {
    int64_t to = positionOf(index, strides);
    if (isFloat(in.type))
      reals[to] = combineReal(kind, reals[to], in.real(position));
    else
      integers[to] = combineInteger(kind, integers[to], in.integer(position));
  });
  if (isFloat(in.type))
    call.out().setReals(reals);
  else
    call.out().setIntegers(integers);
  return success();
}

/// Whether element `i` of a tensor comes before element `j`: larger (or smaller) first, NaN as larger than any number.
static bool precedes(const TensorValue &in, int64_t i, int64_t j, bool largest) {
  if (!isFloat(in.type))
    return largest ? in.integer(i) > in.integer(j) : in.integer(i) < in.integer(j);
  double a = in.real(i), b = in.real(j);
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) != std::isnan(b) && std::isnan(a) == largest;
  return largest ? a > b : a < b;
}

static LogicalResult argReduce(ArgReduceOp op, OpCall &call) {
  const TensorValue &in = call.in();
  AxisSplit split(in.shape, op.getAxis());
  if (call.out().count() && split.size == 0)
    return op.emitOpError() << "looks for an extremum on an empty axis";
  bool largest = op.getKind() == ArgReduceKind::Max;
  // NaN is the extremum of either kind.
  auto beats = [&](int64_t i, int64_t j) {
    if (isFloat(in.type) && (std::isnan(in.real(i)) || std::isnan(in.real(j))))
      return std::isnan(in.real(i)) && !std::isnan(in.real(j));
    return precedes(in, i, j, largest);
  };
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0; i < split.inner; ++i) {
      int64_t best = 0;
      for (int64_t step = 1; step < split.size; ++step) {
        int64_t here = split.position(o, step, i), there = split.position(o, best, i);
        if (beats(here, there) || (op.getSelectLast() && !beats(there, here)))
          best = step;
      }
      call.out().setInteger(o * split.inner + i, best);
    }
  return success();
}

static LogicalResult cumulative(CumulativeOp op, OpCall &call) {
  const TensorValue &in = call.in();
  AxisSplit split(in.shape, op.getAxis());
  ReduceKind kind = op.getKind() == CumulativeKind::Sum    ? ReduceKind::Sum
                    : op.getKind() == CumulativeKind::Prod ? ReduceKind::Prod
                                                           : ReduceKind::Max;
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0; i < split.inner; ++i) {
      double real = neutralReal(kind);
      int64_t integer = neutralInteger(kind, in.type);
      for (int64_t step = 0; step < split.size; ++step) {
        int64_t here = split.position(o, op.getReverse() ? split.size - 1 - step : step, i);
        double realBefore = real;
        int64_t integerBefore = integer;
        if (isFloat(in.type)) {
          real = combineReal(kind, real, in.real(here));
          call.out().setReal(here, op.getExclusive() ? realBefore : real);
        } else {
          integer = combineInteger(kind, integer, in.integer(here));
          call.out().setInteger(here, op.getExclusive() ? integerBefore : integer);
        }
      }
    }
  return success();
}

static LogicalResult topK(TopKOp op, OpCall &call) {
  const TensorValue &in = call.in();
  int64_t axis = op.getAxis(), k = call.out().shape[axis];
  if (k > in.shape[axis])
    return op.emitOpError() << "wants " << k << " elements of axis " << axis << " of size " << in.shape[axis];
  if (call.out().count() == 0)
    return success();
  AxisSplit from(in.shape, axis), to(call.out().shape, axis);
  std::vector<int64_t> order(from.size);
  for (int64_t o = 0; o < from.outer; ++o)
    for (int64_t i = 0; i < from.inner; ++i) {
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return precedes(in, from.position(o, a, i), from.position(o, b, i), op.getLargest()); });
      for (int64_t step = 0; step < k; ++step) {
        call.out(0).copyElement(to.position(o, step, i), in, from.position(o, order[step], i));
        call.out(1).setInteger(to.position(o, step, i), order[step]);
      }
    }
  return success();
}

ArrayRef<InterpreterEntry> reductionInterpreters() {
  static const InterpreterEntry entries[] = {
      entry<ReduceOp, reduce>(),
      entry<ArgReduceOp, argReduce>(),
      entry<CumulativeOp, cumulative>(),
      entry<TopKOp, topK>(),
  };
  return entries;
}

} // namespace stator::graph
