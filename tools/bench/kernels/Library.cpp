//===- Library.cpp - the benchmark's cases by oneDNN -----------------------===//

#include "tools/bench/kernels/Cases.h"

#ifdef STATOR_BENCH_ONEDNN
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#endif

namespace stator::bench {

#ifdef STATOR_BENCH_ONEDNN

using namespace dnnl;

namespace {

struct Primitive {
  engine device{engine::kind::cpu, 0};
  stream queue{device};
  primitive operation;
  std::unordered_map<int, memory> arguments;
  std::vector<memory> weights;
  size_t calls = 0;

  void add(int argument, const memory::desc &layout, int copies = 1) {
    for (int i = 1; i < copies; ++i)
      weights.push_back(fill(layout));
    arguments.emplace(argument, fill(layout));
    if (argument == DNNL_ARG_WEIGHTS)
      weights.push_back(arguments.at(argument));
  }

  memory fill(const memory::desc &layout) {
    memory buffer(layout, device);
    float *data = static_cast<float *>(buffer.get_data_handle());
    for (size_t i = 0; i < layout.get_size() / 4; ++i)
      data[i] = float(int(i % 17) - 8) / 8;
    return buffer;
  }
};

} // namespace

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

static std::shared_ptr<Primitive> makeMatmul(const KernelCase &c, int copies) {
  auto result = std::make_shared<Primitive>();
  const auto f32 = memory::data_type::f32;
  memory::desc a({c.rows, c.depth}, f32, memory::format_tag::ab), w({c.depth, c.columns}, f32, memory::format_tag::any),
      y({c.rows, c.columns}, f32, memory::format_tag::ab);
  memory::desc bias({1, c.columns}, f32, memory::format_tag::ab);
  const bool hasBias = c.epilogue != KernelCase::None;
  matmul::primitive_desc descriptor(hasBias ? matmul::desc(a, w, bias, y) : matmul::desc(a, w, y), attributes(c), result->device);
  if (hasBias)
    result->add(DNNL_ARG_BIAS, bias);
  result->operation = matmul(descriptor);
  result->add(DNNL_ARG_SRC, a);
  result->add(DNNL_ARG_WEIGHTS, descriptor.weights_desc(), copies);
  result->add(DNNL_ARG_DST, y);
  return result;
}

static std::shared_ptr<Primitive> makeConvolution(const KernelCase &c, int copies) {
  auto result = std::make_shared<Primitive>();
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
  auto description = hasBias ? convolution_forward::desc(kind, direct, x, w, bias, y, strides, padding, padding)
                             : convolution_forward::desc(kind, direct, x, w, y, strides, padding, padding);
  convolution_forward::primitive_desc descriptor(description, attributes(c), result->device);
  if (hasBias)
    result->add(DNNL_ARG_BIAS, bias);
  result->operation = convolution_forward(descriptor);
  result->add(DNNL_ARG_SRC, x);
  result->add(DNNL_ARG_WEIGHTS, descriptor.weights_desc(), copies);
  result->add(DNNL_ARG_DST, y);
  return result;
}

std::function<void()> libraryCase(const KernelCase &c, int copies) {
  try {
    std::shared_ptr<Primitive> primitive = c.isMatmul ? makeMatmul(c, copies) : makeConvolution(c, copies);
    return [primitive] {
      primitive->arguments.at(DNNL_ARG_WEIGHTS) = primitive->weights[primitive->calls++ % primitive->weights.size()];
      primitive->operation.execute(primitive->queue, primitive->arguments);
      primitive->queue.wait();
    };
  } catch (const dnnl::error &) {
    return {};
  }
}

void setLibraryThreads(unsigned threads) {
  using Function = void (*)(int);
  if (auto set = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(int(threads));
}

#else

std::function<void()> libraryCase(const KernelCase &, int) { return {}; }
void setLibraryThreads(unsigned) {}

#endif

} // namespace stator::bench
