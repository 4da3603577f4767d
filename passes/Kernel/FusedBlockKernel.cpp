//===- FusedBlockKernel.cpp - expand, depthwise, project in one kernel -----===//
//
// The image is worked on in steps of one or two output rows. For each panel of
// channels (a few vectors), a step first expands the input rows that it needs
// and the step before did not have, into a ring of rows in the worker's scratch;
// then the depthwise filter reads its rows out of the ring. New rows are still
// in the first-level cache then, old ones in the second. The ring has columns of
// zeros on both sides, and a row of zeros stands for rows outside of the image:
// no tile knows a border.
//
// With a projection, a step goes over all panels (each has a ring of its own),
// gathers the filtered rows of all channels in a buffer and multiplies them.
// Workers share out the steps. Without one, filtered rows go to the result, and
// the work is shared out by panels: each reads its part of the weights once, and
// one ring is enough. If there are several workers, panels are also cut into
// segments of rows, so that shares are even.
//
// A worker that begins inside of an image expands the rows above its first step
// again. They are computed as everywhere, so results do not depend on the number
// of workers.
//
// Without an expansion the filter reads the input where it is. Tiles at the left
// and right border then leave out the columns that do not exist.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/FusedBlockKernel.h"

#include "dialects/Target/PackedLayouts.h"
#include "passes/Kernel/StageEpilogue.h"

using namespace mlir;

namespace stator::kernel {

/// The rows of a panel that a step reads should fit the first-level cache, with room for the input.
static constexpr int64_t maxRingBytes = 40 << 10;
/// Units of work that several workers should find in a kernel without projection, and the fewest steps of one.
static constexpr int64_t wantedUnits = 16, minSegmentSteps = 4;

namespace {

class BlockEmitter {
public:
  BlockEmitter(KernelBuilder &b, LaneEvaluator &evaluator, const BlockProblem &problem);

  void run() {
    if (problem.project)
      runOverSteps();
    else
      runOverPanels();
  }

private:
  using Values = KernelBuilder::Values;

  void runOverSteps();
  void runOverPanels();
  void clearBorders(int64_t rings);
  /// Runs `body` for panels, after the members of the panel have been set: panel `only`, or all.
  void forPanels(Value only, llvm::function_ref<void(Value panel)> body);
  void enterPanel(Value panel, bool isTail);
  void emitStep(Value step, Value isFirst);
  void expandRow(Value row);
  void expandTile(Value row, Value ringRow, Value x, unsigned pixels);
  /// Columns [first, second) of a tile's input, counted from its first one.
  using Columns = std::pair<int64_t, int64_t>;
  void filterRow(ArrayRef<Value> rows, unsigned vector);
  void filterTile(ArrayRef<Value> rows, Value x, unsigned count, Columns columns, unsigned vector);
  void projectTile(Value row, Value x, unsigned pixels, unsigned vectors, Value column, ArrayRef<Value> masks);
  void project();
  /// Runs `body` for tiles of at most `width` of `total` columns.
  void forColumns(int64_t total, int64_t width, llvm::function_ref<void(Value x, unsigned count)> body);
  SmallVector<Value> tailMasks(int64_t columns, unsigned vectors);

  KernelBuilder &b;
  LaneEvaluator &evaluator;
  const BlockProblem &problem;
  const Type type;
  const ConvolutionAxis &height, &width;
  const TileShape main;
  const unsigned lanes;
  const int64_t inputHeight, inputWidth, outputHeight, outputWidth, channels;
  /// Of a panel: columns, and how many panels are whole.
  const int64_t panelWidth, wholePanels;
  int64_t ringWidth, stepRows = 1, ringRows = 0, filteredStride = 0;
  StageEpilogue filterEpilogue;
  std::optional<StageEpilogue> expandEpilogue, projectEpilogue;
  Value ring, zeroRow, filtered;

