// DEPS: stator::compiler::Import::Torch::Aten stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Trace/TraceCase.h"

#include "compiler/Import/Torch/Aten/Operators.h"

using namespace stator;
using namespace stator::torch;

TEST_CASE("padding that nn.TransformerEncoder leaves out is remembered until it is put back") {
  Case test;
  Context context(test.b);
  auto tensor = [&](ElementType type, const trace::Ints &dims, const std::vector<double> &values) {
    return Value::tensor(context.make(test.input(type, dims, values)));
  };
  auto call = [&](std::string_view name, const Values &arguments) {
    auto result = callByName(context, name, arguments, {});
    INFO((result.ok() ? "" : result.status().message()));
    REQUIRE(result.ok());
    return *result;
  };
  Value x = tensor(ElementType::F32, {2, 3, 1}, {1, 2, 3, 4, 5, 6}), mask = tensor(ElementType::I1, {2, 3}, {1, 1, 0, 1, 1, 1});
  CHECK(call("_nested_tensor_from_mask_left_aligned", {x, mask}).knownBool() == true);
  CHECK(context.warnings().size() == 1);
  Value nested = call("_nested_tensor_from_mask", {x, mask});
  Value padded = call("to_padded_tensor", {nested, Value::real(-1)});
  // The memory of x is not that of the nested tensor.
  call("zero_", {x});
  test.expect(context.read(padded.asTensor()), {2, 3, 1}, {1, 2, -1, 4, 5, 6});
}
