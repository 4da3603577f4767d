// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Expected values: ONNX Runtime 1.32 and NumPy.
#include "test/unit/compiler/Trace/TraceCase.h"

using namespace stator;
using namespace stator::trace;

TEST_CASE("reshaping") {
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::reshape(x, Dims{4, -1}), {4, 6},
              {0.458, 0.296, 0.134, -0.028, -0.19,  -0.352, -0.514, -0.676, -0.838, -1,     0.838, 0.676,
               0.514, 0.352, 0.19,  0.028,  -0.134, -0.296, -0.458, -0.62,  -0.782, -0.944, 0.894, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::reshape(x, it.b.vector(Ints{0, -1, 2})), {2, 6, 2},
              {0.458, 0.296, 0.134, -0.028, -0.19,  -0.352, -0.514, -0.676, -0.838, -1,     0.838, 0.676,
               0.514, 0.352, 0.19,  0.028,  -0.134, -0.296, -0.458, -0.62,  -0.782, -0.944, 0.894, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::flatten(x, -1), {6, 4}, {0.458, 0.296, 0.134, -0.028, -0.19,  -0.352, -0.514, -0.676, -0.838, -1,     0.838, 0.676,
                                           0.514, 0.352, 0.19,  0.028,  -0.134, -0.296, -0.458, -0.62,  -0.782, -0.944, 0.894, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::transpose(x, {2, 0, 1}), {4, 2, 3},
              {0.458, -0.19,  -0.838, 0.514, -0.134, -0.782, 0.296,  -0.352, -1,    0.352, -0.296, -0.944,
               0.134, -0.514, 0.838,  0.19,  -0.458, 0.894,  -0.028, -0.676, 0.676, 0.028, -0.62,  0.732});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::transpose(y), {3, 2}, {0.458, -0.028, 0.296, -0.19, 0.134, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 1, 3, 1}, 1);
    it.expect(fn::squeeze(y), {2, 3}, {0.458, 0.296, 0.134, -0.028, -0.19, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 1, 3, 1}, 1);
    it.expect(fn::squeeze(y, {-3}), {2, 3, 1}, {0.458, 0.296, 0.134, -0.028, -0.19, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::unsqueeze(y, {-1, 0}), {1, 2, 3, 1}, {0.458, 0.296, 0.134, -0.028, -0.19, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 1}, 1);
    it.expect(fn::expand(y, Dims{3, 1, 2}), {3, 2, 2},
              {0.458, 0.458, 0.296, 0.296, 0.458, 0.458, 0.296, 0.296, 0.458, 0.458, 0.296, 0.296});
  }
  {
    Case it;
    Tensor y = it.noise({2, 2}, 1);
    it.expect(fn::tile(y, Dims{2, 3}), {4, 6}, {0.458, 0.296, 0.458, 0.296, 0.458, 0.296, 0.134, -0.028, 0.134, -0.028, 0.134, -0.028,
                                                0.458, 0.296, 0.458, 0.296, 0.458, 0.296, 0.134, -0.028, 0.134, -0.028, 0.134, -0.028});
  }
  {
    Case it;
    Tensor y = it.noise({1, 2}, 1);
    it.expect(fn::tile(y, Dims{2, 1}), {2, 2}, {0.458, 0.296, 0.458, 0.296});
  }
  {
    Case it;
    Tensor y = it.noise({1, 8, 1, 2}, 1);
    it.expect(fn::depthToSpace(y, 2), {1, 2, 2, 4},
              {0.458, -0.19, 0.296, -0.352, -0.838, 0.514, -1, 0.352, 0.134, -0.514, -0.028, -0.676, 0.838, 0.19, 0.676, 0.028});
  }
  {
    Case it;
    Tensor y = it.noise({1, 8, 1, 2}, 1);
    it.expect(fn::depthToSpace(y, 2, true), {1, 2, 2, 4},
              {0.458, 0.134, 0.296, -0.028, -0.19, -0.514, -0.352, -0.676, -0.838, 0.838, -1, 0.676, 0.514, 0.19, 0.352, 0.028});
  }
  {
    Case it;
    Tensor y = it.noise({1, 1, 2, 4}, 1);
    it.expect(fn::spaceToDepth(y, 2), {1, 4, 1, 2}, {0.458, 0.134, 0.296, -0.028, -0.19, -0.514, -0.352, -0.676});
  }
}

TEST_CASE("slices") {
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{1}, Dims{3}, {2}), {2, 3, 2},
              {0.296, 0.134, -0.352, -0.514, -1, 0.838, 0.352, 0.19, -0.296, -0.458, -0.944, 0.894});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{-2, 0}, Dims{1000, 2}, {1, 0}), {2, 2, 4},
              {-0.19, -0.352, -0.514, -0.676, -0.838, -1, 0.838, 0.676, -0.134, -0.296, -0.458, -0.62, -0.782, -0.944, 0.894, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{0}, Dims{INT64_MAX}, {2}, {3}), {2, 3, 2},
              {0.458, -0.028, -0.19, -0.676, -0.838, 0.676, 0.514, 0.028, -0.134, -0.62, -0.782, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{-1}, Dims{INT64_MIN}, {2}, {-1}), {2, 3, 4},
              {-0.028, 0.134, 0.296, 0.458, -0.676, -0.514, -0.352, -0.19,  0.676, 0.838, -1,     -0.838,
               0.028,  0.19,  0.352, 0.514, -0.62,  -0.458, -0.296, -0.134, 0.732, 0.894, -0.944, -0.782});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{3}, Dims{0}, {2}, {-2}), {2, 3, 2},
              {-0.028, 0.296, -0.676, -0.352, 0.676, -1, 0.028, 0.352, -0.62, -0.296, 0.732, -0.944});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{100}, Dims{-100}, {-1}, {-3}), {2, 3, 2},
              {-0.028, 0.458, -0.676, -0.19, 0.676, -0.838, 0.028, 0.514, -0.62, -0.134, 0.732, -0.782});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::slice(x, Dims{3}, Dims{1}, {2}), {2, 3, 0}, {});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::reverse(x, {0, -1}), {2, 3, 4},
              {0.028,  0.19,  0.352, 0.514, -0.62,  -0.458, -0.296, -0.134, 0.732, 0.894, -0.944, -0.782,
               -0.028, 0.134, 0.296, 0.458, -0.676, -0.514, -0.352, -0.19,  0.676, 0.838, -1,     -0.838});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(
        fn::split(x, Dims{1, 3}, 2)[1], {2, 3, 3},
        {0.296, 0.134, -0.028, -0.352, -0.514, -0.676, -1, 0.838, 0.676, 0.352, 0.19, 0.028, -0.296, -0.458, -0.62, -0.944, 0.894, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::splitEven(x, 2, 1)[1], {2, 1, 4}, {-0.838, -1, 0.838, 0.676, -0.782, -0.944, 0.894, 0.732});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    it.expect(fn::concat({x, fn::neg(x)}, 1), {2, 6, 4},
              {0.458,  0.296,  0.134, -0.028, -0.19,  -0.352, -0.514, -0.676, -0.838, -1,    0.838, 0.676, -0.458, -0.296, -0.134, 0.028,
               0.19,   0.352,  0.514, 0.676,  0.838,  1,      -0.838, -0.676, 0.514,  0.352, 0.19,  0.028, -0.134, -0.296, -0.458, -0.62,
               -0.782, -0.944, 0.894, 0.732,  -0.514, -0.352, -0.19,  -0.028, 0.134,  0.296, 0.458, 0.62,  0.782,  0.944,  -0.894, -0.732});
  }
  {
    Case it;
    Tensor y = it.noise({2}, 1);
    it.expect(fn::stack({y, y}, -1), {2, 2}, {0.458, 0.458, 0.296, 0.296});
  }
}

