// Control flow with less of it: a condition that is known chooses, and values that a branch or a loop only passes on go around it.
// Importers carry whatever a body may change, so that much of it turns out not to change.
#include "dialects/Graph/GraphOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

static std::optional<bool> knownFlag(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<bool>();
}

namespace {

struct TakeKnownBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> flag = knownFlag(op.getCondition());
    if (!flag)
      return rewriter.notifyMatchFailure(op, "the condition is not known");
    Block &block = (*flag ? op.getThenRegion() : op.getElseRegion()).front();
    Operation *yield = block.getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&block, op);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A result that nobody uses, or that both branches take from the same place outside, is none.
struct DropResultsOfIf : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    auto onTrue = cast<YieldOp>(op.getThenRegion().front().getTerminator()),
         onFalse = cast<YieldOp>(op.getElseRegion().front().getTerminator());
    llvm::BitVector dropped(op->getNumResults());
    SmallVector<Type> types;
    for (OpResult result : op->getResults()) {
      unsigned i = result.getResultNumber();
      if (result.use_empty() || onTrue.getOperand(i) == onFalse.getOperand(i))
        dropped.set(i);
      else
        types.push_back(result.getType());
    }
    if (dropped.none())
      return rewriter.notifyMatchFailure(op, "every result is used and differs");

    auto smaller = IfOp::create(rewriter, op.getLoc(), types, op.getCondition());
    SmallVector<Value> results;
    unsigned next = 0;
    // A dropped one that is used has the same value in both branches, which therefore comes from outside.
    for (unsigned i = 0; i < dropped.size(); ++i)
      results.push_back(dropped[i] ? op->getResult(i).use_empty() ? Value() : onTrue.getOperand(i) : smaller->getResult(next++));
    for (YieldOp yield : {onTrue, onFalse})
      rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(dropped); });
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), smaller->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct SkipLoop : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    if (knownFlag(op.getCondition().front().getTerminator()->getOperand(0)) != false)
      return rewriter.notifyMatchFailure(op, "the loop may run");
    rewriter.replaceOp(op, op.getInits());
    return success();
  }
};

/// A value that stays what it was at first, or that is neither read in the loop nor used behind it, is not carried.
struct DropCarriedValues : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    Block &test = op.getCondition().front(), &body = op.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    llvm::BitVector dropped(op->getNumResults());
    SmallVector<Value> inits, results;
    SmallVector<Type> types;
    for (auto [i, init] : llvm::enumerate(op.getInits())) {
      bool isConstant = yield.getOperand(i) == body.getArgument(i) || yield.getOperand(i) == init;
      bool isUnused = op->getResult(i).use_empty() && test.getArgument(i).use_empty() && body.getArgument(i).use_empty();
      if (isConstant || isUnused) {
        dropped.set(i);
        continue;
      }
      inits.push_back(init);
      types.push_back(init.getType());
    }
    if (dropped.none())
      return rewriter.notifyMatchFailure(op, "every value changes and is used");

    auto smaller = WhileOp::create(rewriter, op.getLoc(), types, inits);
    unsigned next = 0;
    for (unsigned i = 0; i < dropped.size(); ++i) {
      results.push_back(dropped[i] ? op.getInits()[i] : smaller->getResult(next++));
      if (!dropped[i])
        continue;
      rewriter.replaceAllUsesWith(test.getArgument(i), op.getInits()[i]);
      rewriter.replaceAllUsesWith(body.getArgument(i), op.getInits()[i]);
    }
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(dropped); });
    test.eraseArguments(dropped);
    body.eraseArguments(dropped);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), smaller->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TakeKnownBranch, DropResultsOfIf>(context);
}

void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SkipLoop, DropCarriedValues>(context);
}
