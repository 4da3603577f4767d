//===- WinogradKernel.cpp - order of a Winograd convolution ----------------===//
//
// The tiles of all images are one linear index space, cut into blocks. For a
// block, the input transform fills V [n*n][tiles][channels]; then, for each
// group of output channels, n*n small matrix products V[e] x U[e] fill M
// [n*n][tiles][columns], and the output transform of the group follows at once,
// with the epilogue. The weights U are streamed front to back once per block.
//
// A block's size keeps V and M in the second-level cache, but is large enough
// that streaming U stays below the bandwidth of the third level.
//
// Units of work are (block, group) pairs in that order, shared out to the
// workers in contiguous runs. A worker that starts inside of a block transforms
// the block's input itself: at most one block per worker is transformed twice,
// which costs less than a barrier and the traffic between cores would, and
// layers with one block still use all workers.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/WinogradKernel.h"

#include "dialects/Target/PackedLayouts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace stator::kernel {

/// Elements between rows of V beside the channels, and between elements e of V and M: strides that are no power of two.
static constexpr int64_t padding = 16;
/// V and M of a block take about this much of the second-level cache.
static constexpr int64_t blockBytes = 400 << 10;
/// Row tiles of a block, at least, unless there are fewer tiles: weights are read once per block.
static constexpr int64_t leastRowTiles = 2;
/// A block with fewer tiles is not worth a second worker.
static constexpr int64_t leastTilesPerWorker = 4;
/// Bytes that a prefetch brings.
static constexpr int64_t cacheLine = 64;

namespace {

/// Sizes of a block.
struct BlockShape {
  TileShape tile;        // of a product: rows are tiles of the image
  int64_t rowTiles = 1;  // per block
  int64_t tiles() const { return int64_t(tile.rows) * rowTiles; }
};

class WinogradEmitter {
public:
  WinogradEmitter(KernelBuilder &b, const ConvolutionProblem &problem, unsigned tile, Value input, Value filter,
                  ContractionEpilogue &epilogue)
      : b(b), problem(problem), transform(tile), transforms(b, problem, tile, input, epilogue), filter(filter) {}

  void run();

private:
  void chooseBlock();
  void emitBlock(Value block, KernelBuilder::Range range);
  void emitGroup(Value group, unsigned vectors);
  void emitProducts(Value element, Value group, unsigned vectors);
  void emitProduct(Value weights, Value next, Value row, unsigned rows, unsigned vectors, Value element);
  Value weightsAt(Value column, Value element);

  int64_t columns() const { return block.tile.columns(b.options()); }
  int64_t groups() const { return (problem.outputs + columns() - 1) / columns(); }
  int64_t vectorsOf(int64_t outputs) const { return (outputs + b.lanes() - 1) / b.lanes(); }

  KernelBuilder &b;
  const ConvolutionProblem &problem;
  WinogradTransform transform;
  WinogradTransforms transforms;
  Value filter;
  BlockShape block;
  /// Elements from one row (tile) or element of V or M to the next.
  int64_t rowV = 0, elementV = 0, rowM = 0, elementM = 0;
  Value v, m;

