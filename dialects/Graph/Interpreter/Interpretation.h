// The state of one run: values of symbols, tensors by SSA value, what is left of the budget.
#ifndef STATOR_DIALECTS_GRAPH_INTERPRETER_INTERPRETATION_H
#define STATOR_DIALECTS_GRAPH_INTERPRETER_INTERPRETATION_H

#include "dialects/Graph/Interpreter/OpCall.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace stator::graph {

class Interpretation {
public:
  explicit Interpretation(const InterpretOptions &options) : options(options) {}

  std::map<std::string, int64_t> symbols;
  mlir::SymbolTableCollection symbolTables;
  /// What is set for the next run.
  std::map<std::string, TensorValue> nextState;

  /// Gives the symbols of the arguments their values and checks everything that the method says about them.
  mlir::LogicalResult bind(mlir::FunctionOpInterface method, llvm::ArrayRef<TensorValue> inputs);

  /// Runs a block's ops; `yielded` are the operands of its terminator.
  mlir::LogicalResult runBlock(mlir::Block &block, llvm::ArrayRef<TensorValue> arguments, llvm::SmallVectorImpl<TensorValue> &yielded);
  /// Runs one op on given operands.
  mlir::LogicalResult runOp(mlir::Operation *op, llvm::ArrayRef<const TensorValue *> operands, llvm::SmallVectorImpl<TensorValue> &results);

  mlir::FailureOr<int64_t> evaluate(mlir::Operation *op, const DimExpr &dim);
  mlir::LogicalResult spend(mlir::Operation *op, llvm::ArrayRef<int64_t> factors);

private:
  mlir::LogicalResult checkArgument(mlir::FunctionOpInterface method, unsigned number, const TensorValue &input);
  /// An all-zero tensor of a result's type, if the budget allows.
  mlir::FailureOr<TensorValue> allocate(mlir::Operation *op, mlir::Type type);
  void define(mlir::Value value, TensorValue tensor);
  void forget(mlir::Value value);

public:
  const InterpretOptions options;

private:
  /// Behind pointers, which stay good while regions add to the map.
  llvm::DenseMap<mlir::Value, std::unique_ptr<TensorValue>> tensors;
  int64_t usedBytes = 0;
  int64_t usedWork = 0;
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INTERPRETER_INTERPRETATION_H
