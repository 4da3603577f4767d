// A traced module, compiled and run call by call at every CPU level that the machine has, beside the reference interpreter with its own
// state. What differs fails the test: outputs, and states after each call.
#ifndef STATOR_TEST_UNIT_COMPILER_RUN_COMPILEDMODEL_H
#define STATOR_TEST_UNIT_COMPILER_RUN_COMPILEDMODEL_H

#include "unit/Catch.h"

#include "compiler/Trace/BuilderImpl.h"
#include "compiler/Trace/Capture.h"
#include "dialects/Graph/Interpreter/Interpreter.h"
#include "serialization/Artifact/ArtifactReader.h"
#include "stator/Compiler.h"
#include "stator/Runtime.h"
#include "stator/Trace.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace stator::test {

using graph::TensorValue;

/// Numbers in [-1, 1) that anybody can compute again; integers in -4 .. 3.
inline TensorValue noise(ElementType type, const std::vector<int64_t> &shape, int64_t seed = 1) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    double value = static_cast<double>((i * 7919 + seed * 104729) % 1000) / 500.0 - 1.0;
    if (type == ElementType::I1)
      value = value > 0;
    else if (type == ElementType::U8)
      value = std::floor(value * 4 + 4);
    else if (!isFloat(type))
      value = std::floor(value * 4);
    values.push_back(value);
  }
  return TensorValue::of(type, shape, values);
}

inline TensorValue number(ElementType type, double value) { return TensorValue::of(type, {}, {value}); }

class CompiledModel {
public:
  /// Compiles all methods of the module of `builder`, each of which has been finished.
  explicit CompiledModel(trace::Builder &builder, double tolerance = 2e-5, const std::string &library = "none",
                         std::vector<std::string> disabled = {}, const std::string &math = "default")
      : context(builder.impl().context()), module(builder.impl().module().clone()), tolerance(tolerance) {
    static int number = 0;
    path = (std::filesystem::temp_directory_path() /
            ("stator-run-test-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".stator"))
               .string();
    compiler::CompileOptions options;
    options.output = path;
    options.library = library;
    options.disabledOptimisations = std::move(disabled);
    options.math = math;
    std::string messages;
    options.onDiagnostic = [&](const compiler::Diagnostic &diagnostic) { messages += diagnostic.message + "\n"; };
    Result<compiler::CompileSummary> result = compiler::compile(builder, options);
    INFO(result.status().message() << "\n" << messages << text());
    REQUIRE(result.ok());
    for (const char *level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
      if (Result<Module> loaded = Module::load(path, LoadOptions().cpuLevel(level)); loaded.ok()) {
        Result<Session> session = loaded->session(SessionOptions().threads(2));
        REQUIRE(session.ok());
        sessions.push_back(std::move(session).value());
      }
    if (sessions.empty() && library != "none")
      STATOR_SKIP("the library's plug-in cannot be loaded");
    REQUIRE_FALSE(sessions.empty());
  }
  ~CompiledModel() { std::filesystem::remove(path); }

  /// Runs `method` everywhere and compares; the interpreter's outputs.
  std::vector<TensorValue> run(const std::string &method, const std::vector<TensorValue> &inputs) {
    INFO("method " << method << "\n" << text());
    graph::InterpretOptions options;
    options.state = &state;
    trace::DiagnosticCapture capture(context);
    auto expected = graph::interpret(mlir::cast<mlir::func::FuncOp>(module->lookupSymbol(method)), inputs, options);
    INFO(capture.text());
    REQUIRE(mlir::succeeded(expected));
    std::vector<TensorView> views;
    for (const TensorValue &input : inputs)
      views.emplace_back(input.type, input.shape.data(), input.shape.size(), const_cast<std::byte *>(input.data.data()), input.data.size());
    for (Session &session : sessions) {
      INFO(session.module().cpuLevel());
      Result<Outputs> outputs = session.run(method.c_str(), views);
      INFO(outputs.status().message());
      REQUIRE(outputs.ok());
      REQUIRE(outputs->size() == expected->size());
      for (size_t i = 0; i < expected->size(); ++i) {
        INFO("output " << i);
        compare((*outputs)[i], (*expected)[i]);
      }
      for (auto &[name, wanted] : state) {
        INFO("state " << name);
        // One that a method sets to itself is in no plan.
        if (Result<TensorView> kept = session.state(name); kept.ok())
          compare(*kept, wanted);
      }
    }
    return {expected->begin(), expected->end()};
  }

  std::string text() {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream);
    return result;
  }

  serialization::Manifest manifest() const {
    auto reader = serialization::ArtifactReader::open(path);
    REQUIRE(reader.ok());
    return reader->manifest();
  }

  /// The largest sum of arena bytes that are alive at the same time.
  uint64_t livePeak(const std::string &method) const {
    serialization::Manifest all = manifest();
    for (const serialization::Method &candidate : all.methods)
      if (candidate.name == method)
        return all.plans[candidate.plan].livePeak;
    return 0;
  }

  /// Instructions of this kind in a method's plan, nested ones included.
  size_t count(const std::string &method, serialization::InstructionKind kind) const {
    serialization::Manifest all = manifest();
    for (const serialization::Method &candidate : all.methods)
      if (candidate.name == method)
        return countIn(all.plans[candidate.plan].instructions, kind);
    return 0;
  }

  std::vector<Session> sessions;
  std::map<std::string, TensorValue> state;

private:
  static size_t countIn(const std::vector<serialization::Instruction> &list, serialization::InstructionKind kind) {
    size_t total = 0;
    for (const serialization::Instruction &instruction : list)
      total += (instruction.kind == kind) + countIn(instruction.first, kind) + countIn(instruction.second, kind);
    return total;
  }

  void compare(const TensorView &view, const TensorValue &expected) const {
    REQUIRE(view.type() == expected.type);
    REQUIRE(view.shapeVector() == std::vector<int64_t>(expected.shape.begin(), expected.shape.end()));
    TensorValue actual(expected.type, expected.shape);
    REQUIRE(view.sizeBytes() == actual.data.size());
    if (!actual.data.empty())
      std::memcpy(actual.data.data(), view.data(), actual.data.size());
    double allowed = expected.type == ElementType::F16 ? 2e-3 : expected.type == ElementType::BF16 ? 1.6e-2 : tolerance;
    for (int64_t i = 0; i < expected.count(); ++i) {
      if (!isFloat(expected.type)) {
        INFO("element " << i << ": " << actual.integer(i) << ", expected " << expected.integer(i));
        REQUIRE(actual.integer(i) == expected.integer(i));
        continue;
      }
      double a = actual.real(i), e = expected.real(i);
      INFO("element " << i << ": " << a << ", expected " << e);
      bool isSame = std::isnan(e) ? std::isnan(a) : a == e || std::abs(a - e) <= allowed * (1 + std::abs(e));
      REQUIRE(isSame);
    }
  }

  mlir::MLIRContext *context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  double tolerance;
  std::string path;
};

} // namespace stator::test

#endif // STATOR_TEST_UNIT_COMPILER_RUN_COMPILEDMODEL_H
