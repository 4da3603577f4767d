// Memory and state to run a module with. The heart of the runtime: recognises the input shapes, prepares a program for new ones, and
// executes it.
//
// A session keeps the programs of the last few shapes of each method. They all use the same memory, which grows to what the largest of
// them needs; when it moves, programs compute their addresses again. So the second run of a shape allocates nothing, and many shapes
// cost the memory of one.
#ifndef STATOR_RUNTIME_EXECUTOR_SESSION_H
#define STATOR_RUNTIME_EXECUTOR_SESSION_H

#include "runtime/Executor/Profile.h"
#include "runtime/Executor/Program.h"
#include "runtime/Executor/State.h"
#include "runtime/Memory/Arena.h"

#include <atomic>
#include <memory>

namespace stator::runtime {

struct SessionConfig {
  int threads = 0; ///< 0: defaultThreadCount().
  bool flushDenormals = false;
  int shapeCache = 8;
  bool profile = false;
  size_t traceEvents = 0; ///< How many events of the latest run to keep.
};

/// Runs one thing at a time; a second call meanwhile is refused.
class Session {
public:
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const LoadedModule> module, const SessionConfig &config);

  /// See stator_session_run(). `outputs` is empty or has one view per declared output.
  Status run(size_t method, InputViews inputs, std::span<stator_tensor_view> outputs);
  /// See stator_session_output_shapes().
  Status outputShapes(size_t method, InputViews inputs, std::span<stator_tensor_view> outputs);
  /// Of the last successful run.
  std::span<const stator_tensor_view> lastOutputs() const { return results; }

  size_t memoryBytes() const { return memory.size(); }
  Status trim();
  Status resetState();
  Status saveState(const std::string &path);
  Status loadState(const std::string &path);

  const State &state() const { return states; }
  int threads() const { return config.threads; }
  const LoadedModule &module() const { return *owner; }
  /// Of each instruction of a method, in plan order, nested ones behind their parent. Empty unless profiling.
  const std::vector<ProfileCounter> &profile(size_t method) const { return methods[method].profile; }
  /// Of the latest run, in the order in which they ended. Empty unless tracing.
  const std::vector<stator_trace_event> &trace() const { return events; }

private:
  friend class Runner;
  struct CachedProgram {
    std::unique_ptr<Program> program;
    uint64_t lastUse = 0;
    uint64_t resolvedFor = 0; // The generation of the memory.
  };
  struct MethodState {
    std::vector<CachedProgram> programs;
    std::vector<ProfileCounter> profile;
  };

  Session(std::shared_ptr<const LoadedModule> module, const SessionConfig &config) : owner(std::move(module)), config(config) {}
  Result<CachedProgram *> prepare(size_t method, InputViews inputs);
  Status makeRoom(CachedProgram &cached);
  Status placeOutputs(size_t method, const Program &program, InputViews inputs, std::span<stator_tensor_view> outputs);
  void describeOutputs(size_t method, const Program &program);

  std::shared_ptr<const LoadedModule> owner;
  SessionConfig config;
  State states;
  Arena memory;
  uint64_t memoryGeneration = 1;
  uint64_t useCounter = 0;
  std::vector<MethodState> methods;
  std::vector<stator_tensor_view> results;
  size_t resultMethod = 0;
  std::vector<stator_trace_event> events;
  std::vector<void *> inputAddresses;
  std::vector<void *> outputAddresses;
  std::atomic<bool> busy{false};
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_EXECUTOR_SESSION_H
