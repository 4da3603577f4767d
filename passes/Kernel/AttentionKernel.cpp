//===- AttentionKernel.cpp - scaled dot-product attention ------------------===//
//
// One unit of work is a block of query rows of one head: product with the keys,
// mask, softmax, product with the values; the division by the row's sum is done
// on the last accumulators. The scores of a block stay in the worker's scratch.
//
// Per head and worker, keys are transposed into panels, in blocks of lanes x
// lanes in registers, and values are copied to one run unless they are one; per
// block the queries are copied, scaled. So the inner loops read dense memory,
// wherever the rows lie in the tensors. With a causal mask a block only looks
// at the keys up to its last row.
//
// When the keys are many (or their number is not known), they are taken in
// pieces of some hundred, so that their panels and values stay in L2 while all
// blocks of the head pass over them; each row then keeps its largest score, its
// sum and its weighted values so far, which are rescaled when a larger score
// turns up (online softmax: Milakov and Gimelshein, 2018; Dao et al., 2022).
//
// A few rows per head, as in decoding with a key cache, are not worth a panel:
// see AttentionStream.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/AttentionEmitter.h"

#include "dialects/Graph/Shapes.h"
#include "dialects/Graph/StridedViews.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace stator::kernel {

/// Up to this many rows of a head are computed one by one.
static constexpr int64_t streamedQueries = 4;
/// Bytes of the panels of one piece of keys: with its values, half of a small L2.
static constexpr int64_t pieceBytes = 128 << 10;

/// Rows of a tile: what is left after the last whole tile takes nearly as long as one if it is a row or five.
static unsigned tileRowsFor(int64_t rows, unsigned most) {
  constexpr int64_t least = 6;
  if (rows <= most)
    return std::max<int64_t>(rows, 1);
  unsigned best = most;
  int64_t bestCost = std::numeric_limits<int64_t>::max();
  for (unsigned count = most; count * 4 >= most * 3; --count) {
    int64_t rest = rows % count, cost = rows / count * count + (rest ? std::max(rest, least) : 0);
    if (cost < bestCost)
      bestCost = cost, best = count;
  }
  return best;
}

AttentionEmitter::AttentionEmitter(KernelBuilder &b, const AttentionProblem &problem)
    : b(b), problem(problem), lanes(b.lanes()), compute(KernelBuilder::computeType(problem.type)),
      vector(KernelBuilder::laneType(compute, lanes)), queries(b.size(problem.queries)), keyCount(b.size(problem.keys)) {
  tile = mainTile(b.options(), compute);
  if (std::optional<int64_t> known = problem.queries.constant())
    tile.rows = tileRowsFor(*known, tile.rows);
  width = tile.columns(b.options());
  usesPowersOfTwo = compute.isF32();
  queryScale = problem.scale * (usesPowersOfTwo ? std::numbers::log2e : 1);
  queryStride = vectorsOf(problem.depth) * lanes;
  valueStride = readsValuesInPlace() ? problem.columns : vectorsOf(problem.columns) * lanes;

  const int64_t rowBytes = std::max(queryStride, valueStride) * KernelBuilder::byteSize(compute);
  blockKeys = std::max<int64_t>(pieceBytes / rowBytes / 64, 1) * 64;
  std::optional<int64_t> known = problem.keys.constant();
  isOneBlock = known && *known <= blockKeys * 3 / 2;
  if (isOneBlock)
    blockKeys = (*known + width - 1) / width * width;
  // Not a multiple of a page: rows of a tile are read at one column after the other.
  scoreStride = blockKeys + lanes;
}

void AttentionEmitter::run() {
  if (std::optional<int64_t> known = problem.queries.constant())
    return *known <= streamedQueries ? emitStream() : emitBlocks();
  b.ifElse(b.less(queries, b.i64(streamedQueries + 1)), [&] { emitStream(); }, [&] { emitBlocks(); });
}

bool AttentionEmitter::readsValuesInPlace() const {
  return problem.value.size() == 1 && problem.value[0].rowStride.isConstant(problem.columns) && problem.columns % lanes == 0 &&
         problem.type == compute;
}

Value AttentionEmitter::maskAt(int64_t column, int64_t size) {
  return column + lanes <= size ? Value() : b.maskBelow(b.i64(size - column), lanes);
}

Value AttentionEmitter::rowsOf(const AttentionRows &rows, ArrayRef<Value> outer) {
  Value offset = b.size(rows.offset);
  for (auto [index, stride] : llvm::zip_equal(outer, rows.outerStrides))
    offset = b.add(offset, b.mul(index, b.size(stride)));
  return b.address(rows.buffer, offset, problem.type);
}

