//===- ContractionEpilogue.cpp - from accumulators to results --------------===//

#include "passes/Kernel/ContractionEpilogue.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace stator::kernel {

/// Written-out epilogues have at most about this many instructions per tile.
static constexpr unsigned maxUnrolledCost = 500;
/// Vectors of the buffer that longer ones go through: no tile has more accumulators.
static constexpr unsigned bufferVectors = 32;

/// Instructions that `op` becomes, roughly.
static unsigned costOf(Operation &op) {
  if (isa<math::ErfOp, math::TanhOp, math::PowFOp, math::SinOp, math::CosOp>(op))
    return 40;
  if (op.getDialect()->getNamespace() == "math" && !isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::FmaOp>(op))
    return 25;
  return 1;
}

ContractionEpilogue::ContractionEpilogue(KernelBuilder &b, LaneEvaluator &evaluator, func::FuncOp source, Value contraction)
    : b(b), evaluator(evaluator), contraction(contraction) {
  returned = llvm::to_vector(source.getBody().front().getTerminator()->getOperands());
  evaluator.bind(contraction, [this](ArrayRef<LaneValue>) { return current; });
  // One store per result, and what comes before it.
  cost = returned.size();
  source.walk([&](linalg::GenericOp generic) {
    for (Operation &op : generic.getBody()->without_terminator())
      cost += costOf(op);
  });
}

void ContractionEpilogue::emitVector(ArrayRef<Value> rowIndices, Value column, Value accumulator, Value mask) {
  LaneEvaluator::Scope scope(evaluator, b.lanes(), mask);
  LaneValues at;
  for (Value index : rowIndices)
    at.push_back(LaneValue::uniform(index));
  at.push_back(LaneValue::consecutive(column));
  current = accumulator;
  for (auto [i, value] : llvm::enumerate(returned)) {
    Value result = evaluator.evaluateVector(value, at);
    evaluator.store(result, b.result(i), cast<RankedTensorType>(value.getType()), at);
  }
}

void ContractionEpilogue::emit(TileShape shape, const TilePosition &position, ValueRange accumulators) {
  const unsigned lanes = b.lanes();
  SmallVector<Value> columns;
  for (unsigned v = 0; v != shape.vectors; ++v)
    columns.push_back(b.add(position.column, b.i64(int64_t(v) * lanes)));
  auto maskOf = [&](unsigned v) { return v < position.masks.size() ? position.masks[v] : Value(); };

  if (!position.validRows && cost * shape.accumulators() <= maxUnrolledCost) {
    LaneEvaluator::Scope scope(evaluator, lanes);
    for (unsigned r = 0; r != shape.rows; ++r) {
      SmallVector<Value> rowIndices = position.rowIndices(b.i64(r));
      for (unsigned v = 0; v != shape.vectors; ++v)
        emitVector(rowIndices, columns[v], accumulators[r * shape.vectors + v], maskOf(v));
    }
    return;
  }

  Type compute = getElementTypeOrSelf(accumulators.front().getType());
  if (!buffer)
    buffer = b.scratch(int64_t(bufferVectors) * lanes * KernelBuilder::byteSize(compute));
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    b.store(accumulator, buffer, b.i64(int64_t(i) * lanes), compute);
  LaneEvaluator::Scope outside(evaluator, lanes);
  Value end = position.validRows ? position.validRows : b.i64(shape.rows);
  b.loop(b.i64(0), end, b.i64(1), [&](Value row) {
    LaneEvaluator::Scope scope(evaluator, lanes);
    SmallVector<Value> rowIndices = position.rowIndices(row);
    for (unsigned v = 0; v != shape.vectors; ++v) {
      Value place = b.add(b.mul(row, b.i64(int64_t(shape.vectors) * lanes)), b.i64(int64_t(v) * lanes));
      emitVector(rowIndices, columns[v], b.load(buffer, place, compute, lanes), maskOf(v));
    }
  });
}

} // namespace stator::kernel
