/* How the runtime calls a generated kernel. The compiler emits code against this layout (passes/Kernel) and the runtime fills it in;
 * it is plain C because it is the boundary between two separately built binaries. Changing it changes the format's version.
 *
 * The kernel is called once for each worker, with the same arguments and the worker's context; it splits its work by (worker, workers).
 * Calls of a kernel that uses the barrier run at the same time; those of others may run on any thread, in any order.
 * Buffers are the operands in order, then the results: dense, row-major, aligned to the element size only (views start anywhere);
 * sizes are the kernel's local symbols s0, s1, ... in order. A kernel allocates nothing and calls nothing but the barrier. */
#ifndef STATOR_SERIALIZATION_BASE_KERNELABI_H
#define STATOR_SERIALIZATION_BASE_KERNELABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StatorKernelArgs {
  void *const *buffers;
  const int64_t *sizes;
} StatorKernelArgs;

typedef struct StatorWorkerContext {
  int32_t worker;                                      /* 0 <= worker < workers */
  int32_t workers;                                     /* that take part in this call */
  void *scratch;                                       /* this worker's, 64-byte aligned */
  void (*barrier)(const struct StatorWorkerContext *); /* returns when all workers have called it */
  void *pool;                                          /* the runtime's */
} StatorWorkerContext;

typedef void (*StatorKernelFunction)(const StatorKernelArgs *, const StatorWorkerContext *);

#ifdef __cplusplus
}
#endif

#endif /* STATOR_SERIALIZATION_BASE_KERNELABI_H */
