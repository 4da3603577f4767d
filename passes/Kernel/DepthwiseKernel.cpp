//===- DepthwiseKernel.cpp - depthwise convolution, channels last ----------===//
//
// Each channel is convolved with its own filter, so vectors run over channels
// and a tile is a patch of output pixels of one vector of channels: two rows of
// seven, for instance, where a 3x3 filter needs 4 x 9 input pixels and each of
// them feeds up to six accumulators. All taps of the last two axes are written
// out; an input pixel is loaded once per patch. Channels are the innermost loop,
// which keeps memory accesses contiguous.
//
// A patch that lies inside of the input needs no tests. One at the border knows
// which of its input columns are outside when the width is constant, and
// replaces the others (rows, symbolic widths) by a vector of zeros.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/DepthwiseKernel.h"

using namespace mlir;

namespace stator::kernel {

/// Channel vectors of one unit of work.
static constexpr int64_t vectorsPerUnit = 16;
/// Filters with more taps (of the last two axes) are looped over instead of written out.
static constexpr int64_t maxUnrolledTaps = 64;

namespace {

class DepthwiseEmitter {
public:
  using Values = KernelBuilder::Values;

  DepthwiseEmitter(KernelBuilder &b, const ConvolutionProblem &problem, Value input, Value filter, ContractionEpilogue &epilogue)
      : b(b), problem(problem), epilogue(epilogue), input(input), filter(filter), compute(KernelBuilder::computeType(problem.type)),
        width(problem.width()) {
    if (problem.axes.size() >= 2)
      height = problem.axes[problem.axes.size() - 2];
    DimExpr stride = problem.pixelStride;
    strides.resize(problem.axes.size());
    for (size_t i = problem.axes.size(); i-- > 0;) {
      strides[i] = b.size(stride);
      stride = stride * problem.axes[i].input;
    }
    imageStride = b.size(stride);
  }

  void run();

private:
  /// Of a patch: which input columns exist, [first, second) counted from its first one. Unset when that has to be tested.
  using Columns = std::optional<std::pair<int64_t, int64_t>>;

  void emitUnit(Value rowBlock, Value firstVector, Value lastVector);
  void emitRow(unsigned rows);
  void emitPatch(PixelTile patch, Value firstColumn, Columns columns, bool testRows, Value validPixels);
  Values emitOuterTaps(unsigned axis, Value offset, Value tap, Value channel, Value mask, Values sums);
  Values emitTaps(Value offset, Value tap, Value channel, Value mask, Values sums);
  Values emitLoopedTaps(Value offset, Value tap, Value channel, Value mask, Values sums);
  int64_t inputColumns(unsigned pixels) const { return (pixels - 1) * width.stride + (width.taps - 1) * width.dilation + 1; }
  Value inputPosition(const ConvolutionAxis &axis, Value output) { return b.sub(b.mul(output, b.i64(axis.stride)), b.i64(axis.padLow)); }
  Value loadInput(Value position, Value channel, Value mask);

  KernelBuilder &b;
  const ConvolutionProblem &problem;
  ContractionEpilogue &epilogue;
  Value input, filter;
  Type compute;
  ConvolutionAxis width;
  /// The axis before the width; without one, a single row.
  ConvolutionAxis height{1, 1, 1, 1, 0, 1};
  SmallVector<Value> strides;
  Value imageStride, zeros;
  PixelTile tile;
  bool isLooped = false;

