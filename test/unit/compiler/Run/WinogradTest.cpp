// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Winograd convolutions ("winograd"), on and off, against the interpreter at every CPU level; and the budget for their weights.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using trace::Builder;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

static uint64_t weightBytes(const CompiledModel &model) {
  uint64_t bytes = 0;
  for (const serialization::Parameter &parameter : model.manifest().parameters)
    bytes += parameter.size;
  return bytes;
}

TEST_CASE("two convolutions and a residual by Winograd") {
  constexpr int64_t channels = 32, height = 15, width = 18;
  uint64_t bytes[3];
  for (int mode : {0, 1, 2}) {
    Builder b;
    Tensor x = b.input("x", ElementType::F32, {2, channels, height, width});
    auto filter = [&](const char *name, int64_t seed) {
      TensorValue w = noise(ElementType::F32, {channels, channels, 3, 3}, seed);
      return b.parameter(name, ElementType::F32, Ints(w.shape.begin(), w.shape.end()), w.data.data(), w.data.size());
    };
    fn::ConvOptions padded;
    padded.padLow = padded.padHigh = {1, 1};
    Tensor middle = fn::relu(fn::conv(x, filter("w1", 3), Tensor(), padded));
    b.output("y", fn::relu(fn::add(fn::conv(middle, filter("w2", 5), Tensor(), padded), x)));
    REQUIRE(b.finish().ok());
    // Sums of 288 products of numbers up to 20.
    CompiledModel model(b, 1e-3, "none", mode == 1 ? std::vector<std::string>{"winograd"} : std::vector<std::string>{},
                        mode == 2 ? "exact" : "default");
    model.run("forward", {noise(ElementType::F32, {2, channels, height, width})});
    bytes[mode] = weightBytes(model);
  }
  CHECK(bytes[0] == bytes[1] / 9 * 36);
  CHECK(bytes[1] == bytes[2]);
}

} // namespace stator::test
