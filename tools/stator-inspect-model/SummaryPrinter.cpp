#include "tools/stator-inspect-model/SummaryPrinter.h"
#include "serialization/Base/JsonWriter.h"
#include "stator/ElementType.h"
#include "tools/support/CompilerMessages.h"

#include <algorithm>
#include <set>

using stator::compiler::ModelSummary;

namespace stator::tools {

/// As a shell reads it as one word.
static std::string quoted(const std::string &text) {
  bool isPlain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  });
  if (isPlain)
    return text;
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// The method that a plain `stator compile` takes, or the first.
static const ModelSummary::Method *mainMethod(const ModelSummary &summary) {
  for (const ModelSummary::Method &method : summary.methods)
    if (method.name == "forward")
      return &method;
  return summary.methods.empty() ? nullptr : &summary.methods.front();
}

/// What has to be said about an input; empty for nothing.
static std::string optionFor(const ModelSummary::Value &input) {
  bool isOpen = input.needsShape || (input.isConstant && input.value.empty());
  if (!isOpen)
    return "";
  // Containers of tensors are given by their elements.
  if (input.type.starts_with("Optional["))
    return "--const=" + quoted(input.name + "=None");
  bool holdsTensors = input.type.find("Tensor") != std::string::npos;
  if (holdsTensors && input.type.starts_with("Dict["))
    return "--input=" + quoted(input.name + ".KEY=SHAPExTYPE");
  if (holdsTensors && input.type.starts_with("List["))
    return "--input=" + quoted(input.name + ".0=SHAPExTYPE");
  if (!input.needsShape)
    return "--const=" + quoted(input.name + "=VALUE");
  // "f32 of unknown rank" says the type at least.
  std::string type = input.type.substr(0, input.type.find_first_of(" ["));
  return "--input=" + quoted(input.name + "=SHAPEx" + (parseElementType(type) ? type : "TYPE"));
}

std::string compileCommand(const std::string &path, const ModelSummary &summary) {
  std::string command = "stator compile " + quoted(path) + " -o " + quoted(replaceExtension(path, ".stator"));
  const ModelSummary::Method *method = mainMethod(summary);
  if (!method)
    return command;
  if (method->name != "forward")
    command += " --method=" + quoted(method->name);
  for (const ModelSummary::Value &input : method->inputs)
    if (std::string option = optionFor(input); !option.empty())
      command += " " + option;
  return command;
}

namespace {

class TextPrinter {
public:
  TextPrinter(const std::string &path, const ModelSummary &summary) : path(path), summary(summary) {}
  std::string print();

private:
  void line(const std::string &content) { text += content + "\n"; }
  void printValues(const char *what, const std::vector<ModelSummary::Value> &values, size_t width);
  void printTensors(const char *what, const ModelSummary::TensorGroup &group);
  void printNext();

  const std::string &path;
  const ModelSummary &summary;
  std::string text;
};

} // namespace

static std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

