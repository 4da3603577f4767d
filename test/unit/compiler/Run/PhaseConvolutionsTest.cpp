// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Transposed convolutions phase by phase ("phase-convolutions"), on and off, against the interpreter at every CPU level.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using trace::Builder;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

namespace {

struct Case {
  int64_t channels, outputs, groups = 1;
  std::vector<int64_t> sizes;
  Ints taps, strides, low, high, outputPadding = {};
  bool isSymbolic = false;
};

void check(const Case &c) {
  INFO(c.channels << " to " << c.outputs << " channels, " << c.taps.front() << " taps, stride " << c.strides.front());
  for (bool isOff : {false, true}) {
    Builder b;
    Dims dims{Dim(2), Dim(c.channels)};
    std::vector<int64_t> shape{2, c.channels}, filterShape{c.channels, c.outputs / c.groups};
    for (size_t i = 0; i < c.sizes.size(); ++i) {
      dims.push_back(c.isSymbolic ? b.symbol("D" + std::to_string(i), 1) : Dim(c.sizes[i]));
      shape.push_back(c.sizes[i]);
      filterShape.push_back(c.taps[i]);
    }
    Tensor x = b.input("x", ElementType::F32, dims);
    TensorValue filter = noise(ElementType::F32, filterShape, 3), bias = noise(ElementType::F32, {c.outputs}, 4);
    trace::fn::ConvOptions options;
    options.strides = c.strides;
    options.padLow = c.low;
    options.padHigh = c.high;
    options.outputPadding = c.outputPadding;
    options.groups = c.groups;
    Tensor w = b.parameter("w", ElementType::F32, Ints(filterShape.begin(), filterShape.end()), filter.data.data(), filter.data.size());
    Tensor v = b.parameter("v", ElementType::F32, {c.outputs}, bias.data.data(), bias.data.size());
    b.output("y", fn::relu(fn::convTranspose(fn::relu(x), w, v, options)));
    REQUIRE(b.finish().ok());
    CompiledModel model(b, 5e-5, "none", isOff ? std::vector<std::string>{"phase-convolutions"} : std::vector<std::string>{});
    model.run("forward", {noise(ElementType::F32, shape)});
  }
}

} // namespace

TEST_CASE("transposed convolutions, phase by phase") {
  for (bool isSymbolic : {false, true}) {
    check({16, 24, 1, {5, 7}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {}, isSymbolic});
    check({16, 24, 1, {5, 7}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {}, isSymbolic});
    check({13, 7, 1, {6, 4}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, isSymbolic});
    check({8, 16, 1, {4, 5}, {3, 5}, {2, 3}, {1, 0}, {0, 2}, {}, isSymbolic}); // Output sizes that the strides do not divide.
    check({16, 8, 1, {9}, {4}, {3}, {0}, {1}, {}, isSymbolic});
  }
  check({8, 8, 1, {3, 4, 2}, {2, 3, 2}, {2, 1, 2}, {0, 1, 0}, {0, 1, 0}});
  check({16, 32, 4, {5, 5}, {4, 4}, {2, 2}, {1, 1}, {1, 1}});
  check({16, 16, 16, {5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}});
  check({16, 8, 1, {5, 5}, {2, 2}, {3, 3}, {0, 0}, {0, 0}}); // Fewer taps than phases: as it was.
}

} // namespace stator::test
