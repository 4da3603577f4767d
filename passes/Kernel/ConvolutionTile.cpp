//===- ConvolutionTile.cpp - the taps of one tile of pixels ----------------===//
//
// For one tile of output pixels, the accumulators take the sum over the taps
// and channels in which each pixel's window lies inside of the input. Padding
// costs nothing that way: taps of the outer axes that are outside for a whole
// row shorten the loop over taps; along the width each tap has a contiguous set
// of inside pixels, known when the tile's position is, and only those get
// multiplied. Neighbouring taps with the same set are one longer loop over
// (tap, channel), since both the input row and the packed filter are contiguous
// over them.
//
// Where the position is not known (symbolic widths) tiles at the border select,
// per tap and pixel, between the input and a pixel of zeros.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ConvolutionKernel.h"

using namespace mlir;

namespace stator::kernel {

bool ConvolutionAxis::isInside() const {
  auto in = input.constant(), out = output.constant();
  return padLow <= 0 && in && out && position(*out - 1, taps - 1) < *in;
}

int64_t ConvolutionProblem::totalTaps() const {
  int64_t product = 1;
  for (const ConvolutionAxis &axis : axes)
    product *= axis.taps;
  return product;
}

namespace {

class TileEmitter {
public:
  using Values = KernelBuilder::Values;

  TileEmitter(KernelBuilder &b, const ConvolutionProblem &problem, const ConvolutionOperands &operands, PixelTile tile,
              ArrayRef<Value> outputs, const TapColumns *columns)
      : b(b), problem(problem), operands(operands), tile(tile), outputs(outputs), columns(columns) {}

  Values run() {
    TileShape shape{tile.pixels(), static_cast<unsigned>(operands.filter.offsets.size())};
    return emitAxis(0, b.i64(0), b.i64(0), zeroAccumulators(b, shape, KernelBuilder::computeType(problem.type)));
  }

private:
  /// Taps [first, second) of `axis` that lie inside of the input for output position `output`.
  std::pair<Value, Value> insideTaps(const ConvolutionAxis &axis, Value output);
  /// All taps of the axes from `axis` on. `offset` and `tap` are what the axes before contribute.
  Values emitAxis(unsigned axis, Value offset, Value tap, Values sums);
  /// The height axis of a tile with several rows.
  Values emitRows(Value offset, Value tap, Values sums);
  /// The width axis, for rows [rowBegin, rowEnd) of the tile.
  Values emitWidth(Value offset, Value tap, Values sums, unsigned rowBegin, unsigned rowEnd);
  Values emitTestedWidth(Value offset, Value tap, Values sums, unsigned rowBegin, unsigned rowEnd);
  TileColumns filterAt(Value tap);
  Value heightStep() { return b.mul(b.i64(problem.axes[problem.axes.size() - 2].stride), operands.strides[problem.axes.size() - 2]); }

