//===- TensorPlacement.cpp - views, outputs, parts of concatenations -------===//
//
// Three sweeps, each only adding claims: views, which are facts; then results
// of the method, which spare a copy of what is often the largest tensor; then
// parts of concatenations and results of branches, in program order.
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
  claimOutputs(cast<func::ReturnOp>(body.getTerminator()));
  claimParts(body);
}

Placement TensorPlacement::placementOf(Value tensor) const {
  Placement placement{tensor, DimExpr(0)};
  for (auto it = inside.find(tensor); it != inside.end(); it = inside.find(placement.root))
    placement = {it->second.root, placement.offset + it->second.offset};
  return placement;
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
  if (!producer || outputs.contains(placement.root))
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
