//===- VectoriserTranspose.cpp - element-wise kernels that transpose -------===//
//
// An operand whose contiguous dim is not the result's can only be gathered along
// the result's. Instead, a square tile of it is loaded along its own dim, one
// vector per lane of the result, and transposed in registers; the rest of the
// kernel is then evaluated on the tile's rows. Only for short kernels, since the
// code is written out for every row, and for elements of four bytes.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Vectoriser.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace stator::kernel {

namespace {
/// How the operands of an element-wise kernel are indexed by the result's dims.
struct AccessCollector {
  llvm::MapVector<Value, SmallVector<AffineMap>> accesses;
  unsigned cost = 0;

  /// `map` goes from the result's dims to those of `value`.
  void visit(Value value, AffineMap map) {
    if (isa<BlockArgument>(value)) {
      accesses[value].push_back(map);
      return;
    }
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic)
      return;
    AffineMap loops = map;
    for (Operation &op : generic.getBody()->without_terminator())
      cost += isa<math::MathDialect>(op.getDialect()) ? 12 : 1;
    if (!generic.getIndexingMapMatchingResult(cast<OpResult>(value)).isIdentity())
      return;
    for (OpOperand *input : generic.getDpsInputOperands())
      visit(input->get(), generic.getMatchingIndexingMap(input).compose(loops));
  }
};
} // namespace

std::optional<Vectoriser::Transposition> Vectoriser::findTransposition() {
  SmallVector<DimExpr> dims = graph::dimsOf(results.front().type);
  for (const Result &result : results)
    if (graph::dimsOf(result.type) != dims)
      return std::nullopt;
  if (dims.size() < 2)
    return std::nullopt;
  AccessCollector collector;
  for (const Result &result : results)
    collector.visit(result.tensor, AffineMap::getMultiDimIdentityMap(dims.size(), source.getContext()));
  if (collector.cost > 8)
    return std::nullopt;
  unsigned last = dims.size() - 1;
  auto isTooShort = [&](const DimExpr &dim) { return dim.constant() && *dim.constant() < k.lanes(); };
  for (auto &[operand, maps] : collector.accesses) {
    auto type = cast<RankedTensorType>(operand.getType());
    AffineMap map = maps.front();
    if (maps.size() != 1 || map.getNumResults() == 0 || KernelBuilder::byteSize(type.getElementType()) != 4)
      continue;
    auto contiguous = dyn_cast<AffineDimExpr>(map.getResults().back());
    bool isTransposed = contiguous && contiguous.getPosition() != last && map.isFunctionOfDim(last);
    if (isTransposed && !isTooShort(dims[contiguous.getPosition()]) && !isTooShort(dims[last]))
      return Transposition{cast<BlockArgument>(operand), map, contiguous.getPosition()};
  }
  return std::nullopt;
}

/// Row i of the result is lane i of every input. Each step swaps blocks of half the size.
static SmallVector<Value> transposeTile(KernelBuilder &k, SmallVector<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t block = 1; block < lanes; block *= 2) {
    // Lane l of a pair's first row: from the same row where bit `block` of l is clear, else from the second, shifted back.
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & block ? lanes + lane - block : lane);
      high.push_back(lane & block ? lanes + lane : lane + block);
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & block)
        continue;
      Value first = rows[i], second = rows[i + block];
      rows[i] = vector::ShuffleOp::create(k, first, second, low);
      rows[i + block] = vector::ShuffleOp::create(k, first, second, high);
    }
  }
  return rows;
}

void Vectoriser::emitTransposed(const Transposition &transposition) {
  SmallVector<DimExpr> dims = graph::dimsOf(results.front().type);
  unsigned last = dims.size() - 1, across = transposition.dim;
  int64_t lanes = k.lanes();
  Value width = k.i64(lanes), chunk = k.i64(16 * lanes);
  Value acrossSize = k.size(dims[across]), lastSize = k.size(dims[last]);
  // Units of work: a band of tiles, at one index of the other dims.
  Values sizes;
  for (auto [i, dim] : llvm::enumerate(dims))
    sizes.push_back(i == across ? k.ceilDiv(acrossSize, width) : i == last ? k.ceilDiv(lastSize, chunk) : k.size(dim));
  auto operandType = cast<RankedTensorType>(transposition.operand.getType());
  Value base = k.operand(transposition.operand.getArgNumber());
  LaneEvaluator::Leaf plainLeaf = [this, base, operandType](ArrayRef<LaneValue> at) { return evaluator.load(base, operandType, at); };

  k.parallel(sizes, [&](ArrayRef<Value> unit) {
    LaneEvaluator::Scope scope(evaluator);
    LaneValues at;
    for (Value index : unit)
      at.push_back(LaneValue::uniform(index));
    Value first = k.mul(unit[across], width), begin = k.mul(unit[last], chunk);
    Value end = k.min(lastSize, k.add(begin, chunk));
    Value isWhole = k.compare(arith::CmpIPredicate::sle, k.add(first, width), acrossSize);
    Value tileEnd = k.select(isWhole, k.add(begin, k.mul(k.div(k.sub(end, begin), width), width)), begin);
    k.loop(begin, tileEnd, width, [&](Value column) {
      LaneEvaluator::Scope tileScope(evaluator, lanes);
      SmallVector<Value> rows;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        LaneValues from(at);
        from[across] = LaneValue::consecutive(first);
        from[last] = LaneValue::uniform(k.add(column, k.i64(lane)));
        LaneValues indices;
        for (AffineExpr expr : transposition.map.getResults()) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          indices.push_back(dim ? from[dim.getPosition()] : LaneValue::uniform(k.i64(0)));
        }
        rows.push_back(evaluator.load(base, operandType, indices));
      }
      rows = transposeTile(k, rows);
      for (int64_t row = 0; row < lanes; ++row) {
        evaluator.bind(transposition.operand, [&](ArrayRef<LaneValue>) { return rows[row]; });
        at[across] = LaneValue::uniform(k.add(first, k.i64(row)));
        at[last] = LaneValue::consecutive(column);
        for (const Result &result : results)
          storeResult(result, at);
      }
      evaluator.bind(transposition.operand, plainLeaf);
    });
    // The border: columns after the last whole tile, or a band with fewer rows than lanes.
    Value rowEnd = k.min(acrossSize, k.add(first, width));
    k.when(k.less(tileEnd, end), [&] {
      k.loop(first, rowEnd, k.i64(1), [&](Value row) {
        LaneEvaluator::Scope rowScope(evaluator);
        at[across] = LaneValue::uniform(row);
        evaluator.forLanes(tileEnd, end, std::nullopt, 1, [&](LaneValue column) {
          at[last] = column;
          for (const Result &result : results)
            storeResult(result, at);
        });
      });
    });
  });
}

} // namespace stator::kernel
