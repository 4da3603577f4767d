//===- RecogniseComposites.cpp - finding what exporters wrote out ----------===//
//
// Each matcher starts from the last op of a written-out composite and walks up.
// Operands of commutative ops come in either order, so matchers ask for "a
// product with a number" and never for a position. What is matched stays in
// the graph until it has no other use.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/ConstantMatchers.h"
#include "passes/Graph/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_RECOGNISECOMPOSITESPASS
#include "passes/Graph/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The factors of a product of up to four factors; numbers are collected in one.
struct Product {
  double number = 1;
  SmallVector<Value> factors;
};

Product productOf(Value value, unsigned depth = 3) {
  Product result;
  if (std::optional<double> number = splatValue(value)) {
    result.number = *number;
    return result;
  }
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul || depth == 0) {
    result.factors.push_back(value);
    return result;
  }
  for (Value operand : {mul.getLhs(), mul.getRhs()}) {
    Product part = productOf(operand, depth - 1);
    result.number *= part.number;
    result.factors.append(part.factors);
  }
  return result;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// `value` as f(argument) + 1.
template <typename FunctionOp>
Value matchOnePlus(Value value) {
  auto sum = matchWithNumber<AddOp>(value);
  if (!sum || sum->second != 1)
    return Value();
  auto function = sum->first.getDefiningOp<FunctionOp>();
  return function ? function.getInput() : Value();
}

/// x, if `value` is x / sqrt(2), also written as a product.
Value matchOverSqrt2(Value value) {
  if (auto quotient = value.getDefiningOp<DivOp>(); quotient && isSplatOf(quotient.getRhs(), std::numbers::sqrt2))
    return quotient.getLhs();
  Product product = productOf(value);
  return product.factors.size() == 1 && close(product.number, 1 / std::numbers::sqrt2) ? product.factors[0] : Value();
}

/// Whether `value` is x^3.
bool isCube(Value value, Value x) {
  if (auto power = value.getDefiningOp<PowOp>())
    return power.getLhs() == x && isSplatOf(power.getRhs(), 3);
  return false;
}

/// x, if `value` is sqrt(2/pi) * (x + 0.044715 x^3).
Value matchTanhArgument(Value value) {
  Product outer = productOf(value, 1);
  if (outer.factors.size() != 1 || !close(outer.number, std::sqrt(2 / std::numbers::pi)))
    return Value();
  auto sum = outer.factors[0].getDefiningOp<AddOp>();
  if (!sum)
    return Value();
  for (auto [x, cubic] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    Product product = productOf(cubic);
    if (!close(product.number, 0.044715))
      continue;
    bool threeTimes = product.factors.size() == 3 && llvm::all_of(product.factors, [x = x](Value factor) { return factor == x; });
    bool cube = product.factors.size() == 1 && isCube(product.factors[0], x);
    if (threeTimes || cube)
      return x;
  }
  return Value();
}

/// 0.5 * x * (1 + erf(x / sqrt(2))), or the same with tanh, in any order of the factors.
struct RecogniseGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    Product product = productOf(op.getResult());
    if (product.factors.size() != 2 || product.number != 0.5)
      return rewriter.notifyMatchFailure(op, "not a half of a product of two");
    for (auto [x, gate] : {std::pair(product.factors[0], product.factors[1]), std::pair(product.factors[1], product.factors[0])}) {
      if (x.getType() != op.getResult().getType())
        continue;
      GeluApproximation approximation;
      if (Value argument = matchOnePlus<ErfOp>(gate); argument && matchOverSqrt2(argument) == x)
        approximation = GeluApproximation::None;
      else if (Value inner = matchOnePlus<TanhOp>(gate); inner && matchTanhArgument(inner) == x)
        approximation = GeluApproximation::Tanh;
      else
        continue;
      rewriter.replaceOpWithNewOp<GeluOp>(op, x, approximation);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no factor is a GELU gate");
  }
};

/// The reduce whose result, repeated along the reduced axes, is `value`; null when it reduces anything but the last axes.
ReduceOp matchRowReduce(Value value, ReduceKind kind) {
  Value reduced = beforeBroadcast(value);
  auto reduce = reduced ? reduced.getDefiningOp<ReduceOp>() : ReduceOp();
  return reduce && reduce.getKind() == kind ? reduce : ReduceOp();
}

/// exp(x - max(x)) / sum(exp(x - max(x))) along one axis.
struct RecogniseSoftmax : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    auto exponential = op.getLhs().getDefiningOp<ExpOp>();
    ReduceOp sum = matchRowReduce(op.getRhs(), ReduceKind::Sum);
    if (!exponential || !sum || sum.getInput() != exponential.getResult() || sum.getAxes().size() != 1)
      return rewriter.notifyMatchFailure(op, "not exp divided by its sum");
    auto shifted = exponential.getInput().getDefiningOp<SubOp>();
    ReduceOp maximum = shifted ? matchRowReduce(shifted.getRhs(), ReduceKind::Max) : ReduceOp();
    // Without the shift large arguments overflow to inf / inf in the original too; only the shifted form is the same function.
    if (!maximum || maximum.getInput() != shifted.getLhs() || maximum.getAxes() != sum.getAxes())
      return rewriter.notifyMatchFailure(op, "argument is not shifted by its maximum");
    rewriter.replaceOpWithNewOp<SoftmaxOp>(op, shifted.getLhs(), sum.getAxes()[0]);
    return success();
  }
};

