// Preparing a method for one shape.
#include "runtime/Executor/Program.h"
#include "runtime/Devices/Cpu/CpuInfo.h"
#include "runtime/Memory/Arena.h"

#include <algorithm>
#include <string>

namespace stator::runtime {

using serialization::Buffer;
using serialization::BufferKind;
using serialization::Instruction;
using serialization::InstructionKind;
using serialization::Method;
using serialization::Plan;

size_t countInstructions(const std::vector<Instruction> &instructions) {
  size_t count = instructions.size();
  for (const Instruction &instruction : instructions)
    count += countInstructions(instruction.first) + countInstructions(instruction.second);
  return count;
}

// How many workers a kernel is worth. Its cost, in what a core of any kind does in a nanosecond or less, comes from the operations and
// bytes that the artifact states as expressions of the sizes: 64 operations, 64 bytes out of a cache. Handing a kernel to a second worker
// and waiting for it costs a quarter of a microsecond while that worker is awake; each worker gets at least four times that.
static constexpr uint64_t kOperationsPerUnit = 64, kBytesPerUnit = 64, kUnitsPerWorker = 1000;
// From here on the workers of a recurrent layer share each step.
static constexpr uint64_t kOperationsOfSharedStep = 1 << 18;

static int workersFor(const Step &step, const std::string &family, uint64_t bufferBytes, int threads) {
  uint64_t bytes = step.traffic ? step.traffic : bufferBytes;
  // Comparisons of a sort are no operations in that sense, but it goes over its data many times.
  uint64_t cost = step.operations / kOperationsPerUnit + bytes / kBytesPerUnit * (family == "sort" ? 16 : 1);
  return static_cast<int>(std::clamp<uint64_t>(cost / kUnitsPerWorker, 1, static_cast<uint64_t>(threads)));
}

class ProgramBuilder {
public:
  ProgramBuilder(const LoadedModule &module, size_t method, int threads, Program &program)
      : module(module), method(module.manifest().methods[method]), plan(module.manifest().plans[this->method.plan]), threads(threads),
        program(program) {}

  Status build() {
    STATOR_RETURN_IF_ERROR(layOutMemory());
    STATOR_RETURN_IF_ERROR(checkBuffers());
    STATOR_RETURN_IF_ERROR(addSteps(plan.instructions, program.topSteps));
    program.addresses.resize(program.slots.size());
    return okStatus();
  }

private:
  int64_t value(uint32_t expression) const { return program.shapeValues.values[expression]; }

  Status damaged(const std::string &what) const { return invalidFile("the plan of method `" + method.name + "` is damaged: " + what); }

  // Adds a 64-byte aligned piece to the session's memory.
  Status addMemory(int64_t bytes, int64_t count, size_t &offset) {
    offset = program.totalBytes;
    int64_t total;
    if (bytes < 0 || __builtin_add_overflow(bytes, int64_t(kArenaAlignment - 1), &total))
      return damaged("an arena has " + std::to_string(bytes) + " bytes");
    total = total / kArenaAlignment * kArenaAlignment;
    if (__builtin_mul_overflow(total, count, &total) ||
        __builtin_add_overflow(program.totalBytes, static_cast<size_t>(total), &program.totalBytes))
      return resourceExhausted("the memory that these shapes need does not fit into 64 bits");
    return okStatus();
  }

  Status layOutMemory() {
    size_t arenaOffset;
    STATOR_RETURN_IF_ERROR(addMemory(value(plan.arenaSize), 1, arenaOffset));
    for (size_t bytes : program.shapeValues.outputBytes) {
      program.outputOffsets.push_back(0);
      STATOR_RETURN_IF_ERROR(addMemory(static_cast<int64_t>(bytes), 1, program.outputOffsets.back()));
    }
    STATOR_RETURN_IF_ERROR(addMemory(value(plan.scratchSize), threads, program.scratchOffset));
    program.scratchBytes = (program.totalBytes - program.scratchOffset) / threads;
    return okStatus();
  }

  // The bytes of what a buffer lies in.
  size_t containerBytes(const Buffer &buffer) const {
    switch (buffer.kind) {
    case BufferKind::Arena:
      return static_cast<size_t>(value(plan.arenaSize));
    case BufferKind::Input:
      return program.shapeValues.inputBytes[buffer.index];
    case BufferKind::Output:
      return program.shapeValues.outputBytes[buffer.index];
    case BufferKind::Parameter:
    case BufferKind::State:
      return module.manifest().parameters[buffer.index].size;
    }
    return 0;
  }

  // From here on every buffer lies inside of what it belongs to.
  Status checkBuffers() {
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const Buffer &buffer = plan.buffers[i];
      int64_t size = value(buffer.size), offset = value(buffer.offset), bytes = byteSize(buffer.elementType);
      for (uint32_t dim : buffer.dims)
        if (value(dim) < 0 || __builtin_mul_overflow(bytes, value(dim), &bytes))
          return damaged("buffer " + std::to_string(i) + " has a dimension of " + std::to_string(value(dim)));
      size_t container = containerBytes(buffer);
      if (size < bytes || offset < 0 || static_cast<size_t>(offset) > container || static_cast<size_t>(size) > container - offset)
        return damaged("buffer " + std::to_string(i) + " has bytes " + std::to_string(offset) + " to " + std::to_string(offset) + " + " +
                       std::to_string(size) + " of " + std::to_string(container) + ", its tensor needs " + std::to_string(bytes));
    }
    return okStatus();
  }

