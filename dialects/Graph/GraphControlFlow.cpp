// Control flow and fusion regions: verifiers.
#include "dialects/Graph/GraphTypeInference.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

/// The region's block takes these types and its yield gives those.
static LogicalResult verifyRegion(Operation *op, Region &region, StringRef name, TypeRange arguments, TypeRange results) {
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError() << "has a " << name << " region with arguments of types (" << block.getArgumentTypes() << "), expected ("
                             << arguments << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError() << "has a " << name << " region that does not end in `graph.yield`";
  if (yield.getOperandTypes() != results) {
    InFlightDiagnostic diagnostic = op->emitOpError() << "has a " << name << " region that yields (" << yield.getOperandTypes()
                                                      << "), expected (" << results << ")";
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  }
  return success();
}

LogicalResult IfOp::verifyRegions() {
  if (getCondition().getType().getRank() != 0)
    return emitOpError() << "has a condition of type " << getCondition().getType() << ", expected tensor<i1>";
  if (failed(verifyRegion(*this, getThenRegion(), "then", {}, getResultTypes())))
    return failure();
  return verifyRegion(*this, getElseRegion(), "else", {}, getResultTypes());
}

LogicalResult WhileOp::verifyRegions() {
  TypeRange carried = getInits().getTypes();
  if (getResultTypes() != carried)
    return emitOpError() << "has results of types (" << getResultTypes() << "), expected those of the carried values (" << carried << ")";
  Type flag = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyRegion(*this, getCondition(), "condition", carried, flag)))
    return failure();
  return verifyRegion(*this, getBody(), "body", carried, carried);
}

/// The families that a region may have, in the order in which the documentation lists them.
static constexpr StringLiteral kFamilies[] = {"map",  "rows", "reduce",    "matmul",    "conv", "depthwise",
                                              "pool", "data", "recurrent", "attention", "sort", "scan", "inverted_residual", "gate"};

LogicalResult FusionOp::verify() {
  if (!llvm::is_contained(kFamilies, getFamily())) {
    InFlightDiagnostic diagnostic = emitOpError() << "has the family \"" << getFamily() << "\", expected one of ";
    llvm::interleaveComma(kFamilies, diagnostic);
    return diagnostic;
  }
  if (getKernel().empty())
    return emitOpError() << "has an empty `kernel`, expected \"own\" or the name of a library";
  return success();
}

LogicalResult FusionOp::verifyRegions() { return verifyRegion(*this, getBody(), "body", getOperandTypes(), getResultTypes()); }

#define GET_OP_CLASSES
#include "dialects/Graph/GraphControlFlow.cpp.inc"
