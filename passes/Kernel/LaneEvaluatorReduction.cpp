//===- LaneEvaluatorReduction.cpp - reductions, evaluated in place ---------===//
//
// Two forms, chosen by the indices at which the result is wanted:
//  - lane-dependent indices: one accumulator per lane, loops over the reduced
//    dims in row-major order;
//  - uniform indices: vectors run along the innermost reduced dim that is
//    contiguous in memory, with several independent accumulators to hide the
//    latency of the combiner, then a masked rest, then a tree over the lanes.
// Both orders depend on sizes and vector width alone, never on the workers.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LaneEvaluator.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator::kernel {

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// The size of each loop of `op`, from the operands that the loops run over.
LaneEvaluator::Values LaneEvaluator::loopSizes(linalg::GenericOp op) {
  Values sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    SmallVector<DimExpr> dims = graph::dimsOf(type);
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !sizes[dim.getPosition()])
        sizes[dim.getPosition()] = k.size(dims[i]);
  }
  return sizes;
}

/// Joins two accumulators: the operations of the body that depend on its accumulator, with `b` for the one value that they take from
/// the others.
Value LaneEvaluator::combine(linalg::GenericOp op, Value a, Value b) {
  Block *body = op.getBody();
  llvm::DenseMap<Value, Value> replacement = {{body->getArguments().back(), a}};
  for (Operation &inner : body->without_terminator()) {
    if (llvm::none_of(inner.getOperands(), [&](Value operand) { return replacement.contains(operand); }))
      continue;
    OperationState state(k.getLoc(), inner.getName());
    for (Value operand : inner.getOperands()) {
      auto found = replacement.find(operand);
      state.addOperands(found == replacement.end() ? b : found->second);
    }
    Type element = KernelBuilder::computeType(inner.getResult(0).getType());
    state.addTypes(KernelBuilder::laneType(element, KernelBuilder::lanesOf(a)));
    state.addAttributes(inner.getAttrs());
    replacement[inner.getResult(0)] = k.OpBuilder::create(state)->getResult(0);
  }
  return replacement.lookup(body->getTerminator()->getOperand(0));
}

bool isTranscendental(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) && !isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::FloorOp, math::CeilOp,
                                                          math::RoundEvenOp, math::TruncOp, math::CopySignOp, math::FmaOp>(op);
}

/// A rough number of instructions per vector; only used to choose how often a loop body is repeated.
static unsigned costOf(Value value, llvm::DenseSet<Operation *> &seen) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() > 0 || !seen.insert(generic).second)
    return 1;
  unsigned cost = 0;
  for (Operation &op : generic.getBody()->without_terminator())
    cost += isTranscendental(&op) ? 12 : 1;
  for (Value input : generic.getInputs())
    cost += costOf(input, seen);
  return cost;
}

static unsigned bodyCost(linalg::GenericOp op) {
  llvm::DenseSet<Operation *> seen;
  unsigned cost = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    cost += isTranscendental(&inner) ? 12 : 1;
  for (Value input : op.getInputs())
    cost += costOf(input, seen);
  return cost;
}

LaneValue LaneEvaluator::computeReduction(linalg::GenericOp op, LaneValues point) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  auto fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  Value initial = materialise(computeConstant(fill.getInputs().front().getDefiningOp<arith::ConstantOp>(), {}));
  bool isUniform = llvm::all_of(point, [](LaneValue index) { return index.isUniform(); });
  if (isUniform && k.lanes() > 1)
    return LaneValue::uniform(reduceAlongLanes(op, point, dims, initial));

  Values sizes = loopSizes(op);
  Values reducedSizes;
  for (unsigned dim : dims)
    reducedSizes.push_back(sizes[dim]);
  unsigned currentLanes = lanes();
  Value currentMask = mask();
  Values result = overDims(dims, reducedSizes, point, {splat(initial)}, [&](Values carried) -> Values {
    (void)currentLanes, (void)currentMask;
    LaneValue next = computeBody(op, point, carried[0]);
    return {splat(materialise(next))};
  });
  return {result[0], 0};
}

