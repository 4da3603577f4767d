//===- TopKKernel.cpp - sorting and selection ------------------------------===//
//
// Elements become integer keys whose ascending order is the wanted one: the bits
// of a float, with the lower bits of negative numbers flipped, NaN above all,
// and everything complemented when the largest come first. Keys and indices are
// ordered in the worker's scratch; the values are read back by index, so they
// keep their bits.
//
// A small constant k keeps a sorted list of the best k so far. Anything else is
// a bottom-up merge sort, which is stable, needs no recursion and has no bad
// inputs.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/DataKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace stator::kernel {

namespace {

class TopKEmitter {
public:
  TopKEmitter(KernelBuilder &k, graph::TopKOp op)
      : k(k), op(op), type(cast<RankedTensorType>(op.getInput().getType())), storage(type.getElementType()), view(type, op.getAxis()),
        i64(k.getI64Type()) {
    source = bufferOf(k, op.getInput());
    length = k.size(view.length);
    inner = k.size(view.inner);
    wanted = k.size(op.getK().dim(0));
  }

  void run() {
    std::optional<int64_t> known = op.getK().dim(0).constant();
    bool keepsList = known && *known > 0 && *known <= 32;
    DimExpr entries = keepsList ? DimExpr(*known) : view.length;
    for (Value &array : arrays)
      array = k.scratch(entries * 8);
    if (!keepsList)
      for (Value &array : spareArrays)
        array = k.scratch(entries * 8);
    k.parallel({k.size(view.outer), inner}, [&](ArrayRef<Value> index) {
      Value first = k.add(k.mul(index[0], k.mul(length, inner)), index[1]);
      Value sortedIndices = keepsList ? selectBest(first) : sort(first);
      Value target = k.add(k.mul(index[0], k.mul(wanted, inner)), index[1]);
      Type bits = k.getIntegerType(8 * KernelBuilder::byteSize(storage));
      k.loop(k.i64(0), wanted, k.i64(1), [&](Value rank) {
        Value place = k.load(sortedIndices, rank, i64), to = k.add(target, k.mul(rank, inner));
        k.store(k.load(source, elementAt(first, place), bits), k.result(0), to, bits);
        k.store(place, k.result(1), to, i64);
      });
    });
  }

private:
  Value elementAt(Value first, Value position) { return k.add(first, k.mul(position, inner)); }

  Value keyAt(Value first, Value position) {
    Value x = k.load(source, elementAt(first, position), storage);
    Value key;
    if (isa<FloatType>(storage)) {
      unsigned width = x.getType().getIntOrFloatBitWidth();
      Type integer = k.getIntegerType(width);
      // Adding zero makes the zeros equal.
      Value raw = arith::BitcastOp::create(k, integer, arith::AddFOp::create(k, x, k.zero(x.getType())));
      Value sign = arith::ShRSIOp::create(k, raw, k.integer(integer, width - 1));
      Value magnitudeBits = arith::ShRUIOp::create(k, sign, k.integer(integer, 1));
      key = arith::XOrIOp::create(k, raw, magnitudeBits);
      Value isNan = arith::CmpFOp::create(k, arith::CmpFPredicate::UNO, x, x);
      key = k.select(isNan, k.integer(integer, static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1)), key);
    } else {
      key = x;
    }
    if (!key.getType().isInteger(64))
      key = storage.isUnsignedInteger() ? arith::ExtUIOp::create(k, i64, key).getResult() : arith::ExtSIOp::create(k, i64, key).getResult();
    return op.getLargest() ? arith::XOrIOp::create(k, key, k.i64(-1)).getResult() : key;
  }

