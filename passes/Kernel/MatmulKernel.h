//===- MatmulKernel.h - matrix products ------------------------------------===//
//
// A contraction in one normal form: outer dims that are walked, then rows, k
// and columns, each with its stride on either side. graph.dot_general of any
// dim order and convolutions with 1x1 filters are brought into this form; see
// MatmulKernel.cpp for the loops.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_MATMULKERNEL_H
#define STATOR_PASSES_KERNEL_MATMULKERNEL_H

#include "passes/Kernel/ContractionEpilogue.h"

namespace stator::kernel {

/// One result dim that is walked outside of the tiles. Strides are in elements; 0 where the side does not have the dim.
struct MatmulOuterDim {
  DimExpr size, lhsStride, rhsStride;
};

struct MatmulProblem {
  /// The result's leading dims.
  llvm::SmallVector<MatmulOuterDim> outer;
  /// The result dims between the outer ones and the last; together they are the rows.
  llvm::SmallVector<DimExpr> rowDims;
  DimExpr depth, columns;
  DimExpr lhsRowStride, lhsDepthStride;
  /// Of a plain right-hand side; a packed one has the layout `matmulPanelsLayout`.
  DimExpr rhsDepthStride, rhsColumnStride;
  bool isPacked = false;
  /// Packed in the layout `strassenPanelsLayout` instead: StrassenKernel.h.
  bool isStrassen = false;
  /// Storage type of both sides.
  mlir::Type type;

  DimExpr rows() const {
    DimExpr product = 1;
    for (const DimExpr &dim : rowDims)
      product *= dim;
    return product;
  }
};

/// Indices of the row dims for row `row`.
llvm::SmallVector<mlir::Value> rowIndicesOf(KernelBuilder &b, const MatmulProblem &problem, mlir::Value row);

/// Emits the loops of `problem`. `lhs` and `rhs` are the buffers; results go through `epilogue`.
void emitMatmul(KernelBuilder &b, const MatmulProblem &problem, mlir::Value lhs, mlir::Value rhs, ContractionEpilogue &epilogue);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_MATMULKERNEL_H