AttentionEmitter::Head AttentionEmitter::headAt(Value number) {
  SmallVector<Value> outer(problem.outer.size());
  for (size_t i = problem.outer.size(); i-- > 0;) {
    Value size = b.size(problem.outer[i]);
    outer[i] = i == 0 ? number : b.rem(number, size);
    if (i > 0)
      number = b.div(number, size);
  }
  Head head;
  head.query = rowsOf(problem.query, outer);
  head.result = rowsOf(problem.result, outer);
  for (const AttentionRows &part : problem.key)
    head.key.push_back(rowsOf(part, outer));
  for (const AttentionRows &part : problem.value)
    head.value.push_back(rowsOf(part, outer));
  if (problem.mask) {
    Value offset = b.i64(0);
    for (auto [index, stride] : llvm::zip(outer, problem.maskStrides))
      offset = b.add(offset, b.mul(index, b.size(stride)));
    head.mask = b.address(problem.mask, offset, problem.maskType);
  }
  return head;
}

void AttentionEmitter::emitBlocks() {
  const int64_t bytes = KernelBuilder::byteSize(compute);
  panels = b.scratch(blockKeys * problem.depth * bytes);
  if (!readsValuesInPlace())
    values = b.scratch(blockKeys * valueStride * bytes);
  queryTile = b.scratch(int64_t(tile.rows) * queryStride * bytes);
  scores = b.scratch(int64_t(tile.rows) * scoreStride * bytes);
  factors = b.scratch(int64_t(tile.rows) * bytes);
  if (!isOneBlock) {
    DimExpr rows = problem.queries + DimExpr(tile.rows);
    runningLargest = b.scratch(rows * bytes);
    runningSum = b.scratch(rows * bytes);
    runningValues = b.scratch(rows * (vectorsOf(problem.columns) * lanes * bytes));
  }

  Value heads = b.i64(1);
  for (const DimExpr &dim : problem.outer)
    heads = b.mul(heads, b.size(dim));
  Value blocks = b.ceilDiv(queries, b.i64(tile.rows));
  KernelBuilder::Range range = b.split(b.mul(heads, blocks));
  b.when(b.less(range.begin, range.end), [&] {
    b.loop(b.div(range.begin, blocks), b.ceilDiv(range.end, blocks), b.i64(1), [&](Value number) {
      Head head = headAt(number);
      Value start = b.mul(number, blocks);
      Value first = b.max(b.sub(range.begin, start), b.i64(0)), last = b.min(b.sub(range.end, start), blocks);
      if (isOneBlock)
        emitHead(head, first, last);
      else
        emitHeadInPieces(head, first, last);
    });
  });
}

void AttentionEmitter::overBlocks(Value first, Value last, llvm::function_ref<void(Value, Value, TileShape)> body) {
  Value tileRows = b.i64(tile.rows);
  std::optional<int64_t> known = problem.queries.constant();
  if (!known) {
    b.loop(first, last, b.i64(1), [&](Value block) {
      Value row = b.mul(block, tileRows);
      body(row, b.min(b.sub(queries, row), tileRows), tile);
    });
    return;
  }
  // The last block may have fewer rows, and then has a tile of its own.
  int64_t whole = *known / tile.rows, rest = *known % tile.rows;
  b.loop(first, b.min(last, b.i64(whole)), b.i64(1), [&](Value block) { body(b.mul(block, tileRows), tileRows, tile); });
  if (rest)
    b.when(b.less(b.i64(whole), last),
           [&] { body(b.i64(whole * tile.rows), b.i64(rest), {static_cast<unsigned>(rest), tile.vectors}); });
}

Value AttentionEmitter::visibleEnd(const KeyBlock &keys, Value firstRow, unsigned rows) {
  if (!problem.isCausal)
    return keys.count;
  Value end = b.add(b.add(firstRow, b.i64(rows)), b.size(problem.causalOffset));
  return b.min(keys.count, b.max(b.sub(end, keys.start), b.i64(0)));
}

void AttentionEmitter::emitHead(const Head &head, Value firstBlock, Value lastBlock) {
  KeyBlock keys{b.i64(0), keyCount};
  packKeys(head, keys);
  packValues(head, keys);
  overBlocks(firstBlock, lastBlock, [&](Value firstRow, Value rows, TileShape shape) {
    Value end = visibleEnd(keys, firstRow, shape.rows);
    packQueries(head, firstRow, shape.rows);
    emitScores(shape, end);
    b.loop(b.i64(0), rows, b.i64(1), [&](Value row) {
      Value base = b.address(scores, b.mul(row, b.i64(scoreStride)), compute);
      RowSums sums = emitSoftmax(base, head, b.add(firstRow, row), keys, end, Value());
      b.store(factorOf(sums.sum), factors, row, compute);
    });
    auto zeros = [&](Value, unsigned vectors) { return zeroAccumulators(b, {shape.rows, vectors}, compute); };
    emitValues(shape, head, keys, end, zeros, [&](Value column, unsigned vectors, Values sums) {
      for (unsigned r = 0; r != shape.rows; ++r) {
        Value factor = b.loadSplat(factors, b.i64(r), compute, lanes);
        for (unsigned v = 0; v != vectors; ++v)
          sums[r * vectors + v] = scaleByFactor(sums[r * vectors + v], factor);
      }
      storeResult(head, firstRow, rows, shape, column, vectors, sums);
    });
  });
}