  KernelBuilder &b;
  const ConvolutionProblem &problem;
  const ConvolutionOperands &operands;
  PixelTile tile;
  ArrayRef<Value> outputs;
  const TapColumns *columns;
};

std::pair<Value, Value> TileEmitter::insideTaps(const ConvolutionAxis &axis, Value output) {
  Value all = b.i64(axis.taps);
  if (axis.isInside())
    return {b.i64(0), all};
  Value start = b.sub(b.mul(output, b.i64(axis.stride)), b.i64(axis.padLow)); // Of tap 0; may be negative.
  Value zero = b.i64(0), dilation = b.i64(axis.dilation);
  Value first = b.min(b.ceilDiv(b.max(b.sub(zero, start), zero), dilation), all);
  Value last = b.min(b.ceilDiv(b.max(b.sub(b.size(axis.input), start), zero), dilation), all);
  return {first, b.max(first, last)};
}

TileEmitter::Values TileEmitter::emitAxis(unsigned axisIndex, Value offset, Value tap, Values sums) {
  if (axisIndex + 1 == problem.axes.size())
    return emitWidth(offset, tap, std::move(sums), 0, tile.height);
  if (axisIndex + 2 == problem.axes.size() && tile.height > 1)
    return emitRows(offset, tap, std::move(sums));
  const ConvolutionAxis &axis = problem.axes[axisIndex];
  auto [first, last] = insideTaps(axis, outputs[axisIndex]);
  auto body = [&](Value k, Values carried) {
    Value position = b.add(b.sub(b.mul(outputs[axisIndex], b.i64(axis.stride)), b.i64(axis.padLow)), b.mul(k, b.i64(axis.dilation)));
    return emitAxis(axisIndex + 1, b.add(offset, b.mul(position, operands.strides[axisIndex])), b.add(b.mul(tap, b.i64(axis.taps)), k),
                    std::move(carried));
  };
  if (axis.taps == 1 && axis.isInside())
    return body(b.i64(0), std::move(sums));
  return b.loop(first, last, b.i64(1), sums, [&](Value k, ValueRange carried) { return body(k, Values(carried)); });
}

TileEmitter::Values TileEmitter::emitRows(Value offset, Value tap, Values sums) {
  const unsigned axisIndex = problem.axes.size() - 2;
  const ConvolutionAxis &axis = problem.axes[axisIndex];
  SmallVector<std::pair<Value, Value>> ranges;
  for (unsigned row = 0; row != tile.height; ++row)
    ranges.push_back(insideTaps(axis, b.add(outputs[axisIndex], b.i64(row))));
  // Later rows begin at earlier taps and end at earlier taps.
  Value begin = ranges.back().first, end = ranges.front().second;
  auto body = [&](Value k, ValueRange carried) -> Values {
    Value position = b.add(b.sub(b.mul(outputs[axisIndex], b.i64(axis.stride)), b.i64(axis.padLow)), b.mul(k, b.i64(axis.dilation)));
    Value rowOffset = b.add(offset, b.mul(position, operands.strides[axisIndex]));
    Value rowTap = b.add(b.mul(tap, b.i64(axis.taps)), k);
    if (axis.isInside())
      return emitWidth(rowOffset, rowTap, Values(carried), 0, tile.height);
    Value isFull = arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, k, ranges.front().first), b.less(k, ranges.back().second));
    return b.ifElse(
        isFull, carried.getTypes(), [&] { return emitWidth(rowOffset, rowTap, Values(carried), 0, tile.height); },
        [&] {
          Values next(carried);
          const unsigned each = next.size() / tile.height;
          for (unsigned row = 0; row != tile.height; ++row) {
            Value isInside =
                arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, k, ranges[row].first), b.less(k, ranges[row].second));
            Values mine(ArrayRef<Value>(next).slice(row * each, each));
            mine = b.ifElse(
                isInside, ValueRange(mine).getTypes(), [&] { return emitWidth(rowOffset, rowTap, mine, row, row + 1); },
                [&] { return mine; });
            llvm::copy(mine, next.begin() + row * each);
          }
          return next;
        });
  };
  return b.loop(begin, end, b.i64(1), sums, body);
}

TileColumns TileEmitter::filterAt(Value tap) {
  TileColumns filter = operands.filter;
  Value start = b.mul(b.mul(tap, b.i64(problem.groupChannels())), filter.kStride);
  filter.pointer = b.address(filter.pointer, start, problem.type);
  return filter;
}