  /// The best k of the elements at `first`, by insertion into a sorted list. Returns the list of indices.
  Value selectBest(Value first) {
    Value keys = arrays[0], indices = arrays[1];
    k.loop(k.i64(0), length, k.i64(1), [&](Value position) {
      Value key = keyAt(first, position);
      // While the list is not full every element enters; afterwards only those better than its last.
      Value count = k.min(position, wanted);
      Value last = k.load(keys, k.sub(wanted, k.i64(1)), i64);
      Value isFull = k.compare(arith::CmpIPredicate::sge, position, wanted);
      Value isWorse = k.compare(arith::CmpIPredicate::sge, key, last);
      Value isOut = arith::AndIOp::create(k, isFull, isWorse);
      k.when(arith::XOrIOp::create(k, isOut, k.constant(k.getBoolAttr(true))), [&] {
        Value start = k.min(count, k.sub(wanted, k.i64(1)));
        // Worse entries move down by one; equal ones were here first and stay.
        auto moves = [&](ValueRange carried) -> Value {
          Value above = k.max(k.sub(carried[0], k.i64(1)), k.i64(0));
          Value isInside = k.less(k.i64(0), carried[0]);
          return arith::AndIOp::create(k, isInside, k.less(key, k.load(keys, above, i64)));
        };
        auto move = [&](ValueRange carried) -> KernelBuilder::Values {
          Value above = k.sub(carried[0], k.i64(1));
          k.store(k.load(keys, above, i64), keys, carried[0], i64);
          k.store(k.load(indices, above, i64), indices, carried[0], i64);
          return {above};
        };
        Value slot = k.whileLoop(start, moves, move)[0];
        k.store(key, keys, slot, i64);
        k.store(position, indices, slot, i64);
      });
    });
    return indices;
  }

  /// All elements at `first` in order. Returns the list of indices.
  Value sort(Value first) {
    k.loop(k.i64(0), length, k.i64(1), [&](Value position) {
      k.store(keyAt(first, position), arrays[0], position, i64);
      k.store(position, arrays[1], position, i64);
    });
    auto isUnsorted = [&](ValueRange carried) { return k.less(carried[0], length); };
    auto mergeRuns = [&](ValueRange carried) -> KernelBuilder::Values {
      Value run = carried[0], keys = carried[1], indices = carried[2], toKeys = carried[3], toIndices = carried[4];
      Value twice = k.add(run, run);
      k.loop(k.i64(0), length, twice, [&](Value low) {
        Value middle = k.min(k.add(low, run), length), high = k.min(k.add(low, twice), length);
        merge(keys, indices, toKeys, toIndices, low, middle, high);
      });
      return {twice, toKeys, toIndices, keys, indices};
    };
    KernelBuilder::Values sorted = k.whileLoop({k.i64(1), arrays[0], arrays[1], spareArrays[0], spareArrays[1]}, isUnsorted, mergeRuns);
    return sorted[2];
  }

  void merge(Value keys, Value indices, Value toKeys, Value toIndices, Value low, Value middle, Value high) {
    Value lastElement = k.sub(high, k.i64(1));
    k.loop(low, high, k.i64(1), {low, middle}, [&](Value to, ValueRange carried) -> KernelBuilder::Values {
      Value left = carried[0], right = carried[1];
      // Reads stay inside of the runs; what is read past an end is not used.
      Value leftKey = k.load(keys, k.min(left, lastElement), i64), rightKey = k.load(keys, k.min(right, lastElement), i64);
      Value rightIsEmpty = k.compare(arith::CmpIPredicate::sge, right, high);
      Value isSmaller = k.compare(arith::CmpIPredicate::sle, leftKey, rightKey);
      Value takesLeft = arith::OrIOp::create(k, rightIsEmpty, isSmaller);
      takesLeft = arith::AndIOp::create(k, takesLeft, k.less(left, middle));
      Value from = k.select(takesLeft, left, right);
      k.store(k.select(takesLeft, leftKey, rightKey), toKeys, to, i64);
      k.store(k.load(indices, from, i64), toIndices, to, i64);
      Value one = k.i64(1), none = k.i64(0);
      return {k.add(left, k.select(takesLeft, one, none)), k.add(right, k.select(takesLeft, none, one))};
    });
  }

  KernelBuilder &k;
  graph::TopKOp op;
  RankedTensorType type;
  Type storage;
  AxisView view;
  Type i64;
  Value source, length, inner, wanted;
  std::array<Value, 2> arrays, spareArrays; // keys, indices
};

} // namespace

void emitTopK(KernelBuilder &k, graph::TopKOp op) { TopKEmitter(k, op).run(); }

} // namespace stator::kernel
