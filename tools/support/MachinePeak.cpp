// Chains of multiply-adds that depend on nothing but themselves, and loops that read. Best of several short runs: other processes only
// ever add time.
#include "tools/support/MachinePeak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace stator::tools {

double MachinePeak::gflops() const {
  double best = 0;
  for (auto [bits, rate] : arithmetic)
    best = std::max(best, rate);
  return best;
}

namespace {
constexpr int kChains = 12; // Enough for two units of latency 4, or of latency 5 and 6.
constexpr long kSteps = 600000;

using Arithmetic = float (*)(long steps);
using Reading = uint64_t (*)(const void *data, size_t bytes);

// One pair of functions per vector width. A macro, because a function's target must stand at its definition, and vectors wider than the
// target's are taken apart before any inlining.
#define STATOR_DEFINE_WIDTH(SUFFIX, TARGET, BYTES)                                                                                         \
  __attribute__((target(TARGET), noinline)) float arithmetic##SUFFIX(long steps) {                                                         \
    typedef float Vector __attribute__((vector_size(BYTES)));                                                                              \
    Vector x = Vector{} + 0.5f, chain[kChains];                                                                                            \
    asm volatile("" : "+v"(x));                                                                                                            \
    for (Vector &each : chain)                                                                                                             \
      each = x;                                                                                                                            \
    for (long step = 0; step < steps; ++step) {                                                                                            \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * x + x;                                    \
      asm volatile("" : "+v"(chain[0]), "+v"(chain[1]), "+v"(chain[2]), "+v"(chain[3]), "+v"(chain[4]), "+v"(chain[5]));                   \
      asm volatile("" : "+v"(chain[6]), "+v"(chain[7]), "+v"(chain[8]), "+v"(chain[9]), "+v"(chain[10]), "+v"(chain[11]));                 \
    }                                                                                                                                      \
    float sum = 0;                                                                                                                         \
    for (const Vector &each : chain)                                                                                                       \
      sum += each[0];                                                                                                                      \
    return sum;                                                                                                                            \
  }                                                                                                                                        \
  __attribute__((target(TARGET), noinline)) uint64_t reading##SUFFIX(const void *data, size_t bytes) {                                     \
    typedef uint64_t Vector __attribute__((vector_size(BYTES)));                                                                           \
    const Vector *from = static_cast<const Vector *>(data);                                                                                \
    Vector sum[4] = {};                                                                                                                    \
    for (size_t i = 0; i + 4 <= bytes / BYTES; i += 4) {                                                                                   \
      _Pragma("clang loop unroll(full)") for (int k = 0; k < 4; ++k) sum[k] += from[i + k];                                                \
      asm volatile("" : "+v"(sum[0]), "+v"(sum[1]), "+v"(sum[2]), "+v"(sum[3]));                                                           \
    }                                                                                                                                      \
    return (sum[0] + sum[1] + sum[2] + sum[3])[0];                                                                                         \
  }
STATOR_DEFINE_WIDTH(128, "sse2", 16)
STATOR_DEFINE_WIDTH(256, "avx2,fma", 32)
STATOR_DEFINE_WIDTH(512, "avx512f,avx512vl", 64)
#undef STATOR_DEFINE_WIDTH

struct Width {
  int bits;
  Arithmetic arithmetic;
  Reading reading;
};

std::vector<Width> widths() {
  __builtin_cpu_init();
  std::vector<Width> result = {{128, arithmetic128, reading128}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    result.push_back({256, arithmetic256, reading256});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    result.push_back({512, arithmetic512, reading512});
  return result;
}

/// The shortest time in seconds in which all threads get through `body`, over `rounds` rounds.
double shortest(int threads, int rounds, const std::function<void(int)> &body) {
  std::atomic<int> arrived{0}, finished{0};
  auto round = [&](int thread, int number) {
    for (++arrived; arrived.load() < number * threads;)
      ;
    body(thread);
    for (++finished; finished.load() < number * threads;)
      ;
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      for (int number = 1; number <= rounds; ++number)
        round(thread, number);
    });
  double best = 1e9;
  for (int number = 1; number <= rounds; ++number) {
    auto begin = std::chrono::steady_clock::now();
    round(0, number);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  for (std::thread &thread : others)
    thread.join();
  return best;
}

/// Zero when there is no memory for it.
double readingGbPerS(Reading reading, int threads, size_t bytesPerThread, int passes) {
  size_t total = bytesPerThread * static_cast<size_t>(threads);
  void *memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 0;
  madvise(memory, total, MADV_HUGEPAGE);
  std::memset(memory, 1, total);
  std::atomic<uint64_t> sink{0};
  double seconds = shortest(threads, 5, [&](int thread) {
    for (int pass = 0; pass < passes; ++pass)
      sink += reading(static_cast<const char *>(memory) + static_cast<size_t>(thread) * bytesPerThread, bytesPerThread);
  });
  munmap(memory, total);
  return static_cast<double>(total) * passes / seconds / 1e9;
}

size_t cacheBytes(int name, size_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? static_cast<size_t>(bytes) : otherwise;
}
} // namespace

MachinePeak measureMachinePeak(int threads) {
  MachinePeak peak;
  // More threads than cores would only wait for each other.
  peak.threads = std::clamp(threads, 1, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  std::vector<Width> all = widths();
  std::atomic<int> sink{0};
  for (const Width &width : all) {
    double seconds = shortest(peak.threads, 9, [&](int) { sink += static_cast<int>(width.arithmetic(kSteps)); });
    double operations = 2.0 * kChains * kSteps * (width.bits / 32) * peak.threads;
    peak.arithmetic.push_back({width.bits, operations / seconds / 1e9});
  }
  size_t second = std::clamp(cacheBytes(_SC_LEVEL2_CACHE_SIZE, size_t(512) << 10) / 2, size_t(128) << 10, size_t(2) << 20);
  peak.cacheGbPerS = readingGbPerS(all.back().reading, peak.threads, second & ~size_t(4095), 16);
  // Three times the last cache in all, so that little of a pass is still there at the next one.
  size_t last = std::clamp(cacheBytes(_SC_LEVEL3_CACHE_SIZE, size_t(32) << 20) * 3, size_t(64) << 20, size_t(192) << 20);
  peak.memoryGbPerS = readingGbPerS(all.back().reading, peak.threads, last / static_cast<size_t>(peak.threads) & ~size_t(4095), 1);
  return peak;
}

} // namespace stator::tools
