//===- VectoriserRows.cpp - kernels that reduce ----------------------------===//
//
// softmax, layer norm, sums over any axes: all reductions of the kernel reduce
// the same dims of one iteration space. Within a row they run in order, each
// recomputing the element-wise chains that it needs. A chain that is expensive
// and needed again later (the exponentials of a softmax) is kept: in the row of
// a result that is written last anyway, else in the worker's scratch.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Vectoriser.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace stator::kernel {

/// Sizes of the loops of `op`.
static SmallVector<DimExpr> loopDims(linalg::GenericOp op) {
  SmallVector<DimExpr> sizes(op.getNumLoops(), DimExpr(1));
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    SmallVector<DimExpr> dims = graph::dimsOf(type);
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        sizes[dim.getPosition()] = dims[i];
  }
  return sizes;
}

/// Whether the innermost dim of the input with most dims is reduced: then a row is contiguous. Inputs that the body reads by position
/// do not count: a window slides over neighbours of the result's innermost dim.
static bool reducesInnermost(linalg::GenericOp op) {
  AffineMap widest;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!op.getMatchingBlockArgument(input).use_empty() && (!widest || map.getNumResults() > widest.getNumResults()))
      widest = map;
  }
  if (!widest || widest.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(widest.getResults().back());
  return last && op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction;
}

std::optional<Vectoriser::RowStructure> Vectoriser::findRowStructure() {
  RowStructure rows;
  linalg::GenericOp first = reductions.front();
  rows.dims = loopDims(first);
  for (auto [i, kind] : llvm::enumerate(first.getIteratorTypesArray())) {
    rows.isReduced.push_back(kind == utils::IteratorType::reduction);
    (rows.isReduced.back() ? rows.inner : rows.rows).push_back(i);
  }
  SmallVector<DimExpr> rowDims;
  for (unsigned dim : rows.rows)
    rowDims.push_back(rows.dims[dim]);

  for (linalg::GenericOp op : reductions) {
    if (op.getIteratorTypesArray() != first.getIteratorTypesArray() || loopDims(op) != rows.dims)
      return std::nullopt;
    AffineMap output = op.getIndexingMapsArray().back();
    if (output.getNumResults() != rows.rows.size())
      return std::nullopt;
    for (auto [i, dim] : llvm::enumerate(rows.rows))
      if (output.getResult(i) != getAffineDimExpr(dim, op.getContext()))
        return std::nullopt;
  }
  for (const Result &result : results) {
    SmallVector<DimExpr> dims = graph::dimsOf(result.type);
    if (dims != rows.dims && dims != rowDims)
      return std::nullopt;
  }

  DimExpr innerSize = 1;
  for (unsigned dim : rows.inner)
    innerSize = innerSize * rows.dims[dim];
  std::optional<int64_t> knownSize = innerSize.constant();
  bool isShort = knownSize && *knownSize <= k.lanes() / 2 && !rows.rows.empty();
  rows.alongRow = rows.rows.empty() || (reducesInnermost(first) && !isShort);
  return rows;
}

void Vectoriser::emitRows(const RowStructure &rows) {
  SmallVector<DimExpr> rowDims;
  for (unsigned dim : rows.rows)
    rowDims.push_back(rows.dims[dim]);
  if (!rows.alongRow) {
    // Small units, since each is a whole reduction; wide vectors, to read whole cache lines of the reduced dims.
    overShape(rowDims, 4, 4 * int64_t(k.lanes()), [&](ArrayRef<LaneValue> at) { emitRow(rows, at); });
    return;
  }
  chooseKeptTensors(rows);
  Values sizes;
  for (const DimExpr &dim : rowDims)
    sizes.push_back(k.size(dim));
  k.parallel(sizes, [&](ArrayRef<Value> indices) {
    LaneEvaluator::Scope scope(evaluator);
    LaneValues at;
    for (Value index : indices)
      at.push_back(LaneValue::uniform(index));
    emitRow(rows, at);
  });
}

void Vectoriser::emitRow(const RowStructure &rows, ArrayRef<LaneValue> rowIndex) {
  for (auto [phase, op] : llvm::enumerate(reductions)) {
    // Remembered by the evaluator for the rest of the row.
    evaluator.evaluate(op.getResult(0), rowIndex);
    for (auto &[keptPhase, tensor] : keptTensors)
      if (keptPhase == phase)
        evaluator.markStored(tensor);
  }
  bool hasFull = false;
  for (const Result &result : results) {
    if (result.type.getRank() == static_cast<int64_t>(rows.rows.size()))
      storeResult(result, rowIndex);
    else
      hasFull = true;
  }
  if (hasFull)
    overInner(rows, rowIndex, [&](ArrayRef<LaneValue> at) {
      for (const Result &result : results)
        if (result.type.getRank() != static_cast<int64_t>(rows.rows.size()))
          storeResult(result, at);
    });
}

