//===- TensorPlacement.cpp - views, outputs, parts of concatenations -------===//
//
// Four sweeps, each only adding claims: views, which are facts; then next values
// of states, whose kernels may then change a large cache in place; then results
// of the method, which spare a copy of what is often the largest tensor; then
// parts of concatenations, results of branches and values that loops carry, in
// program order.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/TensorPlacement.h"

#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/PlanOps.h"
#include "dialects/Plan/Views.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

static DimExpr sizeBytes(Value tensor) { return sizeBytesOf(cast<RankedTensorType>(tensor.getType())); }

TensorPlacement::TensorPlacement(func::FuncOp method) {
  Block &body = method.getBody().front();
  findViews(body);
  claimStates(body);
  claimOutputs(cast<func::ReturnOp>(body.getTerminator()));
  claimParts(body);
}

Placement TensorPlacement::placementOf(Value tensor) const {
  Placement placement{tensor, DimExpr(0)};
  for (auto it = inside.find(tensor); it != inside.end(); it = inside.find(placement.root))
    placement = {it->second.root, placement.offset + it->second.offset};
  return placement;
}

bool TensorPlacement::isSamePlace(Value a, Value b) const {
  Placement first = placementOf(a), second = placementOf(b);
  return first.root == second.root && first.offset == second.offset;
}

int64_t TensorPlacement::outputOf(Value root) const {
  auto it = outputs.find(root);
  return it == outputs.end() ? -1 : it->second;
}

void TensorPlacement::findViews(Block &block) {
  for (Operation &op : block) {
    if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      inside[reshape.getResult()] = {reshape.getInput(), DimExpr(0)};
    } else if (auto slice = dyn_cast<graph::SliceOp>(op)) {
      if (std::optional<DimExpr> offset = contiguousSliceOffset(slice))
        inside[slice.getResult()] = {slice.getInput(), *offset};
    } else if (auto get = dyn_cast<graph::GetParameterOp>(op)) {
      auto [first, isNew] = parameters.try_emplace(get.getParameter(), get.getResult());
      if (!isNew)
        inside[get.getResult()] = {first->second, DimExpr(0)};
    } else if (auto loop = dyn_cast<graph::WhileOp>(op)) {
      // A carried value has one place for the whole loop; its results are what is there at the end.
      for (Region &region : loop->getRegions())
        for (BlockArgument argument : region.getArguments())
          inside[argument] = {loop->getResult(argument.getArgNumber()), DimExpr(0)};
    }
    if (isa<graph::WhileOp, graph::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          findViews(nested);
  }
}

Value TensorPlacement::movableRoot(OpOperand &operand) const {
  Placement placement = placementOf(operand.get());
  Operation *producer = placement.root.getDefiningOp();
  if (!producer || outputs.contains(placement.root) || writtenStates.contains(placement.root))
    return nullptr;
  // Inputs and parameters have their place. A producer elsewhere than its user (outside of a loop or a branch) runs at other times.
  if (!isa<CallOp, LibraryCallOp, graph::DimValuesOp, graph::ConcatOp, graph::IfOp, graph::WhileOp>(producer) ||
      producer->getBlock() != operand.getOwner()->getBlock())
    return nullptr;
  if (placement.offset != DimExpr(0) || sizeBytes(placement.root) != sizeBytes(operand.get()))
    return nullptr;
  return placement.root;
}

void TensorPlacement::tryPlace(OpOperand &operand, Value target, const DimExpr &offset) {
  Value root = movableRoot(operand);
  if (!root || root == placementOf(target).root)
    return;
  inside[root] = {target, offset};
  inPlaceOperands.insert(&operand);
}

/// The first op that writes bytes of what `producer` makes: parts of a concatenation may be written where they are computed.
Operation *TensorPlacement::firstWriteOf(Operation *producer) const {
  Operation *first = producer;
  if (isa<graph::ConcatOp>(producer))
    for (Value operand : producer->getOperands())
      if (Operation *part = placementOf(operand).root.getDefiningOp(); part && part->getBlock() == producer->getBlock()) {
        Operation *candidate = firstWriteOf(part);
        first = candidate->isBeforeInBlock(first) ? candidate : first;
      }
  return first;
}

