//===- FormAttention.cpp - attention and the views around it ---------------===//
//
// Between a projection and the attention lie a slice (when query, key and value
// come from one product), a reshape that splits heads and a transpose that
// brings them forward; after it a transpose back. With a key cache, keys and
// values are concatenations. The attention kernel reads and writes rows through
// strides, so none of that has to be carried out: it moves into the kernel's
// region, where it says where the rows lie.
//
// A concatenation moves only if nothing else needs it. The other ops are copied
// for each attention that looks through them.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/Shapes.h"
#include "dialects/Graph/StridedViews.h"
#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/FusionGroups.h"
#include "passes/Optimise/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_FORMATTENTIONPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

/// More ops in a row, and more parts of a cache, have not been seen.
constexpr unsigned mostThrough = 12, mostParts = 4;

bool hasDenseRows(const graph::StridedView &view) { return view.strides.back().isConstant(1) || view.sizes.back().isConstant(1); }

class AttentionFormer {
public:
  explicit AttentionFormer(graph::AttentionOp op) : op(op), block(op->getBlock()) {}

  void run() {
    llvm::SetVector<Operation *> through;
    for (unsigned index = 0; index < 3; ++index)
      through.insert_range(readThrough(op->getOperand(index), /*maxParts=*/index == 0 ? 1 : mostParts));
    llvm::SmallPtrSet<Operation *, 16> members = clone(through);
    Value written = writtenValue();
    for (Value value = written; value != op.getResult(); value = value.getDefiningOp()->getOperand(0))
      members.insert(value.getDefiningOp());
    FusionGroup group(op);
    auto admit = [&](Operation *candidate) { return members.contains(candidate); };
    group.growBackward(admit);
    group.growForward(admit);
    size_t views = group.ops().size() - 1;
    outlineGroup(group, "attention", "own", views ? "reads and writes through " + std::to_string(views) + " views" : "single attention");
  }

private:
  /// Ops between the operand and where its rows lie; as many as the kernel can look through.
  SmallVector<Operation *> readThrough(Value operand, unsigned maxParts) {
    int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    // A region gets copies of uniform constants, which the kernel could not read as rows of an argument.
    auto readsConstant = [](Operation *candidate) {
      return llvm::any_of(candidate->getOperands(), [](Value value) { return value.getDefiningOp<graph::ConstantOp>(); });
    };
    auto admit = [&](Operation *candidate) {
      return candidate->getBlock() == block && !readsConstant(candidate) && (!isa<graph::ConcatOp>(candidate) || candidate->hasOneUse());
    };
    for (unsigned limit = mostThrough; limit > 0; --limit) {
      graph::StridedParts view = graph::viewOf(operand, limit, maxParts, admit);
      bool isParted = view.parts.size() > 1;
      if (llvm::all_of(view.parts, hasDenseRows) && (!isParted || view.axis == rank - 2))
        return view.through;
    }
    return {};
  }

  /// Copies of the ops that have other users, in the order in which they depend on each other; all ops that are in the region now.
  llvm::SmallPtrSet<Operation *, 16> clone(llvm::SetVector<Operation *> &through) {
    SmallVector<Operation *> ops = through.takeVector();
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    OpBuilder builder(op);
    IRMapping mapping;
    llvm::SmallPtrSet<Operation *, 16> members;
    for (Operation *original : ops)
      members.insert(builder.clone(*original, mapping));
    for (unsigned index = 0; index < 3; ++index)
      op->setOperand(index, mapping.lookupOrDefault(op->getOperand(index)));
    // A dead op would be a user that keeps its operand from taking part in a fusion.
    for (Operation *original : llvm::reverse(ops))
      if (isOpTriviallyDead(original))
        original->erase();
    return members;
  }

  /// The last transpose of what is made of the result alone, as far as the kernel can write it.
  Value writtenValue() {
    Value value = op.getResult(), last = value;
    for (unsigned count = 0; count < mostThrough && value.hasOneUse(); ++count) {
      Operation *user = *value.user_begin();
      if (!isa<graph::TransposeOp, graph::ReshapeOp>(user) || user->getBlock() != block)
        break;
      value = user->getResult(0);
      std::optional<graph::StridedView> view = graph::viewInto(op.getResult(), value);
      if (isa<graph::TransposeOp>(user) && view && hasDenseRows(*view))
        last = value;
    }
    return last;
  }

  graph::AttentionOp op;
  Block *block;
};

struct FormAttentionPass : impl::FormAttentionPassBase<FormAttentionPass> {
  using FormAttentionPassBase::FormAttentionPassBase;

  void runOnOperation() override {
    SmallVector<graph::AttentionOp> ops;
    getOperation().walk([&](graph::AttentionOp op) {
      if (!op->getParentOfType<graph::FusionOp>())
        ops.push_back(op);
    });
    for (graph::AttentionOp op : ops)
      AttentionFormer(op).run();
  }
};

} // namespace
} // namespace stator::optimise
