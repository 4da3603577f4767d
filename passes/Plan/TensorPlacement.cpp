//===- TensorPlacement.cpp - views, outputs, parts of concatenations -------===//
//
// Four sweeps, each only adding claims: views, which are facts; then next values
// of states, whose kernels may then change a large cache in place; then results
// of the method, which spare a copy of what is often the largest tensor; then
// values that loops carry, results of branches and parts of concatenations.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/TensorPlacement.h"

#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/PitchedAccess.h"
#include "dialects/Plan/PlanOps.h"
#include "dialects/Plan/Views.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

static DimExpr sizeBytes(Value tensor) { return sizeBytesOf(cast<RankedTensorType>(tensor.getType())); }

TensorPlacement::TensorPlacement(func::FuncOp method) {
  Block &body = method.getBody().front();
  SmallVector<graph::SliceOp> slices;
  findViews(body, slices);
  // Last ones first: whether a kernel can read a part of a part must be known before that is placed itself.
  for (graph::SliceOp slice : llvm::reverse(slices))
    place(slice.getResult(), {slice.getInput(), graph::dimsOf(cast<RankedTensorType>(slice.getType())), slice.getStarts().dims()});
  claimStates(body);
  claimOutputs(cast<func::ReturnOp>(body.getTerminator()));
  claimParts(body);
}

std::optional<Placement> TensorPlacement::placementOfPart(Value tensor, ArrayRef<DimExpr> dims, ArrayRef<DimExpr> starts) const {
  std::optional<Placement> place = locate(tensor);
  if (!place || starts.empty())
    return place;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<DimExpr> strides = graph::stridesOf(graph::dimsOf(type), place->pitch);
  DimExpr elements(0);
  for (auto [start, stride] : llvm::zip_equal(starts, strides))
    elements += start * stride;
  place->offset += elements * DimExpr(static_cast<int64_t>(byteSize(graph::elementTypeOf(type.getElementType()))));
  std::optional<graph::Layout> layout = graph::layoutOf(dims, strides);
  if (!layout)
    return std::nullopt;
  place->pitch = layout->pitch;
  return place;
}

std::optional<Placement> TensorPlacement::locate(Value tensor) const {
  auto it = inside.find(tensor);
  if (it == inside.end())
    return Placement{tensor, DimExpr(0), std::nullopt};
  std::optional<Placement> place = placementOfPart(it->second.within, it->second.dims, it->second.starts);
  if (place && place->pitch && !graph::hasRowsOf(graph::dimsOf(cast<RankedTensorType>(tensor.getType())), *place->pitch))
    return std::nullopt;
  return place;
}

bool TensorPlacement::place(Value tensor, Part part) {
  Value within = part.within;
  inside[tensor] = std::move(part);
  partsOf[within].push_back(tensor);
  if (fits(tensor))
    return true;
  inside.erase(tensor);
  partsOf[within].pop_back();
  return false;
}

bool TensorPlacement::fits(Value tensor) const {
  std::optional<Placement> place = locate(tensor);
  if (!place)
    return false;
  if (place->pitch) {
    if (!canWritePitched(tensor))
      return false;
    for (OpOperand &use : tensor.getUses())
      if (!canReadPitched(use, *place->pitch))
        return false;
  }
  auto parts = partsOf.find(tensor);
  return parts == partsOf.end() || llvm::all_of(parts->second, [&](Value part) { return fits(part); });
}

bool TensorPlacement::canWritePitched(Value tensor) const {
  Operation *producer = tensor.getDefiningOp();
  if (auto call = dyn_cast_or_null<CallOp>(producer)) {
    auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getKernel());
    return kernel && mayWritePitched(kernel.getBody().front(), cast<OpResult>(tensor).getResultNumber());
  }
  // Kernels copy what a concatenation copies, if its parts have a pitch then.
  if (auto concat = dyn_cast_or_null<graph::ConcatOp>(producer)) {
    SmallVector<DimExpr> starts(cast<RankedTensorType>(concat.getType()).getRank(), DimExpr(0));
    for (Value part : concat.getInputs()) {
      SmallVector<DimExpr> dims = graph::dimsOf(cast<RankedTensorType>(part.getType()));
      if (!placementOfPart(tensor, dims, starts))
        return false;
      starts[concat.getAxis()] += dims[concat.getAxis()];
    }
    return true;
  }
  return isa_and_nonnull<graph::ReshapeOp, graph::SliceOp>(producer); // Views write nothing.
}

bool TensorPlacement::canReadPitched(OpOperand &use, const graph::Pitch &pitch) const {
  Operation *user = use.getOwner();
  if (auto call = dyn_cast<CallOp>(user)) {
    auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getKernel());
    return kernel && mayReadPitched(kernel.getBody().front(), use.getOperandNumber(), pitch);
  }
  // Views are parts, which are looked at themselves. One that is copied instead wants its operand dense.
  if (isa<graph::ReshapeOp, graph::SliceOp>(user))
    return inside.contains(user->getResult(0));
  // Copied from here, if at all.
  return isa<graph::ConcatOp, graph::YieldOp, graph::SetParameterOp, graph::WhileOp, func::ReturnOp>(user);
}

