//===- DataKernels.cpp - dispatch and shared loops of the data kernels -----===//

#include "passes/Kernel/DataKernels.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::kernel {

bool isDataOp(Operation *op) {
  if (auto pad = dyn_cast<graph::PadOp>(op))
    return pad.getMode() == graph::PadMode::Constant && llvm::all_of(pad.getInterior(), [](int64_t gap) { return gap == 0; });
  return isa<graph::ConcatOp, graph::ScatterElementsOp, graph::ScatterNdOp, graph::CumulativeOp, graph::TopKOp>(op);
}

/// The data op of a function that holds nothing else, or null.
static Operation *dataOpOf(func::FuncOp source) {
  Operation *found = nullptr;
  for (Operation &op : source.getBody().front()) {
    if (isa<graph::ConstantOp, func::ReturnOp>(op))
      continue;
    if (found || !isDataOp(&op))
      return nullptr;
    found = &op;
  }
  // The results are the op's, in order.
  Operation *terminator = source.getBody().front().getTerminator();
  if (!found || terminator->getNumOperands() != found->getNumResults())
    return nullptr;
  for (auto [returned, result] : llvm::zip_equal(terminator->getOperands(), found->getResults()))
    if (returned != result)
      return nullptr;
  return found;
}

bool isDataKernel(func::FuncOp source) { return dataOpOf(source) != nullptr; }

void emitDataKernel(func::FuncOp source, const KernelOptions &options) {
  Operation *op = dataOpOf(source);
  KernelBuilder k(source, options);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](graph::ConcatOp op) { emitConcat(k, op); })
      .Case([&](graph::PadOp op) { emitPad(k, op); })
      .Case([&](graph::ScatterElementsOp op) { emitScatterElements(k, op); })
      .Case([&](graph::ScatterNdOp op) { emitScatterNd(k, op); })
      .Case([&](graph::CumulativeOp op) { emitCumulative(k, op); })
      .Case([&](graph::TopKOp op) { emitTopK(k, op); });
  k.finish();
}

Value bufferOf(KernelBuilder &k, Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return k.operand(argument.getArgNumber());
  return k.constantData(cast<DenseElementsAttr>(tensor.getDefiningOp<graph::ConstantOp>().getValue()));
}

void emitVectorLoop(KernelBuilder &k, Value begin, Value end, llvm::function_ref<void(Value, unsigned, Value)> body) {
  unsigned lanes = k.lanes();
  Value width = k.i64(lanes);
  Value vectorEnd = k.add(begin, k.mul(k.div(k.sub(end, begin), width), width));
  k.loop(begin, vectorEnd, width, [&](Value index) { body(index, lanes, {}); });
  if (k.options().hasMasks())
    k.when(k.less(vectorEnd, end), [&] { body(vectorEnd, lanes, k.maskBelow(k.sub(end, vectorEnd), lanes)); });
  else
    k.loop(vectorEnd, end, k.i64(1), [&](Value index) { body(index, 1, {}); });
}

/// Moving elements must not change their bits, so they move as integers.
static Type bitsOf(KernelBuilder &k, Type storage) { return k.getIntegerType(8 * KernelBuilder::byteSize(storage)); }

void emitCopyRow(KernelBuilder &k, Value source, Value sourceOffset, Value target, Value targetOffset, Value count, Type storage) {
  Type bits = bitsOf(k, storage);
  emitVectorLoop(k, k.i64(0), count, [&](Value index, unsigned lanes, Value mask) {
    Value value = k.load(source, k.add(sourceOffset, index), bits, lanes, mask);
    k.store(value, target, k.add(targetOffset, index), bits, mask);
  });
}

void emitFillRow(KernelBuilder &k, Value value, Value target, Value targetOffset, Value count, Type storage) {
  Value vector = k.splat(value, k.lanes());
  emitVectorLoop(k, k.i64(0), count, [&](Value index, unsigned lanes, Value mask) {
    k.store(lanes == 1 ? value : vector, target, k.add(targetOffset, index), storage, mask);
  });
}

AxisView::AxisView(RankedTensorType type, int64_t axis) : outer(1), inner(1) {
  SmallVector<DimExpr> dims = graph::dimsOf(type);
  length = dims[axis];
  for (int64_t i = 0, e = dims.size(); i != e; ++i)
    if (i != axis)
      (i < axis ? outer : inner) *= dims[i];
}

} // namespace stator::kernel
