/* stator/c/runtime.h - the C interface of libstator
 *
 * Everything that libstator exports is declared here; stator/Runtime.h is a header-only C++17 layer over it, so that no type of a
 * C++ standard library crosses the boundary of the shared object and a program may use any compiler and any standard library.
 *
 * Ownership. Handles are opaque. What a `..._load`, `..._create` or failed call hands out is released with the matching
 *   `..._release`; a handle's release accepts NULL. Strings and arrays that are returned belong to the handle they came from.
 * Lifetime. A session keeps its module alive. Session-owned outputs are valid until the session's next run, reset, trim or release.
 * Threads. Modules are immutable and may be used from any number of threads. A session runs one thing at a time: a call that finds
 *   the session busy fails with STATOR_RESOURCE_EXHAUSTED. Sessions are independent of each other and run concurrently.
 * Failure. Calls return NULL on success, else a status with a code and a message that names what was seen and what was expected.
 *   A call that failed left its outputs and the session's state in a valid, though unspecified, condition. Nothing aborts or throws.
 */
#ifndef STATOR_C_RUNTIME_H
#define STATOR_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(STATOR_BUILDING_RUNTIME)
#define STATOR_API __attribute__((visibility("default")))
#else
#define STATOR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------------------ */

typedef enum stator_status_code {
  STATOR_OK = 0,
  STATOR_INVALID_ARGUMENT = 1,   /* the caller gave something that does not fit */
  STATOR_INVALID_FILE = 2,       /* the artifact is damaged, of another version, or not an artifact */
  STATOR_UNSUPPORTED = 3,        /* this machine or this build cannot do it: no fitting CPU level, no plug-in */
  STATOR_NOT_FOUND = 4,          /* no such file, method, parameter */
  STATOR_OUT_OF_RANGE = 5,       /* a size outside its declared range */
  STATOR_RESOURCE_EXHAUSTED = 6, /* memory, threads, file space; or the session is running something else */
  STATOR_INTERNAL = 7            /* a bug of Stator */
} stator_status_code;

typedef struct stator_status stator_status; /* NULL is success */

/* Both accept NULL: STATOR_OK and "". The message lives as long as the status. */
STATOR_API stator_status_code stator_status_get_code(const stator_status *status);
STATOR_API const char *stator_status_get_message(const stator_status *status);
STATOR_API void stator_status_release(stator_status *status);

/* "0.1.0" */
STATOR_API const char *stator_version(void);

/* ---- Tensors ----------------------------------------------------------------------------------------------------------------- */

typedef enum stator_element_type {
  STATOR_INVALID_TYPE = 0,
  STATOR_F32 = 1,
  STATOR_F64 = 2,
  STATOR_F16 = 3,
  STATOR_BF16 = 4,
  STATOR_I64 = 5,
  STATOR_I32 = 6,
  STATOR_I16 = 7,
  STATOR_I8 = 8,
  STATOR_U8 = 9,
  STATOR_I1 = 10 /* one byte per element, 0 or 1 */
} stator_element_type;

/* A dense row-major tensor in somebody's memory. The view owns nothing. Data must be aligned to its element. */
typedef struct stator_tensor_view {
  void *data;
  size_t size_bytes;    /* bytes that may be used at `data`; at least those of the tensor */
  const int64_t *shape; /* `rank` sizes; NULL when rank is 0, or for an output that is still to be computed */
  int32_t rank;
  int32_t element_type; /* a stator_element_type */
} stator_tensor_view;

/* ---- Module: a loaded artifact ------------------------------------------------------------------------------------------------ */

typedef struct stator_module stator_module;

typedef struct stator_load_options {
  size_t struct_size;    /* sizeof(stator_load_options): lets later versions append fields */
  const char *cpu_level; /* "x86-64-v3": use these kernels; NULL: STATOR_CPU_LEVEL, else the best that the machine has */
} stator_load_options;

/* Maps the file, validates it and picks kernels. Weights are not read: they stay mapped, shared with every other process that maps
 * the same file. The file must not be changed in place while mapped; replacing it by rename is fine. `options` may be NULL. */
STATOR_API stator_status *stator_module_load(const char *path, const stator_load_options *options, stator_module **module);
/* Shares ownership: each retain asks for one release more. */
STATOR_API void stator_module_retain(stator_module *module);
STATOR_API void stator_module_release(stator_module *module);

/* The level whose kernels are used, such as "x86-64-v3". */
STATOR_API const char *stator_module_cpu_level(const stator_module *module);
/* Who wrote the artifact, and the model's name ("" if none). */
STATOR_API const char *stator_module_producer(const stator_module *module);
STATOR_API const char *stator_module_model_name(const stator_module *module);

STATOR_API size_t stator_module_method_count(const stator_module *module);
STATOR_API const char *stator_module_method_name(const stator_module *module, size_t method);
/* The index of a method, or SIZE_MAX. */
STATOR_API size_t stator_module_find_method(const stator_module *module, const char *name);

typedef enum stator_value_kind { STATOR_INPUT = 0, STATOR_OUTPUT = 1 } stator_value_kind;

/* One dimension of a declared input or output: a size, or an expression of named sizes. */
typedef struct stator_dim_info {
  int64_t size;     /* the size, or -1 when it depends on the inputs */
  const char *text; /* "64", "N", "floordiv(T, 2) + 1" */
  int64_t minimum;  /* of a dimension that is one named size: its range, inclusive; otherwise -1 */
  int64_t maximum;
} stator_dim_info;

typedef struct stator_value_info {
  const char *name;
  int32_t element_type;
  int32_t rank;
  const stator_dim_info *dims;
} stator_value_info;

