//===- Main.cpp - own kernels against oneDNN and the machine's peak --------===//
//
// Times single kernels in process, interleaved with oneDNN where that has the
// same (weights in its own packed layout), and prints rates, shares of the
// measured peak and the ratio:
//   kernels [--level=x86-64-v4] [--threads=1] [--rounds=60] [--filter=TEXT] [--cold] [--costs] [--json=FILE] [--dump=STEM]
// --cold: weights come from memory at each call, as in a network larger than the caches.
// --costs: the grid of contractions that tools/bench/measure_costs.py makes the cost tables of.
//
//===----------------------------------------------------------------------===//

#include "serialization/Base/JsonWriter.h"
#include "serialization/Base/OutputFile.h"
#include "tools/bench/harness/KernelHarness.h"
#include "tools/bench/kernels/Cases.h"
#include "tools/support/MachinePeak.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

using namespace stator;
using namespace stator::bench;

namespace {
struct Options {
  const CpuLevel *level = nullptr;
  unsigned threads = 1;
  int rounds = 60;
  std::string filter, dump, json;
  bool isCold = false, isCosts = false;
};

/// Seconds per call: the best of many short runs, since other processes only ever add time.
struct Timing {
  std::function<void()> call;
  std::vector<double> seconds;
  int repeats = 1;
};
} // namespace

/// Memory as a runtime would hand it out: 64-byte aligned, filled.
static float *allocate(int64_t elements) {
  size_t bytes = (elements * 4 + 63) / 64 * 64;
  auto *data = static_cast<float *>(std::aligned_alloc(64, bytes));
  for (size_t i = 0; i < bytes / 4; ++i)
    data[i] = float(int(i % 17) - 8) / 8;
  return data;
}

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static void timeInterleaved(std::vector<Timing *> timings, int rounds) {
  for (Timing *timing : timings) {
    timing->call();
    double start = now();
    timing->call();
    timing->repeats = std::clamp(int(0.004 / (now() - start + 1e-9)), 1, 100000);
  }
  for (int round = 0; round < rounds; ++round)
    for (Timing *timing : timings) {
      timing->call();
      double start = now();
      for (int i = 0; i < timing->repeats; ++i)
        timing->call();
      timing->seconds.push_back((now() - start) / timing->repeats);
    }
  for (Timing *timing : timings)
    std::sort(timing->seconds.begin(), timing->seconds.end());
}

static void writeJson(JsonWriter &json, const Benchmark &benchmark, double own, double library) {
  json.beginObject();
  json.field("name", benchmark.name);
  json.field("own_us", own * 1e6);
  if (library > 0)
    json.field("library_us", library * 1e6);
  json.field("operations", benchmark.operations);
  json.field("bytes", benchmark.bytes);
  if (const std::optional<KernelCase> &c = benchmark.contraction) {
    json.field("kind", c->isMatmul ? "matmul" : c->isDepthwise() ? "depthwise" : "convolution");
    json.field("rows", c->isMatmul ? c->rows : c->outputSize() * c->outputSize());
    json.field("depth", c->isMatmul ? c->depth : c->channels / c->groups);
    json.field("columns", c->isMatmul ? c->columns : c->outputs);
    json.field("taps", c->isMatmul ? 1 : c->taps * c->taps);
    json.field("stride", c->stride);
    json.field("groups", c->groups);
  }
  json.endObject();
}

