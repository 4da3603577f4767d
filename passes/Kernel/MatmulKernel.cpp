//===- MatmulKernel.cpp - loops of a matrix product ------------------------===//
//
// The result is cut into register tiles. All tiles, ordered by outer index,
// then column tile, then row tile, are shared out evenly over the workers; each
// takes a contiguous run. Rows are innermost, so that the panel of weights of a
// column tile is read from memory once and stays in the second-level cache
// while the rows pass by; it need not be blocked over k, because a whole panel
// (K x 32 or K x 48 f32) fits there for K up to several thousand. One row (a
// matrix-vector product) makes the same order a split over column panels, each
// streamed once.
//
// In a network larger than the caches the weights come from memory at each
// run. So while the row tiles of one column tile pass by, the panels of the
// next one are fetched, evenly, as many lines per k as it takes. That is 5-15 %
// of a product of 128 rows, and nearly half of the time of one of 8. Very few
// rows do without: the processor's own prefetcher is at the limit of the memory
// then, and instructions in between only disturb it.
//
// Tried and no faster, even for weights that fit the cache altogether: columns
// innermost; prefetching the lines of the result, or the rows of the next tile.
//
// The last row tiles: with a known number of rows they are tiles of exactly the
// rest, and if that would be too few rows to keep the multipliers busy, the
// rows are cut into tiles of two sizes that differ by one. With a symbolic
// number, tiles of 1, 2, 4, 8 and the full number of rows exist; the smallest
// that holds the rest is taken, its surplus rows read the last row again and
// are not stored. One or two rows in total take wide tiles.
//
// A right-hand side whose columns are not neighbours (a key matrix that is
// multiplied transposed) is first packed, one column tile at a time, into the
// worker's scratch.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/MatmulKernel.h"

#include "dialects/Target/PackedLayouts.h"
#include "passes/Kernel/LaneTranspose.h"

using namespace mlir;

namespace stator::kernel {

namespace {

class MatmulEmitter {
public:
  MatmulEmitter(KernelBuilder &b, const MatmulProblem &problem, Value lhs, Value rhs, ContractionEpilogue &epilogue)
      : b(b), problem(problem), epilogue(epilogue), lhs(lhs), rhs(rhs) {
    compute = KernelBuilder::computeType(problem.type);
    rows = b.size(problem.rows());
    depth = b.size(problem.depth);
    columns = b.size(problem.columns);
    lhsRowStride = b.size(problem.lhsRowStride);
    lhsDepthStride = b.size(problem.lhsDepthStride);
    needsPacking = !problem.isPacked && !problem.rhsColumnStride.isConstant(1);
  }

  void run() {
    std::optional<int64_t> knownRows = problem.rows().constant(), knownColumns = problem.columns.constant();
    TileShape main = matmulTile(b.options(), compute, problem.depth.constant(), knownColumns);
    if (knownRows)
      return emitAll(shapeForRows(main, std::max<int64_t>(*knownRows, 1)));
    b.ifElse(
        b.less(rows, b.i64(3)),
        [&] {
          b.ifElse(
              b.less(rows, b.i64(2)), [&] { emitAll(wideTile(b.options(), compute, 1)); },
              [&] { emitAll(wideTile(b.options(), compute, 2)); });
        },
        [&] { emitAll(main); });
  }

private:
  TileShape shapeForRows(TileShape main, int64_t knownRows) const {
    if (knownRows * 4 <= int64_t(main.accumulators()))
      return wideTile(b.options(), compute, knownRows);
    // All rows at once read the weights once.
    TileShape tall = mainTile(b.options(), compute);
    TileShape shape = knownRows <= tall.rows && knownRows > main.rows ? tall : main;
    shape.rows = evenRows(knownRows, shape.rows);
    return shape;
  }
  /// All tiles of the result, in tiles of `shape`.
  void emitAll(TileShape shape);
  /// Tiles [begin, end) of rows, each with how many rows it has and how many of them exist (null: all).
  void forRows(TileShape shape, Value begin, Value end,
               llvm::function_ref<void(unsigned, Value tile, Value firstRow, Value validRows)> body);
  /// Tiles [begin, end) of columns; `body` gets the number of vectors, after the members of the column tile have been set.
  void forColumns(unsigned vectorsPerTile, Value begin, Value end, llvm::function_ref<void(unsigned)> body);
  /// Sets the members of the column tile. `remaining` columns exist from its first on (null: all).
  void enterColumns(Value tile, unsigned vectorsPerTile, unsigned vectors, Value remaining);
  void emitTile(TileShape shape, Value tile, Value firstRow, Value validRows);
  void packColumns(TileShape shape);
  /// Sets what the row tiles of the column tile fetch.
  void enterPrefetch(TileShape shape, unsigned vectors, Value rowTiles);

