//===- NormaliseContractions.cpp - dot_general in the form kernels take ----===//
//
// A dot_general may contract any axes of its operands. Kernels read the left
// side as rows of K numbers and the right side as K rows of N; everything else
// is expressed by transposes and reshapes around the op. A transpose of a
// weight costs nothing at run time: it becomes part of the weight's recipe.
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

struct Normalise : OpRewritePattern<graph::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::DotGeneralOp op, PatternRewriter &rewriter) const override {
    RankedTensorType lhsType = typeOf(op.getLhs()), rhsType = typeOf(op.getRhs());
    ArrayRef<int64_t> lhsBatch = op.getLhsBatch(), rhsBatch = op.getRhsBatch();
    ArrayRef<int64_t> lhsContract = op.getLhsContract(), rhsContract = op.getRhsContract();
    Axes lhsFree = freeAxes(lhsType.getRank(), lhsBatch, lhsContract);
    Axes rhsFree = freeAxes(rhsType.getRank(), rhsBatch, rhsContract);
    int64_t numBatch = lhsBatch.size();
    bool oneOfEach = lhsContract.size() == 1 && rhsFree.size() == 1 && (numBatch ? lhsFree.size() == 1 : !lhsFree.empty());
    Axes lhsOrder = joined(lhsBatch, lhsFree, lhsContract), rhsOrder = joined(rhsBatch, rhsContract, rhsFree);
    if (oneOfEach && llvm::is_sorted(lhsOrder) && llvm::is_sorted(rhsOrder))
      return rewriter.notifyMatchFailure(op, "has the form already");

    Location loc = op.getLoc();
    Value lhs = transposed(op.getLhs(), lhsOrder, rewriter, loc);
    Value rhs = transposed(op.getRhs(), rhsOrder, rewriter, loc);
    if (!oneOfEach) {
      SmallVector<DimExpr> batch = dimsAt(lhsType, lhsBatch);
      DimExpr k = productOf(dimsAt(lhsType, lhsContract));
      SmallVector<DimExpr> lhsDims(batch), rhsDims(batch);
      lhsDims.append({productOf(dimsAt(lhsType, lhsFree)), k});
      rhsDims.append({k, productOf(dimsAt(rhsType, rhsFree))});
      lhs = reshaped(lhs, lhsDims, rewriter, loc);
      rhs = reshaped(rhs, rhsDims, rewriter, loc);
    }
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
    patterns.add<Normalise>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::optimise
