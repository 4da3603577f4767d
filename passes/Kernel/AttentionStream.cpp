//===- AttentionStream.cpp - attention of a single row ---------------------===//
//
// Decoding with a key cache has one query per head, and reads every key and
// value once: the time is that of reading them. Keys stay as they lie; a vector
// of scores is made of as many keys as it has lanes, each multiplied lane by
// lane with the query, and transposed in registers for the sum. Values are
// added up as they come, weighted.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/AttentionEmitter.h"

#include "passes/Kernel/LaneTranspose.h"

using namespace mlir;

namespace stator::kernel {

void AttentionEmitter::emitStream() {
  const int64_t bytes = KernelBuilder::byteSize(compute);
  queryTile = b.scratch(queryStride * bytes);
  // A part of the keys that ends inside a vector is written as a whole one.
  scores = b.scratch((problem.keys + DimExpr(2 * lanes)) * bytes);
  Value heads = b.i64(1);
  for (const DimExpr &dim : problem.outer)
    heads = b.mul(heads, b.size(dim));
  KernelBuilder::Range range = b.split(b.mul(heads, queries));
  b.loop(range.begin, range.end, b.i64(1), [&](Value unit) {
    bool isOneRow = problem.queries.isConstant(1);
    Value position = isOneRow ? b.i64(0) : b.rem(unit, queries);
    Head head = headAt(isOneRow ? unit : b.div(unit, queries));
    head.query = b.address(head.query, b.mul(position, b.size(problem.query.rowStride)), problem.type);
    Value scale = b.number(vector, queryScale);
    for (int64_t column = 0; column < problem.depth; column += lanes) {
      Value part = b.load(head.query, b.i64(column), problem.type, lanes, maskAt(column, problem.depth));
      b.store(arith::MulFOp::create(b, part, scale), queryTile, b.i64(column), compute);
    }
    KeyBlock keys{b.i64(0), keyCount};
    Value end = visibleEnd(keys, position, 1);
    emitRowScores(head, end);
    RowSums sums = emitSoftmax(scores, head, position, keys, end, Value());
    emitRowValues(head, position, factorOf(sums.sum), end);
  });
}

void AttentionEmitter::emitRowScores(const Head &head, Value end) {
  DimExpr start(0);
  for (auto [part, base] : llvm::zip_equal(problem.key, head.key)) {
    Value first = b.size(start), count = b.size(part.rows);
    if (problem.isCausal)
      count = b.min(count, b.max(b.sub(end, first), b.i64(0)));
    Value target = b.address(scores, first, compute), stride = b.size(part.rowStride);
    Value wholeEnd = b.mul(b.div(count, b.i64(lanes)), b.i64(lanes));
    Value last = b.sub(count, b.i64(1));
    b.loop(b.i64(0), wholeEnd, b.i64(lanes), [&](Value key) { emitKeyDots(base, key, Value(), stride, target); });
    if (std::optional<int64_t> known = constantOf(count); !known || *known % lanes)
      b.when(b.less(wholeEnd, count), [&] { emitKeyDots(base, wholeEnd, last, stride, target); });
    start += part.rows;
  }
}

/// The scores of the keys from `first` on, as many as there are lanes. Beyond key `last`, if given, they are scores of that one.
void AttentionEmitter::emitKeyDots(Value keys, Value first, Value last, Value stride, Value target) {
  Values sums;
  for (int64_t i = 0; i < lanes; ++i) {
    Value index = b.add(first, b.i64(i));
    if (last)
      index = b.min(index, last);
    Value row = b.address(keys, b.mul(index, stride), problem.type), sum;
    for (int64_t column = 0; column < problem.depth; column += lanes) {
      Value part = b.load(row, b.i64(column), problem.type, lanes, maskAt(column, problem.depth));
      Value factor = b.load(queryTile, b.i64(column), compute, lanes);
      sum = sum ? b.fma(part, factor, sum) : arith::MulFOp::create(b, part, factor).getResult();
    }
    sums.push_back(sum);
  }
  sums = transposeLanes(b, sums);
  for (size_t half = sums.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i != half; ++i)
      sums[i] = arith::AddFOp::create(b, sums[i], sums[i + half]);
  b.store(sums[0], target, first, compute);
}

void AttentionEmitter::emitRowValues(const Head &head, Value position, Value factor, Value end) {
  Value splat = b.splat(factor, lanes);
  Value result = b.address(head.result, b.mul(position, b.size(problem.result.rowStride)), problem.type);
  const int64_t vectors = vectorsOf(problem.columns), most = std::min<int64_t>(8, b.options().vectorRegisters / 4);
  for (int64_t begin = 0; begin < vectors; begin += most) {
    const unsigned count = std::min(most, vectors - begin);
    Values sums = zeroAccumulators(b, {1, count}, compute);
    DimExpr start(0);
    for (auto [part, base] : llvm::zip_equal(problem.value, head.value)) {
      Value first = b.size(start), length = b.size(part.rows);
      if (problem.isCausal)
        length = b.min(length, b.max(b.sub(end, first), b.i64(0)));
      TileRows rows{{b.address(scores, first, compute)}, b.i64(1), compute};
      TileColumns columns;
      columns.pointer = base;
      columns.kStride = b.size(part.rowStride);
      columns.storage = problem.type;
      for (unsigned v = 0; v != count; ++v) {
        columns.offsets.push_back(b.i64((begin + v) * lanes));
        columns.masks.push_back(maskAt((begin + v) * lanes, problem.columns));
      }
      sums = accumulate(b, rows, columns, length, sums);
      start += part.rows;
    }
    for (unsigned v = 0; v != count; ++v) {
      int64_t column = (begin + v) * lanes;
      b.store(scaleByFactor(sums[v], splat), result, b.i64(column), problem.type, maskAt(column, problem.columns));
    }
  }
}

} // namespace stator::kernel
