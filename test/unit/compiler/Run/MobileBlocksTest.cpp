// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Inverted residual blocks: each model is compiled with the optimisation "mobile-blocks" on and off, and both compute what the interpreter
// does, at every CPU level. Sizes are such that the rule fuses them. The same for "gates".
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using serialization::InstructionKind;
using trace::Builder;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

namespace {

constexpr ElementType kFloat = ElementType::F32;

class Maker {
public:
  explicit Maker(Builder &b) : b(b) {}

  Tensor convolve(const Tensor &x, int64_t channels, int64_t outputs, int64_t taps = 1, int64_t stride = 1, int64_t groups = 1) {
    std::string name = "w" + std::to_string(++number);
    trace::fn::ConvOptions options;
    options.strides = {stride, stride};
    options.padLow = options.padHigh = {taps / 2, taps / 2};
    options.groups = groups;
    return fn::conv(x, constant(name, {outputs, channels / groups, taps, taps}), constant(name + "b", {outputs}), options);
  }
  Tensor constant(const std::string &name, const Ints &shape) {
    TensorValue value = noise(kFloat, {shape.begin(), shape.end()}, ++number);
    for (int64_t i = 0; i < value.count(); ++i)
      value.setReal(i, value.real(i) / 4);
    return b.parameter(name, kFloat, shape, value.data.data(), value.data.size());
  }
  Tensor silu(const Tensor &x) { return fn::mul(x, fn::sigmoid(x)); }
  Tensor relu6(const Tensor &x) { return fn::minimum(fn::relu(x), b.scalar(kFloat, 6)); }

private:
  Builder &b;
  int64_t number = 0;
};

/// How many kernels fusing saves.
size_t check(const std::function<void(Builder &)> &make, const std::vector<TensorValue> &inputs, const std::string &name = "mobile-blocks") {
  const double tolerance = 5e-5;
  size_t kernels[2];
  for (bool isOff : {false, true}) {
    Builder b;
    make(b);
    REQUIRE(b.finish().ok());
    CompiledModel model(b, tolerance, "none", isOff ? std::vector<std::string>{name} : std::vector<std::string>{});
    for (const TensorValue &input : inputs)
      model.run("forward", {input});
    kernels[isOff] = model.count("forward", InstructionKind::Kernel);
  }
  return kernels[1] - kernels[0];
}

} // namespace

TEST_CASE("expand and filter and project") {
  struct Case {
    int64_t batch, height, width, taps, stride;
    size_t saved = 2; // One without a projection, which wants longer rows and larger tensors.
  };
  for (Case c : {Case{1, 240, 7, 3, 1, 1}, Case{1, 240, 7, 5, 2, 1}, Case{1, 1, 1600, 3, 1}, Case{2, 30, 27, 3, 2, 1}, Case{2, 30, 27, 5, 1}}) {
    INFO(c.batch << "x" << c.height << "x" << c.width << ", " << c.taps << " taps, stride " << c.stride);
    auto make = [&](Builder &b) {
      Maker m(b);
      Tensor x = b.input("x", kFloat, Dims{c.batch, 24, c.height, c.width});
      Tensor wide = m.silu(m.convolve(x, 24, 100));
      Tensor y = m.convolve(m.relu6(m.convolve(wide, 100, 100, c.taps, c.stride, 100)), 100, 24);
      b.output("y", c.stride == 1 ? fn::add(y, x) : y);
    };
    CHECK(check(make, {noise(kFloat, {c.batch, 24, c.height, c.width})}) == c.saved);
  }
}

TEST_CASE("filter and project") {
  auto make = [](Builder &b) {
    Maker m(b);
    Tensor x = b.input("x", kFloat, Dims{1, 40, 60, 64});
    b.output("y", fn::add(m.convolve(m.relu6(m.convolve(x, 40, 40, 3, 1, 40)), 40, 40), x));
  };
  CHECK(check(make, {noise(kFloat, {1, 40, 60, 64})}) == 1);
}

TEST_CASE("a batch that is known when the model runs") {
  auto make = [](Builder &b) {
    Maker m(b);
    Tensor x = b.input("x", kFloat, Dims{b.symbol("N", 1, 8), 24, 44, 40});
    b.output("y", fn::add(m.convolve(m.relu6(m.convolve(m.silu(m.convolve(x, 24, 96)), 96, 96, 3, 1, 96)), 96, 24), x));
  };
  CHECK(check(make, {noise(kFloat, {1, 24, 44, 40}), noise(kFloat, {3, 24, 44, 40})}) == 2);
}

TEST_CASE("a gate in between leaves the projection apart") {
  auto make = [](Builder &b) {
    Maker m(b);
    Tensor x = b.input("x", kFloat, Dims{1, 24, 44, 40});
    Tensor filtered = m.silu(m.convolve(m.silu(m.convolve(x, 24, 96)), 96, 96, 3, 1, 96));
    Tensor pooled = fn::reduce(filtered, fn::Reduction::Mean, {2, 3});
    Tensor gate = fn::sigmoid(m.convolve(m.silu(m.convolve(pooled, 96, 6)), 6, 96));
    b.output("y", m.convolve(fn::mul(filtered, gate), 96, 24));
  };
  CHECK(check(make, {noise(kFloat, {1, 24, 44, 40})}) == 1);
}

TEST_CASE("squeeze and excite") {
  struct Case {
    int64_t channels, squeezed, height, width;
  };
  for (Case c : {Case{96, 4, 5, 7}, Case{24, 40, 1, 1}, Case{200, 70, 7, 7}, Case{7, 3, 2, 9}})
    for (int64_t batch : {1, 3, 0}) { // 0: a symbol
      INFO(c.channels << " -> " << c.squeezed << ", " << c.height << "x" << c.width << ", batch " << batch);
      auto make = [&](Builder &b) {
        Maker m(b);
        Tensor x = fn::neg(b.input("x", kFloat, Dims{batch ? trace::Dim(batch) : b.symbol("N", 1, 8), c.channels, c.height, c.width}));
        Tensor pooled = fn::reduce(x, fn::Reduction::Mean, {2, 3});
        Tensor gate = fn::sigmoid(m.convolve(m.silu(m.convolve(pooled, c.channels, c.squeezed)), c.squeezed, c.channels));
        b.output("y", fn::mul(x, gate));
      };
      size_t saved = check(make, {noise(kFloat, {batch ? batch : 2, c.channels, c.height, c.width})}, "gates");
      CHECK(saved >= (c.height > 1 ? 2u : 0u));
    }
}

TEST_CASE("an expanded tensor that is read twice is stored") {
  // The filter and the projection are still one kernel.
  auto make = [](Builder &b) {
    Maker m(b);
    Tensor x = b.input("x", kFloat, Dims{1, 24, 44, 40});
    Tensor wide = fn::relu(m.convolve(x, 24, 96));
    b.output("y", m.convolve(fn::add(m.convolve(wide, 96, 96, 3, 1, 96), wide), 96, 24));
  };
  CHECK(check(make, {noise(kFloat, {1, 24, 44, 40})}) == 1);
}

} // namespace stator::test
