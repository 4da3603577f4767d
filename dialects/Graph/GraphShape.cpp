// Operations that move elements: type inference and verifiers.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

/// The result has the operand's element type.
static LogicalResult verifySameElement(Operation *op) {
  Type input = getElementTypeOrSelf(op->getOperand(0)), result = getElementTypeOrSelf(op->getResult(0));
  if (input != result)
    return op->emitOpError() << "has a result of " << result << " elements, expected " << input;
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifySameElement(*this)))
    return failure();
  DimExpr before = elementCount(getInput().getType()), after = elementCount(getType());
  if (!mayBeEqual(before, after))
    return emitOpError() << "turns " << before.str() << " elements of type " << getInput().getType() << " into " << after.str()
                         << " elements of type " << getType();
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(checkLength(location, getOperationName(), "permutation", permutation.size(), input.getRank())) ||
      failed(checkDistinctAxes(location, getOperationName(), "permutation", permutation, input.getRank())))
    return failure();
  SmallVector<DimExpr> dims;
  for (int64_t axis : permutation)
    dims.push_back(dimOf(input, axis));
  return inferTensor(location, getOperationName(), dims, input.getElementType(), types);
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  ArrayRef<int64_t> dimensions = getDimensions();
  if (failed(verifySameElement(*this)) ||
      failed(checkLength(getLoc(), getOperationName(), "dimensions", dimensions.size(), input.getRank())) ||
      failed(checkIncreasingAxes(getLoc(), getOperationName(), "dimensions", dimensions, result.getRank())))
    return failure();
  for (auto [axis, target] : llvm::enumerate(dimensions)) {
    DimExpr from = dimOf(input, axis), to = dimOf(result, target);
    if (!from.isConstant(1) && !(from == to))
      return emitOpError() << "puts axis " << axis << " of size " << from.str() << " on axis " << target << " of size " << to.str()
                           << ", expected equal sizes or 1";
  }
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  int64_t rank = input.getRank();
  if (failed(verifySameElement(*this)) || failed(checkLength(getLoc(), getOperationName(), "starts", getStarts().size(), rank)) ||
      failed(checkLength(getLoc(), getOperationName(), "strides", getStrides().size(), rank)))
    return failure();
  if (result.getRank() != rank)
    return emitOpError() << "has a result of rank " << result.getRank() << ", expected " << rank;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t stride = getStrides()[axis];
    if (stride < 1)
      return emitOpError() << "has stride " << stride << " on axis " << axis << ", expected at least 1";
    DimExpr start = getStarts().dim(axis), size = dimOf(result, axis), bound = dimOf(input, axis);
    if (size.isConstant(0))
      continue;
    DimExpr last = start + (size - 1) * stride, room = bound - 1 - last;
    // Only what is out of range whatever the symbols are; the rest is the business of whoever computed the sizes.
    if ((start.isConstant() && *start.constant() < 0) || (room.isConstant() && *room.constant() < 0))
      return emitOpError() << "reads elements " << start.str() << " to " << last.str() << " of axis " << axis << " of size " << bound.str();
  }
  return success();
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  types.push_back(input);
  return checkIncreasingAxes(location, getOperationName(), "axes", adaptor.getAxes(), input.getRank());
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  RankedTensorType input = tensorTypeOf(adaptor.getInput());
  DimsAttr low = adaptor.getLow(), high = adaptor.getHigh();
  ArrayRef<int64_t> interior = adaptor.getInterior();
  StringRef op = getOperationName();
  int64_t rank = input.getRank();
  if (failed(checkLength(location, op, "low", low.size(), rank)) || failed(checkLength(location, op, "high", high.size(), rank)) ||
      failed(checkLength(location, op, "interior", interior.size(), rank)) ||
      failed(checkShape(location, op, "value", tensorTypeOf(adaptor.getValue()), {})) ||
      failed(checkElement(location, op, "value", tensorTypeOf(adaptor.getValue()), input.getElementType())))
    return failure();

  bool copies = adaptor.getMode() != PadMode::Constant;
  SmallVector<DimExpr> dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    DimExpr size = dimOf(input, axis);
    if (interior[axis] < 0 || interior[axis] > kMaxAmount || (interior[axis] > 0 && (copies || size.isConstant(0))))
      return inferenceError(location, op, "has interior padding ", interior[axis], " on axis ", axis, " of size ", size.str(),
                            ", expected 0, or with mode `constant` and an axis that is not empty a positive number");
    for (const DimExpr &amount : {low.dim(axis), high.dim(axis)}) {
      if (amount.isConstant() && (*amount.constant() > kMaxAmount || *amount.constant() < -kMaxAmount))
        return inferenceError(location, op, "has padding ", amount.str(), " on axis ", axis, ", expected at most ", kMaxAmount);
      DimExpr room = adaptor.getMode() == PadMode::Reflect ? size - 1 - amount : DimExpr(0);
      if (copies && ((amount.isConstant() && *amount.constant() < 0) || (room.isConstant() && *room.constant() < 0)))
        return inferenceError(location, op, "has padding ", amount.str(), " on axis ", axis, " of size ", size.str(),
                              ", which its mode does not allow");
    }
    dims.push_back(low.dim(axis) + size + (size - 1) * interior[axis] + high.dim(axis));
  }
  return inferTensor(location, op, dims, input.getElementType(), types);
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = getOperationName();
  if (adaptor.getInputs().empty())
    return inferenceError(location, op, "has no operands, expected at least one");
  RankedTensorType first = tensorTypeOf(adaptor.getInputs().front());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, op, "axis", axis, first.getRank())))
    return failure();
  SmallVector<DimExpr> dims = dimsOf(first);
  for (Value value : adaptor.getInputs().drop_front()) {
    RankedTensorType type = tensorTypeOf(value);
    SmallVector<DimExpr> expected = dims;
    if (type.getRank() == first.getRank())
      expected[axis] = dimOf(type, axis);
    if (failed(checkShape(location, op, "operand", type, expected)) ||
        failed(checkElement(location, op, "operand", type, first.getElementType())))
      return failure();
    dims[axis] += dimOf(type, axis);
  }
  return inferTensor(location, op, dims, first.getElementType(), types);
}

