// Exported programs written as JSON, archives around them, and what the importer makes of them: run by the reference interpreter, or
// refused.
#ifndef STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_EXPORT_EXPORTCASE_H
#define STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_EXPORT_EXPORTCASE_H

#include "test/unit/Catch.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include "compiler/Import/Torch/Export/ExportImport.h"
#include "dialects/Graph/Interpreter/Interpreter.h"
#include "serialization/Zip/ZipWriter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

namespace stator::test {

using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

inline std::string joined(const Texts &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ",") + part;
  return text;
}
inline std::string list(const Texts &parts) { return "[" + joined(parts) + "]"; }
inline std::string quoted(const std::string &text) { return "\"" + text + "\""; }

// Arguments.
inline std::string asTensor(const std::string &name) { return R"({"as_tensor":{"name":")" + name + R"("}})"; }
inline std::string asTensors(const Texts &names) {
  Texts items;
  for (const std::string &name : names)
    items.push_back(R"({"name":")" + name + R"("})");
  return R"({"as_tensors":)" + list(items) + "}";
}
inline std::string asInt(int64_t value) { return R"({"as_int":)" + std::to_string(value) + "}"; }
inline std::string asFloat(const std::string &value) { return R"({"as_float":)" + value + "}"; }
inline std::string asSymInt(const std::string &name) { return R"({"as_sym_int":{"as_name":")" + name + R"("}})"; }

/// A node; arguments are pairs of a name and a value.
inline std::string node(const std::string &target, const std::vector<std::pair<std::string, std::string>> &arguments, const Texts &outputs,
                        const std::string &stack = "") {
  Texts inputs;
  for (const auto &[name, value] : arguments)
    inputs.push_back(R"({"name":")" + name + R"(","arg":)" + value + R"(,"kind":1})");
  return R"({"target":")" + target + R"(","inputs":)" + list(inputs) + R"(,"outputs":)" + list(outputs) +
         R"(,"metadata":{"stack_trace":")" + stack + R"(","nn_module_stack":"a"},"is_hop_single_tensor_return":null})";
}
inline std::string aten(const std::string &op, const std::vector<std::pair<std::string, std::string>> &arguments,
                        const std::string &output) {
  return node("torch.ops.aten." + op, arguments, output.empty() ? Texts() : Texts{asTensor(output)});
}

/// A size: a number, or an expression in srepr.
inline std::string size(const std::string &text) {
  bool isNumber = text.find_first_not_of("-0123456789") == std::string::npos;
  return isNumber ? R"({"as_int":)" + text + "}" : R"({"as_expr":{"expr_str":")" + text + R"(","hint":{"as_int":3}}})";
}
inline std::string meta(int dtype, const Texts &sizes, const Texts &strides, const std::string &offset = "0") {
  Texts dims, steps;
  for (const std::string &dim : sizes)
    dims.push_back(size(dim));
  for (const std::string &step : strides)
    steps.push_back(size(step));
  return R"({"dtype":)" + std::to_string(dtype) + R"(,"sizes":)" + list(dims) +
         R"(,"requires_grad":false,"device":{"type":"cpu","index":null},"strides":)" + list(steps) + R"(,"storage_offset":)" +
         size(offset) + R"(,"layout":7})";
}
/// Of a contiguous f32 tensor whose strides do not matter.
inline std::string floats(const Texts &sizes) { return meta(7, sizes, Texts(sizes.size(), "1")); }

struct GraphParts {
  Texts inputs = {}, outputs = {}, nodes = {};
  std::vector<std::pair<std::string, std::string>> tensors = {}; // name and description
  std::string sizes = "";                                        // of sym_int_values
};
inline std::string graphOf(const GraphParts &parts) {
  Texts tensors;
  for (const auto &[name, text] : parts.tensors)
    tensors.push_back(quoted(name) + ":" + text);
  return R"({"inputs":)" + list(parts.inputs) + R"(,"outputs":)" + list(parts.outputs) + R"(,"nodes":)" + list(parts.nodes) +
         R"(,"tensor_values":{)" + joined(tensors) + R"(},"sym_int_values":{)" + parts.sizes +
         R"(},"sym_bool_values":{},"is_single_tensor_return":false})";
}
inline std::string asGraph(const std::string &name, const GraphParts &parts) {
  return R"({"as_graph":{"name":")" + name + R"(","graph":)" + graphOf(parts) + "}}";
}

// The signature.
inline std::string userInput(const std::string &name) { return R"({"user_input":{"arg":)" + asTensor(name) + "}}"; }
inline std::string parameter(const std::string &name, const std::string &target) {
  return R"({"parameter":{"arg":{"name":")" + name + R"("},"parameter_name":")" + target + R"("}})";
}
inline std::string buffer(const std::string &name, const std::string &target) {
  return R"({"buffer":{"arg":{"name":")" + name + R"("},"buffer_name":")" + target + R"(","persistent":true}})";
}
inline std::string userOutput(const std::string &argument) { return R"({"user_output":{"arg":)" + argument + "}}"; }

