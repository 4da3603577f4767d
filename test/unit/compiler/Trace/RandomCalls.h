// Random calls of the functional layer: operands, lists and options are drawn from what is likely to be odd.
#ifndef STATOR_TEST_UNIT_COMPILER_TRACE_RANDOMCALLS_H
#define STATOR_TEST_UNIT_COMPILER_TRACE_RANDOMCALLS_H

#include "stator/Trace.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace random_calls {

using namespace stator;
using namespace stator::trace;

struct Random {
  std::mt19937 engine;
  /// What the sizes s and t are.
  Dim s = Dim::symbol("s"), t = Dim::symbol("t");
  /// Makes an input; a test may make a constant instead.
  std::function<Tensor(Builder &, const std::string &, ElementType, const Dims &)> input =
      [](Builder &b, const std::string &name, ElementType type, const Dims &dims) { return b.input(name, type, dims); };
  int inputs = 0;
  explicit Random(unsigned seed) : engine(seed) {}

  int64_t number(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1)); }
  bool coin() { return number(0, 1) == 1; }
  int64_t odd() {
    static const int64_t kOdd[] = {0, 1, -1, 2, 3, 4, -2, 7, 100, INT32_MAX, INT64_MAX, INT64_MIN, int64_t(1) << 40};
    return kOdd[number(0, coin() ? 5 : 12)];
  }
  Ints list(int64_t count) {
    Ints result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(odd());
    return result;
  }
  Ints axes() {
    Ints result;
    for (int64_t i = number(0, 2); i > 0; --i)
      result.push_back(number(-3, 3));
    return result;
  }
  Dims dims() {
    Dims result;
    for (int64_t i = number(0, 4); i > 0; --i)
      result.push_back(coin() ? Dim(number(0, 4)) : coin() ? s : coin() ? t : Dim(odd()));
    return result;
  }
};

inline Tensor anything(Builder &b, Random &random) {
  static const ElementType kTypes[] = {ElementType::F32, ElementType::F32, ElementType::F32, ElementType::I64,
                                       ElementType::I32, ElementType::F16, ElementType::I1,  ElementType::U8};
  ElementType type = kTypes[random.number(0, 7)];
  switch (random.number(0, 7)) {
  case 0:
    return b.scalar(type, static_cast<double>(random.number(-2, 3)));
  case 1:
    return b.vector(random.list(random.number(0, 4)));
  case 2:
    return Tensor();
  case 3:
    return b.fromDims({random.s, Dim(2)});
  default: {
    Dims dims;
    for (int64_t i = random.number(0, 4); i > 0; --i)
      dims.push_back(random.number(0, 3) == 0 ? (random.coin() ? random.s : random.t) : Dim(random.number(0, 4)));
    return random.input(b, "x" + std::to_string(random.inputs++), type, dims);
  }
  }
}

