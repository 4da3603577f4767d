//===- ChannelsLast.cpp - convolutions and pools with channels last --------===//

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Optimise/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_CHANNELSLASTPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

/// [0, 2, 3, ..., 1]: from channels first to channels last.
SmallVector<int64_t> toChannelsLast(int64_t rank) {
  SmallVector<int64_t> permutation = {0};
  for (int64_t axis = 2; axis < rank; ++axis)
    permutation.push_back(axis);
  permutation.push_back(1);
  return permutation;
}

/// [0, rank-1, 1, 2, ...]: back again.
SmallVector<int64_t> toChannelsFirst(int64_t rank) {
  SmallVector<int64_t> permutation = {0, rank - 1};
  for (int64_t axis = 1; axis < rank - 1; ++axis)
    permutation.push_back(axis);
  return permutation;
}

template <typename OpT>
struct MakeChannelsLast : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (op.getLayout() == graph::TensorLayout::ChannelsLast)
      return rewriter.notifyMatchFailure(op, "has channels last");
    auto resultType = cast<RankedTensorType>(op.getResult().getType());
    int64_t rank = resultType.getRank();
    Value input = graph::TransposeOp::create(rewriter, op.getLoc(), op->getOperand(0), toChannelsLast(rank)).getResult();
    SmallVector<DimExpr> dims;
    SmallVector<DimExpr> before = graph::dimsOf(resultType);
    for (int64_t axis : toChannelsLast(rank))
      dims.push_back(before[axis]);

    OperationState state(op.getLoc(), op->getName());
    state.addOperands(input);
    state.addOperands(op->getOperands().drop_front());
    state.addTypes(graph::tensorType(dims, resultType.getElementType()));
    state.addAttributes(op->getAttrs());
    auto moved = cast<OpT>(rewriter.create(state));
    moved.setLayout(graph::TensorLayout::ChannelsLast);
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, moved.getResult(), toChannelsFirst(rank));
    return success();
  }
};

struct ChannelsLastPass : impl::ChannelsLastPassBase<ChannelsLastPass> {
  using ChannelsLastPassBase::ChannelsLastPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MakeChannelsLast<graph::ConvolutionOp>, MakeChannelsLast<graph::PoolOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::optimise
