//===- ConvolutionKernel.cpp - tiles and order of a direct convolution -----===//
//
// An output row (or, for narrow images, a few rows) is cut into tiles of up to
// 14 pixels by 32 channels. With a known width the tiles divide it evenly and
// each knows which of its taps are outside; all tiles inside of the border
// share one loop. With a symbolic width a tile tests once whether it touches
// the border.
//
// Order: column tile (output channels) outermost when the filter is large, so
// that its panels are read from memory once and stay in cache over the image;
// rows outermost when the whole filter fits the second-level cache, so that
// the image is read once. Both orders are one flat index space, shared out to
// the workers in contiguous runs.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ConvolutionKernel.h"

#include "dialects/Target/PackedLayouts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator::kernel {

/// Filters up to this size are kept in cache while rows pass.
static constexpr int64_t residentFilterBytes = 384 << 10;
/// With more tiles per panel than this, a panel that comes from memory is a small part of the time.
static constexpr int64_t maxTilesWithPrefetch = 16;
/// More taps along the width than this are not told apart one by one at the border.
static constexpr int64_t maxSeparateTaps = 12;

namespace {

class ConvolutionEmitter {
public:
  ConvolutionEmitter(KernelBuilder &b, const ConvolutionProblem &problem, Value input, Value filter, ContractionEpilogue &epilogue)
      : b(b), problem(problem), epilogue(epilogue), input(input), filter(filter), compute(KernelBuilder::computeType(problem.type)) {
    DimExpr stride = problem.pixelStride;
    operands.strides.resize(problem.axes.size());
    for (size_t i = problem.axes.size(); i-- > 0;) {
      operands.strides[i] = b.size(stride);
      stride = stride * problem.axes[i].input;
    }
    imageStride = b.size(stride);
  }

  void run();

private:
  void chooseTile();
  void choosePrefetch(Value rowBlocks);
  void emitUnit(Value columnTile, Value rowBlock);
  void emitRowBlock(TileShape shape, unsigned height);
  void emitStaticRow(TileShape shape, unsigned height);
  void emitSymbolicRow(TileShape shape, unsigned height);
  void emitTile(PixelTile tile, Value firstColumn, const TapColumns *columns, Value validRows);
  TapColumns tapColumns(int64_t firstColumn, unsigned width) const;
  bool isInterior(const TapColumns &columns, unsigned width) const;
  Value depth() { return b.i64(problem.totalTaps() * problem.groupChannels()); }

  KernelBuilder &b;
  const ConvolutionProblem &problem;
  ContractionEpilogue &epilogue;
  Value input, filter;
  Type compute;
  Value imageStride;
  ConvolutionOperands operands;
  PixelTile pixelTile;
  unsigned vectors = 1;
  /// Bytes of the next panels that each k of a tile asks for; 0 for none.
  int64_t prefetchPerK = 0;
  int64_t tilesPerRow = 1;
  Value nextPanels;

