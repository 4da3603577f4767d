// The text of `stator inspect`: tables with aligned columns, most important first.
#include "serialization/Artifact/Dump.h"

#include "serialization/Artifact/DumpNames.h"
#include "serialization/Artifact/Hash.h"

#include <algorithm>
#include <map>
#include <set>

using namespace stator;
using namespace stator::serialization;

namespace {
/// Rows of cells; each column is as wide as its widest cell, the last one is left as it is.
class Table {
public:
  explicit Table(std::string indent) : indent(std::move(indent)) {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  std::string text() const {
    std::vector<size_t> widths;
    for (const std::vector<std::string> &row : rows) {
      if (row.size() == 1) // A remark between rows.
        continue;
      widths.resize(std::max(widths.size(), row.size()), 0);
      for (size_t i = 0; i != row.size(); ++i)
        // One very long cell must not push all others out of sight.
        widths[i] = std::max(widths[i], std::min<size_t>(row[i].size(), 60));
    }
    std::string result;
    for (const std::vector<std::string> &row : rows) {
      std::string line = indent;
      for (size_t i = 0; i != row.size(); ++i) {
        line += row[i];
        if (i + 1 != row.size() && row[i].size() < widths[i])
          line.append(widths[i] - row[i].size(), ' ');
        line += "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      result += line + "\n";
    }
    return result;
  }

private:
  std::string indent;
  std::vector<std::vector<std::string>> rows;
};

class TextDump {
public:
  TextDump(const ArtifactReader &artifact, const DumpOptions &options)
      : artifact(artifact), manifest(artifact.manifest()), options(options) {}

  std::string dump() {
    head();
    for (const Method &method : manifest.methods)
      this->method(method);
    variants();
    if (options.parameters)
      parameters();
    if (options.entries)
      entries();
    return clean(output);
  }

private:
  /// Names come from a file; control characters must not reach a terminal.
  static std::string clean(std::string text) {
    for (char &c : text)
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f)
        c = '?';
    return text;
  }

  /// As above, for a name, which has no lines either.
  static std::string cell(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  static std::string bytes(uint64_t count) {
    std::string digits = std::to_string(count);
    for (size_t i = digits.size(); i > 3; i -= 3)
      digits.insert(i - 3, ",");
    return digits + (count == 1 ? " byte" : " bytes");
  }

  void head() {
    Table table("");
    table.add({"artifact", artifact.file()->path() + ", " + bytes(artifact.file()->bytes().size())});
    table.add({"format", std::to_string(manifest.formatMajor) + "." + std::to_string(manifest.formatMinor) + ", written by " +
                             cell(manifest.producer)});
    std::string needs;
    for (const std::string &requirement : manifest.requirements)
      needs += (needs.empty() ? "" : ", ") + requirement;
    table.add({"requires", needs.empty() ? "nothing but the runtime" : needs});
    for (const Info &info : manifest.info)
      table.add({cell(info.key), cell(info.value)});
    output += table.text();
  }

  void method(const Method &method) {
    MethodNames names(manifest, method);
    const Plan &plan = names.plan();
    output += "\nmethod " + cell(method.name) + "\n";
    Table signature("  ");
    for (const Value &input : method.inputs)
      signature.add({"input", cell(input.name), names.type(input.elementType, input.dims)});
    for (const Value &value : method.outputs)
      signature.add({"output", cell(value.name), names.type(value.elementType, value.dims)});
    for (const Symbol &symbol : method.symbols)
      signature.add({"symbol", symbolTextOf(symbol),
                     std::to_string(symbol.min) + " to " + std::to_string(symbol.max) + ", axis " + std::to_string(symbol.axis) + " of " +
                         cell(method.inputs[symbol.input].name)});
    for (const Guard &guard : method.guards)
      signature.add({"guard", names.expression(guard.left), "equals " + names.expression(guard.right)});
    for (const StateUse &use : stateUsesOf(plan)) {
      const Parameter &parameter = manifest.parameters[use.parameter];
      std::string steps;
      for (size_t step : use.writers)
        steps += (steps.empty() ? (use.writers.size() == 1 ? "step " : "steps ") : ", ") + std::to_string(step);
      std::string what = use.isRead ? "read" : "";
      if (!steps.empty())
        what += (what.empty() ? "" : "; ") + ("written by " + steps);
      signature.add({"state", cell(parameter.name), typeOf(parameter) + "  " + what});
    }
    output += signature.text();

    output += "  memory: arena of " + names.size(plan.arenaSize) + " bytes";
    if (plan.livePeak != 0)
      output += ", live at once " + std::to_string(plan.livePeak);
    output += "; scratch of " + names.size(plan.scratchSize) + " bytes per worker\n";

    std::map<std::string, size_t> counts;
    size_t steps = count(plan.instructions, counts);
    output += "  steps: " + std::to_string(steps);
    for (const auto &[kind, number] : counts)
      output += (kind == counts.begin()->first ? " (" : ", ") + std::to_string(number) + " " + kind;
    output += counts.empty() ? "\n" : ")\n";
    if (options.steps) {
      Table table("    ");
      size_t number = 0;
      for (const Instruction &instruction : plan.instructions)
        step(instruction, names, 0, number, table);
      output += table.text();
    }
    if (options.memory)
      buffers(names);
  }

  static std::string symbolTextOf(const Symbol &symbol) { return DimExpr::symbol(symbol.name).str(); }

  static size_t count(const std::vector<Instruction> &instructions, std::map<std::string, size_t> &counts) {
    size_t total = instructions.size();
    for (const Instruction &instruction : instructions) {
      ++counts[instruction.kind == InstructionKind::Library ? instruction.library : nameOf(instruction.kind)];
      total += count(instruction.first, counts) + count(instruction.second, counts);
    }
    return total;
  }

  static std::string joined(const std::vector<uint32_t> &buffers, size_t first, size_t last, const MethodNames &names) {
    std::string text;
    for (size_t i = first; i < last; ++i)
      text += (i == first ? "" : ", ") + cell(names.buffer(buffers[i]));
    return text;
  }

  /// number, family, kernel or library, source operators, data flow, reason.
  void step(const Instruction &instruction, const MethodNames &names, unsigned depth, size_t &number, Table &table) {
    std::string position = std::string(depth * 2, ' ') + std::to_string(number++);
    std::string what = nameOf(instruction.kind), flow;
    switch (instruction.kind) {
    case InstructionKind::Kernel:
      what = manifest.kernels[instruction.kernel].name;
      break;
    case InstructionKind::Library:
      what = instruction.library + ":" + cell(instruction.routine);
      break;
    case InstructionKind::Copy:
      flow = cell(names.buffer(instruction.source)) + " -> " + cell(names.buffer(instruction.destination));
      break;
    case InstructionKind::Shape:
      for (size_t i = 0; i != instruction.sizes.size(); ++i)
        flow += (i == 0 ? "" : ", ") + names.expression(instruction.sizes[i]);
      flow += " -> " + cell(names.buffer(instruction.destination));
      break;
    case InstructionKind::If:
    case InstructionKind::Loop:
      flow = "on " + cell(names.buffer(instruction.condition));
      break;
    }
    if (instruction.kind == InstructionKind::Kernel || instruction.kind == InstructionKind::Library)
      flow = joined(instruction.buffers, 0, instruction.numInputs, names) + (instruction.numInputs == 0 ? "-> " : " -> ") +
             joined(instruction.buffers, instruction.numInputs, instruction.buffers.size(), names);
    table.add({position, instruction.family.empty() ? nameOf(instruction.kind) : cell(instruction.family), what, cell(instruction.name),
               flow, cell(instruction.reason)});
    for (const Instruction &inner : instruction.first)
      step(inner, names, depth + 1, number, table);
    if (instruction.kind == InstructionKind::If || instruction.kind == InstructionKind::Loop)
      table.add({std::string(depth * 2, ' ') + (instruction.kind == InstructionKind::If ? "else" : "do")});
    for (const Instruction &inner : instruction.second)
      step(inner, names, depth + 1, number, table);
  }

  void buffers(const MethodNames &names) {
    const Plan &plan = names.plan();
    output += "  buffers: " + std::to_string(plan.buffers.size()) + "\n";
    Table table("    ");
    for (uint32_t i = 0; i != plan.buffers.size(); ++i) {
      const Buffer &buffer = plan.buffers[i];
      table.add({std::to_string(i), nameOf(buffer.kind), cell(names.buffer(i)), names.type(buffer.elementType, buffer.dims),
                 names.expression(buffer.size) + " bytes", buffer.kind == BufferKind::Arena ? "at " + names.expression(buffer.offset) : "",
                 buffer.viewOf ? "view of " + std::to_string(*buffer.viewOf) : ""});
    }
    output += table.text();
  }

  void variants() {
    output += "\nkernels: " + std::to_string(manifest.kernels.size()) + "\n";
    Table table("  ");
    for (size_t i = 0; i != manifest.variants.size(); ++i) {
      const Variant &variant = manifest.variants[i];
      table.add({cell(variant.level), bytes(artifact.kernelBytes(i).size()), cell(variant.entry),
                 "needs " + featuresOf(variant.requiredFeatures)});
    }
    output += table.text();
  }

  void parameters() {
    uint64_t total = 0, stored = 0;
    std::set<std::pair<std::string, uint64_t>> places;
    Table table("  ");
    for (const Parameter &parameter : manifest.parameters) {
      total += parameter.size;
      if (places.insert({parameter.entry, parameter.offset}).second)
        stored += parameter.size;
      std::string place = parameter.entry + "+" + std::to_string(parameter.offset);
      table.add({cell(parameter.name), typeOf(parameter), parameter.layout.empty() ? "row-major" : cell(parameter.layout),
                 parameter.isMutable ? "mutable" : "frozen", bytes(parameter.size), cell(place), hexOf(parameter.hash).substr(0, 8),
                 cell(parameter.recipe)});
    }
    output += "\nparameters: " + std::to_string(manifest.parameters.size()) + ", " + bytes(total) +
              (stored == total ? "" : ", stored in " + bytes(stored)) + "\n" + table.text();
  }

  void entries() {
    output += "\nentries\n";
    Table table("  ");
    for (const ZipEntry &entry : artifact.entries())
      table.add({cell(entry.name), "at " + std::to_string(entry.dataOffset), bytes(entry.size)});
    output += table.text();
  }

  const ArtifactReader &artifact;
  const Manifest &manifest;
  const DumpOptions &options;
  std::string output;
};
} // namespace

std::string stator::serialization::dumpText(const ArtifactReader &artifact, const DumpOptions &options) {
  return TextDump(artifact, options).dump();
}
