//===- MethodContract.h - what every method of a graph module obeys --------===//

#ifndef STATOR_PASSES_GRAPH_METHODCONTRACT_H
#define STATOR_PASSES_GRAPH_METHODCONTRACT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace stator::graph {

/// One block; tensors in and out, named; sound symbols and guards; every symbol that a type mentions can be read from an argument.
mlir::LogicalResult verifyMethod(mlir::func::FuncOp method);

/// At least one public method, each of which verifies; nothing else at the top but parameters.
mlir::LogicalResult verifyMethods(mlir::ModuleOp module);

} // namespace stator::graph

#endif // STATOR_PASSES_GRAPH_METHODCONTRACT_H