  // Of the unit and patch being emitted.
  Value image, firstVector, lastVector, imageBase;
  SmallVector<Value> outputs;
  PixelTile patch;
  Columns columns;
  bool testRows = false;
};

void DepthwiseEmitter::run() {
  unsigned budget = b.options().vectorRegisters >= 32 ? 14 : b.options().vectorBits >= 256 ? 8 : 6;
  if (compute.getIntOrFloatBitWidth() > 32)
    budget /= 2;
  isLooped = height.taps * width.taps > maxUnrolledTaps;
  tile.height = problem.axes.size() < 2 || isLooped || height.output.isConstant(1) ? 1 : 2;
  unsigned columnBudget = budget / tile.height;
  std::optional<int64_t> known = width.output.constant();
  tile.width = known ? evenRows(*known, columnBudget) : columnBudget;

  // One vector of zeros stands for every pixel outside.
  const int64_t bytes = KernelBuilder::byteSize(problem.type);
  zeros = b.scratch(bytes * b.lanes());
  b.store(b.zero(KernelBuilder::laneType(compute, b.lanes())), zeros, b.i64(0), problem.type);

  const int64_t channelVectors = (problem.channels + b.lanes() - 1) / b.lanes();
  const int64_t chunks = (channelVectors + vectorsPerUnit - 1) / vectorsPerUnit;
  Value rowBlocks = b.size(problem.batch);
  for (size_t i = 0; i + 1 < problem.axes.size(); ++i) {
    Value rows = b.size(problem.axes[i].output);
    rowBlocks = b.mul(rowBlocks, i + 2 == problem.axes.size() ? b.ceilDiv(rows, b.i64(tile.height)) : rows);
  }
  KernelBuilder::Range range = b.split(b.mul(rowBlocks, b.i64(chunks)));
  b.loop(range.begin, range.end, b.i64(1), [&](Value unit) {
    Value first = b.mul(b.rem(unit, b.i64(chunks)), b.i64(vectorsPerUnit));
    emitUnit(b.div(unit, b.i64(chunks)), first, b.min(b.add(first, b.i64(vectorsPerUnit)), b.i64(channelVectors)));
  });
}

void DepthwiseEmitter::emitUnit(Value rowBlock, Value first, Value last) {
  firstVector = first;
  lastVector = last;
  outputs.assign(problem.axes.size(), b.i64(0));
  Value rest = rowBlock;
  for (size_t i = problem.axes.size() - 1; i-- > 0;) {
    bool isHeight = i + 2 == problem.axes.size();
    Value count = b.size(problem.axes[i].output);
    if (isHeight)
      count = b.ceilDiv(count, b.i64(tile.height));
    outputs[i] = b.rem(rest, count);
    if (isHeight)
      outputs[i] = b.mul(outputs[i], b.i64(tile.height));
    rest = b.div(rest, count);
  }
  image = rest;
  imageBase = b.address(input, b.mul(image, imageStride), problem.type);
  if (tile.height == 1 || (height.output.isConstant() && *height.output.constant() % tile.height == 0))
    return emitRow(tile.height);
  Value row = outputs[problem.axes.size() - 2];
  b.ifElse(b.less(b.add(row, b.i64(1)), b.size(height.output)), [&] { emitRow(tile.height); }, [&] { emitRow(1); });
}

void DepthwiseEmitter::emitRow(unsigned rows) {
  // Whether all input rows of the block exist.
  Value rowsInside;
  if (!height.isInside()) {
    Value start = inputPosition(height, outputs[problem.axes.size() - 2]);
    Value end = b.add(start, b.i64((rows - 1) * height.stride + (height.taps - 1) * height.dilation));
    rowsInside = arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, start, b.i64(0)), b.less(end, b.size(height.input)));
  }
  auto emitBoth = [&](PixelTile patch, Value column, Columns columns, Value validPixels) {
    if (!rowsInside || isLooped)
      return emitPatch(patch, column, columns, /*testRows=*/false, validPixels);
    b.ifElse(
        rowsInside, [&] { emitPatch(patch, column, columns, false, validPixels); },
        [&] { emitPatch(patch, column, columns, true, validPixels); });
  };

  std::optional<int64_t> total = width.output.constant(), inputWidth = width.input.constant();
  if (total && inputWidth) {
    auto columnsOf = [&](int64_t column, unsigned pixels) {
      int64_t start = width.position(column, 0), count = inputColumns(pixels);
      int64_t begin = std::clamp<int64_t>(-start, 0, count);
      return std::pair(begin, std::clamp<int64_t>(*inputWidth - start, begin, count));
    };
    for (int64_t column = 0; column < *total;) {
      unsigned pixels = std::min<int64_t>(tile.width, *total - column);
      auto columns = columnsOf(column, pixels);
      int64_t next = column + pixels;
      while (pixels == tile.width && next + pixels <= *total && columnsOf(next, pixels) == columns)
        next += pixels;
      if (next == column + pixels)
        emitBoth({rows, pixels}, b.i64(column), columns, {});
      else
        b.loop(b.i64(column), b.i64(next), b.i64(pixels), [&](Value first) { emitBoth({rows, pixels}, first, columns, {}); });
      column = next;
    }
    return;
  }

