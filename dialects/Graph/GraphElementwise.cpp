// Element-wise operations of one operand: the generated definitions, and the verifier of the conversion.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

LogicalResult ConvertOp::verify() {
  RankedTensorType expected = withElement(getInput().getType(), getType().getElementType());
  if (getType() != expected)
    return emitOpError() << "has a result of type " << getType() << ", expected " << expected;
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphElementwise.cpp.inc"