TileEmitter::Values TileEmitter::emitWidth(Value offset, Value tap, Values sums, unsigned rowBegin, unsigned rowEnd) {
  if (!columns)
    return emitTestedWidth(offset, tap, std::move(sums), rowBegin, rowEnd);
  const ConvolutionAxis &axis = problem.width();
  const unsigned vectors = operands.filter.offsets.size();
  // Taps are neighbours in memory when nothing lies between their channels.
  const bool isContiguous = axis.dilation == 1 && problem.groups == 1 && problem.pixelStride == problem.channels;
  Value pixelStep = b.mul(b.i64(axis.stride), operands.strides.back());

  for (int64_t first = 0; first < axis.taps;) {
    auto [begin, end] = (*columns)[first];
    int64_t last = first + 1;
    while (last < axis.taps && (*columns)[last] == std::pair(begin, end))
      ++last;
    int64_t run = last - first;
    auto taps = [&](Value k, int64_t count, Values carried) -> Values {
      if (begin >= end)
        return carried;
      Value position = b.add(b.sub(b.mul(outputs.back(), b.i64(axis.stride)), b.i64(axis.padLow)), b.mul(k, b.i64(axis.dilation)));
      Value start = b.add(offset, b.mul(position, operands.strides.back()));
      TileRows rows;
      rows.storage = problem.type;
      rows.kStride = b.i64(1);
      Values active;
      for (unsigned row = rowBegin; row != rowEnd; ++row)
        for (unsigned column = begin; column != end; ++column) {
          Value step = b.mul(pixelStep, b.i64(column));
          if (row > 0)
            step = b.add(step, b.mul(heightStep(), b.i64(row)));
          rows.pointers.push_back(b.address(b.address(operands.input, start, problem.type), step, problem.type));
          for (unsigned v = 0; v != vectors; ++v)
            active.push_back(carried[((row - rowBegin) * tile.width + column) * vectors + v]);
        }
      Value firstTap = b.add(b.mul(tap, b.i64(axis.taps)), k);
      TilePrefetch prefetch = operands.prefetch;
      if (prefetch.lines > 0)
        prefetch.base = b.address(prefetch.base, b.mul(b.mul(firstTap, b.i64(problem.groupChannels())), prefetch.bytesPerK), b.getI8Type());
      active = accumulate(b, rows, filterAt(firstTap), b.i64(count * problem.groupChannels()), active, prefetch);
      unsigned next = 0;
      for (unsigned row = rowBegin; row != rowEnd; ++row)
        for (unsigned column = begin; column != end; ++column)
          for (unsigned v = 0; v != vectors; ++v)
            carried[((row - rowBegin) * tile.width + column) * vectors + v] = active[next++];
      return carried;
    };
    if (isContiguous || run == 1)
      sums = taps(b.i64(first), run, std::move(sums));
    else
      sums = b.loop(b.i64(first), b.i64(last), b.i64(1), sums, [&](Value k, ValueRange carried) { return taps(k, 1, Values(carried)); });
    first = last;
  }
  return sums;
}

TileEmitter::Values TileEmitter::emitTestedWidth(Value offset, Value tap, Values sums, unsigned rowBegin, unsigned rowEnd) {
  const ConvolutionAxis &axis = problem.width();
  Value row = b.address(operands.input, offset, problem.type);
  return b.loop(b.i64(0), b.i64(axis.taps), b.i64(1), sums, [&](Value k, ValueRange carried) {
    TileRows rows;
    rows.storage = problem.type;
    rows.kStride = b.i64(1);
    for (unsigned r = rowBegin; r != rowEnd; ++r)
      for (unsigned column = 0; column != tile.width; ++column) {
        Value output = b.add(outputs.back(), b.i64(column));
        Value position = b.add(b.sub(b.mul(output, b.i64(axis.stride)), b.i64(axis.padLow)), b.mul(k, b.i64(axis.dilation)));
        // Unsigned, so that negative positions are outside too.
        Value isInside = b.compare(arith::CmpIPredicate::ult, position, b.size(axis.input));
        Value start = b.mul(position, operands.strides.back());
        if (r > 0)
          start = b.add(start, b.mul(heightStep(), b.i64(r)));
        rows.pointers.push_back(b.select(isInside, b.address(row, start, problem.type), operands.zeros));
      }
    TileColumns filter = filterAt(b.add(b.mul(tap, b.i64(axis.taps)), k));
    return accumulate(b, rows, filter, b.i64(problem.groupChannels()), Values(carried));
  });
}

} // namespace

KernelBuilder::Values emitConvolutionTile(KernelBuilder &b, const ConvolutionProblem &problem, const ConvolutionOperands &operands,
                                          PixelTile tile, ArrayRef<Value> outputs, const TapColumns *columns) {
  return TileEmitter(b, problem, operands, tile, outputs, columns).run();
}

} // namespace stator::kernel