TEST_CASE("gathers and scatters") {
  {
    Case it;
    Tensor y = it.noise({3, 2}, 1);
    Tensor i = it.input(ElementType::I64, {2, 2}, {0, -1, 2, 1});
    it.expect(fn::gather(y, i), {2, 2, 2}, {0.458, 0.296, -0.19, -0.352, -0.19, -0.352, 0.134, -0.028});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::gather(y, it.b.scalarInt(ElementType::I64, -1), 1), {2}, {0.134, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    Tensor i = it.input(ElementType::I64, {2, 2}, {0, -1, 2, 1});
    it.expect(fn::gatherElements(y, i, 1), {2, 2}, {0.458, 0.134, -0.352, -0.19});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3, 2}, 1);
    Tensor i = it.input(ElementType::I64, {2, 2}, {0, 1, 1, -1});
    it.expect(fn::gatherND(y, i), {2, 2}, {0.134, -0.028, 0.838, 0.676});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3, 2}, 1);
    Tensor i = it.input(ElementType::I64, {2, 1}, {1, 0});
    it.expect(fn::gatherND(y, i, 1), {2, 2}, {0.134, -0.028, -0.514, -0.676});
  }
  {
    Case it;
    Tensor y = it.noise({3}, 1);
    Tensor i = it.input(ElementType::I64, {2}, {2, 0});
    Tensor u = it.noise({2}, 5);
    it.expect(fn::scatterElements(y, i, u), {3}, {0.128, 0.296, 0.29});
  }
  {
    Case it;
    Tensor y = it.noise({3}, 1);
    Tensor i = it.input(ElementType::I64, {2}, {2, 2});
    Tensor u = it.noise({2}, 5);
    it.expect(fn::scatterElements(y, i, u, 0, fn::ScatterReduction::Add), {3}, {0.458, 0.296, 0.552});
  }
  {
    Case it;
    Tensor y = it.noise({3, 2}, 1);
    Tensor i = it.input(ElementType::I64, {2, 1}, {2, 0});
    Tensor u = it.noise({2, 2}, 5);
    it.expect(fn::scatterND(y, i, u), {3, 2}, {-0.034, -0.196, 0.134, -0.028, 0.29, 0.128});
  }
  {
    Case it;
    Tensor y = it.noise({3, 2}, 1);
    Tensor i = it.input(ElementType::I64, {2, 1}, {2, 2});
    Tensor u = it.noise({2, 2}, 5);
    it.expect(fn::scatterND(y, i, u, fn::ScatterReduction::Max), {3, 2}, {0.458, 0.296, 0.134, -0.028, 0.29, 0.128});
  }
  {
    Case it;
    Tensor y = it.noise({3, 2}, 1);
    it.expect(fn::compress(y, it.b.vector(Ints{0, 1, 1}), 0), {2, 2}, {0.134, -0.028, -0.19, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({3, 2}, 1);
    Tensor n = it.input(ElementType::I64, {2}, {2, 3});
    it.expect(fn::reverseSequence(y, n, 1, 0), {3, 2}, {0.134, -0.352, 0.458, -0.028, -0.19, 0.296});
  }
  {
    Case it;
    it.expect(fn::nonZero(it.b.vector(Ints{0, 3, 0, 1})), {1, 2}, {1, 3});
  }
}

TEST_CASE("padding") {
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::pad(y, Dims{0, 1}, Dims{1, 0}), {3, 4}, {0, 0.458, 0.296, 0.134, 0, -0.028, -0.19, -0.352, 0, 0, 0, 0});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    Tensor v = it.input(ElementType::F32, {1}, {7});
    it.expect(fn::pad(y, Dims{0, -1}, Dims{0, 2}, fn::PadMode::Constant, v), {2, 4}, {0.296, 0.134, 7, 7, -0.19, -0.352, 7, 7});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::pad(y, Dims{0, 2}, Dims{1, 1}, fn::PadMode::Edge), {3, 6},
              {0.458, 0.458, 0.458, 0.296, 0.134, 0.134, -0.028, -0.028, -0.028, -0.19, -0.352, -0.352, -0.028, -0.028, -0.028, -0.19,
               -0.352, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(
        fn::pad(y, Dims{0, 2}, Dims{1, 1}, fn::PadMode::Reflect), {3, 6},
        {0.134, 0.296, 0.458, 0.296, 0.134, 0.296, -0.352, -0.19, -0.028, -0.19, -0.352, -0.19, 0.134, 0.296, 0.458, 0.296, 0.134, 0.296});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(
        fn::pad(y, Dims{0, 2}, Dims{1, 1}, fn::PadMode::Wrap), {3, 6},
        {0.296, 0.134, 0.458, 0.296, 0.134, 0.458, -0.19, -0.352, -0.028, -0.19, -0.352, -0.028, 0.296, 0.134, 0.458, 0.296, 0.134, 0.458});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::pad(y, Dims{0, -1}, Dims{0, 2}, fn::PadMode::Edge), {2, 4}, {0.296, 0.134, 0.134, 0.134, -0.19, -0.352, -0.352, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::pad(y, it.b.vector(Ints{1, 2}), {}, it.b.vector(Ints{-1}), fn::PadMode::Constant), {2, 6},
              {0, 0.458, 0.296, 0.134, 0, 0, 0, -0.028, -0.19, -0.352, 0, 0});
  }
}

