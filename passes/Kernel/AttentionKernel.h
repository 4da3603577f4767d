//===- AttentionKernel.h - scaled dot-product attention --------------------===//
//
// softmax(query * key^T * scale + mask) * value in one kernel, without a matrix
// of scores in memory; see AttentionKernel.cpp. All tensors are read and
// written through strides: heads may lie next to each other in a row, the three
// operands in one tensor, and keys and values in a cache followed by new ones.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_ATTENTIONKERNEL_H
#define STATOR_PASSES_KERNEL_ATTENTIONKERNEL_H

#include "passes/Kernel/KernelBuilder.h"

#include "dialects/Graph/GraphOps.h"

namespace stator::kernel {

/// Rows of one tensor: element c of row r of a head is element offset + (index of the head) * outerStrides + r * rowStride + c.
struct AttentionRows {
  mlir::Value buffer;
  DimExpr offset, rows, rowStride;
  llvm::SmallVector<DimExpr> outerStrides;
};

struct AttentionProblem {
  llvm::SmallVector<DimExpr> outer; // leading dims of all three
  DimExpr queries, keys;
  int64_t depth = 0, columns = 0; // of query and key; of value
  double scale = 1;
  bool isCausal = false, emptyRowsZero = false;
  DimExpr causalOffset;
  mlir::Type type;
  AttentionRows query, result;
  /// In order; their rows together are the keys.
  llvm::SmallVector<AttentionRows> key, value;
  /// Null without a mask. Strides are 0 in dims of size 1; the last two are those of queries and keys.
  mlir::Type maskType;
  mlir::Value mask;
  llvm::SmallVector<DimExpr> maskStrides;
};

/// Emits the kernel of `source`, which computes `op` and ops that rename elements before and after it.
mlir::FailureOr<mlir::func::FuncOp> emitAttentionKernel(mlir::func::FuncOp source, graph::AttentionOp op, const KernelOptions &options);

/// Emits the loops of `problem`.
void emitAttention(KernelBuilder &b, const AttentionProblem &problem);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_ATTENTIONKERNEL_H
