// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Products by Strassen's algorithm ("strassen", of --math=fast), on and off, against the interpreter at every CPU level.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using trace::Builder;
using trace::Ints;
using trace::Tensor;
namespace fn = stator::trace::fn;

/// Bytes of the weights that an artifact holds.
static uint64_t weightBytes(const CompiledModel &model) {
  uint64_t bytes = 0;
  for (const serialization::Parameter &parameter : model.manifest().parameters)
    bytes += parameter.size;
  return bytes;
}

TEST_CASE("products by seven products of halves") {
  constexpr int64_t rows = 130, depth = 384, columns = 384;
  uint64_t bytes[3];
  // In the default mode it is off.
  for (int mode : {0, 1, 2}) {
    Builder b;
    Tensor x = b.input("x", ElementType::F32, {2, rows / 2, depth});
    TensorValue w = noise(ElementType::F32, {depth, columns}, 3);
    Tensor weights = b.parameter("w", ElementType::F32, Ints(w.shape.begin(), w.shape.end()), w.data.data(), w.data.size());
    b.output("y", fn::relu(fn::matmul(x, weights)));
    REQUIRE(b.finish().ok());
    CompiledModel model(b, 5e-5, "none", mode == 1 ? std::vector<std::string>{"strassen"} : std::vector<std::string>{},
                        mode == 2 ? "default" : "fast");
    model.run("forward", {noise(ElementType::F32, {2, rows / 2, depth})});
    bytes[mode] = weightBytes(model);
  }
  CHECK(bytes[0] == bytes[1] / 4 * 7);
  CHECK(bytes[1] == bytes[2]);
}

} // namespace stator::test
