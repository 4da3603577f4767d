// Names and texts that both kinds of dump share; see the header.
#include "serialization/Artifact/DumpNames.h"

#include "serialization/Base/CpuFeatures.h"

#include <map>

using namespace stator;
using namespace stator::serialization;

const char *stator::serialization::nameOf(BufferKind kind) {
  switch (kind) {
  case BufferKind::Arena:
    return "arena";
  case BufferKind::Input:
    return "input";
  case BufferKind::Output:
    return "output";
  case BufferKind::Parameter:
    return "parameter";
  case BufferKind::State:
    return "state";
  }
  return "unknown";
}

const char *stator::serialization::nameOf(InstructionKind kind) {
  switch (kind) {
  case InstructionKind::Kernel:
    return "kernel";
  case InstructionKind::Library:
    return "library";
  case InstructionKind::Copy:
    return "copy";
  case InstructionKind::Shape:
    return "shape";
  case InstructionKind::If:
    return "if";
  case InstructionKind::Loop:
    return "loop";
  }
  return "unknown";
}

MethodNames::MethodNames(const Manifest &manifest, const Method &method) : manifest(manifest), method(method) {
  std::vector<std::string> symbols;
  std::map<std::string, DimInterval> ranges;
  for (const Symbol &symbol : method.symbols) {
    symbols.push_back(symbol.name);
    ranges[symbol.name] = {symbol.min, symbol.max};
  }
  for (const Expression &expression : method.expressions) {
    DimExpr decompiled = decompile(expression.code, symbols);
    // Code beyond the budget of symbolic sizes still runs; then its own text must do.
    texts.push_back(decompiled.isValid() ? decompiled.str() : expression.text);
    intervals.push_back(decompiled.bounds(ranges));
  }
}

std::string MethodNames::type(ElementType elementType, const std::vector<uint32_t> &dims) const {
  std::string text = std::string(name(elementType)) + "[";
  for (size_t i = 0; i != dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + expression(dims[i]);
  return text + "]";
}

std::string MethodNames::buffer(uint32_t index) const {
  const Buffer &buffer = plan().buffers[index];
  const std::string &offset = expression(buffer.offset);
  std::string base;
  switch (buffer.kind) {
  case BufferKind::Arena:
    // By number: offsets of dynamic plans are long formulas, which the table of buffers shows.
    return "%" + std::to_string(index);
  case BufferKind::Input:
    base = method.inputs[buffer.index].name;
    break;
  case BufferKind::Output:
    base = method.outputs[buffer.index].name;
    break;
  case BufferKind::Parameter:
  case BufferKind::State:
    base = manifest.parameters[buffer.index].name;
    break;
  }
  return offset == "0" ? base : base + "[" + offset + "]";
}

std::string MethodNames::size(uint32_t index) const {
  DimInterval interval = intervals[index];
  if (!interval.lo || !interval.hi || *interval.lo == *interval.hi)
    return texts[index];
  return texts[index] + " (" + std::to_string(*interval.lo) + " to " + std::to_string(*interval.hi) + ")";
}

namespace {
class StateUses {
public:
  explicit StateUses(const Plan &plan) : plan(plan) {}

  void visit(const std::vector<Instruction> &instructions) {
    for (const Instruction &instruction : instructions) {
      size_t step = next++;
      switch (instruction.kind) {
      case InstructionKind::Kernel:
      case InstructionKind::Library:
        for (size_t i = 0; i != instruction.buffers.size(); ++i)
          i < instruction.numInputs ? read(instruction.buffers[i]) : write(instruction.buffers[i], step);
        break;
      case InstructionKind::Copy:
        read(instruction.source);
        write(instruction.destination, step);
        break;
      case InstructionKind::Shape:
        write(instruction.destination, step);
        break;
      case InstructionKind::If:
      case InstructionKind::Loop:
        read(instruction.condition);
        break;
      }
      visit(instruction.first);
      visit(instruction.second);
    }
  }

  std::map<uint32_t, StateUse> uses;

private:
  StateUse *useOf(uint32_t buffer) {
    if (plan.buffers[buffer].kind != BufferKind::State)
      return nullptr;
    StateUse &use = uses[plan.buffers[buffer].index];
    use.parameter = plan.buffers[buffer].index;
    return &use;
  }
  void read(uint32_t buffer) {
    if (StateUse *use = useOf(buffer))
      use->isRead = true;
  }
  void write(uint32_t buffer, size_t step) {
    if (StateUse *use = useOf(buffer); use && (use->writers.empty() || use->writers.back() != step))
      use->writers.push_back(step);
  }

  const Plan &plan;
  size_t next = 0;
};
} // namespace

std::vector<StateUse> stator::serialization::stateUsesOf(const Plan &plan) {
  StateUses all(plan);
  all.visit(plan.instructions);
  std::vector<StateUse> uses;
  for (auto &entry : all.uses)
    uses.push_back(std::move(entry.second));
  return uses;
}

std::string stator::serialization::typeOf(const Parameter &parameter) {
  std::string text = std::string(name(parameter.elementType)) + "[";
  for (size_t i = 0; i != parameter.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(parameter.dims[i]);
  return text + "]";
}

std::string stator::serialization::featuresOf(uint64_t bits) {
  std::string text;
  for (const CpuFeatureName &feature : cpuFeatureNames) {
    if (!(bits & feature.bit))
      continue;
    text += (text.empty() ? "" : ", ") + std::string(feature.name);
    bits &= ~static_cast<uint64_t>(feature.bit);
  }
  for (unsigned bit = 0; bit != 64; ++bit)
    if (bits >> bit & 1)
      text += (text.empty() ? "" : ", ") + ("unknown feature " + std::to_string(bit));
  return text;
}