bool TensorPlacement::readsFrom(Operation *op, Value root) const {
  WalkResult result = op->walk([&](Operation *nested) {
    // Reading a view of a view is what reads.
    if (isa<graph::ReshapeOp>(nested) || (isa<graph::SliceOp>(nested) && isView(nested)))
      return WalkResult::advance();
    bool reads = llvm::any_of(nested->getOperands(), [&](Value operand) { return placementOf(operand).root == root; });
    return reads ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool TensorPlacement::branchMayOverwrite(OpOperand &yielded, Value old) const {
  Placement place = placementOf(yielded.get());
  if (place.root == old)
    return place.offset == DimExpr(0); // The branch leaves the old value alone.
  if (Value root = movableRoot(yielded))
    return mayOverwrite(root, old);
  // Copied at the end of the branch, together with what the branch yields besides.
  return !readsFrom(yielded.getOwner(), old);
}

bool TensorPlacement::mayOverwrite(Value root, Value old) const {
  Operation *producer = root.getDefiningOp();
  unsigned number = cast<OpResult>(root).getResultNumber();
  for (Operation *op = firstWriteOf(producer); op; op = op->getNextNode())
    if (op != producer && readsFrom(op, old))
      return false;

  auto isWhole = [&](Value operand) {
    Placement place = placementOf(operand);
    return place.offset == DimExpr(0) && sizeBytes(operand) == sizeBytes(root);
  };
  if (auto call = dyn_cast<CallOp>(producer)) {
    ArrayRef<int64_t> allowed = call.getInPlace().value_or(ArrayRef<int64_t>());
    return llvm::all_of(llvm::enumerate(call.getInputs()), [&](auto input) {
      return placementOf(input.value()).root != old ||
             (isWhole(input.value()) && llvm::is_contained(allowed, static_cast<int64_t>(input.index())));
    });
  }
  if (isa<graph::IfOp>(producer)) {
    if (placementOf(producer->getOperand(0)).root == old)
      return false;
    return llvm::all_of(producer->getRegions(),
                        [&](Region &region) { return branchMayOverwrite(region.front().getTerminator()->getOpOperand(number), old); });
  }
  if (auto loop = dyn_cast<graph::WhileOp>(producer)) {
    // The old value may be what the loop begins with.
    for (OpOperand &operand : loop->getOpOperands())
      if (placementOf(operand.get()).root == old && (operand.getOperandNumber() != number || !isWhole(operand.get())))
        return false;
    return llvm::none_of(loop->getRegions(),
                         [&](Region &region) { return llvm::any_of(region.front(), [&](Operation &op) { return readsFrom(&op, old); }); });
  }
  return !readsFrom(producer, old);
}

void TensorPlacement::claimStates(Block &body) {
  for (auto set : body.getOps<graph::SetParameterOp>()) {
    OpOperand &operand = set.getValueMutable();
    Value root = movableRoot(operand), old = rootOfParameter(set.getParameter());
    if (!root || (old && !mayOverwrite(root, old)))
      continue;
    if (old)
      inside[root] = {old, DimExpr(0)};
    else
      writtenStates[root] = set.getParameter();
    inPlaceOperands.insert(&operand);
  }
}

void TensorPlacement::claimCarried(graph::WhileOp loop) {
  for (OpOperand &operand : loop.getBody().front().getTerminator()->getOpOperands()) {
    Value root = movableRoot(operand), carried = loop->getResult(operand.getOperandNumber());
    if (!root || !mayOverwrite(root, placementOf(carried).root))
      continue;
    inside[root] = {carried, DimExpr(0)};
    inPlaceOperands.insert(&operand);
  }
}

void TensorPlacement::claimOutputs(func::ReturnOp result) {
  for (OpOperand &operand : result->getOpOperands()) {
    Value root = movableRoot(operand);
    if (!root)
      continue;
    outputs[root] = operand.getOperandNumber();
    inPlaceOperands.insert(&operand);
  }
}

void TensorPlacement::claimParts(Block &block) {
  for (Operation &op : block) {
    if (auto concat = dyn_cast<graph::ConcatOp>(op)) {
      if (!isContiguousConcat(concat))
        continue; // The pass reports it.
      DimExpr offset(0);
      for (OpOperand &operand : concat->getOpOperands()) {
        tryPlace(operand, concat.getResult(), offset);
        offset += sizeBytes(operand.get());
      }
    } else if (isa<graph::IfOp, graph::WhileOp>(op)) {
      if (auto loop = dyn_cast<graph::WhileOp>(op))
        claimCarried(loop);
      for (Region &region : op.getRegions())
        for (Block &nested : region) {
          claimParts(nested);
          if (isa<graph::IfOp>(op))
            for (OpOperand &operand : nested.getTerminator()->getOpOperands())
              tryPlace(operand, op.getResult(operand.getOperandNumber()), DimExpr(0));
        }
    }
  }
}
