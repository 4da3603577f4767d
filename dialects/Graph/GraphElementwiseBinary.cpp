// Element-wise operations of two and three operands.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

LogicalResult CompareOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferBool(location, getOperationName(), adaptor.getOperands(), types);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(inferSameType(location, getOperationName(), {adaptor.getOnTrue(), adaptor.getOnFalse()}, types)))
    return failure();
  return checkShape(location, getOperationName(), "condition", tensorTypeOf(adaptor.getCondition()),
                    dimsOf(tensorTypeOf(adaptor.getOnTrue())));
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphElementwiseBinary.cpp.inc"
