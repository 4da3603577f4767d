// Control flow and fusion regions: which region runs, on what.
#include "dialects/Graph/Interpreter/OpCall.h"

using namespace mlir;

namespace stator::graph {

/// Results are what a region yielded. Their sizes follow from types that the verifier compared.
static void give(OpCall &call, ArrayRef<TensorValue> yielded) {
  for (auto [result, value] : llvm::zip_equal(call.results, yielded))
    result = value;
}

static LogicalResult conditional(IfOp op, OpCall &call) {
  SmallVector<TensorValue> yielded;
  if (failed(call.run(call.in().integer(0) ? op.getThenRegion() : op.getElseRegion(), {}, yielded)))
    return failure();
  give(call, yielded);
  return success();
}

static LogicalResult loop(WhileOp op, OpCall &call) {
  SmallVector<TensorValue> carried;
  for (const TensorValue *operand : call.operands)
    carried.push_back(*operand);
  while (true) {
    SmallVector<TensorValue> condition, next;
    // A loop without end runs out of budget.
    if (failed(call.spend(1)) || failed(call.run(op.getCondition(), carried, condition)))
      return failure();
    if (!condition.front().integer(0))
      break;
    if (failed(call.run(op.getBody(), carried, next)))
      return failure();
    carried = std::move(next);
  }
  give(call, carried);
  return success();
}

static LogicalResult fusion(FusionOp op, OpCall &call) {
  SmallVector<TensorValue> arguments, yielded;
  for (const TensorValue *operand : call.operands)
    arguments.push_back(*operand);
  if (failed(call.run(op.getBody(), arguments, yielded)))
    return failure();
  give(call, yielded);
  return success();
}

ArrayRef<InterpreterEntry> controlFlowInterpreters() {
  static const InterpreterEntry entries[] = {entry<IfOp, conditional>(), entry<WhileOp, loop>(), entry<FusionOp, fusion>()};
  return entries;
}

} // namespace stator::graph
