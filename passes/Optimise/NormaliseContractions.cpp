//===- NormaliseContractions.cpp - dot_general in the form kernels take ----===//
//
// Kernels read both sides of a product through strides, so where the axes lie
// does not matter to them: a transpose in front of a product is absorbed into
// its axis lists. What they do want is one contracted axis and one column axis;
// several of either are merged by a reshape, after a transpose if they are not
// neighbours.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Optimise/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_NORMALISECONTRACTIONSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

using Axes = SmallVector<int64_t>;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

DimExpr productOf(ArrayRef<DimExpr> dims) {
  DimExpr product(1);
  for (const DimExpr &dim : dims)
    product *= dim;
  return product;
}

/// Axes of a tensor of `rank` that neither batch nor contract.
Axes freeAxes(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  Axes result;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
      result.push_back(axis);
  return result;
}

Axes joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  Axes result(a);
  result.append(b.begin(), b.end());
  result.append(c.begin(), c.end());
  return result;
}

Axes iota(int64_t first, int64_t count) { return llvm::to_vector(llvm::seq<int64_t>(first, first + count)); }

SmallVector<DimExpr> dimsAt(RankedTensorType type, ArrayRef<int64_t> axes) {
  SmallVector<DimExpr> all = graph::dimsOf(type), result;
  for (int64_t axis : axes)
    result.push_back(all[axis]);
  return result;
}

Value transposed(Value value, ArrayRef<int64_t> permutation, OpBuilder &builder, Location loc) {
  if (llvm::is_sorted(permutation))
    return value;
  return graph::TransposeOp::create(builder, loc, value, permutation).getResult();
}

Value reshaped(Value value, ArrayRef<DimExpr> dims, OpBuilder &builder, Location loc) {
  RankedTensorType type = graph::tensorType(dims, typeOf(value).getElementType());
  if (type == value.getType())
    return value;
  return graph::ReshapeOp::create(builder, loc, type, value).getResult();
}

/// `dot(transpose(x), y)` reads x directly, unless that would change the order of the free axes in the result.
struct AbsorbTranspose : OpRewritePattern<graph::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::DotGeneralOp op, PatternRewriter &rewriter) const override {
    Value lhs = op.getLhs(), rhs = op.getRhs();
    Axes lhsBatch(op.getLhsBatch()), lhsContract(op.getLhsContract()), rhsBatch(op.getRhsBatch()), rhsContract(op.getRhsContract());
    bool changed = absorb(lhs, lhsBatch, lhsContract);
    changed |= absorb(rhs, rhsBatch, rhsContract);
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no operand is a transpose that keeps the free axes in order");
    rewriter.replaceOpWithNewOp<graph::DotGeneralOp>(op, lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract, IntegerAttr());
    return success();
  }

private:
  static bool absorb(Value &value, Axes &batch, Axes &contract) {
    auto transpose = value.getDefiningOp<graph::TransposeOp>();
    if (!transpose)
      return false;
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    auto mapped = [&](ArrayRef<int64_t> axes) {
      Axes result;
      for (int64_t axis : axes)
        result.push_back(permutation[axis]);
      return result;
    };
    if (!llvm::is_sorted(mapped(freeAxes(permutation.size(), batch, contract))))
      return false;
    batch = mapped(batch);
    contract = mapped(contract);
    value = transpose.getInput();
    return true;
  }
};

struct MergeAxes : OpRewritePattern<graph::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::DotGeneralOp op, PatternRewriter &rewriter) const override {
    RankedTensorType lhsType = typeOf(op.getLhs()), rhsType = typeOf(op.getRhs());
    ArrayRef<int64_t> lhsBatch = op.getLhsBatch(), rhsBatch = op.getRhsBatch();
    ArrayRef<int64_t> lhsContract = op.getLhsContract(), rhsContract = op.getRhsContract();
    Axes lhsFree = freeAxes(lhsType.getRank(), lhsBatch, lhsContract);
    Axes rhsFree = freeAxes(rhsType.getRank(), rhsBatch, rhsContract);
    int64_t numBatch = lhsBatch.size();
    if (lhsContract.size() == 1 && rhsFree.size() == 1)
      return rewriter.notifyMatchFailure(op, "has one contracted and one column axis");
    Axes lhsOrder = joined(lhsBatch, lhsFree, lhsContract), rhsOrder = joined(rhsBatch, rhsContract, rhsFree);

    Location loc = op.getLoc();
    Value lhs = transposed(op.getLhs(), lhsOrder, rewriter, loc);
    Value rhs = transposed(op.getRhs(), rhsOrder, rewriter, loc);
    SmallVector<DimExpr> batch = dimsAt(lhsType, lhsBatch);
    DimExpr k = productOf(dimsAt(lhsType, lhsContract));
    SmallVector<DimExpr> lhsDims(batch), rhsDims(batch);
    lhsDims.append({productOf(dimsAt(lhsType, lhsFree)), k});
    rhsDims.append({k, productOf(dimsAt(rhsType, rhsFree))});
    lhs = reshaped(lhs, lhsDims, rewriter, loc);
    rhs = reshaped(rhs, rhsDims, rewriter, loc);
    int64_t lhsRank = typeOf(lhs).getRank();
    Value product = graph::DotGeneralOp::create(rewriter, loc, lhs, rhs, iota(0, numBatch), iota(0, numBatch), Axes{lhsRank - 1},
                                                Axes{numBatch}, IntegerAttr())
                        .getResult();
    rewriter.replaceOp(op, reshaped(product, graph::dimsOf(typeOf(op.getResult())), rewriter, loc));
    return success();
  }
};

struct NormaliseContractionsPass : impl::NormaliseContractionsPassBase<NormaliseContractionsPass> {
  using NormaliseContractionsPassBase::NormaliseContractionsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AbsorbTranspose, MergeAxes>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::optimise
