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
  int64_t stride = 1, pad = 0, groups = 1;
  bool isSymbolic = false; // rows, or height and width, are symbols
  enum Epilogue { None, BiasRelu, BiasGelu } epilogue = None;

  bool isDepthwise() const { return groups > 1; }
  int64_t outputSize() const { return (size + 2 * pad - taps) / stride + 1; }
  double operations() const {
    return isMatmul ? 2.0 * rows * depth * columns : 2.0 * outputSize() * outputSize() * outputs * taps * taps * channels / groups;
  }
};

std::vector<KernelCase> kernelCases();

/// A kernel given by its text; timed alone.
struct TextCase {
  std::string name, text;        // of function @k
  std::vector<int64_t> elements; // f32, per buffer
  double operations;
  std::vector<int64_t> sizes; // values of the symbols
  std::string unit = "GF";    // of `operations`: GF, or GB for bytes
};

std::vector<TextCase> textCases();
/// Inverted residual blocks of mobile networks, in parts and whole.
std::vector<TextCase> blockCases();
/// Element-wise, row-wise and moving kernels, in bytes per second.
std::vector<TextCase> memoryCases();

/// The same computation by oneDNN with weights in its own layout, of which `copies` are used in turn; null when built without it or
/// when it has no implementation.
std::function<void()> libraryCase(const KernelCase &c, int copies);
void setLibraryThreads(unsigned threads);

} // namespace stator::bench

#endif // STATOR_TOOLS_BENCH_KERNELS_CASES_H
