//===- Vectoriser.h - loops for a function of linalg operations ------------===//
//
// Chooses the loop structure of one kernel whose body is linalg, and writes it
// with KernelBuilder and LaneEvaluator. Two structures cover the families:
//
//  - *elementwise*: no reduction is involved; loops over the results' shape,
//    vectors along the last dim.
//  - *rows*: the body reduces over some dims, possibly several times. The other
//    dims are the rows, which are shared out over the workers. Within a row the
//    reductions are computed one after the other, then the results. Vectors run
//    along the row, or, where rows are very short or not contiguous, across
//    neighbouring rows.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_VECTORISER_H
#define STATOR_PASSES_KERNEL_VECTORISER_H

#include "passes/Kernel/LaneEvaluator.h"

namespace stator::kernel {

class Vectoriser {
public:
  Vectoriser(mlir::func::FuncOp source, const KernelOptions &options);
  /// Emits the kernel and erases the source.
  void run();

private:
  using Value = mlir::Value;
  using Values = KernelBuilder::Values;
  using IndexBody = llvm::function_ref<void(llvm::ArrayRef<LaneValue>)>;

  struct Result {
    Value tensor;
    mlir::RankedTensorType type;
    Value base;
  };
  /// What the reductions of a kernel agree on.
  struct RowStructure {
    llvm::SmallVector<DimExpr> dims;         // of the whole iteration space
    llvm::SmallVector<bool> isReduced;       // per dim
    llvm::SmallVector<unsigned> rows, inner; // the dims of either kind, increasing
    bool alongRow = true;                    // vectors run along the row
  };

  /// An operand whose contiguous dim is result dim `dim`, which is not the last.
  struct Transposition {
    mlir::BlockArgument operand;
    mlir::AffineMap map; // from the result's dims to the operand's
    unsigned dim;
    enum { Tile, TakeApart, Interleave } kind = Tile;
  };

  void emitElementwise();
  /// Runs `body` for every index of `dims`, shared out over the workers, with vectors along the last dim.
  void overShape(llvm::ArrayRef<DimExpr> dims, unsigned widening, int64_t chunk, IndexBody body);
  void storeResult(const Result &result, llvm::ArrayRef<LaneValue> at);

  // VectoriserTranspose.cpp
  std::optional<Transposition> findTransposition();
  void emitTransposed(const Transposition &transposition);
  void emitInterleaved(const Transposition &transposition);

  // VectoriserRows.cpp
  std::optional<RowStructure> findRowStructure();
  void emitRows(const RowStructure &rows);
  void emitRow(const RowStructure &rows, llvm::ArrayRef<LaneValue> rowIndex);
  void overInner(const RowStructure &rows, llvm::ArrayRef<LaneValue> rowIndex, IndexBody body);
  void chooseKeptTensors(const RowStructure &rows);

  KernelBuilder k;
  LaneEvaluator evaluator;
  mlir::func::FuncOp source;
  llvm::SmallVector<Result> results;
  llvm::SmallVector<mlir::linalg::GenericOp> reductions;
  /// Tensors kept in memory within a row, by the number of the phase that computes them.
  llvm::SmallVector<std::pair<unsigned, Value>> keptTensors;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_VECTORISER_H