  // Of the block being emitted.
  Value firstTile, count;
};

void WinogradEmitter::chooseBlock() {
  block.tile = mainTile(b.options(), problem.type);
  const int64_t most = block.tile.rows, n2 = transform.elements();
  int64_t bytesPerTile = n2 * (problem.channels + padding + columns()) * KernelBuilder::byteSize(problem.type);
  int64_t fits = std::max(blockBytes / bytesPerTile, leastRowTiles * most);
  // As many tiles in each block, and as many rows in each product, as evenness allows.
  int64_t total = std::max<int64_t>(1, constantOf(transforms.tileCount()).value_or(fits));
  if (groups() == 1 && total >= 2 * leastTilesPerWorker)
    fits = std::min(fits, (total + 1) / 2); // Or one worker would do everything.
  int64_t tiles = evenRows(total, fits);
  block.tile.rows = evenRows(tiles, most);
  block.rowTiles = (tiles + block.tile.rows - 1) / block.tile.rows;
}

void WinogradEmitter::run() {
  chooseBlock();
  const int64_t n2 = transform.elements(), bytes = KernelBuilder::byteSize(problem.type);
  rowV = vectorsOf(problem.channels) * b.lanes() + padding;
  elementV = block.tiles() * rowV + padding;
  rowM = columns();
  elementM = block.tiles() * rowM + padding;
  v = b.scratch(n2 * elementV * bytes);
  m = b.scratch(n2 * elementM * bytes);

  Value blocks = b.ceilDiv(transforms.tileCount(), b.i64(block.tiles()));
  KernelBuilder::Range range = b.split(b.mul(blocks, b.i64(groups())));
  b.when(b.less(range.begin, range.end), [&] {
    b.loop(b.div(range.begin, b.i64(groups())), b.ceilDiv(range.end, b.i64(groups())), b.i64(1), [&](Value i) { emitBlock(i, range); });
  });
}

void WinogradEmitter::emitBlock(Value i, KernelBuilder::Range range) {
  firstTile = b.mul(i, b.i64(block.tiles()));
  count = b.min(b.i64(block.tiles()), b.sub(transforms.tileCount(), firstTile));
  b.loop(b.i64(0), count, b.i64(1), [&](Value slot) {
    Value base = b.address(v, b.mul(slot, b.i64(rowV)), problem.type);
    transforms.emitInput(b.add(firstTile, slot), {base, elementV});
  });
  Value firstUnit = b.mul(i, b.i64(groups()));
  Value begin = b.max(b.sub(range.begin, firstUnit), b.i64(0)), end = b.min(b.sub(range.end, firstUnit), b.i64(groups()));
  int64_t rest = problem.outputs % columns();
  unsigned restVectors = vectorsOf(rest);
  b.loop(begin, end, b.i64(1), [&](Value group) {
    if (rest == 0)
      emitGroup(group, block.tile.vectors);
    else if (groups() == 1)
      emitGroup(group, restVectors);
    else
      b.ifElse(
          b.less(group, b.i64(groups() - 1)), [&] { emitGroup(group, block.tile.vectors); }, [&] { emitGroup(group, restVectors); });
  });
}

void WinogradEmitter::emitGroup(Value group, unsigned vectors) {
  b.loop(b.i64(0), b.i64(transform.elements()), b.i64(1), [&](Value element) { emitProducts(element, group, vectors); });

  SmallVector<Value> masks(vectors);
  // Only the last group can have outputs that are no whole number of vectors.
  if (problem.outputs % b.lanes() != 0 && vectorsOf(problem.outputs % columns()) == vectors) {
    Value left = b.sub(b.i64(problem.outputs), b.add(b.mul(group, b.i64(columns())), b.i64(int64_t(vectors - 1) * b.lanes())));
    masks.back() = b.maskBelow(left, b.lanes());
  }
  b.loop(b.i64(0), count, b.i64(1), [&](Value slot) {
    Value base = b.address(m, b.mul(slot, b.i64(rowM)), problem.type);
    transforms.emitOutput(b.add(firstTile, slot), {base, elementM}, b.mul(group, b.i64(columns())), masks);
  });
}

/// The weights of an element for the columns from `column` on.
Value WinogradEmitter::weightsAt(Value column, Value element) {
  // Panels are 16 columns wide; a group is several panels, or a part of one.
  Value panel = b.div(column, b.i64(panelColumns)), inside = b.rem(column, b.i64(panelColumns));
  if (columns() % panelColumns == 0)
    inside = b.i64(0);
  Value start = b.mul(b.add(b.mul(panel, b.i64(transform.elements())), element), b.i64(problem.channels * panelColumns));
  return b.address(filter, b.add(start, inside), problem.type);
}

void WinogradEmitter::emitProducts(Value element, Value group, unsigned vectors) {
  const int64_t rows = block.tile.rows;
  Value column = b.mul(group, b.i64(columns())), weights = weightsAt(column, element);
  // What comes next: the next element, or the first one of the next group.
  Value isLast = b.compare(arith::CmpIPredicate::eq, element, b.i64(transform.elements() - 1));
  Value next = b.select(isLast, weightsAt(b.add(column, b.i64(columns())), b.i64(0)), weightsAt(column, b.add(element, b.i64(1))));

  std::optional<int64_t> total = constantOf(transforms.tileCount());
  int64_t rest = total ? *total % block.tiles() % rows : 0;
  Value whole = rest ? b.mul(b.div(count, b.i64(rows)), b.i64(rows)) : count;
  // With a symbolic number of tiles the last product may compute rows of no tile, which are not read.
  b.loop(b.i64(0), whole, b.i64(rows), [&](Value row) { emitProduct(weights, next, row, rows, vectors, element); });
  if (rest)
    b.when(b.less(whole, count), [&] { emitProduct(weights, next, whole, rest, vectors, element); });
}

void WinogradEmitter::emitProduct(Value weights, Value next, Value row, unsigned rows, unsigned vectors, Value element) {
  const int64_t lanes = b.lanes(), panel = int64_t(transform.elements()) * problem.channels * panelColumns;
  const int64_t bytes = KernelBuilder::byteSize(problem.type);
  Value left = b.address(v, b.add(b.mul(element, b.i64(elementV)), b.mul(row, b.i64(rowV))), problem.type);
  // Each product of a block fetches its part of the next weights, so that memory is read at an even pace.
  const int64_t parts = block.rowTiles, fetchStep = (cacheLine + parts - 1) / parts;
  Type byte = b.getI8Type();
  Value part = b.div(row, b.i64(block.tile.rows));
  Value ahead = b.address(next, b.mul(part, b.i64(fetchStep * problem.channels)), byte);
  KernelBuilder::Values sums = b.loop(
      b.i64(0), b.i64(problem.channels), b.i64(1), zeroAccumulators(b, {rows, vectors}, problem.type), [&](Value k, ValueRange carried) {
        KernelBuilder::Values sums(carried);
        SmallVector<Value> columns;
        for (unsigned j = 0; j != vectors; ++j) {
          int64_t column = int64_t(j) * lanes, place = column / panelColumns * panel + column % panelColumns;
          columns.push_back(b.load(b.address(weights, b.i64(place), problem.type), b.mul(k, b.i64(panelColumns)), problem.type, lanes));
          if (column % panelColumns == 0) {
            Value line = b.address(b.address(ahead, b.i64(place * bytes), byte), b.mul(k, b.i64(fetchStep)), byte);
            LLVM::Prefetch::create(b, line, /*rw=*/0, /*hint=*/2, /*cache=*/1); // Into the second level.
          }
        }
        for (unsigned r = 0; r != rows; ++r) {
          Value scalar = b.loadSplat(b.address(left, b.i64(int64_t(r) * rowV), problem.type), k, problem.type, lanes);
          for (unsigned j = 0; j != vectors; ++j)
            sums[r * vectors + j] = multiplyAdd(b, scalar, columns[j], sums[r * vectors + j]);
        }
        return sums;
      });
  Value to = b.address(m, b.add(b.mul(element, b.i64(elementM)), b.mul(row, b.i64(rowM))), problem.type);
  for (unsigned r = 0; r != rows; ++r)
    for (unsigned j = 0; j != vectors; ++j)
      b.store(sums[r * vectors + j], to, b.i64(int64_t(r) * rowM + int64_t(j) * lanes), problem.type);
}

} // namespace

void emitWinograd(KernelBuilder &b, const ConvolutionProblem &problem, unsigned tile, Value input, Value filter,
                  ContractionEpilogue &epilogue) {
  WinogradEmitter(b, problem, tile, input, filter, epilogue).run();
}

} // namespace stator::kernel
