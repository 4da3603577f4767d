// Composites: type inference. How each is written with simpler operations is in GraphDecompositions.cpp.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

/// An operand that may be absent has this shape and the elements of the input.
static LogicalResult checkOperand(MaybeLocation location, StringRef op, StringRef what, Value value, ArrayRef<DimExpr> shape,
                                  RankedTensorType input) {
  if (!value)
    return success();
  if (failed(checkShape(location, op, what, tensorTypeOf(value), shape)))
    return failure();
  return checkElement(location, op, what, tensorTypeOf(value), input.getElementType());
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  StringRef op = getOperationName();
  int64_t axis = adaptor.getAxis();
  types.push_back(input);
  if (failed(checkAxis(location, op, "axis", axis, input.getRank())))
    return failure();
  SmallVector<DimExpr> vector = {dimOf(input, axis)};
  if (failed(checkOperand(location, op, "scale", adaptor.getScale(), vector, input)) ||
      failed(checkOperand(location, op, "bias", adaptor.getBias(), vector, input)) ||
      failed(checkOperand(location, op, "mean", adaptor.getMean(), vector, input)))
    return failure();
  return checkOperand(location, op, "variance", adaptor.getVariance(), vector, input);
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  StringRef op = getOperationName();
  int64_t axis = adaptor.getAxis();
  types.push_back(input);
  if (failed(checkAxis(location, op, "axis", axis, input.getRank())))
    return failure();
  SmallVector<DimExpr> normalised = dimsOf(input);
  normalised.erase(normalised.begin(), normalised.begin() + axis);
  if (failed(checkOperand(location, op, "scale", adaptor.getScale(), normalised, input)))
    return failure();
  return checkOperand(location, op, "bias", adaptor.getBias(), normalised, input);
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  types.push_back(input);
  if (failed(checkAxis(location, getOperationName(), "axis", axis, input.getRank())))
    return failure();
  SmallVector<DimExpr> normalised = dimsOf(input);
  normalised.erase(normalised.begin(), normalised.begin() + axis);
  return checkOperand(location, getOperationName(), "scale", adaptor.getScale(), normalised, input);
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  types.push_back(adaptor.getInput().getType());
  return checkAxis(location, getOperationName(), "axis", adaptor.getAxis(), tensorTypeOf(adaptor.getInput()).getRank());
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  types.push_back(adaptor.getInput().getType());
  return checkAxis(location, getOperationName(), "axis", adaptor.getAxis(), tensorTypeOf(adaptor.getInput()).getRank());
}

LogicalResult GeluOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferSameType(location, getOperationName(), adaptor.getOperands(), types);
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType query = tensorTypeOf(adaptor.getQuery()), key = tensorTypeOf(adaptor.getKey()), value = tensorTypeOf(adaptor.getValue());
  StringRef op = getOperationName();
  int64_t rank = query.getRank();
  if (rank < 2 || key.getRank() != rank || value.getRank() != rank)
    return inferenceError(location, op, "has a query, key and value of ranks ", rank, ", ", key.getRank(), " and ", value.getRank(),
                          ", expected equal ranks of at least 2");
  SmallVector<DimExpr> expectedKey = dimsOf(query), expectedValue = expectedKey, result = expectedKey, scores = expectedKey;
  expectedKey[rank - 2] = expectedValue[rank - 2] = scores[rank - 1] = dimOf(key, rank - 2);
  expectedValue[rank - 1] = result[rank - 1] = dimOf(value, rank - 1);
  if (failed(checkOperand(location, op, "key", adaptor.getKey(), expectedKey, query)) ||
      failed(checkOperand(location, op, "value", adaptor.getValue(), expectedValue, query)))
    return failure();
  if (adaptor.getMask()) {
    RankedTensorType mask = tensorTypeOf(adaptor.getMask());
    SmallVector<DimExpr> sizes = dimsOf(mask);
    bool fits = mask.getRank() == rank;
    for (int64_t axis = 0; fits && axis < rank; ++axis)
      fits = sizes[axis].isConstant(1) || sizes[axis] == scores[axis];
    if (!fits)
      return inferenceError(location, op, "has a mask of shape ", str(sizes), ", expected one that broadcasts to ", str(scores));
    if (!isBoolElement(mask.getElementType()) && failed(checkElement(location, op, "mask", mask, query.getElementType())))
      return failure();
  }
  std::optional<DimsAttr> offset = adaptor.getCausalOffset();
  if (offset && (offset->dims().size() != 1 || !adaptor.getCausal()))
    return inferenceError(location, op, "has a causal offset of ", offset->dims().size(), " sizes",
                          adaptor.getCausal() ? ", expected 1" : " without being causal");
  return inferTensor(location, op, result, query.getElementType(), types);
}

DimExpr AttentionOp::causalOffset() {
  std::optional<DimsAttr> offset = getCausalOffset();
  return offset ? offset->dims()[0] : DimExpr(0);
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphNormalisation.cpp.inc"
