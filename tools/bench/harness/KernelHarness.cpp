//===- KernelHarness.cpp - compile and run single kernels in process -------===//

#include "tools/bench/harness/KernelHarness.h"

#include "dialects/Graph/GraphDialect.h"
#include "passes/Kernel/Passes.h"
#include "serialization/Base/CpuFeatures.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <dlfcn.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

namespace stator::bench {

bool canRun(const CpuLevel &level) {
  __builtin_cpu_init();
  if (level.vectorBits >= 512)
    return __builtin_cpu_supports("x86-64-v4");
  if (level.vectorBits >= 256)
    return __builtin_cpu_supports("x86-64-v3");
  return __builtin_cpu_supports("x86-64-v2");
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

WorkerTeam::WorkerTeam(unsigned workers) : contexts(workers), scratch(workers) {
  for (unsigned i = 0; i != workers; ++i)
    contexts[i] = {int32_t(i), int32_t(workers), nullptr, barrier, this};
  for (unsigned i = 1; i < workers; ++i)
    threads.emplace_back([this, i] {
      for (unsigned seen = 0;;) {
        while (generation.load(std::memory_order_acquire) == seen)
          _mm_pause();
        ++seen;
        if (isStopping)
          return;
        work(i);
      }
    });
}

WorkerTeam::~WorkerTeam() {
  isStopping = true;
  generation.fetch_add(1, std::memory_order_release);
  for (std::thread &thread : threads)
    thread.join();
}

void WorkerTeam::work(unsigned worker) {
  function(args, &contexts[worker]);
  finished.fetch_add(1, std::memory_order_release);
}

void WorkerTeam::run(StatorKernelFunction kernel, const StatorKernelArgs &kernelArgs, size_t scratchBytes) {
  for (unsigned i = 0; i != size(); ++i) {
    if (scratch[i].size() < scratchBytes + 64)
      scratch[i].assign(scratchBytes + 64, char(0x7f)); // Not zero: kernels may not rely on it.
    auto address = reinterpret_cast<uintptr_t>(scratch[i].data());
    contexts[i].scratch = reinterpret_cast<void *>((address + 63) / 64 * 64);
  }
  function = kernel;
  args = &kernelArgs;
  finished = 0;
  generation.fetch_add(1, std::memory_order_release);
  work(0);
  while (finished.load(std::memory_order_acquire) != size())
    _mm_pause();
}

void WorkerTeam::barrier(const StatorWorkerContext *context) {
  auto *team = static_cast<WorkerTeam *>(context->pool);
  unsigned phase = team->phase.load();
  if (team->arrived.fetch_add(1) + 1 == team->size()) {
    team->arrived = 0;
    team->phase.store(phase + 1);
    return;
  }
  while (team->phase.load(std::memory_order_acquire) == phase)
    _mm_pause();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<LoadedKernels>> LoadedKernels::compile(llvm::StringRef text, const CpuLevel &level,
                                                                      const std::string &dumpStem) {
  mlir::DialectRegistry registry;
  registry.insert<graph::GraphDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return llvm::createStringError("the module does not parse");
  mlir::PassManager passes(&context);
  kernel::KernelOptions options;
  options.vectorBits = level.vectorBits;
  options.vectorRegisters = level.vectorRegisters;
  kernel::buildKernelPipeline(passes, options);
  if (mlir::failed(passes.run(*module)))
    return llvm::createStringError("the kernel passes failed");

  auto result = std::make_unique<LoadedKernels>();
  module->walk([&](mlir::LLVM::LLVMFuncOp function) {
    if (auto bytes = function->getAttrOfType<mlir::StringAttr>("stator.scratch"))
      result->scratch[function.getName().str()] = DimExpr::parse(bytes.getValue().str()).value();
  });
  codegen::CpuCodegenOptions codegenOptions;
  codegenOptions.dumpStem = dumpStem;
  llvm::Expected<codegen::KernelLibrary> library = codegen::compileKernels(*module, level, codegenOptions);
  if (!library)
    return library.takeError();

  result->objectBytes = library->sharedObject.size();
  int file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, library->sharedObject.data(), result->objectBytes) != ssize_t(result->objectBytes))
    return llvm::createStringError("cannot write the shared object to memory");
  std::string path = "/proc/self/fd/" + std::to_string(file);
  result->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (!result->handle)
    return llvm::createStringError(dlerror());
  return result;
}

LoadedKernels::~LoadedKernels() {
  if (handle)
    dlclose(handle);
}

size_t LoadedKernels::scratchBytes(const std::string &name, const std::vector<int64_t> &sizes) const {
  auto found = scratch.find(name);
  if (found == scratch.end())
    return 0;
  std::map<std::string, int64_t> values;
  for (size_t i = 0; i < sizes.size(); ++i)
    values["s" + std::to_string(i)] = sizes[i];
  return found->second.evaluate(values).value();
}

void LoadedKernels::run(const std::string &name, const std::vector<void *> &buffers, const std::vector<int64_t> &sizes, WorkerTeam &team) {
  StatorKernelArgs args = {buffers.data(), sizes.data()};
  void *symbol = dlsym(handle, name.c_str());
  if (!symbol)
    symbol = dlsym(handle, ("stator_k_" + name).c_str());
  if (!symbol)
    llvm::report_fatal_error(llvm::Twine("no kernel ") + name);
  team.run(reinterpret_cast<StatorKernelFunction>(symbol), args, scratchBytes(name, sizes));
}

} // namespace stator::bench
