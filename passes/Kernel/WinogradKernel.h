//===- WinogradKernel.h - 3x3 convolution with fewer multiplications -------===//
//
// The problem that WinogradKernel.cpp (order of work, products) and
// WinogradTransforms.cpp (tiles of input and output) share. The algorithm and
// its matrices are in dialects/Target/Winograd.h.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_WINOGRADKERNEL_H
#define STATOR_PASSES_KERNEL_WINOGRADKERNEL_H

#include "dialects/Target/Winograd.h"
#include "passes/Kernel/ConvolutionKernel.h"

namespace stator::kernel {

/// Emits the loops of `problem`, a 3x3 convolution of stride 1, with output tiles of `tile` x `tile`; `filter` has the layout
/// `winogradPanelsLayout`; results go through `epilogue`.
void emitWinograd(KernelBuilder &b, const ConvolutionProblem &problem, unsigned tile, mlir::Value input, mlir::Value filter,
                  ContractionEpilogue &epilogue);

/// Where the elements of one transformed tile lie: element e of channel c at `base + e * elementStride + c`.
struct TransformedTile {
  mlir::Value base;
  int64_t elementStride;
};

/// The transforms of tiles of a convolution at run time.
class WinogradTransforms {
public:
  WinogradTransforms(KernelBuilder &b, const ConvolutionProblem &problem, unsigned tile, mlir::Value input, ContractionEpilogue &epilogue);

  /// All tiles of the batch, a linear index space.
  mlir::Value tileCount() const { return total; }

  /// B^T d B of tile `index` for all channels.
  void emitInput(mlir::Value index, TransformedTile to);
  /// A^T m A of tile `index`, and the epilogue, for the output channels of `vectors` vectors from `column` on; `masks` as in TilePosition.
  void emitOutput(mlir::Value index, TransformedTile from, mlir::Value column, llvm::ArrayRef<mlir::Value> masks);

private:
  using Values = KernelBuilder::Values;
  struct Position {
    mlir::Value image, y, x; // of the first output pixel
  };
  Position positionOf(mlir::Value index);
  void emitChannels(llvm::function_ref<mlir::Value(unsigned i, unsigned j, mlir::Value channel, mlir::Value mask)> load, TransformedTile to);
  void transformInput(llvm::function_ref<mlir::Value(unsigned i, unsigned j)> load, mlir::Value channel, TransformedTile to);
  /// Of B^T d: rows 0 and infinity for `pair` 0, else those of the two points of pair `pair - 1`.
  std::pair<mlir::Value, mlir::Value> inputPair(unsigned pair, llvm::ArrayRef<mlir::Value> d);
  Values outputColumn(llvm::ArrayRef<mlir::Value> m);
  void emitOutputVector(const Position &position, TransformedTile from, mlir::Value offset, mlir::Value column, mlir::Value mask);

  /// sum of coefficients[i] * values[i]; zero coefficients have no term.
  mlir::Value combine(llvm::ArrayRef<double> coefficients, llvm::ArrayRef<mlir::Value> values);

  KernelBuilder &b;
  const ConvolutionProblem &problem;
  ContractionEpilogue &epilogue;
  WinogradTransform transform;
  mlir::Value input;
  mlir::Type vectorType;
  mlir::Value tilesX, tilesY, total;
  /// A pixel of zeros, a table of the addresses of an input tile's pixels, and the outputs of a tile.
  mlir::Value zeros, table, pixels;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_WINOGRADKERNEL_H