  Value count = b.size(width.output);
  auto all = std::pair<int64_t, int64_t>(0, inputColumns(tile.width));
  b.loop(b.i64(0), count, b.i64(tile.width), [&](Value first) {
    Value start = inputPosition(width, first);
    Value remaining = b.sub(count, first);
    Value isInside = arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, start, b.i64(0)),
                                           b.less(b.add(start, b.i64(all.second - 1)), b.size(width.input)));
    isInside = arith::AndIOp::create(b, isInside, b.compare(arith::CmpIPredicate::sge, remaining, b.i64(tile.width)));
    if (rowsInside && !isLooped)
      isInside = arith::AndIOp::create(b, isInside, rowsInside);
    b.ifElse(
        isInside, [&] { emitPatch({rows, tile.width}, first, all, false, {}); },
        [&] {
          // Row by row, so that the pixels that exist come first.
          for (unsigned row = 0; row != rows; ++row) {
            SmallVector<Value> saved = outputs;
            if (row > 0) {
              Value &output = outputs[problem.axes.size() - 2];
              output = b.add(output, b.i64(row));
            }
            emitPatch({1, tile.width}, first, std::nullopt, true, b.min(remaining, b.i64(tile.width)));
            outputs = saved;
          }
        });
  });
}

void DepthwiseEmitter::emitPatch(PixelTile pixels, Value firstColumn, Columns existing, bool test, Value validPixels) {
  patch = pixels;
  columns = existing;
  testRows = test;
  outputs.back() = firstColumn;
  const unsigned lanes = b.lanes();
  const int64_t fullVectors = problem.channels / lanes;
  TileShape shape{patch.pixels(), 1};

  auto emitVector = [&](Value vector, Value mask) {
    Value channel = b.mul(vector, b.i64(lanes));
    Values sums = emitOuterTaps(0, b.i64(0), b.i64(0), channel, mask, zeroAccumulators(b, shape, compute));
    TilePosition position;
    position.rowIndices = [&](Value pixel) {
      SmallVector<Value> indices{image};
      indices.append(outputs);
      Value perRow = b.i64(patch.width);
      indices.back() = b.add(firstColumn, patch.height == 1 ? pixel : b.rem(pixel, perRow));
      if (patch.height > 1)
        indices[indices.size() - 2] = b.add(indices[indices.size() - 2], b.div(pixel, perRow));
      return indices;
    };
    position.column = channel;
    if (mask)
      position.masks.push_back(mask);
    position.validRows = validPixels;
    epilogue.emit(shape, position, sums);
  };

  if (fullVectors > 0)
    b.loop(firstVector, b.min(lastVector, b.i64(fullVectors)), b.i64(1), [&](Value vector) { emitVector(vector, {}); });
  if (problem.channels % lanes != 0)
    b.when(b.less(b.i64(fullVectors), lastVector),
           [&] { emitVector(b.i64(fullVectors), b.maskBelow(b.i64(problem.channels % lanes), lanes)); });
}

/// Axes before the last two: their taps are a loop.
DepthwiseEmitter::Values DepthwiseEmitter::emitOuterTaps(unsigned axisIndex, Value offset, Value tap, Value channel, Value mask,
                                                         Values sums) {
  if (axisIndex + 2 >= problem.axes.size())
    return isLooped ? emitLoopedTaps(offset, tap, channel, mask, std::move(sums)) : emitTaps(offset, tap, channel, mask, std::move(sums));
  const ConvolutionAxis &axis = problem.axes[axisIndex];
  return b.loop(b.i64(0), b.i64(axis.taps), b.i64(1), sums, [&](Value k, ValueRange carried) -> Values {
    Value position = b.add(inputPosition(axis, outputs[axisIndex]), b.mul(k, b.i64(axis.dilation)));
    Value isInside = b.compare(arith::CmpIPredicate::ult, position, b.size(axis.input));
    return b.ifElse(
        isInside, carried.getTypes(),
        [&] {
          return emitOuterTaps(axisIndex + 1, b.add(offset, b.mul(position, strides[axisIndex])), b.add(b.mul(tap, b.i64(axis.taps)), k),
                               channel, mask, Values(carried));
        },
        [&] { return Values(carried); });
  });
}

