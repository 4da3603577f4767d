// All operations of the graph dialect. What each means is in its .td file, which is the specification.
//
// `AddOp::create(builder, loc, lhs, rhs)` infers the result type and ends the process when there is none, so it is for code that knows
// its operands to fit. Code whose operands come from a file uses tryCreate(), which gives a diagnostic.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHOPS_H
#define STATOR_DIALECTS_GRAPH_GRAPHOPS_H

#include "dialects/Graph/GraphDialect.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace stator::graph {
/// One element of the result depends on the elements at the same position of the operands, and on nothing else.
template <typename ConcreteOp> class Elementwise : public mlir::OpTrait::TraitBase<ConcreteOp, Elementwise> {};
} // namespace stator::graph

#include "dialects/Graph/GraphInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Graph/GraphContraction.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphControlFlow.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphElementwise.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphElementwiseBinary.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphIndexing.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphNormalisation.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphRecurrent.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphReduction.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphShape.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphState.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphWindow.h.inc"

namespace stator::graph {

inline bool isElementwise(mlir::Operation *op) { return op->hasTrait<Elementwise>(); }

/// Creates an op, or emits a diagnostic at `loc` and returns failure, leaving no op behind. Optional operands that are absent are null
/// values here, in their place; attributes have the names of the .td.
template <typename OpTy>
mlir::FailureOr<OpTy> tryCreate(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands,
                                llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, mlir::TypeRange resultTypes = {});

/// As tryCreate(), for an op known by name.
mlir::FailureOr<mlir::Operation *> tryCreateOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                                               llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                               mlir::TypeRange resultTypes = {});

template <typename OpTy>
mlir::FailureOr<OpTy> tryCreate(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands,
                                llvm::ArrayRef<mlir::NamedAttribute> attributes, mlir::TypeRange resultTypes) {
  llvm::SmallVector<mlir::Value> values(operands);
  mlir::FailureOr<mlir::Operation *> op = tryCreateOp(builder, loc, OpTy::getOperationName(), values, attributes, resultTypes);
  if (mlir::failed(op))
    return mlir::failure();
  return llvm::cast<OpTy>(*op);
}

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_GRAPHOPS_H
