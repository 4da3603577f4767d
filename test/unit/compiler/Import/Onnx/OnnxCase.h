// Models written as protobuf bytes, and what the importer makes of them: run by the reference interpreter, or refused.
#ifndef STATOR_TEST_UNIT_COMPILER_IMPORT_ONNX_ONNXCASE_H
#define STATOR_TEST_UNIT_COMPILER_IMPORT_ONNX_ONNXCASE_H

#include "test/unit/Catch.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include "compiler/Import/Onnx/OnnxImport.h"
#include "compiler/Import/Onnx/OnnxModel.h"
#include "dialects/Graph/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <protozero/pbf_writer.hpp>

namespace stator::test {

/// One message; fields are written in the order of the calls.
class Message {
public:
  Message() = default;
  Message(const Message &other) : bytes(other.bytes) {}
  Message &text(uint32_t tag, const std::string &value) { return write([&](auto &w) { w.add_string(tag, value); }); }
  Message &integer(uint32_t tag, int64_t value) { return write([&](auto &w) { w.add_int64(tag, value); }); }
  Message &number(uint32_t tag, float value) { return write([&](auto &w) { w.add_float(tag, value); }); }
  Message &message(uint32_t tag, const Message &value) { return write([&](auto &w) { w.add_message(tag, value.bytes); }); }
  Message &texts(uint32_t tag, const std::vector<std::string> &values) {
    for (const std::string &value : values)
      text(tag, value);
    return *this;
  }
  Message &messages(uint32_t tag, const std::vector<Message> &values) {
    for (const Message &value : values)
      message(tag, value);
    return *this;
  }
  Message &packed(uint32_t tag, const std::vector<int64_t> &values) {
    return write([&](auto &w) { w.add_packed_int64(tag, values.begin(), values.end()); });
  }
  Message &packedFloats(uint32_t tag, const std::vector<float> &values) {
    return write([&](auto &w) { w.add_packed_float(tag, values.begin(), values.end()); });
  }
  Message &packedDoubles(uint32_t tag, const std::vector<double> &values) {
    return write([&](auto &w) { w.add_packed_double(tag, values.begin(), values.end()); });
  }
  Message &unpacked(uint32_t tag, const std::vector<int64_t> &values) {
    for (int64_t value : values)
      integer(tag, value);
    return *this;
  }
  std::string bytes;

private:
  template <typename Function>
  Message &write(Function function) {
    protozero::pbf_writer writer(bytes);
    function(writer);
    return *this;
  }
};

enum Type { kFloat = 1, kUint8 = 2, kInt8 = 3, kInt16 = 5, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9, kHalf = 10, kDouble = 11, kUint64 = 13, kBfloat = 16 };

inline Message tensorHead(const std::string &name, int type, const std::vector<int64_t> &dims) {
  return Message().packed(1, dims).integer(2, type).text(8, name);
}
inline Message rawTensor(const std::string &name, int type, const std::vector<int64_t> &dims, const std::string &raw) {
  return tensorHead(name, type, dims).text(9, raw);
}
template <typename T>
std::string rawBytes(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}
inline Message floats(const std::string &name, const std::vector<int64_t> &dims, const std::vector<float> &values) {
  return tensorHead(name, kFloat, dims).packedFloats(4, values);
}
inline Message ints(const std::string &name, const std::vector<int64_t> &values) {
  return rawTensor(name, kInt64, {int64_t(values.size())}, rawBytes(values));
}

inline Message attribute(const std::string &name, int64_t value) { return Message().text(1, name).integer(3, value).integer(20, 2); }
inline Message attributeNumber(const std::string &name, float value) { return Message().text(1, name).number(2, value).integer(20, 1); }
inline Message attributeText(const std::string &name, const std::string &value) { return Message().text(1, name).text(4, value).integer(20, 3); }
inline Message attributeInts(const std::string &name, const std::vector<int64_t> &values) {
  return Message().text(1, name).packed(8, values).integer(20, 7);
}
inline Message attributeTensor(const std::string &name, const Message &value) { return Message().text(1, name).message(5, value).integer(20, 4); }
inline Message attributeGraph(const std::string &name, const Message &value) { return Message().text(1, name).message(6, value).integer(20, 5); }
inline Message attributeReference(const std::string &name, const std::string &of, int type) {
  return Message().text(1, name).integer(20, type).text(21, of);
}

inline Message node(const std::string &op, const std::vector<std::string> &inputs, const std::vector<std::string> &outputs,
                    const std::vector<Message> &attributes = {}, const std::string &domain = "") {
  Message result = Message().texts(1, inputs).texts(2, outputs).text(4, op).messages(5, attributes);
  return domain.empty() ? result : result.text(7, domain);
}

/// A size is a number, a name, or nothing.
inline Message value(const std::string &name, int type = kFloat, const std::vector<std::string> &dims = {}) {
  Message shape;
  for (const std::string &dim : dims) {
    bool isNumber = !dim.empty() && dim.find_first_not_of("-0123456789") == std::string::npos;
    shape.message(1, isNumber ? Message().integer(1, std::stoll(dim)) : dim.empty() ? Message() : Message().text(2, dim));
  }
  return Message().text(1, name).message(2, Message().message(1, Message().integer(1, type).message(2, shape)));
}

struct GraphParts {
  std::vector<Message> nodes, inputs, outputs, initializers;
  std::string name = "main";
};
inline Message graphOf(const GraphParts &parts) {
  return Message().messages(1, parts.nodes).text(2, parts.name).messages(5, parts.initializers).messages(11, parts.inputs).messages(12, parts.outputs);
}
inline Message opset(int64_t version, const std::string &domain = "") { return Message().text(1, domain).integer(2, version); }
inline Message model(const GraphParts &parts, int64_t version = 17, const std::vector<Message> &more = {}, const std::vector<Message> &functions = {}) {
  return Message().integer(1, 8).message(7, graphOf(parts)).message(8, opset(version)).messages(8, more).messages(25, functions);
}

/// A model imported from a file of its own.
struct Imported {
  TemporaryFolder folder;
  mlir::MLIRContext context;
  compiler::ImportedModel result;

