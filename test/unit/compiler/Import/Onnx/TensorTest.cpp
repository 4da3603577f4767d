// DEPS: stator::compiler::Import::Onnx stator::dialects::Graph::Interpreter stator::deps::protozero
// Initializers in every form, and names as files have them.
#include "test/unit/compiler/Import/Onnx/OnnxCase.h"

using namespace stator;
using namespace stator::test;

namespace {

/// The elements of an initializer that is the model's output.
graph::TensorValue load(const Message &tensor) {
  Imported imported(model({.outputs = {value("w")}, .initializers = {tensor}}).bytes);
  return imported.run({}).front();
}

void refusesTensor(const Message &tensor, StatusCode code, const std::string &part) {
  refuses(model({.outputs = {value("w")}, .initializers = {tensor}}), code, part);
}

template <typename T>
Message raw(int type, const std::vector<T> &values) {
  return rawTensor("w", type, {int64_t(values.size())}, rawBytes(values));
}

Message entry(const std::string &key, const std::string &text) { return Message().text(1, key).text(2, text); }

Message external(const std::vector<Message> &entries) { return tensorHead("w", kFloat, {2}).messages(13, entries).integer(14, 1); }

} // namespace

TEST_CASE("raw data of every type") {
  CHECK(load(raw<float>(kFloat, {1.5F, -2})).reals() == Numbers{1.5, -2});
  CHECK(load(raw<double>(kDouble, {1.5, -2})).reals() == Numbers{1.5, -2});
  CHECK(load(raw<uint16_t>(kHalf, {0x3e00, 0xc000})).reals() == Numbers{1.5, -2});
  CHECK(load(raw<uint16_t>(kBfloat, {0x3fc0, 0xc000})).reals() == Numbers{1.5, -2});
  CHECK(load(raw<int64_t>(kInt64, {int64_t(1) << 40, -2})).integers() == std::vector<int64_t>{int64_t(1) << 40, -2});
  CHECK(load(raw<int32_t>(kInt32, {7, -2})).reals() == Numbers{7, -2});
  CHECK(load(raw<int16_t>(kInt16, {7, -2})).reals() == Numbers{7, -2});
  CHECK(load(raw<int8_t>(kInt8, {7, -2})).reals() == Numbers{7, -2});
  CHECK(load(raw<uint8_t>(kUint8, {7, 254})).reals() == Numbers{7, 254});
  // Any byte but 0 is true.
  CHECK(load(raw<uint8_t>(kBool, {0, 1, 2})).reals() == Numbers{0, 1, 1});
}

TEST_CASE("typed fields of every type") {
  auto typed = [](int type) { return tensorHead("w", type, {2}); };
  CHECK(load(typed(kFloat).packedFloats(4, {1.5F, -2})).reals() == Numbers{1.5, -2});
  CHECK(load(typed(kDouble).packedDoubles(10, {1.5, -2})).reals() == Numbers{1.5, -2});
  CHECK(load(typed(kHalf).packed(5, {0x3e00, 0xc000})).reals() == Numbers{1.5, -2});
  CHECK(load(typed(kBfloat).packed(5, {0x3fc0, 0xc000})).reals() == Numbers{1.5, -2});
  CHECK(load(typed(kInt64).packed(7, {5, -2})).reals() == Numbers{5, -2});
  for (int type : {kInt32, kInt16, kInt8})
    CHECK(load(typed(type).packed(5, {5, -2})).reals() == Numbers{5, -2});
  CHECK(load(typed(kUint8).packed(5, {5, 254})).reals() == Numbers{5, 254});
  CHECK(load(typed(kBool).packed(5, {0, 3})).reals() == Numbers{0, 1});
}

TEST_CASE("shapes without elements and without axes") {
  CHECK(load(floats("w", {}, {3})).shape.empty());
  CHECK(load(floats("w", {0, 3}, {})).shape == llvm::SmallVector<int64_t>{0, 3});
  CHECK(load(rawTensor("w", kFloat, {2, 0}, "")).count() == 0);
}

TEST_CASE("large initializers stay in the file") {
  std::vector<float> many(2000, 0.5F);
  many[1999] = 7;
  GraphParts parts{.nodes = {node("Add", {"x", "w"}, {"y"})}, .inputs = {value("x", kFloat, {"2000"})}, .outputs = {value("y")},
                   .initializers = {raw<float>(kFloat, many)}};
  Imported imported(model(parts).bytes);
  std::vector<double> sum = imported.run({tensorOf({2000}, Numbers(2000, 1))})[0].reals();
  CHECK(sum[0] == 1.5);
  CHECK(sum[1999] == 8);
}

