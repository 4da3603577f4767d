//===- KernelHarness.h - compile and run single kernels in process ---------===//
//
// Takes a kernel function from text to machine code and calls it on plain
// buffers, without the stages and the runtime around it. Tests check kernels
// with it for every CPU level and number of workers, benchmarks time them.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_TOOLS_BENCH_HARNESS_KERNELHARNESS_H
#define STATOR_TOOLS_BENCH_HARNESS_KERNELHARNESS_H

#include "codegen/Cpu/CpuCodegen.h"
#include "serialization/Base/DimExpr.h"
#include "serialization/Base/KernelAbi.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace stator::bench {

/// Whether this machine can run code of `level`.
bool canRun(const CpuLevel &level);

/// Threads that call a kernel together. The caller is worker 0; the others spin between calls.
class WorkerTeam {
public:
  explicit WorkerTeam(unsigned workers);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam &) = delete;

  /// Returns when all workers have. `scratchBytes` is per worker.
  void run(StatorKernelFunction function, const StatorKernelArgs &args, size_t scratchBytes);
  unsigned size() const { return contexts.size(); }

private:
  static void barrier(const StatorWorkerContext *context);
  void work(unsigned worker);

  std::vector<StatorWorkerContext> contexts;
  std::vector<std::vector<char>> scratch;
  std::vector<std::thread> threads;
  std::atomic<unsigned> generation{0}, finished{0}, arrived{0}, phase{0};
  std::atomic<bool> isStopping{false};
  StatorKernelFunction function = nullptr;
  const StatorKernelArgs *args = nullptr;
};

/// The kernels of one module, loaded.
class LoadedKernels {
public:
  ~LoadedKernels();

  /// `text` is a module of kernel functions on tensors, as plan-outline-kernels leaves them. A non-empty `dumpStem` keeps the
  /// intermediate files (CpuCodegenOptions).
  static llvm::Expected<std::unique_ptr<LoadedKernels>> compile(llvm::StringRef text, const CpuLevel &level,
                                                                const std::string &dumpStem = {});

  /// Calls kernel `name`; `sizes` are the values of s0, s1, ...
  void run(const std::string &name, const std::vector<void *> &buffers, const std::vector<int64_t> &sizes, WorkerTeam &team);
  /// Bytes of scratch that `name` wants per worker.
  size_t scratchBytes(const std::string &name, const std::vector<int64_t> &sizes) const;
  /// Bytes of the shared object.
  size_t codeBytes() const { return objectBytes; }

private:
  void *handle = nullptr;
  size_t objectBytes = 0;
  std::map<std::string, DimExpr> scratch;
};

} // namespace stator::bench

#endif // STATOR_TOOLS_BENCH_HARNESS_KERNELHARNESS_H
