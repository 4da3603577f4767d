// The skeleton of a service that answers requests with a compiled model. One module is loaded and shared; each worker thread has a session,
// that is, its own memory; a bad request gets an answer that says what is wrong with it, and the service goes on.
//
//   service MODEL.stator [WORKERS [REQUESTS]]
#include "stator/Runtime.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A request that fits a method: each input of the declared shape, filled with zeros; a size that is free gets `freeSize`.
std::vector<stator::Tensor> makeRequest(const stator::MethodInfo &method, int64_t freeSize) {
  std::vector<stator::Tensor> tensors;
  for (const stator::ValueInfo &input : method.inputs) {
    std::vector<int64_t> shape;
    for (const stator::DimInfo &dim : input.dims)
      shape.push_back(dim.size >= 0 ? dim.size : freeSize);
    tensors.push_back(stator::Tensor::zeros(input.type, shape));
  }
  return tensors;
}

/// Views of what a request holds, as Session::run wants them.
std::vector<stator::TensorView> viewsOf(const std::vector<stator::Tensor> &tensors) {
  return std::vector<stator::TensorView>(tensors.begin(), tensors.end());
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: service MODEL.stator [WORKERS [REQUESTS]]\n");
    return 2;
  }
  const int workers = argc > 2 ? std::atoi(argv[2]) : 2;
  const int requests = argc > 3 ? std::atoi(argv[3]) : 100;

  stator::Result<stator::Module> loaded = stator::Module::load(argv[1]);
  if (!loaded.ok()) {
    std::fprintf(stderr, "service: %s\n", loaded.status().message().c_str());
    return 1;
  }
  const stator::Module &module = *loaded;
  const std::vector<stator::MethodInfo> methods = module.methods();
  if (methods.empty()) {
    std::fprintf(stderr, "service: the module has no methods\n");
    return 1;
  }
  const stator::MethodInfo &method = methods.front();

  std::atomic<int> next{0}, answered{0}, failed{0};
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker)
    threads.emplace_back([&] {
      // Many small requests: one thread each keeps all cores busy without handing work around.
      auto session = module.session(stator::SessionOptions().threads(1));
      if (!session.ok()) {
        std::fprintf(stderr, "service: %s\n", session.status().message().c_str());
        ++failed;
        return;
      }
      for (int request = next++; request < requests; request = next++) {
        std::vector<stator::Tensor> inputs = makeRequest(method, 1 + request % 4);
        auto outputs = session->run(method.name.c_str(), viewsOf(inputs));
        if (outputs.ok()) {
          ++answered;
        } else {
          std::fprintf(stderr, "service: request %d: %s\n", request, outputs.status().message().c_str());
          ++failed;
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();

  // A request that makes no sense is refused with a reason, here one without inputs.
  auto session = module.session();
  auto refused = session.ok() ? session->run(method.name.c_str(), {}) : stator::Result<stator::Outputs>(session.status());
  if (!method.inputs.empty() && !refused.ok())
    std::printf("refused as it should be: %s\n", refused.status().message().c_str());

  std::printf("%d requests answered, %d failed, by %d workers on %s\n", answered.load(), failed.load(), workers, module.cpuLevel().c_str());
  return failed.load() == 0 && (method.inputs.empty() || !refused.ok()) ? 0 : 1;
}
