// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Averages that change places with a convolution of one tap ("pool-first"), on and off, against the interpreter at every CPU level.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using trace::Builder;
using trace::Dim;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

TEST_CASE("averages of products over pixels") {
  struct Case {
    int64_t channels, outputs, size, stride;
    bool isSymbolic;
  };
  for (Case c : {Case{128, 64, 2, 2, false}, Case{40, 40, 3, 2, false}, Case{35, 70, 2, 1, false}, Case{128, 64, 2, 2, true}}) {
    INFO(c.channels << " to " << c.outputs << " channels");
    for (bool isOff : {false, true}) {
      Builder b;
      Dim h = c.isSymbolic ? b.symbol("H", 2) : Dim(9);
      Tensor x = b.input("x", ElementType::F32, {2, c.channels, h, 10});
      TensorValue filter = noise(ElementType::F32, {c.outputs, c.channels, 1, 1}, 3);
      trace::fn::PoolOptions window;
      window.kernel = {c.size, c.size};
      window.strides = {c.stride, c.stride};
      Tensor weights = b.parameter("w", ElementType::F32, Ints(filter.shape.begin(), filter.shape.end()), filter.data.data(), filter.data.size());
      b.output("y", fn::avgPool(fn::conv(fn::relu(x), weights, Tensor()), window));
      REQUIRE(b.finish().ok());
      CompiledModel model(b, 5e-5, "none", isOff ? std::vector<std::string>{"pool-first"} : std::vector<std::string>{});
      model.run("forward", {noise(ElementType::F32, {2, c.channels, 9, 10})});
      if (c.isSymbolic)
        model.run("forward", {noise(ElementType::F32, {2, c.channels, 2, 10})});
    }
  }
}

} // namespace stator::test
