// DEPS: stator::dialects::Graph::Interpreter
// State in the interpreter: what a run reads is what the run before has set.
#include "unit/Catch.h"

#include "dialects/Graph/Interpreter/Interpreter.h"
#include "dialects/Graph/ParameterStore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <cstring>

using namespace mlir;
using namespace stator;
using namespace stator::graph;

TEST_CASE("the interpreter keeps state from run to run") {
  MLIRContext context;
  context.loadDialect<GraphDialect, func::FuncDialect>();
  float initial[2] = {1, 2};
  std::vector<std::byte> bytes(sizeof(initial));
  std::memcpy(bytes.data(), initial, sizeof(initial));
  REQUIRE(parametersOf(&context).addOwned(std::move(bytes)) == 0);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    graph.parameter @a : tensor<2xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
    graph.parameter @b : tensor<2xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
    func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
      %a = graph.get_parameter @a : tensor<2xf32>
      %b = graph.get_parameter @b : tensor<2xf32>
      %sum = graph.add %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      graph.set_parameter @a, %b : tensor<2xf32>
      graph.set_parameter @b, %sum : tensor<2xf32>
      return %a : tensor<2xf32>
    })",
                                                             &context);
  REQUIRE(module);
  auto method = cast<func::FuncOp>(module->lookupSymbol("forward"));
  SmallVector<TensorValue> inputs = {TensorValue::of(ElementType::F32, {2}, {10, 20})};

  SECTION("with a map of state") {
    std::map<std::string, TensorValue> state;
    InterpretOptions options;
    options.state = &state;
    std::vector<std::vector<double>> expected = {{1, 2}, {1, 2}, {11, 22}, {11, 22}, {21, 42}};
    for (const std::vector<double> &wanted : expected) {
      auto outputs = interpret(method, inputs, options);
      REQUIRE(succeeded(outputs));
      CHECK((*outputs)[0].reals() == wanted);
    }
    CHECK(state.at("a").reals() == std::vector<double>{21, 42});
    CHECK(state.at("b").reals() == std::vector<double>{31, 62});
  }
  SECTION("without one") {
    for (int run = 0; run < 2; ++run) {
      auto outputs = interpret(method, inputs);
      REQUIRE(succeeded(outputs));
      CHECK((*outputs)[0].reals() == std::vector<double>{1, 2});
    }
  }
  SECTION("with a state of another type") {
    std::map<std::string, TensorValue> state = {{"a", TensorValue(ElementType::F32, {3})}};
    InterpretOptions options;
    options.state = &state;
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { return message += diagnostic.str(), success(); });
    CHECK(failed(interpret(method, inputs, options)));
    CHECK(message.find("reads a state of type tensor<3xf32>, expected tensor<2xf32>") != std::string::npos);
  }
}
