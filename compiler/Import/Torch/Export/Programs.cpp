//===- Programs.cpp - the programs of an archive ---------------------------===//
//
// torch.export.save writes one program called `model`; package_pt2 writes any
// number under names of their own, which become the names of the methods.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Export/Programs.h"
#include "compiler/Import/InputSpecs.h"

#include <algorithm>

namespace stator::torch::exported {

static constexpr std::string_view legacyRecord = "serialized_exported_program.json";

static Status readProgram(const Archive &archive, const Record &record, ExportedMethod &method) {
  STATOR_TRY(text, archive.text(record));
  STATOR_TRY(document, JsonDocument::parse(text));
  method.document = std::make_unique<JsonDocument>(std::move(document));
  STATOR_TRY(program, parseProgram(*method.document));
  method.program = std::move(program);
  return okStatus();
}

Result<std::vector<ExportedMethod>> readPrograms(const Archive &archive, const std::vector<std::string> &wanted) {
  std::vector<std::string> names = archive.programs();
  bool isLegacy = archive.find(legacyRecord) != nullptr;
  if (isLegacy)
    names = {"model"};
  if (names.empty())
    return invalidFile("the archive has no program (no models/NAME.json)");
  auto methodOf = [](const std::string &program) { return program == "model" ? std::string("forward") : program; };
  std::vector<std::string> methods;
  for (const std::string &name : names)
    methods.push_back(methodOf(name));
  for (const std::string &name : wanted)
    if (std::find(methods.begin(), methods.end(), name) == methods.end() && std::find(names.begin(), names.end(), name) == names.end())
      return notFound("there is no method `" + name + "`; the archive has " + compiler::quotedList(methods));

  std::vector<ExportedMethod> result;
  for (size_t i = 0; i < names.size(); ++i) {
    auto isWanted = [&](const std::string &name) { return name == names[i] || name == methods[i]; };
    if (!wanted.empty() && std::none_of(wanted.begin(), wanted.end(), isWanted))
      continue;
    ExportedMethod method;
    method.programName = names[i];
    method.name = methods[i];
    std::string recordName = isLegacy ? std::string(legacyRecord) : "models/" + names[i] + ".json";
    const Record *record = archive.find(recordName);
    if (!record)
      return invalidFile("the archive has no record `" + recordName + "`");
    STATOR_RETURN_IF_ERROR(readProgram(archive, *record, method).withContext(recordName));
    STATOR_TRY(inputs, userInputsOf(method.program));
    method.inputs = std::move(inputs);
    STATOR_TRY(outputs, userOutputNamesOf(method.program));
    method.outputNames = std::move(outputs);
    STATOR_TRY(weights, Weights::open(archive, names[i]));
    method.weights = std::move(weights);
    result.push_back(std::move(method));
  }
  return result;
}

std::string_view operatorName(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

void countOperators(const Graph &graph, std::map<std::string, unsigned> &counts) {
  for (const Node &node : graph.nodes) {
    ++counts[std::string(operatorName(node.target))];
    for (const NamedArgument &input : node.inputs)
      if (input.value.graph)
        countOperators(*input.value.graph, counts);
  }
}

} // namespace stator::torch::exported
