//===- ContractionTile.h - the register tile of matmul and convolution -----===//
//
// Matrix products and convolutions are the same inner loop: a tile of `rows`
// results by `vectors` vectors of columns is kept in registers while k runs.
// Per k, each column vector is loaded once from the packed weights and each row
// contributes one scalar that is broadcast. What differs is where a row's
// scalars come from (a matrix row, an input pixel) and which k are valid; both
// are arguments here.
//
// Every result is one chain of multiply-adds over ascending k, in every shape
// of tile. So an element's bits do not depend on the tile that computed it, and
// work can be split anywhere.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_CONTRACTIONTILE_H
#define STATOR_PASSES_KERNEL_CONTRACTIONTILE_H

#include "passes/Kernel/KernelBuilder.h"

namespace stator::kernel {

inline constexpr int64_t cacheLineBytes = 64;

struct TileShape {
  unsigned rows = 1;
  unsigned vectors = 1;

  unsigned accumulators() const { return rows * vectors; }
  int64_t columns(const KernelOptions &options) const { return int64_t(vectors) * options.lanes(); }
};

/// The tile for many rows of values of compute type `type`: as many accumulators as the register file holds beside a row of weights.
TileShape mainTile(const KernelOptions &options, mlir::Type type);

/// The tile of a matrix product with packed weights; `depth` and `columns` where they are known.
TileShape matmulTile(const KernelOptions &options, mlir::Type type, std::optional<int64_t> depth, std::optional<int64_t> columns);

/// The widest tile of `rows` rows, a few: they need many columns to keep the multipliers busy. A divisor or a multiple of a panel.
TileShape wideTile(const KernelOptions &options, mlir::Type type, unsigned rows);

/// Of the tiles with at most `limit` rows, the number of rows that divides `total` rows most evenly: 128 rows by at most 12 are ten
/// full tiles of 12 and one of 8, better eleven of 11 or 12.
int64_t evenRows(int64_t total, int64_t limit);

/// The left-hand side of a tile: one pointer per row, at k = 0.
struct TileRows {
  llvm::SmallVector<mlir::Value> pointers;
  mlir::Value kStride; // elements
  mlir::Type storage;
};

/// The right-hand side: where column vectors lie.
struct TileColumns {
  mlir::Value pointer; // of the first column, at k = 0
  /// Elements from `pointer` to each column vector.
  llvm::SmallVector<mlir::Value> offsets;
  mlir::Value kStride; // elements
  mlir::Type storage;
  /// Per column vector: null, or the lanes that exist. Packed weights are padded and need none.
  llvm::SmallVector<mlir::Value> masks;
};

/// Memory that a later tile reads, asked for while this one runs: `lines` cache lines per k, from `base` + k * `bytesPerK` on.
struct TilePrefetch {
  mlir::Value base, bytesPerK;
  unsigned lines = 0;
};

/// Zeroed accumulators.
KernelBuilder::Values zeroAccumulators(KernelBuilder &b, TileShape shape, mlir::Type compute);

/// Adds sum over k in [0, count) of row(k) * column(k) to `accumulators`, which are ordered row by row and one per (row, vector).
KernelBuilder::Values accumulate(KernelBuilder &b, const TileRows &rows, const TileColumns &columns, mlir::Value count,
                                 KernelBuilder::Values accumulators, const TilePrefetch &prefetch = {});

/// Offsets, in elements, of the column vectors of a tile in packed panels of `depth` k, for a tile that starts on a panel boundary or
/// inside one panel.
llvm::SmallVector<mlir::Value> panelOffsets(KernelBuilder &b, unsigned vectors, mlir::Value depth);

/// Elements from the start of a packed matrix to column `column` (a multiple of the tile's width) at k = 0.
mlir::Value panelStart(KernelBuilder &b, mlir::Value column, mlir::Value depth, int64_t tileColumns);

/// x * y + sum, for floats and integers.
mlir::Value multiplyAdd(KernelBuilder &b, mlir::Value x, mlir::Value y, mlir::Value sum);

/// The integer, if `value` is a constant.
std::optional<int64_t> constantOf(mlir::Value value);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_CONTRACTIONTILE_H
