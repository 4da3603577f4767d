//===- ContractionTesting.h - what tests of contraction kernels share ------===//
//
// Random tensors, packing by the definition of each layout, and a comparison of
// a kernel with the expected values on every CPU level that the machine has and
// with one to three workers, which must agree bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_TEST_UNIT_PASSES_KERNEL_CONTRACTIONTESTING_H
#define STATOR_TEST_UNIT_PASSES_KERNEL_CONTRACTIONTESTING_H

#include "dialects/Target/PackedLayouts.h"
#include "test/unit/Catch.h"
#include "tools/bench/harness/KernelHarness.h"

#include "llvm/Support/Error.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace stator::kernel::testing {

inline int64_t product(const std::vector<int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
}

/// Multiples of 1/64 in [-1, 1): products and short sums of them are exact in f32, longer sums nearly so.
template <typename T = float>
std::vector<T> randomValues(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(count);
  for (T &value : values)
    if constexpr (std::is_integral_v<T>)
      value = T(int(generator() % 17) - 8);
    else
      value = T((int(generator() % 128) - 64) / 64.0);
  return values;
}

/// [batch, K, N] -> [batch][ceil(N/16)][K][16].
template <typename T>
std::vector<T> packPanels(const std::vector<T> &source, int64_t batch, int64_t k, int64_t n) {
  std::vector<T> packed(batch * panelsOf(n) * k * panelColumns);
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column)
        packed[((i * panelsOf(n) + column / 16) * k + row) * 16 + column % 16] = source[(i * k + row) * n + column];
  return packed;
}

/// OIHW with `taps` spatial elements -> [groups][ceil(Og/16)][taps * Cg][16].
inline std::vector<float> packFilter(const std::vector<float> &source, int64_t outputs, int64_t groupChannels, int64_t taps,
                                     int64_t groups) {
  int64_t each = outputs / groups, depth = taps * groupChannels;
  std::vector<float> packed(groups * panelsOf(each) * depth * panelColumns);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < groupChannels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t group = o / each, column = o % each;
        packed[((group * panelsOf(each) + column / 16) * depth + tap * groupChannels + c) * 16 + column % 16] =
            source[(o * groupChannels + c) * taps + tap];
      }
  return packed;
}

/// `tensor<?x4xf32, #graph.dims<["s0", "4"]>>` for {"s0", "4"}; `tensor<2x4xf32>` when all are numbers.
inline std::string tensorText(const std::vector<std::string> &dims, const std::string &type) {
  std::string shape, names;
  bool isDynamic = false;
  for (const std::string &dim : dims) {
    bool isNumber = std::isdigit(static_cast<unsigned char>(dim[0]));
    isDynamic |= !isNumber;
    shape += (isNumber ? dim : "?") + "x";
    names += (names.empty() ? "\"" : ", \"") + dim + "\"";
  }
  return "tensor<" + shape + type + (isDynamic ? ", #graph.dims<[" + names + "]>>" : ">");
}

struct Buffer {
  std::vector<char> bytes;
  template <typename T>
  static Buffer of(const std::vector<T> &values) {
    Buffer buffer;
    buffer.bytes.resize(values.size() * sizeof(T));
    std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
    return buffer;
  }
};

/// One call of a kernel and what it must give.
struct Call {
  std::string kernel;
  std::vector<int64_t> sizes;
  std::vector<Buffer> operands;
  std::vector<std::vector<double>> expected; // per result
  std::string resultType = "f32";
};

/// bf16 or f16 bits of values that are multiples of 1/64 below 2, which both types (almost) hold.
inline std::vector<uint16_t> toHalves(const std::vector<float> &values, const std::string &type) {
  std::vector<uint16_t> halves;
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (type == "bf16")
      halves.push_back(bits >> 16);
    else
      halves.push_back(value == 0 ? 0 : uint16_t((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) | (bits >> 13 & 0x3ff)));
  }
  return halves;
}

