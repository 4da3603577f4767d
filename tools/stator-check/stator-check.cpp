//===- stator-check.cpp - whether a model can be compiled ------------------===//
//
// Prints the whole report at once: every operator of the model, and every part
// that is not supported with its place and reason.
//
//===----------------------------------------------------------------------===//

#include "compiler/Options.h"
#include "compiler/SupportedOperators.h"
#include "serialization/Base/JsonWriter.h"
#include "tools/support/CommandLine.h"
#include "tools/support/CompilerMessages.h"
#include "tools/support/ModelOptions.h"
#include "tools/support/StandardInput.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

namespace {

void printText(const std::string &model, const compiler::SupportReport &report) {
  std::printf("%s: %s\n", model.c_str(), report.isSupported() ? "supported" : "not supported");
  if (!report.operators.empty()) {
    std::printf("\noperators:\n");
    for (const auto &[name, count] : report.operators)
      std::printf("  %6u  %s\n", count, name.c_str());
  }
  if (report.isSupported()) {
    std::printf("\n%u calls of own kernels, %u calls of a library:\n", report.ownKernels, report.libraryCalls);
    for (const auto &[kind, count] : report.kernelKinds)
      std::printf("  %6u  %s\n", count, kind.c_str());
    return;
  }
  std::printf("\nnot supported (%zu):\n", report.unsupported.size());
  for (const compiler::UnsupportedPart &part : report.unsupported)
    std::printf("  %s%s%s\n", part.place.c_str(), part.place.empty() ? "" : ": ", part.reason.c_str());
}

void printJson(const std::string &model, const compiler::SupportReport &report) {
  JsonWriter json;
  json.beginObject();
  json.field("model", model);
  json.field("supported", report.isSupported());
  json.key("operators");
  json.beginObject();
  for (const auto &[name, count] : report.operators)
    json.field(name, count);
  json.endObject();
  json.key("unsupported");
  json.beginArray();
  for (const compiler::UnsupportedPart &part : report.unsupported) {
    json.beginObject();
    json.field("place", part.place);
    json.field("reason", part.reason);
    json.endObject();
  }
  json.endArray();
  json.field("own_kernel_calls", report.ownKernels);
  json.field("library_calls", report.libraryCalls);
  json.key("kernel_kinds");
  json.beginObject();
  for (const auto &[kind, count] : report.kernelKinds)
    json.field(kind, count);
  json.endObject();
  json.endObject();
  std::printf("%s\n", json.text().c_str());
}

} // namespace

int main(int argc, char **argv) {
  std::string model, frontEnd;
  bool asJson = false;
  compiler::CompileOptions options;
  CommandLine line("stator-check", "MODEL [options]", "Says whether a model can be compiled, and everything that stands in the way.");
  line.positional("MODEL", &model,
                  "model.onnx, model.pt (TorchScript), model.pt2 (torch.export), or model.mlir in the graph dialect; - for standard input",
                  /*required=*/false);
  line.group("Options");
  declareModelOptions(line, options);
  line.choice("library", {"auto", "none", "onednn"}, &options.library, "library for contractions (default auto: by cost)");
  line.flag("json", &asJson, "print JSON");
  line.choice("list-operators", {"onnx", "torch"}, &frontEnd, "print the operators that can be imported, and end");
  line.epilogue("Exit code 1 means that the model cannot be compiled; the report says why.\n" + exitCodeHelp());
  if (std::optional<int> code = line.parse(argc, argv))
    return *code;
  if (!frontEnd.empty()) {
    for (const std::string &op : compiler::supportedOperators(frontEnd))
      std::printf("%s\n", op.c_str());
    return finishOutput("stator-check", ExitOk);
  }
  if (model.empty()) {
    std::fprintf(stderr, "stator-check: error: no MODEL is given\nSee `stator-check --help`.\n");
    return ExitUsage;
  }
  options.stopAfter = "plan";
  if (Status status = compiler::validate(options); !status.ok()) {
    reportError("stator-check", status);
    return exitCodeForOptions(status);
  }
  StandardInput standardInput;
  if (Status status = standardInput.resolve(&model); !status.ok())
    return reportError("stator-check", status);
  // Errors are in the report.
  CompilerMessages messages("stator-check", /*showProgress=*/false);
  options.onDiagnostic = [&](const compiler::Diagnostic &diagnostic) {
    if (diagnostic.severity == compiler::Diagnostic::Severity::Warning)
      messages.print(diagnostic);
  };
  Result<compiler::SupportReport> report = compiler::check(model, options);
  if (!report.ok())
    return reportError("stator-check", report.status());
  if (asJson)
    printJson(model, *report);
  else
    printText(model, *report);
  return finishOutput("stator-check", report->isSupported() ? ExitOk : ExitMismatch);
}
