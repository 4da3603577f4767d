//===- FusionFamilies.h - which kernel family an op belongs to -------------===//

#ifndef STATOR_PASSES_OPTIMISE_FUSIONFAMILIES_H
#define STATOR_PASSES_OPTIMISE_FUSIONFAMILIES_H

#include "dialects/Graph/GraphOps.h"

namespace stator::optimise {

/// dot_general and convolution.
bool isContraction(mlir::Operation *op);

/// A convolution in which each channel is filtered alone: groups == input channels == output channels.
bool isDepthwise(graph::ConvolutionOp op);

/// An op that reduces the trailing axes of its first operand: a reduce, or a normalisation composite.
bool isRowAnchor(mlir::Operation *op);

/// The axes that a row anchor reduces.
llvm::SmallVector<int64_t> rowAxes(mlir::Operation *op);

/// The kernel family of a region whose main op is `op`.
llvm::StringRef familyOf(mlir::Operation *op);

/// Whether the plan executes `op` itself: parameters, constants, views, shape values, control flow, terminators.
bool runsWithoutKernel(mlir::Operation *op);

/// What optimise-choose-kernels decided for a contraction.
struct KernelChoice {
  std::string kernel = "own";
  std::string reason;
};
void setKernelChoice(mlir::Operation *op, llvm::StringRef kernel, llvm::StringRef reason);
bool hasKernelChoice(mlir::Operation *op);
/// Adds to the reason of an own kernel, whenever that is chosen.
void setAlgorithmNote(mlir::Operation *op, llvm::StringRef note);
/// Reads the choice and removes it from the op.
KernelChoice takeKernelChoice(mlir::Operation *op);
/// The chosen kernel without removing the choice; "own" when there is none.
llvm::StringRef chosenKernel(mlir::Operation *op);

} // namespace stator::optimise

#endif // STATOR_PASSES_OPTIMISE_FUSIONFAMILIES_H
