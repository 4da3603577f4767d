//===- StrassenKernel.h - matrix products by Strassen's algorithm ----------===//
//
// For products with constant weights that were packed for it; the algorithm is
// in dialects/Target/Strassen.h, the order of work in StrassenKernel.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_STRASSENKERNEL_H
#define STATOR_PASSES_KERNEL_STRASSENKERNEL_H

#include "passes/Kernel/MatmulKernel.h"

namespace stator::kernel {

/// Emits the loops of `problem`, f32 with a known number of rows and `isStrassen`. `lhs` and `rhs` are the buffers; results go through
/// `epilogue`.
void emitStrassen(KernelBuilder &b, const MatmulProblem &problem, mlir::Value lhs, mlir::Value rhs, ContractionEpilogue &epilogue);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_STRASSENKERNEL_H
