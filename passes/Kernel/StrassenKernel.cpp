//===- StrassenKernel.cpp - products of halves with 7 multiplications ------===//
//
// The rows are cut into blocks of at most 160, so that the sums of quadrants of
// the left side stay near. For a block, each worker makes these sums in its own
// scratch (they are a few percent of the work, and sharing them would need a
// barrier). Then, column tile by column tile of half the columns: the seven
// products, one after the other, each in register tiles over all rows of half
// a block. A register tile is added to the quadrants of the result that it is
// part of, which wait in scratch (half a block of rows by one column tile: first
// level cache). The last product of a quadrant does not store the sum but takes
// it to the epilogue.
//
// Rows that are missing in the last block repeat the last row; nothing is stored
// for them, and other rows do not depend on them.
//
// Each element is the same sequence of operations whatever worker computes it,
// so results do not depend on the number of workers.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/StrassenKernel.h"

#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Strassen.h"

using namespace mlir;

namespace stator::kernel {

namespace {

/// The first and the last product that is part of a quadrant.
int firstOf(int quadrant) {
  int product = 0;
  while (strassen::result[product][quadrant] == 0)
    ++product;
  return product;
}
int lastOf(int quadrant) {
  int product = strassen::products - 1;
  while (strassen::result[product][quadrant] == 0)
    --product;
  return product;
}

class StrassenEmitter {
public:
  StrassenEmitter(KernelBuilder &b, const MatmulProblem &problem, Value lhs, Value rhs, ContractionEpilogue &epilogue)
      : b(b), problem(problem), epilogue(epilogue), lhs(lhs), rhs(rhs), type(problem.type), total(*problem.rows().constant()),
        depth(*problem.depth.constant() / 2), columns(*problem.columns.constant() / 2), sumStride(depth + panelColumns) {
    chooseTile();
    sums = b.scratch(strassen::products * half * sumStride * KernelBuilder::byteSize(type));
    quadrants = b.scratch(4 * half * width * KernelBuilder::byteSize(type));
  }

  void run() {
    const int64_t columnTiles = columns / width;
    Value perBlock = b.i64(columnTiles), one = b.i64(1);
    KernelBuilder::Range range = b.split(b.i64(blocks * columnTiles));
    b.when(b.less(range.begin, range.end), [&] {
      b.loop(b.div(range.begin, perBlock), b.ceilDiv(range.end, perBlock), one, [&](Value block) {
        Value start = b.mul(block, perBlock);
        firstRow = b.mul(block, b.i64(2 * half));
        emitSums();
        b.loop(b.max(b.sub(range.begin, start), b.i64(0)), b.min(b.sub(range.end, start), perBlock), one, [&](Value tile) {
          column = b.mul(tile, b.i64(width));
          for (int product = 0; product != strassen::products; ++product)
            emitProduct(product);
        });
      });
    });
  }

private:
  void chooseTile();
  void emitSums();
  void emitProduct(int product);
  void addTo(int quadrant, int product, Value rowTile, ValueRange values);
  void finish(int quadrant, Value rowTile, ValueRange values);

  /// The columns of the weights of a product.
  Value weightsOf(int product, Value column) {
    return b.address(b.address(rhs, b.i64(product * depth * columns), type), panelStart(b, column, b.i64(depth), width), type);
  }