/// Nested loops over `dims`, whose indices are put into `point`.
LaneEvaluator::Values LaneEvaluator::overDims(ArrayRef<unsigned> dims, ArrayRef<Value> sizes, LaneValues &point, Values carried,
                                              llvm::function_ref<Values(Values)> body) {
  if (dims.empty())
    return body(std::move(carried));
  // A small window is written out: its positions are constants then, and tests for the border fold or are shared.
  constexpr int64_t mostWrittenOut = 9;
  int64_t product = 1;
  for (Value size : sizes)
    product *= std::min(constantOf(size).value_or(mostWrittenOut + 1), mostWrittenOut + 1);
  if (product <= mostWrittenOut) {
    for (int64_t i = 0, e = *constantOf(sizes.front()); i < e; ++i) {
      point[dims.front()] = LaneValue::uniform(k.i64(i));
      carried = overDims(dims.drop_front(), sizes.drop_front(), point, std::move(carried), body);
    }
    return carried;
  }
  unsigned currentLanes = lanes();
  Value currentMask = mask();
  return k.loop(k.i64(0), sizes.front(), k.i64(1), carried, [&](Value index, ValueRange inner) -> Values {
    Scope scope(*this, currentLanes, currentMask);
    point[dims.front()] = LaneValue::uniform(index);
    return overDims(dims.drop_front(), sizes.drop_front(), point, Values(inner), body);
  });
}

/// The reduced dim along which vectors run: the innermost dim of the input that has most dims, if that is reduced.
static unsigned vectorDimOf(linalg::GenericOp op, ArrayRef<unsigned> dims) {
  unsigned best = dims.back(), bestRank = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() <= bestRank || op.getMatchingBlockArgument(input).use_empty())
      continue;
    auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (last && llvm::is_contained(dims, last.getPosition())) {
      best = last.getPosition();
      bestRank = map.getNumResults();
    }
  }
  return best;
}

Value LaneEvaluator::reduceAlongLanes(linalg::GenericOp op, LaneValues point, ArrayRef<unsigned> dims, Value initial) {
  unsigned vectorDim = vectorDimOf(op, dims);
  Values sizes = loopSizes(op);
  SmallVector<unsigned> outerDims;
  Values outerSizes;
  for (unsigned dim : dims)
    if (dim != vectorDim) {
      outerDims.push_back(dim);
      outerSizes.push_back(sizes[dim]);
    }
  unsigned cost = bodyCost(op);
  unsigned unroll = cost <= 12 ? 4 : cost <= 40 ? 2 : 1;
  if (auto length = constantOf(sizes[vectorDim]))
    while (unroll > 1 && *length < static_cast<int64_t>(unroll * k.lanes()))
      unroll /= 2;

  // Without masks the rest is scalar, with an accumulator of its own.
  bool hasScalarRest = !k.options().hasMasks();
  Value vectorInitial = k.splat(initial, k.lanes());
  Values accumulators(unroll, vectorInitial);
  if (hasScalarRest)
    accumulators.push_back(initial);
  accumulators = overDims(outerDims, outerSizes, point, accumulators,
                          [&](Values carried) { return reduceVectorDim(op, point, vectorDim, unroll, std::move(carried)); });
  Value scalarRest = hasScalarRest ? accumulators.pop_back_val() : Value();
  for (unsigned half = unroll / 2; half > 0; half /= 2)
    for (unsigned i = 0; i != half; ++i)
      accumulators[i] = combine(op, accumulators[i], accumulators[i + half]);
  Value result = k.reduceLanes(accumulators[0], [&](Value a, Value b) { return combine(op, a, b); });
  return scalarRest ? combine(op, result, scalarRest) : result;
}