static std::string counted(uint64_t count, unsigned width) {
  std::string text = std::to_string(count);
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

void TextPrinter::printValues(const char *what, const std::vector<ModelSummary::Value> &values, size_t width) {
  for (const ModelSummary::Value &value : values) {
    std::string content = std::string("  ") + what + "  " + padded(value.name, width) + "  " + value.type;
    if (!value.value.empty())
      content += " = " + value.value;
    if (std::string option = optionFor(value); !option.empty())
      content += "  (needs " + option.substr(0, option.find('=')) + ")";
    line(content);
  }
}

void TextPrinter::printTensors(const char *what, const ModelSummary::TensorGroup &group) {
  if (group.total.count == 0)
    return;
  std::string types;
  for (const auto &[type, total] : group.byType)
    types += (types.empty() ? "" : ", ") + std::to_string(total.count) + " of " + type + " (" + formatBytes(total.bytes) + ")";
  line("");
  line(std::string(what) + ": " + std::to_string(group.total.count) + ", " + formatBytes(group.total.bytes) + ": " + types);
  size_t width = 0;
  for (const ModelSummary::Tensor &tensor : group.largest)
    width = std::max(width, tensor.name.size());
  for (const ModelSummary::Tensor &tensor : group.largest)
    line("  " + padded(tensor.name, width) + "  " + tensor.type + "  " + formatBytes(tensor.bytes));
  if (group.total.count > group.largest.size())
    line("  and " + std::to_string(group.total.count - group.largest.size()) + " smaller");
}

void TextPrinter::printNext() {
  line("");
  line("to compile it:");
  line("  " + compileCommand(path, summary));
  const ModelSummary::Method *method = mainMethod(summary);
  bool hasShape = compileCommand(path, summary).find("=SHAPEx") != std::string::npos;
  if (hasShape)
    line("  SHAPE is sizes separated by x: 1x3x224x224, or ?batch[1..64]x3x?h[32..512]x?w where sizes are free; TYPE is f32, i64, ...;\n"
         "  --input=NAME=@FILE.npy takes both from an array");
  std::string others;
  for (const ModelSummary::Method &other : summary.methods)
    if (&other != method)
      others += " --method=" + quoted(other.name);
  if (!others.empty())
    line("  more methods, in one artifact:" + (method ? " --method=" + quoted(method->name) : "") + others);
}

std::string TextPrinter::print() {
  line(path + ": " + summary.kind + ", version " + summary.version + (summary.producer.empty() ? "" : ", written by " + summary.producer));
  for (const ModelSummary::Method &method : summary.methods) {
    size_t width = 0;
    for (const auto *values : {&method.inputs, &method.outputs})
      for (const ModelSummary::Value &value : *values)
        width = std::max(width, value.name.size());
    line("");
    line("method " + method.name);
    printValues("input ", method.inputs, width);
    printValues("output", method.outputs, width);
  }
  printTensors("parameters", summary.parameters);
  printTensors("buffers", summary.buffers);
  if (!summary.operators.empty()) {
    bool isComplete = std::all_of(summary.operators.begin(), summary.operators.end(), [](const auto &op) { return op.isSupported; });
    line("");
    line(isComplete ? "operators:" : "operators (! marks those that Stator does not have):");
    for (const ModelSummary::Operator &op : summary.operators)
      line((op.isSupported ? "  " : "! ") + counted(op.count, 6) + "  " + op.name);
  }
  if (!summary.notes.empty()) {
    line("");
    line("notes:");
    for (const std::string &note : summary.notes)
      line("  " + note);
  }
  printNext();
  return text;
}

std::string summaryText(const std::string &path, const ModelSummary &summary) { return TextPrinter(path, summary).print(); }

static void writeValues(JsonWriter &json, const char *key, const std::vector<ModelSummary::Value> &values) {
  json.key(key);
  json.beginArray();
  for (const ModelSummary::Value &value : values) {
    json.beginObject();
    json.field("name", value.name);
    json.field("type", value.type);
    json.field("needs_shape", value.needsShape);
    json.field("is_constant", value.isConstant);
    if (!value.value.empty())
      json.field("value", value.value);
    json.endObject();
  }
  json.endArray();
}

static void writeTensors(JsonWriter &json, const char *key, const ModelSummary::TensorGroup &group) {
  json.key(key);
  json.beginObject();
  json.field("count", group.total.count);
  json.field("bytes", group.total.bytes);
  json.key("by_type");
  json.beginObject();
  for (const auto &[type, total] : group.byType) {
    json.key(type);
    json.beginObject();
    json.field("count", total.count);
    json.field("bytes", total.bytes);
    json.endObject();
  }
  json.endObject();
  json.key("largest");
  json.beginArray();
  for (const ModelSummary::Tensor &tensor : group.largest) {
    json.beginObject();
    json.field("name", tensor.name);
    json.field("type", tensor.type);
    json.field("bytes", tensor.bytes);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

std::string summaryJson(const std::string &path, const ModelSummary &summary) {
  JsonWriter json;
  json.beginObject();
  json.field("model", path);
  json.field("kind", summary.kind);
  json.field("version", summary.version);
  json.field("producer", summary.producer);
  json.key("methods");
  json.beginArray();
  for (const ModelSummary::Method &method : summary.methods) {
    json.beginObject();
    json.field("name", method.name);
    writeValues(json, "inputs", method.inputs);
    writeValues(json, "outputs", method.outputs);
    json.endObject();
  }
  json.endArray();
  writeTensors(json, "parameters", summary.parameters);
  writeTensors(json, "buffers", summary.buffers);
  json.key("operators");
  json.beginArray();
  for (const ModelSummary::Operator &op : summary.operators) {
    json.beginObject();
    json.field("name", op.name);
    json.field("count", op.count);
    json.field("supported", op.isSupported);
    json.endObject();
  }
  json.endArray();
  json.key("notes");
  json.beginArray();
  for (const std::string &note : summary.notes)
    json.value(note);
  json.endArray();
  json.field("compile_command", compileCommand(path, summary));
  json.endObject();
  return json.text();
}

} // namespace stator::tools