  // Of the unit being emitted.
  Value image, firstChannel;
  SmallVector<Value> outputs; // per axis; the width's is of the tile
  SmallVector<Value> masks;
};

/// Cycles per k and output of `tiles` of a shape: two multiply-adds or two loads per cycle, and four cycles until an accumulator can be
/// used again.
static double tileCost(int64_t pixels, unsigned vectors) {
  return pixels == 0 ? 0 : std::max({pixels * vectors / 2.0, (pixels + vectors) / 2.0, 4.0});
}

void ConvolutionEmitter::chooseTile() {
  TileShape main = mainTile(b.options(), compute);
  vectors = main.vectors;
  pixelTile = {1, main.rows};
  const ConvolutionAxis &width = problem.width();
  std::optional<int64_t> columns = width.output.constant(), rows;
  if (!columns || *columns == 0)
    return;
  if (problem.axes.size() >= 2 && width.taps <= maxSeparateTaps)
    rows = problem.axes[problem.axes.size() - 2].output.constant();

  // Of two-register types the accumulators' budget takes care.
  const int64_t registers = b.options().vectorRegisters;
  double best = 0;
  for (unsigned tryVectors = 1; tryVectors <= 4; tryVectors *= 2) {
    const int64_t columnTiles = (problem.groupOutputs() + tryVectors * b.lanes() - 1) / (tryVectors * b.lanes());
    // Beside the accumulators there are registers for the row of weights and a broadcast pixel.
    const int64_t most = std::min<int64_t>(main.accumulators(), registers - 1 - tryVectors) / tryVectors;
    for (int64_t w = std::min(most, *columns); w >= 1; --w)
      for (int64_t h = 1; h == 1 || (rows && w == *columns && h <= *rows && h * w <= most); ++h) {
        int64_t allRows = rows.value_or(1), fullRows = allRows / h, restRows = allRows % h;
        double cost = *columns / w * (fullRows * tileCost(h * w, tryVectors) + (restRows ? tileCost(restRows * w, tryVectors) : 0));
        int64_t rest = *columns % w;
        cost += fullRows * tileCost(h * rest, tryVectors) + (restRows ? tileCost(restRows * rest, tryVectors) : 0);
        // Fewer tiles at equal cost: the panel is read less often.
        cost = columnTiles * (cost + 0.1 * ((*columns + w - 1) / w) * ((allRows + h - 1) / h));
        if (best != 0 && cost >= best)
          continue;
        best = cost;
        vectors = tryVectors;
        pixelTile = {static_cast<unsigned>(h), static_cast<unsigned>(w)};
      }
  }
}

void ConvolutionEmitter::run() {
  chooseTile();
  if (!problem.width().output.isConstant() || problem.width().taps > maxSeparateTaps) {
    int64_t bytes = problem.groupChannels() * KernelBuilder::byteSize(problem.type);
    operands.zeros = b.scratch(bytes);
    b.loop(b.i64(0), b.i64(bytes), b.i64(1), [&](Value i) { b.store(b.zero(b.getI8Type()), operands.zeros, i, b.getI8Type()); });
  }

  const int64_t width = int64_t(vectors) * b.lanes();
  const int64_t tilesPerGroup = (problem.groupOutputs() + width - 1) / width;
  Value columnTiles = b.i64(problem.groups * tilesPerGroup);
  Value rowBlocks = b.size(problem.batch);
  for (size_t i = 0; i + 1 < problem.axes.size(); ++i) {
    Value rows = b.size(problem.axes[i].output);
    rowBlocks = b.mul(rowBlocks, i + 2 == problem.axes.size() ? b.ceilDiv(rows, b.i64(pixelTile.height)) : rows);
  }
  int64_t filterBytes = problem.groups * panelsOf(problem.groupOutputs()) * panelColumns * problem.totalTaps() * problem.groupChannels() *
                        KernelBuilder::byteSize(problem.type);
  bool rowsOutermost = filterBytes <= residentFilterBytes;
  if (!rowsOutermost)
    choosePrefetch(rowBlocks);

  Value inner = rowsOutermost ? columnTiles : rowBlocks;
  KernelBuilder::Range range = b.split(b.mul(columnTiles, rowBlocks));
  b.loop(range.begin, range.end, b.i64(1), [&](Value unit) {
    Value major = b.div(unit, inner), minor = b.rem(unit, inner);
    emitUnit(rowsOutermost ? minor : major, rowsOutermost ? major : minor);
  });
}

/// A large filter comes from memory, panels after panels. While one is multiplied, the tiles ask for their shares of the next.
void ConvolutionEmitter::choosePrefetch(Value rowBlocks) {
  APInt blocks;
  std::optional<int64_t> columns = problem.width().output.constant();
  if (!columns || *columns == 0 || !matchPattern(rowBlocks, m_ConstantInt(&blocks)) || blocks.isZero())
    return;
  tilesPerRow = (*columns + pixelTile.width - 1) / pixelTile.width;
  int64_t tiles = blocks.getSExtValue() * tilesPerRow;
  int64_t panelBytes = int64_t(vectors) * b.lanes() * KernelBuilder::byteSize(problem.type); // per k
  if (tiles <= maxTilesWithPrefetch)
    prefetchPerK = (panelBytes + tiles - 1) / tiles;
}

void ConvolutionEmitter::emitUnit(Value columnTile, Value rowBlock) {
  const int64_t width = int64_t(vectors) * b.lanes();
  const int64_t tilesPerGroup = (problem.groupOutputs() + width - 1) / width;
  Value group = b.div(columnTile, b.i64(tilesPerGroup)), tile = b.rem(columnTile, b.i64(tilesPerGroup));
  Value column = b.mul(tile, b.i64(width));

  // Which image, and which row of each outer axis.
  outputs.assign(problem.axes.size(), b.i64(0));
  Value rest = rowBlock, block;
  for (size_t i = problem.axes.size() - 1; i-- > 0;) {
    Value count = b.size(problem.axes[i].output);
    bool isHeight = i + 2 == problem.axes.size();
    if (isHeight)
      count = b.ceilDiv(count, b.i64(pixelTile.height));
    outputs[i] = b.rem(rest, count);
    rest = b.div(rest, count);
    if (isHeight) {
      block = outputs[i];
      outputs[i] = b.mul(block, b.i64(pixelTile.height));
    }
  }
  image = rest;
  firstChannel = b.add(b.mul(group, b.i64(problem.groupOutputs())), column);
  Value inputOffset = b.add(b.mul(image, imageStride), b.mul(group, b.i64(problem.groupChannels())));
  operands.input = b.address(input, inputOffset, problem.type);
  Value groupStart = b.mul(b.mul(group, b.i64(panelsOf(problem.groupOutputs()) * panelColumns)), depth());
  Value filterStart = b.add(groupStart, panelStart(b, column, depth(), width));
  operands.filter = {};
  operands.filter.pointer = b.address(filter, filterStart, problem.type);
  operands.filter.kStride = b.i64(panelColumns);
  operands.filter.storage = problem.type;
  if (prefetchPerK > 0) {
    Value panels = b.address(operands.filter.pointer, b.mul(b.i64(width), depth()), problem.type);
    nextPanels = b.address(panels, b.mul(b.mul(rowBlock, b.i64(tilesPerRow * prefetchPerK)), depth()), b.getI8Type());
  }

  auto emitColumns = [&](unsigned tileVectors, int64_t remaining) {
    operands.filter.offsets = panelOffsets(b, tileVectors, depth());
    masks.assign(tileVectors, Value());
    if (remaining % b.lanes() != 0 && remaining < int64_t(tileVectors) * b.lanes())
      masks.back() = b.maskBelow(b.i64(remaining % b.lanes()), b.lanes());
    // The last block of rows may be lower.
    std::optional<int64_t> rows;
    if (pixelTile.height > 1)
      rows = problem.axes[problem.axes.size() - 2].output.constant();
    unsigned restRows = rows ? *rows % pixelTile.height : 0;
    TileShape shape{0, tileVectors};
    if (restRows == 0)
      return emitRowBlock(shape, pixelTile.height);
    b.ifElse(
        b.less(block, b.i64(*rows / pixelTile.height)), [&] { emitRowBlock(shape, pixelTile.height); },
        [&] { emitRowBlock(shape, restRows); });
  };
  int64_t restColumns = problem.groupOutputs() % width;
  unsigned restVectors = (restColumns + b.lanes() - 1) / b.lanes();
  if (restColumns == 0)
    emitColumns(vectors, width);
  else if (tilesPerGroup == 1)
    emitColumns(restVectors, restColumns);
  else
    b.ifElse(b.less(tile, b.i64(tilesPerGroup - 1)), [&] { emitColumns(vectors, width); }, [&] { emitColumns(restVectors, restColumns); });
}

void ConvolutionEmitter::emitRowBlock(TileShape shape, unsigned height) {
  if (!operands.zeros)
    emitStaticRow(shape, height);
  else
    emitSymbolicRow(shape, height);
}

TapColumns ConvolutionEmitter::tapColumns(int64_t firstColumn, unsigned width) const {
  const ConvolutionAxis &axis = problem.width();
  // Of a symbolic input width only the left border is known here; such tiles are only asked for when inside.
  std::optional<int64_t> input = axis.input.constant();
  TapColumns result;
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    unsigned begin = 0, end = width;
    while (begin < end && axis.position(firstColumn + begin, tap) < 0)
      ++begin;
    while (begin < end && input && axis.position(firstColumn + end - 1, tap) >= *input)
      --end;
    result.emplace_back(begin, end);
  }
  return result;
}

