//===- FormFusions.cpp - every op of a method gets its kernel --------------===//
//
// Decides what runs as one kernel. The order of the three rounds is the
// policy: contractions take their epilogues first, because keeping a result in
// registers saves the most; then reductions over rows take what surrounds
// them; what is left becomes element-wise maps and single-op kernels.
//
// From here on each op of a method is inside a `graph.fusion`, or is one of the
// few that the plan executes itself (views, parameters, control flow).
//
//===----------------------------------------------------------------------===//

#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/FusionGroups.h"
#include "passes/Optimise/Passes.h"

#include "dialects/Plan/LibraryCalls.h"
#include "dialects/Plan/PitchedAccess.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_FORMFUSIONSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool sameShape(RankedTensorType a, RankedTensorType b) {
  return a.getShape() == b.getShape() && a.getEncoding() == b.getEncoding();
}

/// An element-wise op all of whose results have the shape of `type`.
bool isElementwiseOf(Operation *op, RankedTensorType type) {
  return op->hasTrait<graph::Elementwise>() && op->getNumResults() == 1 && sameShape(typeOf(op->getResult(0)), type);
}

/// Whether all kernels that read `tensor` could read it with this pitch. What is not a kernel copies what it needs.
bool isReadablePitched(Value tensor, const graph::Pitch &pitch) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto fusion = dyn_cast<graph::FusionOp>(user))
      return fusion.getKernel() == "own" && plan::mayReadPitched(fusion.getBody().front(), use.getOperandNumber(), pitch);
    if (isa<graph::ReshapeOp>(user))
      return isReadablePitched(user->getResult(0), pitch);
    return isa<graph::ConcatOp, graph::YieldOp, graph::WhileOp, func::ReturnOp>(user);
  });
}

/// Whether a concatenation can do without a kernel since at least one part is computed where it belongs, or a slice since its users read
/// it where it is.
bool isBetterPitched(Operation *op) {
  if (auto slice = dyn_cast<graph::SliceOp>(op)) {
    if (!plan::mayBePitched(slice) || slice.use_empty())
      return false;
    return isReadablePitched(slice.getResult(), *plan::pitchOfPart(typeOf(slice.getResult()), typeOf(slice.getInput()), *plan::cutAxis(slice)));
  }
  auto concat = dyn_cast<graph::ConcatOp>(op);
  if (!concat || !plan::mayBePitched(concat))
    return false;
  std::optional<graph::Pitch> pitch;
  return llvm::any_of(concat.getInputs(), [&](Value part) {
    pitch = plan::pitchOfPart(typeOf(part), typeOf(concat.getResult()), concat.getAxis());
    while (auto reshape = part.getDefiningOp<graph::ReshapeOp>())
      part = reshape.getInput();
    Operation *producer = part.getDefiningOp();
    auto fusion = dyn_cast_or_null<graph::FusionOp>(producer);
    bool isWritten = fusion && fusion.getKernel() == "own" &&
                     plan::mayWritePitched(fusion.getBody().front(), cast<OpResult>(part).getResultNumber());
    bool isJoined = isa_and_nonnull<graph::ConcatOp>(producer) && runsWithoutKernel(producer);
    return pitch && (isWritten || isJoined) && isReadablePitched(part, *pitch);
  });
}

class FusionFormer {
public:
  FusionFormer(Block &block, bool pitchedViews) : block(block), pitchedViews(pitchedViews) {}

