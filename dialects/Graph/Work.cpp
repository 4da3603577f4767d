//===- Work.cpp - how much a kernel computes and touches -------------------===//

#include "dialects/Graph/Work.h"

#include "dialects/Graph/GraphOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::graph {

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static DimExpr elementsOf(Value value) { return elementCount(tensorOf(value)); }
static DimExpr bytesOf(Value value) {
  RankedTensorType type = tensorOf(value);
  return elementCount(type) * DimExpr(int64_t(byteSize(elementTypeOf(type.getElementType()))));
}

static DimExpr productOf(ArrayRef<int64_t> factors) {
  DimExpr product(1);
  for (int64_t factor : factors)
    product *= DimExpr(factor);
  return product;
}

/// Both products of each step of each gate; `gates` times the hidden size are the rows of the weights.
template <typename OpTy>
static DimExpr recurrentOperations(OpTy op, int64_t gates) {
  RankedTensorType x = tensorOf(op.getInput()), y = tensorOf(op.getY());
  DimExpr hidden = dimOf(y, 3), steps = dimOf(y, 0) * dimOf(y, 1) * dimOf(y, 2);
  return DimExpr(2 * gates) * steps * hidden * (dimOf(x, 2) + hidden);
}

static DimExpr operationsOf(Operation *op) {
  if (isElementwise(op))
    return elementsOf(op->getResult(0));
  return llvm::TypeSwitch<Operation *, DimExpr>(op)
      .Case<DotGeneralOp>([](DotGeneralOp dot) {
        DimExpr depth(1);
        for (int64_t axis : dot.getLhsContract())
          depth *= dimOf(tensorOf(dot.getLhs()), axis);
        return DimExpr(2) * depth * elementsOf(dot.getResult());
      })
      .Case<ConvolutionOp>([](ConvolutionOp convolution) {
        SmallVector<int64_t> filter = convolution.filterShape();
        return DimExpr(2) * productOf(ArrayRef(filter).drop_front()) * elementsOf(convolution.getResult());
      })
      .Case<PoolOp>([](PoolOp pool) { return productOf(pool.getKernel()) * elementsOf(pool.getResult()); })
      .Case<AttentionOp>([](AttentionOp attention) {
        // Both products, and the softmax between them.
        RankedTensorType query = tensorOf(attention.getQuery()), key = tensorOf(attention.getKey());
        DimExpr scores(1);
        for (int64_t axis = 0; axis + 1 < query.getRank(); ++axis)
          scores *= dimOf(query, axis);
        scores *= dimOf(key, key.getRank() - 2);
        DimExpr depths = dimOf(query, query.getRank() - 1) + dimOf(tensorOf(attention.getValue()), query.getRank() - 1);
        return DimExpr(2) * scores * depths + DimExpr(5) * scores;
      })
      .Case<LstmOp>([](LstmOp op) { return recurrentOperations(op, 4); })
      .Case<GruOp>([](GruOp op) { return recurrentOperations(op, 3); })
      .Case<RnnOp>([](RnnOp op) { return recurrentOperations(op, 1); })
      // A maximum, a difference, an exponential, a sum and a quotient; of norms a sum, a sum of squares, a scale and a shift.
      .Case<SoftmaxOp, LogSoftmaxOp, LayerNormOp>([](auto op) { return DimExpr(5) * elementsOf(op.getResult()); })
      .Case<RmsNormOp>([](auto op) { return DimExpr(4) * elementsOf(op.getResult()); })
      .Case<BatchNormOp>([](auto op) { return DimExpr(2) * elementsOf(op.getResult()); })
      .Case<ReduceOp, ArgReduceOp, CumulativeOp>([](auto op) { return elementsOf(op.getInput()); })
      .Default([](Operation *) { return DimExpr(0); });
}

/// Ops that read a part of their first operand, as large as their result.
static bool takesPart(OpOperand &use) {
  return use.getOperandNumber() == 0 && isa<GatherOp, GatherElementsOp, GatherNdOp, SliceOp>(use.getOwner());
}

static DimExpr bytesRead(BlockArgument argument) {
  if (argument.use_empty() || !llvm::all_of(argument.getUses(), takesPart))
    return bytesOf(argument);
  DimExpr sum(0);
  for (OpOperand &use : argument.getUses())
    sum += bytesOf(use.getOwner()->getResult(0));
  return sum;
}

Work workOf(Region &body) {
  Work work{DimExpr(0), DimExpr(0)};
  body.walk([&](Operation *op) {
    if (op->getNumResults() != 0)
      work.operations += operationsOf(op);
  });
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      work.bytes += bytesRead(argument);
  for (Value result : body.front().getTerminator()->getOperands())
    work.bytes += bytesOf(result);
  return work;
}

} // namespace stator::graph
