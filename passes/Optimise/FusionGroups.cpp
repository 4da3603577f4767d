//===- FusionGroups.cpp - growing a group of ops into one kernel -----------===//

#include "passes/Optimise/FusionGroups.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/Views.h"
#include "passes/Optimise/FusionFamilies.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace stator::optimise {

/// How far growForward looks for consumers, and how large a group gets. Kernels beyond this size gain nothing and compile slowly.
static constexpr unsigned lookAhead = 256;
static constexpr size_t maxMembers = 48;

/// Calls `visit` for each value that `op` reads, also from inside its regions.
static void forEachRead(Operation *op, llvm::function_ref<void(Value, Operation *)> visit) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      visit(operand, nested);
  });
}

/// The op of `block` that contains `user`.
static Operation *ancestorIn(Block *block, Operation *user) { return block->findAncestorOpInBlock(*user); }

static bool allUsesInside(Operation *op, const llvm::SetVector<Operation *> &members) {
  for (Value result : op->getResults())
    for (Operation *user : result.getUsers())
      if (!members.contains(user))
        return false;
  return true;
}

bool isRematerialised(Operation *op, Operation *user) {
  // These kernels read all of their operands from memory.
  if (isContraction(user) || isa<graph::LstmOp, graph::GruOp, graph::RnnOp, graph::AttentionOp>(user))
    return false;
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && (elements.isSplat() || elements.getNumElements() == 1);
  }
  return isa<graph::BroadcastOp>(op) && (user->hasTrait<graph::Elementwise>() || isa<graph::BroadcastOp>(user));
}

/// A part of a tensor that a map can read where it lies, as gates of a recurrent cell are read. Its rows are long enough for vectors, which
/// they would be anyhow if the part were copied first. Contiguous parts are views and cost nothing.
static bool isReadInPlace(Operation *op, Operation *user) {
  auto slice = dyn_cast<graph::SliceOp>(op);
  if (!slice || !user->hasTrait<graph::Elementwise>() || plan::isContiguousSlice(slice))
    return false;
  constexpr int64_t kShortestRow = 16;
  std::optional<int64_t> row = graph::dimsOf(cast<RankedTensorType>(slice.getType())).back().constant();
  return row && *row >= kShortestRow && slice.getStrides().back() == 1;
}

void FusionGroup::sortMembers() {
  llvm::SmallVector<Operation *> sorted(members.begin(), members.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  members.clear();
  members.insert(sorted.begin(), sorted.end());
}

void FusionGroup::growBackward(AdmitFn admit) {
  Block *block = last()->getBlock();
  bool grew = true;
  while (grew && members.size() < maxMembers) {
    grew = false;
    // A copy: the set changes while its members' operands are looked at.
    llvm::SmallVector<Operation *> current(members.begin(), members.end());
    for (Operation *member : current)
      for (Value operand : member->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || producer->getBlock() != block || members.contains(producer) || members.size() >= maxMembers)
          continue;
        if (!admit(producer) || !allUsesInside(producer, members))
          continue;
        members.insert(producer);
        grew = true;
      }
  }
  sortMembers();
}

void FusionGroup::growForward(AdmitFn admit) {
  Block *block = last()->getBlock();
  llvm::SetVector<Operation *> trial = members;
  // Ops outside that depend on the group: admitting a consumer of one of them would close a cycle.
  llvm::DenseSet<Operation *> dependent;
  size_t best = members.size();
  unsigned budget = lookAhead;

  auto liveResultsOnlyOfLast = [&] {
    for (Operation *member : trial)
      if (member != trial.back() && !allUsesInside(member, trial))
        return false;
    return true;
  };

  for (Operation *op = members.front()->getNextNode(); op && budget; op = op->getNextNode()) {
    if (trial.contains(op))
      continue;
    --budget;
    bool readsGroup = false, readsDependent = false;
    forEachRead(op, [&](Value value, Operation *) {
      Operation *producer = value.getDefiningOp();
      if (!producer)
        return;
      Operation *local = ancestorIn(block, producer);
      if (!local || local == op)
        return;
      readsGroup |= trial.contains(local);
      readsDependent |= dependent.contains(local);
    });
    if (!readsGroup && !readsDependent)
      continue;
    // A member must come after the last one in program order, or the result would be used before the region that makes it.
    bool inOrder = trial.back()->isBeforeInBlock(op);
    if (readsDependent || !inOrder || trial.size() >= maxMembers || !admit(op)) {
      dependent.insert(op);
      continue;
    }
    trial.insert(op);
    if (liveResultsOnlyOfLast())
      best = trial.size();
  }
  // Members were inserted in program order, so a prefix is a valid group.
  while (trial.size() > best)
    trial.pop_back();
  members = std::move(trial);
}

