//===- FusedBlockKernel.h - expand, depthwise, project in one kernel -------===//
//
// Blocks of mobile networks widen an image with a 1x1 convolution, filter each
// channel and narrow it again. The wide tensor is by far the largest of the
// block and is read once, so it is never stored: see FusedBlockKernel.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_FUSEDBLOCKKERNEL_H
#define STATOR_PASSES_KERNEL_FUSEDBLOCKKERNEL_H

#include "passes/Kernel/ConvolutionKernel.h"
#include "passes/Kernel/LaneEvaluator.h"

namespace stator::kernel {

/// One convolution of a block.
struct BlockStage {
  mlir::Value convolution; // its result
  mlir::Value value;       // what the next stage reads, or the function returns: element-wise from `convolution`
  ConvolutionProblem problem;
  mlir::Value filter; // buffer
};

struct BlockProblem {
  std::optional<BlockStage> expand; // 1x1
  BlockStage depthwise;
  std::optional<BlockStage> project; // 1x1
  mlir::Value input;                 // buffer that the first stage reads
};

/// Emits the loops. The function returns one tensor, the last stage's value.
void emitFusedBlock(KernelBuilder &b, LaneEvaluator &evaluator, const BlockProblem &problem);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_FUSEDBLOCKKERNEL_H
