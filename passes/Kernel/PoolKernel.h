//===- PoolKernel.h - windows over channels-last images --------------------===//
//
// Pools of f32-like elements with channels last. Each output pixel takes the
// positions of its window that lie inside of the input, as bounds of loops, so
// that no position has to be tested; vectors run over channels, several at a
// time, and the result goes through the epilogue as a contraction's does. Other
// pools are linalg (LowerPool.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_POOLKERNEL_H
#define STATOR_PASSES_KERNEL_POOLKERNEL_H

#include "passes/Kernel/ContractionEpilogue.h"

#include "dialects/Graph/GraphOps.h"

namespace stator::kernel {

/// Whether `op` has the form of this kernel.
bool isPoolKernel(graph::PoolOp op);

/// Emits the loops of `op`, which reads `input`.
void emitPool(KernelBuilder &b, graph::PoolOp op, mlir::Value input, ContractionEpilogue &epilogue);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_POOLKERNEL_H
