// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Attention layers with their projections, caches and masks: with each optimisation on and off, at every CPU level, against the interpreter.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using trace::Builder;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

namespace {

const std::vector<std::vector<std::string>> kSwitches = {{}, {"attention-views"}, {"causal-masks"}, {"merge-matmuls"}};

/// Small weights, so that weights of attention differ but none is everything.
Tensor weight(Builder &b, const std::string &name, const std::vector<int64_t> &shape, int64_t seed, ElementType type = ElementType::F32) {
  TensorValue value = noise(type, shape, seed);
  for (int64_t i = 0; i < value.count(); ++i)
    value.setReal(i, value.real(i) / 4);
  return b.parameter(name, value.type, Ints(shape.begin(), shape.end()), value.data.data(), value.data.size());
}

Tensor heads(const Tensor &x, int64_t count) {
  Dims d = x.dims();
  return fn::transpose(fn::reshape(x, Dims{d[0], d[1], count, Dim(d[2].constant() / count)}), {0, 2, 1, 3});
}

Tensor joined(const Tensor &x) {
  Dims d = x.dims();
  return fn::reshape(fn::transpose(x, {0, 2, 1, 3}), Dims{d[0], d[2], d[1] * d[3]});
}

struct Layer {
  int64_t heads = 2, size = 32;
  bool isCausal = false, hasMask = false, isGuarded = false;
  ElementType type = ElementType::F32;

  int64_t width() const { return heads * size; }
};

/// softmax(q k^T / sqrt(d) + mask) v with three projections, one of them without a bias.
void buildLayer(Builder &b, const Layer &layer, const Dim &batch, const Dim &length) {
  int64_t width = layer.width();
  Tensor x = b.input("x", layer.type, {batch, length, 24});
  auto project = [&](const std::string &name, int64_t seed, bool hasBias) {
    Tensor y = fn::matmul(x, weight(b, name, {24, width}, seed, layer.type));
    return hasBias ? y + weight(b, name + "_bias", {width}, seed + 1, layer.type) : y;
  };
  Tensor q = heads(project("q", 1, true), layer.heads), k = heads(project("k", 3, false), layer.heads),
         v = heads(project("v", 5, true), layer.heads);
  Tensor scores = fn::matmul(q, fn::transpose(k, {0, 1, 3, 2})) * fn::scalarLike(q, 1 / std::sqrt(double(layer.size)));
  Tensor lowest = fn::scalarLike(scores, -INFINITY);
  if (layer.hasMask) {
    Tensor mask = b.input("mask", ElementType::I1, {batch, length});
    scores = fn::where(fn::reshape(mask, Dims{batch, 1, 1, length}), scores, lowest);
  }
  if (layer.isCausal) {
    Tensor rows = fn::iota(b, ElementType::I64, {length, 1}, 0), columns = fn::iota(b, ElementType::I64, {1, length}, 1);
    scores = fn::where(fn::le(columns, rows), scores, lowest);
  }
  Tensor weights = fn::softmax(scores, -1);
  if (layer.isGuarded)
    weights = fn::where(fn::isNan(weights), fn::scalarLike(weights, 0), weights);
  b.output("y", fn::matmul(joined(fn::matmul(weights, v)), weight(b, "o", {width, 24}, 7, layer.type)));
}

TensorValue maskOf(int64_t batch, int64_t length) {
  std::vector<double> values;
  // The first sequence may attend to nothing.
  for (int64_t i = 0; i < batch * length; ++i)
    values.push_back(i >= length && i % 3 != 1);
  return TensorValue::of(ElementType::I1, {batch, length}, values);
}

void checkLayer(const Layer &layer, double tolerance = 2e-5) {
  for (const std::vector<std::string> &disabled : kSwitches) {
    INFO("without " << (disabled.empty() ? "nothing" : disabled[0]));
    Builder b;
    buildLayer(b, layer, b.symbol("B", 0, 8), b.symbol("T", 0, 512));
    REQUIRE(b.finish().ok());
    CompiledModel model(b, tolerance, "none", disabled);
    for (auto [batch, length] : {std::pair<int64_t, int64_t>{1, 1}, {2, 3}, {2, 5}, {2, 37}, {1, 70}, {2, 0}, {0, 4}}) {
      INFO(batch << " sequences of " << length);
      std::vector<TensorValue> inputs = {noise(layer.type, {batch, length, 24}, 11)};
      if (layer.hasMask)
        inputs.push_back(maskOf(batch, length));
      model.run("forward", inputs);
    }
  }
}

} // namespace

TEST_CASE("attention layers of every head size") {
  for (int64_t size : {32, 64, 80, 20})
    checkLayer({.size = size});
}