DepthwiseEmitter::Values DepthwiseEmitter::emitTaps(Value offset, Value tap, Value channel, Value mask, Values sums) {
  const unsigned lanes = b.lanes();
  const bool hasHeight = problem.axes.size() >= 2;
  Value heightStride = hasHeight ? strides[problem.axes.size() - 2] : b.i64(0);
  Value firstRow = hasHeight ? inputPosition(height, outputs[problem.axes.size() - 2]) : b.i64(0);
  Value firstColumn = inputPosition(width, outputs.back());
  Value start = b.add(offset, b.add(b.mul(firstRow, heightStride), b.mul(firstColumn, strides.back())));
  Value base = b.address(imageBase, b.add(start, channel), problem.type);

  // Each weight is loaded once per patch; the backend keeps those in registers that fit beside the accumulators.
  const int64_t taps = height.taps * width.taps;
  Value tapStart = b.mul(b.mul(tap, b.i64(taps)), b.i64(problem.channels));
  Value weightBase = b.address(filter, b.add(tapStart, channel), problem.type);
  SmallVector<Value> weights(taps);
  auto weight = [&](int64_t index) {
    if (!weights[index])
      weights[index] = b.load(weightBase, b.i64(index * problem.channels), problem.type, lanes, mask);
    return weights[index];
  };

  const int64_t inputRows = (patch.height - 1) * height.stride + (height.taps - 1) * height.dilation + 1;
  const int64_t allColumns = inputColumns(patch.width);
  for (int64_t row = 0; row < inputRows; ++row) {
    Value rowInside;
    if (testRows)
      rowInside = b.compare(arith::CmpIPredicate::ult, b.add(firstRow, b.i64(row)), b.size(height.input));
    for (int64_t column = columns ? columns->first : 0; column < (columns ? columns->second : allColumns); ++column) {
      Value pixel;
      for (unsigned y = 0; y != patch.height; ++y)
        for (unsigned x = 0; x != patch.width; ++x) {
          int64_t ky = row - y * height.stride, kx = column - x * width.stride;
          if (ky < 0 || kx < 0 || ky % height.dilation || kx % width.dilation)
            continue;
          ky /= height.dilation;
          kx /= width.dilation;
          if (ky >= height.taps || kx >= width.taps)
            continue;
          if (!pixel) {
            Value place = b.address(base, b.add(b.mul(b.i64(row), heightStride), b.mul(b.i64(column), strides.back())), problem.type);
            Value isInside = rowInside;
            if (!columns) {
              Value columnInside = b.compare(arith::CmpIPredicate::ult, b.add(firstColumn, b.i64(column)), b.size(width.input));
              isInside = isInside ? arith::AndIOp::create(b, isInside, columnInside).getResult() : columnInside;
            }
            if (isInside)
              place = b.select(isInside, place, zeros);
            pixel = b.load(place, b.i64(0), problem.type, lanes, mask);
          }
          Value &sum = sums[y * patch.width + x];
          sum = multiplyAdd(b, pixel, weight(ky * width.taps + kx), sum);
        }
    }
  }
  return sums;
}

/// One tap after the other, every pixel tested: for filters too large to write out.
DepthwiseEmitter::Values DepthwiseEmitter::emitLoopedTaps(Value offset, Value tap, Value channel, Value mask, Values sums) {
  const unsigned lanes = b.lanes();
  const bool hasHeight = problem.axes.size() >= 2;
  return b.loop(b.i64(0), b.i64(height.taps * width.taps), b.i64(1), sums, [&](Value k, ValueRange carried) -> Values {
    Values next(carried);
    Value ky = b.div(k, b.i64(width.taps)), kx = b.rem(k, b.i64(width.taps));
    Value tapIndex = b.add(b.mul(tap, b.i64(height.taps * width.taps)), k);
    Value weight = b.load(filter, b.add(b.mul(tapIndex, b.i64(problem.channels)), channel), problem.type, lanes, mask);
    Value rowOffset = offset, rowInside;
    if (hasHeight) {
      Value row = b.add(inputPosition(height, outputs[problem.axes.size() - 2]), b.mul(ky, b.i64(height.dilation)));
      rowInside = b.compare(arith::CmpIPredicate::ult, row, b.size(height.input));
      rowOffset = b.add(offset, b.mul(row, strides[problem.axes.size() - 2]));
    }
    for (unsigned x = 0; x != patch.width; ++x) {
      Value column = b.add(inputPosition(width, b.add(outputs.back(), b.i64(x))), b.mul(kx, b.i64(width.dilation)));
      Value isInside = b.compare(arith::CmpIPredicate::ult, column, b.size(width.input));
      if (rowInside)
        isInside = arith::AndIOp::create(b, isInside, rowInside);
      Value place = b.address(imageBase, b.add(b.add(rowOffset, b.mul(column, strides.back())), channel), problem.type);
      Value pixel = b.load(b.select(isInside, place, zeros), b.i64(0), problem.type, lanes, mask);
      next[x] = multiplyAdd(b, pixel, weight, next[x]);
    }
    return next;
  });
}

} // namespace

void emitDepthwise(KernelBuilder &b, const ConvolutionProblem &problem, Value input, Value filter, ContractionEpilogue &epilogue) {
  DepthwiseEmitter(b, problem, input, filter, epilogue).run();
}

} // namespace stator::kernel
