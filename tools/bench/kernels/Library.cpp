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

  void add(int argument, const memory::desc &layout) {
    memory buffer(layout, device);
    float *data = static_cast<float *>(buffer.get_data_handle());
    for (size_t i = 0; i < layout.get_size() / 4; ++i)
      data[i] = float(int(i % 17) - 8) / 8;
    arguments.emplace(argument, buffer);
  }
};

} // namespace

static std::shared_ptr<Primitive> makeMatmul(const KernelCase &c) {
  auto result = std::make_shared<Primitive>();
  const auto f32 = memory::data_type::f32;
  memory::desc a({c.rows, c.depth}, f32, memory::format_tag::ab), w({c.depth, c.columns}, f32, memory::format_tag::any),
      y({c.rows, c.columns}, f32, memory::format_tag::ab);
  matmul::primitive_desc descriptor(matmul::desc(a, w, y), result->device);
  result->operation = matmul(descriptor);
  result->add(DNNL_ARG_SRC, a);
  result->add(DNNL_ARG_WEIGHTS, descriptor.weights_desc());
  result->add(DNNL_ARG_DST, y);
  return result;
}

static std::shared_ptr<Primitive> makeConvolution(const KernelCase &c) {
  auto result = std::make_shared<Primitive>();
  const auto f32 = memory::data_type::f32;
  const auto any = memory::format_tag::any, nhwc = memory::format_tag::nhwc;
  memory::desc x({1, c.channels, c.size, c.size}, f32, nhwc), y({1, c.outputs, c.outputSize(), c.outputSize()}, f32, nhwc);
  memory::desc w = c.groups > 1 ? memory::desc({c.groups, c.outputs / c.groups, c.channels / c.groups, c.taps, c.taps}, f32, any)
                                : memory::desc({c.outputs, c.channels, c.taps, c.taps}, f32, any);
  convolution_forward::desc description(prop_kind::forward_inference, algorithm::convolution_direct, x, w, y, {c.stride, c.stride},
                                        {c.pad, c.pad}, {c.pad, c.pad});
  convolution_forward::primitive_desc descriptor(description, result->device);
  result->operation = convolution_forward(descriptor);
  result->add(DNNL_ARG_SRC, x);
  result->add(DNNL_ARG_WEIGHTS, descriptor.weights_desc());
  result->add(DNNL_ARG_DST, y);
  return result;
}

std::function<void()> libraryCase(const KernelCase &c) {
  try {
    std::shared_ptr<Primitive> primitive = c.isMatmul ? makeMatmul(c) : makeConvolution(c);
    return [primitive] {
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

std::function<void()> libraryCase(const KernelCase &) { return {}; }
void setLibraryThreads(unsigned) {}

#endif

} // namespace stator::bench
