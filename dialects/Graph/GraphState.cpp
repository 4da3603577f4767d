// Constants and parameters: verifiers.
#include "dialects/Graph/GraphTypeInference.h"
#include "dialects/Graph/ParameterRecipes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Type type = adaptor.getValue().getType();
  if (!isGraphTensor(type) || !cast<ShapedType>(type).hasStaticShape())
    return inferenceError(location, getOperationName(), "has a value of type ", type, ", expected a tensor of constant sizes");
  if (!isa<DenseElementsAttr>(adaptor.getValue()))
    return inferenceError(location, getOperationName(), "has a value whose elements are not in the IR; such tensors are parameters");
  types.push_back(type);
  return success();
}

LogicalResult ConstantOp::verify() {
  if (!getValue().isSplat() && getValue().getNumElements() > kMaxConstantElements)
    return emitOpError() << "has " << getValue().getNumElements() << " elements, expected at most " << kMaxConstantElements
                         << "; larger tensors are parameters";
  return success();
}

void ParameterOp::build(OpBuilder &builder, OperationState &state, StringRef name, RankedTensorType type, int32_t source, int64_t offset) {
  build(builder, state, name, type, builder.getI32IntegerAttr(source), builder.getI64IntegerAttr(offset), nullptr, nullptr, false, nullptr);
}

void ParameterOp::build(OpBuilder &builder, OperationState &state, StringRef name, RankedTensorType type, RecipeAttr recipe) {
  build(builder, state, name, type, nullptr, nullptr, nullptr, recipe, false, nullptr);
}

LogicalResult ParameterOp::verify() {
  if (!staticByteSize(tensorType()))
    return emitOpError() << "has the type " << getType() << ", expected constant sizes and a byte size below 2^63";
  bool stored = getSource().has_value();
  if (stored == getRecipe().has_value())
    return emitOpError() << "has " << (stored ? "both" : "neither") << " a `source` " << (stored ? "and" : "nor")
                         << " a `recipe`, expected one of them";
  if (stored != getOffset().has_value())
    return emitOpError() << "has " << (stored ? "a `source` without" : "a `recipe` with") << " an `offset`";
  if (stored && *getOffset() > uint64_t(std::numeric_limits<int64_t>::max()))
    return emitOpError() << "has `offset` " << int64_t(*getOffset()) << ", expected at least 0";
  if (std::optional<ArrayRef<int64_t>> strides = getStrides()) {
    if (!stored)
      return emitOpError() << "has a `recipe` with `strides`";
    if (failed(checkLength(getLoc(), getOperationName(), "strides", strides->size(), tensorType().getRank())))
      return failure();
    for (int64_t stride : *strides)
      if (stride < 0)
        return emitOpError() << "has stride " << stride << ", expected at least 0";
  }
  return success();
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getRecipe())
    return success();
  SmallVector<RankedTensorType> sources;
  for (FlatSymbolRefAttr name : getRecipe()->getSources()) {
    auto source = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name);
    if (!source)
      return emitOpError() << "is made from " << name << ", which is not a `graph.parameter`";
    if (source.getIsMutable()) {
      InFlightDiagnostic diagnostic = emitOpError() << "is made from " << name << ", which is mutable";
      diagnostic.attachNote(source.getLoc()) << "declared here";
      return diagnostic;
    }
    sources.push_back(source.tensorType());
  }
  FailureOr<RankedTensorType> type = inferRecipeType(*getRecipe(), sources, getLoc());
  if (failed(type))
    return failure();
  if (*type != getType())
    return emitOpError() << "has the type " << getType() << ", its recipe gives " << *type;
  return success();
}

void GetParameterOp::build(OpBuilder &builder, OperationState &state, ParameterOp parameter) {
  build(builder, state, parameter.getType(), parameter.getSymName());
}

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError() << "names " << getParameterAttr() << ", which is not a `graph.parameter`";
  if (parameter.getType() != getType()) {
    InFlightDiagnostic diagnostic = emitOpError()
                                    << "has the type " << getType() << ", expected that of the parameter, " << parameter.getType();
    diagnostic.attachNote(parameter.getLoc()) << "declared here";
    return diagnostic;
  }
  return success();
}

LogicalResult SetParameterOp::verify() {
  // Kernel functions and regions never hold it, so that a method's sets are found at one place.
  if (!isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError() << "stands inside of `" << (*this)->getParentOp()->getName() << "`, expected at the end of a method";
  for (Operation *next = (*this)->getNextNode(); next; next = next->getNextNode()) {
    if (auto other = dyn_cast<SetParameterOp>(next)) {
      if (other.getParameter() != getParameter())
        continue;
      InFlightDiagnostic diagnostic = other.emitOpError() << "sets " << getParameterAttr() << " a second time";
      diagnostic.attachNote(getLoc()) << "set here before";
      return diagnostic;
    }
    if (!next->hasTrait<OpTrait::IsTerminator>())
      return emitOpError() << "stands before `" << next->getName() << "`, expected at the end of the method";
  }
  return success();
}

LogicalResult SetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError() << "names " << getParameterAttr() << ", which is not a `graph.parameter`";
  if (parameter.getIsMutable() && parameter.getType() == getValue().getType())
    return success();
  InFlightDiagnostic diagnostic = emitOpError();
  if (!parameter.getIsMutable())
    diagnostic << "sets " << getParameterAttr() << ", which is not mutable";
  else
    diagnostic << "gives a value of type " << getValue().getType() << ", expected that of the parameter, " << parameter.getType();
  diagnostic.attachNote(parameter.getLoc()) << "declared here";
  return diagnostic;
}

#define GET_OP_CLASSES
#include "dialects/Graph/GraphState.cpp.inc"
