// Evaluates the dims of each instruction's buffers.
#include "tools/stator-bench/StepShapes.h"

#include "serialization/Artifact/ArtifactReader.h"
#include "serialization/Base/DimExpr.h"

#include <algorithm>

namespace stator::tools {

using namespace serialization;

namespace {
class ShapeLister {
public:
  ShapeLister(const Plan &plan, std::vector<int64_t> values) : plan(plan), values(std::move(values)) {}

  void list(const std::vector<Instruction> &instructions) {
    for (const Instruction &instruction : instructions) {
      texts.push_back(textOf(instruction));
      list(instruction.first);
      list(instruction.second);
    }
  }

  std::vector<std::string> texts;

private:
  std::string shapeOf(uint32_t buffer) const {
    std::string text;
    for (uint32_t dim : plan.buffers[buffer].dims)
      text += (text.empty() ? "" : "x") + std::to_string(values[dim]);
    return text.empty() ? "scalar" : text;
  }

  std::string textOf(const Instruction &instruction) const {
    switch (instruction.kind) {
    case InstructionKind::Kernel:
    case InstructionKind::Library: {
      std::string text;
      for (size_t i = 0; i < instruction.buffers.size(); ++i) {
        if (i == instruction.numInputs)
          text += i == 0 ? "-> " : " -> ";
        else if (i != 0)
          text += ", ";
        text += shapeOf(instruction.buffers[i]);
      }
      return text;
    }
    case InstructionKind::Copy:
      return shapeOf(instruction.source) + " -> " + shapeOf(instruction.destination);
    case InstructionKind::Shape:
      return "-> " + shapeOf(instruction.destination);
    case InstructionKind::If:
    case InstructionKind::Loop:
      break;
    }
    return "";
  }

  const Plan &plan;
  std::vector<int64_t> values;
};
} // namespace

Result<std::vector<std::string>> stepShapes(const std::string &artifact, const std::string &name, const std::vector<NpyArray> &inputs) {
  STATOR_TRY(reader, ArtifactReader::open(artifact));
  const Manifest &manifest = reader.manifest();
  auto method = std::find_if(manifest.methods.begin(), manifest.methods.end(), [&](const Method &each) { return each.name == name; });
  if (method == manifest.methods.end())
    return notFound("the artifact has no method `" + name + "`");
  std::vector<int64_t> symbols, values;
  for (const Symbol &symbol : method->symbols)
    symbols.push_back(inputs[symbol.input].shape[symbol.axis]);
  for (const Expression &expression : method->expressions) {
    STATOR_TRY(value, evaluatePostfix(expression.code, symbols));
    values.push_back(value);
  }
  const Plan &plan = manifest.plans[method->plan];
  ShapeLister lister(plan, std::move(values));
  lister.list(plan.instructions);
  return std::move(lister.texts);
}

} // namespace stator::tools