bool TensorPlacement::isSamePlace(Value a, Value b) const {
  Placement first = placementOf(a), second = placementOf(b);
  return first.root == second.root && first.offset == second.offset && first.pitch == second.pitch;
}

int64_t TensorPlacement::outputOf(Value root) const {
  auto it = outputs.find(root);
  return it == outputs.end() ? -1 : it->second;
}

void TensorPlacement::findViews(Block &block, SmallVectorImpl<graph::SliceOp> &slices) {
  for (Operation &op : block) {
    if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      place(reshape.getResult(), {reshape.getInput()});
    } else if (auto slice = dyn_cast<graph::SliceOp>(op)) {
      if (isView(slice))
        slices.push_back(slice);
    } else if (auto get = dyn_cast<graph::GetParameterOp>(op)) {
      auto [first, isNew] = parameters.try_emplace(get.getParameter(), get.getResult());
      if (!isNew)
        place(get.getResult(), {first->second});
    } else if (auto loop = dyn_cast<graph::WhileOp>(op)) {
      // A carried value has one place for the whole loop; its results are what is there at the end.
      for (Region &region : loop->getRegions())
        for (BlockArgument argument : region.getArguments())
          place(argument, {loop->getResult(argument.getArgNumber())});
    }
    if (isa<graph::WhileOp, graph::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          findViews(nested, slices);
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

void TensorPlacement::tryPlace(OpOperand &operand, Value target, ArrayRef<DimExpr> starts) {
  Value root = movableRoot(operand);
  if (!root || root == placementOf(target).root)
    return;
  SmallVector<DimExpr> dims = graph::dimsOf(cast<RankedTensorType>(operand.get().getType()));
  if (place(root, {target, starts.empty() ? SmallVector<DimExpr>() : dims, SmallVector<DimExpr>(starts)}))
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
      place(root, {old});
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
    place(root, {carried});
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

bool TensorPlacement::shareParts(graph::ConcatOp concat) {
  Value result = concat.getResult();
  if (inside.contains(result) || outputs.contains(result) || writtenStates.contains(result))
    return false;
  Part whole;
  DimExpr end(0);
  for (auto [i, operand] : llvm::enumerate(concat.getInputs())) {
    auto it = inside.find(operand);
    if (it == inside.end() || it->second.starts.empty() || !it->second.within.getDefiningOp<graph::ConcatOp>())
      return false;
    Part part = it->second;
    SmallVector<DimExpr> dims = graph::dimsOf(cast<RankedTensorType>(operand.getType()));
    if (part.dims != dims || part.starts.size() != dims.size())
      return false;
    DimExpr begin = part.starts[concat.getAxis()], next = begin + dims[concat.getAxis()];
    if (i == 0)
      whole = part;
    part.starts[concat.getAxis()] = whole.starts[concat.getAxis()];
    if (part.within != whole.within || part.starts != whole.starts || (i != 0 && begin != end))
      return false;
    end = next;
  }
  whole.dims = graph::dimsOf(cast<RankedTensorType>(result.getType()));
  if (!place(result, whole))
    return false;
  for (OpOperand &operand : concat->getOpOperands())
    inPlaceOperands.insert(&operand);
  return true;
}

void TensorPlacement::claimPartsOf(graph::ConcatOp concat) {
  if (shareParts(concat))
    return;
  int64_t axis = concat.getAxis();
  SmallVector<DimExpr> starts(cast<RankedTensorType>(concat.getType()).getRank(), DimExpr(0));
  for (OpOperand &operand : concat->getOpOperands()) {
    tryPlace(operand, concat.getResult(), starts);
    starts[axis] += graph::dimOf(cast<RankedTensorType>(operand.get().getType()), axis);
  }
}

void TensorPlacement::claimParts(Block &block) {
  for (Operation &op : block) {
    if (!isa<graph::IfOp, graph::WhileOp>(op))
      continue;
    if (auto loop = dyn_cast<graph::WhileOp>(op))
      claimCarried(loop);
    for (Region &region : op.getRegions())
      for (Block &nested : region) {
        claimParts(nested);
        if (isa<graph::IfOp>(op))
          for (OpOperand &operand : nested.getTerminator()->getOpOperands())
            tryPlace(operand, op.getResult(operand.getOperandNumber()));
      }
  }
  // Later ones first: what a tensor is part of several times (each layer of a dense block joins what was there before) is placed in the
  // last and largest, in which the others are parts too.
  for (Operation &op : llvm::reverse(block))
    if (auto concat = dyn_cast<graph::ConcatOp>(op); concat && isView(concat))
      claimPartsOf(concat);
}
