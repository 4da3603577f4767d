//===- LibraryPrimitive.h - a primitive of oneDNN with its memory ----------===//
#ifndef STATOR_TOOLS_BENCH_KERNELS_LIBRARYPRIMITIVE_H
#define STATOR_TOOLS_BENCH_KERNELS_LIBRARYPRIMITIVE_H

#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace stator::bench {

struct Primitive {
  dnnl::engine device{dnnl::engine::kind::cpu, 0};
  dnnl::stream queue{device};
  dnnl::primitive operation;
  std::unordered_map<int, dnnl::memory> arguments;
  std::vector<dnnl::memory> weights;
  size_t calls = 0;

  /// Memory for an argument. Of DNNL_ARG_WEIGHTS there may be several, which calls take in turn.
  void add(int argument, const dnnl::memory::desc &layout, int copies = 1) {
    for (int i = 1; i < copies; ++i)
      weights.push_back(fill(layout));
    arguments.emplace(argument, fill(layout));
    if (argument == DNNL_ARG_WEIGHTS)
      weights.push_back(arguments.at(argument));
  }

  dnnl::memory fill(const dnnl::memory::desc &layout) {
    dnnl::memory buffer(layout, device);
    float *data = static_cast<float *>(buffer.get_data_handle());
    for (size_t i = 0; i < layout.get_size() / 4; ++i)
      data[i] = float(int(i % 17) - 8) / 8;
    return buffer;
  }

  void run() {
    if (!weights.empty())
      arguments.at(DNNL_ARG_WEIGHTS) = weights[calls++ % weights.size()];
    operation.execute(queue, arguments);
    queue.wait();
  }
};

/// What `make(primitive, copies)` sets up, as a call; null when the library has no implementation.
template <typename Make>
std::function<std::function<void()>(int)> libraryCall(Make make) {
  return [make](int copies) -> std::function<void()> {
    try {
      auto primitive = std::make_shared<Primitive>();
      make(*primitive, copies);
      return [primitive] { primitive->run(); };
    } catch (const dnnl::error &) {
      return {};
    }
  };
}

} // namespace stator::bench

#endif // STATOR_TOOLS_BENCH_KERNELS_LIBRARYPRIMITIVE_H
