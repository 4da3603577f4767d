// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Results over operands that die: each model is compiled with the optimisation "in-place" on and off, and both compute what the
// interpreter does, at every CPU level; with it, the arena is smaller.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using trace::Builder;
using trace::Dim;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

namespace {

constexpr ElementType kFloat = ElementType::F32;

Tensor constantOf(Builder &b, const std::string &name, const Ints &shape, int64_t seed) {
  TensorValue value = noise(kFloat, {shape.begin(), shape.end()}, seed);
  return b.parameter(name, kFloat, shape, value.data.data(), value.data.size());
}

Tensor convolve(Builder &b, const Tensor &x, int64_t channels, int64_t outputs, int64_t taps, int64_t groups = 1) {
  static int number = 0;
  std::string name = "w" + std::to_string(number++);
  fn::ConvOptions options;
  options.padLow = options.padHigh = {taps / 2, taps / 2};
  options.groups = groups;
  Tensor scaled = fn::mul(constantOf(b, name, {outputs, channels / groups, taps, taps}, number), b.scalar(kFloat, 0.25));
  return fn::conv(x, scaled, constantOf(b, name + "b", {outputs}, number + 50), options);
}

/// Compares on and off with the interpreter; true when the arena is smaller with it.
bool check(const std::function<void(Builder &)> &make, const std::vector<TensorValue> &inputs, double tolerance = 5e-5) {
  uint64_t bytes[2];
  for (bool isOff : {false, true}) {
    Builder b;
    make(b);
    REQUIRE(b.finish().ok());
    CompiledModel model(b, tolerance, "none", isOff ? std::vector<std::string>{"in-place"} : std::vector<std::string>{});
    model.run("forward", inputs);
    bytes[isOff] = model.livePeak("forward");
  }
  return bytes[0] < bytes[1];
}

} // namespace

TEST_CASE("what a convolution adds is overwritten") {
  // Tails of channels and of pixels, direct and Winograd, pointwise and depthwise.
  auto residual = [](int64_t channels, int64_t taps, int64_t groups) {
    return [=](Builder &b) {
      Tensor x = b.input("x", kFloat, {2, channels, 13, 11});
      Tensor before = fn::relu(convolve(b, x, channels, channels, 1));
      Tensor inner = fn::relu(convolve(b, before, channels, channels, 1));
      b.output("y", fn::sigmoid(convolve(b, fn::relu(fn::add(convolve(b, inner, channels, channels, taps, groups), before)), channels, 3, 1)));
    };
  };
  for (int64_t channels : {8, 20, 64}) {
    INFO(channels << " channels");
    CHECK(check(residual(channels, 1, 1), {noise(kFloat, {2, channels, 13, 11})}));
    CHECK(check(residual(channels, 3, 1), {noise(kFloat, {2, channels, 13, 11})}));
    check(residual(channels, 3, channels), {noise(kFloat, {2, channels, 13, 11})});
  }
}

TEST_CASE("a residual that is needed later stays") {
  auto make = [](Builder &b) {
    Tensor x = b.input("x", kFloat, {1, 16, 9, 9});
    Tensor before = fn::relu(convolve(b, x, 16, 16, 1));
    Tensor inner = fn::relu(convolve(b, before, 16, 16, 3));
    Tensor sum = fn::add(convolve(b, inner, 16, 16, 1), before);
    b.output("y", fn::mul(fn::relu(convolve(b, sum, 16, 16, 1)), before));
  };
  check(make, {noise(kFloat, {1, 16, 9, 9})});
}

TEST_CASE("element-wise chains and free sizes work in place") {
  auto make = [](Builder &b) {
    Dim n = b.symbol("N", 1, 64);
    Tensor x = b.input("x", kFloat, {n, 33});
    Tensor y = fn::softmax(x, -1);
    Tensor total = fn::reduce(y, fn::Reduction::Max, {0});
    b.output("y", fn::reduce(fn::div(fn::exp(y), total), fn::Reduction::Max, {1}));
  };
  check(make, {noise(kFloat, {7, 33})});
}

} // namespace stator::test