  void run() {
    forEachOp([&](Operation *op) { return isContraction(op); }, [&](Operation *op) { fuseContraction(op); });
    forEachOp([&](Operation *op) { return isRowAnchor(op); }, [&](Operation *op) { fuseRows(op); });
    forEachOp([&](Operation *op) { return isa<graph::ReduceOp, graph::PoolOp>(op); }, [&](Operation *op) { fuseAroundWindow(op); });
    forEachOp([&](Operation *op) { return op->hasTrait<graph::Elementwise>(); }, [&](Operation *op) { fuseMap(op); });
    eraseDead();
    auto isPart = [](Operation *op) { return isa<graph::ConcatOp, graph::SliceOp>(op); };
    auto outlineSingle = [&](Operation *op) {
      outlineGroup(FusionGroup(op), familyOf(op), "own", "single " + op->getName().stripDialect().str());
    };
    forEachOp([&](Operation *op) { return !runsWithoutKernel(op) && !isPart(op); }, outlineSingle);
    // When all kernels around them are known.
    forEachOp([&](Operation *op) { return !runsWithoutKernel(op); }, [&](Operation *op) {
      if (pitchedViews && isBetterPitched(op))
        op->setDiscardableAttr(plan::kPitchedAttrName, UnitAttr::get(op->getContext()));
      else
        outlineSingle(op);
    });
  }

private:
  /// Regions hold their own copies of constants and broadcasts, so that the originals may have lost all their uses.
  void eraseDead() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Ops are collected first: outlining erases the ones that it takes.
  void forEachOp(llvm::function_ref<bool(Operation *)> wanted, llvm::function_ref<void(Operation *)> visit) {
    llvm::SetVector<Operation *> pending;
    for (Operation &op : block)
      if (wanted(&op))
        pending.insert(&op);
    while (!pending.empty()) {
      Operation *op = pending.front();
      taken.clear();
      visit(op);
      pending.remove_if([&](Operation *candidate) { return candidate == op || taken.contains(candidate); });
    }
  }

  void outline(const FusionGroup &group, StringRef family, StringRef kernel, const std::string &reason) {
    taken.insert(group.ops().begin(), group.ops().end());
    outlineGroup(group, family, kernel, reason);
  }

  void fuseContraction(Operation *op) {
    RankedTensorType type = typeOf(op->getResult(0));
    FusionGroup group(op);
    KernelChoice choice = takeKernelChoice(op);
    plan::LibraryEpilogue library(op);
    bool own = choice.kernel == "own";
    group.growForward([&](Operation *candidate) { return own ? isElementwiseOf(candidate, type) : library.admit(candidate); });
    outline(group, familyOf(op), choice.kernel, choice.reason);
  }

  void fuseRows(Operation *op) {
    RankedTensorType full = typeOf(op->getOperand(0));
    llvm::SmallVector<int64_t> axes = rowAxes(op);
    FusionGroup group(op);
    group.growBackward([&](Operation *candidate) { return isElementwiseOf(candidate, full); });
    group.growForward([&](Operation *candidate) {
      if (isElementwiseOf(candidate, full) || isElementwiseOf(candidate, typeOf(op->getResult(0))))
        return true;
      if (auto broadcast = dyn_cast<graph::BroadcastOp>(candidate))
        return sameShape(typeOf(broadcast.getResult()), full);
      return isRowAnchor(candidate) && sameShape(typeOf(candidate->getOperand(0)), full) && rowAxes(candidate) == axes;
    });
    // A reduction on its own needs no row structure.
    bool onlyReduce = isa<graph::ReduceOp>(op) && llvm::none_of(group.ops(), [&](Operation *member) {
      return member != op && (isRowAnchor(member) || isa<graph::BroadcastOp>(member));
    });
    if (onlyReduce)
      return;
    outline(group, "rows", "own", "row of " + op->getName().stripDialect().str() + " with " + std::to_string(group.ops().size() - 1) + " neighbours");
  }

  void fuseAroundWindow(Operation *op) {
    RankedTensorType input = typeOf(op->getOperand(0)), result = typeOf(op->getResult(0));
    FusionGroup group(op);
    if (isa<graph::ReduceOp>(op))
      group.growBackward([&](Operation *candidate) { return isElementwiseOf(candidate, input); });
    group.growForward([&](Operation *candidate) { return isElementwiseOf(candidate, result); });
    outline(group, familyOf(op), "own", "element-wise neighbours fused: " + std::to_string(group.ops().size() - 1));
  }

  void fuseMap(Operation *op) {
    RankedTensorType type = typeOf(op->getResult(0));
    FusionGroup group(op);
    group.growForward([&](Operation *candidate) { return isElementwiseOf(candidate, type); });
    outline(group, "map", "own", "element-wise chain of " + std::to_string(group.ops().size()));
  }

  Block &block;
  const bool pitchedViews;
  llvm::DenseSet<Operation *> taken;
};

struct FormFusionsPass : impl::FormFusionsPassBase<FormFusionsPass> {
  using FormFusionsPassBase::FormFusionsPassBase;

  void runOnOperation() override {
    llvm::SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<graph::FusionOp>(block->getParentOp())) // An earlier pass has formed that one.
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      FusionFormer(*block, pitchedViews).run();
  }
};

} // namespace
} // namespace stator::optimise