  explicit Imported(const std::string &bytes, const compiler::ImportOptions &options = {}) {
    writeBytes(folder.path("model.onnx"), bytes);
    result = onnx::importOnnx(folder.path("model.onnx"), options, context);
  }
  mlir::func::FuncOp method() { return *result.module->getOps<mlir::func::FuncOp>().begin(); }

  std::vector<graph::TensorValue> run(llvm::ArrayRef<graph::TensorValue> inputs) {
    INFO(result.status.message());
    REQUIRE(result.status.ok());
    auto results = graph::interpret(method(), inputs);
    REQUIRE(mlir::succeeded(results));
    return {results->begin(), results->end()};
  }
};

inline graph::TensorValue tensorOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values, ElementType type = ElementType::F32) {
  return graph::TensorValue::of(type, shape, values);
}

/// Imports and runs; the first result as numbers.
inline std::vector<double> evaluate(const Message &bytes, llvm::ArrayRef<graph::TensorValue> inputs = {}, const compiler::ImportOptions &options = {}) {
  return Imported(bytes.bytes, options).run(inputs).front().reals();
}

/// Imports and expects an error whose message holds `part`.
inline void refuses(const Message &bytes, StatusCode code, const std::string &part, const compiler::ImportOptions &options = {}) {
  Imported imported(bytes.bytes, options);
  INFO("wanted: " << part << "\ngot: " << imported.result.status.message());
  CHECK(imported.result.status.code() == code);
  CHECK(imported.result.status.message().find(part) != std::string::npos);
}

using Numbers = std::vector<double>;

} // namespace stator::test

#endif // STATOR_TEST_UNIT_COMPILER_IMPORT_ONNX_ONNXCASE_H
