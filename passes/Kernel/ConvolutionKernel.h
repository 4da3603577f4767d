//===- ConvolutionKernel.h - direct convolution, channels last -------------===//
//
// The problem that ConvolutionKernel.cpp (which tiles, in which order) and
// ConvolutionTile.cpp (the taps of one tile) share.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_CONVOLUTIONKERNEL_H
#define STATOR_PASSES_KERNEL_CONVOLUTIONKERNEL_H

#include "passes/Kernel/ContractionEpilogue.h"

namespace stator::kernel {

/// One spatial axis.
struct ConvolutionAxis {
  DimExpr input, output;
  int64_t taps, stride, padLow, dilation;

  /// Input position of tap `tap` for output position `output`.
  int64_t position(int64_t output, int64_t tap) const { return output * stride - padLow + tap * dilation; }
  /// Whether no tap of any output can lie outside of the input. False when sizes are not known.
  bool isInside() const;
};

struct ConvolutionProblem {
  DimExpr batch;
  llvm::SmallVector<ConvolutionAxis> axes; // the last is the width
  int64_t channels = 0, outputs = 0, groups = 1;
  int64_t pixelStride = 0; // of the input, in elements: its channels unless it is pitched
  mlir::Type type;         // storage type of input and filter

  int64_t groupChannels() const { return channels / groups; }
  int64_t groupOutputs() const { return outputs / groups; }
  const ConvolutionAxis &width() const { return axes.back(); }
  int64_t totalTaps() const;
};

/// Output pixels of one register tile: `height` neighbouring rows by `width` neighbouring columns.
struct PixelTile {
  unsigned height = 1, width = 1;
  unsigned pixels() const { return height * width; }
};

/// What a tile needs to know to read its operands.
struct ConvolutionOperands {
  mlir::Value input;                      // of this image, at the group's first channel
  llvm::SmallVector<mlir::Value> strides; // of the input's spatial axes, elements
  TileColumns filter;                     // at tap 0, channel 0 of this column tile
  mlir::Value zeros;                      // a pixel of zeros, for taps outside
  TilePrefetch prefetch;                  // from tap 0, channel 0 on
};

/// For each tap of the width axis, the columns [first, second) of a tile that it reads inside of the input.
using TapColumns = llvm::SmallVector<std::pair<unsigned, unsigned>>;

/// Computes the accumulators of a tile whose first pixel is `outputs` (one index per axis). With `columns`, which taps are outside is
/// known; without, every tap of the width is tested and reads zeros where it is outside.
KernelBuilder::Values emitConvolutionTile(KernelBuilder &b, const ConvolutionProblem &problem, const ConvolutionOperands &operands,
                                          PixelTile tile, llvm::ArrayRef<mlir::Value> outputs, const TapColumns *columns);

/// Emits the loops of `problem`; `filter` has the layout `convPanelsLayout`; results go through `epilogue`.
void emitConvolution(KernelBuilder &b, const ConvolutionProblem &problem, mlir::Value input, mlir::Value filter,
                     ContractionEpilogue &epilogue);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_CONVOLUTIONKERNEL_H
