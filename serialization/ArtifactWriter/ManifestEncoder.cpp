// Copies the structs of Manifest.h into their generated twins, field by field, and lets libprotobuf write them. Names that are not UTF-8,
// which protobuf's strings do not take, are escaped.
#include "serialization/ArtifactWriter/ManifestEncoder.h"

#include "serialization/Artifact/manifest.pb.h"
#include "serialization/Base/Utf8.h"

using namespace stator;
using namespace stator::serialization;

template <typename Target, typename Source>
static void assign(Target *target, const Source &source) {
  target->Assign(source.begin(), source.end());
}

static void encode(const Value &value, manifest::Value *out) {
  out->set_name(escapeInvalidUtf8(value.name));
  out->set_element_type(static_cast<uint32_t>(value.elementType));
  assign(out->mutable_dims(), value.dims);
}

static void encode(const Method &method, manifest::Method *out) {
  out->set_name(escapeInvalidUtf8(method.name));
  for (const Symbol &symbol : method.symbols) {
    manifest::Symbol *target = out->add_symbols();
    target->set_name(escapeInvalidUtf8(symbol.name));
    target->set_min(symbol.min);
    target->set_max(symbol.max);
    target->set_input(symbol.input);
    target->set_axis(symbol.axis);
  }
  for (const Expression &expression : method.expressions) {
    manifest::Expression *target = out->add_expressions();
    assign(target->mutable_code(), expression.code);
    target->set_text(escapeInvalidUtf8(expression.text));
  }
  for (const Value &value : method.inputs)
    encode(value, out->add_inputs());
  for (const Value &value : method.outputs)
    encode(value, out->add_outputs());
  for (const Guard &guard : method.guards) {
    manifest::Guard *target = out->add_guards();
    target->set_left(guard.left);
    target->set_right(guard.right);
  }
  out->set_plan(method.plan);
}

static void encode(const Buffer &buffer, manifest::Buffer *out) {
  out->set_kind(static_cast<manifest::BufferKind>(buffer.kind));
  out->set_index(buffer.index);
  out->set_element_type(static_cast<uint32_t>(buffer.elementType));
  assign(out->mutable_dims(), buffer.dims);
  out->set_size(buffer.size);
  out->set_offset(buffer.offset);
  if (buffer.viewOf)
    out->set_view_of(*buffer.viewOf);
}

static void encode(const Instruction &instruction, manifest::CallKernel *out) {
  out->set_kernel(instruction.kernel);
  assign(out->mutable_buffers(), instruction.buffers);
  out->set_num_inputs(instruction.numInputs);
  assign(out->mutable_sizes(), instruction.sizes);
}

static void encode(const Instruction &instruction, manifest::CallLibrary *out) {
  out->set_library(escapeInvalidUtf8(instruction.library));
  out->set_routine(escapeInvalidUtf8(instruction.routine));
  for (const Attribute &attribute : instruction.attributes) {
    manifest::Attribute *target = out->add_attributes();
    target->set_name(escapeInvalidUtf8(attribute.name));
    assign(target->mutable_integers(), attribute.integers);
    assign(target->mutable_numbers(), attribute.numbers);
    target->set_text(escapeInvalidUtf8(attribute.text));
  }
  assign(out->mutable_buffers(), instruction.buffers);
  out->set_num_inputs(instruction.numInputs);
  assign(out->mutable_sizes(), instruction.sizes);
}

static void encode(const Instruction &instruction, manifest::Copy *out) {
  out->set_source(instruction.source);
  out->set_destination(instruction.destination);
  out->set_source_offset(instruction.sourceOffset);
  out->set_destination_offset(instruction.destinationOffset);
  out->set_size(instruction.copySize);
}

static void encode(const Instruction &instruction, manifest::Shape *out) {
  out->set_destination(instruction.destination);
  assign(out->mutable_values(), instruction.sizes);
}

