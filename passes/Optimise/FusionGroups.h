//===- FusionGroups.h - growing a group of ops into one kernel -------------===//
//
// A group is a set of operations of one block that becomes one region. Groups
// grow from an anchor: forwards over consumers, as long as the group keeps a
// single live result, and backwards over producers that nothing else uses.
// What may be admitted is the caller's choice; what keeps the program correct
// (no path that leaves the group and comes back) is decided here.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_OPTIMISE_FUSIONGROUPS_H
#define STATOR_PASSES_OPTIMISE_FUSIONGROUPS_H

#include "dialects/Graph/GraphOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace stator::optimise {

using AdmitFn = llvm::function_ref<bool(mlir::Operation *)>;

/// Operations of one block, kept in program order.
class FusionGroup {
public:
  explicit FusionGroup(mlir::Operation *anchor) { members.insert(anchor); }

  bool contains(mlir::Operation *op) const { return members.contains(op); }
  llvm::ArrayRef<mlir::Operation *> ops() const { return members.getArrayRef(); }
  mlir::Operation *last() const { return members.back(); }

  /// Adds producers of members, nearest first, whose every use is in the group.
  void growBackward(AdmitFn admit);

  /// Adds consumers in program order and keeps the longest extension after which only the last op's results are used outside.
  void growForward(AdmitFn admit);

private:
  void sortMembers();

  llvm::SetVector<mlir::Operation *> members;
};

/// Whether `op` is computed again inside the region of its `user` instead of being read from memory: a constant of one value, or a
/// broadcast into element-wise code.
bool isRematerialised(mlir::Operation *op, mlir::Operation *user);

/// Replaces the group by a `graph.fusion` at its last op. Rematerialised producers are cloned into the region.
graph::FusionOp outlineGroup(const FusionGroup &group, llvm::StringRef family, llvm::StringRef kernel, llvm::StringRef reason);

} // namespace stator::optimise

#endif // STATOR_PASSES_OPTIMISE_FUSIONGROUPS_H
