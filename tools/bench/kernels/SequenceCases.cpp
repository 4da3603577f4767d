//===- SequenceCases.cpp - batched products, recurrent layers, attention ---===//

#include "dialects/Target/PackedLayouts.h"
#include "tools/bench/kernels/Cases.h"

#include "llvm/Support/FormatVariadic.h"

namespace stator::bench {

static std::string tensorText(const std::vector<int64_t> &dims) {
  std::string text = "tensor<";
  for (int64_t dim : dims)
    text += std::to_string(dim) + "x";
  return text + "f32>";
}

/// An LSTM (4 gates) or a GRU (3) with as many inputs as hidden units.
static Benchmark recurrentCase(int64_t gates, int64_t steps, int64_t batch, int64_t hidden) {
  bool isLstm = gates == 4;
  auto packed = recurrentPanelsShape({1, gates * hidden, hidden}, gates);
  std::string x = tensorText({steps, batch, hidden}), w = tensorText({packed.begin(), packed.end()}),
              bias = tensorText({1, 2 * gates * hidden}), y = tensorText({steps, 1, batch, hidden}), h = tensorText({1, batch, hidden});
  std::string results = y + ", " + h + (isLstm ? ", " + h : "");
  std::string text =
      llvm::formatv("func.func @k(%x: {0}, %w: {1}, %r: {1}, %b: {2}) -> ({3}) {{\n  %0:{4} = graph.{5} %x, %w, %r, %b "
                    "{{operandSegmentSizes = array<i32: 1, 1, 1, 1, {6}>{7}, weights_packed} : ({0}, {1}, {1}, {2}) -> ({3})\n"
                    "  return {8} : {3}\n}\n",
                    x, w, bias, results, isLstm ? 3 : 2, isLstm ? "lstm" : "gru", isLstm ? "0, 0, 0, 0" : "0, 0",
                    isLstm ? "" : ", linear_before_reset = true", isLstm ? "%0#0, %0#1, %0#2" : "%0#0, %0#1")
          .str();
  int64_t weights = 1;
  for (int64_t dim : packed)
    weights *= dim;
  Benchmark result;
  result.name = llvm::formatv("{0} T={1} B={2} H={3}", isLstm ? "lstm" : "gru", steps, batch, hidden).str();
  result.text = text;
  result.elements = {steps * batch * hidden, weights, weights, 2 * gates * hidden, steps * batch * hidden, batch * hidden};
  if (isLstm)
    result.elements.push_back(batch * hidden);
  result.operations = 2.0 * steps * batch * 2 * gates * hidden * hidden;
  result.library = libraryRecurrent(gates, steps, batch, hidden);
  return result;
}

/// Two activations, as in attention without its softmax.
static Benchmark batchedCase(int64_t batch, int64_t rows, int64_t depth, int64_t columns, bool isTransposed) {
  std::string x = tensorText({batch, rows, depth}),
              w = isTransposed ? tensorText({batch, columns, depth}) : tensorText({batch, depth, columns}),
              y = tensorText({batch, rows, columns});
  Benchmark result;
  result.name = llvm::formatv("batched matmul {0} x {1}x{2}x{3}{4}", batch, rows, depth, columns, isTransposed ? " transposed" : "").str();
  result.text = llvm::formatv("func.func @k(%x: {0}, %w: {1}) -> {2} {{\n  %0 = graph.dot_general %x, %w {{lhs_batch = array<i64: 0>, "
                              "rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: {3}>} : ({0}, {1}) -> "
                              "{2}\n  return %0 : {2}\n}\n",
                              x, w, y, isTransposed ? 2 : 1)
                    .str();
  result.elements = {batch * rows * depth, batch * depth * columns, batch * rows * columns};
  result.operations = 2.0 * batch * rows * depth * columns;
  if (!isTransposed)
    result.library = libraryBatchedMatmul(batch, rows, depth, columns);
  return result;
}

static Benchmark attentionCase(int64_t heads, int64_t queries, int64_t keys, int64_t depth, bool isCausal, bool isSymbolic) {
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
          0,
          {queries, keys}};
}

std::vector<Benchmark> sequenceCases() {
  return {batchedCase(12, 128, 64, 128, false),
          batchedCase(12, 128, 64, 128, true),
          batchedCase(12, 128, 128, 64, false),
          recurrentCase(4, 64, 1, 512),
          recurrentCase(4, 64, 8, 512),
          recurrentCase(4, 32, 1, 128),
          recurrentCase(3, 64, 1, 512),
          recurrentCase(3, 64, 8, 512),
          attentionCase(12, 128, 128, 32, false, false),
          attentionCase(12, 197, 197, 64, false, false),
          attentionCase(12, 512, 512, 64, true, false),
          attentionCase(12, 512, 512, 64, true, true),
          attentionCase(12, 1, 1000, 64, false, true)};
}

} // namespace stator::bench
