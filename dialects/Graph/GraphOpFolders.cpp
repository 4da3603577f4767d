// Folds that need no arithmetic on data: identities, inverses, chains of one kind of move. Folding of constants is the interpreter's
// work (passes/Graph). A fold keeps every bit: `x + 0.0` stays, since it turns -0.0 into 0.0, while `x + -0.0` and `x - 0.0` go.
#include "dialects/Graph/GraphTypeInference.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

/// The one value of which all elements are copies, seen through moves; null if there is none.
static Attribute splatOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return constant.getValue().isSplat() ? constant.getValue().getSplatValue<Attribute>() : Attribute();
    if (!isa<BroadcastOp, ReshapeOp, TransposeOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

static bool isSplatOf(Value value, double number) {
  Attribute splat = splatOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(splat))
    return real.getValue().convertToDouble() == number && real.getValue().isNegative() == std::signbit(number);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(splat))
    return integer.getValue().getSExtValue() == int64_t(number);
  return false;
}

static bool hasFloats(Value value) { return isFloatElement(getElementTypeOrSelf(value)); }

/// `value` when its type is the result's: folds never change types.
static OpFoldResult sameOr(Value value, Type type) { return value.getType() == type ? OpFoldResult(value) : OpFoldResult(); }

//===- Element-wise -----------------------------------------------------------------------------------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NegOp>();
  return inner ? inner.getInput() : OpFoldResult();
}

OpFoldResult ReluOp::fold(FoldAdaptor) { return getInput().getDefiningOp<ReluOp>() ? getInput() : OpFoldResult(); }

OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NotOp>();
  return inner ? inner.getInput() : OpFoldResult();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) { return sameOr(getInput(), getType()); }

OpFoldResult AddOp::fold(FoldAdaptor) {
  double neutral = hasFloats(getLhs()) ? -0.0 : 0.0;
  if (isSplatOf(getRhs(), neutral))
    return getLhs();
  return isSplatOf(getLhs(), neutral) ? getRhs() : OpFoldResult();
}

OpFoldResult SubOp::fold(FoldAdaptor) { return isSplatOf(getRhs(), 0.0) ? getLhs() : OpFoldResult(); }

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (isSplatOf(getRhs(), 1))
    return getLhs();
  if (isSplatOf(getLhs(), 1))
    return getRhs();
  // Not for floats: NaN and infinity times zero are NaN.
  if (!hasFloats(getLhs()) && isSplatOf(getRhs(), 0))
    return getRhs();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor) { return isSplatOf(getRhs(), 1) ? getLhs() : OpFoldResult(); }

OpFoldResult PowOp::fold(FoldAdaptor) { return isSplatOf(getRhs(), 1) ? getLhs() : OpFoldResult(); }

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  if (auto condition = dyn_cast_or_null<IntegerAttr>(splatOf(getCondition())))
    return condition.getValue().isZero() ? getOnFalse() : getOnTrue();
  return {};
}

//===- Moves ------------------------------------------------------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (auto value = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()); value && getType().hasStaticShape())
    return value.reshape(getType());
  return sameOr(getInput(), getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (auto value = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput()))
    return value.resizeSplat(getType());
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    if (int64_t(i) != axis)
      return {};
  return getInput();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) { return sameOr(getInput(), getType()); }

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // With equal sizes every start is 0 and no stride can skip anything.
  return sameOr(getInput(), getType());
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  for (int64_t axis : getAxes())
    if (!dimOf(getType(), axis).isConstant(1))
      return {};
  return getInput();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto zero = [](DimsAttr amounts) { return llvm::all_of(amounts.getTexts(), [](StringAttr text) { return text.getValue() == "0"; }); };
  if (zero(getLow()) && zero(getHigh()) && llvm::all_of(getInterior(), [](int64_t amount) { return amount == 0; }))
    return sameOr(getInput(), getType());
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult(); }

OpFoldResult ReduceOp::fold(FoldAdaptor) { return getAxes().empty() ? OpFoldResult(getInput()) : OpFoldResult(); }

OpFoldResult DimValuesOp::fold(FoldAdaptor) {
  std::optional<SmallVector<int64_t>> values = getValues().constants();
  if (!values || values->size() > size_t(kMaxConstantElements))
    return {};
  return DenseElementsAttr::get(getType(), ArrayRef<int64_t>(*values));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===- Chains -----------------------------------------------------------------------------------------------------------------===//

namespace {

struct FoldReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "the operand is not a reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getInput());
    return success();
  }
};

struct FoldTransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "the operand is not a transpose");
    SmallVector<int64_t> permutation;
    for (int64_t axis : op.getPermutation())
      permutation.push_back(inner.getPermutation()[axis]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getInput(), permutation);
    return success();
  }
};

struct FoldBroadcastOfBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<BroadcastOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "the operand is not a broadcast");
    SmallVector<int64_t> dimensions;
    for (int64_t axis : inner.getDimensions())
      dimensions.push_back(op.getDimensions()[axis]);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput(), dimensions);
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldReshapeOfReshape>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldTransposeOfTranspose>(context);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldBroadcastOfBroadcast>(context);
}
