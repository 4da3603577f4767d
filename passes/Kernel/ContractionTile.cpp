//===- ContractionTile.cpp - the register tile of matmul and convolution ---===//
//
// Measured on a core with two 512-bit FMA units: an 8x48, 12x32 or 14x32 tile
// of f32 runs at 97 % of peak without unrolling k, because the 24 or 28
// independent chains hide the latency of the FMA and the loads (2 + rows per k)
// stay below two per cycle. Unrolling is only for small tiles, where the loop's
// own instructions would count.
//
// Matrix products take the tile with few rows: where the rows of the left-hand
// side are a multiple of 4096 bytes long (K = 1024, 2048, 3072), the lines of
// all rows of a tile compete for one set of the first-level cache, which has 8
// to 12 ways. 14x32 runs at 87-90 % of peak there, 12x32 and 8x48 at 93-95 %.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ContractionTile.h"

#include "dialects/Target/PackedLayouts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator::kernel {

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (value && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// Vector registers that one value of `lanes()` lanes occupies.
static unsigned registersPerVector(const KernelOptions &options, Type type) {
  return std::max(1u, type.getIntOrFloatBitWidth() * options.lanes() / options.vectorBits);
}

TileShape mainTile(const KernelOptions &options, Type type) {
  unsigned each = registersPerVector(options, type);
  TileShape shape;
  shape.vectors = each == 1 ? 2 : 1;
  // Beside the accumulators: the column vectors and a broadcast scalar; below AVX also a copy, since the multiply overwrites.
  if (options.vectorRegisters >= 32)
    shape.rows = each == 1 ? 14 : 12;
  else
    shape.rows = options.vectorBits >= 256 ? 6 : 4;
  return shape;
}

TileShape matmulTile(const KernelOptions &options, Type type, std::optional<int64_t> depth, std::optional<int64_t> columns) {
  TileShape shape = mainTile(options, type);
  if (options.vectorRegisters < 32 || registersPerVector(options, type) != 1)
    return shape;
  // A panel of a tile stays in the second-level cache while the rows pass by.
  constexpr int64_t mostPanelBytes = 400 << 10;
  int64_t most = 3;
  if (depth && *depth * most * options.vectorBits / 8 > mostPanelBytes)
    most = 2;
  if (columns) { // As few tiles as possible, as even as possible.
    int64_t vectors = std::max<int64_t>(1, (*columns + options.lanes() - 1) / options.lanes());
    int64_t tiles = (vectors + most - 1) / most;
    most = (vectors + tiles - 1) / tiles;
  }
  shape.vectors = most;
  shape.rows = most == 3 ? 8 : most == 2 ? 12 : 14;
  return shape;
}

TileShape wideTile(const KernelOptions &options, Type type, unsigned rows) {
  unsigned each = registersPerVector(options, type);
  unsigned budget = (options.vectorRegisters >= 32 ? 24 : options.vectorBits >= 256 ? 12 : 8) / each;
  // More panels at a time are more streams from memory at a time, which it likes less.
  unsigned most = std::min<unsigned>(8, 4 * panelColumns / options.lanes());
  TileShape shape{rows, 1};
  while (shape.vectors * 2 <= most && rows * shape.vectors * 2 <= budget)
    shape.vectors *= 2;
  return shape;
}

int64_t evenRows(int64_t total, int64_t limit) {
  if (total <= limit)
    return std::max<int64_t>(total, 1);
  int64_t tiles = (total + limit - 1) / limit;
  return (total + tiles - 1) / tiles;
}

KernelBuilder::Values zeroAccumulators(KernelBuilder &b, TileShape shape, Type compute) {
  return KernelBuilder::Values(shape.accumulators(), b.zero(KernelBuilder::laneType(compute, b.lanes())));
}

SmallVector<Value> panelOffsets(KernelBuilder &b, unsigned vectors, Value depth) {
  SmallVector<Value> offsets;
  for (unsigned v = 0; v != vectors; ++v) {
    int64_t column = int64_t(v) * b.lanes();
    Value panel = b.mul(b.i64(column / panelColumns * panelColumns), depth);
    offsets.push_back(b.add(panel, b.i64(column % panelColumns)));
  }
  return offsets;
}

Value panelStart(KernelBuilder &b, Value column, Value depth, int64_t tileColumns) {
  if (tileColumns % panelColumns == 0)
    return b.mul(column, depth);
  Value panel = b.div(column, b.i64(panelColumns));
  Value inside = b.rem(column, b.i64(panelColumns));
  return b.add(b.mul(b.mul(panel, b.i64(panelColumns)), depth), inside);
}

Value multiplyAdd(KernelBuilder &b, Value x, Value y, Value sum) {
  if (isa<FloatType>(KernelBuilder::elementType(x)))
    return b.fma(x, y, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
}

KernelBuilder::Values accumulate(KernelBuilder &b, const TileRows &rows, const TileColumns &columns, Value count,
                                 KernelBuilder::Values accumulators, const TilePrefetch &prefetch) {
  const unsigned numRows = rows.pointers.size(), numVectors = columns.offsets.size(), lanes = b.lanes();
  if (numRows == 0 || numVectors == 0)
    return accumulators;

  auto oneK = [&](Value k, KernelBuilder::Values sums) {
    SmallVector<Value> weights;
    Value kOffset = b.mul(k, columns.kStride);
    for (unsigned v = 0; v != numVectors; ++v) {
      Value mask = columns.masks.empty() ? Value() : columns.masks[v];
      weights.push_back(b.load(columns.pointer, b.add(kOffset, columns.offsets[v]), columns.storage, lanes, mask));
    }
    for (unsigned line = 0; line != prefetch.lines; ++line)
      b.prefetch(prefetch.base, b.add(b.mul(k, prefetch.bytesPerK), b.i64(cacheLineBytes * line)));
    Value rowOffset = b.mul(k, rows.kStride);
    for (unsigned r = 0; r != numRows; ++r) {
      Value scalar = b.loadSplat(rows.pointers[r], rowOffset, rows.storage, lanes);
      for (unsigned v = 0; v != numVectors; ++v) {
        Value &sum = sums[r * numVectors + v];
        sum = multiplyAdd(b, scalar, weights[v], sum);
      }
    }
    return sums;
  };

  // Enough work per iteration to hide the loop's own instructions.
  unsigned unroll = 1;
  while (numRows * numVectors * unroll < 16 && unroll < 4)
    unroll *= 2;
  std::optional<int64_t> known = constantOf(count);
  if (known && *known <= 4) { // Such as three input channels.
    for (int64_t k = 0; k < *known; ++k)
      accumulators = oneK(b.i64(k), std::move(accumulators));
    return accumulators;
  }

  Value mainEnd = b.mul(b.div(count, b.i64(unroll)), b.i64(unroll));
  accumulators = b.loop(b.i64(0), mainEnd, b.i64(unroll), accumulators, [&](Value k, ValueRange carried) {
    KernelBuilder::Values sums(carried);
    for (unsigned u = 0; u != unroll; ++u)
      sums = oneK(b.add(k, b.i64(u)), std::move(sums));
    return sums;
  });
  if (unroll == 1 || (known && *known % unroll == 0))
    return accumulators;
  return b.loop(mainEnd, count, b.i64(1), accumulators,
                [&](Value k, ValueRange carried) { return oneK(k, KernelBuilder::Values(carried)); });
}

} // namespace stator::kernel
