//===- BlockCases.cpp - inverted residual blocks, whole and in parts --------===//
//
// The convolutions of a block one by one (expand, filter, project), then in one
// kernel: what fusing them is worth is read off the times.
//
//===----------------------------------------------------------------------===//

#include "dialects/Target/PackedLayouts.h"
#include "tools/bench/kernels/Cases.h"

#include "llvm/Support/FormatVariadic.h"

namespace stator::bench {

namespace {

struct Block {
  int64_t size, inputs, expanded, outputs, taps, stride;
  const char *activation; // "relu6" or "silu"
};

/// Writes the stages [first, last) of expand, filter and project as one function.
class Writer {
public:
  Writer(const Block &block, int first, int last) : block(block) {
    int64_t size = first == 2 ? filteredSize() : block.size, channels = first == 0 ? block.inputs : block.expanded;
    value = argument(image(size, channels), size * size * channels);
    for (int stage = first; stage != last; ++stage) {
      bool isFilter = stage == 1;
      int64_t newSize = isFilter ? filteredSize() : size, newChannels = stage == 2 ? block.outputs : block.expanded;
      convolution(image(size, channels), image(newSize, newChannels), channels, newChannels, isFilter);
      epilogue(image(newSize, newChannels), newChannels, stage == 2 ? "" : block.activation);
      result.operations += 2.0 * newSize * newSize * newChannels * (isFilter ? block.taps * block.taps : channels);
      size = newSize;
      channels = newChannels;
    }
    std::string type = image(size, channels);
    result.elements.push_back(size * size * channels);
    result.text = "func.func @k(" + arguments + ") -> " + type + " {\n" + body + "  return " + value + " : " + type + "\n}\n";
    static const char *const names[] = {"expand", "filter", "project"};
    std::string parts = last - first == 3 ? "whole" : names[first];
    for (int stage = first + 1; stage < last && last - first < 3; ++stage)
      parts += std::string("+") + names[stage];
    result.name = llvm::formatv("block {0}->{1}->{2} @{3} {4}x{4}s{5} {6} {7}", block.inputs, block.expanded, block.outputs, block.size,
                                block.taps, block.stride, block.activation, parts)
                      .str();
  }

  Benchmark result{};

private:
  int64_t filteredSize() const { return (block.size - 1) / block.stride + 1; }
  static std::string image(int64_t size, int64_t channels) { return llvm::formatv("tensor<1x{0}x{0}x{1}xf32>", size, channels).str(); }
  std::string argument(const std::string &type, int64_t elements) {
    std::string name = llvm::formatv("%a{0}", result.elements.size()).str();
    arguments += (arguments.empty() ? "" : ", ") + name + ": " + type;
    result.elements.push_back(elements);
    return name;
  }
  std::string define(const std::string &text) {
    std::string name = llvm::formatv("%v{0}", count++).str();
    body += "  " + name + " = graph." + text + "\n";
    return name;
  }
  void convolution(const std::string &from, const std::string &to, int64_t channels, int64_t outputs, bool isFilter) {
    int64_t taps = isFilter ? block.taps : 1, stride = isFilter ? block.stride : 1, depth = taps * taps * channels;
    std::string type = isFilter ? llvm::formatv("tensor<{0}x{1}xf32>", taps * taps, channels).str()
                                : llvm::formatv("tensor<1x{0}x{1}x16xf32>", panelsOf(outputs), depth).str();
    std::string filter = argument(type, isFilter ? depth : panelsOf(outputs) * 16 * depth);
    value = define(llvm::formatv("convolution {0}, {1} {{strides = array<i64: {2}, {2}>, pad_low = array<i64: {3}, {3}>, pad_high = "
                                 "array<i64: {3}, {3}>, dilations = array<i64: 1, 1>, groups = {4} : i64, layout = "
                                 "#graph.layout<channels_last>, filter_packed, filter_shape = array<i64: {5}, {6}, {7}, {7}>} : ({8}, "
                                 "{9}) -> {10}",
                                 value, filter, stride, taps / 2, isFilter ? channels : 1, outputs, isFilter ? 1 : channels, taps, from,
                                 type, to)
                       .str());
  }
  void epilogue(const std::string &type, int64_t channels, const std::string &activation) {
    std::string vector = llvm::formatv("tensor<{0}xf32>", channels).str(), both = llvm::formatv(" : ({0}, {0}) -> {0}", type).str();
    std::string bias = argument(vector, channels);
    bias = define("broadcast " + bias + " {dimensions = array<i64: 3>} : (" + vector + ") -> " + type);
    value = define("add " + value + ", " + bias + both);
    if (activation == "silu")
      value = define("mul " + value + ", " + define("sigmoid " + value + " : (" + type + ") -> " + type) + both);
    if (activation == "relu6") {
      std::string zero = define("constant dense<0.0> : " + type), six = define("constant dense<6.0> : " + type);
      value = define("maximum " + value + ", " + zero + both);
      value = define("minimum " + value + ", " + six + both);
    }
  }

  const Block &block;
  std::string arguments, body, value;
  unsigned count = 0;
};

} // namespace

std::vector<Benchmark> blockCases() {
  const Block blocks[] = {{112, 16, 96, 24, 3, 2, "relu6"},  {56, 24, 144, 24, 3, 1, "relu6"}, {56, 24, 144, 32, 3, 2, "relu6"},
                          {28, 32, 192, 32, 3, 1, "relu6"},  {14, 96, 576, 96, 3, 1, "relu6"}, {7, 160, 960, 160, 3, 1, "relu6"},
                          {112, 16, 96, 24, 3, 2, "silu"},   {56, 24, 144, 24, 3, 1, "silu"},  {56, 24, 144, 40, 5, 2, "silu"},
                          {28, 40, 240, 40, 5, 1, "silu"},   {14, 112, 672, 112, 5, 1, "silu"}, {7, 192, 1152, 192, 5, 1, "silu"},
                          {112, 32, 32, 16, 3, 1, "relu6"}};
  std::vector<Benchmark> cases;
  for (const Block &block : blocks)
    for (auto [first, last] : {std::pair(0, 1), {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 3}})
      if (first > 0 || block.expanded != block.inputs)
        cases.push_back(Writer(block, first, last).result);
  return cases;
}

} // namespace stator::bench
