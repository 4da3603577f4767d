// Pools: type inference.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  StringRef op = getOperationName();
  if (input.getRank() < 3)
    return inferenceError(location, op, "has an input of rank ", input.getRank(), ", expected at least 3");
  if (adaptor.getKind() == PoolKind::Average && !isFloatElement(input.getElementType()))
    return inferenceError(location, op, "averages ", input.getElementType(), " elements, expected floating-point ones");
  if (std::optional<ArrayRef<int64_t>> extras = adaptor.getCeilExtra()) {
    if (failed(checkLength(location, op, "ceil_extra", extras->size(), input.getRank() - 2)))
      return failure();
    for (int64_t extra : *extras)
      if (extra < 0 || extra > kMaxAmount)
        return inferenceError(location, op, "has `ceil_extra` ", extra, ", expected 0 to ", kMaxAmount);
  }
  SmallVector<DimExpr> dims = dimsOf(input);
  bool last = adaptor.getLayout() == TensorLayout::ChannelsLast;
  SmallVector<DimExpr> spatial(dims.begin() + (last ? 1 : 2), dims.end() - (last ? 1 : 0));
  WindowAttributes window{adaptor.getKernel(), adaptor.getStrides(), adaptor.getPadLow(), adaptor.getPadHigh(), adaptor.getDilations()};
  if (failed(inferWindow(location, op, window, spatial)))
    return failure();
  llvm::copy(spatial, dims.begin() + (last ? 1 : 2));
  return inferTensor(location, op, dims, input.getElementType(), types);
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphWindow.cpp.inc"
