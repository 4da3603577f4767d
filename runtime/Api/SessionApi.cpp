// The C interface: sessions.
#include "runtime/Api/Handles.h"

#include <algorithm>
#include <cstring>

using namespace stator;
using namespace stator::runtime;
using serialization::Instruction;
using serialization::InstructionKind;

stator_status *stator_session_create(stator_module *module, const stator_session_options *options, stator_session **session) {
  if (!module || !session)
    return toHandle(invalidArgument("stator_session_create got a null pointer"));
  *session = nullptr;
  // Fields behind the caller's struct_size were unknown when the caller was compiled.
  stator_session_options known{};
  if (options && options->struct_size < sizeof(options->struct_size))
    return toHandle(invalidArgument("stator_session_options.struct_size is not set"));
  if (options)
    std::memcpy(&known, options, std::min(options->struct_size, sizeof(known)));
  SessionConfig config;
  config.threads = known.threads;
  config.flushDenormals = known.flush_denormals != 0;
  config.shapeCache = known.shape_cache;
  config.profile = known.profile != 0;
  config.traceEvents = known.trace_events;
  Result<std::unique_ptr<Session>> made = Session::create(module->loaded, config);
  if (!made.ok())
    return toHandle(made.status());
  *session = new stator_session{std::move(made).value(), module->loaded};
  return nullptr;
}

void stator_session_release(stator_session *session) { delete session; }
int32_t stator_session_threads(const stator_session *session) { return session->session->threads(); }

// Views as spans; a null pointer with a count is a mistake of the caller.
static Status checkPointers(const void *inputs, size_t inputCount, const void *outputs, size_t outputCount) {
  if ((!inputs && inputCount) || (!outputs && outputCount))
    return invalidArgument("got a null pointer for a list of tensors");
  return okStatus();
}

stator_status *stator_session_run(stator_session *session, size_t method, const stator_tensor_view *inputs, size_t inputCount,
                                  stator_tensor_view *outputs, size_t outputCount) {
  Status status = checkPointers(inputs, inputCount, outputs, outputCount);
  if (status.ok())
    status = session->session->run(method, {inputs, inputCount}, {outputs, outputCount});
  return toHandle(std::move(status));
}

const stator_tensor_view *stator_session_outputs(const stator_session *session, size_t *count) {
  std::span<const stator_tensor_view> outputs = session->session->lastOutputs();
  *count = outputs.size();
  return outputs.empty() ? nullptr : outputs.data();
}

stator_status *stator_session_output_shapes(stator_session *session, size_t method, const stator_tensor_view *inputs, size_t inputCount,
                                            stator_tensor_view *outputs, size_t outputCount) {
  Status status = checkPointers(inputs, inputCount, outputs, outputCount);
  if (status.ok())
    status = session->session->outputShapes(method, {inputs, inputCount}, {outputs, outputCount});
  return toHandle(std::move(status));
}

size_t stator_session_arena_bytes(const stator_session *session) { return session->session->memoryBytes(); }
stator_status *stator_session_trim(stator_session *session) { return toHandle(session->session->trim()); }

size_t stator_session_state_count(const stator_session *session) { return session->session->state().count(); }
const char *stator_session_state_name(const stator_session *session, size_t index) {
  return index < stator_session_state_count(session) ? session->session->state().name(index).c_str() : "";
}
stator_status *stator_session_state(stator_session *session, size_t index, stator_tensor_view *view) {
  if (index >= stator_session_state_count(session))
    return toHandle(notFound("the session has no state number " + std::to_string(index)));
  *view = session->session->state().view(index);
  return nullptr;
}
stator_status *stator_session_reset_state(stator_session *session) { return toHandle(session->session->resetState()); }
stator_status *stator_session_save_state(stator_session *session, const char *path) {
  return toHandle(path ? session->session->saveState(path) : invalidArgument("got a null pointer for a path"));
}
stator_status *stator_session_load_state(stator_session *session, const char *path) {
  return toHandle(path ? session->session->loadState(path) : invalidArgument("got a null pointer for a path"));
}

// The instruction with this number in plan order, counting nested ones behind their parent as the executor does.
static const Instruction *findInstruction(const std::vector<Instruction> &instructions, size_t &number) {
  for (const Instruction &instruction : instructions) {
    if (number-- == 0)
      return &instruction;
    for (const auto *nested : {&instruction.first, &instruction.second})
      if (const Instruction *found = findInstruction(*nested, number))
        return found;
  }
  return nullptr;
}

size_t stator_session_profile_count(const stator_session *session, size_t method) {
  return method < session->loaded->manifest().methods.size() ? session->session->profile(method).size() : 0;
}

static const char *kernelName(const serialization::Manifest &manifest, const Instruction &instruction) {
  switch (instruction.kind) {
  case InstructionKind::Kernel:
    return manifest.kernels[instruction.kernel].name.c_str();
  case InstructionKind::Library:
    return instruction.library.c_str();
  case InstructionKind::Copy:
    return "copy";
  case InstructionKind::Shape:
    return "shape";
  case InstructionKind::If:
    return "if";
  case InstructionKind::Loop:
    return "loop";
  }
  return "";
}

void stator_session_profile_entry(const stator_session *session, size_t method, size_t index, stator_profile_entry *entry) {
  *entry = stator_profile_entry{"", "", "", 0, 0, 0, 0};
  if (index >= stator_session_profile_count(session, method))
    return;
  const serialization::Manifest &manifest = session->loaded->manifest();
  size_t number = index;
  const Instruction *instruction = findInstruction(manifest.plans[manifest.methods[method].plan].instructions, number);
  if (!instruction)
    return;
  const ProfileCounter &counter = session->session->profile(method)[index];
  *entry = {instruction->name.c_str(), kernelName(manifest, *instruction),
            instruction->family.c_str(), counter.calls, counter.nanoseconds, counter.operations, counter.bytes};
}

const stator_trace_event *stator_session_trace(const stator_session *session, size_t *count) {
  const std::vector<stator_trace_event> &events = session->session->trace();
  *count = events.size();
  return events.data();
}
