//===- stator-inspect-model.cpp - what is in a model before it is compiled -===//
//
// The half of `stator inspect` that needs the importers. Users call
// stator-inspect, which also reads artifacts and runs without a compiler; its
// name is therefore the one in messages.
//
//===----------------------------------------------------------------------===//

#include "compiler/ModelFile.h"
#include "tools/stator-inspect-model/SummaryPrinter.h"
#include "tools/support/ModelOptions.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

static constexpr char kTool[] = "stator-inspect";

int main(int argc, char **argv) {
  std::string path, inputType;
  bool asJson = false;
  CommandLine line("stator-inspect-model", "MODEL [options]",
                   "Prints methods, parameters and operators of a model; `stator inspect` runs it.");
  line.positional("MODEL", &path, "model.onnx, model.pt (TorchScript) or model.pt2 (torch.export)");
  line.group("Options");
  line.flag("json", &asJson, "print JSON");
  declareInputType(line, &inputType);
  line.epilogue(exitCodeHelp());
  if (std::optional<int> code = line.parse(argc, argv))
    return *code;
  Result<compiler::ModelKind> kind = compiler::modelKindOf(path, inputType);
  if (!kind.ok())
    return reportError(kTool, kind.status());
  Result<compiler::ModelSummary> summary = compiler::summarise(path, *kind);
  if (!summary.ok())
    return reportError(kTool, summary.status());
  std::string text = asJson ? summaryJson(path, *summary) : summaryText(path, *summary);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return finishOutput(kTool, ExitOk);
}
