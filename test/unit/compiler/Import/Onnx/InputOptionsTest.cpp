// DEPS: stator::compiler::Import::Onnx stator::dialects::Graph::Interpreter stator::deps::protozero
// What users say about inputs: shapes, types, sizes, constants.
#include "test/unit/compiler/Import/Onnx/OnnxCase.h"

using namespace stator;
using namespace stator::compiler;
using namespace stator::test;

namespace {

/// y = reshape(x, shape), which needs to know the shape.
Message reshaping(const std::vector<std::string> &shapeDims = {"2"}) {
  return model({.nodes = {node("Reshape", {"x", "shape"}, {"y"})},
                .inputs = {value("x", kFloat, {"2", "3"}), value("shape", kInt64, shapeDims)},
                .outputs = {value("y")}});
}

Message adding(const std::vector<std::string> &a, const std::vector<std::string> &b) {
  return model({.nodes = {node("Add", {"a", "b"}, {"y"})}, .inputs = {value("a", kFloat, a), value("b", kFloat, b)}, .outputs = {value("y")}});
}

DimSpec number(int64_t value) { return {DimSpec::Kind::Number, value, ""}; }
DimSpec symbol(const std::string &name) { return {DimSpec::Kind::Symbol, 0, name}; }
DimSpec any() { return {}; }

ImportOptions inputs(std::vector<InputSpec> specs) {
  ImportOptions options;
  options.inputs = std::move(specs);
  return options;
}

ImportOptions constants(std::vector<ConstantSpec> specs) {
  ImportOptions options;
  options.constants = std::move(specs);
  return options;
}

ConstantSpec elements(const std::string &name, std::vector<std::string> values) { return {name, std::move(values), "", std::nullopt}; }

ConstantSpec array(const std::string &name, ElementType type, std::vector<int64_t> dims, size_t bytes) {
  return {name, {}, "", ConstantSpec::Array{type, std::move(dims), std::vector<char>(bytes)}};
}

std::string shapesOf(const Message &bytes, const ImportOptions &options) {
  Imported imported(bytes.bytes, options);
  INFO(imported.result.status.message());
  REQUIRE(imported.result.status.ok());
  std::string text;
  llvm::raw_string_ostream(text) << imported.method().getFunctionType();
  return text;
}

} // namespace

TEST_CASE("sizes of inputs are the model's, or given by name or in order") {
  CHECK(shapesOf(adding({"2", "3"}, {"2", "3"}), {}) == "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>");
  CHECK(shapesOf(adding({"N", "3"}, {"N", "3"}), inputs({{"b", {number(4), any()}, {}}, {"", {number(4), number(3)}, ElementType::F32}})) ==
        "(tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>");
  // Nothing, and -1, mean any size.
  CHECK(shapesOf(adding({"", "-1"}, {"1", "1"}), {}).find("a_dim1") != std::string::npos);
  CHECK(shapesOf(adding({"N"}, {"1"}), inputs({{"a", {symbol("Batch")}, {}}})).find("Batch") != std::string::npos);
  ImportOptions fixed;
  fixed.symbols = {{"N", 5, 5}};
  CHECK(shapesOf(adding({"N"}, {"1"}), fixed) == "(tensor<5xf32>, tensor<1xf32>) -> tensor<5xf32>");
}

TEST_CASE("named sizes must occur") {
  ImportOptions options;
  options.symbols = {{"M", 1, 4}};
  refuses(adding({"N"}, {"1"}), StatusCode::InvalidArgument, "no size of the inputs is named `M`", options);
  CHECK(shapesOf(adding({"M"}, {"1"}), options).find("M") != std::string::npos);
}

TEST_CASE("a size that is renamed or fixed is so in every input") {
  DimSpec ranged{DimSpec::Kind::FromModel, 0, "", 2, 6};
  ImportOptions options = inputs({{"a", {symbol("Batch")}, {}}});
  options.symbols = {{"Batch", 1, 8}};
  std::string shapes = shapesOf(adding({"N"}, {"N"}), options);
  CHECK(shapes.find("\"N\"") == std::string::npos);
  CHECK(shapesOf(adding({"N"}, {"N"}), inputs({{"b", {number(5)}, {}}})) == "(tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>");
  CHECK(!shapesOf(adding({"N"}, {"N"}), inputs({{"a", {ranged}, {}}})).empty());
  refuses(adding({"N"}, {"N"}), StatusCode::InvalidArgument, "size `N` is given as 5 and as 6", inputs({{"a", {number(5)}, {}}, {"b", {number(6)}, {}}}));
  refuses(adding({"3"}, {"3"}), StatusCode::InvalidArgument, "has size 3 along axis 0 in the model, but a range was given", inputs({{"a", {ranged}, {}}}));
  options = inputs({{"a", {number(5)}, {}}});
  options.symbols = {{"N", 6, 6}};
  refuses(adding({"N"}, {"N"}), StatusCode::InvalidArgument, "size `N` is given as 6 and as 5", options);
}

TEST_CASE("wrong shapes of inputs are named") {
  Message model = adding({"N", "3"}, {"1"});
  auto wrong = [&](std::vector<InputSpec> specs, const std::string &part) { refuses(model, StatusCode::InvalidArgument, part, inputs(std::move(specs))); };
  wrong({{"c", {}, {}}}, "the model has no input `c`; its inputs are `a`, `b`");
  wrong({{"a", {number(1)}, {}}}, "has rank 2 in the model, but a shape of rank 1 was given");
  wrong({{"a", {number(1), number(4)}, {}}}, "has size 3 along axis 1 in the model, but 4 was given");
  wrong({{"a", {any(), any()}, ElementType::I32}}, "is f32 in the model, but i32 was given");
  wrong({{"", {any(), any()}, {}}, {"", {any()}, {}}, {"", {any()}, {}}}, "more input shapes were given than the model has inputs (2)");
}

