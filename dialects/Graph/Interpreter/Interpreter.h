// The reference interpreter: what a method of the graph dialect computes, slowly and obviously. It folds constants, checks passes and is
// what every kernel is tested against; so it shares no code with lowering or code generation, and computes in double and int64 where
// the result is rounded once to its type.
//
// Failure: a diagnostic at the op, and failure. Sizes come from files, so memory and work have a budget; what exceeds it is refused
// before it is begun. Threads: interpretations may run at once, also in one context.
#ifndef STATOR_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H
#define STATOR_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Interpreter/TensorValue.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace stator::graph {

struct InterpretOptions {
  /// Bytes of all tensors that exist at once, with the doubles that an op computes in.
  int64_t maxBytes = int64_t(4) << 30;
  /// Elementary steps, roughly one per element read, written or multiplied.
  int64_t maxWork = int64_t(1) << 44;
  /// What a session keeps between runs: mutable parameters by name. The ones that are missing have their initial values; those that a
  /// method sets are there after a successful run. Null: state is what it is at first, and what a method sets is lost.
  std::map<std::string, TensorValue> *state = nullptr;
};

/// Runs a method. Symbols get their values from the inputs' sizes, which must agree with the arguments' types, the ranges and the guards.
mlir::FailureOr<llvm::SmallVector<TensorValue>> interpret(mlir::FunctionOpInterface method, llvm::ArrayRef<TensorValue> inputs,
                                                          const InterpretOptions &options = {});

/// Runs one op, for folding. Its result types have no symbols (or `symbols` gives their values); its regions, if any, use nothing from
/// outside.
mlir::LogicalResult interpretOp(mlir::Operation *op, llvm::ArrayRef<TensorValue> operands, llvm::SmallVectorImpl<TensorValue> &results,
                                const InterpretOptions &options = {}, const std::map<std::string, int64_t> &symbols = {});

class OpCall;
using InterpreterFunction = mlir::LogicalResult (*)(OpCall &call);

/// The function of an op; null when it has none.
InterpreterFunction lookupInterpreter(mlir::OperationName name);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INTERPRETER_INTERPRETER_H
