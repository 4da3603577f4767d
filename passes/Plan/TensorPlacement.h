//===- TensorPlacement.h - which tensors share bytes -----------------------===//
//
// Before a method gets buffers, each of its tensors is either a *root*, which
// will own bytes, or lies inside a root at an offset: because it is a view
// (reshape, contiguous slice), because it is a part of a concatenation whose
// producer can write there directly, or because a branch or the method itself
// returns it, or because it is the next value of a state or of a value that a
// loop carries, and the old value is not read any more once the new one is
// written. What cannot be placed stays a root and is copied.
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

  /// Whether the bytes of this operand (of a concatenation, a yield, a state or the return) are already where its user wants them.
  bool isInPlace(mlir::OpOperand &operand) const { return inPlaceOperands.contains(&operand); }

  /// Whether two tensors of one size have the same bytes.
  bool isSamePlace(mlir::Value a, mlir::Value b) const;

  /// The output that root holds, or -1.
  int64_t outputOf(mlir::Value root) const;

  /// The state that root holds though no op reads it; empty for others.
  llvm::StringRef stateOf(mlir::Value root) const { return writtenStates.lookup(root); }
  /// The root that is the value of a parameter at entry; null if no op reads it.
  mlir::Value rootOfParameter(llvm::StringRef name) const { return parameters.lookup(name); }

private:
  void findViews(mlir::Block &block);
  void claimStates(mlir::Block &body);
  void claimCarried(graph::WhileOp loop);
  /// Whether the producer of `root` may write into the bytes of `old`, which is a root too, as far as later reads of those go.
  bool mayOverwrite(mlir::Value root, mlir::Value old) const;
  bool branchMayOverwrite(mlir::OpOperand &yielded, mlir::Value old) const;
  /// Whether `op`, or what is inside of it, reads bytes of `root`.
  bool readsFrom(mlir::Operation *op, mlir::Value root) const;
  mlir::Operation *firstWriteOf(mlir::Operation *producer) const;
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
  llvm::DenseMap<mlir::Value, llvm::StringRef> writtenStates;
};

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_TENSORPLACEMENT_H
