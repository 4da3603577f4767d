//===- FormBlocks.cpp - inverted residual blocks as one kernel -------------===//
//
// Mobile networks expand an image with a 1x1 convolution, filter each channel
// and project it back. Run one after the other these kernels write and read the
// expanded tensor, which does not fit the second-level cache where images are
// large. This pass puts an expansion and its depthwise convolution, and the
// projection where it follows directly, into one region; FusedBlockKernel.cpp
// computes that row by row.
//
// Whether it pays depends on bytes only: a tensor that stays in the cache
// between two kernels is cheap, and apart the kernels have better tiles for few
// pixels. A projection is taken in if the filtered tensor is large as well; with
// squeeze-and-excite in between it cannot be, since the gate needs all pixels.
//
//===----------------------------------------------------------------------===//

#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/FusionGroups.h"
#include "passes/Optimise/Passes.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_FORMBLOCKSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Bytes of one image of a tensor [batch, height, width, channels] of f32; 0 if a size is not known.
int64_t imageBytes(Value value) {
  int64_t bytes = 4;
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(value));
  for (const DimExpr &dim : ArrayRef<DimExpr>(dims).drop_front())
    bytes *= dim.constant().value_or(0);
  return bytes;
}

/// Bytes of a tensor; of one image if the batch is not known.
int64_t tensorBytes(Value value) { return imageBytes(value) * graph::dimsOf(typeOf(value)).front().constant().value_or(1); }

/// The common requirements: two axes of known sizes, f32, an own kernel and a filter that it reads.
bool canStandInBlock(graph::ConvolutionOp op) {
  return op.getFilterPacked() && op.getLayout() == graph::TensorLayout::ChannelsLast && chosenKernel(op) == "own" && !op.getWinograd() &&
         typeOf(op.getInput()).getElementType().isF32() && typeOf(op.getInput()).getRank() == 4 && imageBytes(op.getInput()) > 0 &&
         imageBytes(op.getResult()) > 0;
}

bool allAre(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

bool isPointwise(graph::ConvolutionOp op) {
  return canStandInBlock(op) && op.getGroups() == 1 && allAre(ArrayRef<int64_t>(op.filterShape()).drop_front(2), 1) &&
         allAre(op.getStrides(), 1) && allAre(op.getPadLow(), 0) && allAre(op.getPadHigh(), 0);
}

bool isFilter(graph::ConvolutionOp op) {
  constexpr int64_t kMostTaps = 7;
  if (!canStandInBlock(op) || !isDepthwise(op) || typeOf(op.getFilter()).getRank() != 2 || !allAre(op.getDilations(), 1))
    return false;
  SmallVector<int64_t> filter = op.filterShape();
  for (size_t axis = 0; axis != 2; ++axis)
    if (filter[axis + 2] > kMostTaps || filter[axis + 2] < op.getStrides()[axis])
      return false;
  return true;
}

/// A projection multiplies one row of pixels at a time; a tile of fewer than these is slow.
constexpr int64_t kFewestColumns = 10;

/// One region in the making: a chain of convolutions with element-wise ops behind each.
class BlockGroup {
public:
  BlockGroup(graph::ConvolutionOp first, const FormBlocksPassOptions &options) : options(options), group(first) {
    enter(first);
    group.growForward([&](Operation *op) { return admit(op); });
    for (Operation *op : group.ops())
      if (auto convolution = dyn_cast<graph::ConvolutionOp>(op))
        convolutions.push_back(convolution);
  }

  bool isBlock() const { return convolutions.size() > 1 && llvm::any_of(convolutions, isFilter); }

  void outline() {
    std::string reason = convolutions.size() == 3 ? "expand, filter and project by rows"
                         : isFilter(convolutions.front()) ? "filter and project by rows"
                                                          : "expand and filter by rows";
    reason += ": " + std::to_string(tensorBytes(convolutions[1].getInput()) >> 10) + " KiB in between stay in cache";
    for (graph::ConvolutionOp convolution : convolutions)
      takeKernelChoice(convolution);
    outlineGroup(group, "inverted_residual", "own", reason);
  }

private:
  void enter(graph::ConvolutionOp op) {
    current = op;
    hasFilter |= isFilter(op);
    hasExpansion |= !hasFilter;
    hasProjection = hasFilter && !isFilter(op);
    earlier.insert(stage.begin(), stage.end());
    stage.clear();
    stage.insert(op);
  }

  bool admit(Operation *op) {
    if (auto convolution = dyn_cast<graph::ConvolutionOp>(op)) {
      // Its filter comes from outside, and nothing but the convolution reads the stage before.
      Operation *filter = convolution.getFilter().getDefiningOp();
      if (hasProjection || !stage.contains(convolution.getInput().getDefiningOp()) || stage.contains(filter) || earlier.contains(filter))
        return false;
      bool isNext = hasFilter ? isPointwise(convolution) && typeOf(convolution.getInput()).getDimSize(2) >= kFewestColumns
                              : isFilter(convolution);
      int64_t least = hasExpansion && hasFilter ? options.projectBytes : options.expandBytes;
      if (!isNext || tensorBytes(convolution.getInput()) < least)
        return false;
      enter(convolution);
      return true;
    }
    RankedTensorType type = typeOf(current.getResult());
    if (!op->hasTrait<graph::Elementwise>() || op->getNumResults() != 1 || typeOf(op->getResult(0)).getShape() != type.getShape() ||
        typeOf(op->getResult(0)).getEncoding() != type.getEncoding() || !typeOf(op->getResult(0)).getElementType().isF32())
      return false;
    // Values of an earlier stage are not at hand any more.
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); earlier.contains(producer))
        return false;
    stage.insert(op);
    return true;
  }

  const FormBlocksPassOptions &options;
  FusionGroup group;
  graph::ConvolutionOp current;
  bool hasExpansion = false, hasFilter = false, hasProjection = false;
  llvm::DenseSet<Operation *> stage, earlier;
  SmallVector<graph::ConvolutionOp> convolutions;
};

struct FormBlocksPass : impl::FormBlocksPassBase<FormBlocksPass> {
  using FormBlocksPassBase::FormBlocksPassBase;

  void runOnOperation() override {
    FormBlocksPassOptions options;
    options.expandBytes = expandBytes;
    options.projectBytes = projectBytes;
    // Blocks that begin with an expansion first, so that their depthwise convolutions are not taken without it.
    for (bool withExpansion : {true, false}) {
      SmallVector<graph::ConvolutionOp> anchors;
      getOperation().walk([&](graph::ConvolutionOp op) {
        if (!op->getParentOfType<graph::FusionOp>() && (withExpansion ? isPointwise(op) : isFilter(op)))
          anchors.push_back(op);
      });
      // From the last to the first: a projection may be the expansion of what follows, and belongs to the block before.
      for (graph::ConvolutionOp anchor : llvm::reverse(anchors)) {
        BlockGroup block(anchor, options);
        if (block.isBlock())
          block.outline();
      }
    }
  }
};

} // namespace
} // namespace stator::optimise