void AttentionEmitter::emitHeadInPieces(const Head &head, Value firstBlock, Value lastBlock) {
  const int64_t stride = vectorsOf(problem.columns) * lanes;
  Value tileRows = b.i64(tile.rows), beginRow = b.mul(firstBlock, tileRows), endRow = b.min(b.mul(lastBlock, tileRows), queries);
  Value lowest = b.number(compute, -std::numeric_limits<double>::infinity());
  b.loop(beginRow, endRow, b.i64(1), [&](Value row) {
    b.store(lowest, runningLargest, row, compute);
    b.store(b.zero(compute), runningSum, row, compute);
    for (int64_t column = 0; column < stride; column += lanes)
      b.store(b.zero(vector), runningValues, b.add(b.mul(row, b.i64(stride)), b.i64(column)), compute);
  });

  b.loop(b.i64(0), visibleEnd({b.i64(0), keyCount}, endRow, 0), b.i64(blockKeys), [&](Value start) {
    KeyBlock keys{start, b.min(b.sub(keyCount, start), b.i64(blockKeys))};
    packKeys(head, keys);
    packValues(head, keys);
    overBlocks(firstBlock, lastBlock, [&](Value firstRow, Value rows, TileShape shape) {
      Value end = visibleEnd(keys, firstRow, shape.rows);
      b.when(b.less(b.i64(0), end), [&] {
        packQueries(head, firstRow, shape.rows);
        emitScores(shape, end);
        b.loop(b.i64(0), rows, b.i64(1), [&](Value row) {
          Value base = b.address(scores, b.mul(row, b.i64(scoreStride)), compute), position = b.add(firstRow, row);
          Value before = b.load(runningLargest, position, compute);
          RowSums sums = emitSoftmax(base, head, position, keys, end, before);
          // Rows without a score so far have nothing to rescale, and minus infinity less itself is no number.
          Value correction = power(arith::SubFOp::create(b, before, sums.largest));
          correction = b.select(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, before, lowest), b.zero(compute), correction);
          b.store(correction, factors, row, compute);
          b.store(sums.largest, runningLargest, position, compute);
          b.store(b.fma(b.load(runningSum, position, compute), correction, sums.sum), runningSum, position, compute);
        });
        auto placeOf = [&](unsigned r, Value column, unsigned v) {
          return b.add(b.mul(b.add(firstRow, b.i64(r)), b.i64(stride)), b.add(column, b.i64(int64_t(v) * lanes)));
        };
        auto rescaled = [&](Value column, unsigned vectors) {
          Values sums;
          for (unsigned r = 0; r != shape.rows; ++r) {
            Value factor = b.loadSplat(factors, b.i64(r), compute, lanes);
            for (unsigned v = 0; v != vectors; ++v)
              sums.push_back(arith::MulFOp::create(b, b.load(runningValues, placeOf(r, column, v), compute, lanes), factor));
          }
          return sums;
        };
        emitValues(shape, head, keys, end, rescaled, [&](Value column, unsigned vectors, Values sums) {
          for (unsigned r = 0; r != shape.rows; ++r)
            for (unsigned v = 0; v != vectors; ++v)
              b.store(sums[r * vectors + v], runningValues, placeOf(r, column, v), compute);
        });
      });
    });
  });

  b.loop(beginRow, endRow, b.i64(1), [&](Value row) {
    Value factor = b.splat(factorOf(b.load(runningSum, row, compute)), lanes);
    for (int64_t column = 0; column < stride; column += lanes) {
      Value sum = b.load(runningValues, b.add(b.mul(row, b.i64(stride)), b.i64(column)), compute, lanes);
      Value place = b.add(b.mul(row, b.size(problem.result.rowStride)), b.i64(column));
      b.store(scaleByFactor(sum, factor), head.result, place, problem.type, maskAt(column, problem.columns));
    }
  });
}

void emitAttention(KernelBuilder &b, const AttentionProblem &problem) { AttentionEmitter(b, problem).run(); }

} // namespace stator::kernel
