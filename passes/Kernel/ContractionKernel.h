//===- ContractionKernel.h - kernels around one contraction ----------------===//
//
// Entry point of the emitters of matrix products, convolutions, recurrent
// layers and attention: the families whose time is arithmetic, and whose loops
// are written by hand rather than derived from linalg.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_CONTRACTIONKERNEL_H
#define STATOR_PASSES_KERNEL_CONTRACTIONKERNEL_H

#include "passes/Kernel/KernelOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace stator::kernel {

/// The operation of a kernel function that these emitters take care of, or null.
mlir::Operation *contractionOf(mlir::func::FuncOp source);

/// Replaces `source` by the kernel that computes it. `source` holds one contraction whose operands are the function's arguments, or the
/// chain of convolutions of a fused block; everything else computes the function's results from the contraction's (linalg.generic and constants, evaluated on its tiles).
/// Fails, with a diagnostic at the contraction, when it has a form that no kernel takes.
mlir::FailureOr<mlir::func::FuncOp> emitContraction(mlir::func::FuncOp source, const KernelOptions &options);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_CONTRACTIONKERNEL_H
