//===- Library.cpp - the benchmark's contractions by oneDNN ----------------===//

#include "tools/bench/kernels/Cases.h"

#ifdef STATOR_BENCH_ONEDNN
#include "tools/bench/kernels/LibraryPrimitive.h"
#include <dlfcn.h>
#endif

namespace stator::bench {

#ifdef STATOR_BENCH_ONEDNN

using namespace dnnl;

static primitive_attr attributes(const KernelCase &c) {
  primitive_attr result;
  post_ops operations;
  if (c.epilogue == KernelCase::BiasRelu)
    operations.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  if (c.epilogue == KernelCase::BiasGelu)
    operations.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0);
  result.set_post_ops(operations);
  return result;
}

static void makeMatmul(Primitive &result, const KernelCase &c, int copies) {
  const auto f32 = memory::data_type::f32;
  memory::desc a({c.rows, c.depth}, f32, memory::format_tag::ab), w({c.depth, c.columns}, f32, memory::format_tag::any),
      y({c.rows, c.columns}, f32, memory::format_tag::ab);
  memory::desc bias({1, c.columns}, f32, memory::format_tag::ab);
  const bool hasBias = c.epilogue != KernelCase::None;
  matmul::primitive_desc descriptor(hasBias ? matmul::desc(a, w, bias, y) : matmul::desc(a, w, y), attributes(c), result.device);
  if (hasBias)
    result.add(DNNL_ARG_BIAS, bias);
  result.operation = matmul(descriptor);
  result.add(DNNL_ARG_SRC, a);
  result.add(DNNL_ARG_WEIGHTS, descriptor.weights_desc(), copies);
  result.add(DNNL_ARG_DST, y);
}

static void makeConvolution(Primitive &result, const KernelCase &c, int copies) {
  const auto f32 = memory::data_type::f32;
  const auto any = memory::format_tag::any, nhwc = memory::format_tag::nhwc;
  memory::desc x({1, c.channels, c.size, c.size}, f32, nhwc), y({1, c.outputs, c.outputSize(), c.outputSize()}, f32, nhwc);
  memory::desc w = c.groups > 1 ? memory::desc({c.groups, c.outputs / c.groups, c.channels / c.groups, c.taps, c.taps}, f32, any)
                                : memory::desc({c.outputs, c.channels, c.taps, c.taps}, f32, any);
  memory::desc bias({c.outputs}, f32, memory::format_tag::a);
  const bool hasBias = c.epilogue != KernelCase::None;
  const memory::dims strides = {c.stride, c.stride}, padding = {c.pad, c.pad};
  const auto kind = prop_kind::forward_inference;
  const auto direct = algorithm::convolution_direct;
  const memory::dims gaps = {c.dilation - 1, c.dilation - 1};
  auto description = hasBias ? convolution_forward::desc(kind, direct, x, w, bias, y, strides, gaps, padding, padding)
                             : convolution_forward::desc(kind, direct, x, w, y, strides, gaps, padding, padding);
  convolution_forward::primitive_desc descriptor(description, attributes(c), result.device);
  if (hasBias)
    result.add(DNNL_ARG_BIAS, bias);
  result.operation = convolution_forward(descriptor);
  result.add(DNNL_ARG_SRC, x);
  result.add(DNNL_ARG_WEIGHTS, descriptor.weights_desc(), copies);
  result.add(DNNL_ARG_DST, y);
}

LibraryMaker libraryContraction(const KernelCase &c) {
  return libraryCall(
      [c](Primitive &primitive, int copies) { c.isMatmul ? makeMatmul(primitive, c, copies) : makeConvolution(primitive, c, copies); });
}

LibraryMaker libraryBatchedMatmul(int64_t batch, int64_t rows, int64_t depth, int64_t columns) {
  return libraryCall([=](Primitive &primitive, int) {
    const auto f32 = memory::data_type::f32;
    const auto dense = memory::format_tag::abc;
    memory::desc a({batch, rows, depth}, f32, dense), b({batch, depth, columns}, f32, dense), y({batch, rows, columns}, f32, dense);
    matmul::primitive_desc descriptor(matmul::desc(a, b, y), primitive.device);
    primitive.operation = matmul(descriptor);
    primitive.add(DNNL_ARG_SRC, a);
    primitive.add(DNNL_ARG_WEIGHTS, b);
    primitive.add(DNNL_ARG_DST, y);
  });
}

void setLibraryThreads(unsigned threads) {
  using Function = void (*)(int);
  if (auto set = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(int(threads));
}

#else

LibraryMaker libraryContraction(const KernelCase &) { return {}; }
LibraryMaker libraryBatchedMatmul(int64_t, int64_t, int64_t, int64_t) { return {}; }
void setLibraryThreads(unsigned) {}

#endif

} // namespace stator::bench
