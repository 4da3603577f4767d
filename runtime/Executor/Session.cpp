// Sessions: recognising shapes, placing outputs, running.
#include "runtime/Executor/Session.h"
#include "runtime/Devices/Cpu/CpuInfo.h"
#include "runtime/Executor/Runner.h"

#include <algorithm>
#include <cstdlib>

namespace stator::runtime {

using serialization::Method;

static constexpr int kMaxThreads = 4096;
static constexpr size_t kMaxTraceEvents = size_t(1) << 20;

namespace {
/// Marks the session as busy while it lives; does nothing when it was busy already.
class Exclusive {
public:
  explicit Exclusive(std::atomic<bool> &busy) : busy(busy), entered(!busy.exchange(true, std::memory_order_acquire)) {}
  ~Exclusive() {
    if (entered)
      busy.store(false, std::memory_order_release);
  }
  bool ok() const { return entered; }
  static Status refusal() {
    return resourceExhausted("the session is in use by another thread: give each thread a session of its own, they share the weights");
  }

private:
  std::atomic<bool> &busy;
  bool entered;
};
} // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const LoadedModule> module, const SessionConfig &config) {
  if (config.threads < 0 || config.threads > kMaxThreads)
    return invalidArgument("a session cannot have " + std::to_string(config.threads) + " threads, expected 1 to " +
                           std::to_string(kMaxThreads) + ", or 0 for the default");
  if (config.shapeCache < 0)
    return invalidArgument("a session cannot keep " + std::to_string(config.shapeCache) + " shapes");
  std::unique_ptr<Session> session(new Session(std::move(module), config));
  if (config.threads == 0) {
    const char *wanted = std::getenv("STATOR_NUM_THREADS");
    if (wanted && *wanted && !parseThreadCount(wanted))
      return invalidArgument("the environment variable STATOR_NUM_THREADS is `" + std::string(wanted) + "`, expected a number from 1 to " +
                             std::to_string(kMaxThreads));
    session->config.threads = defaultThreadCount();
  }
  if (config.shapeCache == 0)
    session->config.shapeCache = SessionConfig().shapeCache;
  const serialization::Manifest &manifest = session->owner->manifest();
  session->methods.resize(manifest.methods.size());
  session->events.reserve(std::min(config.traceEvents, kMaxTraceEvents));
  for (size_t i = 0; config.profile && i < manifest.methods.size(); ++i)
    session->methods[i].profile.resize(countInstructions(manifest.plans[manifest.methods[i].plan].instructions));
  STATOR_RETURN_IF_ERROR(session->states.initialise(*session->owner));
  return session;
}

Result<Session::CachedProgram *> Session::prepare(size_t methodIndex, InputViews inputs) {
  MethodState &state = methods[methodIndex];
  ++useCounter;
  for (CachedProgram &cached : state.programs)
    if (cached.program->matches(inputs)) {
      cached.lastUse = useCounter;
      return &cached;
    }
  STATOR_TRY(shapes, bindShapes(owner->manifest().methods[methodIndex], inputs));
  STATOR_TRY(program, Program::build(*owner, methodIndex, std::move(shapes), config.threads));
  CachedProgram *place;
  if (state.programs.size() < static_cast<size_t>(config.shapeCache)) {
    place = &state.programs.emplace_back();
  } else {
    place = &*std::min_element(state.programs.begin(), state.programs.end(),
                               [](const CachedProgram &a, const CachedProgram &b) { return a.lastUse < b.lastUse; });
  }
  *place = {std::move(program), useCounter, 0};
  return place;
}

Status Session::makeRoom(CachedProgram &cached) {
  if (memory.size() < cached.program->memoryBytes() || !memory.data()) {
    ++memoryGeneration;
    // One byte at least, so that addresses of empty tensors are not null.
    STATOR_RETURN_IF_ERROR(memory.reserve(std::max<size_t>(cached.program->memoryBytes(), 1)));
  }
  if (cached.resolvedFor != memoryGeneration) {
    cached.program->resolve(memory.data(), *owner, states.addresses());
    cached.resolvedFor = memoryGeneration;
  }
  return okStatus();
}

static bool overlap(const void *a, size_t aBytes, const void *b, size_t bBytes) {
  auto aBegin = reinterpret_cast<uintptr_t>(a), bBegin = reinterpret_cast<uintptr_t>(b);
  return aBytes && bBytes && aBegin < bBegin + bBytes && bBegin < aBegin + aBytes;
}

// The session's memory must be as before the run: an input that lies in it is recognised by its address.
static Status checkInputMemory(const Method &method, const ShapeValues &shapes, InputViews inputs, const Arena &memory) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (overlap(inputs[i].data, shapes.inputBytes[i], memory.data(), memory.size()))
      return invalidArgument(
          "input `" + method.inputs[i].name +
          "` lies in the session's own memory, like a result of an earlier run: copy it, or let runs write into your tensors");
  return okStatus();
}