LogicalResult IotaOp::verify() { return checkAxis(getLoc(), getOperationName(), "axis", getAxis(), getType().getRank()); }

LogicalResult DimValuesOp::inferReturnTypes(MLIRContext *context, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  int64_t count = adaptor.getValues().size();
  if (adaptor.getScalar() && failed(checkLength(location, getOperationName(), "values", count, 1)))
    return failure();
  SmallVector<DimExpr> dims;
  if (!adaptor.getScalar())
    dims.push_back(count);
  return inferTensor(location, getOperationName(), dims, IntegerType::get(context, 64), types);
}

LogicalResult ResizeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (failed(verifySameElement(*this)))
    return failure();
  if (result.getRank() != input.getRank())
    return emitOpError() << "has a result of rank " << result.getRank() << ", expected " << input.getRank();
  if (getMode() != ResizeMode::Nearest && !isFloatElement(input.getElementType()))
    return emitOpError() << "interpolates " << input.getElementType() << " elements, expected floating-point ones";
  if (getAntialias() && getMode() == ResizeMode::Nearest)
    return emitOpError() << "has `antialias` with mode `nearest`, expected `linear` or `cubic`";
  std::optional<ArrayRef<double>> scales = getScales();
  if (!scales)
    return success();
  if (failed(checkLength(getLoc(), getOperationName(), "scales", scales->size(), input.getRank())))
    return failure();
  for (double scale : *scales)
    if (!(scale > 0) || !std::isfinite(scale))
      return emitOpError() << "has the scale " << scale << ", expected a positive number";
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphShape.cpp.inc"
