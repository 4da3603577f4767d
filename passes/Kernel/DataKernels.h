//===- DataKernels.h - kernels that are one op with loops of its own -------===//
//
// Operations that are not a function of an index: writing to places that are
// data (scatter), several sources for one result (concat, constant pad), running
// values (cumulative), order (top_k). Each stands alone in its kernel, and its
// emitter writes the loops with KernelBuilder.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_DATAKERNELS_H
#define STATOR_PASSES_KERNEL_DATAKERNELS_H

#include "passes/Kernel/KernelBuilder.h"

#include "dialects/Graph/GraphOps.h"

namespace stator::kernel {

/// Whether `op` has an emitter here.
bool isDataOp(mlir::Operation *op);
/// Whether the function is one such op on its arguments.
bool isDataKernel(mlir::func::FuncOp source);
/// Replaces `source` by its kernel.
void emitDataKernel(mlir::func::FuncOp source, const KernelOptions &options);

// The emitters.
void emitConcat(KernelBuilder &k, graph::ConcatOp op);
void emitPad(KernelBuilder &k, graph::PadOp op);
void emitScatterElements(KernelBuilder &k, graph::ScatterElementsOp op);
void emitScatterNd(KernelBuilder &k, graph::ScatterNdOp op);
void emitCumulative(KernelBuilder &k, graph::CumulativeOp op);
void emitTopK(KernelBuilder &k, graph::TopKOp op);

// What they share.

/// The buffer of a value of the source function: an argument's, or a constant's data.
mlir::Value bufferOf(KernelBuilder &k, mlir::Value tensor);

/// A tensor seen along one axis: the dims before it, its length, the dims after it.
struct AxisView {
  AxisView(mlir::RankedTensorType type, int64_t axis);
  DimExpr outer, length, inner;
};

/// Copies `count` elements as vectors, bit by bit.
void emitCopyRow(KernelBuilder &k, mlir::Value source, mlir::Value sourceOffset, mlir::Value target, mlir::Value targetOffset,
                 mlir::Value count, mlir::Type storage);
/// `value` is one element in its compute type.
void emitFillRow(KernelBuilder &k, mlir::Value value, mlir::Value target, mlir::Value targetOffset, mlir::Value count, mlir::Type storage);
/// Runs `body` over [begin, end) in steps of one vector, with a mask for the last; without masks the rest is scalar (lanes == 1).
void emitVectorLoop(KernelBuilder &k, mlir::Value begin, mlir::Value end,
                    llvm::function_ref<void(mlir::Value index, unsigned lanes, mlir::Value mask)> body);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_DATAKERNELS_H