STATOR_API size_t stator_module_value_count(const stator_module *module, size_t method, stator_value_kind kind);
/* Zeroes `info` when there is no such value. */
STATOR_API void stator_module_value(const stator_module *module, size_t method, stator_value_kind kind, size_t index,
                                    stator_value_info *info);

typedef struct stator_parameter_info {
  const char *name;
  int32_t element_type;
  int32_t rank;
  const int64_t *shape;
  const void *data; /* as stored: in kernel layout unless `layout` is "" */
  size_t size_bytes;
  const char *layout; /* "" for plain row-major */
  int32_t is_mutable; /* the initial value of a state */
} stator_parameter_info;

STATOR_API size_t stator_module_parameter_count(const stator_module *module);
STATOR_API void stator_module_parameter(const stator_module *module, size_t index, stator_parameter_info *info);

/* ---- Session: memory and state to run with ------------------------------------------------------------------------------------ */

typedef struct stator_session stator_session;

typedef struct stator_session_options {
  size_t struct_size;
  /* The most threads that a run of this session uses, the calling one among them. 0: STATOR_NUM_THREADS, else OMP_NUM_THREADS,
   * else the CPUs of the process's affinity mask within its cgroup quota. Threads come from one pool per process. */
  int32_t threads;
  int32_t flush_denormals; /* not 0: denormal floats count as zero. The caller's floating-point mode is restored after a run. */
  int32_t shape_cache;     /* how many input shapes a method keeps prepared; 0: 8 */
  int32_t profile;         /* not 0: measure every instruction, see stator_session_profile_entry */
  size_t trace_events;     /* with `profile`: how many events of the latest run to keep (at most 2^20), see stator_session_trace */
} stator_session_options;

STATOR_API stator_status *stator_session_create(stator_module *module, const stator_session_options *options, stator_session **session);
STATOR_API void stator_session_release(stator_session *session);
STATOR_API int32_t stator_session_threads(const stator_session *session);

/* Runs a method. Inputs come in declared order and are only read. `outputs` may be NULL (then output_count is 0): results then lie in
 * the session, see stator_session_outputs. Otherwise there is one view per declared output: `data` NULL asks for a session-owned
 * result, else the result is written there (size_bytes must suffice). On return the views describe the results; their `shape` belongs to
 * the session. Inputs, outputs and the session's memory must not overlap: copy a session-owned result before it becomes an input.
 * The first run with an input shape prepares it; later runs with that shape allocate nothing. */
STATOR_API stator_status *stator_session_run(stator_session *session, size_t method, const stator_tensor_view *inputs, size_t input_count,
                                             stator_tensor_view *outputs, size_t output_count);
/* The results of the latest run, wherever they were written. NULL before the first and after one that failed. */
STATOR_API const stator_tensor_view *stator_session_outputs(const stator_session *session, size_t *count);

/* Element types and sizes that a run with inputs of these shapes would give, without running (data may be NULL in `inputs`). The
 * shapes belong to the session and are valid until its next call. */
STATOR_API stator_status *stator_session_output_shapes(stator_session *session, size_t method, const stator_tensor_view *inputs,
                                                       size_t input_count, stator_tensor_view *outputs, size_t output_count);

/* Bytes that the session holds for intermediate values and session-owned outputs, and gives back on demand. */
STATOR_API size_t stator_session_arena_bytes(const stator_session *session);
STATOR_API stator_status *stator_session_trim(stator_session *session);

/* State: tensors that a session keeps from run to run, initialised from the artifact's mutable parameters. */
STATOR_API size_t stator_session_state_count(const stator_session *session);
STATOR_API const char *stator_session_state_name(const stator_session *session, size_t index);
/* A view that may be read and written between runs. */
STATOR_API stator_status *stator_session_state(stator_session *session, size_t index, stator_tensor_view *view);
STATOR_API stator_status *stator_session_reset_state(stator_session *session);
/* One .npz file with an array per state. Saving replaces the file in one step; loading asks for every state, with its type and shape,
 * and changes nothing if one is missing. */
STATOR_API stator_status *stator_session_save_state(stator_session *session, const char *path);
STATOR_API stator_status *stator_session_load_state(stator_session *session, const char *path);

/* Of a session created with `profile`: one entry per instruction of a method, summed over its runs so far. */
typedef struct stator_profile_entry {
  const char *name;   /* the source operations */
  const char *kernel; /* name of the kernel or library; "copy", "shape", "if", "loop" */
  const char *family; /* "matmul", "map", ... */
  uint64_t calls;
  uint64_t nanoseconds;
  uint64_t operations; /* nominal: a multiplication with its addition is two, moving data none */
  uint64_t bytes;      /* of operands and results, each once per call */
} stator_profile_entry;

STATOR_API size_t stator_session_profile_count(const stator_session *session, size_t method);
STATOR_API void stator_session_profile_entry(const stator_session *session, size_t method, size_t index, stator_profile_entry *entry);

/* One execution of an instruction in the latest run, on the clock CLOCK_MONOTONIC. Those in a branch or a loop lie within its time. */
typedef struct stator_trace_event {
  uint64_t begin_nanoseconds;
  uint64_t end_nanoseconds;
  uint64_t operations;
  uint64_t bytes;
  uint32_t instruction; /* the index of its profile entry */
  int32_t workers;      /* threads that it ran on */
} stator_trace_event;

/* In the order in which they ended; the first `trace_events` of a run. The list is valid until the session's next call. */
STATOR_API const stator_trace_event *stator_session_trace(const stator_session *session, size_t *count);

/* ---- Process ------------------------------------------------------------------------------------------------------------------ */

/* Threads that a session uses unless told otherwise. */
STATOR_API int32_t stator_default_threads(void);

#ifdef __cplusplus
}
#endif

#endif /* STATOR_C_RUNTIME_H */
