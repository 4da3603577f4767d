//===- AttentionTiles.cpp - packing and the two products of attention ------===//

#include "passes/Kernel/AttentionEmitter.h"

#include "passes/Kernel/LaneTranspose.h"

using namespace mlir;

namespace stator::kernel {

Value AttentionEmitter::rowPointer(ArrayRef<AttentionRows> parts, const Values &bases, Value index) {
  Value pointer = b.address(bases[0], b.mul(index, b.size(parts[0].rowStride)), problem.type);
  DimExpr start = parts[0].rows;
  for (auto [part, base] : llvm::drop_begin(llvm::zip_equal(parts, bases))) {
    Value inside = b.sub(index, b.size(start));
    Value other = b.address(base, b.mul(inside, b.size(part.rowStride)), problem.type);
    pointer = b.select(b.less(inside, b.i64(0)), pointer, other);
    start += part.rows;
  }
  return pointer;
}

void AttentionEmitter::packKeys(const Head &head, const KeyBlock &keys) {
  // As many keys as lanes at a time; `exist` of them do, and copies of the last stand for the others, whose scores are masked.
  auto pack = [&](Value first, bool all) {
    Values rows;
    for (int64_t i = 0; i < lanes; ++i) {
      Value index = b.add(first, b.i64(i));
      if (!all)
        index = b.min(index, b.sub(keys.count, b.i64(1)));
      rows.push_back(rowPointer(problem.key, head.key, b.add(keys.start, index)));
    }
    Value panel = b.mul(b.div(first, b.i64(width)), b.i64(width * problem.depth));
    Value target = b.address(panels, b.add(panel, b.rem(first, b.i64(width))), compute);
    auto block = [&](Value start, int64_t count) {
      Value existing = count < lanes ? b.maskBelow(b.i64(count), lanes) : Value();
      Values vectors;
      for (Value row : rows)
        vectors.push_back(b.load(row, start, problem.type, lanes, existing));
      vectors = transposeLanes(b, vectors);
      for (int64_t k = 0; k < std::min(count, lanes); ++k)
        b.store(vectors[k], target, b.mul(b.add(start, b.i64(k)), b.i64(width)), compute);
    };
    int64_t whole = problem.depth / lanes * lanes;
    if (whole > 0)
      b.loop(b.i64(0), b.i64(whole), b.i64(lanes), [&](Value start) { block(start, lanes); });
    if (whole < problem.depth)
      block(b.i64(whole), problem.depth - whole);
  };
  Value wholeEnd = b.mul(b.div(keys.count, b.i64(lanes)), b.i64(lanes));
  b.loop(b.i64(0), wholeEnd, b.i64(lanes), [&](Value first) { pack(first, true); });
  if (isOneBlock && *problem.keys.constant() % lanes == 0)
    return;
  b.when(b.less(wholeEnd, keys.count), [&] { pack(wholeEnd, false); });
}

void AttentionEmitter::packValues(const Head &head, const KeyBlock &keys) {
  if (readsValuesInPlace())
    return;
  b.loop(b.i64(0), keys.count, b.i64(1), [&](Value index) {
    Value row = rowPointer(problem.value, head.value, b.add(keys.start, index));
    Value target = b.address(values, b.mul(index, b.i64(valueStride)), compute);
    for (int64_t column = 0; column < problem.columns; column += lanes)
      b.store(b.load(row, b.i64(column), problem.type, lanes, maskAt(column, problem.columns)), target, b.i64(column), compute);
  });
}

void AttentionEmitter::packQueries(const Head &head, Value firstRow, unsigned rows) {
  Value scale = b.number(vector, queryScale), last = b.sub(queries, b.i64(1));
  const bool all = problem.queries.isConstant(); // Else surplus rows are copies of the last one.
  for (unsigned r = 0; r != rows; ++r) {
    Value index = b.add(firstRow, b.i64(r));
    Value row = b.address(head.query, b.mul(all ? index : b.min(index, last), b.size(problem.query.rowStride)), problem.type);
    for (int64_t column = 0; column < problem.depth; column += lanes) {
      Value part = b.load(row, b.i64(column), problem.type, lanes, maskAt(column, problem.depth));
      b.store(arith::MulFOp::create(b, part, scale), queryTile, b.i64(int64_t(r) * queryStride + column), compute);
    }
  }
}

void AttentionEmitter::emitScores(TileShape shape, Value end) {
  TileRows rows;
  rows.kStride = b.i64(1);
  rows.storage = compute;
  for (unsigned r = 0; r != shape.rows; ++r)
    rows.pointers.push_back(b.address(queryTile, b.i64(int64_t(r) * queryStride), compute));
  auto emitTile = [&](Value column, unsigned vectors) {
    TileColumns columns;
    columns.pointer = b.address(panels, b.mul(column, b.i64(problem.depth)), compute);
    columns.kStride = b.i64(width);
    columns.storage = compute;
    for (unsigned v = 0; v != vectors; ++v)
      columns.offsets.push_back(b.i64(int64_t(v) * lanes));
    Values sums = accumulate(b, rows, columns, b.i64(problem.depth), zeroAccumulators(b, {shape.rows, vectors}, compute));
    for (unsigned r = 0; r != shape.rows; ++r)
      for (unsigned v = 0; v != vectors; ++v)
        b.store(sums[r * vectors + v], scores, b.add(column, b.i64(int64_t(r) * scoreStride + int64_t(v) * lanes)), compute);
  };
  std::optional<int64_t> known = constantOf(end);
  Value wholeEnd = known ? b.i64(*known / width * width) : end;
  b.loop(b.i64(0), wholeEnd, b.i64(width), [&](Value column) { emitTile(column, shape.vectors); });
  if (known && *known % width)
    emitTile(wholeEnd, vectorsOf(*known % width));
}

void AttentionEmitter::emitValues(TileShape shape, const Head &head, const KeyBlock &keys, Value end,
                                  llvm::function_ref<Values(Value column, unsigned vectors)> initial,
                                  llvm::function_ref<void(Value column, unsigned vectors, Values sums)> take) {
  TileRows rows;
  rows.kStride = b.i64(1);
  rows.storage = compute;
  for (unsigned r = 0; r != shape.rows; ++r)
    rows.pointers.push_back(b.address(scores, b.i64(int64_t(r) * scoreStride), compute));
  Value base = readsValuesInPlace() ? b.address(head.value[0], b.mul(keys.start, b.i64(valueStride)), problem.type) : values;
  auto emitColumns = [&](Value column, unsigned vectors) {
    TileColumns columns;
    columns.pointer = b.address(base, column, compute);
    columns.kStride = b.i64(valueStride);
    columns.storage = compute;
    for (unsigned v = 0; v != vectors; ++v)
      columns.offsets.push_back(b.i64(int64_t(v) * lanes));
    take(column, vectors, accumulate(b, rows, columns, end, initial(column, vectors)));
  };
  // A vector that is cut is not in the loop, so that its column is a number.
  int64_t vectors = vectorsOf(problem.columns), whole = problem.columns / lanes / shape.vectors * shape.vectors;
  if (whole > 0)
    b.loop(b.i64(0), b.i64(whole * lanes), b.i64(int64_t(shape.vectors) * lanes), [&](Value column) { emitColumns(column, shape.vectors); });
  if (whole < vectors)
    emitColumns(b.i64(whole * lanes), vectors - whole);
}

void AttentionEmitter::storeResult(const Head &head, Value firstRow, Value rows, TileShape shape, Value column, unsigned vectors,
                                   Values sums) {
  for (unsigned r = 0; r != shape.rows; ++r) {
    Value base = b.address(head.result, b.mul(b.add(firstRow, b.i64(r)), b.size(problem.result.rowStride)), problem.type);
    auto storeRow = [&] {
      for (unsigned v = 0; v != vectors; ++v) {
        Value place = b.add(column, b.i64(int64_t(v) * lanes));
        std::optional<int64_t> known = constantOf(place);
        b.store(sums[r * vectors + v], base, place, problem.type, known ? maskAt(*known, problem.columns) : Value());
      }
    };
    if (problem.queries.isConstant())
      storeRow();
    else
      b.when(b.less(b.i64(r), rows), storeRow);
  }
}

} // namespace stator::kernel
