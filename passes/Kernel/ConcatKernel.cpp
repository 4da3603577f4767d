//===- ConcatKernel.cpp - concat and constant pad --------------------------===//
//
// Both copy contiguous runs into a result whose other elements come from
// elsewhere. Every element of the result is written by exactly one loop nest, so
// no worker waits for another.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/DataKernels.h"

using namespace mlir;

namespace stator::kernel {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

void emitConcat(KernelBuilder &k, graph::ConcatOp op) {
  RankedTensorType resultType = typeOf(op.getResult());
  Type storage = resultType.getElementType();
  AxisView result(resultType, op.getAxis());
  Value target = k.result(0);
  // Per operand: one run of its axis and everything inside of it, at each outer index. Long runs are cut, so that workers share them.
  constexpr int64_t chunk = 4096;
  DimExpr offset = 0;
  for (Value input : op.getInputs()) {
    AxisView view(typeOf(input), op.getAxis());
    Value source = bufferOf(k, input), run = k.size(view.length * view.inner);
    Value resultRun = k.size(result.length * result.inner), first = k.size(offset * result.inner);
    Value chunks = k.ceilDiv(run, k.i64(chunk));
    // Of a pitched operand, each run is one row.
    Value sourceRun = run;
    if (auto argument = dyn_cast<BlockArgument>(input); argument && op.getAxis() > 0)
      sourceRun = k.size(k.stridesOf(typeOf(input), source)[op.getAxis() - 1]);
    k.parallel({k.size(view.outer), chunks}, [&](ArrayRef<Value> index) {
      Value begin = k.mul(index[1], k.i64(chunk));
      Value count = k.min(k.sub(run, begin), k.i64(chunk));
      emitCopyRow(k, source, k.add(k.mul(index[0], sourceRun), begin), target, k.add(k.add(k.mul(index[0], resultRun), first), begin), count,
                  storage);
    });
    offset = offset + view.length;
  }
}

void emitPad(KernelBuilder &k, graph::PadOp op) {
  RankedTensorType inputType = typeOf(op.getInput()), resultType = typeOf(op.getResult());
  Type storage = inputType.getElementType();
  int64_t rank = resultType.getRank();
  Value source = bufferOf(k, op.getInput()), target = k.result(0);
  Value fill = k.load(bufferOf(k, op.getValue()), k.i64(0), storage);
  if (rank == 0) {
    k.parallel({}, [&](ArrayRef<Value>) { k.store(k.load(source, k.i64(0), storage), target, k.i64(0), storage); });
    return;
  }
  SmallVector<Value> low, inputSizes = llvm::to_vector(k.sizes(inputType)), resultSizes = llvm::to_vector(k.sizes(resultType));
  for (int64_t i = 0; i < rank; ++i)
    low.push_back(k.size(op.getLow().dim(i)));
  SmallVector<Value> inputStrides = llvm::to_vector(k.strides(inputType)), resultStrides = llvm::to_vector(k.strides(resultType));

  // One row of the result at a time: a border, the input's row, a border; or nothing but border where the row lies outside.
  Value width = resultSizes.back();
  auto limited = [&](Value value) { return k.max(k.min(value, width), k.i64(0)); };
  Value rowBegin = limited(low.back()), rowEnd = k.max(limited(k.add(low.back(), inputSizes.back())), rowBegin);
  k.parallel(ArrayRef<Value>(resultSizes).drop_back(), [&](ArrayRef<Value> index) {
    Value isInside = k.constant(k.getBoolAttr(true));
    Value from = k.sub(rowBegin, low.back()), to = k.i64(0);
    for (int64_t i = 0; i + 1 < rank; ++i) {
      Value position = k.sub(index[i], low[i]);
      isInside = arith::AndIOp::create(k, isInside, k.compare(arith::CmpIPredicate::ult, position, inputSizes[i]));
      from = k.add(from, k.mul(position, inputStrides[i]));
      to = k.add(to, k.mul(index[i], resultStrides[i]));
    }
    Value begin = k.select(isInside, rowBegin, width), end = k.select(isInside, rowEnd, width);
    emitFillRow(k, fill, target, to, begin, storage);
    emitCopyRow(k, source, from, target, k.add(to, begin), k.sub(end, begin), storage);
    emitFillRow(k, fill, target, k.add(to, end), k.sub(width, end), storage);
  });
}

} // namespace stator::kernel
