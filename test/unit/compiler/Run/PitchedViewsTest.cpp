// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Concatenations and slices without copies: each model is compiled with the optimisation "pitched-views" on and off, and both compute what
// the interpreter does, at every CPU level.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using serialization::InstructionKind;
using trace::Builder;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;
namespace fn = stator::trace::fn;

namespace {

constexpr ElementType kFloat = ElementType::F32;

Tensor constantOf(Builder &b, const std::string &name, const Ints &shape, int64_t seed) {
  TensorValue value = noise(kFloat, {shape.begin(), shape.end()}, seed);
  return b.parameter(name, kFloat, shape, value.data.data(), value.data.size());
}

/// A convolution over NCHW with bias, small enough not to become a product over pixels only.
Tensor convolve(Builder &b, const Tensor &x, int64_t channels, int64_t outputs, int64_t taps, int64_t stride = 1) {
  static int number = 0;
  std::string name = "w" + std::to_string(number++);
  trace::fn::ConvOptions options;
  options.strides = {stride, stride};
  options.padLow = options.padHigh = {taps / 2, taps / 2};
  Tensor scaled = fn::mul(constantOf(b, name, {outputs, channels, taps, taps}, number), b.scalar(kFloat, 0.25));
  return fn::conv(x, scaled, constantOf(b, name + "b", {outputs}, number + 50), options);
}

trace::fn::PoolOptions window(int64_t size, int64_t stride, int64_t pad) {
  trace::fn::PoolOptions options;
  options.kernel = {size, size};
  options.strides = {stride, stride};
  options.padLow = options.padHigh = {pad, pad};
  return options;
}

/// The number of kernels with and without the optimisation.
struct Counts {
  size_t on, off;
};

/// Compares on and off with the interpreter for each list of inputs.
Counts check(const std::function<void(Builder &)> &make, const std::vector<std::vector<TensorValue>> &runs, double tolerance = 5e-5) {
  size_t kernels[2];
  for (bool isOff : {false, true}) {
    Builder b;
    make(b);
    REQUIRE(b.finish().ok());
    CompiledModel model(b, tolerance, "none", isOff ? std::vector<std::string>{"pitched-views"} : std::vector<std::string>{});
    for (const std::vector<TensorValue> &inputs : runs)
      model.run("forward", inputs);
    kernels[isOff] = model.count("forward", InstructionKind::Kernel) + model.count("forward", InstructionKind::Copy);
  }
  return {kernels[0], kernels[1]};
}

} // namespace

TEST_CASE("a dense block: each layer joins all before it") {
  for (int64_t channels : {16, 13})
    for (int64_t batch : {1, 2}) {
      INFO(channels << " channels, batch " << batch);
      auto make = [&](Builder &b) {
        Tensor x = b.input("x", kFloat, {batch, 3, 12, 10});
        Tensors features = {fn::relu(convolve(b, x, 3, channels, 3))};
        for (int layer = 0; layer < 3; ++layer) {
          Tensor joined = features.size() == 1 ? features[0] : fn::concat(features, 1);
          int64_t width = channels + 8 * layer;
          Tensor normal = fn::relu(fn::add(fn::mul(joined, constantOf(b, "s" + std::to_string(layer), {1, width, 1, 1}, 7 + layer)),
                                           constantOf(b, "t" + std::to_string(layer), {1, width, 1, 1}, 9 + layer)));
          features.push_back(convolve(b, fn::relu(convolve(b, normal, width, 16, 1)), 16, 8, 3));
        }
        b.output("y", fn::avgPool(fn::relu(fn::concat(features, 1)), window(2, 2, 0)));
      };
      Counts counts = check(make, {{noise(kFloat, {batch, 3, 12, 10})}});
      CHECK(counts.on + 3 <= counts.off); // Three concatenations.
    }
}

TEST_CASE("a skip connection beside an upsampled path") {
  auto make = [](Builder &b) {
    Tensor x = b.input("x", kFloat, {2, 3, 16, 12});
    Tensor skip = fn::relu(convolve(b, x, 3, 24, 3));
    Tensor down = fn::relu(convolve(b, fn::maxPool(skip, window(2, 2, 0)), 24, 40, 3));
    float scales[] = {1, 1, 2, 2};
    Tensor up = fn::resize(down, b.constant(kFloat, {4}, scales, sizeof(scales)), Tensor());
    b.output("y", convolve(b, fn::concat({up, skip}, 1), 64, 5, 3));
  };
  Counts counts = check(make, {{noise(kFloat, {2, 3, 16, 12})}});
  CHECK(counts.on < counts.off);
}

