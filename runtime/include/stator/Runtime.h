// stator/Runtime.h - loads a .stator file and runs it, from C++17.
//
//   auto module  = stator::Module::load("model.stator").value();        // maps, validates, picks kernels for this CPU
//   auto session = module.session(stator::SessionOptions().threads(4)).value();
//   stator::Tensor image = stator::Tensor::zeros(stator::ElementType::F32, {1, 3, 224, 224});
//   auto outputs = session.run("forward", {image}).value();             // views owned by the session
//   const float *scores = outputs[0].data<float>();
//
// A header-only layer over the C interface (stator/c/runtime.h): no type of the C++ standard library crosses the boundary of
// libstator.so.
//
// Ownership: Module and Session are handles. Copies of a Module share one loaded artifact; a Session is moved, not copied. Tensor
//   owns its bytes, TensorView nothing.
// Lifetime: a Session keeps its Module alive. Outputs that the session owns are valid until its next run, reset, trim or end.
// Threads: a Module may be used from any number of threads. A Session belongs to one thread at a time (a second call meanwhile gives
//   ResourceExhausted); any number of sessions run concurrently, sharing weights and one thread pool.
// Failure: Result<T> and Status carry a code and a message that says what was seen and what was expected; nothing throws. `value()`
//   of a failed Result ends the process with its message: services test first.
#ifndef STATOR_RUNTIME_H
#define STATOR_RUNTIME_H

#include "stator/ElementType.h"
#include "stator/Result.h"
#include "stator/Status.h"
#include "stator/Tensor.h"
#include "stator/c/runtime.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stator {

class Session;

/// One dimension of a declared input or output.
struct DimInfo {
  int64_t size;     ///< The size, or -1 when it depends on the inputs.
  std::string text; ///< "64", "N", "floordiv(T, 2) + 1".
  int64_t minimum;  ///< Of a dimension that is one named size: its range, inclusive; otherwise -1.
  int64_t maximum;
};

struct ValueInfo {
  std::string name;
  ElementType type;
  std::vector<DimInfo> dims;
};

struct MethodInfo {
  std::string name;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
};

/// A stored parameter; `view` points into the mapped file and must not be written.
struct ParameterInfo {
  std::string name;
  std::string layout; ///< "" for plain row-major, else the layout that kernels read.
  bool isMutable;     ///< The initial value of a state.
  TensorView view;
};

/// What Module::load may be told.
class LoadOptions {
public:
  /// Use the kernels of this level ("x86-64-v3") instead of the best that the machine has. Refused when the machine lacks it.
  LoadOptions &cpuLevel(std::string level) {
    requestedLevel = std::move(level);
    return *this;
  }
  const std::string &cpuLevel() const { return requestedLevel; }

private:
  std::string requestedLevel;
};

/// What a session may be told; the defaults suit a service that owns its container.
class SessionOptions {
public:
  SessionOptions() {
    options = stator_session_options{};
    options.struct_size = sizeof(options);
  }
  /// The most threads that a run uses, the calling one among them. 0: STATOR_NUM_THREADS, OMP_NUM_THREADS, or what affinity and cgroup
  /// allow.
  SessionOptions &threads(int count) {
    options.threads = count;
    return *this;
  }
  /// Treat denormal floats as zero during runs.
  SessionOptions &flushDenormals(bool flush) {
    options.flush_denormals = flush;
    return *this;
  }
  /// How many input shapes a method keeps prepared.
  SessionOptions &shapeCache(int shapes) {
    options.shape_cache = shapes;
    return *this;
  }
  /// Measure every instruction.
  SessionOptions &profile(bool on) {
    options.profile = on;
    return *this;
  }
  /// When profiling, also keep the first `count` events of the latest run.
  SessionOptions &traceEvents(size_t count) {
    options.trace_events = count;
    return *this;
  }
  const stator_session_options &raw() const { return options; }

private:
  stator_session_options options;
};

namespace detail {
/// Turns a status of the C interface into one of this one, and releases it.
inline Status takeStatus(stator_status *raw) {
  if (!raw)
    return Status();
  Status status(static_cast<StatusCode>(stator_status_get_code(raw)), stator_status_get_message(raw));
  stator_status_release(raw);
  return status;
}
} // namespace detail

