//===- PoolFirst.cpp - averages before products over pixels ----------------===//
//
// A convolution of one tap and an average over windows are both linear, and the
// one works across channels, the other across pixels: they may change places.
// Pooling first leaves fewer pixels for the product, a quarter of them between
// the blocks of a DenseNet, where these products are a seventh of the model.
//
// The average must weigh each window's pixels with a sum of 1, so that a bias
// stays what it is, and the window must not be larger in channels than what it
// saves: with few input channels per output channel it always pays.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Optimise/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_POOLFIRSTPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

/// One tap per pixel, all pixels.
bool isProduct(graph::ConvolutionOp op) {
  return op.getLayout() == graph::TensorLayout::ChannelsLast && !op.getFilterPacked() && op.getGroups() == 1 &&
         isAll(ArrayRef<int64_t>(op.filterShape()).drop_front(2), 1) && isAll(op.getStrides(), 1) && isAll(op.getPadLow(), 0) &&
         isAll(op.getPadHigh(), 0);
}

/// Whether windows are averages of pixels that all exist, and there are at most half as many as pixels.
bool isSmallerAverage(graph::PoolOp op) {
  int64_t strides = 1;
  for (int64_t stride : op.getStrides())
    strides *= stride;
  return op.getKind() == graph::PoolKind::Average && op.getLayout() == graph::TensorLayout::ChannelsLast && strides >= 2 &&
         isAll(op.getPadLow(), 0) && isAll(op.getPadHigh(), 0);
}

/// Multiply-adds of the product that pooling first saves, against additions of the pool over more channels; and no more memory.
bool isWorthwhile(graph::ConvolutionOp convolution, graph::PoolOp pool) {
  auto filter = convolution.filterShape();
  int64_t outputs = filter[0], inputs = filter[1], window = 1;
  for (int64_t size : pool.getKernel())
    window *= size;
  // Per output pixel; a loaded element of the window costs about as much as eight multiply-adds in registers.
  double saved = 0.5 * static_cast<double>(inputs) * static_cast<double>(outputs);
  double more = 8.0 * static_cast<double>(window) * std::max<double>(0, static_cast<double>(inputs - outputs));
  return saved > more;
}

struct PoolFirst : OpRewritePattern<graph::PoolOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::PoolOp pool, PatternRewriter &rewriter) const override {
    auto convolution = pool.getInput().getDefiningOp<graph::ConvolutionOp>();
    if (!convolution || !convolution->hasOneUse() || !isProduct(convolution))
      return rewriter.notifyMatchFailure(pool, "does not read a product over pixels of its own");
    if (!isSmallerAverage(pool) || !isWorthwhile(convolution, pool))
      return rewriter.notifyMatchFailure(pool, "is no average that leaves fewer pixels, or the product is too small");
    SmallVector<DimExpr> dims = graph::dimsOf(typeOf(pool.getResult()));
    dims.back() = graph::dimsOf(typeOf(convolution.getInput())).back();
    Operation *pooled = rewriter.clone(*pool);
    pooled->setOperand(0, convolution.getInput());
    pooled->getResult(0).setType(graph::tensorType(dims, typeOf(pool.getResult()).getElementType()));
    Operation *product = rewriter.clone(*convolution);
    product->setOperand(0, pooled->getResult(0));
    product->getResult(0).setType(pool.getResult().getType());
    rewriter.replaceOp(pool, product->getResults());
    return success();
  }
};

struct PoolFirstPass : impl::PoolFirstPassBase<PoolFirstPass> {
  using PoolFirstPassBase::PoolFirstPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PoolFirst>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::optimise
