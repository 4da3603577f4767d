//===- TextCases.cpp - recurrent layers and attention ----------------------===//

#include "dialects/Target/PackedLayouts.h"
#include "tools/bench/kernels/Cases.h"

#include "llvm/Support/FormatVariadic.h"

namespace stator::bench {

static TextCase lstmCase(int64_t steps, int64_t batch, int64_t hidden) {
  std::string x = llvm::formatv("tensor<{0}x{1}x{2}xf32>", steps, batch, hidden).str(),
              w = llvm::formatv("tensor<1x{0}x{1}x4x16xf32>", panelsOf(hidden), hidden).str(),
              bias = llvm::formatv("tensor<1x{0}xf32>", 8 * hidden).str(),
              y = llvm::formatv("tensor<{0}x1x{1}x{2}xf32>", steps, batch, hidden).str(),
              h = llvm::formatv("tensor<1x{0}x{1}xf32>", batch, hidden).str();
  std::string text =
      llvm::formatv("func.func @k(%x: {0}, %w: {1}, %r: {1}, %b: {2}) -> ({3}, {4}, {4}) {{\n  %0:3 = graph.lstm %x, %w, %r, %b "
                    "{{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>, weights_packed} : ({0}, {1}, {1}, {2}) -> ({3}, {4}, "
                    "{4})\n  return %0#0, %0#1, %0#2 : {3}, {4}, {4}\n}\n",
                    x, w, bias, y, h)
          .str();
  int64_t weights = 4 * panelsOf(hidden) * 16 * hidden;
  return {llvm::formatv("lstm T={0} B={1} H={2}", steps, batch, hidden).str(),
          text,
          {steps * batch * hidden, weights, weights, 8 * hidden, steps * batch * hidden, batch * hidden, batch * hidden},
          2.0 * steps * batch * 8 * hidden * hidden,
          {}};
}

static TextCase attentionCase(int64_t heads, int64_t queries, int64_t keys, int64_t depth, bool isCausal, bool isSymbolic) {
  auto type = [&](const char *symbol, int64_t size) {
    return isSymbolic
               ? llvm::formatv("tensor<1x{0}x?x{1}xf32, #graph.dims<[\"1\", \"{0}\", \"{2}\", \"{1}\"]>>", heads, depth, symbol).str()
               : llvm::formatv("tensor<1x{0}x{1}x{2}xf32>", heads, size, depth).str();
  };
  std::string q = type("s0", queries), k = type("s1", keys);
  std::string text = llvm::formatv("func.func @k(%q: {0}, %k: {1}, %v: {1}) -> {0} {{\n  %0 = graph.attention %q, %k, %v {{scale = 0.125 : "
                                   "f64, causal = {2}} : ({0}, {1}, {1}) -> {0}\n  return %0 : {0}\n}\n",
                                   q, k, isCausal ? "true" : "false")
                         .str();
  int64_t q1 = heads * queries * depth, k1 = heads * keys * depth;
  return {llvm::formatv("attention {0} x {1} x {2} x {3}{4}{5}", heads, queries, keys, depth, isCausal ? " causal" : "",
                        isSymbolic ? " symbolic" : "")
              .str(),
          text,
          {q1, k1, k1, q1},
          4.0 * heads * queries * keys * depth * (isCausal ? 0.5 : 1),
          {queries, keys}};
}

std::vector<TextCase> textCases() {
  return {lstmCase(64, 1, 512),
          lstmCase(64, 8, 512),
          lstmCase(32, 1, 128),
          attentionCase(12, 128, 128, 32, false, false),
          attentionCase(12, 197, 197, 64, false, false),
          attentionCase(12, 512, 512, 64, true, false),
          attentionCase(12, 512, 512, 64, true, true),
          attentionCase(12, 1, 1000, 64, false, true)};
}

} // namespace stator::bench