  void addSlot(uint32_t bufferIndex, int64_t offset = 0) {
    const Buffer &buffer = plan.buffers[bufferIndex];
    if (buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output)
      program.patched.push_back(static_cast<uint32_t>(program.slots.size()));
    program.slots.push_back({buffer.kind, buffer.index, static_cast<size_t>(value(buffer.offset) + offset)});
  }

  void addSizes(const Instruction &instruction, Step &step) {
    step.firstSize = static_cast<uint32_t>(program.sizes.size());
    step.sizeCount = static_cast<uint32_t>(instruction.sizes.size());
    for (uint32_t size : instruction.sizes)
      program.sizes.push_back(value(size));
  }

  Status addSteps(const std::vector<Instruction> &instructions, std::vector<Step> &steps) {
    steps.reserve(instructions.size());
    for (const Instruction &instruction : instructions) {
      Step &step = steps.emplace_back();
      step.kind = instruction.kind;
      step.number = nextNumber++;
      step.slot = static_cast<uint32_t>(program.slots.size());
      if (instruction.operations)
        step.operations = static_cast<uint64_t>(std::max<int64_t>(0, value(*instruction.operations)));
      if (instruction.bytes)
        step.traffic = static_cast<uint64_t>(std::max<int64_t>(0, value(*instruction.bytes)));
      STATOR_RETURN_IF_ERROR(fill(instruction, step));
      program.mostWorkers = std::max(program.mostWorkers, step.workers);
    }
    return okStatus();
  }

  Status fill(const Instruction &instruction, Step &step) {
    switch (instruction.kind) {
    case InstructionKind::Kernel:
      return fillKernel(instruction, step);
    case InstructionKind::Library:
      return fillLibrary(instruction, step);
    case InstructionKind::Copy:
      return fillCopy(instruction, step);
    case InstructionKind::Shape:
      return fillShape(instruction, step);
    case InstructionKind::If:
    case InstructionKind::Loop:
      if (value(plan.buffers[instruction.condition].size) < 1)
        return damaged("a condition has no bytes");
      addSlot(instruction.condition);
      STATOR_RETURN_IF_ERROR(addSteps(instruction.first, step.first));
      return addSteps(instruction.second, step.second);
    }
    return damaged("an instruction is of an unknown kind");
  }

  Status fillKernel(const Instruction &instruction, Step &step) {
    step.function = module.kernel(instruction.kernel);
    step.meeting = !module.manifest().kernels[instruction.kernel].independentParts;
    size_t bytes = 0;
    for (uint32_t buffer : instruction.buffers) {
      addSlot(buffer);
      bytes += static_cast<size_t>(value(plan.buffers[buffer].size));
    }
    addSizes(instruction, step);
    step.workers = workersFor(step, instruction.family, bytes, threads);
    if (instruction.family == "recurrent" && step.operations)
      limitRecurrent(instruction, step);
    // Without a CPU of its own a worker keeps those that wait for it at each meeting from going on.
    static const int cpus = std::max(1, availableCpus());
    if (step.meeting)
      step.workers = std::min(step.workers, cpus);
    return okStatus();
  }

  // A recurrent layer is a sequence of small jobs. Its workers meet at each step if that is large (RecurrentKernel.cpp), and otherwise
  // have rows of the batch and directions of their own; more workers than rows would have nothing to do.
  void limitRecurrent(const Instruction &instruction, Step &step) {
    if (instruction.buffers.empty())
      return;
    const std::vector<uint32_t> &input = plan.buffers[instruction.buffers[0]].dims; // [steps, batch, inputs]
    if (input.size() != 3)
      return;
    int64_t rows = value(input[1]), all;
    for (uint32_t buffer : instruction.buffers)
      if (const std::vector<uint32_t> &dims = plan.buffers[buffer].dims; dims.size() == 4) // [steps, directions, batch, hidden]
        if (!__builtin_mul_overflow(value(dims[1]), value(dims[2]), &all))
          rows = std::max(rows, all);
    uint64_t operationsOfStep = step.operations / static_cast<uint64_t>(std::max<int64_t>(1, value(input[0])));
    uint64_t wanted;
    if (operationsOfStep >= kOperationsOfSharedStep)
      wanted = operationsOfStep / (kOperationsOfSharedStep / 2);
    else // A kernel that might meet waits until each of its workers is awake, which has to be worth it.
      wanted = std::min(static_cast<uint64_t>(std::max<int64_t>(rows, 1)),
                        step.operations / ((step.meeting ? 32 : 4) * kOperationsPerUnit * kUnitsPerWorker));
    step.workers = std::min(step.workers, static_cast<int>(std::clamp<uint64_t>(wanted, 1, static_cast<uint64_t>(threads))));
  }

