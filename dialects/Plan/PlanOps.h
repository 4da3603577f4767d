//===- PlanOps.h - the plan dialect in C++ ---------------------------------===//
//
// Classes of the dialect and its operations, and the few questions that every
// reader of a plan asks: how many bytes has a buffer, which declaration does a
// view belong to, what does an instruction read and write. PlanBase.td says
// what the dialect is for.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_PLANOPS_H
#define STATOR_DIALECTS_PLAN_PLANOPS_H

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Pitch.h"
#include "serialization/Base/DimExpr.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Plan/PlanDialect.h.inc"
#include "dialects/Plan/PlanOpsEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanOpsTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace stator::plan {

/// The module that holds the kernel functions, inside the top module.
inline constexpr llvm::StringLiteral kKernelModuleName = "kernels";
/// Attribute of a kernel function: its fusion family.
inline constexpr llvm::StringLiteral kFamilyAttrName = "stator.family";
/// Attribute of a lowered kernel function: bytes of scratch per worker, an expression of its sizes.
inline constexpr llvm::StringLiteral kScratchAttrName = "stator.scratch";
/// Start of every arena buffer, in bytes.
inline constexpr int64_t kArenaAlignment = 64;

/// The bytes of a dense tensor of that type.
DimExpr sizeBytesOf(mlir::RankedTensorType type);
/// Reads an expression that the verifier has accepted.
DimExpr exprOf(llvm::StringRef text);
mlir::StringAttr exprAttr(mlir::MLIRContext *context, const DimExpr &expr);

/// A buffer value resolved to its declaration.
struct BufferRef {
  BufferOp declaration;
  /// From the start of the declaration, in bytes.
  DimExpr offset;
  mlir::RankedTensorType type;
};
BufferRef resolveBuffer(mlir::Value buffer);
/// The pitch of a view; none if the buffer or view is dense.
std::optional<graph::Pitch> pitchOf(mlir::Value buffer);
mlir::RankedTensorType tensorTypeOf(mlir::Value buffer);

/// What one instruction reads and writes, not counting nested instructions.
struct BufferAccesses {
  llvm::SmallVector<mlir::Value> reads;
  llvm::SmallVector<mlir::Value> writes;
};
BufferAccesses accessesOf(mlir::Operation *instruction);

} // namespace stator::plan

#endif // STATOR_DIALECTS_PLAN_PLANOPS_H
