// TorchScript archives from source text and a few attributes, and what the importer makes of them: run by the reference interpreter, or
// refused.
#ifndef STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTCASE_H
#define STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTCASE_H

#include "test/unit/compiler/Import/Torch/Archive/ArchiveSample.h"

#include "compiler/Import/Torch/Script/ScriptImport.h"
#include "compiler/Options.h"
#include "dialects/Graph/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstring>

namespace stator::test::script {

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

/// An attribute: its name and the pickle of its value.
using Attributes = std::vector<std::pair<std::string, std::string>>;

namespace pickled {
using namespace test::pickle;
inline std::string real(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, 8);
  std::string bytes = "G";
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes += static_cast<char>(bits >> shift);
  return bytes;
}
inline std::string boolean(bool value) { return value ? "\x88" : "\x89"; }
inline std::string none() { return "N"; }
inline std::string list(const Texts &items) {
  std::string bytes = "](";
  for (const std::string &item : items)
    bytes += item;
  return bytes + "e";
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>> &items) {
  std::string bytes = "}(";
  for (const auto &[key, item] : items)
    bytes += key + item;
  return bytes + "u";
}
/// A row-major f32 tensor over record `data/<key>`.
inline std::string floats(const std::string &key, const std::vector<int32_t> &sizes) {
  std::vector<int32_t> strides(sizes.size(), 1);
  int32_t count = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = count;
    count *= sizes[axis];
  }
  return tensor(storage("FloatStorage", key, count), 0, sizes, strides);
}
/// An object of a class of the code.
inline std::string object(const std::string &module, const std::string &name, const Attributes &attributes) {
  std::string bytes = global(module, name) + ")\x81}(";
  for (const auto &[key, value] : attributes)
    bytes += text(key) + value;
  return bytes + "ub";
}
} // namespace pickled

inline std::string floatBytes(const std::vector<float> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
}

/// A file whose code/__torch__.py is `code` and whose module is an object of class M in it.
struct ScriptParts {
  std::string code;
  Attributes attributes = {};
  /// More records, such as data/0 or code/__torch__/other.py.
  std::vector<SampleRecord> records = {};
  std::string version = "3";
  /// A pickle; empty: no constants.
  std::string constants = {};
};

inline std::string scriptFile(const ScriptParts &parts) {
  std::vector<SampleRecord> records = {{"m/data.pkl", pickled::whole(pickled::object("__torch__", "M", parts.attributes))},
                                       {"m/constants.pkl", pickled::whole(parts.constants.empty() ? ")" : parts.constants)},
                                       {"m/version", parts.version + "\n"},
                                       {"m/code/__torch__.py", parts.code, true}};
  for (SampleRecord record : parts.records) {
    record.name = "m/" + record.name;
    records.push_back(std::move(record));
  }
  return archiveFile(records);
}

/// A module with one method: its parameters behind `self`, its body with a line each, what it returns.
inline std::string method(const std::string &parameters, const Texts &body, const std::string &head = "",
                          const std::string &returns = "Tensor") {
  std::string code = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n" + head + "  def forward(self: __torch__.M" +
                     (parameters.empty() ? "" : ",\n    " + parameters) + ") -> " + returns + ":\n";
  for (const std::string &line : body)
    code += "    " + line + "\n";
  return code;
}

struct Given {
  Texts inputs = {}, constants = {}, methods = {};
};

inline compiler::ImportOptions optionsOf(const Given &given) {
  compiler::CompileOptions options;
  options.inputs = given.inputs;
  options.constants = given.constants;
  auto parsed = compiler::importOptionsOf(options);
  INFO((parsed.ok() ? std::string() : parsed.status().message()));
  REQUIRE(parsed.ok());
  compiler::ImportOptions result = *parsed;
  result.methods = given.methods;
  return result;
}

struct Imported {
  TemporaryFolder folder;
  mlir::MLIRContext context;
  compiler::ImportedModel model;

  explicit Imported(const ScriptParts &parts, const Given &given = {}) {
    writeBytes(folder.path("model.pt"), scriptFile(parts));
    model = torch::importScript(folder.path("model.pt"), optionsOf(given), context);
  }
  mlir::func::FuncOp method(const std::string &name = "forward") { return model.module->lookupSymbol<mlir::func::FuncOp>(name); }
  Texts names(bool ofResults, const std::string &methodName = "forward") {
    INFO(model.status.message());
    REQUIRE(model.status.ok());
    Texts result;
    mlir::func::FuncOp function = method(methodName);
    for (unsigned i = 0; i < (ofResults ? function.getNumResults() : function.getNumArguments()); ++i)
      result.push_back((ofResults ? function.getResultAttrOfType<mlir::StringAttr>(i, "graph.name")
                                  : function.getArgAttrOfType<mlir::StringAttr>(i, "graph.name"))
                           .str());
    return result;
  }
  std::vector<graph::TensorValue> run(llvm::ArrayRef<graph::TensorValue> inputs, std::map<std::string, graph::TensorValue> *state = nullptr,
                                      const std::string &methodName = "forward") {
    INFO(model.status.message());
    REQUIRE(model.status.ok());
    graph::InterpretOptions options;
    options.state = state;
    auto results = graph::interpret(method(methodName), inputs, options);
    REQUIRE(mlir::succeeded(results));
    return {results->begin(), results->end()};
  }
  unsigned count(const std::string &op) {
    unsigned found = 0;
    model.module->walk([&](mlir::Operation *operation) { found += operation->getName().getStringRef() == op; });
    return found;
  }
};

inline graph::TensorValue floats(llvm::ArrayRef<double> values) {
  return graph::TensorValue::of(ElementType::F32, {static_cast<int64_t>(values.size())}, values);
}

/// All results of a module on one f32 vector `x`, one after the other.
inline Numbers evaluate(const ScriptParts &parts, llvm::ArrayRef<double> x, const Given &given = {}) {
  Given all = given;
  all.inputs.push_back("x=" + std::to_string(x.size()) + "xf32");
  Numbers numbers;
  for (const graph::TensorValue &result : Imported(parts, all).run({floats(x)}))
    for (double number : result.reals())
      numbers.push_back(number);
  return numbers;
}

/// Imports and expects an error whose message holds `part`.
inline void refuses(const ScriptParts &parts, StatusCode code, const std::string &part, const Given &given = {{"x=2xf32"}}) {
  Imported imported(parts, given);
  INFO("wanted: " << part << "\ngot: " << imported.model.status.message());
  CHECK(imported.model.status.code() == code);
  CHECK(imported.model.status.message().find(part) != std::string::npos);
  CHECK(!imported.model.module);
}

} // namespace stator::test::script

#endif // STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTCASE_H