bool ConvolutionEmitter::isInterior(const TapColumns &columns, unsigned width) const {
  return llvm::all_of(columns, [&](auto range) { return range.first == 0 && range.second == width; });
}

void ConvolutionEmitter::emitStaticRow(TileShape shape, unsigned height) {
  const int64_t total = *problem.width().output.constant();
  const unsigned width = pixelTile.width;
  for (int64_t column = 0; column < total;) {
    unsigned tileWidth = std::min<int64_t>(width, total - column);
    TapColumns columns = tapColumns(column, tileWidth);
    // Count the tiles from here on that are as this one.
    int64_t next = column + tileWidth;
    while (next + width <= total && tileWidth == width && tapColumns(next, width) == columns)
      next += width;
    if (next == column + tileWidth)
      emitTile({height, tileWidth}, b.i64(column), &columns, {});
    else
      b.loop(b.i64(column), b.i64(next), b.i64(width), [&](Value first) { emitTile({height, width}, first, &columns, {}); });
    column = next;
  }
}

void ConvolutionEmitter::emitSymbolicRow(TileShape shape, unsigned height) {
  const ConvolutionAxis &axis = problem.width();
  const unsigned width = pixelTile.width;
  TapColumns inside(axis.taps, {0u, width});
  Value total = b.size(axis.output), inputWidth = b.size(axis.input);
  b.loop(b.i64(0), total, b.i64(width), [&](Value first) {
    Value start = b.sub(b.mul(first, b.i64(axis.stride)), b.i64(axis.padLow));
    Value end = b.add(start, b.i64(int64_t(width - 1) * axis.stride + (axis.taps - 1) * axis.dilation));
    Value isInside = arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, start, b.i64(0)), b.less(end, inputWidth));
    Value remaining = b.sub(total, first);
    isInside = arith::AndIOp::create(b, isInside, b.compare(arith::CmpIPredicate::sge, remaining, b.i64(width)));
    b.ifElse(
        isInside, [&] { emitTile({height, width}, first, &inside, {}); },
        [&] { emitTile({height, width}, first, nullptr, b.min(remaining, b.i64(width))); });
  });
}

