// stator-compare: compares the outputs of two artifacts on the same inputs, of an artifact with stored references, or two files of
// tensors.
#include "serialization/Base/JsonWriter.h"
#include "tools/support/Comparison.h"
#include "tools/support/ModelRunner.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

namespace {
struct CompareOptions {
  std::string first, second;
  ModelOptions model;
  Tolerance tolerance;
  bool json = false;
};

/// One side: named tensors, from a file or from a run.
struct Side {
  std::vector<NamedTensor> tensors;
};
} // namespace

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
static bool isTensorFile(const std::string &path) { return endsWith(path, ".npy") || endsWith(path, ".npz"); }

// `inputs` holds those of the first artifact, so that made-up ones are the same for both.
static Result<Side> runSide(const std::string &path, const CompareOptions &options, std::vector<NamedTensor> &inputs) {
  STATOR_TRY(module, Module::load(path, LoadOptions().cpuLevel(options.model.cpuLevel)));
  STATOR_TRY(method, findMethod(module, options.model.method));
  Result<std::vector<NpyArray>> arranged = arrangeInputs(method, inputs, options.model, /*mayMakeUp=*/true);
  if (!arranged.ok())
    return arranged.status().withContext("`" + path + "`");
  inputs.clear();
  for (const NpyArray &array : *arranged)
    inputs.push_back({"", array});
  STATOR_TRY(session, module.session(sessionOptions(options.model)));
  Result<std::vector<NpyArray>> outputs = runIntoArrays(session, method.name, *arranged);
  if (!outputs.ok())
    return outputs.status().withContext("`" + path + "`");
  Side side;
  for (size_t i = 0; i < outputs->size(); ++i)
    side.tensors.push_back({method.outputs[i].name, std::move(outputs.value()[i])});
  return side;
}

static Result<Side> readSide(const std::string &path, const CompareOptions &options, std::vector<NamedTensor> &inputs) {
  if (!isTensorFile(path))
    return runSide(path, options, inputs);
  Side side;
  STATOR_TRY(tensors, parseTensorArgument("@" + path));
  side.tensors = std::move(tensors);
  return side;
}

// By name where the second side has names, else by position.
static const NamedTensor *findReference(const Side &side, const std::string &name, size_t index) {
  for (const NamedTensor &tensor : side.tensors)
    if (!name.empty() && tensor.name == name)
      return &tensor;
  bool byPosition = index < side.tensors.size() && (name.empty() || side.tensors[index].name.empty() || !side.tensors[index].fromArchive);
  return byPosition ? &side.tensors[index] : nullptr;
}

static void writeJson(JsonWriter &json, const std::string &name, const NpyArray &value, const Comparison &comparison) {
  json.beginObject();
  json.field("name", name);
  json.field("type", typeText(value.type, value.shape));
  json.field("ok", comparison.ok());
  if (!comparison.problem.empty()) {
    json.field("problem", comparison.problem);
  } else {
    json.field("elements", comparison.count);
    json.field("mismatches", comparison.mismatches);
    json.field("allowed", comparison.limit);
    json.field("max_difference", comparison.maxDifference);
    json.field("mean_difference", comparison.meanDifference);
    json.field("max_reference", comparison.maxReference);
    json.field("cosine", comparison.cosine);
    json.field("worst_index", comparison.worst);
  }
  json.endObject();
}

static Result<int> compare(const CompareOptions &options) {
  Result<std::vector<NamedTensor>> given = readInputs(options.model.inputs);
  if (!given.ok())
    return reportInputError("stator-compare", given.status());
  std::vector<NamedTensor> inputs = std::move(given).value();
  STATOR_TRY(first, readSide(options.first, options, inputs));
  STATOR_TRY(second, readSide(options.second, options, inputs));
  bool good = true;
  size_t compared = 0;
  JsonWriter json;
  json.beginObject();
  json.key("tensors");
  json.beginArray();
  for (size_t i = 0; i < first.tensors.size(); ++i) {
    const NamedTensor &value = first.tensors[i];
    const NamedTensor *reference = findReference(second, value.name, i);
    std::string shown = value.name.empty() ? "number " + std::to_string(i) : value.name;
    Comparison comparison;
    if (reference)
      comparison = compareTensors(value.array, reference->array, options.tolerance);
    else
      comparison.problem = "is missing in `" + options.second + "`";
    good &= comparison.ok();
    compared += reference != nullptr;
    if (options.json) {
      writeJson(json, shown, value.array, comparison);
      continue;
    }
    std::printf("%s %s: %s", shown.c_str(), typeText(value.array.type, value.array.shape).c_str(),
                describeComparison(comparison, value.array.shape).c_str());
    if (comparison.problem.empty())
      std::printf(", mean %.3g, cosine %.9f", comparison.meanDifference, comparison.cosine);
    std::printf("\n");
  }
  json.endArray();
  json.field("ok", good && compared > 0);
  json.endObject();
  if (options.json)
    std::fputs(json.text().c_str(), stdout);
  return good && compared > 0 ? ExitOk : ExitMismatch;
}

int main(int argc, char **argv) {
  CompareOptions options;
  CommandLine commandLine("stator-compare", "MODEL.stator|FILE.npy|FILE.npz REFERENCE [options]",
                          "Compares the outputs of two models, or of a model with stored references.");
  commandLine.positional("FIRST", &options.first, "an artifact, which is run, or a file of tensors");
  commandLine.positional("REFERENCE", &options.second, "what is right: likewise");
  commandLine.group("Inputs");
  declareInputOptions(commandLine, options.model, /*mayMakeUp=*/true);
  commandLine.group("Comparison");
  commandLine.real("atol", "X", &options.tolerance.absolute, 0, "close is |difference| <= atol + rtol * max|reference| (default 1e-5)");
  commandLine.real("rtol", "X", &options.tolerance.relative, 0, "(default 1e-4)");
  commandLine.flag("json", &options.json, "print JSON instead of text");
  commandLine.group("Execution");
  declareSessionOptions(commandLine, options.model);
  commandLine.epilogue(exitCodeHelp());
  if (std::optional<int> code = commandLine.parse(argc, argv))
    return *code;
  Result<int> result = compare(options);
  return result.ok() ? finishOutput("stator-compare", *result) : reportError("stator-compare", result.status());
}
