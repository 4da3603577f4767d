//===- LowerIndexing.cpp - gathers -----------------------------------------===//
//
// Positions that are data: negative ones count from the end, and what is out of
// range is clamped, so that no input can make a kernel read foreign memory. There
// is no valid position in an empty axis: such a kernel does nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;
using Values = SmallVector<Value>;

static SmallVector<DimExpr> dimsOf(Value value) { return graph::dimsOf(cast<RankedTensorType>(value.getType())); }

/// A position along an axis of `size` elements, from an index that may be negative or out of range.
static Value wrappedPosition(Body &b, Value index, const DimExpr &size) {
  Value position = b.toIndex(index), extent = b.size(size);
  Value wrapped = b.select(b.less(position, b.indexConstant(0)), b.add(position, extent), position);
  return b.clamp(wrapped, extent);
}

static Value lowerGather(LinalgLowering &lowering, graph::GatherOp op) {
  SmallVector<DimExpr> inputDims = dimsOf(op.getInput());
  int64_t axis = op.getAxis(), indexRank = dimsOf(op.getIndices()).size();
  // The axes of the indices stand in the result where the gathered axis was.
  LinalgLowering::Input indices{op.getIndices(), llvm::to_vector(llvm::seq<int64_t>(axis, axis + indexRank))};
  return lowering.elementwise(cast<RankedTensorType>(op.getType()), indices, [&](Body &b, ValueRange elements) {
    Values positions;
    for (int64_t i = 0, e = inputDims.size(); i != e; ++i)
      positions.push_back(i < axis    ? b.index(i)
                          : i == axis ? wrappedPosition(b, elements[0], inputDims[axis])
                                      : b.index(i - 1 + indexRank));
    return b.extract(op.getInput(), positions, /*needsElements=*/true);
  });
}

static Value lowerGatherElements(LinalgLowering &lowering, graph::GatherElementsOp op) {
  SmallVector<DimExpr> inputDims = dimsOf(op.getInput());
  return lowering.elementwise(
      cast<RankedTensorType>(op.getType()), LinalgLowering::same(op.getIndices()), [&](Body &b, ValueRange elements) {
        Values positions;
        for (int64_t i = 0, e = inputDims.size(); i != e; ++i)
          positions.push_back(i == int64_t(op.getAxis()) ? wrappedPosition(b, elements[0], inputDims[i]) : b.index(i));
        return b.extract(op.getInput(), positions, /*needsElements=*/true);
      });
}

static Value lowerGatherNd(LinalgLowering &lowering, graph::GatherNdOp op) {
  SmallVector<DimExpr> inputDims = dimsOf(op.getInput()), indexDims = dimsOf(op.getIndices());
  int64_t batch = op.getBatchDims(), tupleRank = indexDims.size() - 1;
  int64_t length = *indexDims.back().constant();
  return lowering.elementwise(cast<RankedTensorType>(op.getType()), {}, [&](Body &b, ValueRange) {
    Values positions, tuple;
    for (int64_t i = 0; i < tupleRank; ++i)
      tuple.push_back(b.index(i));
    tuple.push_back({});
    for (int64_t i = 0; i < batch; ++i)
      positions.push_back(b.index(i));
    for (int64_t i = 0; i < length; ++i) {
      tuple.back() = b.indexConstant(i);
      positions.push_back(wrappedPosition(b, b.extract(op.getIndices(), tuple), inputDims[batch + i]));
    }
    for (int64_t i = batch + length, e = inputDims.size(); i < e; ++i)
      positions.push_back(b.index(tupleRank + i - batch - length));
    return b.extract(op.getInput(), positions, /*needsElements=*/true);
  });
}

Value lowerIndexing(LinalgLowering &lowering, Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::GatherOp op) { return lowerGather(lowering, op); })
      .Case([&](graph::GatherElementsOp op) { return lowerGatherElements(lowering, op); })
      .Case([&](graph::GatherNdOp op) { return lowerGatherNd(lowering, op); })
      .Default([](Operation *) { return Value(); });
}

} // namespace stator::kernel