  Status fillLibrary(const Instruction &instruction, Step &step) {
    std::vector<StatorLibraryOption> options;
    for (const serialization::Attribute &attribute : instruction.attributes)
      options.push_back({attribute.name.c_str(), attribute.integers.data(), attribute.integers.size()});
    addSizes(instruction, step);
    std::vector<const void *> constants;
    std::vector<size_t> bytes;
    for (uint32_t index : instruction.buffers) {
      const Buffer &buffer = plan.buffers[index];
      addSlot(index);
      bool constant = buffer.kind == BufferKind::Parameter;
      constants.push_back(constant ? module.parameter(buffer.index) + value(buffer.offset) : nullptr);
      bytes.push_back(static_cast<size_t>(value(buffer.size)));
    }
    StatorLibraryStep description{};
    description.routine = instruction.routine.c_str();
    description.options = options.data();
    description.optionCount = options.size();
    description.sizes = program.sizes.data() + step.firstSize;
    description.sizeCount = step.sizeCount;
    description.constants = constants.data();
    description.bufferBytes = bytes.data();
    description.bufferCount = bytes.size();
    description.threads = threads;
    std::shared_ptr<LibraryContext> context = module.library(instruction.library);
    if (!context)
      return damaged("it calls the library `" + instruction.library + "`, which is not among the artifact's requirements");
    STATOR_TRY(prepared, LibraryStep::create(std::move(context), description));
    step.library = std::move(prepared);
    if (const StatorLibraryPlugin *plugin = step.library.plugin(); plugin->parallel && plugin->barrier)
      program.libraryThreads = {plugin->parallel, plugin->barrier};
    return okStatus();
  }

  bool inside(uint32_t buffer, int64_t offset, int64_t bytes) const {
    int64_t size = value(plan.buffers[buffer].size);
    return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
  }

  Status fillCopy(const Instruction &instruction, Step &step) {
    int64_t bytes = value(instruction.copySize);
    if (!inside(instruction.source, value(instruction.sourceOffset), bytes) ||
        !inside(instruction.destination, value(instruction.destinationOffset), bytes))
      return damaged("a copy of " + std::to_string(bytes) + " bytes leaves its buffers");
    addSlot(instruction.source, value(instruction.sourceOffset));
    addSlot(instruction.destination, value(instruction.destinationOffset));
    step.bytes = static_cast<size_t>(bytes);
    return okStatus();
  }

  Status fillShape(const Instruction &instruction, Step &step) {
    const Buffer &buffer = plan.buffers[instruction.destination];
    step.elementType = buffer.elementType;
    if (step.elementType != ElementType::I64 && step.elementType != ElementType::I32)
      return damaged("sizes are written as " + std::string(name(step.elementType)));
    if (!inside(instruction.destination, 0, static_cast<int64_t>(instruction.sizes.size() * byteSize(step.elementType))))
      return damaged("sizes are written beyond their buffer");
    addSlot(instruction.destination);
    addSizes(instruction, step);
    return okStatus();
  }

  const LoadedModule &module;
  const Method &method;
  const Plan &plan;
  int threads;
  Program &program;
  uint32_t nextNumber = 0;
};

Result<std::unique_ptr<Program>> Program::build(const LoadedModule &module, size_t method, ShapeValues shapes, int threads) {
  std::unique_ptr<Program> program(new Program());
  program->shapeValues = std::move(shapes);
  STATOR_RETURN_IF_ERROR(ProgramBuilder(module, method, threads, *program).build());
  return program;
}

bool Program::matches(InputViews inputs) const {
  const int64_t *expected = shapeValues.inputDims.data();
  for (const stator_tensor_view &input : inputs) {
    if (!std::equal(input.shape, input.shape + input.rank, expected))
      return false;
    expected += input.rank;
  }
  return true;
}

void Program::resolve(std::byte *memory, const LoadedModule &module, StateAddresses states) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    switch (slot.kind) {
    case BufferKind::Arena:
      addresses[i] = memory + slot.offset;
      break;
    case BufferKind::Parameter:
      // Kernels take pointers to non-const for operands too; parameters are mapped read-only, and only operands.
      addresses[i] = const_cast<std::byte *>(module.parameter(slot.index)) + slot.offset;
      break;
    case BufferKind::State:
      addresses[i] = states[slot.index] + slot.offset;
      break;
    case BufferKind::Input:
    case BufferKind::Output:
      break;
    }
  }
  scratchMemory = memory + scratchOffset;
}

void Program::patch(void *const *inputs, void *const *outputs) {
  for (uint32_t index : patched) {
    const Slot &slot = slots[index];
    void *const *base = slot.kind == BufferKind::Input ? inputs : outputs;
    addresses[index] = static_cast<std::byte *>(base[slot.index]) + slot.offset;
  }
}

} // namespace stator::runtime
