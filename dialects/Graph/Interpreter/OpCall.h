// What an op's function gets to see, and the tables in which the families list their functions.
#ifndef STATOR_DIALECTS_GRAPH_INTERPRETER_OPCALL_H
#define STATOR_DIALECTS_GRAPH_INTERPRETER_OPCALL_H

#include "dialects/Graph/Interpreter/Interpreter.h"

namespace stator::graph {

class Interpretation;

/// One execution of one op. Results are zeros of the right type and shape; the function fills them in.
class OpCall {
public:
  OpCall(mlir::Operation *op, llvm::ArrayRef<const TensorValue *> operands, llvm::MutableArrayRef<TensorValue> results,
         Interpretation &interpretation)
      : op(op), operands(operands), results(results), interpretation(interpretation) {}

  mlir::Operation *const op;
  const llvm::ArrayRef<const TensorValue *> operands;
  const llvm::MutableArrayRef<TensorValue> results;
  Interpretation &interpretation;

  const TensorValue &in(size_t i = 0) const { return *operands[i]; }
  TensorValue &out(size_t i = 0) const { return results[i]; }
  /// The tensor of one of the op's operands; null for an optional operand that is absent.
  const TensorValue *find(mlir::Value operand) const;

  /// The value of a size expression. Defined, since the interpretation has bound all symbols.
  mlir::FailureOr<int64_t> evaluate(const DimExpr &dim) const;
  mlir::FailureOr<llvm::SmallVector<int64_t>> evaluate(DimsAttr dims) const;
  /// Takes from the budget of work; a diagnostic when it is exhausted.
  mlir::LogicalResult spend(llvm::ArrayRef<int64_t> factors) const;
  /// Runs a region's block with these arguments and gives what it yields.
  mlir::LogicalResult run(mlir::Region &region, llvm::ArrayRef<TensorValue> arguments, llvm::SmallVectorImpl<TensorValue> &yielded) const;

  mlir::InFlightDiagnostic error() const { return op->emitOpError(); }
};

struct InterpreterEntry {
  llvm::StringLiteral name;
  InterpreterFunction function;
};

/// Adapts `LogicalResult function(SomeOp, OpCall &)` to the table.
template <typename OpTy, mlir::LogicalResult (*function)(OpTy, OpCall &)>
constexpr InterpreterEntry entry() {
  return {OpTy::getOperationName(), [](OpCall &call) { return function(llvm::cast<OpTy>(call.op), call); }};
}

llvm::ArrayRef<InterpreterEntry> contractionInterpreters();
llvm::ArrayRef<InterpreterEntry> controlFlowInterpreters();
llvm::ArrayRef<InterpreterEntry> elementwiseInterpreters();
llvm::ArrayRef<InterpreterEntry> elementwiseBinaryInterpreters();
llvm::ArrayRef<InterpreterEntry> indexingInterpreters();
llvm::ArrayRef<InterpreterEntry> normalisationInterpreters();
llvm::ArrayRef<InterpreterEntry> recurrentInterpreters();
llvm::ArrayRef<InterpreterEntry> reductionInterpreters();
llvm::ArrayRef<InterpreterEntry> resizeInterpreters();
llvm::ArrayRef<InterpreterEntry> shapeInterpreters();
llvm::ArrayRef<InterpreterEntry> stateInterpreters();
llvm::ArrayRef<InterpreterEntry> windowInterpreters();

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INTERPRETER_OPCALL_H