namespace {

/// Fills one fusion region.
class RegionWriter {
public:
  RegionWriter(const FusionGroup &group, OpBuilder &builder)
      : group(group), builder(builder), isMap(llvm::all_of(group.ops(), [](Operation *op) { return op->hasTrait<graph::Elementwise>(); })) {
  }

  /// Values read from outside, in order of first use; block argument i stands for input i.
  llvm::SetVector<Value> inputs;

  void collectInputs() {
    for (Operation *op : group.ops())
      forEachRead(op, [&](Value value, Operation *user) { collect(value, user); });
  }

  /// Clones everything into `body`, whose arguments mirror `inputs`.
  void write(Block *body) {
    for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
      mapping.map(input, argument);
    builder.setInsertionPointToStart(body);
    for (Operation *op : group.ops()) {
      forEachRead(op, [&](Value value, Operation *user) { rematerialise(value, user); });
      builder.clone(*op, mapping);
    }
    llvm::SmallVector<Value> results;
    for (Value result : group.last()->getResults())
      results.push_back(mapping.lookup(result));
    graph::YieldOp::create(builder, group.last()->getLoc(), results);
  }

private:
  bool isClonedFor(Operation *producer, Operation *user) {
    return isRematerialised(producer, user) || (isMap && isReadInPlace(producer, user));
  }
  bool isInside(Value value) {
    Operation *producer = value.getDefiningOp();
    return producer && (group.contains(producer) || isNested(producer));
  }
  bool isNested(Operation *op) {
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (group.contains(parent))
        return true;
    return false;
  }
  void collect(Value value, Operation *user) {
    if (isInside(value))
      return;
    Operation *producer = value.getDefiningOp();
    if (!producer) {
      // Arguments of regions nested in a member move with it.
      if (Operation *owner = cast<BlockArgument>(value).getOwner()->getParentOp(); group.contains(owner) || isNested(owner))
        return;
      inputs.insert(value);
      return;
    }
    if (!isClonedFor(producer, user)) {
      inputs.insert(value);
      return;
    }
    for (Value operand : producer->getOperands())
      collect(operand, producer);
  }
  void rematerialise(Value value, Operation *user) {
    if (mapping.contains(value) || isInside(value))
      return;
    Operation *producer = value.getDefiningOp();
    if (!producer || !isClonedFor(producer, user))
      return;
    for (Value operand : producer->getOperands())
      rematerialise(operand, producer);
    builder.clone(*producer, mapping);
  }

  const FusionGroup &group;
  OpBuilder &builder;
  const bool isMap;
  IRMapping mapping;
};

} // namespace

graph::FusionOp outlineGroup(const FusionGroup &group, llvm::StringRef family, llvm::StringRef kernel, llvm::StringRef reason) {
  Operation *last = group.last();
  OpBuilder builder(last);
  llvm::SmallVector<Location> locations;
  for (Operation *op : group.ops())
    locations.push_back(op->getLoc());
  Location location = FusedLoc::get(builder.getContext(), locations);

  RegionWriter writer(group, builder);
  writer.collectInputs();
  auto fusion = graph::FusionOp::create(builder, location, last->getResultTypes(), writer.inputs.getArrayRef(), family, kernel, reason);
  Block *body = builder.createBlock(&fusion->getRegion(0));
  for (Value input : writer.inputs)
    body->addArgument(input.getType(), input.getLoc());
  writer.write(body);

  last->replaceAllUsesWith(fusion->getResults());
  for (Operation *op : llvm::reverse(group.ops()))
    op->erase();
  return fusion;
}

} // namespace stator::optimise
