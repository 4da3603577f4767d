// DEPS: stator::compiler stator::serialization::Artifact
// The compiler as a library: traced models, diagnostics, progress, several compilations at once.
#include "unit/Catch.h"

#include "serialization/Artifact/ArtifactReader.h"
#include "stator/Compiler.h"
#include "stator/Trace.h"
#include "stator/TraceFunctions.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace stator;
namespace fn = stator::trace::fn;

namespace {

std::string temporary(const std::string &name) {
  auto folder = std::filesystem::temp_directory_path() / "stator-compile-test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// relu(x @ w^T + b), then a softmax.
void traceModel(trace::Builder &builder) {
  std::vector<float> weight(10 * 32, 0.5f), bias(10, 0.25f);
  trace::Dim n = builder.symbol("N", 1, 64);
  trace::Tensor x = builder.input("x", ElementType::F32, {n, 32});
  trace::Tensor w = builder.parameter("w", ElementType::F32, {10, 32}, weight.data(), weight.size() * sizeof(float));
  trace::Tensor b = builder.parameter("b", ElementType::F32, {10}, bias.data(), bias.size() * sizeof(float));
  builder.output("y", fn::softmax(fn::relu(fn::linear(x, w, b)), -1));
}

} // namespace

TEST_CASE("a traced model compiles to an artifact") {
  trace::Builder builder;
  traceModel(builder);
  compiler::CompileOptions options;
  options.output = temporary("traced.stator");
  options.library = "none";
  std::vector<std::string> stages;
  options.onProgress = [&](const compiler::Progress &progress) {
    CHECK(progress.total == 7);
    if (stages.empty() || stages.back() != progress.stage)
      stages.push_back(progress.stage);
  };
  Result<compiler::CompileSummary> summary = compiler::compile(builder, options);
  INFO(summary.status().message());
  REQUIRE(summary.ok());
  CHECK(stages == std::vector<std::string>{"import", "graph", "differentiate", "optimise", "plan", "codegen", "artifact"});
  CHECK(summary->methods == 1);
  CHECK(summary->kernelCalls == 2);
  CHECK(summary->libraryCalls == 0);
  CHECK(summary->artifactBytes == std::filesystem::file_size(options.output));

  auto artifact = serialization::ArtifactReader::open(options.output);
  REQUIRE(artifact.ok());
  CHECK(artifact->verify().ok());
  CHECK(artifact->manifest().methods[0].inputs[0].name == "x");
  CHECK(artifact->manifest().variants.size() == 3);
  CHECK(artifact->manifest().variants[0].level == "x86-64-v4");
}

TEST_CASE("the forced library takes the contractions") {
  trace::Builder builder;
  traceModel(builder);
  compiler::CompileOptions options;
  options.output = temporary("library.stator");
  options.library = "onednn";
  Result<compiler::CompileSummary> summary = compiler::compile(builder, options);
  INFO(summary.status().message());
  REQUIRE(summary.ok());
  CHECK(summary->libraryCalls == 1);
  CHECK(serialization::ArtifactReader::open(options.output)->manifest().requirements == std::vector<std::string>{"onednn"});
}

TEST_CASE("a compile cache changes times, not results") {
  std::filesystem::remove_all(temporary("cache"));
  auto run = [](const std::string &name, const std::string &cacheDir) {
    trace::Builder builder;
    traceModel(builder);
    compiler::CompileOptions options;
    options.output = temporary(name);
    options.library = "none";
    options.cacheDir = cacheDir;
    Result<compiler::CompileSummary> summary = compiler::compile(builder, options);
    INFO(summary.status().message());
    REQUIRE(summary.ok());
    return *summary;
  };
  compiler::CompileSummary without = run("uncached.stator", "off"), first = run("first.stator", temporary("cache")),
                           second = run("second.stator", temporary("cache"));
  CHECK(!without.usesCache);
  CHECK((first.usesCache && first.cacheHits == 0 && first.cacheMisses == 6));
  CHECK((second.usesCache && second.cacheHits == 6 && second.cacheMisses == 0));
  CHECK(contentOf(temporary("first.stator")) == contentOf(temporary("uncached.stator")));
  CHECK(contentOf(temporary("second.stator")) == contentOf(temporary("uncached.stator")));
  auto count = [](const compiler::CompileSummary &summary, const std::string &group) {
    return std::count_if(summary.times.begin(), summary.times.end(), [&](const auto &entry) { return entry.group == group; });
  };
  CHECK(count(first, "stage") == 6);
  CHECK(count(first, "kernel") == 6);
  CHECK(count(first, "kernel family") == 4);
  CHECK(count(second, "kernel") == 0);
  CHECK(count(second, "pass") > 10);
}

TEST_CASE("compilations at the same time give the same bytes") {
  std::vector<std::string> outputs(3);
  std::vector<Status> results(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < outputs.size(); ++i)
    threads.emplace_back([&, i] {
      trace::Builder builder;
      traceModel(builder);
      compiler::CompileOptions options;
      options.output = outputs[i] = temporary("concurrent" + std::to_string(i) + ".stator");
      results[i] = compiler::compile(builder, options).status();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < outputs.size(); ++i) {
    INFO(results[i].message());
    CHECK(results[i].ok());
    CHECK(contentOf(outputs[i]) == contentOf(outputs[0]));
  }
}

TEST_CASE("an error in the model is a status and a diagnostic with its place") {
  std::string path = temporary("broken.mlir");
  std::ofstream(path) << "func.func @f() {\n  return\n}}\n";
  compiler::CompileOptions options;
  options.output = temporary("broken.stator");
  std::vector<compiler::Diagnostic> diagnostics;
  options.onDiagnostic = [&](const compiler::Diagnostic &diagnostic) { diagnostics.push_back(diagnostic); };
  Result<compiler::CompileSummary> summary = compiler::compile(path, options);
  REQUIRE(!summary.ok());
  CHECK(summary.status().code() == StatusCode::InvalidFile);
  CHECK(summary.status().message().find("broken.mlir:3:2: ") != std::string::npos);
  REQUIRE(!diagnostics.empty());
  CHECK(diagnostics[0].place == path + ":3:2");
  CHECK(!std::filesystem::exists(options.output));
}

TEST_CASE("an error of a traced model stops its compilation") {
  trace::Builder builder;
  trace::Tensor x = builder.input("x", ElementType::F32, {2, 3});
  trace::Tensor y = builder.input("y", ElementType::F32, {4, 5});
  builder.output("z", fn::matmul(x, y));
  compiler::CompileOptions options;
  options.output = temporary("mismatch.stator");
  CHECK(!compiler::compile(builder, options).ok());
}

TEST_CASE("a TorchScript file compiles with the options that it needs, and warns once") {
  compiler::CompileOptions options;
  options.output = temporary("kinds.stator");
  options.library = "none";
  options.cpuLevels = {"v2"};
  options.inputs = {"x=?n[2..8]x3xf32", "opts.bias=2xf32", "pair.0=3xf32"};
  options.constants = {"n=2", "axes=[1]", "pair.1=None"};
  options.methods = {"forward", "step"};
  std::vector<std::string> warnings;
  options.onDiagnostic = [&](const compiler::Diagnostic &diagnostic) {
    CHECK(diagnostic.severity == compiler::Diagnostic::Severity::Warning);
    warnings.push_back(diagnostic.place + ": " + diagnostic.message);
  };
  std::string model = STATOR_SOURCE_DIR "/test/tools/Inputs/kinds.pt";
  Result<compiler::CompileSummary> summary = compiler::compile(model, options);
  INFO(summary.status().message());
  REQUIRE(summary.ok());
  CHECK(summary->methods == 2);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("the model warns: axes are not checked") != std::string::npos);

  auto artifact = serialization::ArtifactReader::open(options.output).value();
  REQUIRE(artifact.manifest().methods.size() == 2);
  const serialization::Method &forward = artifact.manifest().methods[0];
  CHECK((forward.name == "forward" && forward.inputs[1].name == "opts.bias" && forward.outputs[0].name == "output.0.out"));
  CHECK(forward.symbols[0].max == 8);

  // What is missing is an error of the options; a method that is not there too.
  warnings.clear();
  options.constants.pop_back();
  CHECK(compiler::compile(model, options).status().message().find("--const pair.1=None") != std::string::npos);
  options.methods = {"train"};
  CHECK(compiler::compile(model, options).status().message().find("`forward`, `step`") != std::string::npos);
  CHECK(!compiler::check(model, options).ok());
}
