// DEPS: stator::compiler::Import::Onnx stator::dialects::Graph::Interpreter stator::deps::protozero
#include "test/unit/compiler/Import/Onnx/OnnxCase.h"

using namespace stator;
using namespace stator::test;

namespace {

/// A model with a bit of everything: attributes of all kinds, a subgraph, a function, typed and raw data, external data.
Message richModel() {
  GraphParts branch{.nodes = {node("Relu", {"x"}, {"b"})}, .outputs = {value("b")}, .name = "branch"};
  Message function = Message().text(1, "Twice").texts(4, {"a"}).texts(5, {"b"}).messages(7, {node("Add", {"a", "a"}, {"b"})});
  function.message(9, opset(17)).text(10, "local");
  GraphParts parts;
  parts.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", graphOf(branch)), attributeGraph("else_branch", graphOf(branch))}),
                 node("Twice", {"y"}, {"z"}, {attribute("k", -1), attributeNumber("f", 0.5F), attributeText("s", "text"),
                                              attributeInts("i", {1, -2}), attributeTensor("t", floats("", {2}, {1, 2}))}, "local"),
                 node("Add", {"z", "w"}, {"u"})};
  parts.inputs = {value("x", kFloat, {"N", "2"}), value("c", kBool)};
  parts.outputs = {value("u", kFloat, {"N", "2"})};
  parts.initializers = {floats("w", {2}, {1, 2}), ints("unused", {1, 2, 3})};
  return model(parts, 17, {opset(1, "local")}, {function});
}

Result<onnx::Model> parse(const std::string &bytes) { return onnx::parseModel(bytesOf(bytes)); }

} // namespace

TEST_CASE("a model is read with everything in it") {
  std::string bytes = richModel().bytes;
  onnx::Model model = parse(bytes).value();
  CHECK(model.irVersion == 8);
  REQUIRE(model.graph.nodes.size() == 3);
  REQUIRE(model.graph.nodes[0].find("then_branch"));
  CHECK(model.graph.nodes[0].find("then_branch")->graph->nodes.front().opType == "Relu");
  const onnx::Node &call = model.graph.nodes[1];
  CHECK(call.domain == "local");
  CHECK(call.find("k")->intValue == -1);
  CHECK(call.find("f")->floatValue == 0.5F);
  CHECK(call.find("s")->stringValue == "text");
  CHECK(call.find("i")->ints == std::vector<int64_t>{1, -2});
  CHECK(call.find("t")->tensor->floatData == std::vector<float>{1, 2});
  CHECK(call.find("absent") == nullptr);
  CHECK(model.graph.inputs[0].shape[0].parameter == "N");
  CHECK(model.graph.inputs[0].shape[1].value == 2);
  REQUIRE(model.functions.size() == 1);
  CHECK(model.functions[0].nodes.size() == 1);
  CHECK(Imported(bytes).result.status.ok());
}

TEST_CASE("repeated numbers are read packed and one by one") {
  Message packed = tensorHead("w", kInt64, {}).packed(7, {1, -2, 3});
  Message single = tensorHead("w", kInt64, {}).unpacked(7, {1, -2, 3});
  Message mixed = tensorHead("w", kInt64, {}).packed(7, {1}).unpacked(7, {-2}).packed(7, {3});
  for (const Message &tensor : {packed, single, mixed}) {
    std::string bytes = model({.initializers = {tensor}}).bytes;
    CHECK(parse(bytes)->graph.initializers[0].int64Data == std::vector<int64_t>{1, -2, 3});
  }
  std::string bytes = model({.initializers = {Message().unpacked(1, {2, 3}).integer(2, kFloat).text(8, "w")}}).bytes;
  CHECK(parse(bytes)->graph.initializers[0].dims == std::vector<int64_t>{2, 3});
}

TEST_CASE("a model cut off anywhere is refused or read, never more") {
  std::string bytes = richModel().bytes;
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::string part = bytes.substr(0, length);
    Result<onnx::Model> model = parse(part);
    if (!model.ok())
      CHECK(model.status().code() == StatusCode::InvalidFile);
    if (length % 3 == 0)
      CHECK(!Imported(part).result.status.message().empty());
  }
}

TEST_CASE("a model with a wrong byte anywhere is refused or read, never more") {
  std::string bytes = richModel().bytes;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[i] = char(changed[i] ^ flip);
      Result<onnx::Model> model = parse(changed);
      if (model.ok() && flip == 0x01)
        Imported imported(changed);
    }
  SUCCEED();
}

TEST_CASE("what is no model is said to be none") {
  CHECK(parse("").status().message() == "the model has no graph");
  CHECK(parse(Message().integer(1, 8).bytes).status().message() == "the model has no graph");
  CHECK(parse(Message().message(7, graphOf({})).message(7, graphOf({})).bytes).status().message() == "the model has two graphs");
  CHECK(parse("\x08").status().message().find("not a well-formed ONNX file") != std::string::npos);
  CHECK(parse("this is some text").status().code() == StatusCode::InvalidFile);
}

TEST_CASE("a field of a wrong wire type is refused") {
  for (const Message &bytes : {Message().integer(7, 1), Message().text(1, "8"), Message().message(7, Message().number(1, 1)),
                               Message().message(7, Message().message(5, Message().text(2, "float")))}) {
    CHECK(parse(bytes.bytes).status().code() == StatusCode::InvalidFile);
    CHECK(parse(bytes.bytes).status().message().find("has a wrong wire type") != std::string::npos);
  }
}

TEST_CASE("graphs nest as far as a limit") {
  auto nested = [](int depth) {
    Message inner = graphOf({.nodes = {node("Relu", {"x"}, {"y"})}});
    for (int i = 0; i < depth; ++i)
      inner = graphOf({.nodes = {node("If", {"c"}, {"y"}, {attributeGraph("then_branch", inner)})}});
    return Message().message(7, inner).bytes;
  };
  CHECK(parse(nested(64)).ok());
  CHECK(parse(nested(65)).status().message() == "graphs are nested more than 64 deep");
}

TEST_CASE("kinds of values are told apart") {
  for (auto [tag, kind] : {std::pair(1, "tensor"), {4, "sequence"}, {5, "map"}, {8, "sparse tensor"}, {9, "optional"}}) {
    Message input = Message().text(1, "x").message(2, Message().message(tag, Message()));
    std::string bytes = model({.inputs = {input}}).bytes;
    CHECK(parse(bytes)->graph.inputs[0].kind == kind);
  }
}

TEST_CASE("element types have names, and those without a counterpart say so") {
  CHECK(onnx::elementTypeOf(kFloat).value() == ElementType::F32);
  CHECK(onnx::elementTypeOf(kBfloat).value() == ElementType::BF16);
  CHECK(onnx::elementTypeOf(kUint64).status().message() == "element type `uint64` is not supported");
  CHECK(onnx::elementTypeOf(kString).status().code() == StatusCode::Unsupported);
  CHECK(onnx::elementTypeOf(99).status().message() == "unknown data type 99");
  CHECK(onnx::elementTypeOf(99).status().code() == StatusCode::InvalidFile);
  CHECK(onnx::nameOf(22) == "int4");
}
