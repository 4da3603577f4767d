// Reductions, scans and sorting: type inference.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

/// The sizes left after a reduction over `axes`.
static SmallVector<DimExpr> reducedDims(RankedTensorType input, ArrayRef<int64_t> axes, bool keepDims) {
  SmallVector<DimExpr> dims;
  for (int64_t axis = 0; axis < input.getRank(); ++axis) {
    if (!llvm::is_contained(axes, axis))
      dims.push_back(dimOf(input, axis));
    else if (keepDims)
      dims.push_back(1);
  }
  return dims;
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  bool logical = adaptor.getKind() == ReduceKind::Any || adaptor.getKind() == ReduceKind::All;
  if (logical != isBoolElement(input.getElementType()))
    return inferenceError(location, getOperationName(), "of kind `", stringifyReduceKind(adaptor.getKind()), "` has an operand of ",
                          input.getElementType(), " elements, expected ", logical ? "i1" : "numbers");
  if (failed(checkIncreasingAxes(location, getOperationName(), "axes", adaptor.getAxes(), input.getRank())))
    return failure();
  return inferTensor(location, getOperationName(), reducedDims(input, adaptor.getAxes(), adaptor.getKeepDims()), input.getElementType(),
                     types);
}

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, getOperationName(), "axis", axis, input.getRank())))
    return failure();
  if (dimOf(input, axis).isConstant(0))
    return inferenceError(location, getOperationName(), "looks for an extremum on axis ", axis, ", which is empty");
  return inferTensor(location, getOperationName(), reducedDims(input, axis, adaptor.getKeepDims()), IntegerType::get(context, 64), types);
}

LogicalResult CumulativeOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  types.push_back(input);
  return checkAxis(location, getOperationName(), "axis", adaptor.getAxis(), input.getRank());
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  StringRef op = getOperationName();
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, op, "axis", axis, input.getRank())) || failed(checkLength(location, op, "k", adaptor.getK().size(), 1)))
    return failure();
  SmallVector<DimExpr> dims = dimsOf(input);
  DimExpr k = adaptor.getK().dim(0);
  std::optional<int64_t> room = (dims[axis] - k).constant();
  if ((room && *room < 0) || (k.isConstant() && *k.constant() < 0))
    return inferenceError(location, op, "wants ", k.str(), " elements of axis ", axis, " of size ", dims[axis].str());
  dims[axis] = k;
  if (failed(inferTensor(location, op, dims, input.getElementType(), types)))
    return failure();
  return inferTensor(location, op, dims, IntegerType::get(context, 64), types);
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphReduction.cpp.inc"