/// A loaded artifact: immutable, cheap to copy, usable from any thread.
class Module {
public:
  /// Maps and validates the file. Weights are not read or copied; the file must stay unchanged while mapped.
  static Result<Module> load(const std::string &path, const LoadOptions &options = LoadOptions()) {
    stator_load_options raw{};
    raw.struct_size = sizeof(raw);
    raw.cpu_level = options.cpuLevel().empty() ? nullptr : options.cpuLevel().c_str();
    stator_module *module = nullptr;
    if (stator_status *status = stator_module_load(path.c_str(), &raw, &module))
      return detail::takeStatus(status);
    return Module(module);
  }

  /// A session: own memory and state, shared weights.
  inline Result<Session> session(const SessionOptions &options = SessionOptions()) const;

  /// The level whose kernels are used, such as "x86-64-v3".
  std::string cpuLevel() const { return stator_module_cpu_level(get()); }
  std::string producer() const { return stator_module_producer(get()); }
  std::string modelName() const { return stator_module_model_name(get()); }

  std::vector<MethodInfo> methods() const {
    std::vector<MethodInfo> result;
    for (size_t i = 0, e = stator_module_method_count(get()); i < e; ++i)
      result.push_back({stator_module_method_name(get(), i), values(i, STATOR_INPUT), values(i, STATOR_OUTPUT)});
    return result;
  }

  std::vector<ParameterInfo> parameters() const {
    std::vector<ParameterInfo> result;
    for (size_t i = 0, e = stator_module_parameter_count(get()); i < e; ++i) {
      stator_parameter_info info{};
      stator_module_parameter(get(), i, &info);
      stator_tensor_view view{const_cast<void *>(info.data), info.size_bytes, info.shape, info.rank, info.element_type};
      result.push_back({info.name, info.layout, info.is_mutable != 0, TensorView(view)});
    }
    return result;
  }

  stator_module *get() const { return handle.get(); }

private:
  explicit Module(stator_module *module) : handle(module, stator_module_release) {}

  std::vector<ValueInfo> values(size_t method, stator_value_kind kind) const {
    std::vector<ValueInfo> result;
    for (size_t i = 0, e = stator_module_value_count(get(), method, kind); i < e; ++i) {
      stator_value_info info{};
      stator_module_value(get(), method, kind, i, &info);
      ValueInfo value{info.name, static_cast<ElementType>(info.element_type), {}};
      for (int32_t d = 0; d < info.rank; ++d)
        value.dims.push_back({info.dims[d].size, info.dims[d].text, info.dims[d].minimum, info.dims[d].maximum});
      result.push_back(std::move(value));
    }
    return result;
  }

  std::shared_ptr<stator_module> handle;
};

/// The results of a run: views in declared order. Valid as long as the session keeps them, see the head of this file.
class Outputs {
public:
  Outputs(const stator_tensor_view *views, size_t count) : views(views), count(count) {}
  size_t size() const { return count; }
  TensorView operator[](size_t index) const { return TensorView(views[index]); }

private:
  const stator_tensor_view *views;
  size_t count;
};

/// One measured instruction of a method, see SessionOptions::profile.
struct ProfileEntry {
  std::string name;   ///< The source operations.
  std::string kernel; ///< Name of the kernel or library; "copy", "shape", "if", "loop".
  std::string family;
  uint64_t calls;
  uint64_t nanoseconds;
  uint64_t operations; ///< Nominal arithmetic of all calls, and the bytes of their
  uint64_t bytes;      ///< operands and results.
};

/// One execution of an instruction in the latest run; `instruction` is the index of its profile entry.
using TraceEvent = stator_trace_event;

/// Memory and state to run a module with.
class Session {
public:
  /// Runs a method into memory of the session. Inputs are only read. Allocates nothing once the input shapes have been seen.
  Result<Outputs> run(const char *method, TensorViews inputs) { return runInto(method, inputs, nullptr, 0); }