struct ProgramParts {
  GraphParts graph = {};
  Texts inputSpecs = {}, outputSpecs = {}; // empty: one per tensor of the graph's interface
  std::string ranges = "", version = R"({"major":8,"minor":20})", verifiers = "TRAINING", callGraph = "", tuples = "";
};
inline std::string programOf(ProgramParts parts) {
  if (parts.inputSpecs.empty())
    for (const std::string &input : parts.graph.inputs)
      parts.inputSpecs.push_back(R"({"user_input":{"arg":)" + input + "}}");
  if (parts.outputSpecs.empty())
    for (const std::string &output : parts.graph.outputs)
      parts.outputSpecs.push_back(userOutput(output));
  return R"({"graph_module":{"graph":)" + graphOf(parts.graph) + R"(,"signature":{"input_specs":)" + list(parts.inputSpecs) +
         R"(,"output_specs":)" + list(parts.outputSpecs) + R"(},"module_call_graph":[)" + parts.callGraph +
         R"(],"metadata":{},"treespec_namedtuple_fields":{)" + parts.tuples + R"(}},"opset_version":{"aten":10},"range_constraints":{)" +
         parts.ranges + R"(},"schema_version":)" + parts.version + R"(,"verifiers":[")" + parts.verifiers +
         R"("],"torch_version":"2.15.0","guards_code":[]})";
}

/// An entry of a weight directory.
inline std::string weight(const std::string &name, const std::string &path, const std::string &description, bool isPickled = false) {
  return quoted(name) + R"(:{"path_name":")" + path + R"(","is_param":true,"use_pickle":)" + (isPickled ? "true" : "false") +
         R"(,"tensor_meta":)" + description + "}";
}
template <typename T>
std::string rawBytes(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

/// Records of an archive as torch 2.9 and later write it.
struct ArchiveParts {
  std::vector<std::pair<std::string, std::string>> programs; // name and JSON
  Texts weights, constants;                                  // entries for every program
  std::vector<std::pair<std::string, std::string>> records;  // name below the root, and content
};

inline void writeArchive(const std::string &path, const ArchiveParts &parts, const std::string &byteOrder = "little") {
  auto writer = serialization::ZipWriter::create(path);
  REQUIRE(writer.ok());
  auto add = [&](const std::string &name, const std::string &content) {
    REQUIRE((*writer)->addEntry("m/" + name, bytesOf(content), 64).ok());
  };
  for (const auto &[name, content] : parts.records)
    add(name, content);
  for (const auto &[name, json] : parts.programs) {
    add("data/weights/" + name + "_weights_config.json", R"({"config":{)" + joined(parts.weights) + "}}");
    add("data/constants/" + name + "_constants_config.json", R"({"config":{)" + joined(parts.constants) + "}}");
    add("models/" + name + ".json", json);
  }
  add("archive_format", "pt2");
  add("archive_version", "0");
  add(".data/version", "6\n");
  add("byteorder", byteOrder);
  REQUIRE((*writer)->finish("").ok());
}

inline ArchiveParts archiveOf(const std::string &program) { return {{{"model", program}}, {}, {}, {}}; }
inline ArchiveParts archiveOf(const ProgramParts &parts) { return archiveOf(programOf(parts)); }

/// An archive imported from a file of its own.
struct Imported {
  TemporaryFolder folder;
  mlir::MLIRContext context;
  compiler::ImportedModel model;

  explicit Imported(const ArchiveParts &parts, const compiler::ImportOptions &options = {}, const std::string &byteOrder = "little") {
    writeArchive(folder.path("model.pt2"), parts, byteOrder);
    model = torch::importExport(folder.path("model.pt2"), options, context);
  }
  mlir::func::FuncOp method(const std::string &name = "forward") { return model.module->lookupSymbol<mlir::func::FuncOp>(name); }
  Texts names(bool ofResults, const std::string &methodName = "forward") {
    Texts result;
    mlir::func::FuncOp function = method(methodName);
    for (unsigned i = 0; i < (ofResults ? function.getNumResults() : function.getNumArguments()); ++i) {
      auto name = ofResults ? function.getResultAttrOfType<mlir::StringAttr>(i, "graph.name")
                            : function.getArgAttrOfType<mlir::StringAttr>(i, "graph.name");
      result.push_back(name ? name.str() : "?");
    }
    return result;
  }
  std::vector<graph::TensorValue> run(llvm::ArrayRef<graph::TensorValue> inputs, const std::string &methodName = "forward") {
    INFO(model.status.message());
    REQUIRE(model.status.ok());
    auto results = graph::interpret(method(methodName), inputs);
    REQUIRE(mlir::succeeded(results));
    return {results->begin(), results->end()};
  }
};

inline graph::TensorValue tensorOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values, ElementType type = ElementType::F32) {
  return graph::TensorValue::of(type, shape, values);
}

/// Imports and expects an error whose message holds `part`.
inline void refuses(const ArchiveParts &parts, StatusCode code, const std::string &part, const compiler::ImportOptions &options = {}) {
  Imported imported(parts, options);
  INFO("wanted: " << part << "\ngot: " << imported.model.status.message());
  CHECK(imported.model.status.code() == code);
  CHECK(imported.model.status.message().find(part) != std::string::npos);
  CHECK(!imported.model.module);
}

} // namespace stator::test

#endif // STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_EXPORT_EXPORTCASE_H
