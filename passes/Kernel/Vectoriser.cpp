//===- Vectoriser.cpp - element-wise kernels -------------------------------===//

#include "passes/Kernel/Vectoriser.h"

#include "dialects/Graph/Shapes.h"
#include "passes/Kernel/LinalgLowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace stator::kernel {

/// Elements of one unit of work along the last dim: some microseconds, and a multiple of every vector and cache line.
static constexpr int64_t chunkElements = 1024;

Vectoriser::Vectoriser(func::FuncOp source, const KernelOptions &options) : k(source, options), evaluator(k, source), source(source) {
  Operation *terminator = source.getBody().front().getTerminator();
  for (auto [i, tensor] : llvm::enumerate(terminator->getOperands()))
    results.push_back({tensor, cast<RankedTensorType>(tensor.getType()), k.result(i)});
  source.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() > 0)
      reductions.push_back(op);
  });
}

void Vectoriser::run() {
  source.walk([&](tensor::ExtractOp op) {
    auto type = cast<RankedTensorType>(op.getTensor().getType());
    if (op->hasAttr(needsElementsAttr) && !type.hasStaticShape())
      k.requireForWork(k.less(k.i64(0), k.size(graph::elementCount(type))));
  });
  if (reductions.empty()) {
    if (std::optional<Transposition> transposition = findTransposition())
      emitTransposed(*transposition);
    else
      emitElementwise();
  } else if (std::optional<RowStructure> rows = findRowStructure()) {
    emitRows(*rows);
  } else {
    // Reductions of different dims in one kernel: each is computed where it is needed, for every element of the result.
    emitElementwise();
  }
  k.finish();
}

void Vectoriser::storeResult(const Result &result, ArrayRef<LaneValue> at) {
  evaluator.store(evaluator.evaluate(result.tensor, at), result.base, result.type, at);
}

void Vectoriser::emitElementwise() {
  // Results of one shape share a loop.
  SmallVector<bool> isDone(results.size(), false);
  for (size_t first = 0; first != results.size(); ++first) {
    if (isDone[first])
      continue;
    SmallVector<DimExpr> dims = graph::dimsOf(results[first].type);
    SmallVector<size_t> group;
    for (size_t i = first; i != results.size(); ++i)
      if (!isDone[i] && graph::dimsOf(results[i].type) == dims) {
        group.push_back(i);
        isDone[i] = true;
      }
    overShape(dims, 1, chunkElements, [&](ArrayRef<LaneValue> at) {
      for (size_t i : group)
        storeResult(results[i], at);
    });
  }
}

void Vectoriser::overShape(ArrayRef<DimExpr> dims, unsigned widening, int64_t chunk, IndexBody body) {
  if (dims.empty()) {
    k.parallel({}, [&](ArrayRef<Value>) {
      LaneEvaluator::Scope scope(evaluator);
      body({});
    });
    return;
  }
  // Units of work: one chunk of the last dim at one index of the others.
  Value length = k.size(dims.back());
  std::optional<int64_t> knownLength = dims.back().constant();
  bool isChunked = !knownLength || *knownLength > chunk;
  Values sizes;
  for (const DimExpr &dim : dims.drop_back())
    sizes.push_back(k.size(dim));
  if (isChunked)
    sizes.push_back(k.ceilDiv(length, k.i64(chunk)));
  k.parallel(sizes, [&](ArrayRef<Value> indices) {
    LaneEvaluator::Scope scope(evaluator);
    LaneValues at;
    for (Value index : indices.take_front(dims.size() - 1))
      at.push_back(LaneValue::uniform(index));
    Value begin = k.i64(0), end = length;
    std::optional<int64_t> rangeLength = knownLength;
    if (isChunked) {
      begin = k.mul(indices.back(), k.i64(chunk));
      end = k.min(length, k.add(begin, k.i64(chunk)));
      rangeLength = knownLength && *knownLength % chunk == 0 ? std::optional<int64_t>(chunk) : std::nullopt;
    }
    evaluator.forLanes(begin, end, rangeLength, widening, [&](LaneValue index) {
      LaneValues inner(at);
      inner.push_back(index);
      body(inner);
    });
  });
}

} // namespace stator::kernel
