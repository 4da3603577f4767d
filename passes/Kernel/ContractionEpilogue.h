//===- ContractionEpilogue.h - from accumulators to results ----------------===//
//
// The operations that a fusion computes on the result of its contraction (bias,
// activation, residual, scaling, conversion) are evaluated on the accumulators
// of a register tile, just before the only store. Extra operands are read where
// the tile is: a bias as one vector per column vector, a per-row scale as one
// scalar per row, a residual as the tile itself.
//
// Short epilogues are written out for every vector of the tile. Long ones (an
// erf is some forty instructions) would make the tile's code many times larger
// than its loop; those go through a small buffer in the worker's scratch, and a
// loop over rows.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_CONTRACTIONEPILOGUE_H
#define STATOR_PASSES_KERNEL_CONTRACTIONEPILOGUE_H

#include "passes/Kernel/ContractionTile.h"
#include "passes/Kernel/LaneEvaluator.h"

#include <functional>

namespace stator::kernel {

/// Where a tile lies in the contraction's result.
struct TilePosition {
  /// Gives the index of every dim of the contraction's result except the last, for row `row` of the tile.
  std::function<llvm::SmallVector<mlir::Value>(mlir::Value row)> rowIndices;
  /// Index along the last dim of the tile's first column.
  mlir::Value column;
  /// Per column vector: null, or which lanes exist. Empty: all do.
  llvm::SmallVector<mlir::Value> masks;
  /// Null, or how many rows of the tile exist (an i64 that may be less than the shape's rows).
  mlir::Value validRows;
};

class ContractionEpilogue {
public:
  /// `contraction` is the only result of the function's contraction; everything that the function returns is computed from it.
  ContractionEpilogue(KernelBuilder &b, LaneEvaluator &evaluator, mlir::func::FuncOp source, mlir::Value contraction);

  /// Computes and stores the results of one tile.
  void emit(TileShape shape, const TilePosition &position, mlir::ValueRange accumulators);

private:
  void emitVector(llvm::ArrayRef<mlir::Value> rowIndices, mlir::Value column, mlir::Value accumulator, mlir::Value mask);

  KernelBuilder &b;
  LaneEvaluator &evaluator;
  mlir::Value contraction;
  llvm::SmallVector<mlir::Value> returned;
  /// The accumulator that stands for `contraction` at present.
  mlir::Value current;
  /// Estimated instructions for one vector.
  unsigned cost = 0;
  /// Of the loop over rows.
  mlir::Value buffer;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_CONTRACTIONEPILOGUE_H
