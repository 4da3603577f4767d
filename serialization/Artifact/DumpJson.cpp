// The JSON of `stator inspect --json`: the whole manifest with expressions as text, and the entries of the file.
#include "serialization/Artifact/Dump.h"

#include "serialization/Artifact/DumpNames.h"
#include "serialization/Artifact/Hash.h"
#include "serialization/Base/JsonWriter.h"

using namespace stator;
using namespace stator::serialization;

namespace {
class JsonDump {
public:
  explicit JsonDump(const ArtifactReader &artifact) : artifact(artifact), manifest(artifact.manifest()) {}

  std::string dump() {
    json.beginObject();
    json.field("path", artifact.file()->path());
    json.field("size_bytes", artifact.file()->bytes().size());
    json.field("format", std::to_string(manifest.formatMajor) + "." + std::to_string(manifest.formatMinor));
    json.field("producer", manifest.producer);
    array("requirements", manifest.requirements, [&](const std::string &name) { json.value(name); });
    json.key("info");
    json.beginObject();
    for (const Info &info : manifest.info)
      json.field(info.key, info.value);
    json.endObject();
    array("methods", manifest.methods, [&](const Method &method) { this->method(method); });
    array("kernels", manifest.kernels, [&](const Kernel &kernel) { json.value(kernel.name); });
    json.key("variants");
    json.beginArray();
    for (size_t i = 0; i != manifest.variants.size(); ++i) {
      json.beginObject();
      json.field("level", manifest.variants[i].level);
      json.field("required_features", featuresOf(manifest.variants[i].requiredFeatures));
      json.field("entry", manifest.variants[i].entry);
      json.field("size_bytes", artifact.kernelBytes(i).size());
      json.endObject();
    }
    json.endArray();
    array("parameters", manifest.parameters, [&](const Parameter &parameter) { this->parameter(parameter); });
    array("entries", artifact.entries(), [&](const ZipEntry &entry) {
      json.beginObject();
      json.field("name", entry.name);
      json.field("offset_bytes", entry.dataOffset);
      json.field("size_bytes", entry.size);
      json.endObject();
    });
    json.endObject();
    return json.text();
  }

private:
  template <typename T, typename Function>
  void array(const char *name, const std::vector<T> &values, Function each) {
    json.key(name);
    json.beginArray();
    for (const T &value : values)
      each(value);
    json.endArray();
  }

  void expressions(const char *name, const std::vector<uint32_t> &indices, const MethodNames &names) {
    array(name, indices, [&](uint32_t index) { json.value(names.expression(index)); });
  }

  void size(const char *name, uint32_t index, const MethodNames &names) {
    json.key(name);
    json.beginObject();
    json.field("expression", names.expression(index));
    DimInterval interval = names.bounds(index);
    bound("min", interval.lo);
    bound("max", interval.hi);
    json.endObject();
  }

  void bound(const char *name, std::optional<int64_t> end) {
    json.key(name);
    if (end)
      json.value(*end);
    else
      json.null();
  }

  void values(const char *name, const std::vector<Value> &values, const MethodNames &names) {
    array(name, values, [&](const Value &value) {
      json.beginObject();
      json.field("name", value.name);
      json.field("type", stator::name(value.elementType));
      expressions("dims", value.dims, names);
      json.endObject();
    });
  }

  void method(const Method &method) {
    MethodNames names(manifest, method);
    const Plan &plan = names.plan();
    json.beginObject();
    json.field("name", method.name);
    values("inputs", method.inputs, names);
    values("outputs", method.outputs, names);
    array("symbols", method.symbols, [&](const Symbol &symbol) {
      json.beginObject();
      json.field("name", symbol.name);
      json.field("min", symbol.min);
      json.field("max", symbol.max);
      json.field("input", method.inputs[symbol.input].name);
      json.field("axis", symbol.axis);
      json.endObject();
    });
    array("guards", method.guards, [&](const Guard &guard) {
      json.beginArray();
      json.value(names.expression(guard.left));
      json.value(names.expression(guard.right));
      json.endArray();
    });
    array("state", stateUsesOf(plan), [&](const StateUse &use) {
      json.beginObject();
      json.field("parameter", manifest.parameters[use.parameter].name);
      json.field("read", use.isRead);
      array("written_by_steps", use.writers, [&](size_t step) { json.value(step); });
      json.endObject();
    });
    size("arena_bytes", plan.arenaSize, names);
    size("scratch_bytes_per_worker", plan.scratchSize, names);
    json.field("live_peak_bytes", plan.livePeak);
    json.key("buffers");
    json.beginArray();
    for (uint32_t i = 0; i != plan.buffers.size(); ++i)
      buffer(plan.buffers[i], i, names);
    json.endArray();
    array("steps", plan.instructions, [&](const Instruction &instruction) { step(instruction, names); });
    json.endObject();
  }