TEST_CASE("symbolic images, rows of one part are read in the epilogue of another") {
  auto make = [](Builder &b) {
    Dim n = b.symbol("N"), h = b.symbol("H"), w = b.symbol("W");
    Tensor x = b.input("x", kFloat, {n, 16, h, w});
    Tensor a = fn::relu(convolve(b, x, 16, 24, 3));
    Tensor c = fn::relu(fn::add(convolve(b, a, 24, 24, 3), a));
    b.output("y", convolve(b, fn::concat({a, c}, 1), 48, 16, 3, 2));
  };
  check(make, {{noise(kFloat, {1, 16, 7, 9})}, {noise(kFloat, {3, 16, 1, 17})}, {noise(kFloat, {2, 16, 16, 16})}});
}

TEST_CASE("concatenations of a value used twice, of concatenations, of inputs and parameters, that are returned") {
  auto make = [](Builder &b) {
    Tensor x = b.input("x", kFloat, {3, 5, 16}), p = constantOf(b, "p", {3, 5, 8}, 4);
    Tensor a = fn::neg(x), c = fn::abs(fn::add(x, a));
    b.output("twice", fn::concat({a, a, c}, 2));
    Tensor inner = fn::concat({c, fn::sqrt(fn::abs(x))}, 2);
    b.output("nested", fn::neg(fn::concat({inner, x, fn::relu(p), inner}, 2)));
    b.output("inner", fn::add(inner, inner));
    b.output("c", c);
    // The middle axis: rows are 16 elements of several positions.
    b.output("middle", fn::concat({fn::relu(x), x, fn::neg(x)}, 1));
    b.output("softmax", fn::concat({fn::softmax(x, 2), fn::softmax(fn::neg(x), 2)}, 2));
  };
  check(make, {{noise(kFloat, {3, 5, 16})}});
}

TEST_CASE("slices are read where they are, and copied to outputs") {
  for (bool isSymbolic : {false, true}) {
    auto make = [&](Builder &b) {
      Dim n = isSymbolic ? b.symbol("N") : Dim(3);
      Tensor x = b.input("x", kFloat, {n, 4, 40});
      Tensor y = fn::relu(x);
      Tensors parts = fn::split(y, {Dim(16), Dim(16), Dim(8)}, 2);
      b.output("first", parts[0]);
      b.output("sum", fn::matmul(fn::add(parts[0], parts[1]), constantOf(b, "w", {16, 12}, 3)));
      b.output("product", fn::matmul(parts[1], constantOf(b, "v", {16, 20}, 5)));
      b.output("rest", fn::softmax(parts[2], 2));
      // The neighbours again, and a part of a part.
      b.output("again", fn::neg(fn::concat({parts[0], parts[1]}, 2)));
      b.output("part", fn::neg(fn::slice(parts[1], {Dim(8)}, {Dim(16)}, {2})));
      b.output("middle", fn::exp(fn::slice(x, {Dim(1)}, {Dim(3)}, {1})));
    };
    check(make, {{noise(kFloat, {3, 4, 40})}});
  }
}

TEST_CASE("other element types, and rows too short to lie apart") {
  for (ElementType type : {ElementType::F16, ElementType::F64, ElementType::I64, ElementType::U8}) {
    INFO(name(type));
    for (int64_t row : {3, 32, 33}) {
      auto make = [&](Builder &b) {
        Tensor x = b.input("x", type, {2, 3, row});
        Tensor a = fn::add(x, x), c = fn::maximum(x, fn::mul(x, x));
        Tensor joined = fn::concat({a, c}, 2);
        b.output("y", fn::add(joined, joined));
        b.output("max", fn::maximum(a, c));
      };
      check(make, {{noise(type, {2, 3, row})}});
    }
  }
}

TEST_CASE("parts of few channels that are transposed") {
  // Eight channels fit a transposition's registers whole: of a slice that is read, and of a part that is written.
  for (int64_t channels : {8, 16}) {
    INFO(channels << " channels");
    auto make = [&](Builder &b) {
      Tensor x = b.input("x", kFloat, {2, channels, 6, 7});
      Tensor y = fn::relu(convolve(b, x, channels, 24, 3));
      b.output("part", fn::slice(y, {Dim(8)}, {Dim(8 + channels)}, {1}));
      b.output("joined", convolve(b, fn::concat({y, x}, 1), 24 + channels, 16, 3));
    };
    check(make, {{noise(kFloat, {2, channels, 6, 7})}});
  }
}

TEST_CASE("parts in branches and loops") {
  auto make = [](Builder &b) {
    Tensor x = b.input("x", kFloat, {2, 3, 16}), condition = b.input("c", ElementType::I1, {});
    Tensor a = fn::relu(x);
    Tensors chosen = fn::ifThenElse(
        condition, [&] { return Tensors{fn::concat({a, fn::neg(a)}, 2)}; }, [&] { return Tensors{fn::concat({fn::abs(x), a}, 2)}; });
    b.output("y", fn::concat({chosen[0], fn::neg(a)}, 2));
  };
  check(make, {{noise(kFloat, {2, 3, 16}), number(ElementType::I1, 1)}, {noise(kFloat, {2, 3, 16}), number(ElementType::I1, 0)}});
}

} // namespace stator::test