void Vectoriser::overInner(const RowStructure &rows, ArrayRef<LaneValue> rowIndex, IndexBody body) {
  LaneValues at(rows.dims.size(), LaneValue::uniform(k.i64(0)));
  for (auto [dim, index] : llvm::zip_equal(rows.rows, rowIndex))
    at[dim] = index;
  unsigned lanes = evaluator.lanes();
  Value mask = evaluator.mask();
  std::function<void(ArrayRef<unsigned>)> nest = [&](ArrayRef<unsigned> dims) {
    if (dims.empty())
      return body(at);
    unsigned dim = dims.front();
    Value size = k.size(rows.dims[dim]);
    if (rows.alongRow && dims.size() == 1) {
      evaluator.forLanes(k.i64(0), size, rows.dims[dim].constant(), 1, [&](LaneValue index) {
        at[dim] = index;
        body(at);
      });
      return;
    }
    k.loop(k.i64(0), size, k.i64(1), [&](Value index) {
      LaneEvaluator::Scope scope(evaluator, lanes, mask);
      at[dim] = LaneValue::uniform(index);
      nest(dims.drop_front());
    });
  };
  nest(rows.inner);
}

//===----------------------------------------------------------------------===//
// Kept tensors
//===----------------------------------------------------------------------===//

namespace {
/// The element-wise operations that a phase computes: everything that its inputs need, up to reductions.
struct Phase {
  llvm::DenseSet<Operation *> ops;

  void add(Value value) {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic || generic.getNumReductionLoops() > 0 || !ops.insert(generic).second)
      return;
    for (Value input : generic.getInputs())
      add(input);
  }
};
} // namespace

/// Whether computing `op` anew costs more than a store and a load.
static bool isExpensive(linalg::GenericOp op, llvm::DenseSet<Operation *> &seen) {
  if (!seen.insert(op).second)
    return false;
  constexpr size_t mostCheap = 16; // Operations.
  auto body = op.getBody()->without_terminator();
  if (llvm::any_of(body, [](Operation &inner) { return isTranscendental(&inner); }) || llvm::range_size(body) > mostCheap)
    return true;
  for (Value input : op.getInputs())
    if (auto generic = input.getDefiningOp<linalg::GenericOp>(); generic && generic.getNumReductionLoops() == 0)
      if (isExpensive(generic, seen))
        return true;
  return false;
}

/// Whether every value between the operands and the results is read at the position at which it is computed. A kept element would
/// otherwise be asked for before it is there, or after the result has taken its place.
static bool readsOwnPositionsOnly(func::FuncOp source, ArrayRef<DimExpr> dims) {
  WalkResult walk = source.walk([&](Operation *op) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && extract.getTensor().getDefiningOp<linalg::GenericOp>())
      return WalkResult::interrupt();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    for (OpOperand *input : generic ? generic.getDpsInputOperands() : SmallVector<OpOperand *>()) {
      if (!input->get().getDefiningOp<linalg::GenericOp>() || graph::dimsOf(cast<RankedTensorType>(input->get().getType())) != dims)
        continue;
      if (!generic.getMatchingIndexingMap(input).isIdentity())
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

void Vectoriser::chooseKeptTensors(const RowStructure &rows) {
  if (!readsOwnPositionsOnly(source, rows.dims))
    return;
  // Kept elements are addressed by their position in the row, so the reduced dims must be the last ones.
  for (auto [i, dim] : llvm::enumerate(rows.rows))
    if (dim != i)
      return;
  SmallVector<Phase> phases;
  for (linalg::GenericOp op : reductions) {
    phases.emplace_back();
    for (Value input : op.getInputs())
      phases.back().add(input);
  }
  phases.emplace_back();
  for (const Result &result : results)
    if (graph::dimsOf(result.type) == rows.dims)
      phases.back().add(result.tensor);

  auto phasesOf = [&](Operation *op) {
    SmallVector<unsigned> users;
    for (auto [i, phase] : llvm::enumerate(phases))
      if (phase.ops.contains(op))
        users.push_back(i);
    return users;
  };
  SmallVector<bool> isTaken(results.size(), false);
  source.walk([&](linalg::GenericOp op) {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    SmallVector<unsigned> users = phasesOf(op);
    llvm::DenseSet<Operation *> seen;
    if (users.size() < 2 || graph::dimsOf(type) != rows.dims || !isExpensive(op, seen))
      return;
    // Keep the last operation of a chain, not every step of it.
    for (Operation *user : op->getUsers())
      if (phasesOf(user) == users && user->getResult(0).getType() == type)
        return;
    Type storage = KernelBuilder::computeType(type.getElementType());
    Value base;
    unsigned ignoredDims = 0;
    for (auto [i, result] : llvm::enumerate(results))
      if (!base && !isTaken[i] && result.type.getElementType() == storage && graph::dimsOf(result.type) == rows.dims) {
        base = result.base;
        isTaken[i] = true;
      }
    if (!base) {
      DimExpr bytes = KernelBuilder::byteSize(storage);
      for (unsigned dim : rows.inner)
        bytes = bytes * rows.dims[dim];
      base = k.scratch(bytes);
      ignoredDims = rows.rows.size();
    }
    evaluator.keep(op.getResult(0), base, ignoredDims);
    keptTensors.push_back({users.front(), op.getResult(0)});
  });
}

} // namespace stator::kernel
