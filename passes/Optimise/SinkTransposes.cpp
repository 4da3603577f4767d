//===- SinkTransposes.cpp - moving transposes down until they cancel -------===//
//
// optimise-channels-last surrounds each convolution and pool with a pair of
// transposes. This pass moves every transpose below the ops that do not care
// about the order of axes, where it meets the next one and both vanish. A
// transpose that only moves axes of size 1 is a reshape, which costs nothing;
// one of a parameter becomes part of the parameter's recipe later.
//
// Moving only downwards guarantees an end.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Optimise/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_SINKTRANSPOSESPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

using Permutation = SmallVector<int64_t>;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Permutation inverse(ArrayRef<int64_t> permutation) {
  Permutation result(permutation.size());
  for (auto [position, axis] : llvm::enumerate(permutation))
    result[axis] = position;
  return result;
}

template <typename T>
SmallVector<T> permuted(ArrayRef<T> values, ArrayRef<int64_t> permutation) {
  SmallVector<T> result;
  for (int64_t axis : permutation)
    result.push_back(values[axis]);
  return result;
}

RankedTensorType permutedType(RankedTensorType type, ArrayRef<int64_t> permutation) {
  return graph::tensorType(permuted<DimExpr>(graph::dimsOf(type), permutation), type.getElementType());
}

/// The transpose's input has axis `permutation[i]` where its result has axis i; attributes that list one entry per result axis are
/// rewritten for the input by the inverse.
template <typename T>
SmallVector<T> beforeTranspose(ArrayRef<T> perResultAxis, ArrayRef<int64_t> permutation) {
  return permuted<T>(perResultAxis, inverse(permutation));
}

graph::TransposeOp transposeOf(Value value) { return value.getDefiningOp<graph::TransposeOp>(); }

/// Rewrites `op(transpose(x))` as `transpose(op'(x))` for ops of one tensor operand; `rebuild` makes op'.
template <typename OpT>
struct SinkBelow : OpRewritePattern<OpT> {
  using Rebuild = FailureOr<Value> (*)(OpT, graph::TransposeOp, PatternRewriter &);
  SinkBelow(MLIRContext *context, Rebuild rebuild) : OpRewritePattern<OpT>(context), rebuild(rebuild) {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = transposeOf(op->getOperand(0));
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "operand is not a transpose");
    FailureOr<Value> moved = rebuild(op, transpose, rewriter);
    if (failed(moved))
      return rewriter.notifyMatchFailure(op, "op does not commute with this transpose");
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, *moved, transpose.getPermutation());
    return success();
  }
  Rebuild rebuild;
};

FailureOr<Value> rebuildPad(graph::PadOp op, graph::TransposeOp transpose, PatternRewriter &rewriter) {
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  MLIRContext *context = op.getContext();
  auto low = graph::DimsAttr::get(context, ArrayRef<DimExpr>(beforeTranspose<DimExpr>(op.getLow().dims(), permutation)));
  auto high = graph::DimsAttr::get(context, ArrayRef<DimExpr>(beforeTranspose<DimExpr>(op.getHigh().dims(), permutation)));
  SmallVector<int64_t> interior;
  if (!op.getInterior().empty())
    interior = beforeTranspose<int64_t>(op.getInterior(), permutation);
  return graph::PadOp::create(rewriter, op.getLoc(), transpose.getInput(), op.getValue(), low, high, interior, op.getMode()).getResult();
}

FailureOr<Value> rebuildSlice(graph::SliceOp op, graph::TransposeOp transpose, PatternRewriter &rewriter) {
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  auto starts = graph::DimsAttr::get(op.getContext(), ArrayRef<DimExpr>(beforeTranspose<DimExpr>(op.getStarts().dims(), permutation)));
  SmallVector<int64_t> strides;
  if (!op.getStrides().empty())
    strides = beforeTranspose<int64_t>(op.getStrides(), permutation);
  return graph::SliceOp::create(rewriter, op.getLoc(), permutedType(typeOf(op.getResult()), inverse(permutation)), transpose.getInput(),
                                starts, rewriter.getDenseI64ArrayAttr(strides))
      .getResult();
}

FailureOr<Value> rebuildResize(graph::ResizeOp op, graph::TransposeOp transpose, PatternRewriter &rewriter) {
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  Operation *clone = rewriter.clone(*op);
  auto moved = cast<graph::ResizeOp>(clone);
  moved->setOperand(0, transpose.getInput());
  moved.getResult().setType(permutedType(typeOf(op.getResult()), inverse(permutation)));
  if (std::optional<ArrayRef<double>> scales = op.getScales(); scales && !scales->empty())
    moved.setScales(beforeTranspose<double>(*scales, permutation));
  return moved.getResult();
}

/// A reduction that keeps its axes commutes; one that drops them does too when what is left stays in order after sorting.
struct SinkBelowReduce : OpRewritePattern<graph::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ReduceOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = transposeOf(op.getInput());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "operand is not a transpose");
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> axes;
    for (int64_t axis : op.getAxes())
      axes.push_back(permutation[axis]);
    llvm::sort(axes);
    Value reduced = graph::ReduceOp::create(rewriter, op.getLoc(), transpose.getInput(), op.getKind(), axes, op.getKeepDims()).getResult();
    SmallVector<int64_t> order(permutation);
    if (!op.getKeepDims()) {
      // Axes that stay, in the transposed order, numbered by their position among those that stay in the input.
      llvm::erase_if(order, [&](int64_t axis) { return llvm::is_contained(axes, axis); });
      SmallVector<int64_t> kept(order);
      llvm::sort(kept);
      for (int64_t &axis : order)
        axis = llvm::lower_bound(kept, axis) - kept.begin();
    }
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, reduced, order);
    return success();
  }
};