TEST_CASE("generated data") {
  {
    Case it;
    it.expect(fn::range(it.b.scalarInt(ElementType::I64, 10), it.b.scalarInt(ElementType::I64, 3), it.b.scalarInt(ElementType::I64, -3)),
              {3}, {10, 7, 4});
  }
  {
    Case it;
    it.expect(fn::range(it.b.scalar(ElementType::F32, 0.5), it.b.scalar(ElementType::F32, 2.1), it.b.scalar(ElementType::F32, 0.5)), {4},
              {0.5, 1, 1.5, 2});
  }
  {
    Case it;
    it.expect(fn::slice(fn::range(it.b.scalarInt(ElementType::I64, 1), it.b.scalarInt(ElementType::I64, 1000),
                                  it.b.scalarInt(ElementType::I64, 2)),
                        Dims{-2}, Dims{INT64_MAX}),
              {2}, {997, 999});
  }
  {
    Case it;
    Tensor i = it.input(ElementType::I64, {4}, {0, 2, -1, 5});
    it.expect(fn::oneHot(i, it.b.scalarInt(ElementType::I64, 3), it.b.vector(std::vector<float>{-1, 2}), 0), {3, 4},
              {2, -1, -1, -1, -1, -1, -1, -1, -1, 2, 2, -1});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::eyeLike(y, ElementType::F32, 1), {2, 3}, {0, 1, 0, 0, 0, 1});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::trilu(y, true, 1), {2, 3}, {0, 0.296, 0.134, 0, 0, -0.352});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::trilu(y, false), {2, 3}, {0.458, 0, 0, -0.028, -0.19, 0});
  }
  {
    Case it;
    it.expect(fn::constantOfShape(it.b.vector(Ints{2, 1}), it.b.vector(Ints{7})), {2, 1}, {7, 7});
  }
  {
    Case it;
    it.expect(fn::iota(it.b, ElementType::I32, {2, 2}, 1), {2, 2}, {0, 1, 0, 1});
  }
  {
    Case it;
    Tensor y = it.noise({2, 3}, 1);
    it.expect(fn::shapeOf(y, -1), {1}, {3});
  }
}

TEST_CASE("quantisation") {
  {
    Case it;
    Tensor x = it.noise({4}, 1, 3);
    Tensor s = it.input(ElementType::F32, {}, {0.02});
    Tensor z = it.input(ElementType::U8, {}, {100});
    it.expect(fn::quantize(x, s, z), {4}, {169, 144, 120, 96});
  }
  {
    Case it;
    Tensor q = it.input(ElementType::U8, {2, 2}, {0, 255, 3, 100});
    Tensor s = it.input(ElementType::F32, {2}, {0.5, 0.25});
    Tensor z = it.input(ElementType::U8, {2}, {3, 7});
    it.expect(fn::dequantize(q, s, z, 0), {2, 2}, {-1.5, 126, -1, 23.25});
  }
}
