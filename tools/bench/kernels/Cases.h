//===- Cases.h - what the kernel benchmark times ---------------------------===//
#ifndef STATOR_TOOLS_BENCH_KERNELS_CASES_H
#define STATOR_TOOLS_BENCH_KERNELS_CASES_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stator::bench {

/// A convolution over pixels, or (with one tap on a 1 x rows image) a matrix product.
struct KernelCase {
  std::string name;
  bool isMatmul = false;
  int64_t rows = 0, depth = 0, columns = 0;              // matmul
  int64_t size = 0, channels = 0, outputs = 0, taps = 0; // convolution of a size x size image
  int64_t stride = 1, pad = 0, groups = 1, dilation = 1;
  int64_t winograd = 0;    // the tile of F(m x m, 3x3), or 0
  bool isSymbolic = false; // rows, or height and width, are symbols
  enum Epilogue { None, BiasRelu, BiasGelu } epilogue = None;

  bool isDepthwise() const { return groups > 1 && groups == channels && groups == outputs; }
  int64_t outputSize() const { return (size + 2 * pad - (taps - 1) * dilation - 1) / stride + 1; }
  double operations() const {
    return isMatmul ? 2.0 * rows * depth * columns : 2.0 * outputSize() * outputSize() * outputs * taps * taps * channels / groups;
  }
};

/// Of which the library has its own version, with weights in its own layout: `copies` of them are used in turn. Null when the benchmark
/// was built without the library, or when that has no implementation.
using LibraryMaker = std::function<std::function<void()>(int copies)>;

/// One kernel to time.
struct Benchmark {
  std::string name, text;                       // of function @k
  std::vector<int64_t> elements;                // f32, per buffer
  double operations = 0;                        // 0: only bytes count
  double bytes = 0;                             // of each tensor once; 0: not of interest
  std::vector<int64_t> sizes;                   // values of the symbols
  std::optional<size_t> weights = std::nullopt; // the buffer that is varied with --cold
  LibraryMaker library = nullptr;
  std::optional<KernelCase> contraction = std::nullopt;
};

/// As text.
Benchmark benchmarkOf(const KernelCase &c);

/// Contractions as models have them: matrix products, convolutions, Winograd, depthwise.
std::vector<Benchmark> contractionCases();
/// The grid of shapes behind dialects/Target/costs: contractions without epilogue.
std::vector<Benchmark> costCases();
/// Batched products, recurrent layers, attention.
std::vector<Benchmark> sequenceCases();
/// Element-wise, row-wise and moving kernels, in bytes per second.
std::vector<Benchmark> memoryCases();

/// Inverted residual blocks of mobile networks, in parts and whole.
std::vector<Benchmark> blockCases();

LibraryMaker libraryContraction(const KernelCase &c);
LibraryMaker libraryBatchedMatmul(int64_t batch, int64_t rows, int64_t depth, int64_t columns);
/// gates: 4 for LSTM, 3 for GRU (linear before reset).
LibraryMaker libraryRecurrent(int64_t gates, int64_t steps, int64_t batch, int64_t hidden);
LibraryMaker libraryPool(bool isMax, int64_t batch, int64_t size, int64_t channels, int64_t window, int64_t stride, int64_t pad);
LibraryMaker librarySoftmax(int64_t rows, int64_t width);
LibraryMaker libraryLayerNorm(int64_t rows, int64_t width);
/// [rows, width] to [width, rows].
LibraryMaker libraryTranspose(int64_t rows, int64_t width);
void setLibraryThreads(unsigned threads);

} // namespace stator::bench

#endif // STATOR_TOOLS_BENCH_KERNELS_CASES_H