static void encode(const Instruction &instruction, manifest::Instruction *out) {
  out->set_name(escapeInvalidUtf8(instruction.name));
  out->set_family(escapeInvalidUtf8(instruction.family));
  out->set_reason(escapeInvalidUtf8(instruction.reason));
  if (instruction.operations)
    out->set_operations(*instruction.operations);
  if (instruction.bytes)
    out->set_bytes(*instruction.bytes);
  switch (instruction.kind) {
  case InstructionKind::Kernel:
    return encode(instruction, out->mutable_kernel());
  case InstructionKind::Library:
    return encode(instruction, out->mutable_library());
  case InstructionKind::Copy:
    return encode(instruction, out->mutable_copy());
  case InstructionKind::Shape:
    return encode(instruction, out->mutable_shape());
  case InstructionKind::If:
    out->mutable_branch()->set_condition(instruction.condition);
    for (const Instruction &inner : instruction.first)
      encode(inner, out->mutable_branch()->add_on_true());
    for (const Instruction &inner : instruction.second)
      encode(inner, out->mutable_branch()->add_on_false());
    return;
  case InstructionKind::Loop:
    out->mutable_loop()->set_condition(instruction.condition);
    for (const Instruction &inner : instruction.first)
      encode(inner, out->mutable_loop()->add_before());
    for (const Instruction &inner : instruction.second)
      encode(inner, out->mutable_loop()->add_body());
    return;
  }
}

static void encode(const Plan &plan, manifest::Plan *out) {
  for (const Buffer &buffer : plan.buffers)
    encode(buffer, out->add_buffers());
  for (const Instruction &instruction : plan.instructions)
    encode(instruction, out->add_instructions());
  out->set_arena_size(plan.arenaSize);
  out->set_scratch_size(plan.scratchSize);
  out->set_live_peak(plan.livePeak);
}

static void encode(const Parameter &parameter, manifest::Parameter *out) {
  out->set_name(escapeInvalidUtf8(parameter.name));
  out->set_element_type(static_cast<uint32_t>(parameter.elementType));
  assign(out->mutable_dims(), parameter.dims);
  out->set_layout(escapeInvalidUtf8(parameter.layout));
  out->set_entry(escapeInvalidUtf8(parameter.entry));
  out->set_offset(parameter.offset);
  out->set_size(parameter.size);
  out->set_hash(parameter.hash.data(), parameter.hash.size());
  out->set_is_mutable(parameter.isMutable);
  out->set_recipe(escapeInvalidUtf8(parameter.recipe));
}

std::string stator::serialization::encodeManifest(const Manifest &manifest) {
  manifest::Manifest out;
  out.set_format_major(manifest.formatMajor);
  out.set_format_minor(manifest.formatMinor);
  out.set_producer(escapeInvalidUtf8(manifest.producer));
  for (const Method &method : manifest.methods)
    encode(method, out.add_methods());
  for (const Plan &plan : manifest.plans)
    encode(plan, out.add_plans());
  for (const Kernel &kernel : manifest.kernels) {
    manifest::Kernel *target = out.add_kernels();
    target->set_name(escapeInvalidUtf8(kernel.name));
    target->set_num_buffers(kernel.numBuffers);
    target->set_num_sizes(kernel.numSizes);
    target->set_independent_parts(kernel.independentParts);
  }
  for (const Variant &variant : manifest.variants) {
    manifest::Variant *target = out.add_variants();
    target->set_level(escapeInvalidUtf8(variant.level));
    target->set_required_features(variant.requiredFeatures);
    target->set_entry(escapeInvalidUtf8(variant.entry));
  }
  for (const Parameter &parameter : manifest.parameters)
    encode(parameter, out.add_parameters());
  for (const std::string &requirement : manifest.requirements)
    out.add_requirements(escapeInvalidUtf8(requirement));
  for (const Info &info : manifest.info) {
    manifest::Info *target = out.add_info();
    target->set_key(escapeInvalidUtf8(info.key));
    target->set_value(escapeInvalidUtf8(info.value));
  }
  return out.SerializeAsString();
}
