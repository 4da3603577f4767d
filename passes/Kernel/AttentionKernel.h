//===- AttentionKernel.h - scaled dot-product attention --------------------===//
//
// softmax(query * key^T * scale + mask) * value in one kernel, without a matrix
// of scores in memory; see AttentionKernel.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_ATTENTIONKERNEL_H
#define STATOR_PASSES_KERNEL_ATTENTIONKERNEL_H

#include "passes/Kernel/ContractionEpilogue.h"

namespace stator::kernel {

struct AttentionProblem {
  llvm::SmallVector<DimExpr> outer; // leading dims of all three
  DimExpr queries, keys;
  int64_t depth = 0, columns = 0; // of query and key; of value
  double scale = 1;
  bool isCausal = false;
  mlir::Type type;
  /// Null without a mask. Strides are 0 in dims of size 1; the last two are those of queries and keys.
  mlir::Type maskType;
  llvm::SmallVector<DimExpr> maskStrides;
};

/// Emits the loops of `problem` over buffers; results go through `epilogue`.
void emitAttention(KernelBuilder &b, const AttentionProblem &problem, mlir::Value query, mlir::Value key, mlir::Value value,
                   mlir::Value mask, ContractionEpilogue &epilogue);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_ATTENTIONKERNEL_H
