// Constants and parameters.
#include "dialects/Graph/Interpreter/Interpretation.h"
#include "dialects/Graph/ParameterRecipes.h"

using namespace mlir;

namespace stator::graph {

static LogicalResult constant(ConstantOp op, OpCall &call) {
  call.out() = TensorValue::fromElements(cast<DenseElementsAttr>(op.getValue()));
  return success();
}

static LogicalResult getParameter(GetParameterOp op, OpCall &call) {
  SymbolTableCollection &symbols = call.interpretation.symbolTables;
  auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(op, op.getParameterAttr());
  if (!parameter)
    return op.emitOpError() << "names " << op.getParameterAttr() << ", which is not a `graph.parameter`";
  std::vector<std::byte> &data = call.out().data;
  return materialize(parameter, symbols, MutableArrayRef<char>(reinterpret_cast<char *>(data.data()), data.size()));
}

ArrayRef<InterpreterEntry> stateInterpreters() {
  static const InterpreterEntry entries[] = {entry<ConstantOp, constant>(), entry<GetParameterOp, getParameter>()};
  return entries;
}

} // namespace stator::graph
