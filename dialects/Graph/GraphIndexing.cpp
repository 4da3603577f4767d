// Gathers and scatters: type inference.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, getOperationName(), "axis", axis, input.getRank())))
    return failure();
  SmallVector<DimExpr> dims = dimsOf(input), indices = dimsOf(tensorTypeOf(adaptor.getIndices()));
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.begin(), indices.end());
  return inferTensor(location, getOperationName(), dims, input.getElementType(), types);
}

/// Indices have the rank of the input, and off the axis no size that is known to exceed the input's.
static LogicalResult checkElementIndices(MaybeLocation location, StringRef op, RankedTensorType input, RankedTensorType indices,
                                         int64_t axis) {
  if (failed(checkAxis(location, op, "axis", axis, input.getRank())))
    return failure();
  if (indices.getRank() != input.getRank())
    return inferenceError(location, op, "has indices of rank ", indices.getRank(), ", expected ", input.getRank());
  for (int64_t i = 0; i < input.getRank(); ++i) {
    std::optional<int64_t> room = (dimOf(input, i) - dimOf(indices, i)).constant();
    if (i != axis && room && *room < 0)
      return inferenceError(location, op, "has indices of shape ", str(dimsOf(indices)), " for an input of shape ", str(dimsOf(input)),
                            ", expected no larger size off axis ", axis);
  }
  return success();
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput()), indices = tensorTypeOf(adaptor.getIndices());
  if (failed(checkElementIndices(location, getOperationName(), input, indices, adaptor.getAxis())))
    return failure();
  types.push_back(withElement(indices, input.getElementType()));
  return success();
}

/// The constant length of the index tuples, which address axes `first ..` of the input.
static FailureOr<int64_t> tupleLength(MaybeLocation location, StringRef op, RankedTensorType input, RankedTensorType indices,
                                      int64_t first) {
  if (indices.getRank() == 0 || indices.isDynamicDim(indices.getRank() - 1))
    return inferenceError(location, op, "has indices of type ", indices, ", expected a last axis of constant size");
  int64_t length = indices.getShape().back();
  if (length > input.getRank() - first)
    return inferenceError(location, op, "has index tuples of length ", length, ", expected at most ", input.getRank() - first);
  return length;
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput()), indices = tensorTypeOf(adaptor.getIndices());
  StringRef op = getOperationName();
  int64_t batch = adaptor.getBatchDims();
  if (batch < 0 || batch >= std::max<int64_t>(indices.getRank(), 1) || batch > input.getRank())
    return inferenceError(location, op, "has `batch_dims` ", batch, " for an input of rank ", input.getRank(), " and indices of rank ",
                          indices.getRank());
  FailureOr<int64_t> length = tupleLength(location, op, input, indices, batch);
  if (failed(length))
    return failure();
  SmallVector<DimExpr> data = dimsOf(input), dims = dimsOf(indices);
  if (ArrayRef<DimExpr>(data).take_front(batch) != ArrayRef<DimExpr>(dims).take_front(batch))
    return inferenceError(location, op, "has batch axes ", str(ArrayRef<DimExpr>(data).take_front(batch)), " in the input and ",
                          str(ArrayRef<DimExpr>(dims).take_front(batch)), " in the indices, which must be equal");
  dims.pop_back();
  dims.append(data.begin() + batch + *length, data.end());
  return inferTensor(location, op, dims, input.getElementType(), types);
}

/// Updates have the element type of the input, which must be one that the reduction can combine.
static LogicalResult checkUpdates(MaybeLocation location, StringRef op, RankedTensorType input, RankedTensorType updates,
                                  ScatterReduction reduction) {
  if (reduction != ScatterReduction::None && !isNumberElement(input.getElementType()))
    return inferenceError(location, op, "combines ", input.getElementType(), " elements by `", stringifyScatterReduction(reduction),
                          "`, expected numbers");
  return checkElement(location, op, "tensor of updates", updates, input.getElementType());
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput()), indices = tensorTypeOf(adaptor.getIndices()),
                   updates = tensorTypeOf(adaptor.getUpdates());
  StringRef op = getOperationName();
  types.push_back(input);
  if (failed(checkElementIndices(location, op, input, indices, adaptor.getAxis())) ||
      failed(checkShape(location, op, "tensor of updates", updates, dimsOf(indices))))
    return failure();
  return checkUpdates(location, op, input, updates, adaptor.getReduction());
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput()), indices = tensorTypeOf(adaptor.getIndices()),
                   updates = tensorTypeOf(adaptor.getUpdates());
  StringRef op = getOperationName();
  types.push_back(input);
  FailureOr<int64_t> length = tupleLength(location, op, input, indices, 0);
  if (failed(length))
    return failure();
  SmallVector<DimExpr> data = dimsOf(input), expected = dimsOf(indices);
  expected.pop_back();
  expected.append(data.begin() + *length, data.end());
  if (failed(checkShape(location, op, "tensor of updates", updates, expected)))
    return failure();
  return checkUpdates(location, op, input, updates, adaptor.getReduction());
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphIndexing.cpp.inc"
