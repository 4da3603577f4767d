//===- Main.cpp - own contraction kernels against oneDNN -------------------===//
//
// Times single kernels in process, interleaved with oneDNN (weights in its own
// packed layout), and prints GFLOP/s and the ratio:
//   kernels [--level=x86-64-v4] [--threads=1] [--rounds=60] [--filter=TEXT] [--dump=STEM] [--cold]
// --cold: weights come from memory at each call, as in a network larger than the caches.
//
//===----------------------------------------------------------------------===//

#include "dialects/Target/PackedLayouts.h"
#include "tools/bench/harness/KernelHarness.h"
#include "tools/bench/kernels/Cases.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

using namespace stator;
using namespace stator::bench;

/// The operations behind %0 of type `y`, up to the return, and the argument that they need.
static std::pair<std::string, std::string> epilogueOf(const KernelCase &c, const std::string &y) {
  if (c.epilogue == KernelCase::None)
    return {"", "  return %0 : " + y + "\n"};
  int64_t columns = c.isMatmul ? c.columns : c.outputs;
  std::string argument = llvm::formatv(", %bias: tensor<{0}xf32>", columns).str();
  std::string text =
      llvm::formatv("  %1 = graph.broadcast %bias {{dimensions = array<i64: {0}>} : (tensor<{1}xf32>) -> {2}\n"
                    "  %2 = graph.add %0, %1 : ({2}, {2}) -> {2}\n  %3 = {3} : ({2}) -> {2}\n  return %3 : {2}\n",
                    c.isMatmul ? 1 : 3, columns, y,
                    c.epilogue == KernelCase::BiasRelu ? "graph.relu %2" : "graph.gelu %2 {approximate = #graph.gelu_approximation<none>}")
          .str();
  return {argument, text};
}

static std::string textOf(const KernelCase &c) {
  if (c.isMatmul) {
    std::string x = c.isSymbolic ? llvm::formatv("tensor<?x{0}xf32, #graph.dims<[\"s0\", \"{0}\"]>>", c.depth).str()
                                 : llvm::formatv("tensor<{0}x{1}xf32>", c.rows, c.depth).str();
    std::string y = c.isSymbolic ? llvm::formatv("tensor<?x{0}xf32, #graph.dims<[\"s0\", \"{0}\"]>>", c.columns).str()
                                 : llvm::formatv("tensor<{0}x{1}xf32>", c.rows, c.columns).str();
    std::string w = llvm::formatv("tensor<{0}x{1}x16xf32>", panelsOf(c.columns), c.depth).str();
    auto [argument, epilogue] = epilogueOf(c, y);
    return llvm::formatv(
               "func.func @k(%x: {0}, %w: {1}{4}) -> {2} {{\n  %0 = graph.dot_general %x, %w {{lhs_batch = array<i64>, rhs_batch = "
               "array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, rhs_packed = {3} : i64} : ({0}, {1}) -> "
               "{2}\n{5}}\n",
               x, w, y, c.columns, argument, epilogue)
        .str();
  }
  auto image = [&](int64_t size, const std::string &h, const std::string &w, int64_t channels) {
    return c.isSymbolic ? llvm::formatv("tensor<1x?x?x{2}xf32, #graph.dims<[\"1\", \"{0}\", \"{1}\", \"{2}\"]>>", h, w, channels).str()
                        : llvm::formatv("tensor<1x{0}x{0}x{1}xf32>", size, channels).str();
  };
  // The symbolic cases have equal input and output sizes.
  std::string x = image(c.size, "s0", "s1", c.channels), y = image(c.outputSize(), "s0", "s1", c.outputs);
  int64_t depth = c.taps * c.taps * c.channels / c.groups;
  std::string w = c.isDepthwise() ? llvm::formatv("tensor<{0}x{1}xf32>", c.taps * c.taps, c.channels).str()
                                  : llvm::formatv("tensor<1x{0}x{1}x16xf32>", panelsOf(c.outputs), depth).str();
  auto [argument, epilogue] = epilogueOf(c, y);
  return llvm::formatv(
             "func.func @k(%x: {0}, %w: {1}{9}) -> {2} {{\n  %0 = graph.convolution %x, %w {{strides = array<i64: {3}, {3}>, pad_low "
             "= array<i64: {4}, {4}>, pad_high = array<i64: {4}, {4}>, dilations = array<i64: 1, 1>, groups = {5} : i64, layout "
             "= #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: {6}, {7}, {8}, {8}>} : ({0}, {1}) -> "
             "{2}\n{10}}\n",
             x, w, y, c.stride, c.pad, c.groups, c.outputs, c.channels / c.groups, c.taps, argument, epilogue)
      .str();
}

/// Memory as a runtime would hand it out: 64-byte aligned, filled.
static float *allocate(int64_t elements) {
  size_t bytes = (elements * 4 + 63) / 64 * 64;
  auto *data = static_cast<float *>(std::aligned_alloc(64, bytes));
  for (size_t i = 0; i < bytes / 4; ++i)
    data[i] = float(int(i % 17) - 8) / 8;
  return data;
}

/// Seconds per call: the best of many short runs, since other processes only ever add time.
struct Timing {
  std::function<void()> call;
  std::vector<double> seconds;
  int repeats = 1;
};

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

