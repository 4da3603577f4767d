//===- AttentionSoftmax.cpp - one row of scores of attention ---------------===//
//
// A short row of known length goes through registers: one read, one write. A
// longer one takes two passes over scratch, which is in L1.
//
// Weights are powers of two of scores that were scaled by log2(e): they are at
// most 0 after the largest is taken away, so that a polynomial and an exponent
// do (14 instructions, against 25 of a general exponential), and -127 and below
// is 0.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/AttentionEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace stator::kernel {

/// Of 2^x, from x^6 down to x; minimax, rounded.
static constexpr double kPowerOfTwo[] = {1.5353361959569156e-4, 1.3398873852565885e-3, 9.61843691766262e-3,
                                         5.5503323674201965e-2, 2.4022647738456726e-1, 6.9314718246459961e-1};
static constexpr double infinity = std::numeric_limits<double>::infinity();
/// Vectors of a row that is held in registers: a third of them.
static int64_t mostHeld(const KernelOptions &options) { return options.vectorRegisters / 3; }

/// A NaN need not be kept: it makes its weight and so the sum NaN.
static Value larger(KernelBuilder &b, Value x, Value y) {
  return b.select(arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x, y);
}

static Value plus(KernelBuilder &b, Value x, Value y) { return arith::AddFOp::create(b, x, y); }

/// 2^x for x of at most 0; NaN stays NaN. The polynomial is 1 at 0, with a relative error of 4e-9 on [-1/2, 1/2].
static Value powerOfTwo(KernelBuilder &b, Value x) {
  Type type = x.getType(), bits = KernelBuilder::laneType(b.getI32Type(), KernelBuilder::lanesOf(x));
  auto c = [&](double value) { return b.number(type, value); };
  x = larger(b, c(-127), x);
  // In a float of this size the last place is 1, so that the addition rounds, and the integer is in the low bits.
  Value shifted = plus(b, x, c(0x1.8p23));
  Value rest = arith::SubFOp::create(b, x, arith::SubFOp::create(b, shifted, c(0x1.8p23)));
  Value p = c(kPowerOfTwo[0]);
  for (double coefficient : llvm::ArrayRef(kPowerOfTwo).drop_front())
    p = b.fma(p, rest, c(coefficient));
  p = b.fma(p, rest, c(1));
  Value exponent = arith::AddIOp::create(b, arith::BitcastOp::create(b, bits, shifted), b.integer(bits, 127));
  Value factor = arith::BitcastOp::create(b, type, arith::ShLIOp::create(b, exponent, b.integer(bits, 23)));
  return arith::MulFOp::create(b, p, factor);
}

Value AttentionEmitter::power(Value exponent) {
  return usesPowersOfTwo ? powerOfTwo(b, exponent) : math::ExpOp::create(b, exponent).getResult();
}

Value AttentionEmitter::masked(Value score, const Head &head, Value position, Value key, Value exists) {
  Value nothing = b.number(vector, -infinity);
  if (head.mask) {
    Value place = b.mul(position, b.size(problem.maskStrides[problem.maskStrides.size() - 2]));
    Value element = problem.maskStrides.back().isConstant(0) ? b.loadSplat(head.mask, place, problem.maskType, lanes)
                                                             : b.load(head.mask, b.add(place, key), problem.maskType, lanes, exists);
    if (problem.maskType.isInteger(1))
      score = b.select(element, score, nothing);
    else
      score = usesPowersOfTwo ? b.fma(element, b.number(vector, std::numbers::log2e), score) : plus(b, score, element);
  }
  return exists ? b.select(exists, score, nothing) : score;
}

