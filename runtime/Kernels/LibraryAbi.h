/* The boundary between the runtime and a plug-in that brings a library of kernels (libstator_onednn.so). It is plain C because the
 * two are built apart and because the library behind the plug-in may use another C++ standard library or throw exceptions.
 *
 * The runtime asks the plug-in once for its table (the exported function `stator_library_plugin`), makes one context per loaded module,
 * and one step per library instruction and input shape. What the routines are, and which attributes, sizes and buffers they take, is said
 * in dialects/Plan/LibraryCalls.h.
 * Calls return 0, or a stator_status_code with a message; the plug-in lets no exception out. */
#ifndef STATOR_RUNTIME_KERNELS_LIBRARYABI_H
#define STATOR_RUNTIME_KERNELS_LIBRARYABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STATOR_LIBRARY_ABI_VERSION 2

typedef struct StatorLibraryOption {
  const char *name;
  const int64_t *values;
  size_t count;
} StatorLibraryOption;

typedef struct StatorLibraryStep {
  const char *routine;
  const StatorLibraryOption *options;
  size_t optionCount;
  const int64_t *sizes;
  size_t sizeCount;
  /* Per buffer, operands in order and then results: the bytes of a parameter that never changes, which may be packed once for all steps
   * of the context, else NULL; and how many bytes the buffer has. */
  const void *const *constants;
  const size_t *bufferBytes;
  size_t bufferCount;
  int32_t threads; /* the most that an execution may use */
} StatorLibraryStep;

typedef struct StatorLibraryMessage {
  char text[512];
} StatorLibraryMessage;

typedef struct StatorLibraryPlugin {
  uint32_t abiVersion;
  const char *description; /* "oneDNN 2.6.3" */
  /* Context: thread-safe; outlives its steps. */
  int (*createContext)(void **context, StatorLibraryMessage *message);
  void (*destroyContext)(void *context);
  /* Step: used by one thread at a time. Description and constants are checked against bufferBytes here, never in execute. */
  int (*createStep)(void *context, const StatorLibraryStep *description, void **step, StatorLibraryMessage *message);
  int (*executeStep)(void *step, void *const *buffers, StatorLibraryMessage *message);
  void (*destroyStep)(void *step);
  /* The library's own threads, which the runtime uses for the kernels of runs that have library steps; both NULL if it has none.
   * parallel: calls function(data, part, parts) on up to `threads` threads at once, the caller's among them, and waits for them.
   * barrier: called by all of these threads, returns when all have called it. */
  void (*parallel)(int threads, void (*function)(void *data, int part, int parts), void *data);
  void (*barrier)(void);
} StatorLibraryPlugin;

/* Exported by the plug-in under this name. */
typedef const StatorLibraryPlugin *(*StatorLibraryPluginFunction)(void);
#define STATOR_LIBRARY_PLUGIN_SYMBOL "stator_library_plugin"

/* Option "post_ops" of the contractions: a list of groups of StatorPostOpWords numbers, applied in order after bias and relu: {kind,
 * extent, first parameter, second parameter}; parameters are the bits of a float32. Operand-taking kinds read the routine's further buffers
 * in order, between the bias and the result. */
enum {
  StatorPostOpWords = 4,
  StatorPostOpRelu = 1,
  StatorPostOpGeluErf = 2,
  StatorPostOpGeluTanh = 3,
  StatorPostOpAdd = 4,  /* takes an operand */
  StatorPostOpMul = 5,  /* takes an operand */
  StatorPostOpClip = 6, /* lower and upper bound */
  StatorPostOpSigmoid = 7,
  StatorPostOpSilu = 8, /* x * sigmoid(x) */
  StatorPostOpTanh = 9,
  StatorPostOpHardSwish = 10,
  StatorPostOpLeakyRelu = 11, /* slope */
  /* extent of an operand */
  StatorPostOpScalar = 0,
  StatorPostOpPerChannel = 1, /* one value per output channel, that is N of a matmul */
  StatorPostOpFull = 2        /* of the result's shape */
};

#ifdef __cplusplus
}
#endif

#endif /* STATOR_RUNTIME_KERNELS_LIBRARYABI_H */
