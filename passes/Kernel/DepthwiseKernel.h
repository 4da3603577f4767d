//===- DepthwiseKernel.h - depthwise convolution, channels last ------------===//
//
// The case groups == channels == outputs of a convolution, which has nothing to
// sum over channels and so wants another loop nest; see DepthwiseKernel.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_DEPTHWISEKERNEL_H
#define STATOR_PASSES_KERNEL_DEPTHWISEKERNEL_H

#include "passes/Kernel/ConvolutionKernel.h"

namespace stator::kernel {

/// Emits the loops of `problem`; `filter` has the layout `depthwiseLayout`; results go through `epilogue`.
void emitDepthwise(KernelBuilder &b, const ConvolutionProblem &problem, mlir::Value input, mlir::Value filter,
                   ContractionEpilogue &epilogue);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_DEPTHWISEKERNEL_H
