//===- ChooseKernels.cpp - own kernel or library, per contraction ----------===//

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Target/CostTable.h"
#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/Passes.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_CHOOSEKERNELSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether the axes are `batch, free, contract` on the left and `batch, {K, N}` or `batch, {N, K}` on the right, as a library wants them.
bool hasDenseOrder(graph::DotGeneralOp op) {
  auto isIota = [](ArrayRef<int64_t> axes) { return axes == ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, axes.size()))); };
  int64_t lhsRank = typeOf(op.getLhs()).getRank(), rhsRank = typeOf(op.getRhs()).getRank();
  return isIota(op.getLhsBatch()) && isIota(op.getRhsBatch()) && op.getLhsContract() == ArrayRef<int64_t>{lhsRank - 1} &&
         op.getRhsContract().size() == 1 && rhsRank == int64_t(op.getRhsBatch().size()) + 2;
}

/// Why oneDNN cannot run `op`, or empty.
std::string whyNotOneDnn(Operation *op) {
  Type element = typeOf(op->getResult(0)).getElementType();
  if (!element.isF32())
    return "oneDNN steps are f32 only";
  if (auto dot = dyn_cast<graph::DotGeneralOp>(op); dot && !hasDenseOrder(dot))
    return "oneDNN would need its operands transposed first";
  if (auto convolution = dyn_cast<graph::ConvolutionOp>(op)) {
    int64_t spatial = typeOf(convolution.getInput()).getRank() - 2;
    if (spatial < 1 || spatial > 3)
      return "oneDNN has convolutions of 1 to 3 spatial axes";
    if (llvm::any_of(convolution.getPadLow(), [](int64_t pad) { return pad < 0; }) ||
        llvm::any_of(convolution.getPadHigh(), [](int64_t pad) { return pad < 0; }))
      return "oneDNN has no negative padding";
  }
  return "";
}

ContractionCost describe(Operation *op) {
  ContractionCost cost;
  cost.kind = isa<graph::DotGeneralOp>(op)                           ? ContractionKind::Matmul
              : isDepthwise(cast<graph::ConvolutionOp>(op)) ? ContractionKind::Depthwise
                                                                     : ContractionKind::Convolution;
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(op->getResult(0)));
  DimExpr rows(1);
  for (const DimExpr &dim : ArrayRef(dims).drop_back())
    rows *= dim;
  cost.rows = rows.constant();
  if (auto dot = dyn_cast<graph::DotGeneralOp>(op)) {
    DimExpr depth(1);
    for (int64_t axis : dot.getLhsContract())
      depth *= graph::dimOf(typeOf(dot.getLhs()), axis);
    cost.depth = depth.constant();
  } else {
    auto convolution = cast<graph::ConvolutionOp>(op);
    SmallVector<int64_t> filter = convolution.filterShape();
    cost.depth = filter[1];
    for (int64_t taps : ArrayRef(filter).drop_front(2))
      cost.taps *= taps;
    cost.stride = *llvm::max_element(convolution.getStrides());
    cost.isGrouped = cost.kind == ContractionKind::Convolution && convolution.getGroups() > 1;
  }
  cost.columns = dims.back().constant();
  return cost;
}

struct ChooseKernelsPass : impl::ChooseKernelsPassBase<ChooseKernelsPass> {
  using ChooseKernelsPassBase::ChooseKernelsPassBase;

  void runOnOperation() override {
    if (library != "none" && library != "onednn" && library != "auto") {
      getOperation().emitError() << "unknown library `" << library << "`, expected none, onednn or auto";
      return signalPassFailure();
    }
    getOperation().walk([&](Operation *op) {
      // Those that an earlier pass decided stay as they are.
      if (isContraction(op) && !hasKernelChoice(op))
        choose(op);
    });
  }

private:
  void choose(Operation *op) {
    if (library == "none")
      return setKernelChoice(op, "own", "no library allowed");
    if (std::string reason = whyNotOneDnn(op); !reason.empty())
      return setKernelChoice(op, "own", reason);
    if (library == "onednn")
      return setKernelChoice(op, "onednn", "library forced");
    CostVerdict verdict = chooseByCost(describe(op), level);
    setKernelChoice(op, verdict.useLibrary ? "onednn" : "own", verdict.reason);
  }
};

} // namespace
} // namespace stator::optimise