  KernelBuilder &b;
  const MatmulProblem &problem;
  ContractionEpilogue &epilogue;
  Value lhs, rhs;
  Type compute;
  Value rows, depth, columns, lhsRowStride, lhsDepthStride;
  bool needsPacking = false;
  Value packBuffer;

  // Of the outer index that is being emitted.
  Value lhsBase, rhsOffset;
  SmallVector<Value> outerIndices;
  // Of the column tile that is being emitted.
  Value column;
  TileColumns tileColumns;
  SmallVector<Value> masks; // of the results
  TilePrefetch nextPanels;  // while its first row tile runs
};

void MatmulEmitter::emitAll(TileShape shape) {
  Value one = b.i64(1);
  Value rowTiles = b.ceilDiv(rows, b.i64(shape.rows)), columnTiles = b.ceilDiv(columns, b.i64(shape.columns(b.options())));
  Value outerSize = one;
  for (const MatmulOuterDim &dim : problem.outer)
    outerSize = b.mul(outerSize, b.size(dim.size));

  KernelBuilder::Range range = b.split(b.product({outerSize, columnTiles, rowTiles}));
  b.when(b.less(range.begin, range.end), [&] {
    // A strip is one column tile; the first and the last of a worker may have only part of its rows.
    b.loop(b.div(range.begin, rowTiles), b.ceilDiv(range.end, rowTiles), one, [&](Value strip) {
      Value stripStart = b.mul(strip, rowTiles);
      Value begin = b.max(b.sub(range.begin, stripStart), b.i64(0)), end = b.min(b.sub(range.end, stripStart), rowTiles);
      Value tile = strip, lhsOffset = b.i64(0);
      rhsOffset = b.i64(0);
      outerIndices.assign(problem.outer.size(), Value());
      if (!problem.outer.empty()) {
        tile = b.rem(strip, columnTiles);
        Value rest = b.div(strip, columnTiles);
        for (size_t i = problem.outer.size(); i-- > 0;) {
          const MatmulOuterDim &dim = problem.outer[i];
          Value size = b.size(dim.size);
          outerIndices[i] = i == 0 ? rest : b.rem(rest, size);
          rest = b.div(rest, size);
          lhsOffset = b.add(lhsOffset, b.mul(outerIndices[i], b.size(dim.lhsStride)));
          rhsOffset = b.add(rhsOffset, b.mul(outerIndices[i], b.size(dim.rhsStride)));
        }
      }
      lhsBase = b.address(lhs, lhsOffset, problem.type);
      forColumns(shape.vectors, tile, b.add(tile, one), [&](unsigned vectors) {
        enterPrefetch(shape, vectors, rowTiles);
        forRows(shape, begin, end, [&](unsigned count, Value rowTile, Value firstRow, Value validRows) {
          emitTile({count, vectors}, rowTile, firstRow, validRows);
        });
      });
    });
  });
}

void MatmulEmitter::forRows(TileShape shape, Value begin, Value end,
                            llvm::function_ref<void(unsigned, Value, Value, Value)> body) {
  const unsigned rowsPerTile = shape.rows;
  Value tileRows = b.i64(rowsPerTile);
  std::optional<int64_t> known = problem.rows().constant();
  if (known) {
    int64_t fullTiles = *known / rowsPerTile;
    unsigned rest = *known % rowsPerTile, restTiles = rest != 0;
    // Two results per cycle with a latency of four cycles.
    constexpr unsigned fewestChains = 8;
    int64_t tiles = fullTiles + restTiles;
    if (rest != 0 && rest * shape.vectors < fewestChains && tiles >= rowsPerTile - rest) {
      rest = rowsPerTile - 1;
      restTiles = tiles * rowsPerTile - *known;
      fullTiles = tiles - restTiles;
    }
    if (fullTiles > 0)
      b.loop(begin, rest == 0 ? end : b.min(end, b.i64(fullTiles)), b.i64(1),
             [&](Value tile) { body(rowsPerTile, tile, b.mul(tile, tileRows), {}); });
    if (restTiles > 1)
      b.loop(b.max(begin, b.i64(fullTiles)), end, b.i64(1), [&](Value tile) {
        body(rest, tile, b.add(b.mul(tile, b.i64(rest)), b.i64(fullTiles)), {});
      });
    else if (restTiles == 1)
      b.when(b.less(b.i64(fullTiles), end), [&] { body(rest, b.i64(fullTiles), b.i64(fullTiles * rowsPerTile), {}); });
    return;
  }
  Value fullTiles = b.div(rows, tileRows);
  b.loop(begin, b.min(end, fullTiles), b.i64(1), [&](Value tile) { body(rowsPerTile, tile, b.mul(tile, tileRows), {}); });
  if (rowsPerTile <= 2) // The wide tiles are chosen by the number of rows, which they hold exactly.
    return;
  b.when(b.less(fullTiles, end), [&] {
    Value firstRow = b.mul(fullTiles, tileRows);
    Value rest = b.sub(rows, firstRow);
    std::function<void(unsigned)> choose = [&](unsigned count) {
      if (count >= rowsPerTile)
        return body(rowsPerTile, fullTiles, firstRow, rest);
      b.ifElse(b.less(rest, b.i64(count + 1)), [&] { body(count, fullTiles, firstRow, rest); }, [&] { choose(count * 2); });
    };
    choose(1);
  });
}

void MatmulEmitter::forColumns(unsigned vectorsPerTile, Value begin, Value end, llvm::function_ref<void(unsigned)> body) {
  const int64_t width = int64_t(vectorsPerTile) * b.lanes();
  auto emitFull = [&](Value tile) {
    enterColumns(tile, vectorsPerTile, vectorsPerTile, {});
    body(vectorsPerTile);
  };
  // The last column tile has fewer vectors, the last of them with a mask.
  std::optional<int64_t> known = problem.columns.constant();
  Value fullTiles = b.div(columns, b.i64(width));
  if (!known || *known >= width)
    b.loop(begin, b.min(end, fullTiles), b.i64(1), emitFull);
  if (known && *known % width == 0)
    return;
  unsigned vectors = known ? (*known % width + b.lanes() - 1) / b.lanes() : vectorsPerTile;
  b.when(b.less(fullTiles, end), [&] {
    enterColumns(fullTiles, vectorsPerTile, vectors, b.sub(columns, b.mul(fullTiles, b.i64(width))));
    body(vectors);
  });
}

void MatmulEmitter::enterColumns(Value tile, unsigned vectorsPerTile, unsigned vectors, Value remaining) {
  const int64_t width = int64_t(vectorsPerTile) * b.lanes();
  column = b.mul(tile, b.i64(width));
  tileColumns = {};
  tileColumns.storage = problem.type;
  masks.clear();
  if (remaining)
    for (unsigned v = 0; v != vectors; ++v) {
      Value left = b.sub(remaining, b.i64(int64_t(v) * b.lanes()));
      std::optional<int64_t> known = constantOf(left);
      masks.push_back(known && *known >= b.lanes() ? Value() : b.maskBelow(left, b.lanes()));
    }
  if (problem.isPacked) {
    tileColumns.pointer = b.address(rhs, b.add(rhsOffset, panelStart(b, column, depth, width)), problem.type);
    tileColumns.offsets = panelOffsets(b, vectors, depth);
    tileColumns.kStride = b.i64(panelColumns);
    return;
  }
  Value start = b.add(rhsOffset, b.mul(column, b.size(problem.rhsColumnStride)));
  tileColumns.pointer = b.address(rhs, start, problem.type);
  for (unsigned v = 0; v != vectors; ++v)
    tileColumns.offsets.push_back(b.i64(int64_t(v) * b.lanes()));
  tileColumns.kStride = b.size(problem.rhsDepthStride);
  tileColumns.masks = masks;
  if (needsPacking)
    packColumns({1, vectors});
}

void MatmulEmitter::packColumns(TileShape shape) {
  const unsigned lanes = b.lanes();
  const int64_t width = int64_t(shape.vectors) * lanes;
  if (!packBuffer) {
    // Of the widest tile that is used; depths are rounded up to whole blocks.
    int64_t widest = std::max<int64_t>(width, 8 * int64_t(lanes)) * KernelBuilder::byteSize(problem.type);
    packBuffer = b.scratch(problem.depth.ceilDiv(lanes) * (lanes * widest));
  }
  Value stride = b.size(problem.rhsColumnStride);
  const bool isTransposed = problem.rhsDepthStride.isConstant(1) && problem.type == compute;
  Value last = b.sub(b.sub(columns, column), b.i64(1));
  b.loop(b.i64(0), depth, b.i64(isTransposed ? lanes : 1), [&](Value k) {
    Value base = b.address(tileColumns.pointer, b.mul(k, tileColumns.kStride), problem.type);
    Value target = b.address(packBuffer, b.mul(k, b.i64(width)), problem.type);
    for (unsigned v = 0; v != shape.vectors; ++v) {
      Value first = b.i64(int64_t(v) * lanes);
      if (!isTransposed) {
        Value steps = arith::MulIOp::create(b, b.step(lanes), b.splat(stride, lanes));
        Value mask = tileColumns.masks.empty() ? Value() : tileColumns.masks[v];
        b.store(b.gather(b.address(base, b.mul(first, stride), problem.type), steps, problem.type, mask), target, first, problem.type);
        continue;
      }
      // Surplus columns repeat the last one; their results are not stored.
      KernelBuilder::Values block;
      Value existing = b.maskBelow(b.sub(depth, k), lanes);
      for (unsigned i = 0; i != lanes; ++i)
        block.push_back(b.load(base, b.mul(b.min(b.add(first, b.i64(i)), last), stride), problem.type, lanes, existing));
      block = transposeLanes(b, block);
      for (unsigned i = 0; i != lanes; ++i)
        b.store(block[i], target, b.add(b.i64(int64_t(i) * width), first), problem.type);
    }
  });
  tileColumns.pointer = packBuffer;
  tileColumns.kStride = b.i64(width);
  tileColumns.masks.clear();
}

void MatmulEmitter::enterPrefetch(TileShape shape, unsigned vectors, Value rowTiles) {
  nextPanels = {};
  if (!problem.isPacked || shape.rows < 4)
    return;
  const int64_t bytes = int64_t(vectors) * b.lanes() * KernelBuilder::byteSize(problem.type);
  nextPanels.base = b.address(tileColumns.pointer, b.mul(depth, b.i64(int64_t(vectors) * b.lanes())), problem.type);
  nextPanels.bytesPerK = b.ceilDiv(b.i64(bytes), rowTiles);
  // Of an unknown number of rows, assume two tiles.
  int64_t perK = (bytes + 1) / 2;
  if (std::optional<int64_t> known = problem.rows().constant())
    perK = (bytes * shape.rows + *known - 1) / std::max<int64_t>(*known, 1);
  nextPanels.lines = (perK + cacheLineBytes - 1) / cacheLineBytes;
}

void MatmulEmitter::emitTile(TileShape shape, Value tile, Value firstRow, Value validRows) {
  TileRows tileRows;
  tileRows.kStride = lhsDepthStride;
  tileRows.storage = problem.type;
  Value first = b.address(lhsBase, b.mul(firstRow, lhsRowStride), problem.type);
  for (unsigned r = 0; r != shape.rows; ++r) {
    Value row = b.i64(r);
    if (validRows && r > 0)
      row = b.min(row, b.sub(validRows, b.i64(1)));
    tileRows.pointers.push_back(b.address(first, b.mul(row, lhsRowStride), problem.type));
  }
  TilePosition position;
  position.rowIndices = [&](Value row) {
    SmallVector<Value> indices(outerIndices);
    indices.append(rowIndicesOf(b, problem, b.add(firstRow, row)));
    return indices;
  };
  position.column = column;
  position.masks = masks;
  position.validRows = shape.rows == 1 ? Value() : validRows;
  TilePrefetch prefetch = nextPanels;
  if (prefetch.lines != 0)
    prefetch.base = b.address(prefetch.base, b.mul(tile, b.mul(prefetch.bytesPerK, depth)), b.getI8Type());
  KernelBuilder::Values sums = accumulate(b, tileRows, tileColumns, depth, zeroAccumulators(b, shape, compute), prefetch);
  epilogue.emit(shape, position, sums);
}

} // namespace

SmallVector<Value> rowIndicesOf(KernelBuilder &b, const MatmulProblem &problem, Value row) {
  SmallVector<Value> indices(problem.rowDims.size());
  for (size_t i = problem.rowDims.size(); i-- > 0;) {
    Value size = b.size(problem.rowDims[i]);
    indices[i] = i == 0 ? row : b.rem(row, size);
    row = i == 0 ? row : b.div(row, size);
  }
  return indices;
}

void emitMatmul(KernelBuilder &b, const MatmulProblem &problem, Value lhs, Value rhs, ContractionEpilogue &epilogue) {
  MatmulEmitter(b, problem, lhs, rhs, epilogue).run();
}

} // namespace stator::kernel