TEST_CASE("inputs that are no tensors or have no shape are refused") {
  auto withInput = [](const Message &type) {
    return model({.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {Message().text(1, "x").message(2, type)}, .outputs = {value("y")}});
  };
  refuses(withInput(Message()), StatusCode::Unsupported, "`x (input)`: has no type");
  refuses(withInput(Message().message(4, Message())), StatusCode::Unsupported, "`x (input)`: is a sequence, expected a tensor");
  Message shapeless = withInput(Message().message(1, Message().integer(1, kFloat)));
  refuses(shapeless, StatusCode::InvalidArgument, "has no shape in the model; give it with --input=x=SHAPExTYPE");
  CHECK(evaluate(shapeless, {tensorOf({2}, {-1, 3})}, inputs({{"x", {number(2)}, {}}})) == Numbers{0, 3});
  refuses(withInput(Message().message(1, Message().integer(1, kUint64))), StatusCode::Unsupported, "element type `uint64` is not supported");
}

TEST_CASE("an input with an initializer has a default and is none") {
  GraphParts parts{.nodes = {node("Add", {"x", "w"}, {"y"})}, .inputs = {value("x", kFloat, {"2"}), value("w", kFloat, {"2"})},
                   .outputs = {value("y")}, .initializers = {floats("w", {2}, {1, 2})}};
  CHECK(evaluate(model(parts), {tensorOf({2}, {1, 1})}) == Numbers{2, 3});
  // A constant takes the place of the default.
  CHECK(evaluate(model(parts), {tensorOf({2}, {1, 1})}, constants({elements("w", {"10", "20"})})) == Numbers{11, 21});
  refuses(model(parts), StatusCode::InvalidArgument, "input `w` is a constant, its shape cannot be given", inputs({{"w", {number(2)}, {}}}));
}

TEST_CASE("a constant makes known what the model must know") {
  refuses(reshaping(), StatusCode::Unsupported, "the shape must be known when the model is compiled");
  Numbers all = {1, 2, 3, 4, 5, 6};
  std::vector<graph::TensorValue> x = {tensorOf({2, 3}, all)};
  CHECK(evaluate(reshaping(), x, constants({elements("shape", {"3", "-1"})})) == all);
  // An open size is what the elements make it.
  CHECK(evaluate(reshaping({"R"}), x, constants({elements("shape", {"6"})})) == all);
  CHECK(shapesOf(reshaping(), constants({elements("shape", {"3", "2"})})) == "(tensor<2x3xf32>) -> tensor<3x2xf32>");
}

TEST_CASE("constants of every type, from text and from arrays") {
  auto given = [](int type, const std::vector<std::string> &dims, const std::vector<std::string> &values) {
    return evaluate(model({.nodes = {node("Identity", {"x"}, {"y"})}, .inputs = {value("x", type, dims)}, .outputs = {value("y")}}), {},
                    constants({elements("x", values)}));
  };
  CHECK(given(kFloat, {"3"}, {"1.5", "-2", "inf"})[1] == -2);
  CHECK(given(kHalf, {"2"}, {"1.5", "-2"}) == Numbers{1.5, -2});
  CHECK(given(kBfloat, {}, {"1.5"}) == Numbers{1.5});
  CHECK(given(kBool, {"3"}, {"true", "false", "1"}) == Numbers{1, 0, 1});
  CHECK(given(kBool, {"2"}, {"True", "False"}) == Numbers{1, 0});
  CHECK(given(kUint8, {"2"}, {"255", "0"}) == Numbers{255, 0});
  CHECK(given(kInt8, {"2", "2"}, {"-128"}) == Numbers{-128, -128, -128, -128});
  CHECK(given(kInt64, {"0"}, {}).empty());
  CHECK(given(kInt32, {"N", "2"}, {"1", "2", "3", "4"}) == Numbers{1, 2, 3, 4});
  CHECK(evaluate(adding({"2"}, {"2"}), {tensorOf({2}, {1, 2})}, constants({array("b", ElementType::F32, {2}, 8)})) == Numbers{1, 2});
}

TEST_CASE("constants that do not fit are named with both sides") {
  auto wrong = [](ConstantSpec spec, const std::string &part) { refuses(adding({"2", "3"}, {"A", "B"}), StatusCode::InvalidArgument, part, constants({spec})); };
  wrong(elements("c", {"1"}), "the model has no input `c`; its inputs are `a`, `b`");
  wrong(elements("a", {"1", "2"}), "has 6 elements in the model, but the constant has 2");
  wrong(elements("a", {"x"}), "`a (input)`: is f32 in the model, which `x` is not");
  wrong(elements("b", {"1", "2"}), "has several sizes that the model leaves open; give the constant as a .npy file");
  wrong(array("a", ElementType::I64, {2, 3}, 48), "is f32 in the model, but the constant is i64");
  wrong(array("a", ElementType::F32, {6}, 24), "has rank 2 in the model, but the constant has rank 1");
  wrong(array("a", ElementType::F32, {3, 2}, 24), "has size 2 along axis 0 in the model, but the constant has 3");
  refuses(adding({"1"}, {"1"}), StatusCode::InvalidArgument, "input `a` is given as a constant twice", constants({elements("a", {"1"}), elements("a", {"1"})}));
  refuses(reshaping(), StatusCode::InvalidArgument, "is i64 in the model, which `1.5` is not", constants({elements("shape", {"1.5", "2"})}));
  Message large = adding({"1048576", "1048576"}, {"1"});
  refuses(large, StatusCode::InvalidArgument, "has too many elements for a constant", constants({elements("a", {"1"})}));
}