inline Tensor call(Builder &builder, Random &r, const Tensors &pool) {
  auto any = [&] { return pool[static_cast<size_t>(r.number(0, static_cast<int64_t>(pool.size()) - 1))]; };
  Tensor a = any(), b = any(), c = any(), d = any();
  int64_t axis = r.number(-3, 3);
  fn::ConvOptions conv{r.list(r.number(0, 2)),
                       r.list(r.number(0, 2)),
                       r.list(r.number(0, 2)),
                       r.list(r.number(0, 2)),
                       r.odd(),
                       static_cast<fn::AutoPad>(r.number(0, 3)),
                       r.list(r.number(0, 2)),
                       r.list(r.number(0, 2))};
  if (r.coin())
    conv = fn::ConvOptions();
  fn::PoolOptions pool2{r.list(r.number(0, 2)),
                        r.list(r.number(0, 2)),
                        r.list(r.number(0, 2)),
                        r.list(r.number(0, 2)),
                        r.list(r.number(0, 2)),
                        static_cast<fn::AutoPad>(r.number(0, 3)),
                        r.coin(),
                        r.coin()};
  if (r.coin())
    pool2 = fn::PoolOptions{{1, 2}, {}, {}, {}, {}, fn::AutoPad::Explicit, r.coin(), r.coin()};
  fn::ResizeOptions resize;
  resize.mode = static_cast<fn::ResizeMode>(r.number(0, 2));
  resize.aspect = static_cast<fn::ResizeAspect>(r.number(0, 2));
  resize.axes = r.axes();
  switch (r.number(0, 66)) {
    // clang-format off
  case 0: return fn::add(a, b);
  case 1: return fn::div(a, b);
  case 2: return fn::where(a, b, c);
  case 3: return fn::pow(a, b);
  case 4: return fn::cast(a, ElementType::I32);
  case 5: return fn::matmul(a, b);
  case 6: return fn::gemm(a, b, c, 1, 1, r.coin(), r.coin());
  case 7: return fn::linear(a, b, c);
  case 8: return fn::einsum(r.coin() ? "ij,jk->ik" : r.coin() ? "...i,i->..." : "ii,", {a, b});
  case 9: return fn::attention(a, b, c, d);
  case 10: return fn::conv(a, b, c, conv);
  case 11: return fn::convTranspose(a, b, c, conv);
  case 12: return fn::maxPool(a, pool2);
  case 13: return fn::avgPool(a, pool2);
  case 14: return fn::lpPool(a, r.odd(), pool2);
  case 15: return fn::globalAvgPool(a);
  case 16: return fn::batchNorm(a, b, b, c, c);
  case 17: return fn::instanceNorm(a, b, c);
  case 18: return fn::groupNorm(a, r.odd(), b, c, 1e-5, r.coin());
  case 19: return fn::layerNorm(a, b, c, axis);
  case 20: return fn::rmsNorm(a, b, axis);
  case 21: return fn::lrn(a, r.odd());
  case 22: return fn::lpNorm(a, axis);
  case 23: return fn::reduce(a, static_cast<fn::Reduction>(r.number(0, 11)), r.axes(), r.coin());
  case 24: return fn::reduce(a, fn::Reduction::Sum, b, r.coin(), r.coin());
  case 25: return fn::argMax(a, axis, r.coin());
  case 26: return fn::cumSum(a, axis);
  case 27: return fn::topK(a, Dim(r.odd()), axis).second;
  case 28: return fn::topK(a, b, axis, true, true).first;
  case 29: return fn::reshape(a, r.dims());
  case 30: return fn::reshape(a, b, r.coin());
  case 31: return fn::flatten(a, axis);
  case 32: return fn::transpose(a, r.axes());
  case 33: return fn::squeeze(a, r.axes());
  case 34: return fn::unsqueeze(a, r.axes());
  case 35: return fn::expand(a, b);
  case 36: return fn::broadcastTo(a, r.dims());
  case 37: return fn::tile(a, b);
  case 38: return fn::tile(a, r.dims());
  case 39: return fn::concat({a, b, c}, axis);
  case 40: return fn::stack({a, b}, axis);
  case 41: { Tensors parts = fn::split(a, r.dims(), axis); return parts.empty() ? a : parts.back(); }
  case 42: { Tensors parts = fn::splitEven(a, r.number(0, 4), axis); return parts.empty() ? a : parts.back(); }
  case 43: return fn::slice(a, b, c, {}, {});
  case 44: { Ints axes = r.axes(), starts = r.list(static_cast<int64_t>(axes.size())), ends = r.list(static_cast<int64_t>(axes.size()));
             return fn::slice(a, Dims(starts.begin(), starts.end()), Dims(ends.begin(), ends.end()), axes, r.list(static_cast<int64_t>(axes.size()))); }
  case 45: return fn::reverse(a, r.axes());
  case 46: return fn::reverseSequence(a, b, axis, r.number(-1, 1));
  case 47: return fn::gather(a, b, axis);
  case 48: return fn::gatherElements(a, b, axis);
  case 49: return fn::gatherND(a, b, r.number(-1, 2));
  case 50: return fn::scatterElements(a, b, c, axis, static_cast<fn::ScatterReduction>(r.number(0, 4)));
  case 51: return fn::scatterND(a, b, c);
  case 52: return fn::compress(a, b, axis);
  case 53: return fn::pad(a, r.dims(), r.dims(), static_cast<fn::PadMode>(r.number(0, 3)), b);
  case 54: return fn::pad(a, b, c, d, static_cast<fn::PadMode>(r.number(0, 3)));
  case 55: return fn::resize(a, b, c, resize);
  case 56: return fn::resize(a, {}, b, resize);
  case 57: return fn::depthToSpace(a, r.odd(), r.coin());
  case 58: return fn::spaceToDepth(a, r.odd());
  case 59: return fn::oneHot(a, b, c, axis);
  case 60: return fn::range(a, b, c);
  case 61: return fn::constantOfShape(a, b);
  case 62: return fn::trilu(a, r.coin(), r.odd());
  case 63: return fn::quantize(a, b, c, axis);
  case 64: return fn::nonZero(a);
  case 65: return fn::lstm({a, b, c, {}, {}, d, {}, {}}, {}).y;
  default: return fn::softmax(a, axis, r.coin());
    // clang-format on
  }
}

} // namespace random_calls

#endif // STATOR_TEST_UNIT_COMPILER_TRACE_RANDOMCALLS_H
