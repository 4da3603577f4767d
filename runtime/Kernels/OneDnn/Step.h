// One library instruction, prepared for oneDNN: a primitive for fixed shapes and the memory objects that its arguments go through.
//
// oneDNN wants weights in a layout of its own choice. Weights that never change are packed into it once per module and layout, by the
// Context; others are handed over as they are. Primitives are not kept here: oneDNN has a process-wide cache of them, which answers in
// microseconds.
//
// Code of this folder may throw (oneDNN's C++ interface does); Plugin.cpp catches at the edge.
#ifndef STATOR_RUNTIME_KERNELS_ONEDNN_STEP_H
#define STATOR_RUNTIME_KERNELS_ONEDNN_STEP_H

#include "runtime/Kernels/LibraryAbi.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stator::runtime::onednn {

/// A description that does not fit the routine: a damaged artifact.
struct InvalidStep : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What all steps of a module share. Thread-safe.
class Context {
public:
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};

  /// `plain`, copied into the layout `wanted`; the same memory for every caller that asks for the same bytes and layout.
  std::shared_ptr<dnnl::memory> packed(const dnnl::memory &plain, const dnnl::memory::desc &wanted);

private:
  std::mutex mutex;
  // The key: where the plain bytes lie and the bits of the layout. Looked up only.
  std::map<std::pair<const void *, std::string>, std::shared_ptr<dnnl::memory>> weights;
};

/// Reads the options and sizes of a description; everything that is missing or too short is an InvalidStep.
class StepReader {
public:
  explicit StepReader(const StatorLibraryStep &step) : step(step) {}

  std::span<const int64_t> list(const char *name) const;
  /// 0 when the option is absent.
  int64_t number(const char *name) const;
  /// The next `count` sizes.
  dnnl::memory::dims takeSizes(size_t count);
  size_t sizeCount() const { return step.sizeCount; }
  void requireBuffer(size_t index, const dnnl::memory::dims &dims) const;
  const void *constant(size_t index) const { return step.constants[index]; }
  size_t bufferCount() const { return step.bufferCount; }

private:
  const StatorLibraryStep &step;
  size_t nextSize = 0;
};

/// A primitive and its arguments. Used by one thread at a time.
class Step {
public:
  static std::unique_ptr<Step> createMatmul(Context &context, StepReader &reader);
  static std::unique_ptr<Step> createConvolution(Context &context, StepReader &reader);

  /// Binds the buffers and runs on at most `threads` threads.
  void execute(void *const *buffers);
  int threads = 1;

private:
  struct Argument {
    size_t buffer;
    dnnl::memory memory;
  };

  explicit Step(Context &context) : context(context), stream(context.engine) {}
  void bind(int dnnlArgument, size_t buffer, const dnnl::memory::desc &desc);
  /// Weights: packed at once when they are constant and the primitive wants another layout.
  void bindWeights(size_t buffer, const dnnl::memory::desc &plain, const dnnl::memory::desc &wanted, const void *constant);
  /// Post-ops of the description; their operands are bound from buffer `next` on, which is advanced.
  dnnl::primitive_attr attributes(StepReader &reader, const dnnl::memory::dims &result, int channelAxis, dnnl::memory::format_tag tag,
                                  size_t &next);
  void finish(const dnnl::primitive_desc_base &description);

  Context &context;
  dnnl::stream stream;
  dnnl::primitive primitive;
  std::vector<Argument> arguments; // The handles are replaced at every execution.
  std::unordered_map<int, dnnl::memory> map;
  std::shared_ptr<dnnl::memory> keptWeights;
};

/// OpenMP's threads, on which oneDNN runs, for other work; see LibraryAbi.h. Null when its runtime is not GNU's.
using ParallelFunction = void (*)(int threads, void (*function)(void *data, int part, int parts), void *data);
using BarrierFunction = void (*)();
ParallelFunction openMpParallel();
BarrierFunction openMpBarrier();

/// While it lives, oneDNN's OpenMP runtime uses this many threads for the calling thread's work.
class OpenMpThreads {
public:
  explicit OpenMpThreads(int threads);
  ~OpenMpThreads();

private:
  int before = 0;
};

} // namespace stator::runtime::onednn

#endif // STATOR_RUNTIME_KERNELS_ONEDNN_STEP_H