  KernelBuilder &b;
  const MatmulProblem &problem;
  ContractionEpilogue &epilogue;
  Value lhs, rhs;
  Type type;
  /// Rows of the product; depth and columns of a half; elements from one row of sums to the next, no power of two.
  const int64_t total, depth, columns, sumStride;
  TileShape shape;
  /// Blocks of 2 * half rows, half = rowTiles * shape.rows, and columns of a tile.
  int64_t blocks = 1, half = 0, rowTiles = 0, width = 0;
  Value sums, quadrants;
  // Of the block, and of the column tile, that are being emitted.
  Value firstRow, column;
};

void StrassenEmitter::chooseTile() {
  constexpr int64_t mostRows = 160;
  blocks = (total + mostRows - 1) / mostRows;
  const int64_t wanted = (total + 2 * blocks - 1) / (2 * blocks);
  SmallVector<TileShape> shapes = {mainTile(b.options(), type)};
  if (b.options().vectorRegisters >= 32)
    shapes = {{8, 3}, {12, 2}};
  for (TileShape candidate : shapes) {
    if (columns % candidate.columns(b.options()) != 0)
      continue;
    int64_t tiles = (wanted + candidate.rows - 1) / candidate.rows;
    candidate.rows = (wanted + tiles - 1) / tiles;
    if (half != 0 && tiles * candidate.rows >= half)
      continue;
    shape = candidate;
    rowTiles = tiles;
    half = tiles * candidate.rows;
  }
  width = shape.columns(b.options());
}

void StrassenEmitter::emitSums() {
  const unsigned lanes = b.lanes();
  Value last = b.i64(total - 1), rowStride = b.size(problem.lhsRowStride);
  b.loop(b.i64(0), b.i64(half), b.i64(1), [&](Value row) {
    Value rows[2] = {b.min(b.add(firstRow, row), last), b.min(b.add(b.add(firstRow, b.i64(half)), row), last)};
    Value sources[2] = {b.address(lhs, b.mul(rows[0], rowStride), type), b.address(lhs, b.mul(rows[1], rowStride), type)};
    Value target = b.address(sums, b.mul(row, b.i64(sumStride)), type);
    b.loop(b.i64(0), b.i64(depth), b.i64(lanes), [&](Value k) {
      Value parts[4];
      for (int q = 0; q != 4; ++q)
        parts[q] = b.load(sources[q / 2], b.add(k, b.i64(q % 2 * depth)), type, lanes);
      for (int product = 0; product != strassen::products; ++product) {
        const int *signs = strassen::left[product];
        Value sum;
        for (int q = 0; q != 4; ++q) // A positive one first.
          if (signs[q] > 0)
            sum = sum ? arith::AddFOp::create(b, sum, parts[q]).getResult() : parts[q];
        for (int q = 0; q != 4; ++q)
          if (signs[q] < 0)
            sum = arith::SubFOp::create(b, sum, parts[q]);
        b.store(sum, target, b.add(k, b.i64(product * half * sumStride)), type);
      }
    });
  });
}

void StrassenEmitter::emitProduct(int product) {
  TileColumns tileColumns;
  tileColumns.storage = type;
  tileColumns.pointer = weightsOf(product, column);
  tileColumns.offsets = panelOffsets(b, shape.vectors, b.i64(depth));
  tileColumns.kStride = b.i64(panelColumns);
  // While the tiles of a product run, the weights of the next one are fetched.
  bool isLast = product + 1 == strassen::products;
  Value next = weightsOf(isLast ? 0 : product + 1, isLast ? b.add(column, b.i64(width)) : column);
  const int64_t perK = (width * KernelBuilder::byteSize(type) + rowTiles - 1) / rowTiles;
  b.loop(b.i64(0), b.i64(rowTiles), b.i64(1), [&](Value rowTile) {
    TileRows rows;
    rows.kStride = b.i64(1);
    rows.storage = type;
    Value first = b.address(sums, b.add(b.i64(product * half * sumStride), b.mul(rowTile, b.i64(shape.rows * sumStride))), type);
    for (unsigned r = 0; r != shape.rows; ++r)
      rows.pointers.push_back(b.address(first, b.i64(r * sumStride), type));
    TilePrefetch prefetch;
    prefetch.base = b.address(next, b.mul(rowTile, b.i64(perK * depth)), b.getI8Type());
    prefetch.bytesPerK = b.i64(perK);
    prefetch.lines = (perK + cacheLineBytes - 1) / cacheLineBytes;
    KernelBuilder::Values values =
        accumulate(b, rows, tileColumns, b.i64(depth), zeroAccumulators(b, shape, type), prefetch);
    for (int quadrant = 0; quadrant != 4; ++quadrant)
      if (strassen::result[product][quadrant] != 0)
        addTo(quadrant, product, rowTile, values);
  });
}

void StrassenEmitter::addTo(int quadrant, int product, Value rowTile, ValueRange values) {
  Value base = b.address(quadrants, b.add(b.i64(quadrant * half * width), b.mul(rowTile, b.i64(shape.rows * width))), type);
  const bool isFirst = product == firstOf(quadrant), isLast = product == lastOf(quadrant);
  KernelBuilder::Values results;
  for (auto [i, value] : llvm::enumerate(values)) {
    Value place = b.i64(int64_t(i) * b.lanes());
    Value result = value;
    if (!isFirst) {
      Value before = b.load(base, place, type, b.lanes());
      result = strassen::result[product][quadrant] > 0 ? arith::AddFOp::create(b, before, value).getResult()
                                                       : arith::SubFOp::create(b, before, value).getResult();
    }
    results.push_back(result);
    if (!isLast)
      b.store(result, base, place, type);
  }
  if (isLast)
    finish(quadrant, rowTile, results);
}

void StrassenEmitter::finish(int quadrant, Value rowTile, ValueRange values) {
  Value row = b.add(b.add(firstRow, b.i64(quadrant / 2 * half)), b.mul(rowTile, b.i64(shape.rows)));
  TilePosition position;
  position.rowIndices = [&](Value offset) { return rowIndicesOf(b, problem, b.add(row, offset)); };
  position.column = b.add(column, b.i64(quadrant % 2 * columns));
  if (blocks * 2 * half == total)
    return epilogue.emit(shape, position, values);
  Value remaining = b.sub(b.i64(total), row);
  b.ifElse(
      b.less(remaining, b.i64(shape.rows)),
      [&] {
        b.when(b.less(b.i64(0), remaining), [&] {
          position.validRows = remaining;
          epilogue.emit(shape, position, values);
        });
      },
      [&] {
        position.validRows = {};
        epilogue.emit(shape, position, values);
      });
}

} // namespace

void emitStrassen(KernelBuilder &b, const MatmulProblem &problem, Value lhs, Value rhs, ContractionEpilogue &epilogue) {
  StrassenEmitter(b, problem, lhs, rhs, epilogue).run();
}

} // namespace stator::kernel
