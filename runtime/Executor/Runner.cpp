// The loop over the steps, and how a kernel is handed to the workers.
#include "runtime/Executor/Runner.h"

#include <cstring>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stator::runtime {

using serialization::InstructionKind;

// Kernels are compiled for the default mode (round to nearest, no traps); a caller may have set another one, for instance by linking
// with -ffast-math. Workers take over the mode of the thread that gives them work.
static unsigned enterKernelMode(bool flushDenormals) {
#if defined(__x86_64__)
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x1f80u | (flushDenormals ? 0x8040u : 0));
  return before;
#else
  return 0;
#endif
}
static void leaveKernelMode(unsigned before) {
#if defined(__x86_64__)
  _mm_setcsr(before);
#endif
}

Runner::Runner(const Program &program, bool flushDenormals, const ProfileSink &profile)
    : program(program), profile(profile), callersFloatingPointMode(enterKernelMode(flushDenormals)), team(program.teamSize(), program.externalThreads()) {}

Runner::~Runner() { leaveKernelMode(callersFloatingPointMode); }

Status Runner::runMeasured(const Step &step) {
  uint64_t begin = profileClock();
  STATOR_RETURN_IF_ERROR(runStep(step));
  uint64_t end = profileClock();
  ProfileCounter &counter = profile.counters[step.number];
  ++counter.calls;
  // What happens inside of a branch or a loop is counted there, once.
  if (step.kind != InstructionKind::If && step.kind != InstructionKind::Loop) {
    counter.nanoseconds += end - begin;
    counter.operations += step.operations;
    counter.bytes += step.traffic;
  }
  if (profile.events && profile.events->size() < profile.events->capacity())
    profile.events->push_back({begin, end, step.operations, step.traffic, step.number, step.workers});
  return okStatus();
}

Status Runner::runSteps(const std::vector<Step> &steps) {
  for (const Step &step : steps)
    STATOR_RETURN_IF_ERROR(profile.counters ? runMeasured(step) : runStep(step));
  return okStatus();
}

static bool isTrue(void *condition) { return *static_cast<const uint8_t *>(condition) != 0; }

static void writeSizes(void *destination, const int64_t *sizes, size_t count, ElementType type) {
  if (type == ElementType::I64) {
    std::memcpy(destination, sizes, count * sizeof(int64_t));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    auto narrow = static_cast<int32_t>(sizes[i]);
    std::memcpy(static_cast<std::byte *>(destination) + i * sizeof(int32_t), &narrow, sizeof(int32_t));
  }
}

Status Runner::runStep(const Step &step) {
  void *const *addresses = program.addressesOf(step);
  switch (step.kind) {
  case InstructionKind::Kernel:
    runKernel(step);
    return okStatus();
  case InstructionKind::Library:
    return step.library.execute(addresses);
  case InstructionKind::Copy:
    if (step.bytes)
      std::memcpy(addresses[1], addresses[0], step.bytes);
    return okStatus();
  case InstructionKind::Shape:
    writeSizes(addresses[0], program.sizesOf(step), step.sizeCount, step.elementType);
    return okStatus();
  case InstructionKind::If:
    return runSteps(isTrue(addresses[0]) ? step.first : step.second);
  case InstructionKind::Loop:
    for (;;) {
      STATOR_RETURN_IF_ERROR(runSteps(step.first));
      if (!isTrue(addresses[0]))
        return okStatus();
      STATOR_RETURN_IF_ERROR(runSteps(step.second));
    }
  }
  return okStatus();
}

namespace {
struct KernelCall {
  StatorKernelFunction function;
  StatorKernelArgs arguments;
  std::byte *scratch;
  size_t scratchStride;
  Team *team;
};
} // namespace

static void meet(const StatorWorkerContext *context) {
  if (context->workers > 1)
    static_cast<Team *>(context->pool)->meet();
}

static void callKernel(void *data, int part, int parts) {
  const auto *call = static_cast<const KernelCall *>(data);
  StatorWorkerContext context{};
  context.worker = part;
  context.workers = parts;
  context.scratch = call->scratch + static_cast<size_t>(part) * call->scratchStride;
  context.barrier = meet;
  context.pool = call->team;
  call->function(&call->arguments, &context);
}

void Runner::runKernel(const Step &step) {
  KernelCall call{step.function, {program.addressesOf(step), program.sizesOf(step)}, program.scratch(), program.scratchStride(), &team};
  team.run(step.workers, step.meeting, callKernel, &call);
}

} // namespace stator::runtime