  /// Runs a method into the caller's tensors, one per output; those without data are placed in the session. They must be large
  /// enough and must not overlap inputs or each other; on return they carry the results' shapes (which the session owns).
  Result<Outputs> run(const char *method, TensorViews inputs, std::vector<TensorView> &outputs) {
    return runInto(method, inputs, outputs.data(), outputs.size());
  }
  /// The same for output tensors of the right shape, which keep their own shape.
  Result<Outputs> runInto(const char *method, TensorViews inputs, TensorView *outputs, size_t outputCount) {
    size_t index = stator_module_find_method(parent.get(), method);
    stator_tensor_view *raw = outputs ? outputs->rawArray() : nullptr;
    if (stator_status *status = stator_session_run(get(), index, inputs.rawArray(), inputs.size(), raw, outputs ? outputCount : 0)) {
      if (index == SIZE_MAX) {
        stator_status_release(status);
        return Status(StatusCode::NotFound, "the module has no method `" + std::string(method) + "`");
      }
      return detail::takeStatus(status);
    }
    return lastOutputs();
  }

  /// Element types and shapes that a run with such inputs would give; inputs need no data.
  Result<std::vector<TensorView>> outputShapes(const char *method, TensorViews inputs) {
    size_t index = stator_module_find_method(parent.get(), method);
    std::vector<TensorView> outputs(stator_module_value_count(parent.get(), index, STATOR_OUTPUT));
    stator_tensor_view *raw = outputs.empty() ? nullptr : outputs.front().rawArray();
    if (stator_status *status = stator_session_output_shapes(get(), index, inputs.rawArray(), inputs.size(), raw, outputs.size()))
      return detail::takeStatus(status);
    return outputs;
  }

  const Module &module() const { return parent; }
  int threads() const { return stator_session_threads(get()); }

  /// Bytes held for intermediate values; `trim` gives them back until the next run.
  size_t arenaBytes() const { return stator_session_arena_bytes(get()); }
  Status trim() { return detail::takeStatus(stator_session_trim(get())); }

  /// State tensors, which may be read and written between runs.
  std::vector<std::string> stateNames() const {
    std::vector<std::string> names;
    for (size_t i = 0, e = stator_session_state_count(get()); i < e; ++i)
      names.push_back(stator_session_state_name(get(), i));
    return names;
  }
  Result<TensorView> state(const std::string &name) {
    for (size_t i = 0, e = stator_session_state_count(get()); i < e; ++i) {
      if (name != stator_session_state_name(get(), i))
        continue;
      stator_tensor_view view{};
      if (stator_status *status = stator_session_state(get(), i, &view))
        return detail::takeStatus(status);
      return TensorView(view);
    }
    return Status(StatusCode::NotFound, "the session has no state `" + name + "`");
  }
  Status resetState() { return detail::takeStatus(stator_session_reset_state(get())); }
  Status saveState(const std::string &path) { return detail::takeStatus(stator_session_save_state(get(), path.c_str())); }
  Status loadState(const std::string &path) { return detail::takeStatus(stator_session_load_state(get(), path.c_str())); }

  std::vector<ProfileEntry> profile(const char *method) const {
    std::vector<ProfileEntry> result;
    size_t index = stator_module_find_method(parent.get(), method);
    for (size_t i = 0, e = stator_session_profile_count(get(), index); i < e; ++i) {
      stator_profile_entry entry{};
      stator_session_profile_entry(get(), index, i, &entry);
      result.push_back({entry.name, entry.kernel, entry.family, entry.calls, entry.nanoseconds, entry.operations, entry.bytes});
    }
    return result;
  }

  /// Of the latest run, see SessionOptions::traceEvents. In the order in which the instructions ended.
  std::vector<TraceEvent> trace() const {
    size_t count = 0;
    const stator_trace_event *events = stator_session_trace(get(), &count);
    return std::vector<TraceEvent>(events, events + count);
  }

  stator_session *get() const { return handle.get(); }

private:
  friend class Module;
  struct Release {
    void operator()(stator_session *session) const { stator_session_release(session); }
  };
  Session(Module module, stator_session *session) : parent(std::move(module)), handle(session) {}

  Outputs lastOutputs() const {
    size_t count = 0;
    const stator_tensor_view *views = stator_session_outputs(get(), &count);
    return Outputs(views, count);
  }

  Module parent;
  std::unique_ptr<stator_session, Release> handle;
};

inline Result<Session> Module::session(const SessionOptions &options) const {
  stator_session *session = nullptr;
  if (stator_status *status = stator_session_create(get(), &options.raw(), &session))
    return detail::takeStatus(status);
  return Session(*this, session);
}

/// Threads that a session uses unless told otherwise.
inline int defaultThreads() { return stator_default_threads(); }

} // namespace stator

#endif // STATOR_RUNTIME_H