/// The axis from which on `reduce` covers all axes, if it does.
std::optional<int64_t> firstOfTrailingAxes(ReduceOp reduce) {
  int64_t rank = typeOf(reduce.getInput()).getRank(), count = reduce.getAxes().size();
  for (auto [index, axis] : llvm::enumerate(reduce.getAxes()))
    if (axis != rank - count + int64_t(index))
      return std::nullopt;
  return count ? std::optional(rank - count) : std::nullopt;
}

/// The sum that `value` divides by the number of its terms.
ReduceOp matchMean(Value value) {
  Value sum;
  double factor = 0;
  if (auto quotient = value.getDefiningOp<DivOp>()) {
    if (std::optional<double> count = splatValue(quotient.getRhs()))
      sum = quotient.getLhs(), factor = 1 / *count;
  } else if (auto product = matchWithNumber<MulOp>(value)) {
    sum = product->first, factor = product->second;
  }
  auto reduce = sum ? sum.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!reduce || reduce.getKind() != ReduceKind::Sum)
    return ReduceOp();
  double count = 1;
  for (int64_t axis : reduce.getAxes()) {
    int64_t size = typeOf(reduce.getInput()).getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return ReduceOp();
    count *= double(size);
  }
  return close(factor * count, 1) ? reduce : ReduceOp();
}

/// Whether `value` is x * x.
bool isSquareOf(Value value, Value x) {
  if (auto product = value.getDefiningOp<MulOp>())
    return product.getLhs() == x && product.getRhs() == x;
  if (auto power = value.getDefiningOp<PowOp>())
    return power.getLhs() == x && isSplatOf(power.getRhs(), 2);
  return false;
}

/// x * rsqrt(mean(x^2) + epsilon), also as a division by the root: the core of RMS norm, and of layer norm for a centred x.
struct RootMeanSquare {
  Value x;
  double epsilon;
  int64_t axis;
};

std::optional<RootMeanSquare> matchRootMeanSquare(Operation *op) {
  Value x, root;
  if (auto quotient = dyn_cast<DivOp>(op)) {
    auto squareRoot = beforeBroadcast(quotient.getRhs()) ? beforeBroadcast(quotient.getRhs()).getDefiningOp<SqrtOp>() : SqrtOp();
    if (!squareRoot)
      return std::nullopt;
    x = quotient.getLhs(), root = squareRoot.getInput();
  } else if (auto product = dyn_cast<MulOp>(op)) {
    for (auto [factor, scale] : {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
      if (Value reduced = beforeBroadcast(scale))
        if (auto inverse = reduced.getDefiningOp<RsqrtOp>())
          x = factor, root = inverse.getInput();
    if (!root)
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  auto sum = matchWithNumber<AddOp>(root);
  ReduceOp mean = sum ? matchMean(sum->first) : ReduceOp();
  std::optional<int64_t> axis = mean ? firstOfTrailingAxes(mean) : std::nullopt;
  if (!axis || !isSquareOf(mean.getInput(), x))
    return std::nullopt;
  return RootMeanSquare{x, sum->second, *axis};
}

template <typename OpT>
struct RecogniseNorm : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    std::optional<RootMeanSquare> match = matchRootMeanSquare(op);
    if (!match)
      return rewriter.notifyMatchFailure(op, "not divided by a root mean square");
    auto axis = rewriter.getI64IntegerAttr(match->axis);
    auto epsilon = rewriter.getF64FloatAttr(match->epsilon);
    // x may be centred: x = y - mean(y) over the same axes.
    if (auto centred = match->x.template getDefiningOp<SubOp>())
      if (Value reduced = beforeBroadcast(centred.getRhs()))
        if (ReduceOp mean = matchMean(reduced); mean && mean.getInput() == centred.getLhs() && firstOfTrailingAxes(mean) == match->axis) {
          rewriter.replaceOpWithNewOp<LayerNormOp>(op, centred.getLhs(), Value(), Value(), axis, epsilon);
          return success();
        }
    rewriter.replaceOpWithNewOp<RmsNormOp>(op, match->x, Value(), axis, epsilon);
    return success();
  }
};

struct RecogniseCompositesPass : impl::RecogniseCompositesPassBase<RecogniseCompositesPass> {
  using RecogniseCompositesPassBase::RecogniseCompositesPassBase;

  void runOnOperation() override {
    auto countComposites = [&] {
      uint64_t count = 0;
      getOperation().walk([&](GraphComposite) { ++count; });
      return count;
    };
    uint64_t before = countComposites();
    RewritePatternSet patterns(&getContext());
    patterns.add<RecogniseGelu, RecogniseSoftmax, RecogniseNorm<DivOp>, RecogniseNorm<MulOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    numRecognised += countComposites() - before;
  }
};

} // namespace
} // namespace stator::graph