AttentionEmitter::RowSums AttentionEmitter::emitSoftmax(Value row, const Head &head, Value position, const KeyBlock &keys, Value end,
                                                        Value before) {
  Value limit = end;
  if (problem.isCausal) {
    Value seen = b.add(b.add(position, b.i64(1)), b.size(problem.causalOffset));
    limit = b.min(end, b.max(b.sub(seen, keys.start), b.i64(0)));
  }
  auto add = [&](Value x, Value y) { return plus(b, x, y); };
  auto most = [&](Value x, Value y) { return larger(b, x, y); };
  Value lowest = b.number(vector, -infinity);
  // What exponents are relative to. Where there is no score, zero: minus infinity less itself is no number.
  auto referenceOf = [&](Value &largest) {
    if (before)
      largest = larger(b, before, largest);
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, b.number(compute, -infinity));
    return b.splat(b.select(isNone, b.zero(compute), largest), lanes);
  };

  std::optional<int64_t> known = constantOf(end);
  if (known && vectorsOf(*known) <= mostHeld(b.options())) {
    Values held;
    for (int64_t column = 0; column < *known; column += lanes) {
      Value place = b.i64(column);
      Value exists = problem.isCausal ? b.maskBelow(b.sub(limit, place), lanes) : maskAt(column, *known);
      held.push_back(masked(b.load(row, place, compute, lanes), head, position, b.add(keys.start, place), exists));
    }
    auto tree = [&](Values values, llvm::function_ref<Value(Value, Value)> combine) {
      for (; values.size() > 1; values.resize((values.size() + 1) / 2))
        for (size_t i = 0, half = (values.size() + 1) / 2; i + half < values.size(); ++i)
          values[i] = combine(values[i], values[i + half]);
      return values.empty() ? lowest : values[0];
    };
    Value largest = b.reduceLanes(tree(held, most), most), reference = referenceOf(largest);
    for (auto [i, score] : llvm::enumerate(held)) {
      score = power(arith::SubFOp::create(b, score, reference));
      b.store(score, row, b.i64(int64_t(i) * lanes), compute);
    }
    Value sum = held.empty() ? b.zero(compute) : b.reduceLanes(tree(held, add), add);
    return {largest, sum};
  }

  Value step = b.i64(lanes), plainEnd = b.mul(b.div(limit, step), step);
  auto scoreAt = [&](Value column, Value exists) {
    Value score = b.load(row, column, compute, lanes);
    if (!head.mask && !exists)
      return score;
    score = masked(score, head, position, b.add(keys.start, column), exists);
    b.store(score, row, column, compute);
    return score;
  };
  constexpr int64_t unroll = 4;
  Value unrolledEnd = b.mul(b.div(limit, b.i64(unroll * lanes)), b.i64(unroll * lanes));
  Values several = b.loop(b.i64(0), unrolledEnd, b.i64(unroll * lanes), Values(unroll, lowest), [&](Value column, ValueRange carried) {
    Values next(carried);
    for (int64_t i = 0; i < unroll; ++i)
      next[i] = larger(b, next[i], scoreAt(b.add(column, b.i64(i * lanes)), Value()));
    return next;
  });
  Value one = larger(b, larger(b, several[0], several[1]), larger(b, several[2], several[3]));
  one = b.loop(unrolledEnd, plainEnd, step, one,
               [&](Value column, ValueRange carried) -> Values { return {larger(b, carried[0], scoreAt(column, Value()))}; })[0];
  one = b.loop(plainEnd, end, step, one, [&](Value column, ValueRange carried) -> Values {
    return {larger(b, carried[0], scoreAt(column, b.maskBelow(b.sub(limit, column), lanes)))};
  })[0];
  Value largest = b.reduceLanes(one, most), reference = referenceOf(largest);
  Value sum = b.loop(b.i64(0), end, step, b.zero(vector), [&](Value column, ValueRange carried) -> Values {
    Value weight = power(arith::SubFOp::create(b, b.load(row, column, compute, lanes), reference));
    b.store(weight, row, column, compute);
    return {plus(b, carried[0], weight)};
  })[0];
  return {largest, b.reduceLanes(sum, add)};
}

Value AttentionEmitter::factorOf(Value sum) {
  Value factor = arith::DivFOp::create(b, b.number(compute, 1), sum), none = b.zero(compute);
  if (problem.emptyRowsZero)
    factor = b.select(arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, sum, none), factor, none);
  else if (!problem.keys.constant().value_or(0)) // A sum over no keys is 0.
    factor = b.select(b.less(b.i64(0), keyCount), factor, none);
  return factor;
}

Value AttentionEmitter::scaleByFactor(Value sum, Value factor) {
  Value scaled = arith::MulFOp::create(b, sum, factor);
  if (!problem.emptyRowsZero)
    return scaled;
  // The sum of a row with a NaN is one.
  Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, factor, b.zero(factor.getType()));
  return b.select(isZero, b.zero(vector), scaled);
}

} // namespace stator::kernel