TEST_CASE("external data has an offset and a length") {
  TemporaryFolder folder;
  writeBytes(folder.path("weights.bin"), "1234" + rawBytes<float>({1.5F, -2}));
  auto import = [&](const std::vector<Message> &entries) {
    writeBytes(folder.path("model.onnx"), model({.outputs = {value("w")}, .initializers = {external(entries)}}).bytes);
    mlir::MLIRContext context;
    compiler::ImportedModel result = onnx::importOnnx(folder.path("model.onnx"), {}, context);
    if (!result.status.ok())
      return result.status.message();
    auto values = graph::interpret(*result.module->getOps<mlir::func::FuncOp>().begin(), {});
    return values->front().reals() == Numbers{1.5, -2} ? std::string("right") : std::string("wrong");
  };
  CHECK(import({entry("location", "weights.bin"), entry("offset", "4"), entry("length", "8")}) == "right");
  CHECK(import({entry("offset", "4"), entry("location", "weights.bin"), entry("checksum", "abc")}) == "right");
  auto says = [&](const std::vector<Message> &entries, const std::string &part) {
    std::string message = import(entries);
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says({entry("offset", "4")}, "is external but has no location");
  says({entry("location", "weights.bin"), entry("offset", "5")}, "needs bytes 5 to 13 of `weights.bin`, which has 12");
  says({entry("location", "weights.bin"), entry("offset", "18446744073709551615")}, "needs bytes");
  says({entry("location", "weights.bin"), entry("offset", "-4")}, "external data offset `-4`, expected a number of bytes");
  says({entry("location", "weights.bin"), entry("length", "12")}, "external data length of 12 bytes, expected 8");
  says({entry("location", "../weights.bin")}, "which leads out of the model's folder");
  says({entry("location", "absent.bin")}, "cannot be opened");
  says({entry("location", ".")}, "is not a regular file");
}

TEST_CASE("tensors whose data does not fit are refused") {
  refusesTensor(rawTensor("w", kFloat, {2}, "1234567"), StatusCode::InvalidFile, "tensor `w` has 7 bytes of data, expected 8");
  refusesTensor(floats("w", {2}, {1, 2, 3}), StatusCode::InvalidFile, "tensor `w` has 3 elements of data, expected 2");
  refusesTensor(floats("w", {2}, {}), StatusCode::InvalidFile, "tensor `w` has 0 elements of data, expected 2");
  refusesTensor(floats("w", {-2}, {1}), StatusCode::InvalidFile, "tensor `w` has the negative size -2");
  refusesTensor(floats("w", {int64_t(1) << 40, 1 << 20}, {1}), StatusCode::InvalidFile, "tensor `w` has more than 2^48 elements");
  refusesTensor(raw<uint64_t>(kUint64, {1}), StatusCode::Unsupported, "tensor `w` has an element type `uint64` is not supported");
  refusesTensor(tensorHead("w", kString, {1}).text(6, "text"), StatusCode::Unsupported, "tensor `w` has strings, which are not supported");
  refusesTensor(rawTensor("w", 99, {1}, "1"), StatusCode::InvalidFile, "unknown data type 99");
  GraphParts sparse{.outputs = {value("w")}};
  refuses(Message().message(7, graphOf(sparse).message(15, Message().message(1, floats("w", {1}, {1})))).message(8, opset(17)), StatusCode::Unsupported,
          "initializer `w` is sparse");
}

TEST_CASE("names are used once") {
  GraphParts parts{.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {value("x", kFloat, {"2"})}, .outputs = {value("y")}};
  GraphParts twice = parts;
  twice.nodes.push_back(node("Neg", {"x"}, {"y"}));
  refuses(model(twice), StatusCode::InvalidFile, "value `y` is produced twice");
  GraphParts weights = parts;
  weights.initializers = {floats("w", {1}, {1}), floats("w", {1}, {1})};
  refuses(model(weights), StatusCode::InvalidFile, "two initializers are called `w`");
  weights.initializers = {floats("", {1}, {1})};
  refuses(model(weights), StatusCode::InvalidFile, "an initializer has no name");
  GraphParts unknown = parts;
  unknown.outputs = {value("z")};
  refuses(model(unknown), StatusCode::InvalidFile, "value `z` is used but nothing before produces it");
  unknown.outputs.clear();
  refuses(model(unknown), StatusCode::InvalidFile, "the graph has no outputs");
}

TEST_CASE("an empty name is an input left out or an output not wanted") {
  GraphParts parts{.nodes = {node("TopK", {"x", "k"}, {"", "i"}), node("Clip", {"x", "", "high"}, {"y"})},
                   .inputs = {value("x", kFloat, {"3"})},
                   .outputs = {value("y"), value("i", kInt64)},
                   .initializers = {ints("k", {1}), floats("high", {}, {2})}};
  Imported imported(model(parts).bytes);
  auto results = imported.run({tensorOf({3}, {1, 5, -3})});
  CHECK(results[0].reals() == Numbers{1, 2, -3});
  CHECK(results[1].reals() == Numbers{1});
}

TEST_CASE("outputs may be inputs, initializers, and the same value twice; any text is a name") {
  GraphParts parts{.nodes = {node("Relu", {"in:0/x"}, {"% \"y\"\n"})},
                   .inputs = {value("in:0/x", kFloat, {"2"})},
                   .outputs = {value("in:0/x"), value("w"), value("% \"y\"\n"), value("% \"y\"\n")},
                   .initializers = {floats("w", {1}, {4})}};
  Imported imported(model(parts).bytes);
  auto results = imported.run({tensorOf({2}, {-1, 2})});
  REQUIRE(results.size() == 4);
  CHECK(results[0].reals() == Numbers{-1, 2});
  CHECK(results[1].reals() == Numbers{4});
  CHECK(results[2].reals() == Numbers{0, 2});
  CHECK(results[3].reals() == Numbers{0, 2});
}