static Status checkOutput(const Method &method, const ShapeValues &shapes, size_t index, InputViews inputs,
                          std::span<const stator_tensor_view> outputs, const Arena &memory) {
  const stator_tensor_view &view = outputs[index];
  const serialization::Value &declared = method.outputs[index];
  auto fail = [&](const std::string &what) { return invalidArgument("output `" + declared.name + "` " + what); };
  size_t bytes = shapes.outputBytes[index];
  if (view.element_type != STATOR_INVALID_TYPE && view.element_type != static_cast<int32_t>(declared.elementType))
    return fail(std::string("has element type ") +
                (isElementType(static_cast<uint32_t>(view.element_type)) ? name(static_cast<ElementType>(view.element_type))
                                                                         : "number " + std::to_string(view.element_type)) +
                ", expected " + name(declared.elementType));
  if (view.size_bytes < bytes)
    return fail("has room for " + std::to_string(view.size_bytes) + " bytes, expected " + std::to_string(bytes));
  if (reinterpret_cast<uintptr_t>(view.data) % byteSize(declared.elementType))
    return fail("is not aligned to its element type");
  if (overlap(view.data, bytes, memory.data(), memory.size()))
    return fail("lies in the session's own memory");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (overlap(view.data, bytes, inputs[i].data, shapes.inputBytes[i]))
      return fail("overlaps input `" + method.inputs[i].name + "`");
  for (size_t i = 0; i < index; ++i)
    if (outputs[i].data && overlap(view.data, bytes, outputs[i].data, shapes.outputBytes[i]))
      return fail("overlaps output `" + method.outputs[i].name + "`");
  return okStatus();
}

// From here on every input and output has an address.
Status Session::placeOutputs(size_t methodIndex, const Program &program, InputViews inputs, std::span<stator_tensor_view> outputs) {
  const Method &method = owner->manifest().methods[methodIndex];
  inputAddresses.resize(std::max(inputAddresses.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    inputAddresses[i] = inputs[i].data ? inputs[i].data : memory.data();
  outputAddresses.resize(std::max(outputAddresses.size(), method.outputs.size()));
  for (size_t i = 0; i < method.outputs.size(); ++i) {
    outputAddresses[i] = memory.data() + program.outputOffset(i);
    if (outputs.empty() || !outputs[i].data)
      continue;
    STATOR_RETURN_IF_ERROR(checkOutput(method, program.shapes(), i, inputs, outputs, memory));
    outputAddresses[i] = outputs[i].data;
  }
  return okStatus();
}

void Session::describeOutputs(size_t methodIndex, const Program &program) {
  const Method &method = owner->manifest().methods[methodIndex];
  results.resize(method.outputs.size());
  const int64_t *dims = program.shapes().outputDims.data();
  for (size_t i = 0; i < results.size(); ++i) {
    auto rank = static_cast<int32_t>(method.outputs[i].dims.size());
    results[i] = {nullptr, program.shapes().outputBytes[i], dims, rank, static_cast<int32_t>(method.outputs[i].elementType)};
    dims += rank;
  }
}

static Status checkCall(const serialization::Manifest &manifest, size_t method, std::span<stator_tensor_view> outputs) {
  if (method >= manifest.methods.size())
    return notFound("the module has no method number " + std::to_string(method) + ", it has " + std::to_string(manifest.methods.size()));
  size_t expected = manifest.methods[method].outputs.size();
  if (!outputs.empty() && outputs.size() != expected)
    return invalidArgument("method `" + manifest.methods[method].name + "` got room for " + std::to_string(outputs.size()) +
                           " outputs, expected " + std::to_string(expected));
  return okStatus();
}

Status Session::run(size_t method, InputViews inputs, std::span<stator_tensor_view> outputs) {
  Exclusive exclusive(busy);
  if (!exclusive.ok())
    return Exclusive::refusal();
  STATOR_RETURN_IF_ERROR(checkCall(owner->manifest(), method, outputs));
  results.clear();
  STATOR_RETURN_IF_ERROR(checkInputs(owner->manifest().methods[method], inputs, /*shapesOnly=*/false));
  STATOR_TRY(cached, prepare(method, inputs));
  Program &program = *cached->program;
  STATOR_RETURN_IF_ERROR(checkInputMemory(owner->manifest().methods[method], program.shapes(), inputs, memory));
  STATOR_RETURN_IF_ERROR(makeRoom(*cached));
  STATOR_RETURN_IF_ERROR(placeOutputs(method, program, inputs, outputs));
  program.patch(inputAddresses.data(), outputAddresses.data());
  ProfileSink profile;
  if (!methods[method].profile.empty())
    profile = {methods[method].profile.data(), config.traceEvents ? &events : nullptr};
  events.clear();
  STATOR_RETURN_IF_ERROR(Runner(program, config.flushDenormals, profile).run());
  describeOutputs(method, program);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].data = outputAddresses[i];
    if (!outputs.empty())
      outputs[i] = results[i];
  }
  return okStatus();
}

Status Session::outputShapes(size_t method, InputViews inputs, std::span<stator_tensor_view> outputs) {
  Exclusive exclusive(busy);
  if (!exclusive.ok())
    return Exclusive::refusal();
  STATOR_RETURN_IF_ERROR(checkCall(owner->manifest(), method, outputs));
  results.clear();
  STATOR_RETURN_IF_ERROR(checkInputs(owner->manifest().methods[method], inputs, /*shapesOnly=*/true));
  STATOR_TRY(cached, prepare(method, inputs));
  describeOutputs(method, *cached->program);
  std::copy(results.begin(), results.begin() + outputs.size(), outputs.begin());
  results.clear();
  return okStatus();
}

Status Session::trim() {
  Exclusive exclusive(busy);
  if (!exclusive.ok())
    return Exclusive::refusal();
  results.clear();
  for (MethodState &method : methods)
    method.programs.clear();
  memory.release();
  return okStatus();
}

Status Session::resetState() {
  Exclusive exclusive(busy);
  if (!exclusive.ok())
    return Exclusive::refusal();
  states.reset();
  return okStatus();
}

Status Session::saveState(const std::string &path) {
  Exclusive exclusive(busy);
  return exclusive.ok() ? states.save(path) : Exclusive::refusal();
}

Status Session::loadState(const std::string &path) {
  Exclusive exclusive(busy);
  return exclusive.ok() ? states.load(path) : Exclusive::refusal();
}

} // namespace stator::runtime
