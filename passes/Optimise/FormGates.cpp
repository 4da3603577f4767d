//===- FormGates.cpp - squeeze-and-excite gates as one kernel --------------===//
//
// From the mean over an image to the weight of each channel: a reduction, two
// products over one pixel, element-wise ops between and behind them. Each is a
// microsecond of work or less, so what counts is the number of kernels; see
// GateKernel.cpp. The multiplication with the image stays outside, where it is
// one pass over a tensor that is in the cache.
//
// Layouts leave reshapes between such ops (from [N, C, 1, 1] to [N, 1, 1, C] and
// back), which are moved behind element-wise ops first.
//
//===----------------------------------------------------------------------===//

#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/FusionGroups.h"
#include "passes/Optimise/Passes.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_FORMGATESPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// [N, 1, 1, C] of f32 with a known C.
bool isPixel(Value value) {
  RankedTensorType type = typeOf(value);
  return type.getRank() == 4 && type.getElementType().isF32() && type.getDimSize(1) == 1 && type.getDimSize(2) == 1 &&
         !type.isDynamicDim(3);
}

/// A sum over the two inner axes of an image with channels last.
bool isPooling(graph::ReduceOp op) {
  return isPixel(op.getResult()) && op.getKeepDims() && op.getAxes() == ArrayRef<int64_t>{1, 2} &&
         op.getKind() == graph::ReduceKind::Sum;
}

bool isProduct(graph::ConvolutionOp op) {
  auto allAre = [](ArrayRef<int64_t> values, int64_t wanted) { return llvm::all_of(values, [&](int64_t v) { return v == wanted; }); };
  return isPixel(op.getInput()) && isPixel(op.getResult()) && op.getFilterPacked() && op.getGroups() == 1 && chosenKernel(op) == "own" &&
         op.getLayout() == graph::TensorLayout::ChannelsLast && allAre(ArrayRef<int64_t>(op.filterShape()).drop_front(2), 1) &&
         allAre(op.getStrides(), 1) && allAre(op.getPadLow(), 0) && allAre(op.getPadHigh(), 0);
}

/// f(reshape(a), reshape(b)) becomes reshape(f(a, b)).
bool moveReshapeBehind(Operation *op) {
  if (!op->hasTrait<graph::Elementwise>() || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  Type source;
  for (Value operand : op->getOperands()) {
    auto reshape = operand.getDefiningOp<graph::ReshapeOp>();
    if (!reshape || !isPixel(reshape.getInput()) || (source && reshape.getInput().getType() != source))
      return false;
    source = reshape.getInput().getType();
  }
  if (typeOf(op->getResult(0)).getElementType() != cast<RankedTensorType>(source).getElementType())
    return false;
  OpBuilder builder(op);
  Operation *moved = builder.clone(*op);
  for (OpOperand &operand : moved->getOpOperands())
    operand.set(operand.get().getDefiningOp<graph::ReshapeOp>().getInput());
  moved->getResult(0).setType(source);
  auto reshape = graph::ReshapeOp::create(builder, op->getLoc(), op->getResult(0).getType(), moved->getResult(0));
  op->getResult(0).replaceAllUsesWith(reshape.getResult());
  return true;
}

void moveReshapes(func::FuncOp function) {
  SmallVector<Operation *> dead;
  function.walk([&](Operation *op) {
    if (op->getParentOfType<graph::FusionOp>())
      return;
    if (moveReshapeBehind(op))
      dead.push_back(op);
    // A reshape of a reshape to what there was.
    if (auto outer = dyn_cast<graph::ReshapeOp>(op))
      if (auto inner = outer.getInput().getDefiningOp<graph::ReshapeOp>(); inner && inner.getInput().getType() == outer.getType())
        outer.getResult().replaceAllUsesWith(inner.getInput());
  });
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  // Their reads would keep a group from having one result.
  SmallVector<graph::ReshapeOp> unused;
  function.walk([&](graph::ReshapeOp op) { unused.push_back(op); });
  for (graph::ReshapeOp op : llvm::reverse(unused))
    if (op->use_empty())
      op->erase();
}

/// The group from `pooling` on, if it is a gate.
std::optional<FusionGroup> gateFrom(graph::ReduceOp pooling) {
  FusionGroup group(pooling);
  Value current = pooling.getResult();
  llvm::DenseSet<Operation *> stage{pooling}, earlier;
  unsigned products = 0;
  group.growForward([&](Operation *op) {
    if (auto product = dyn_cast<graph::ConvolutionOp>(op)) {
      Operation *filter = product.getFilter().getDefiningOp();
      if (products == 2 || !isProduct(product) || !stage.contains(product.getInput().getDefiningOp()) || stage.contains(filter) ||
          earlier.contains(filter))
        return false;
      ++products;
      earlier.insert(stage.begin(), stage.end());
      stage = {product};
      current = product.getResult();
      return true;
    }
    if (!op->hasTrait<graph::Elementwise>() || op->getNumResults() != 1 || op->getResult(0).getType() != current.getType())
      return false;
    for (Value operand : op->getOperands())
      if (earlier.contains(operand.getDefiningOp()))
        return false;
    stage.insert(op);
    return true;
  });
  if (llvm::count_if(group.ops(), [](Operation *op) { return isa<graph::ConvolutionOp>(op); }) != 2)
    return std::nullopt;
  return group;
}

struct FormGatesPass : impl::FormGatesPassBase<FormGatesPass> {
  using FormGatesPassBase::FormGatesPassBase;

  void runOnOperation() override {
    moveReshapes(getOperation());
    SmallVector<graph::ReduceOp> poolings;
    getOperation().walk([&](graph::ReduceOp op) {
      if (!op->getParentOfType<graph::FusionOp>() && isPooling(op))
        poolings.push_back(op);
    });
    for (graph::ReduceOp pooling : poolings)
      if (std::optional<FusionGroup> group = gateFrom(pooling)) {
        for (Operation *op : group->ops())
          takeKernelChoice(op);
        outlineGroup(*group, "gate", "own", "pool, squeeze and excite in one kernel");
      }
  }
};

} // namespace
} // namespace stator::optimise
