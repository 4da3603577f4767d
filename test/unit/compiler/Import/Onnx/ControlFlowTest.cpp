// DEPS: stator::compiler::Import::Onnx stator::dialects::Graph::Interpreter stator::deps::protozero
#include "test/unit/compiler/Import/Onnx/OnnxCase.h"

using namespace stator;
using namespace stator::test;

namespace {

graph::TensorValue flag(bool value) { return tensorOf({}, {double(value)}, ElementType::I1); }

Message branch(const std::string &op, const std::vector<std::string> &inputs) {
  return graphOf({.nodes = {node(op, inputs, {"r"})}, .outputs = {value("r")}, .name = op});
}

/// y = c ? x + w : -x, where w is an initializer of the main graph.
GraphParts choice() {
  return {.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", branch("Add", {"x", "w"})), attributeGraph("else_branch", branch("Neg", {"x"}))})},
          .inputs = {value("x", kFloat, {"2"}), value("c", kBool)},
          .outputs = {value("y")},
          .initializers = {floats("w", {2}, {10, 20})}};
}

/// A body that takes (i, condition, v) and gives (goes on, v + 1, v).
Message counting(const std::vector<Message> &more = {}, const std::string &goesOn = "c") {
  GraphParts body{.nodes = {node("Add", {"v", "one"}, {"next"}), node("Identity", {"v"}, {"seen"})},
                  .inputs = {value("i", kInt64), value("c", kBool), value("v", kFloat, {"1"})},
                  .outputs = {value(goesOn, kBool), value("next"), value("seen")},
                  .initializers = {floats("one", {1}, {1})},
                  .name = "body"};
  body.nodes.insert(body.nodes.end(), more.begin(), more.end());
  return graphOf(body);
}

Message loopModel(const std::vector<std::string> &inputs, const Message &body, const std::vector<std::string> &outputs, std::vector<Message> graphInputs) {
  GraphParts parts{.nodes = {node("Loop", inputs, outputs, {attributeGraph("body", body)})}, .inputs = graphInputs};
  parts.initializers = {rawTensor("three", kInt64, {}, rawBytes<int64_t>({3})), rawTensor("yes", kBool, {}, std::string(1, 1))};
  for (const std::string &output : outputs)
    parts.outputs.push_back(value(output));
  return model(parts);
}

} // namespace

TEST_CASE("If takes a branch when the model runs, and the branches see what is outside") {
  Imported imported(model(choice()).bytes);
  CHECK(imported.run({tensorOf({2}, {1, 2}), flag(true)})[0].reals() == Numbers{11, 22});
  CHECK(imported.run({tensorOf({2}, {1, 2}), flag(false)})[0].reals() == Numbers{-1, -2});
}

TEST_CASE("If with a known condition is its branch, even if the other could not be imported") {
  GraphParts parts{.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", branch("Relu", {"x"})), attributeGraph("else_branch", branch("Foo", {"x"}))})},
                   .inputs = {value("x", kFloat, {"2"})},
                   .outputs = {value("y")},
                   .initializers = {rawTensor("c", kBool, {}, std::string(1, 1))}};
  CHECK(evaluate(model(parts), {tensorOf({2}, {-1, 2})}) == Numbers{0, 2});
}

TEST_CASE("branches that disagree, and missing ones, are errors") {
  GraphParts parts = choice();
  parts.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", branch("Relu", {"x"}))})};
  refuses(model(parts), StatusCode::InvalidFile, "attribute `else_branch` is missing, expected a graph");
  parts.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", branch("Relu", {"x"})), attribute("else_branch", 1)})};
  refuses(model(parts), StatusCode::InvalidFile, "attribute `else_branch` is not a graph");
  parts.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", branch("Foo", {"x"})), attributeGraph("else_branch", branch("Relu", {"x"}))})};
  refuses(model(parts), StatusCode::Unsupported, "subgraph output `r` depends on an op that is not supported");
}

TEST_CASE("a loop with a known number of iterations is unrolled and its scan outputs have a size") {
  Imported imported(loopModel({"three", "", "v0"}, counting(), {"v", "all"}, {value("v0", kFloat, {"1"})}).bytes);
  auto results = imported.run({tensorOf({1}, {5})});
  CHECK(results[0].reals() == Numbers{8});
  CHECK(results[1].reals() == Numbers{5, 6, 7});
  CHECK(results[1].shape == llvm::SmallVector<int64_t>{3, 1});
}

