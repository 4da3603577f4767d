//===- StageEpilogue.h - element-wise code between stages of a kernel ------===//
//
// What a fused block computes between two of its convolutions (bias,
// activation) or after the last one (bias, residual), evaluated on the
// accumulators of a register tile. Where the values go is the caller's choice:
// into a ring of rows, or to the kernel's result.
//
// As in ContractionEpilogue, code that would make the tile many times longer
// than its loop goes through a buffer and a loop over the tile's rows.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_STAGEEPILOGUE_H
#define STATOR_PASSES_KERNEL_STAGEEPILOGUE_H

#include "passes/Kernel/ContractionTile.h"
#include "passes/Kernel/LaneEvaluator.h"

#include <functional>

namespace stator::kernel {

class StageEpilogue {
public:
  /// Values of `value`, which is element-wise from `convolution`, or is it.
  StageEpilogue(KernelBuilder &b, LaneEvaluator &evaluator, mlir::Value convolution, mlir::Value value);

  struct Tile {
    TileShape shape;
    /// The index of every dim but the last, for row `row` of the tile.
    std::function<llvm::SmallVector<mlir::Value>(mlir::Value row)> rowIndices;
    mlir::Value column;
    /// Per column vector: null, or which lanes exist. Empty: all do.
    llvm::SmallVector<mlir::Value> masks;
  };
  using Sink = llvm::function_ref<void(mlir::Value result, llvm::ArrayRef<LaneValue> at, mlir::Value row, unsigned vector, mlir::Value mask)>;

  void emit(const Tile &tile, mlir::ValueRange accumulators, Sink sink);

private:
  KernelBuilder &b;
  LaneEvaluator &evaluator;
  mlir::Value value;
  /// The accumulator that stands for the convolution at present.
  mlir::Value current;
  /// Estimated instructions for one vector.
  unsigned cost = 1;
  mlir::Value buffer;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_STAGEEPILOGUE_H
