// DEPS: stator::compiler::Import::Onnx stator::dialects::Graph::Interpreter stator::deps::protozero
#include "test/unit/compiler/Import/Onnx/OnnxCase.h"

using namespace stator;
using namespace stator::test;

namespace {

/// A function of the domain "local" with its own opset.
Message function(const std::string &name, const std::vector<std::string> &inputs, const std::vector<std::string> &outputs,
                 const std::vector<Message> &nodes, const std::vector<std::string> &attributes = {}, const std::vector<Message> &defaults = {},
                 const std::string &domain = "local", int64_t version = 17) {
  Message result = Message().text(1, name).texts(4, inputs).texts(5, outputs).texts(6, attributes).messages(7, nodes);
  return result.message(9, opset(version)).message(9, opset(1, "local")).text(10, domain).messages(11, defaults);
}

/// y = nodes(x) on x of two elements.
Message calling(const std::vector<Message> &nodes, const std::vector<Message> &functions) {
  GraphParts parts{.nodes = nodes, .inputs = {value("x", kFloat, {"2"})}, .outputs = {value("y")}};
  return model(parts, 17, {opset(1, "local")}, functions);
}

Numbers run(const Message &model) { return evaluate(model, {tensorOf({2}, {1, -2})}); }

Message leaky() {
  return function("Leaky", {"a"}, {"b"}, {node("LeakyRelu", {"a"}, {"b"}, {attributeReference("alpha", "slope", 1)})}, {"slope"});
}

} // namespace

TEST_CASE("functions call functions") {
  Message twice = function("Twice", {"a"}, {"b"}, {node("Add", {"a", "a"}, {"b"})});
  Message fourTimes = function("FourTimes", {"a"}, {"b"}, {node("Twice", {"a"}, {"t"}, {}, "local"), node("Twice", {"t"}, {"b"}, {}, "local")});
  CHECK(run(calling({node("FourTimes", {"x"}, {"y"}, {}, "local")}, {twice, fourTimes})) == Numbers{4, -8});
}

TEST_CASE("attributes of a call reach the body by reference") {
  CHECK(run(calling({node("Leaky", {"x"}, {"y"}, {attributeNumber("slope", 0.5F)}, "local")}, {leaky()})) == Numbers{1, -1});
  // Not given: the op's own default.
  CHECK(run(calling({node("Leaky", {"x"}, {"y"}, {}, "local")}, {leaky()}))[1] == Approx(-0.02));
  // Passed on through another function.
  Message outer = function("Outer", {"a"}, {"b"}, {node("Leaky", {"a"}, {"b"}, {attributeReference("slope", "s", 1)}, "local")}, {"s"});
  CHECK(run(calling({node("Outer", {"x"}, {"y"}, {attributeNumber("s", 0.25F)}, "local")}, {leaky(), outer})) == Numbers{1, -0.5});
}

TEST_CASE("attributes of a function have defaults") {
  Message body = function("Leaky", {"a"}, {"b"}, {node("LeakyRelu", {"a"}, {"b"}, {attributeReference("alpha", "slope", 1)})}, {},
                          {attributeNumber("slope", 0.5F)});
  CHECK(run(calling({node("Leaky", {"x"}, {"y"}, {}, "local")}, {body})) == Numbers{1, -1});
  CHECK(run(calling({node("Leaky", {"x"}, {"y"}, {attributeNumber("slope", 2)}, "local")}, {body})) == Numbers{1, -4});
}

TEST_CASE("a function may replace a standard op, and sees its own opset") {
  Message relu = function("Relu", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})}, {}, {}, "");
  CHECK(run(calling({node("Relu", {"x"}, {"y"})}, {relu})) == Numbers{-1, 2});
  Message old = function("Cut", {"a"}, {"b"}, {node("Clip", {"a"}, {"b"}, {attributeNumber("min", -1)})}, {}, {}, "local", 7);
  CHECK(run(calling({node("Cut", {"x"}, {"y"}, {}, "local")}, {old})) == Numbers{1, -1});
}

TEST_CASE("the body of a function sees nothing of its caller") {
  Message peeping = function("Peep", {"a"}, {"b"}, {node("Add", {"a", "x"}, {"b"})});
  refuses(calling({node("Peep", {"x"}, {"y"}, {}, "local")}, {peeping}), StatusCode::InvalidFile, "value `x` is used but nothing before produces it");
}

TEST_CASE("recursion is found") {
  Message self = function("Self", {"a"}, {"b"}, {node("Self", {"a"}, {"b"}, {}, "local")});
  refuses(calling({node("Self", {"x"}, {"y"}, {}, "local")}, {self}), StatusCode::InvalidFile, "function `Self` calls itself");
  Message a = function("A", {"a"}, {"b"}, {node("B", {"a"}, {"b"}, {}, "local")}), b = function("B", {"a"}, {"b"}, {node("A", {"a"}, {"b"}, {}, "local")});
  refuses(calling({node("A", {"x"}, {"y"}, {}, "local")}, {a, b}), StatusCode::InvalidFile, "function `A` calls itself");
}

TEST_CASE("nodes without a counterpart are listed all at once") {
  Message bytes = calling({node("Foo", {"x"}, {"a"}), node("Bar", {"a"}, {"b"}, {}, "local"), node("Relu", {"b"}, {"y"}), node("Foo", {"y"}, {"c"})}, {});
  Imported imported(bytes.bytes);
  REQUIRE(imported.result.unsupported.size() == 3);
  CHECK(imported.result.unsupported[0].place == "node `a (Foo)`, opset 17");
  CHECK(imported.result.unsupported[0].reason == "no such op is supported; operands f32[2]");
  CHECK(imported.result.unsupported[1].place == "node `b (local.Bar)`, opset 1");
  CHECK(imported.result.unsupported[1].reason == "no such op is supported; operands ?");
  CHECK(imported.result.status.code() == StatusCode::Unsupported);
  CHECK(imported.result.status.message().find("3 nodes are not supported") != std::string::npos);
}

TEST_CASE("a domain whose opset is not imported is an error") {
  GraphParts parts{.nodes = {node("FusedMatMul", {"x", "x"}, {"y"}, {}, "com.microsoft")}, .inputs = {value("x", kFloat, {"2", "2"})},
                   .outputs = {value("y")}};
  refuses(model(parts), StatusCode::InvalidFile, "uses the domain `com.microsoft`, whose opset the model does not import");
  CHECK(evaluate(model(parts, 17, {opset(1, "com.microsoft")}), {tensorOf({2, 2}, {1, 1, 0, 2})}) == Numbers{1, 3, 0, 4});
}
