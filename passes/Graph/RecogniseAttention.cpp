//===- RecogniseAttention.cpp - scaled dot-product attention ---------------===//
//
// softmax(query * key^T * scale + mask) * value, as exporters write it: two
// products around a softmax, with the scale on the scores or on query and key,
// and a mask that is added or that selects minus infinity; rows in which all is
// masked may be made zeros. Found before transposes are moved, while each product still has the axes in the order in
// which the model was written.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/AttentionMasks.h"
#include "passes/Graph/ConstantMatchers.h"
#include "passes/Graph/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_RECOGNISEATTENTIONPASS
#include "passes/Graph/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isIota(ArrayRef<int64_t> axes) {
  for (auto [index, axis] : llvm::enumerate(axes))
    if (axis != int64_t(index))
      return false;
  return true;
}

/// A product over leading batch axes with one row and one column axis. `rhsContract` says which of the last two axes of the right side
/// is contracted.
struct BatchedProduct {
  Value lhs, rhs;
  int64_t batch;
  bool contractsLastOfRhs;
};

std::optional<BatchedProduct> matchProduct(Value value) {
  auto dot = value.getDefiningOp<DotGeneralOp>();
  if (!dot)
    return std::nullopt;
  int64_t batch = dot.getLhsBatch().size(), rank = batch + 2;
  if (batch == 0 || typeOf(dot.getLhs()).getRank() != rank || typeOf(dot.getRhs()).getRank() != rank || !isIota(dot.getLhsBatch()) ||
      !isIota(dot.getRhsBatch()) || dot.getLhsContract() != ArrayRef<int64_t>{rank - 1} || dot.getRhsContract().size() != 1)
    return std::nullopt;
  return BatchedProduct{dot.getLhs(), dot.getRhs(), batch, dot.getRhsContract()[0] == rank - 1};
}

/// Takes factors off a value: `value` becomes what is multiplied, the product of the numbers is returned.
double takeScale(Value &value) {
  double scale = 1;
  while (value.hasOneUse() || !value.getDefiningOp<DotGeneralOp>()) {
    if (auto product = matchWithNumber<MulOp>(value)) {
      scale *= product->second;
      value = product->first;
      continue;
    }
    auto quotient = value.getDefiningOp<DivOp>();
    std::optional<double> divisor = quotient ? splatValue(quotient.getRhs()) : std::nullopt;
    if (!divisor || *divisor == 0)
      break;
    scale /= *divisor;
    value = quotient.getLhs();
  }
  return scale;
}

/// The softmax behind `weights`, and whether it is guarded: rows of NaN, in which everything is masked, become zeros.
std::pair<SoftmaxOp, bool> matchWeights(Value weights) {
  if (auto softmax = weights.getDefiningOp<SoftmaxOp>())
    return {softmax, false};
  auto select = weights.getDefiningOp<SelectOp>();
  auto isNan = select ? select.getCondition().getDefiningOp<IsNanOp>() : IsNanOp();
  auto softmax = select ? select.getOnFalse().getDefiningOp<SoftmaxOp>() : SoftmaxOp();
  bool isGuard = isNan && softmax && isNan.getInput() == softmax.getResult() && isSplatOf(select.getOnTrue(), 0) && select->hasOneUse() &&
                 isNan->hasOneUse();
  return {isGuard ? softmax : SoftmaxOp(), true};
}

/// `logits` as scores with minus infinity where `mask` is false, or true if `isBlocked`.
struct Selection {
  Value scores, mask;
  bool isBlocked;
};

std::optional<Selection> matchSelection(Value logits) {
  auto select = logits.getDefiningOp<SelectOp>();
  if (!select)
    return std::nullopt;
  auto isMinusInfinity = [](Value value) {
    std::optional<double> number = splatValue(value);
    return number && std::isinf(*number) && *number < 0;
  };
  if (isMinusInfinity(select.getOnTrue()))
    return Selection{select.getOnFalse(), select.getCondition(), true};
  if (isMinusInfinity(select.getOnFalse()))
    return Selection{select.getOnTrue(), select.getCondition(), false};
  return std::nullopt;
}

struct RecogniseAttention : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    std::optional<BatchedProduct> output = matchProduct(op.getResult());
    if (!output || output->contractsLastOfRhs)
      return rewriter.notifyMatchFailure(op, "not a batched product of weights and values");
    auto [softmax, isGuarded] = matchWeights(output->lhs);
    RankedTensorType scores = typeOf(output->lhs);
    if (!softmax || llvm::range_size(softmax->getUses()) != (isGuarded ? 2 : 1) || int64_t(softmax.getAxis()) != scores.getRank() - 1)
      return rewriter.notifyMatchFailure(op, "left side is not a softmax over the keys");

    Value logits = softmax.getInput(), mask;
    bool isBlocked = false;
    if (auto sum = logits.getDefiningOp<AddOp>()) {
      // The mask is the side that does not come from a product.
      for (auto [product, other] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
        Value inner = product;
        takeScale(inner);
        if (!mask && matchProduct(inner))
          logits = product, mask = other;
      }
    } else if (std::optional<Selection> selection = matchSelection(logits)) {
      logits = selection->scores, mask = selection->mask, isBlocked = selection->isBlocked;
    }
    double scale = takeScale(logits);
    std::optional<BatchedProduct> product = matchProduct(logits);
    if (!product || !logits.hasOneUse() || product->batch != output->batch)
      return rewriter.notifyMatchFailure(op, "softmax is not over a product of queries and keys");

    Value query = product->lhs, key = product->rhs;
    scale *= takeScale(query);
    scale *= takeScale(key);
    if (!product->contractsLastOfRhs) {
      // Keys as [batch.., E, S]: attention wants [batch.., S, E]; the transpose meets the one that made them.
      SmallVector<int64_t> swap = llvm::to_vector(llvm::seq<int64_t>(0, scores.getRank()));
      std::swap(swap[scores.getRank() - 1], swap[scores.getRank() - 2]);
      key = TransposeOp::create(rewriter, key.getLoc(), key, swap).getResult();
    }
    if (mask)
      mask = compactMask(mask, scores, rewriter);
    if (isBlocked)
      mask = NotOp::create(rewriter, op.getLoc(), mask).getResult();
    rewriter.replaceOpWithNewOp<AttentionOp>(op, query, key, output->rhs, mask, rewriter.getF64FloatAttr(scale), rewriter.getBoolAttr(false),
                                             DimsAttr(), rewriter.getBoolAttr(isGuarded));
    return success();
  }
};

struct RecogniseAttentionPass : impl::RecogniseAttentionPassBase<RecogniseAttentionPass> {
  using RecogniseAttentionPassBase::RecogniseAttentionPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RecogniseAttention>(&getContext());
    TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::graph
