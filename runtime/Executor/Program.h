// A method, prepared for one set of input shapes: every instruction with its kernel, its buffers as addresses and its sizes as numbers,
// so that running it only patches the addresses of inputs and outputs and calls functions.
//
// All that a manifest says about buffers is checked here against the sizes of this shape (bounds of every buffer in its arena, input,
// output or parameter; ranges of copies). After that nothing is checked any more.
#ifndef STATOR_RUNTIME_EXECUTOR_PROGRAM_H
#define STATOR_RUNTIME_EXECUTOR_PROGRAM_H

#include "runtime/Devices/Cpu/ThreadPool.h"
#include "runtime/Executor/ShapeBinding.h"
#include "runtime/Kernels/LibraryPlugin.h"
#include "runtime/Loader/LoadedModule.h"

#include <memory>

namespace stator::runtime {

/// One prepared instruction. `slot` is the first of its addresses in Program::addresses.
struct Step {
  serialization::InstructionKind kind = serialization::InstructionKind::Kernel;
  uint32_t number = 0; ///< Position among the plan's instructions, nested ones included: its place in the profile.
  uint32_t slot = 0;
  int workers = 1;
  bool meeting = false; ///< Kernel: its workers wait for each other.
  StatorKernelFunction function = nullptr;
  uint32_t firstSize = 0; ///< Kernel, Shape: in Program::sizes.
  uint32_t sizeCount = 0;
  ElementType elementType = ElementType::I64; ///< Shape.
  size_t bytes = 0;                           ///< Copy.
  uint64_t operations = 0;                    ///< For profiles: arithmetic of one execution, and the bytes of its operands
  uint64_t traffic = 0;                       ///< and results.
  LibraryStep library;
  std::vector<Step> first;
  std::vector<Step> second;
};

/// Where a session keeps the state of parameter `i`; null for parameters that are not state.
using StateAddresses = std::span<std::byte *const>;

/// Belongs to one session.
class Program {
public:
  /// Prepares `method` for what bindShapes() found. `threads` is the most workers of a run.
  static Result<std::unique_ptr<Program>> build(const LoadedModule &module, size_t method, ShapeValues shapes, int threads);

  /// Whether the inputs, which have passed checkInputs(), have the shapes of this program.
  bool matches(InputViews inputs) const;

  /// One piece of memory serves the arena, session-owned outputs and the workers' scratch.
  size_t memoryBytes() const { return totalBytes; }
  size_t outputOffset(size_t output) const { return outputOffsets[output]; }
  const ShapeValues &shapes() const { return shapeValues; }
  const std::vector<Step> &steps() const { return topSteps; }
  /// The most workers that any step wants.
  int teamSize() const { return mostWorkers; }
  /// The threads of the library that some step calls, to be used for the kernels too; null if there are none.
  const ExternalThreads *externalThreads() const { return libraryThreads.parallel ? &libraryThreads : nullptr; }

  /// Computes the addresses in memory of the session. To be called again when that has moved.
  void resolve(std::byte *memory, const LoadedModule &module, StateAddresses states);
  /// Puts in the addresses of one call's inputs and outputs.
  void patch(void *const *inputs, void *const *outputs);

  void *const *addressesOf(const Step &step) const { return addresses.data() + step.slot; }
  const int64_t *sizesOf(const Step &step) const { return sizes.data() + step.firstSize; }
  std::byte *scratch() const { return scratchMemory; }
  size_t scratchStride() const { return scratchBytes; }

private:
  friend class ProgramBuilder;
  struct Slot {
    serialization::BufferKind kind;
    uint32_t index;
    size_t offset;
  };

  ShapeValues shapeValues;
  std::vector<Step> topSteps;
  std::vector<Slot> slots;
  std::vector<void *> addresses; // One per slot.
  std::vector<uint32_t> patched; // Slots of inputs and outputs.
  std::vector<int64_t> sizes;
  std::vector<size_t> outputOffsets;
  size_t scratchOffset = 0;
  size_t scratchBytes = 0;
  size_t totalBytes = 0;
  std::byte *scratchMemory = nullptr;
  int mostWorkers = 1;
  ExternalThreads libraryThreads{};
};

/// The number of instructions, nested ones included.
size_t countInstructions(const std::vector<serialization::Instruction> &instructions);

} // namespace stator::runtime

#endif // STATOR_RUNTIME_EXECUTOR_PROGRAM_H
