/* Kernels for hand-made artifacts: small, and written to show one property of the runtime each. */
#include "serialization/Base/KernelAbi.h"

#define EXPORT __attribute__((visibility("default")))

/* The part [begin, end) of `count` elements that this worker does. */
#define FOR_MY_PART(index, count)                                                                                                          \
  for (int64_t begin_ = (count) * context->worker / context->workers, end_ = (count) * (context->worker + 1) / context->workers,           \
               index = begin_;                                                                                                             \
       index < end_; ++index)

/* (a[s0], b[s0]) -> c[s0] */
EXPORT void stator_k_add(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  const float *a = args->buffers[0], *b = args->buffers[1];
  float *c = args->buffers[2];
  FOR_MY_PART(i, args->sizes[0])
  c[i] = a[i] + b[i];
}

/* (x[s0, 3], w[3, 2]) -> y[s0, 2] */
EXPORT void stator_k_matmul3x2(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  const float *x = args->buffers[0], *w = args->buffers[1];
  float *y = args->buffers[2];
  FOR_MY_PART(i, args->sizes[0])
  for (int j = 0; j < 2; ++j)
    y[2 * i + j] = x[3 * i] * w[j] + x[3 * i + 1] * w[2 + j] + x[3 * i + 2] * w[4 + j];
}

/* (x[s0]) -> (twice[s0], mirrored[s0]): the second result reads what other workers wrote of the first one. */
EXPORT void stator_k_mirror(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  const float *x = args->buffers[0];
  float *twice = args->buffers[1], *mirrored = args->buffers[2];
  int64_t n = args->sizes[0];
  FOR_MY_PART(i, n)
  twice[i] = 2 * x[i];
  context->barrier(context);
  FOR_MY_PART(i, n)
  mirrored[i] = twice[n - 1 - i];
  context->barrier(context);
}

/* (anything) -> report[s0] of i64: how many workers there were, whether each one's scratch is aligned and its own. s1 is the scratch in
 * bytes. */
EXPORT void stator_k_report(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  int64_t *report = args->buffers[1];
  volatile unsigned char *scratch = context->scratch;
  for (int64_t i = 0; i < args->sizes[1]; ++i)
    scratch[i] = (unsigned char)(context->worker + 1);
  context->barrier(context);
  int64_t good = ((uintptr_t)context->scratch & 63) == 0;
  for (int64_t i = 0; i < args->sizes[1]; ++i)
    good &= scratch[i] == context->worker + 1;
  report[0] = context->workers;
  report[1 + context->worker] = good;
}

/* (i) -> (i < 10) */
EXPORT void stator_k_less10(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  if (context->worker == 0)
    *(unsigned char *)args->buffers[1] = *(const int64_t *)args->buffers[0] < 10;
}

/* (i) -> i + 3 */
EXPORT void stator_k_plus3(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  if (context->worker == 0)
    *(int64_t *)args->buffers[1] = *(const int64_t *)args->buffers[0] + 3;
}

/* (state[s0], x[s0]) -> state[s0]: in place. */
EXPORT void stator_k_accumulate(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  const float *x = args->buffers[1];
  float *state = args->buffers[2];
  FOR_MY_PART(i, args->sizes[0])
  state[i] += x[i];
}

/* (x[s0]) -> x / 2: shows what happens to denormals. */
EXPORT void stator_k_half(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  const volatile float *x = args->buffers[0];
  float *y = args->buffers[1];
  FOR_MY_PART(i, args->sizes[0])
  y[i] = x[i] * 0.5f;
}

/* A relocation (the table's address) and data in the object. */
static int64_t one(int64_t x) { return x + 1; }
static int64_t two(int64_t x) { return x + 2; }
static int64_t (*const table[])(int64_t) = {one, two};
EXPORT void stator_k_table(const StatorKernelArgs *args, const StatorWorkerContext *context) {
  if (context->worker == 0)
    *(int64_t *)args->buffers[1] = table[*(const int64_t *)args->buffers[0] & 1](100);
}