struct SinkBelowConcat : OpRewritePattern<graph::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConcatOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp first = transposeOf(op->getOperand(0));
    if (!first)
      return rewriter.notifyMatchFailure(op, "first operand is not a transpose");
    SmallVector<Value> inputs;
    for (Value operand : op->getOperands()) {
      graph::TransposeOp transpose = transposeOf(operand);
      if (!transpose || transpose.getPermutation() != first.getPermutation())
        return rewriter.notifyMatchFailure(op, "operands are not transposed alike");
      inputs.push_back(transpose.getInput());
    }
    int64_t axis = first.getPermutation()[op.getAxis()];
    Value joined = graph::ConcatOp::create(rewriter, op.getLoc(), inputs, axis).getResult();
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, joined, first.getPermutation());
    return success();
  }
};

/// `op(transpose(a), transpose(b), broadcast(c))` is `transpose(op(a, b, broadcast'(c)))`.
struct SinkBelowElementwise : RewritePattern {
  explicit SinkBelowElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<graph::Elementwise>() || op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "not element-wise");
    graph::TransposeOp transpose;
    for (Value operand : op->getOperands())
      if (!transpose)
        transpose = transposeOf(operand);
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "no operand is a transpose");
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    for (Value operand : op->getOperands())
      if (!canMove(operand, permutation))
        return rewriter.notifyMatchFailure(op, "an operand cannot be brought into the order before the transpose");

    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(move(operand, permutation, rewriter));
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(permutedType(typeOf(op->getResult(0)), inverse(permutation)));
    state.addAttributes(op->getAttrs());
    Value moved = rewriter.create(state)->getResult(0);
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, moved, permutation);
    return success();
  }

private:
  static bool isSplat(Value value) {
    auto constant = value.getDefiningOp<graph::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    return elements && elements.isSplat();
  }

  static bool canMove(Value operand, ArrayRef<int64_t> permutation) {
    if (graph::TransposeOp transpose = transposeOf(operand))
      return transpose.getPermutation() == permutation;
    return isSplat(operand) || operand.getDefiningOp<graph::BroadcastOp>() || operand.getDefiningOp<graph::GetParameterOp>();
  }

  static Value move(Value operand, ArrayRef<int64_t> permutation, PatternRewriter &rewriter) {
    if (graph::TransposeOp transpose = transposeOf(operand))
      return transpose.getInput();
    if (auto broadcast = operand.getDefiningOp<graph::BroadcastOp>())
      return moveBroadcast(broadcast, permutation, rewriter);
    return graph::TransposeOp::create(rewriter, operand.getLoc(), operand, inverse(permutation)).getResult();
  }

  /// The operand's axes are reordered so that they stay in ascending order in the result.
  static Value moveBroadcast(graph::BroadcastOp broadcast, ArrayRef<int64_t> permutation, PatternRewriter &rewriter) {
    SmallVector<int64_t> dimensions;
    for (int64_t dimension : broadcast.getDimensions())
      dimensions.push_back(permutation[dimension]);
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, dimensions.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return dimensions[a] < dimensions[b]; });
    Value input = broadcast.getInput();
    if (!llvm::is_sorted(order))
      input = graph::TransposeOp::create(rewriter, broadcast.getLoc(), input, order).getResult();
    llvm::sort(dimensions);
    return graph::BroadcastOp::create(rewriter, broadcast.getLoc(),
                                      permutedType(typeOf(broadcast.getResult()), inverse(permutation)), input, dimensions)
        .getResult();
  }
};

/// `broadcast(transpose(x))` reads x directly.
struct AbsorbIntoBroadcast : OpRewritePattern<graph::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::BroadcastOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = transposeOf(op.getInput());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "operand is not a transpose");
    SmallVector<int64_t> dimensions(op.getDimensions().size());
    for (auto [position, axis] : llvm::enumerate(transpose.getPermutation()))
      dimensions[axis] = op.getDimensions()[position];
    if (!llvm::is_sorted(dimensions))
      return rewriter.notifyMatchFailure(op, "axes would not be in ascending order");
    rewriter.replaceOpWithNewOp<graph::BroadcastOp>(op, op.getResult().getType(), transpose.getInput(), dimensions);
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp inner = transposeOf(op.getInput());
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a transpose");
    Permutation merged = permuted<int64_t>(inner.getPermutation(), op.getPermutation());
    if (llvm::is_sorted(merged))
      rewriter.replaceOp(op, inner.getInput());
    else
      rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, inner.getInput(), merged);
    return success();
  }
};

/// Axes larger than 1 stay in order: the bytes do too.
struct TransposeOfUnitAxesIsReshape : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getInput());
    Permutation moved(op.getPermutation());
    llvm::erase_if(moved, [&](int64_t axis) { return type.getDimSize(axis) == 1; });
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(op, "axes larger than 1 change their order");
    rewriter.replaceOpWithNewOp<graph::ReshapeOp>(op, op.getResult().getType(), op.getInput());
    return success();
  }
};

struct SinkTransposesPass : impl::SinkTransposesPassBase<SinkTransposesPass> {
  using SinkTransposesPassBase::SinkTransposesPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<SinkBelow<graph::PadOp>>(context, rebuildPad);
    patterns.add<SinkBelow<graph::SliceOp>>(context, rebuildSlice);
    patterns.add<SinkBelow<graph::ResizeOp>>(context, rebuildResize);
    patterns.add<SinkBelowReduce, SinkBelowConcat, SinkBelowElementwise, AbsorbIntoBroadcast, MergeTransposes,
                 TransposeOfUnitAxesIsReshape>(context);
    graph::ReshapeOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::optimise