TEST_CASE("attention layers with masks") {
  checkLayer({.hasMask = true});
  checkLayer({.size = 64, .hasMask = true, .isGuarded = true});
  checkLayer({.size = 80, .isCausal = true});
  checkLayer({.size = 16, .isCausal = true, .hasMask = true, .isGuarded = true});
}

TEST_CASE("attention layers of other types") {
  checkLayer({.type = ElementType::F64});
  checkLayer({.type = ElementType::F16}, 1e-2);
}

TEST_CASE("attention of a fixed size, with a table for the triangle") {
  for (const std::vector<std::string> &disabled : kSwitches)
    for (int64_t length : {1, 4, 13, 45}) {
      INFO(length << " without " << (disabled.empty() ? "nothing" : disabled[0]));
      Builder b;
      Tensor x = b.input("x", ElementType::F32, {2, length, 3 * 64});
      auto part = [&](int64_t i) { return heads(fn::slice(x, Dims{i * 64}, Dims{i * 64 + 64}, {2}), 2); };
      std::vector<float> table;
      for (int64_t i = 0; i < length; ++i)
        for (int64_t j = 0; j < length; ++j)
          table.push_back(j <= i ? 0 : -INFINITY);
      Tensor mask = b.constant(ElementType::F32, {1, 1, length, length}, table.data(), table.size() * sizeof(float));
      b.output("y", joined(fn::attention(part(0), part(1), part(2), mask)));
      REQUIRE(b.finish().ok());
      CompiledModel model(b, 2e-5, "none", disabled);
      model.run("forward", {noise(ElementType::F32, {2, length, 3 * 64}, 3)});
    }
}

TEST_CASE("attention to a cache and what follows it") {
  for (const std::vector<std::string> &disabled : kSwitches) {
    INFO("without " << (disabled.empty() ? "nothing" : disabled[0]));
    Builder b;
    Dim past = b.symbol("P", 0, 256), length = b.symbol("T", 0, 64);
    Tensor q = b.input("q", ElementType::F32, {2, length, 96}), k = b.input("k", ElementType::F32, {2, length, 96}),
           v = b.input("v", ElementType::F32, {2, length, 96});
    Tensor oldK = b.input("old_k", ElementType::F32, {2, 3, past, 32}), oldV = b.input("old_v", ElementType::F32, {2, 3, past, 32});
    Tensor keys = fn::concat({oldK, heads(k, 3)}, 2), values = fn::concat({oldV, heads(v, 3)}, 2);
    Tensor rows = fn::iota(b, ElementType::I64, {length, 1}, 0), columns = fn::iota(b, ElementType::I64, {1, past + length}, 1);
    Tensor mask = fn::le(columns, fn::add(rows, b.fromDim(past)));
    b.output("y", joined(fn::attention(heads(q, 3), keys, values, mask)));
    REQUIRE(b.finish().ok());
    CompiledModel model(b, 2e-5, "none", disabled);
    for (auto [p, t] : {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {16, 1}, {40, 1}, {33, 2}, {0, 7}, {20, 9}, {5, 31}, {7, 0}}) {
      INFO(p << " positions in the cache, " << t << " new");
      auto fresh = [&](int64_t seed) { return noise(ElementType::F32, {2, t, 96}, seed); };
      auto old = [&](int64_t seed) { return noise(ElementType::F32, {2, 3, p, 32}, seed); };
      model.run("forward", {fresh(1), fresh(2), fresh(3), old(4), old(5)});
    }
  }
}

TEST_CASE("one query for a cache that is a result too") {
  for (const std::vector<std::string> &disabled : kSwitches) {
    Builder b;
    Tensor x = b.input("x", ElementType::F32, {1, 1, 3 * 128});
    Tensor oldK = b.input("old_k", ElementType::F32, {1, 2, 50, 64}), oldV = b.input("old_v", ElementType::F32, {1, 2, 50, 64});
    auto part = [&](int64_t i) { return heads(fn::slice(x, Dims{i * 128}, Dims{i * 128 + 128}, {2}), 2); };
    Tensor keys = fn::concat({oldK, part(1)}, 2), values = fn::concat({oldV, part(2)}, 2);
    b.output("y", joined(fn::attention(part(0), keys, values, Tensor())));
    b.output("keys", keys);
    REQUIRE(b.finish().ok());
    CompiledModel model(b, 2e-5, "none", disabled);
    model.run("forward", {noise(ElementType::F32, {1, 1, 3 * 128}, 3), noise(ElementType::F32, {1, 2, 50, 64}, 4),
                          noise(ElementType::F32, {1, 2, 50, 64}, 5)});
  }
}

} // namespace stator::test
