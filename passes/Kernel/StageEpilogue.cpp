//===- StageEpilogue.cpp - element-wise code between stages of a kernel ----===//

#include "passes/Kernel/StageEpilogue.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace stator::kernel {

/// Written-out code has at most about this many instructions per tile.
static constexpr unsigned maxUnrolledCost = 500;
/// Vectors of the buffer that longer code goes through: no tile has more accumulators.
static constexpr unsigned bufferVectors = 32;

StageEpilogue::StageEpilogue(KernelBuilder &b, LaneEvaluator &evaluator, Value convolution, Value value)
    : b(b), evaluator(evaluator), value(value) {
  llvm::SetVector<Operation *> visited;
  std::function<void(Value)> visit = [&](Value tensor) {
    auto generic = tensor.getDefiningOp<linalg::GenericOp>();
    if (tensor == convolution || !generic || !visited.insert(generic))
      return;
    for (Operation &op : generic.getBody()->without_terminator())
      cost += isTranscendental(&op) ? 20 : 1;
    for (Value operand : generic.getDpsInputs())
      visit(operand);
  };
  visit(value);
  evaluator.bind(convolution, [this](ArrayRef<LaneValue>) { return current; });
}

void StageEpilogue::emit(const Tile &tile, ValueRange accumulators, Sink sink) {
  const unsigned lanes = b.lanes(), rows = tile.shape.rows, vectors = tile.shape.vectors;
  SmallVector<Value> columns;
  for (unsigned v = 0; v != vectors; ++v)
    columns.push_back(b.add(tile.column, b.i64(int64_t(v) * lanes)));

  auto emitVector = [&](ArrayRef<Value> rowIndices, Value row, unsigned v, Value accumulator) {
    Value mask = v < tile.masks.size() ? tile.masks[v] : Value();
    LaneEvaluator::Scope scope(evaluator, lanes, mask);
    LaneValues at;
    for (Value index : rowIndices)
      at.push_back(LaneValue::uniform(index));
    at.push_back(LaneValue::consecutive(columns[v]));
    current = accumulator;
    sink(evaluator.evaluateVector(value, at), at, row, v, mask);
  };

  if (cost * tile.shape.accumulators() <= maxUnrolledCost) {
    LaneEvaluator::Scope scope(evaluator, lanes);
    for (unsigned r = 0; r != rows; ++r) {
      Value row = b.i64(r);
      SmallVector<Value> rowIndices = tile.rowIndices(row);
      for (unsigned v = 0; v != vectors; ++v)
        emitVector(rowIndices, row, v, accumulators[r * vectors + v]);
    }
    return;
  }

  Type compute = getElementTypeOrSelf(accumulators.front().getType());
  if (!buffer)
    buffer = b.scratch(int64_t(bufferVectors) * lanes * KernelBuilder::byteSize(compute));
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    b.store(accumulator, buffer, b.i64(int64_t(i) * lanes), compute);
  LaneEvaluator::Scope outside(evaluator, lanes);
  b.loop(b.i64(0), b.i64(rows), b.i64(1), [&](Value row) {
    LaneEvaluator::Scope scope(evaluator, lanes);
    SmallVector<Value> rowIndices = tile.rowIndices(row);
    for (unsigned v = 0; v != vectors; ++v) {
      Value place = b.add(b.mul(row, b.i64(int64_t(vectors) * lanes)), b.i64(int64_t(v) * lanes));
      emitVector(rowIndices, row, v, b.load(buffer, place, compute, lanes));
    }
  });
}

} // namespace stator::kernel