void ConvolutionEmitter::emitTile(PixelTile tile, Value firstColumn, const TapColumns *columns, Value validRows) {
  outputs.back() = firstColumn;
  if (prefetchPerK > 0) {
    Value share = b.mul(b.div(firstColumn, b.i64(pixelTile.width)), b.mul(b.i64(prefetchPerK), depth()));
    operands.prefetch = {b.address(nextPanels, share, b.getI8Type()), b.i64(prefetchPerK), unsigned((prefetchPerK + 63) / 64)};
  }
  KernelBuilder::Values sums = emitConvolutionTile(b, problem, operands, tile, outputs, columns);
  TilePosition position;
  position.rowIndices = [&](Value row) {
    SmallVector<Value> indices{image};
    indices.append(outputs);
    Value width = b.i64(tile.width);
    indices.back() = b.add(firstColumn, tile.height == 1 ? row : b.rem(row, width));
    if (tile.height > 1)
      indices[indices.size() - 2] = b.add(indices[indices.size() - 2], b.div(row, width));
    return indices;
  };
  position.column = firstChannel;
  position.masks = masks;
  position.validRows = validRows;
  epilogue.emit({tile.pixels(), static_cast<unsigned>(operands.filter.offsets.size())}, position, sums);
}

} // namespace

void emitConvolution(KernelBuilder &b, const ConvolutionProblem &problem, Value input, Value filter, ContractionEpilogue &epilogue) {
  ConvolutionEmitter(b, problem, input, filter, epilogue).run();
}

} // namespace stator::kernel
