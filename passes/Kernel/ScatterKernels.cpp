//===- ScatterKernels.cpp - updates at places that are data ----------------===//
//
// Each worker owns a contiguous part of the result: it copies that part of the
// input, then goes through *all* updates in order and applies those that fall
// into its part. So updates of one place keep their order whatever the number of
// workers, and nobody waits. Reading the indices several times is cheap beside
// the copy, which is what usually takes the time. Where the plan has given the
// result the bytes of the input (a cache of a session), nothing is copied.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/DataKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace stator::kernel {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value combine(KernelBuilder &k, graph::ScatterReduction reduction, Type storage, Value old, Value update) {
  bool isFloat = isa<FloatType>(storage), isUnsigned = storage.isUnsignedInteger(), isBool = storage.isInteger(1);
  switch (reduction) {
  case graph::ScatterReduction::None:
    return update;
  case graph::ScatterReduction::Add:
    if (isBool)
      return arith::OrIOp::create(k, old, update);
    return isFloat ? arith::AddFOp::create(k, old, update).getResult() : arith::AddIOp::create(k, old, update).getResult();
  case graph::ScatterReduction::Mul:
    if (isBool)
      return arith::AndIOp::create(k, old, update);
    return isFloat ? arith::MulFOp::create(k, old, update).getResult() : arith::MulIOp::create(k, old, update).getResult();
  case graph::ScatterReduction::Max:
    return isFloat                ? arith::MaximumFOp::create(k, old, update).getResult()
           : isUnsigned || isBool ? arith::MaxUIOp::create(k, old, update).getResult()
                                  : arith::MaxSIOp::create(k, old, update).getResult();
  case graph::ScatterReduction::Min:
    return isFloat                ? arith::MinimumFOp::create(k, old, update).getResult()
           : isUnsigned || isBool ? arith::MinUIOp::create(k, old, update).getResult()
                                  : arith::MinSIOp::create(k, old, update).getResult();
  }
  llvm_unreachable("every scatter reduction is handled above");
}

/// An index as a position along an axis of `size`, negative ones counted from the end. It may still be outside.
static Value wrapped(KernelBuilder &k, Value index, Value size) {
  if (!index.getType().isInteger(64))
    index = arith::ExtSIOp::create(k, k.getI64Type(), index);
  return k.select(k.less(index, k.i64(0)), k.add(index, size), index);
}

/// Copies this worker's part of the input, if it is not there already.
static void copyUnlessInPlace(KernelBuilder &k, Value input, Value target, Value begin, Value count, Type storage) {
  Value from = LLVM::PtrToIntOp::create(k, k.getI64Type(), input), to = LLVM::PtrToIntOp::create(k, k.getI64Type(), target);
  k.when(k.compare(arith::CmpIPredicate::ne, from, to), [&] { emitCopyRow(k, input, begin, target, begin, count, storage); });
}

static Value isWithin(KernelBuilder &k, Value value, Value begin, Value end) {
  Value isAbove = k.compare(arith::CmpIPredicate::sge, value, begin);
  return arith::AndIOp::create(k, isAbove, k.less(value, end));
}

void emitScatterElements(KernelBuilder &k, graph::ScatterElementsOp op) {
  RankedTensorType type = typeOf(op.getResult()), updatesType = typeOf(op.getUpdates());
  Type storage = type.getElementType(), indexType = typeOf(op.getIndices()).getElementType();
  Value input = bufferOf(k, op.getInput()), indices = bufferOf(k, op.getIndices()), updates = bufferOf(k, op.getUpdates());
  Value target = k.result(0);
  SmallVector<Value> strides = llvm::to_vector(k.strides(type));
  SmallVector<Value> updateSizes = llvm::to_vector(k.sizes(updatesType)), updateStrides = llvm::to_vector(k.strides(updatesType));
  Value axisSize = type.getRank() ? k.size(graph::dimOf(type, op.getAxis())) : k.i64(1);

  KernelBuilder::Range own = k.split(k.size(graph::elementCount(type)), 64);
  copyUnlessInPlace(k, input, target, own.begin, k.sub(own.end, own.begin), storage);
  KernelBuilder::Range all{k.i64(0), k.size(graph::elementCount(updatesType))};
  k.walk(all, updateSizes, [&](ArrayRef<Value> at) {
    Value from = k.linearise(at, updateStrides);
    SmallVector<Value> place(at);
    Value position = wrapped(k, k.load(indices, from, indexType), axisSize);
    place[op.getAxis()] = position;
    Value to = k.linearise(place, strides);
    Value isMine = arith::AndIOp::create(k, isWithin(k, position, k.i64(0), axisSize), isWithin(k, to, own.begin, own.end));
    k.when(isMine, [&] {
      Value update = k.load(updates, from, storage);
      if (op.getReduction() != graph::ScatterReduction::None)
        update = combine(k, op.getReduction(), storage, k.load(target, to, storage), update);
      k.store(update, target, to, storage);
    });
  });
}

void emitScatterNd(KernelBuilder &k, graph::ScatterNdOp op) {
  RankedTensorType type = typeOf(op.getResult()), indicesType = typeOf(op.getIndices());
  Type storage = type.getElementType(), indexType = indicesType.getElementType();
  Value input = bufferOf(k, op.getInput()), indices = bufferOf(k, op.getIndices()), updates = bufferOf(k, op.getUpdates());
  Value target = k.result(0);
  SmallVector<DimExpr> dims = graph::dimsOf(type), indexDims = graph::dimsOf(indicesType);
  int64_t length = *indexDims.back().constant();
  DimExpr tuples = 1, slices = 1, slice = 1;
  for (const DimExpr &dim : ArrayRef<DimExpr>(indexDims).drop_back())
    tuples *= dim;
  for (auto [i, dim] : llvm::enumerate(dims))
    (static_cast<int64_t>(i) < length ? slices : slice) *= dim;

  Value sliceSize = k.size(slice);
  KernelBuilder::Range own = k.split(k.size(slices));
  Value begin = k.mul(own.begin, sliceSize), end = k.mul(own.end, sliceSize);
  copyUnlessInPlace(k, input, target, begin, k.sub(end, begin), storage);
  k.loop(k.i64(0), k.size(tuples), k.i64(1), [&](Value tuple) {
    Value number = k.i64(0), isMine = k.constant(k.getBoolAttr(true));
    for (int64_t i = 0; i < length; ++i) {
      Value size = k.size(dims[i]);
      Value index = k.load(indices, k.add(k.mul(tuple, k.i64(length)), k.i64(i)), indexType);
      Value position = wrapped(k, index, size);
      isMine = arith::AndIOp::create(k, isMine, isWithin(k, position, k.i64(0), size));
      number = k.add(k.mul(number, size), position);
    }
    isMine = arith::AndIOp::create(k, isMine, isWithin(k, number, own.begin, own.end));
    k.when(isMine, [&] {
      Value from = k.mul(tuple, sliceSize), to = k.mul(number, sliceSize);
      if (op.getReduction() == graph::ScatterReduction::None)
        return emitCopyRow(k, updates, from, target, to, sliceSize, storage);
      emitVectorLoop(k, k.i64(0), sliceSize, [&](Value index, unsigned lanes, Value mask) {
        Value update = k.load(updates, k.add(from, index), storage, lanes, mask);
        Value old = k.load(target, k.add(to, index), storage, lanes, mask);
        k.store(combine(k, op.getReduction(), storage, old, update), target, k.add(to, index), storage, mask);
      });
    });
  });
}

} // namespace stator::kernel