LaneEvaluator::Values LaneEvaluator::reduceVectorDim(linalg::GenericOp op, LaneValues point, unsigned dim, unsigned unroll,
                                                     Values accumulators) {
  Value size = loopSizes(op)[dim];
  std::optional<int64_t> length = constantOf(size);
  int64_t width = k.lanes(), block = width * unroll;
  Value blockEnd = k.mul(k.div(size, k.i64(block)), k.i64(block));
  if (!length || *length >= block)
    accumulators = k.loop(k.i64(0), blockEnd, k.i64(block), accumulators, [&](Value index, ValueRange carried) {
      Scope scope(*this, width);
      Values next(carried);
      for (unsigned i = 0; i != unroll; ++i) {
        point[dim] = LaneValue::consecutive(i == 0 ? index : k.add(index, k.i64(i * width)));
        next[i] = splat(materialise(computeBody(op, point, next[i])));
      }
      return next;
    });
  if (!length)
    return reduceRest(op, point, dim, blockEnd, size, std::move(accumulators));
  return reduceKnownRest(op, point, dim, blockEnd, *length % block, std::move(accumulators));
}

/// What is left after the blocks, of unknown length.
LaneEvaluator::Values LaneEvaluator::reduceRest(linalg::GenericOp op, LaneValues point, unsigned dim, Value begin, Value end,
                                                Values accumulators) {
  int64_t width = k.lanes();
  if (k.options().hasMasks()) {
    Values rest = k.loop(begin, end, k.i64(width), accumulators[0], [&](Value index, ValueRange carried) -> Values {
      Value mask = k.maskBelow(k.sub(end, index), width);
      Scope scope(*this, width, mask);
      point[dim] = LaneValue::consecutive(index);
      Value next = splat(materialise(computeBody(op, point, carried[0])));
      return {k.select(mask, next, carried[0])};
    });
    accumulators[0] = rest[0];
    return accumulators;
  }
  Value vectorEnd = k.mul(k.div(end, k.i64(width)), k.i64(width));
  if (accumulators.size() > 2) {
    Values rest = k.loop(begin, vectorEnd, k.i64(width), accumulators[0], [&](Value index, ValueRange carried) -> Values {
      Scope scope(*this, width);
      point[dim] = LaneValue::consecutive(index);
      return {splat(materialise(computeBody(op, point, carried[0])))};
    });
    accumulators[0] = rest[0];
  }
  Values rest = k.loop(vectorEnd, end, k.i64(1), accumulators.back(), [&](Value index, ValueRange carried) -> Values {
    Scope scope(*this, 1);
    point[dim] = LaneValue::uniform(index);
    return {materialise(computeBody(op, point, carried[0]))};
  });
  accumulators.back() = rest[0];
  return accumulators;
}

/// What is left after the blocks, of known length: straight-line code, one accumulator after the other.
LaneEvaluator::Values LaneEvaluator::reduceKnownRest(linalg::GenericOp op, LaneValues point, unsigned dim, Value begin, int64_t length,
                                                     Values accumulators) {
  int64_t width = k.lanes(), done = 0;
  unsigned next = 0;
  for (; done + width <= length; done += width, ++next) {
    Scope scope(*this, width);
    point[dim] = LaneValue::consecutive(k.add(begin, k.i64(done)));
    accumulators[next] = splat(materialise(computeBody(op, point, accumulators[next])));
  }
  if (done == length)
    return accumulators;
  if (k.options().hasMasks()) {
    // The block is longer than the rest, so this accumulator is another one.
    Value mask = k.maskBelow(k.i64(length - done), width);
    Scope scope(*this, width, mask);
    point[dim] = LaneValue::consecutive(k.add(begin, k.i64(done)));
    Value value = splat(materialise(computeBody(op, point, accumulators[next])));
    accumulators[next] = k.select(mask, value, accumulators[next]);
    return accumulators;
  }
  Values rest = k.loop(k.add(begin, k.i64(done)), k.add(begin, k.i64(length)), k.i64(1), accumulators.back(),
                       [&](Value index, ValueRange carried) -> Values {
                         Scope scope(*this, 1);
                         point[dim] = LaneValue::uniform(index);
                         return {materialise(computeBody(op, point, carried[0]))};
                       });
  accumulators.back() = rest[0];
  return accumulators;
}

} // namespace stator::kernel