  void buffer(const Buffer &buffer, uint32_t index, const MethodNames &names) {
    json.beginObject();
    json.field("kind", nameOf(buffer.kind));
    json.field("name", names.buffer(index));
    json.field("type", stator::name(buffer.elementType));
    expressions("dims", buffer.dims, names);
    json.field("size_bytes", names.expression(buffer.size));
    json.field("offset_bytes", names.expression(buffer.offset));
    if (buffer.viewOf)
      json.field("view_of", *buffer.viewOf);
    json.endObject();
  }

  void step(const Instruction &instruction, const MethodNames &names) {
    json.beginObject();
    json.field("kind", nameOf(instruction.kind));
    json.field("name", instruction.name);
    json.field("family", instruction.family);
    json.field("reason", instruction.reason);
    if (instruction.operations)
      json.field("operations", names.expression(*instruction.operations));
    if (instruction.bytes)
      json.field("bytes", names.expression(*instruction.bytes));
    switch (instruction.kind) {
    case InstructionKind::Kernel:
      json.field("kernel", manifest.kernels[instruction.kernel].name);
      operands(instruction, names);
      break;
    case InstructionKind::Library:
      json.field("library", instruction.library);
      json.field("routine", instruction.routine);
      json.key("attributes");
      json.beginObject();
      for (const Attribute &attribute : instruction.attributes)
        this->attribute(attribute);
      json.endObject();
      operands(instruction, names);
      break;
    case InstructionKind::Copy:
      json.field("source", instruction.source);
      json.field("destination", instruction.destination);
      json.field("source_offset_bytes", names.expression(instruction.sourceOffset));
      json.field("destination_offset_bytes", names.expression(instruction.destinationOffset));
      json.field("size_bytes", names.expression(instruction.copySize));
      break;
    case InstructionKind::Shape:
      json.field("destination", instruction.destination);
      expressions("values", instruction.sizes, names);
      break;
    case InstructionKind::If:
      nested(instruction, "on_true", "on_false", names);
      break;
    case InstructionKind::Loop:
      nested(instruction, "before", "body", names);
      break;
    }
    json.endObject();
  }

  void nested(const Instruction &instruction, const char *first, const char *second, const MethodNames &names) {
    json.field("condition", instruction.condition);
    array(first, instruction.first, [&](const Instruction &inner) { step(inner, names); });
    array(second, instruction.second, [&](const Instruction &inner) { step(inner, names); });
  }

  /// One number as itself, several as a list.
  void attribute(const Attribute &attribute) {
    if (!attribute.text.empty())
      return json.field(attribute.name, attribute.text);
    if (!attribute.numbers.empty())
      return array(attribute.name.c_str(), attribute.numbers, [&](double number) { json.value(number); });
    if (attribute.integers.size() == 1)
      return json.field(attribute.name, attribute.integers.front());
    array(attribute.name.c_str(), attribute.integers, [&](int64_t integer) { json.value(integer); });
  }

  void operands(const Instruction &instruction, const MethodNames &names) {
    std::vector<uint32_t> inputs(instruction.buffers.begin(), instruction.buffers.begin() + instruction.numInputs);
    std::vector<uint32_t> outputs(instruction.buffers.begin() + instruction.numInputs, instruction.buffers.end());
    array("inputs", inputs, [&](uint32_t index) { json.value(index); });
    array("outputs", outputs, [&](uint32_t index) { json.value(index); });
    expressions("sizes", instruction.sizes, names);
  }

  void parameter(const Parameter &parameter) {
    json.beginObject();
    json.field("name", parameter.name);
    json.field("type", stator::name(parameter.elementType));
    array("dims", parameter.dims, [&](uint64_t dim) { json.value(dim); });
    json.field("layout", parameter.layout);
    json.field("mutable", parameter.isMutable);
    json.field("entry", parameter.entry);
    json.field("offset_bytes", parameter.offset);
    json.field("size_bytes", parameter.size);
    json.field("xxh3_128", hexOf(parameter.hash));
    json.field("recipe", parameter.recipe);
    json.endObject();
  }

  const ArtifactReader &artifact;
  const Manifest &manifest;
  JsonWriter json;
};
} // namespace

std::string stator::serialization::dumpJson(const ArtifactReader &artifact) { return JsonDump(artifact).dump(); }
