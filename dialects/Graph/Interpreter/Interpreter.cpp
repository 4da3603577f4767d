// See Interpreter.h: the entry points, and the table of functions.
#include "dialects/Graph/Interpreter/Interpreter.h"

#include "dialects/Graph/Interpreter/Interpretation.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace stator::graph {

static llvm::StringMap<InterpreterFunction> makeTable() {
  llvm::StringMap<InterpreterFunction> table;
  for (ArrayRef<InterpreterEntry> family :
       {contractionInterpreters(), controlFlowInterpreters(), elementwiseInterpreters(), elementwiseBinaryInterpreters(),
        indexingInterpreters(), normalisationInterpreters(), recurrentInterpreters(), reductionInterpreters(), resizeInterpreters(),
        shapeInterpreters(), stateInterpreters(), windowInterpreters()})
    for (const InterpreterEntry &entry : family)
      table[entry.name] = entry.function;
  return table;
}

InterpreterFunction lookupInterpreter(OperationName name) {
  static const llvm::StringMap<InterpreterFunction> table = makeTable();
  return table.lookup(name.getStringRef());
}

FailureOr<SmallVector<TensorValue>> interpret(FunctionOpInterface method, ArrayRef<TensorValue> inputs, const InterpretOptions &options) {
  if (method.isExternal() || !method.getFunctionBody().hasOneBlock())
    return method.emitOpError() << "cannot be interpreted: it has no body of one block";
  Interpretation interpretation(options);
  SmallVector<TensorValue> results;
  if (failed(interpretation.bind(method, inputs)) || failed(interpretation.runBlock(method.getFunctionBody().front(), inputs, results)))
    return failure();
  if (options.state)
    for (auto &[name, value] : interpretation.nextState)
      (*options.state)[name] = std::move(value);
  return results;
}

LogicalResult interpretOp(Operation *op, ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                          const InterpretOptions &options, const std::map<std::string, int64_t> &symbols) {
  Interpretation interpretation(options);
  interpretation.symbols = symbols;
  SmallVector<const TensorValue *> pointers;
  for (const TensorValue &operand : operands)
    pointers.push_back(&operand);
  if (pointers.size() != op->getNumOperands())
    return op->emitOpError() << "is given " << pointers.size() << " operands, expected " << op->getNumOperands();
  return interpretation.runOp(op, pointers, results);
}

} // namespace stator::graph