TEST_CASE("a loop that ends when data says so stays a loop") {
  std::vector<Message> condition = {node("ReduceMax", {"next"}, {"m"}, {attribute("keepdims", 0)}), node("Less", {"m", "limit"}, {"go"})};
  GraphParts body{.nodes = {node("Add", {"v", "v"}, {"next"}), condition[0], condition[1]},
                  .inputs = {value("i", kInt64), value("c", kBool), value("v", kFloat, {"1"})},
                  .outputs = {value("go", kBool), value("next")},
                  .initializers = {floats("limit", {}, {50})}};
  CHECK(evaluate(loopModel({"", "yes", "v0"}, graphOf(body), {"v"}, {value("v0", kFloat, {"1"})}), {tensorOf({1}, {3})}) == Numbers{96});
  // The number of iterations is an input.
  Message counted = loopModel({"n", "yes", "v0"}, graphOf({.nodes = {node("Add", {"v", "v"}, {"next"})},
                                                       .inputs = {value("i", kInt64), value("c", kBool), value("v", kFloat, {"1"})},
                                                       .outputs = {value("c", kBool), value("next")}}),
                            {"v"}, {value("n", kInt64), value("v0", kFloat, {"1"})});
  Imported imported(counted.bytes);
  CHECK(imported.run({tensorOf({}, {0}, ElementType::I64), tensorOf({1}, {3})})[0].reals() == Numbers{3});
  CHECK(imported.run({tensorOf({}, {4}, ElementType::I64), tensorOf({1}, {3})})[0].reals() == Numbers{48});
}

TEST_CASE("loops that cannot be are refused with the reason") {
  std::vector<Message> inputs = {value("n", kInt64), value("v0", kFloat, {"1"})};
  refuses(loopModel({"n", "yes", "v0"}, counting(), {"v", "all"}, inputs), StatusCode::Unsupported,
          "scan outputs of a loop whose number of iterations is computed by the model");
  GraphParts narrow{.inputs = {value("i", kInt64), value("c", kBool), value("v")}, .outputs = {value("c", kBool)}};
  refuses(loopModel({"three", "", "v0"}, graphOf(narrow), {"v"}, {value("v0", kFloat, {"1"})}), StatusCode::InvalidFile,
          "its body has 1 outputs, expected at least 2");
  GraphParts deaf{.inputs = {value("i", kInt64)}, .outputs = {value("i"), value("i")}, .name = "deaf"};
  refuses(loopModel({"three", "", "v0"}, graphOf(deaf), {"v"}, {value("v0", kFloat, {"1"})}), StatusCode::InvalidFile,
          "its subgraph `deaf` takes 1 inputs, expected 3");
}

TEST_CASE("a scan runs over axes in either direction") {
  GraphParts body{.nodes = {node("Add", {"s", "e"}, {"t"}), node("Identity", {"t"}, {"out"})},
                  .inputs = {value("s", kFloat), value("e", kFloat)},
                  .outputs = {value("t"), value("out")}};
  auto scan = [&](const std::vector<Message> &more, const std::string &length = "3") {
    std::vector<Message> attributes = {attribute("num_scan_inputs", 1), attributeGraph("body", graphOf(body))};
    attributes.insert(attributes.end(), more.begin(), more.end());
    return model({.nodes = {node("Scan", {"s0", "x"}, {"s", "y"}, attributes)},
                  .inputs = {value("s0", kFloat), value("x", kFloat, {length})},
                  .outputs = {value("y"), value("s")}});
  };
  std::vector<graph::TensorValue> inputs = {tensorOf({}, {10}), tensorOf({3}, {1, 2, 3})};
  CHECK(evaluate(scan({}), inputs) == Numbers{11, 13, 16});
  CHECK(evaluate(scan({attributeInts("scan_input_directions", {1})}), inputs) == Numbers{13, 15, 16});
  CHECK(evaluate(scan({attributeInts("scan_output_directions", {1})}), inputs) == Numbers{16, 13, 11});
  refuses(scan({}, "N"), StatusCode::Unsupported, "a scan of length N is not supported");
  refuses(scan({attributeInts("scan_input_axes", {0, 0})}), StatusCode::InvalidFile, "its attributes do not agree with the inputs and outputs of the body");
}
