//===- TensorPlacement.h - which tensors share bytes -----------------------===//
//
// Before a method gets buffers, each of its tensors is either a *root*, which
// will own bytes, or lies inside a root at an offset: because it is a view
// (reshape, slice), because it is a part of a concatenation whose producer can
// write there directly, or because a branch or the method itself returns it, or
// because it is the next value of a state or of a value that a loop carries, and
// the old value is not read any more once the new one is written. What cannot be
// placed stays a root and is copied.
//
// Parts need not be one run of bytes: rows may lie apart (dialects/Graph/Pitch.h)
// where every kernel that reads or writes them can work with that.
//
// The alternative, bufferising first and removing copies afterwards, has to
// prove with alias analysis what is evident on values.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_TENSORPLACEMENT_H
#define STATOR_PASSES_PLAN_TENSORPLACEMENT_H

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Pitch.h"
#include "serialization/Base/DimExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace stator::plan {

struct Placement {
  mlir::Value root;
  /// From the start of the root, in bytes.
  DimExpr offset;
  /// How its rows lie, if they lie apart.
  std::optional<graph::Pitch> pitch;
};

class TensorPlacement {
public:
  explicit TensorPlacement(mlir::func::FuncOp method);

  /// Where `tensor` lies. Its root is not inside another root.
  Placement placementOf(mlir::Value tensor) const { return *locate(tensor); }
  /// Where the part of `tensor` lies that begins at `starts` and has dims `dims`.
  std::optional<Placement> placementOfPart(mlir::Value tensor, llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<DimExpr> starts) const;
  /// Whether the bytes of a view (slice, concatenation) are those of other tensors, so that nothing has to be done for it.
  bool isInside(mlir::Value tensor) const { return inside.contains(tensor); }

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
  /// A tensor within another: its bytes in another shape, or the part of `dims` that begins at `starts`.
  struct Part {
    mlir::Value within;
    llvm::SmallVector<DimExpr> dims = {}, starts = {};
  };

  std::optional<Placement> locate(mlir::Value tensor) const;
  /// Records the part. Takes it back and returns false if rows of `tensor`, or of what lies in it, would lie apart for a kernel that
  /// cannot work with that.
  bool place(mlir::Value tensor, Part part);
  bool fits(mlir::Value tensor) const;
  bool canWritePitched(mlir::Value tensor) const;
  bool canReadPitched(mlir::OpOperand &use, const graph::Pitch &pitch) const;

  void findViews(mlir::Block &block, llvm::SmallVectorImpl<graph::SliceOp> &slices);
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
  void claimPartsOf(graph::ConcatOp concat);
  /// A concatenation of neighbouring parts of another one is itself a part of that.
  bool shareParts(graph::ConcatOp concat);
  /// Places the root of `operand` in `target`, from `starts` on, if nothing else has a claim on it.
  void tryPlace(mlir::OpOperand &operand, mlir::Value target, llvm::ArrayRef<DimExpr> starts = {});
  /// The root of `operand` if its producer may write somewhere else instead, or null.
  mlir::Value movableRoot(mlir::OpOperand &operand) const;

  /// Values that are not roots. Chains end at roots.
  llvm::DenseMap<mlir::Value, Part> inside;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> partsOf;
  llvm::DenseMap<mlir::Value, int64_t> outputs;
  llvm::DenseSet<mlir::OpOperand *> inPlaceOperands;
  llvm::StringMap<mlir::Value> parameters;
  llvm::DenseMap<mlir::Value, llvm::StringRef> writtenStates;
  mutable mlir::SymbolTableCollection symbols;
};

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_TENSORPLACEMENT_H
