//===- Views.cpp - contiguity of slices and concatenations -----------------===//
//
// Decided on the symbolic sizes: a size that merely may be 1 is not 1.
//
//===----------------------------------------------------------------------===//

#include "dialects/Plan/Views.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/PitchedAccess.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stator;

std::optional<DimExpr> plan::contiguousSliceOffset(graph::SliceOp slice) {
  auto inputType = cast<RankedTensorType>(slice.getInput().getType());
  auto resultType = cast<RankedTensorType>(slice.getType());
  SmallVector<DimExpr> inputDims = graph::dimsOf(inputType), resultDims = graph::dimsOf(resultType);
  SmallVector<DimExpr> starts = slice.getStarts().dims();
  ArrayRef<int64_t> strides = slice.getStrides();
  // From the innermost axis outwards: full axes, then one that may be cut, then only axes of size 1.
  bool cut = false;
  DimExpr offsetElements(0), strideElements(1);
  for (int64_t axis = inputType.getRank() - 1; axis >= 0; --axis) {
    bool isOne = resultDims[axis].isConstant(1);
    if (strides[axis] != 1 && !isOne)
      return std::nullopt;
    if (cut && !isOne)
      return std::nullopt;
    if (resultDims[axis] != inputDims[axis])
      cut = true;
    offsetElements += starts[axis] * strideElements;
    strideElements *= inputDims[axis];
  }
  return offsetElements * DimExpr(static_cast<int64_t>(byteSize(graph::elementTypeOf(inputType.getElementType()))));
}

bool plan::isContiguousConcat(graph::ConcatOp concat) {
  SmallVector<DimExpr> dims = graph::dimsOf(cast<RankedTensorType>(concat.getType()));
  return llvm::all_of(ArrayRef(dims).take_front(concat.getAxis()), [](const DimExpr &dim) { return dim.isConstant(1); });
}

bool plan::isView(Operation *op) {
  if (isa<graph::ReshapeOp>(op) || op->hasAttr(kPitchedAttrName))
    return true;
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    return isContiguousSlice(slice);
  if (auto concat = dyn_cast<graph::ConcatOp>(op))
    return isContiguousConcat(concat);
  return false;
}
