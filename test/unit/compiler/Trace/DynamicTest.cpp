// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// A graph traced once with symbols computes, for every size, what a graph traced for that size computes.
#include "test/unit/compiler/Trace/TraceCase.h"

#include <functional>

using namespace stator;
using namespace stator::trace;

namespace {

using Model = std::function<Tensor(Builder &, const Tensor &)>;

graph::TensorValue noiseValue(const Ints &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>((i * 7919 + 104729) % 1000) / 500.0 - 1.0);
  return graph::TensorValue::of(ElementType::F32, dims, values);
}

/// `dims` may hold symbols "a" (size a) and "b".
void check(const Dims &dims, const Model &model, const std::vector<Ints> &sizes, int64_t min = 1) {
  Builder dynamic;
  dynamic.symbol("a", min, 100);
  dynamic.symbol("b", min, 100);
  dynamic.output("y", model(dynamic, dynamic.input("x", ElementType::F32, dims)));
  INFO(dynamic.status().message());
  REQUIRE(dynamic.finish().ok());
  INFO(dynamic.str());
  for (const Ints &size : sizes) {
    Builder fixed;
    fixed.output("y", model(fixed, fixed.input("x", ElementType::F32, Dims(size.begin(), size.end()))));
    INFO(fixed.status().message());
    REQUIRE(fixed.finish().ok());
    graph::TensorValue x = noiseValue(size);
    auto expected = graph::interpret(fixed.impl().method(), {x}), actual = graph::interpret(dynamic.impl().method(), {x});
    REQUIRE(mlir::succeeded(expected));
    REQUIRE(mlir::succeeded(actual));
    REQUIRE((*expected)[0].shape == (*actual)[0].shape);
    REQUIRE((*expected)[0].data == (*actual)[0].data);
  }
}

Tensor ones(Builder &b, const Dims &dims) { return fn::full(b, ElementType::F32, dims, 0.25); }

} // namespace

TEST_CASE("windows over symbolic sizes") {
  Dim a = Dim::symbol("a"), b = Dim::symbol("b");
  std::vector<Ints> sizes{{1, 2, 8, 8}, {2, 2, 5, 9}, {3, 2, 6, 5}};
  for (int64_t stride : {1, 2, 3}) {
    check(
        {a, 2, b, Dim::symbol("c")},
        [&](Builder &builder, const Tensor &x) {
          fn::ConvOptions options;
          options.strides = {stride, 1};
          options.padLow = {1, 0};
          options.padHigh = {1, 1};
          return fn::conv(x, ones(builder, {4, 2, 3, 2}), {}, options);
        },
        sizes);
    check(
        {a, 2, b, Dim::symbol("c")},
        [&](Builder &, const Tensor &x) {
          fn::PoolOptions options;
          options.kernel = {3, 3};
          options.strides = {stride, stride};
          options.ceilMode = true;
          return fn::avgPool(x, options) + fn::maxPool(x, options);
        },
        sizes);
    check(
        {a, 2, b, Dim::symbol("c")},
        [&](Builder &builder, const Tensor &x) {
          fn::ConvOptions options;
          options.strides = {stride, 2};
          options.padLow = options.padHigh = {1, 0};
          return fn::convTranspose(x, ones(builder, {2, 1, 3, 2}), {}, options);
        },
        sizes);
  }
}

TEST_CASE("cutting and joining symbolic sizes") {
  Dim a = Dim::symbol("a"), b = Dim::symbol("b");
  std::vector<Ints> sizes{{1, 6}, {3, 2}, {7, 1}, {4, 9}};
  auto along = [&](const Dims &starts, const Dims &ends, const Ints &steps) {
    check(
        {a, b}, [=](Builder &, const Tensor &x) { return fn::slice(x, starts, ends, {1}, steps); },
        {{1, 6}, {3, 2}, {7, 1}, {4, 9}, {2, 0}},
        /*min=*/0);
  };
  along({0}, {3}, {1});
  along({-2}, {1000}, {1});
  along({-3}, {-1}, {1});
  along({1}, {INT64_MAX}, {2});
  along({-1}, {INT64_MIN}, {-1});
  along({INT64_MAX}, {1}, {-2});
  along({5}, {2}, {1});
  check({a, b}, [](Builder &, const Tensor &x) { return fn::concat({x, fn::reverse(x, {0})}, 0); }, sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::concat(fn::splitEven(x, 3, 1), 1); }, {{1, 6}, {3, 3}, {2, 7}, {2, 9}});
  check({a, b}, [](Builder &, const Tensor &x) { return fn::tile(x, {2, 3}); }, sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::pad(x, {1, 0}, {0, 2}, fn::PadMode::Edge); }, sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::gather(x, x.builder()->scalarInt(ElementType::I64, -1), 1); }, sizes);
}

TEST_CASE("masks, positions and statistics of symbolic sizes") {
  Dim a = Dim::symbol("a"), b = Dim::symbol("b");
  std::vector<Ints> sizes{{1, 6}, {3, 2}, {7, 1}, {4, 4}};
  check({a, b}, [](Builder &, const Tensor &x) { return fn::trilu(x, true, 1) + fn::eyeLike(x, ElementType::F32); }, sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::reduce(x, fn::Reduction::Mean, Ints{0, 1}); }, sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::instanceNorm(fn::unsqueeze(x, {0}), {}, {}); }, sizes);
  check(
      {a, b},
      [](Builder &builder, const Tensor &x) {
        Tensor length = fn::gather(fn::shapeOf(x), builder.scalarInt(ElementType::I64, 1));
        Tensor positions = fn::range(builder.scalarInt(ElementType::I64, 0), length, builder.scalarInt(ElementType::I64, 1));
        return fn::gather(x, fn::sub(fn::sub(length, builder.scalarInt(ElementType::I64, 1)), positions), 1);
      },
      sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::layerNorm(fn::softmax(x, 1), {}, {}); }, sizes);
  check({a, b}, [](Builder &, const Tensor &x) { return fn::einsum("ij,kj->ik", {x, x}); }, sizes);
}

TEST_CASE("resize by scales of symbolic sizes") {
  for (double scale : {2.0, 0.5, 1.5})
    check({1, 1, Dim::symbol("a"), Dim::symbol("b")},
          [=](Builder &builder, const Tensor &x) {
            fn::ResizeOptions options;
            options.mode = fn::ResizeMode::Linear;
            return fn::resize(x, builder.vector(std::vector<float>{1, 1, 2, static_cast<float>(scale)}), {}, options);
          },
          {{1, 1, 3, 4}, {1, 1, 2, 5}, {1, 1, 6, 7}});
}

TEST_CASE("multi-head attention with symbolic batch and length") {
  check({Dim::symbol("a"), Dim::symbol("b"), 8},
        [](Builder &builder, const Tensor &x) {
          auto heads = [&](double value) {
            Tensor projected = fn::matmul(x, fn::full(builder, ElementType::F32, {8, 8}, value));
            return fn::transpose(fn::reshape(projected, builder.vector(Ints{0, 0, 2, 4})), {0, 2, 1, 3});
          };
          Tensor mixed = fn::attention(heads(0.5), heads(0.25), heads(1), {}, {}, /*causal=*/true);
          return fn::reshape(fn::transpose(mixed, {0, 2, 1, 3}), builder.vector(Ints{0, -1, 8})) + x;
        },
        {{1, 3, 8}, {2, 5, 8}});
}