static bool runBenchmark(const Benchmark &benchmark, const Options &options, const tools::MachinePeak &peak, JsonWriter &json) {
  double start = now();
  auto kernels = LoadedKernels::compile(benchmark.text, *options.level, options.dump);
  if (!kernels) {
    llvm::errs() << benchmark.name << ": " << llvm::toString(kernels.takeError()) << "\n";
    return false;
  }
  double compileSeconds = now() - start;
  int copies = 1;
  if (options.isCold && benchmark.weights)
    copies += int((int64_t(96) << 20) / (benchmark.elements[*benchmark.weights] * 4));
  std::vector<void *> buffers;
  for (size_t i = 0; i != benchmark.elements.size(); ++i)
    buffers.push_back(allocate(benchmark.elements[i] * (benchmark.weights == i ? copies : 1)));
  std::vector<void *> owned = buffers;
  int call = 0;
  WorkerTeam team(options.threads);
  Timing own, library;
  own.call = [&] {
    if (benchmark.weights)
      buffers[*benchmark.weights] =
          static_cast<float *>(owned[*benchmark.weights]) + benchmark.elements[*benchmark.weights] * (call++ % copies);
    (*kernels)->run("k", buffers, benchmark.sizes, team);
  };
  if (benchmark.library)
    library.call = benchmark.library(copies);
  std::vector<Timing *> timings = {&own};
  if (library.call)
    timings.push_back(&library);
  timeInterleaved(timings, options.rounds);

  double ownSeconds = own.seconds.front(), librarySeconds = library.call ? library.seconds.front() : 0;
  bool isArithmetic = benchmark.operations > 0;
  double work = isArithmetic ? benchmark.operations : benchmark.bytes;
  const char *unit = isArithmetic ? "GF" : "GB";
  double best = isArithmetic ? peak.gflops() : peak.cacheGbPerS;
  llvm::outs() << llvm::formatv("{0,-38} {1,10:f1} us {2,8:f1} {3} {4,4:f0}%", benchmark.name, ownSeconds * 1e6, work / ownSeconds / 1e9,
                                unit, work / ownSeconds / 1e7 / best);
  if (library.call)
    llvm::outs() << llvm::formatv("  oneDNN {0,8:f1} {1}  ratio {2,5:f2}", work / librarySeconds / 1e9, unit, librarySeconds / ownSeconds);
  llvm::outs() << llvm::formatv("  code {0} B, compiled in {1:f2} s\n", (*kernels)->codeBytes(), compileSeconds);
  llvm::outs().flush();
  writeJson(json, benchmark, ownSeconds, librarySeconds);
  for (void *buffer : owned)
    std::free(buffer);
  return true;
}

/// Whether the arguments are right.
static bool parse(int argc, char **argv, Options &options) {
  for (const CpuLevel &each : cpuLevels())
    if (canRun(each))
      options.level = &each;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--level="))
      options.level = findCpuLevel(argument.str());
    else if (argument.consume_front("--threads="))
      options.threads = std::max(1, std::atoi(argument.data()));
    else if (argument.consume_front("--rounds="))
      options.rounds = std::max(1, std::atoi(argument.data()));
    else if (argument.consume_front("--filter="))
      options.filter = argument.str();
    else if (argument.consume_front("--dump="))
      options.dump = argument.str();
    else if (argument.consume_front("--json="))
      options.json = argument.str();
    else if (argument == "--cold")
      options.isCold = true;
    else if (argument == "--costs")
      options.isCosts = true;
    else {
      llvm::errs() << "kernels: unknown argument `" << argv[i] << "`\n";
      return false;
    }
  }
  if (!options.level || !canRun(*options.level)) {
    llvm::errs() << "kernels: this machine cannot run that level\n";
    return false;
  }
  return true;
}

static Status write(const std::string &path, const std::string &text) {
  STATOR_TRY(file, OutputFile::create(path));
  STATOR_RETURN_IF_ERROR(file->write(text.data(), text.size()));
  return file->commit();
}

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options))
    return 2;
  std::vector<Benchmark> benchmarks = options.isCosts ? costCases() : contractionCases();
  if (!options.isCosts)
    for (std::vector<Benchmark> more : {sequenceCases(), blockCases(), memoryCases()})
      std::move(more.begin(), more.end(), std::back_inserter(benchmarks));
  setLibraryThreads(options.threads);
  tools::MachinePeak peak = tools::measureMachinePeak(int(options.threads));
  llvm::outs() << llvm::formatv("{0}, {1} thread(s), peak {2:f1} GFLOP/s, read {3:f1} GB/s (cache), {4:f1} GB/s (memory)\n",
                                options.level->name, options.threads, peak.gflops(), peak.cacheGbPerS, peak.memoryGbPerS);
  JsonWriter json;
  json.beginObject();
  json.field("level", options.level->name);
  json.field("threads", options.threads);
  json.field("rounds", options.rounds);
  json.field("cold", options.isCold);
  json.field("gflops", peak.gflops());
  json.key("cases");
  json.beginArray();
  int failures = 0;
  for (const Benchmark &benchmark : benchmarks)
    if (benchmark.name.find(options.filter) != std::string::npos)
      failures += !runBenchmark(benchmark, options, peak, json);
  json.endArray();
  json.endObject();
  if (!options.json.empty())
    if (Status status = write(options.json, json.text()); !status.ok()) {
      llvm::errs() << "kernels: " << status.message() << "\n";
      return 1;
    }
  return failures != 0;
}
