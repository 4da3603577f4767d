// Constants, parameters and state.
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
  if (const std::map<std::string, TensorValue> *state = call.interpretation.options.state; state && parameter.getIsMutable())
    if (auto kept = state->find(parameter.getSymName().str()); kept != state->end()) {
      if (kept->second.type != call.out().type || kept->second.shape != call.out().shape)
        return op.emitOpError() << "reads a state of type " << kept->second.typeText() << ", expected " << call.out().typeText();
      call.out() = kept->second;
      return success();
    }
  std::vector<std::byte> &data = call.out().data;
  return materialize(parameter, symbols, MutableArrayRef<char>(reinterpret_cast<char *>(data.data()), data.size()));
}

/// Kept aside until the method has ended, so that reads behind it see the old value.
static LogicalResult setParameter(SetParameterOp op, OpCall &call) {
  call.interpretation.nextState[op.getParameter().str()] = call.in();
  return success();
}

ArrayRef<InterpreterEntry> stateInterpreters() {
  static const InterpreterEntry entries[] = {entry<ConstantOp, constant>(), entry<GetParameterOp, getParameter>(),
                                             entry<SetParameterOp, setParameter>()};
  return entries;
}

} // namespace stator::graph
