//===- CumulativeKernel.cpp - running sums, products and maxima ------------===//
//
// Along the axis the work is sequential. Vectors run across the elements inside
// of the axis, which are neighbours in memory; where there are none (the axis is
// the last) each run is scalar code, and runs are shared out over the workers.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/DataKernels.h"

using namespace mlir;

namespace stator::kernel {

static Value combine(KernelBuilder &k, graph::CumulativeKind kind, Type storage, Value x, Value y) {
  bool isFloat = isa<FloatType>(storage);
  switch (kind) {
  case graph::CumulativeKind::Sum:
    return isFloat ? arith::AddFOp::create(k, x, y).getResult() : arith::AddIOp::create(k, x, y).getResult();
  case graph::CumulativeKind::Prod:
    return isFloat ? arith::MulFOp::create(k, x, y).getResult() : arith::MulIOp::create(k, x, y).getResult();
  case graph::CumulativeKind::Max:
    return isFloat                       ? arith::MaximumFOp::create(k, x, y).getResult()
           : storage.isUnsignedInteger() ? arith::MaxUIOp::create(k, x, y).getResult()
                                         : arith::MaxSIOp::create(k, x, y).getResult();
  }
  llvm_unreachable("every kind of scan is handled above");
}

static Value neutral(KernelBuilder &k, graph::CumulativeKind kind, Type storage, unsigned lanes) {
  Type type = KernelBuilder::laneType(KernelBuilder::computeType(storage), lanes);
  switch (kind) {
  case graph::CumulativeKind::Sum:
    return k.zero(type);
  case graph::CumulativeKind::Prod:
    return k.integer(type, 1);
  case graph::CumulativeKind::Max:
    if (isa<FloatType>(storage))
      return k.number(type, -std::numeric_limits<double>::infinity());
    return storage.isUnsignedInteger() ? k.zero(type)
                                       : k.integer(type, static_cast<int64_t>(uint64_t(-1) << (storage.getIntOrFloatBitWidth() - 1)));
  }
  llvm_unreachable("every kind of scan is handled above");
}

void emitCumulative(KernelBuilder &k, graph::CumulativeOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type storage = type.getElementType();
  AxisView view(type, op.getAxis());
  Value source = bufferOf(k, op.getInput()), target = k.result(0);
  Value length = k.size(view.length), inner = k.size(view.inner);
  auto scan = [&](Value first, unsigned lanes, Value mask) {
    k.loop(k.i64(0), length, k.i64(1), neutral(k, op.getKind(), storage, lanes),
           [&](Value step, ValueRange carried) -> KernelBuilder::Values {
             Value position = op.getReverse() ? k.sub(k.sub(length, k.i64(1)), step) : step;
             Value place = k.add(first, k.mul(position, inner));
             Value next = combine(k, op.getKind(), storage, carried[0], k.load(source, place, storage, lanes, mask));
             k.store(op.getExclusive() ? Value(carried[0]) : next, target, place, storage, mask);
             return {next};
           });
  };
  if (view.inner.isConstant(1)) {
    k.parallel({k.size(view.outer)}, [&](ArrayRef<Value> index) { scan(k.mul(index[0], length), 1, {}); });
    return;
  }
  Value chunk = k.i64(4 * int64_t(k.lanes()));
  k.parallel({k.size(view.outer), k.ceilDiv(inner, chunk)}, [&](ArrayRef<Value> index) {
    Value base = k.mul(index[0], k.mul(length, inner));
    Value begin = k.mul(index[1], chunk), end = k.min(inner, k.add(begin, chunk));
    emitVectorLoop(k, begin, end, [&](Value column, unsigned lanes, Value mask) { scan(k.add(base, column), lanes, mask); });
  });
}

} // namespace stator::kernel
