//===- GateKernel.h - the gate of squeeze-and-excite -----------------------===//
#ifndef STATOR_PASSES_KERNEL_GATEKERNEL_H
#define STATOR_PASSES_KERNEL_GATEKERNEL_H

#include "passes/Kernel/FusedBlockKernel.h"

namespace stator::kernel {

/// Emits the kernel of two products over one pixel each: `squeeze` reads `pooled`, element-wise from a reduction over an image, `excite`
/// what `squeeze` leaves; its value is the function's result.
void emitGate(KernelBuilder &b, LaneEvaluator &evaluator, mlir::Value pooled, const BlockStage &squeeze, const BlockStage &excite);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_GATEKERNEL_H