static int runCase(const KernelCase &c, const CpuLevel &level, unsigned threads, int rounds, const std::string &dump, bool isCold) {
  double start = now();
  auto kernels = LoadedKernels::compile(textOf(c), level, dump);
  if (!kernels) {
    llvm::errs() << c.name << ": " << llvm::toString(kernels.takeError()) << "\n";
    return 1;
  }
  double compileSeconds = now() - start;
  int64_t inputs = c.isMatmul ? c.rows * c.depth : c.size * c.size * c.channels;
  int64_t outputs = c.isMatmul ? c.rows * c.columns : c.outputSize() * c.outputSize() * c.outputs;
  int64_t weights = c.isMatmul        ? panelsOf(c.columns) * 16 * c.depth
                    : c.isDepthwise() ? c.taps * c.taps * c.channels
                                      : panelsOf(c.outputs) * 16 * c.taps * c.taps * c.channels;
  int copies = isCold ? int((int64_t(96) << 20) / (weights * 4)) + 1 : 1;
  std::vector<void *> buffers = {allocate(inputs), allocate(weights * copies)};
  if (c.epilogue != KernelCase::None)
    buffers.push_back(allocate(c.isMatmul ? c.columns : c.outputs));
  buffers.push_back(allocate(outputs));
  void *allWeights = buffers[1];
  int call = 0;
  std::vector<int64_t> sizes = c.isMatmul ? std::vector<int64_t>{c.rows} : std::vector<int64_t>{c.size, c.size};
  WorkerTeam team(threads);
  setLibraryThreads(threads);

  Timing own, library;
  own.call = [&] {
    buffers[1] = static_cast<float *>(allWeights) + weights * (call++ % copies);
    (*kernels)->run("k", buffers, sizes, team);
  };
  library.call = libraryCase(c, copies);
  std::vector<Timing *> timings = {&own};
  if (library.call)
    timings.push_back(&library);
  timeInterleaved(timings, rounds);
  auto rate = [&](const Timing &timing) { return c.operations() / timing.seconds.front() / 1e9; };
  llvm::outs() << llvm::formatv("{0,-30} {1,8:f1} GF", c.name, rate(own));
  if (library.call)
    llvm::outs() << llvm::formatv("  oneDNN {0,8:f1} GF  ratio {1,5:f2}", rate(library), rate(own) / rate(library));
  llvm::outs() << llvm::formatv("  code {0} B, compiled in {1:f2} s\n", (*kernels)->codeBytes(), compileSeconds);
  llvm::outs().flush();
  buffers[1] = allWeights;
  for (void *buffer : buffers)
    std::free(buffer);
  return 0;
}

static int runText(const TextCase &c, const CpuLevel &level, unsigned threads, int rounds, const std::string &dump) {
  double start = now();
  auto kernels = LoadedKernels::compile(c.text, level, dump);
  if (!kernels) {
    llvm::errs() << c.name << ": " << llvm::toString(kernels.takeError()) << "\n";
    return 1;
  }
  double compileSeconds = now() - start;
  std::vector<void *> buffers;
  for (int64_t elements : c.elements)
    buffers.push_back(allocate(elements));
  WorkerTeam team(threads);
  Timing own;
  own.call = [&] { (*kernels)->run("k", buffers, c.sizes, team); };
  timeInterleaved({&own}, rounds);
  llvm::outs() << llvm::formatv("{0,-38} {1,8:f1} {2}  {3,10:f1} us  code {4} B, compiled in {5:f2} s\n", c.name,
                                c.operations / own.seconds.front() / 1e9, c.unit, own.seconds.front() * 1e6, (*kernels)->codeBytes(),
                                compileSeconds);
  llvm::outs().flush();
  for (void *buffer : buffers)
    std::free(buffer);
  return 0;
}

int main(int argc, char **argv) {
  const CpuLevel *level = nullptr;
  for (const CpuLevel &each : cpuLevels())
    if (canRun(each))
      level = &each;
  unsigned threads = 1;
  int rounds = 60;
  std::string filter, dump;
  bool isCold = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--level="))
      level = findCpuLevel(argument.str());
    else if (argument.consume_front("--threads="))
      threads = std::max(1, std::atoi(argument.data()));
    else if (argument.consume_front("--rounds="))
      rounds = std::max(1, std::atoi(argument.data()));
    else if (argument.consume_front("--filter="))
      filter = argument.str();
    else if (argument.consume_front("--dump="))
      dump = argument.str();
    else if (argument == "--cold")
      isCold = true;
    else {
      llvm::errs() << "kernels: unknown argument `" << argv[i] << "`\n";
      return 2;
    }
  }
  if (!level || !canRun(*level)) {
    llvm::errs() << "kernels: this machine cannot run that level\n";
    return 2;
  }
  llvm::outs() << level->name << ", " << threads << " thread(s)\n";
  int failures = 0;
  for (const KernelCase &c : kernelCases())
    if (c.name.find(filter) != std::string::npos)
      failures += runCase(c, *level, threads, rounds, dump, isCold);
  std::vector<TextCase> texts = textCases();
  llvm::append_range(texts, blockCases());
  llvm::append_range(texts, memoryCases());
  for (const TextCase &c : texts)
    if (c.name.find(filter) != std::string::npos)
      failures += runText(c, *level, threads, rounds, dump);
  return failures != 0;
}
