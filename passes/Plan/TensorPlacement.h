//===- TensorPlacement.h - which tensors share bytes -----------------------===//
//
// Before a method gets buffers, each of its tensors is either a *root*, which
// will own bytes, or lies inside a root at an offset: because it is a view
// (reshape, contiguous slice), because it is a part of a concatenation whose
// producer can write there directly, or because a branch or the method itself
// returns it. What cannot be placed stays a root and is copied.
//
// The alternative, bufferising first and removing copies afterwards, has to
// prove with alias analysis what is evident on values.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_TENSORPLACEMENT_H
#define STATOR_PASSES_PLAN_TENSORPLACEMENT_H

#include "dialects/Graph/GraphOps.h"
#include "serialization/Base/DimExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace stator::plan {

struct Placement {
  mlir::Value root;
  /// From the start of the root, in bytes.
  DimExpr offset;
};

class TensorPlacement {
public:
  explicit TensorPlacement(mlir::func::FuncOp method);

  /// Where `tensor` lies. Its root is not inside another root.
  Placement placementOf(mlir::Value tensor) const;

  /// Whether the bytes of this operand (of a concatenation, a branch's yield or the return) are already where its user wants them.
  bool isInPlace(mlir::OpOperand &operand) const { return inPlaceOperands.contains(&operand); }

  /// The output that root holds, or -1.
  int64_t outputOf(mlir::Value root) const;

private:
  void findViews(mlir::Block &block);
  void claimOutputs(mlir::func::ReturnOp result);
  void claimParts(mlir::Block &block);
  /// Places the root of `operand` at `offset` in `target` if nothing else has a claim on it.
  void tryPlace(mlir::OpOperand &operand, mlir::Value target, const DimExpr &offset);
  /// The root of `operand` if its producer may write somewhere else instead, or null.
  mlir::Value movableRoot(mlir::OpOperand &operand) const;

  /// Values that are not roots. Chains end at roots.
  llvm::DenseMap<mlir::Value, Placement> inside;
  llvm::DenseMap<mlir::Value, int64_t> outputs;
  llvm::DenseSet<mlir::OpOperand *> inPlaceOperands;
  llvm::StringMap<mlir::Value> parameters;
};

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_TENSORPLACEMENT_H