inline std::vector<double> readValues(const std::vector<char> &bytes, const std::string &type) {
  auto read = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return std::vector<double>(values.begin(), values.end());
  };
  if (type == "f64")
    return read(double());
  if (type == "i32")
    return read(int32_t());
  if (type == "i64")
    return read(int64_t());
  if (type == "f16") {
    std::vector<double> values;
    for (size_t i = 0; i < bytes.size(); i += 2) {
      unsigned bits = uint8_t(bytes[i + 1]) << 8 | uint8_t(bytes[i]), exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
      double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                                    : std::ldexp(exponent ? 1024 + mantissa : mantissa, int(exponent ? exponent : 1) - 25);
      values.push_back(bits & 0x8000 ? -value : value);
    }
    return values;
  }
  if (type == "bf16") {
    std::vector<double> values;
    for (size_t i = 0; i < bytes.size(); i += 2) {
      uint32_t bits = uint32_t(uint8_t(bytes[i + 1])) << 24 | uint32_t(uint8_t(bytes[i])) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      values.push_back(value);
    }
    return values;
  }
  return read(float());
}

inline unsigned bytesOf(const std::string &type) { return type == "f64" || type == "i64" ? 8 : type == "bf16" || type == "f16" ? 2 : 4; }

/// Runs `calls` on the kernels of `text`. |difference| <= tolerance * (1 + |expected|).
inline void checkKernels(const std::string &text, const std::vector<Call> &calls, double tolerance = 1e-5) {
  for (const CpuLevel &level : cpuLevels()) {
    if (!bench::canRun(level))
      continue;
    auto loaded = bench::LoadedKernels::compile(text, level);
    if (!loaded) {
      INFO(text);
      FAIL(std::string(level.name) << ": " << llvm::toString(loaded.takeError()));
    }
    std::vector<std::vector<std::vector<char>>> first(calls.size());
    for (unsigned workers = 1; workers <= 3; ++workers) {
      bench::WorkerTeam team(workers);
      for (size_t i = 0; i < calls.size(); ++i) {
        const Call &call = calls[i];
        std::vector<Buffer> operands = call.operands;
        std::vector<void *> buffers;
        for (Buffer &operand : operands)
          buffers.push_back(operand.bytes.data());
        // A guard on both sides shows writes out of bounds.
        const size_t guard = 256;
        std::vector<std::vector<char>> results;
        for (const std::vector<double> &expected : call.expected)
          results.emplace_back(expected.size() * bytesOf(call.resultType) + 2 * guard, char(0x5a));
        for (std::vector<char> &result : results)
          buffers.push_back(result.data() + guard);
        (*loaded)->run(call.kernel, buffers, call.sizes, team);
        for (size_t r = 0; r < results.size(); ++r) {
          std::vector<char> &all = results[r];
          bool isGuardWhole = std::all_of(all.begin(), all.begin() + guard, [](char c) { return c == 0x5a; }) &&
                              std::all_of(all.end() - guard, all.end(), [](char c) { return c == 0x5a; });
          INFO(level.name << ", " << workers << " workers, kernel " << call.kernel << ", result " << r << " of " << call.resultType);
          CHECK(isGuardWhole);
          std::vector<char> bytes(all.begin() + guard, all.end() - guard);
          std::vector<double> values = readValues(bytes, call.resultType);
          size_t worst = 0, wrong = 0;
          double difference = 0;
          for (size_t j = 0; j < values.size(); ++j) {
            double error = std::abs(values[j] - call.expected[r][j]) / (1 + std::abs(call.expected[r][j]));
            if (std::isnan(values[j]) != std::isnan(call.expected[r][j]))
              error = INFINITY;
            else if (std::isnan(values[j]))
              error = 0;
            wrong += !(error <= tolerance);
            if (error > difference) {
              difference = error;
              worst = j;
            }
          }
          if (wrong) {
            INFO(wrong << " of " << values.size() << " elements differ, most at " << worst << ": " << values[worst] << ", expected "
                       << call.expected[r][worst]);
            CHECK(wrong == 0);
          }
          if (workers == 1)
            first[i].push_back(bytes);
          else
            CHECK(first[i][r] == bytes);
        }
      }
    }
  }
}

} // namespace stator::kernel::testing

#endif // STATOR_TEST_UNIT_PASSES_KERNEL_CONTRACTIONTESTING_H
