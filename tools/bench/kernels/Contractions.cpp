//===- Contractions.cpp - matrix products and convolutions as text ---------===//

#include "dialects/Target/PackedLayouts.h"
#include "tools/bench/kernels/Cases.h"

#include "llvm/Support/FormatVariadic.h"

namespace stator::bench {

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

static std::string matmulText(const KernelCase &c) {
  auto matrix = [&](int64_t width) {
    return c.isSymbolic ? llvm::formatv("tensor<?x{0}xf32, #graph.dims<[\"s0\", \"{0}\"]>>", width).str()
                        : llvm::formatv("tensor<{0}x{1}xf32>", c.rows, width).str();
  };
  std::string x = matrix(c.depth), y = matrix(c.columns);
  std::string w = llvm::formatv("tensor<{0}x{1}x16xf32>", panelsOf(c.columns), c.depth).str();
  auto [argument, epilogue] = epilogueOf(c, y);
  return llvm::formatv("func.func @k(%x: {0}, %w: {1}{4}) -> {2} {{\n  %0 = graph.dot_general %x, %w {{lhs_batch = array<i64>, rhs_batch = "
                       "array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, rhs_packed = {3} : i64} : ({0}, {1}) -> "
                       "{2}\n{5}}\n",
                       x, w, y, c.columns, argument, epilogue)
      .str();
}

static std::vector<int64_t> packedFilter(const KernelCase &c) {
  std::vector<int64_t> oihw = {c.outputs, c.channels / c.groups, c.taps, c.taps};
  if (c.isDepthwise()) {
    auto shape = depthwiseShape(oihw);
    return {shape.begin(), shape.end()};
  }
  auto shape = c.winograd ? winogradPanelsShape(oihw, c.winograd) : convPanelsShape(oihw, c.groups);
  return {shape.begin(), shape.end()};
}

static std::string convolutionText(const KernelCase &c) {
  // The symbolic cases have equal input and output sizes.
  auto image = [&](int64_t size, int64_t channels) {
    return c.isSymbolic ? llvm::formatv("tensor<1x?x?x{0}xf32, #graph.dims<[\"1\", \"s0\", \"s1\", \"{0}\"]>>", channels).str()
                        : llvm::formatv("tensor<1x{0}x{0}x{1}xf32>", size, channels).str();
  };
  std::string x = image(c.size, c.channels), y = image(c.outputSize(), c.outputs), w = "tensor<";
  for (int64_t dim : packedFilter(c))
    w += std::to_string(dim) + "x";
  w += "f32>";
  auto pair = [](int64_t value) { return llvm::formatv("array<i64: {0}, {0}>", value).str(); };
  auto [argument, epilogue] = epilogueOf(c, y);
  std::string attributes = llvm::formatv("strides = {0}, pad_low = {1}, pad_high = {1}, dilations = {2}, groups = {3} : i64, layout = "
                                         "#graph.layout<channels_last>, filter_packed, filter_shape = array<i64: {4}, {5}, {6}, {6}>{7}",
                                         pair(c.stride), pair(c.pad), pair(c.dilation), c.groups, c.outputs, c.channels / c.groups, c.taps,
                                         c.winograd ? ", winograd = " + std::to_string(c.winograd) + " : i64" : "")
                               .str();
  return llvm::formatv("func.func @k(%x: {0}, %w: {1}{3}) -> {2} {{\n  %0 = graph.convolution %x, %w {{{4}} : ({0}, {1}) -> {2}\n{5}}\n", x,
                       w, y, argument, attributes, epilogue)
      .str();
}

Benchmark benchmarkOf(const KernelCase &c) {
  int64_t inputs = c.isMatmul ? c.rows * c.depth : c.size * c.size * c.channels;
  int64_t outputs = c.isMatmul ? c.rows * c.columns : c.outputSize() * c.outputSize() * c.outputs;
  int64_t weights = 1;
  if (c.isMatmul)
    weights = panelsOf(c.columns) * 16 * c.depth;
  else
    for (int64_t dim : packedFilter(c))
      weights *= dim;
  Benchmark benchmark;
  benchmark.name = c.name;
  benchmark.text = c.isMatmul ? matmulText(c) : convolutionText(c);
  benchmark.elements = {inputs, weights};
  if (c.epilogue != KernelCase::None)
    benchmark.elements.push_back(c.isMatmul ? c.columns : c.outputs);
  benchmark.elements.push_back(outputs);
  benchmark.operations = c.operations();
  benchmark.sizes = c.isMatmul ? std::vector<int64_t>{c.rows} : std::vector<int64_t>{c.size, c.size};
  benchmark.weights = 1;
  benchmark.library = libraryContraction(c);
  benchmark.contraction = c;
  return benchmark;
}

} // namespace stator::bench
