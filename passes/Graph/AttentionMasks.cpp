//===- AttentionMasks.cpp - what an attention mask says --------------------===//
//
// Exporters write a mask as it is computed: a row of flags per sequence, made a
// matrix per head by broadcasts, selections and conjunctions. A kernel wants the
// row of flags as it was, which is smaller and the same in all layers.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/AttentionMasks.h"

#include "dialects/Graph/Shapes.h"
#include "passes/Graph/ConstantMatchers.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isMinusInfinity(Value value) {
  std::optional<double> number = splatValue(value);
  return number && std::isinf(*number) && *number < 0;
}

static bool isTrue(Value value) {
  std::optional<double> number = splatValue(value);
  return number && *number != 0;
}

Value compactMask(Value mask, RankedTensorType scores, PatternRewriter &rewriter) {
  Location loc = mask.getLoc();
  int64_t rank = scores.getRank();
  if (auto broadcast = mask.getDefiningOp<BroadcastOp>()) {
    RankedTensorType type = typeOf(broadcast.getInput());
    // With sizes of 1 in front, to the rank of the scores.
    int64_t missing = rank - typeOf(mask).getRank();
    SmallVector<DimExpr> dims(rank, DimExpr(1)), given = dimsOf(type);
    for (auto [index, axis] : llvm::enumerate(broadcast.getDimensions()))
      dims[missing + axis] = given[index];
    RankedTensorType shaped = tensorType(dims, type.getElementType());
    if (type.getRank() == rank && shaped == type)
      return compactMask(broadcast.getInput(), scores, rewriter);
    // What was combined before is compact in fewer axes; it stays as it is.
    return ReshapeOp::create(rewriter, loc, shaped, broadcast.getInput()).getResult();
  }
  if (auto select = mask.getDefiningOp<SelectOp>()) {
    bool isAllowed = isSplatOf(select.getOnTrue(), 0) && isMinusInfinity(select.getOnFalse());
    bool isBlocked = isSplatOf(select.getOnFalse(), 0) && isMinusInfinity(select.getOnTrue());
    if (typeOf(select.getCondition()).getRank() == rank && (isAllowed || isBlocked)) {
      Value condition = compactMask(select.getCondition(), scores, rewriter);
      return isAllowed ? condition : NotOp::create(rewriter, loc, condition).getResult();
    }
  }
  if (auto both = mask.getDefiningOp<AndOp>(); both && isBoolElement(typeOf(mask).getElementType())) {
    if (isTrue(both.getLhs()))
      return compactMask(both.getRhs(), scores, rewriter);
    if (isTrue(both.getRhs()))
      return compactMask(both.getLhs(), scores, rewriter);
    Value lhs = compactMask(both.getLhs(), scores, rewriter), rhs = compactMask(both.getRhs(), scores, rewriter);
    if (lhs.getType() == rhs.getType() && lhs.getType() != mask.getType())
      return AndOp::create(rewriter, loc, lhs, rhs).getResult();
  }
  if (auto inverted = mask.getDefiningOp<NotOp>(); inverted && isBoolElement(typeOf(mask).getElementType())) {
    Value compact = compactMask(inverted.getInput(), scores, rewriter);
    if (compact.getType() != mask.getType())
      return NotOp::create(rewriter, loc, compact).getResult();
  }
  int64_t missing = rank - typeOf(mask).getRank();
  if (missing == 0)
    return mask;
  SmallVector<DimExpr> dims(missing, DimExpr(1));
  llvm::append_range(dims, dimsOf(typeOf(mask)));
  return ReshapeOp::create(rewriter, loc, tensorType(dims, typeOf(mask).getElementType()), mask).getResult();
}

} // namespace stator::graph