  // Of the panel, image and step that are being emitted.
  Value column, panelRing;
  unsigned vectors = 0;
  SmallVector<Value> masks;
  TileColumns expandColumns;
  Value image, inputBase, firstOutputRow;
  /// Elements from one pixel of a filter's row to the next.
  const int64_t filterStride;
};

BlockEmitter::BlockEmitter(KernelBuilder &b, LaneEvaluator &evaluator, const BlockProblem &problem)
    : b(b), evaluator(evaluator), problem(problem), type(problem.depthwise.problem.type), height(problem.depthwise.problem.axes[0]),
      width(problem.depthwise.problem.axes[1]), main(mainTile(b.options(), type)), lanes(b.lanes()),
      inputHeight(*height.input.constant()), inputWidth(*width.input.constant()), outputHeight(*height.output.constant()),
      outputWidth(*width.output.constant()), channels(problem.depthwise.problem.channels), panelWidth(main.columns(b.options())),
      wholePanels(channels / panelWidth),
      filterEpilogue(b, evaluator, problem.depthwise.convolution, problem.depthwise.value),
      filterStride(problem.expand ? panelWidth : problem.depthwise.problem.pixelStride) {
  if (problem.expand)
    expandEpilogue.emplace(b, evaluator, problem.expand->convolution, problem.expand->value);
  if (problem.project)
    projectEpilogue.emplace(b, evaluator, problem.project->convolution, problem.project->value);
  ringWidth = std::max((outputWidth - 1) * width.stride + width.taps, width.padLow + inputWidth);
  auto rowsFor = [&](int64_t rows) { return (rows - 1) * height.stride + height.taps; };
  if (outputHeight % 2 == 0 && (!problem.expand || rowsFor(2) * ringWidth * panelWidth * KernelBuilder::byteSize(type) <= maxRingBytes))
    stepRows = 2;
  ringRows = rowsFor(stepRows);
}

SmallVector<Value> BlockEmitter::tailMasks(int64_t columns, unsigned count) {
  SmallVector<Value> result;
  for (unsigned v = 0; v != count; ++v) {
    int64_t left = columns - int64_t(v) * lanes;
    result.push_back(left >= lanes ? Value() : b.maskBelow(b.i64(left), lanes));
  }
  return result;
}

void BlockEmitter::forColumns(int64_t total, int64_t limit, llvm::function_ref<void(Value, unsigned)> body) {
  int64_t each = evenRows(total, limit), whole = total / each;
  if (whole == 1)
    body(b.i64(0), each);
  else
    b.loop(b.i64(0), b.i64(whole * each), b.i64(each), [&](Value x) { body(x, each); });
  if (total % each)
    body(b.i64(whole * each), total % each);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void BlockEmitter::clearBorders(int64_t rings) {
  const int64_t bytes = KernelBuilder::byteSize(type), rowPixels = problem.expand ? ringWidth : inputWidth;
  zeroRow = b.scratch((rowPixels * filterStride + lanes) * bytes);
  Value zero = b.zero(KernelBuilder::laneType(type, lanes));
  auto clear = [&](Value base, int64_t first, int64_t end) {
    if (first < end)
      b.loop(b.i64(first * filterStride), b.i64(end * filterStride), b.i64(lanes), [&](Value i) { b.store(zero, base, i, type); });
  };
  clear(zeroRow, 0, rowPixels);
  if (!problem.expand)
    return;
  ring = b.scratch(rings * ringRows * ringWidth * panelWidth * bytes);
  b.loop(b.i64(0), b.i64(rings * ringRows), b.i64(1), [&](Value row) {
    Value base = b.address(ring, b.mul(row, b.i64(ringWidth * panelWidth)), type);
    clear(base, 0, width.padLow);
    clear(base, width.padLow + inputWidth, ringWidth);
  });
}

void BlockEmitter::enterPanel(Value panel, bool isTail) {
  const int64_t columns = isTail ? channels % panelWidth : panelWidth;
  vectors = (columns + lanes - 1) / lanes;
  masks = isTail ? tailMasks(columns, vectors) : SmallVector<Value>();
  column = b.mul(panel, b.i64(panelWidth));
  if (!problem.expand)
    return;
  Value depth = b.i64(problem.expand->problem.channels);
  expandColumns = {};
  expandColumns.storage = type;
  expandColumns.pointer = b.address(problem.expand->filter, panelStart(b, column, depth, panelWidth), type);
  expandColumns.offsets = panelOffsets(b, vectors, depth);
  expandColumns.kStride = b.i64(panelColumns);
}

void BlockEmitter::forPanels(Value only, llvm::function_ref<void(Value)> body) {
  auto whole = [&](Value panel) {
    enterPanel(panel, /*isTail=*/false);
    body(panel);
  };
  auto tail = [&] {
    enterPanel(b.i64(wholePanels), /*isTail=*/true);
    body(b.i64(wholePanels));
  };
  const bool hasTail = channels % panelWidth != 0;
  if (only) {
    if (!hasTail)
      return whole(only);
    if (wholePanels == 0)
      return tail();
    return b.ifElse(b.less(only, b.i64(wholePanels)), [&] { whole(only); }, tail);
  }
  if (wholePanels > 0)
    b.loop(b.i64(0), b.i64(wholePanels), b.i64(1), whole);
  if (hasTail)
    tail();
}

void BlockEmitter::runOverSteps() {
  const int64_t panels = wholePanels + (channels % panelWidth != 0);
  const int64_t steps = outputHeight / stepRows, panelElements = ringRows * ringWidth * panelWidth;
  filteredStride = (channels + panelWidth - 1) / panelWidth * panelWidth + 16;
  filtered = b.scratch(stepRows * outputWidth * filteredStride * KernelBuilder::byteSize(type));
  clearBorders(panels);
  KernelBuilder::Range range = b.split(b.mul(b.size(problem.depthwise.problem.batch), b.i64(steps)));
  b.loop(range.begin, range.end, b.i64(1), [&](Value unit) {
    image = b.div(unit, b.i64(steps));
    Value step = b.rem(unit, b.i64(steps));
    Value isFirst = arith::OrIOp::create(b, b.compare(arith::CmpIPredicate::eq, unit, range.begin),
                                         b.compare(arith::CmpIPredicate::eq, step, b.i64(0)));
    forPanels({}, [&](Value panel) {
      if (problem.expand)
        panelRing = b.address(ring, b.mul(panel, b.i64(panelElements)), type);
      emitStep(step, isFirst);
    });
    firstOutputRow = b.mul(step, b.i64(stepRows));
    project();
  });
}

void BlockEmitter::runOverPanels() {
  const int64_t panels = wholePanels + (channels % panelWidth != 0);
  const int64_t steps = outputHeight / stepRows;
  clearBorders(1);
  panelRing = ring;
  // Segments only cost something, so one worker has none.
  int64_t segments = std::max<int64_t>(1, std::min((wantedUnits + panels - 1) / panels, steps / minSegmentSteps));
  Value numSegments = b.i64(1);
  if (segments > 1)
    numSegments = b.select(b.less(b.i64(1), b.workers()), b.i64(segments), b.i64(1));
  Value segmentSteps = b.ceilDiv(b.i64(steps), numSegments);
  Value images = b.size(problem.depthwise.problem.batch);
  // Either the weights of a panel stay in the cache while the images pass by, or an image does while the panels do.
  const bool panelsOutermost = problem.expand && inputHeight * inputWidth < channels;
  KernelBuilder::Range range = b.split(b.product({images, b.i64(panels), numSegments}));
  b.loop(range.begin, range.end, b.i64(1), [&](Value unit) {
    Value segment = b.rem(unit, numSegments), rest = b.div(unit, numSegments), panel;
    if (panelsOutermost) {
      image = b.rem(rest, images);
      panel = b.div(rest, images);
    } else {
      image = b.div(rest, b.i64(panels));
      panel = b.rem(rest, b.i64(panels));
    }
    Value first = b.mul(segment, segmentSteps), last = b.min(b.add(first, segmentSteps), b.i64(steps));
    forPanels(panel, [&](Value) {
      b.loop(first, last, b.i64(1), [&](Value step) { emitStep(step, b.compare(arith::CmpIPredicate::eq, step, first)); });
    });
  });
}

//===----------------------------------------------------------------------===//
// One panel of one step
//===----------------------------------------------------------------------===//

void BlockEmitter::emitStep(Value step, Value isFirst) {
  firstOutputRow = b.mul(step, b.i64(stepRows));
  Value firstInputRow = b.sub(b.mul(firstOutputRow, b.i64(height.stride)), b.i64(height.padLow));
  const int64_t pixelStride = (problem.expand ? problem.expand->problem : problem.depthwise.problem).pixelStride;
  inputBase = b.address(problem.input, b.mul(image, b.i64(inputHeight * inputWidth * pixelStride)), type);

  if (problem.expand) {
    // Rows that the step before has left in the ring are not made again.
    Value kept = b.select(isFirst, b.i64(0), b.i64(ringRows - stepRows * height.stride));
    Value begin = b.max(b.add(firstInputRow, kept), b.i64(0)), end = b.min(b.add(firstInputRow, b.i64(ringRows)), b.i64(inputHeight));
    b.loop(begin, end, b.i64(1), [&](Value row) { expandRow(row); });
  }

  SmallVector<Value> rows;
  for (int64_t i = 0; i < ringRows; ++i) {
    Value row = b.add(firstInputRow, b.i64(i));
    Value isInside = b.compare(arith::CmpIPredicate::ult, row, b.i64(inputHeight));
    Value place = problem.expand ? b.address(panelRing, b.mul(b.rem(b.max(row, b.i64(0)), b.i64(ringRows)), b.i64(ringWidth * panelWidth)), type)
                                 : b.address(inputBase, b.add(b.mul(row, b.i64(inputWidth * filterStride)), column), type);
    rows.push_back(b.select(isInside, place, zeroRow));
  }
  for (unsigned v = 0; v != vectors; ++v)
    filterRow(rows, v);
}

void BlockEmitter::expandRow(Value row) {
  Value ringRow = b.address(panelRing, b.mul(b.rem(row, b.i64(ringRows)), b.i64(ringWidth * panelWidth)), type);
  forColumns(inputWidth, main.rows, [&](Value x, unsigned count) { expandTile(row, ringRow, x, count); });
}

void BlockEmitter::expandTile(Value row, Value ringRow, Value x, unsigned pixels) {
  const ConvolutionProblem &source = problem.expand->problem;
  Value firstPixel = b.add(b.mul(row, b.i64(inputWidth)), x);
  Value first = b.address(inputBase, b.mul(firstPixel, b.i64(source.pixelStride)), type);
  Value target = b.address(ringRow, b.mul(b.add(x, b.i64(width.padLow)), b.i64(panelWidth)), type);
  auto placeOf = [&](Value pixel, unsigned v) { return b.add(b.mul(pixel, b.i64(panelWidth)), b.i64(int64_t(v) * lanes)); };
  TileRows tileRows;
  tileRows.kStride = b.i64(1);
  tileRows.storage = type;
  for (unsigned p = 0; p != pixels; ++p)
    tileRows.pointers.push_back(b.address(first, b.i64(p * source.pixelStride), type));
  StageEpilogue::Tile tile;
  tile.shape = {pixels, vectors};
  tile.column = column;
  tile.masks = masks;
  tile.rowIndices = [&](Value pixel) { return SmallVector<Value>{image, row, b.add(x, pixel)}; };
  Values sums = accumulate(b, tileRows, expandColumns, b.i64(source.channels), zeroAccumulators(b, tile.shape, type));
  // Lanes that do not exist come from weights of zero and are filtered by no weights.
  expandEpilogue->emit(tile, sums, [&](Value result, ArrayRef<LaneValue>, Value pixel, unsigned v, Value) {
    b.store(result, target, placeOf(pixel, v), type);
  });
}

void BlockEmitter::filterRow(ArrayRef<Value> rows, unsigned v) {
  const unsigned budget = b.options().vectorRegisters >= 32 ? 14 : b.options().vectorBits >= 256 ? 8 : 6;
  const int64_t each = evenRows(outputWidth, budget / stepRows);
  auto columnsOf = [&](int64_t x, int64_t count) {
    int64_t all = (count - 1) * width.stride + width.taps;
    if (problem.expand) // Borders are in the ring.
      return Columns(0, all);
    int64_t start = width.position(x, 0), begin = std::clamp<int64_t>(-start, 0, all);
    return Columns(begin, std::clamp<int64_t>(inputWidth - start, begin, all));
  };
  // Runs of whole tiles with the same columns are loops.
  for (int64_t x = 0; x < outputWidth;) {
    int64_t count = std::min(each, outputWidth - x), next = x + count;
    Columns columns = columnsOf(x, count);
    while (count == each && next + each <= outputWidth && columnsOf(next, each) == columns)
      next += each;
    if (next == x + count)
      filterTile(rows, b.i64(x), count, columns, v);
    else
      b.loop(b.i64(x), b.i64(next), b.i64(each), [&](Value first) { filterTile(rows, first, count, columns, v); });
    x = next;
  }
}

void BlockEmitter::filterTile(ArrayRef<Value> rows, Value x, unsigned count, Columns columns, unsigned v) {
  Value channel = b.add(column, b.i64(int64_t(v) * lanes));
  Value mask = v < masks.size() ? masks[v] : Value();
  Value weightBase = b.address(problem.depthwise.filter, channel, type);
  SmallVector<Value> weights(height.taps * width.taps);
  auto weight = [&](int64_t tap) {
    if (!weights[tap])
      weights[tap] = b.load(weightBase, b.i64(tap * channels), type, lanes, mask);
    return weights[tap];
  };
  StageEpilogue::Tile tile;
  tile.shape = {unsigned(stepRows) * count, 1};
  Values sums = zeroAccumulators(b, tile.shape, type);
  // In the ring, the first column is the left border.
  Value firstColumn = b.sub(b.mul(x, b.i64(width.stride)), b.i64(problem.expand ? 0 : width.padLow));
  Value firstElement = b.add(b.mul(firstColumn, b.i64(filterStride)), b.i64(int64_t(v) * lanes));
  for (int64_t i = 0; i < ringRows; ++i) {
    Value base = b.address(rows[i], firstElement, type);
    for (int64_t c = columns.first; c < columns.second; ++c) {
      Value pixel;
      for (int64_t oy = 0; oy < stepRows; ++oy)
        for (int64_t ox = 0; ox < count; ++ox) {
          int64_t ky = i - oy * height.stride, kx = c - ox * width.stride;
          if (ky < 0 || kx < 0 || ky >= height.taps || kx >= width.taps)
            continue;
          if (!pixel)
            pixel = b.load(base, b.i64(c * filterStride), type, lanes, problem.expand ? Value() : mask);
          Value &sum = sums[oy * count + ox];
          sum = multiplyAdd(b, pixel, weight(ky * width.taps + kx), sum);
        }
    }
  }

  auto rowOf = [&](Value pixel) { return stepRows == 1 ? b.i64(0) : b.div(pixel, b.i64(count)); };
  auto columnOf = [&](Value pixel) { return b.add(x, stepRows == 1 ? pixel : b.rem(pixel, b.i64(count))); };
  tile.column = channel;
  if (mask)
    tile.masks.push_back(mask);
  tile.rowIndices = [&](Value pixel) { return SmallVector<Value>{image, b.add(firstOutputRow, rowOf(pixel)), columnOf(pixel)}; };
  auto resultType = cast<RankedTensorType>(problem.depthwise.value.getType());
  filterEpilogue.emit(tile, sums, [&](Value result, ArrayRef<LaneValue> at, Value pixel, unsigned, Value) {
    if (!problem.project)
      return evaluator.store(result, b.result(0), resultType, at);
    Value place = b.add(b.mul(rowOf(pixel), b.i64(outputWidth)), columnOf(pixel));
    b.store(result, filtered, b.add(b.mul(place, b.i64(filteredStride)), channel), type);
  });
}

//===----------------------------------------------------------------------===//
// Projection
//===----------------------------------------------------------------------===//

void BlockEmitter::project() {
  const int64_t outputs = problem.project->problem.outputs, whole = outputs / panelWidth;
  auto tiles = [&](Value first, unsigned count, ArrayRef<Value> columnMasks) {
    auto oneRow = [&](Value row) {
      forColumns(outputWidth, main.rows, [&](Value x, unsigned pixels) { projectTile(row, x, pixels, count, first, columnMasks); });
    };
    if (stepRows == 1)
      oneRow(b.i64(0));
    else
      b.loop(b.i64(0), b.i64(stepRows), b.i64(1), oneRow);
  };
  if (whole > 0)
    b.loop(b.i64(0), b.i64(whole * panelWidth), b.i64(panelWidth), [&](Value first) { tiles(first, main.vectors, {}); });
  if (int64_t rest = outputs % panelWidth) {
    unsigned count = (rest + lanes - 1) / lanes;
    tiles(b.i64(whole * panelWidth), count, tailMasks(rest, count));
  }
}

void BlockEmitter::projectTile(Value row, Value x, unsigned pixels, unsigned count, Value first, ArrayRef<Value> columnMasks) {
  Value pixel = b.add(b.mul(row, b.i64(outputWidth)), x);
  Value base = b.address(filtered, b.mul(pixel, b.i64(filteredStride)), type);
  TileRows tileRows;
  tileRows.kStride = b.i64(1);
  tileRows.storage = type;
  for (unsigned p = 0; p != pixels; ++p)
    tileRows.pointers.push_back(b.address(base, b.i64(p * filteredStride), type));
  Value depth = b.i64(channels);
  TileColumns columns;
  columns.storage = type;
  columns.pointer = b.address(problem.project->filter, panelStart(b, first, depth, panelWidth), type);
  columns.offsets = panelOffsets(b, count, depth);
  columns.kStride = b.i64(panelColumns);
  StageEpilogue::Tile tile;
  tile.shape = {pixels, count};
  tile.column = first;
  tile.masks.assign(columnMasks.begin(), columnMasks.end());
  tile.rowIndices = [&](Value p) { return SmallVector<Value>{image, b.add(firstOutputRow, row), b.add(x, p)}; };
  Values sums = accumulate(b, tileRows, columns, depth, zeroAccumulators(b, tile.shape, type));
  auto resultType = cast<RankedTensorType>(problem.project->value.getType());
  projectEpilogue->emit(tile, sums, [&](Value result, ArrayRef<LaneValue> at, Value, unsigned, Value) {
    evaluator.store(result, b.result(0), resultType, at);
  });
}

} // namespace

void emitFusedBlock(KernelBuilder &b, LaneEvaluator &evaluator, const BlockProblem &problem) { BlockEmitter(b, evaluator, problem).run(); }

} // namespace stator::kernel
