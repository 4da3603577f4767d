//===- MemoryCases.cpp - kernels whose time is memory traffic --------------===//

#include "tools/bench/kernels/Cases.h"

#include "llvm/ADT/STLExtras.h"

namespace stator::bench {

static std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at; (at = text.find(from)) != std::string::npos;)
    text.replace(at, from.size(), to);
  return text;
}

/// A case on [rows, width] tensors: `body` computes %result from %x, %y: $t and %c: $c (a row). Bytes count each tensor once.
static Benchmark rowCase(const std::string &name, int64_t rows, int64_t width, int tensors, const std::string &body, bool isSymbolic,
                         const std::string &result = "$t") {
  std::string text = "func.func @k(%x: $t, %y: $t, %c: $c) -> " + result + " {\n" + body + "  return %result : " + result + "\n}\n";
  std::string w = std::to_string(width);
  text = replaceAll(text, "$t",
                    isSymbolic ? "tensor<?x" + w + "xf32, #graph.dims<[\"s0\", \"" + w + "\"]>>"
                               : "tensor<" + std::to_string(rows) + "x" + w + "xf32>");
  text = replaceAll(text, "$r", isSymbolic ? "tensor<?xf32, #graph.dims<[\"s0\"]>>" : "tensor<" + std::to_string(rows) + "xf32>");
  text = replaceAll(text, "$u", "tensor<" + w + "x" + std::to_string(rows) + "xf32>");
  text = replaceAll(text, "$c", "tensor<" + w + "xf32>");
  int64_t all = rows * width;
  return {"memory " + name + " " + std::to_string(rows) + "x" + w + (isSymbolic ? " symbolic" : ""),
          text,
          {all, all, width, all},
          0,
          4.0 * all * tensors,
          {rows}};
}

static Benchmark poolCase(const std::string &kind, int64_t batch, int64_t size, int64_t channels, int64_t window, int64_t stride,
                          int64_t pad) {
  int64_t outputs = (size + 2 * pad - window) / stride + 1;
  auto pair = [](int64_t value) { return "array<i64: " + std::to_string(value) + ", " + std::to_string(value) + ">"; };
  auto type = [&](int64_t side) {
    std::string s = std::to_string(side);
    return "tensor<" + std::to_string(batch) + "x" + s + "x" + s + "x" + std::to_string(channels) + "xf32>";
  };
  std::string text = "func.func @k(%x: " + type(size) + ") -> " + type(outputs) + " {\n  %0 = graph.pool %x {kind = #graph.pool_kind<" +
                     kind + ">, kernel = " + pair(window) + ", strides = " + pair(stride) + ", pad_low = " + pair(pad) +
                     ", pad_high = " + pair(pad) + ", dilations = " + pair(1) + ", layout = #graph.layout<channels_last>} : (" +
                     type(size) + ") -> " + type(outputs) + "\n  return %0 : " + type(outputs) + "\n}\n";
  int64_t read = batch * size * size * channels, written = batch * outputs * outputs * channels;
  return {"memory pool " + kind + " " + std::to_string(size) + "x" + std::to_string(size) + "x" + std::to_string(channels),
          text,
          {read, written},
          0,
          4.0 * (read + written),
          {},
          std::nullopt,
          libraryPool(kind == "max", batch, size, channels, window, stride, pad)};
}

/// Channels of two images side by side, channels last.
static Benchmark concatCase(int64_t pixels, int64_t left, int64_t right) {
  auto type = [&](int64_t channels) { return "tensor<" + std::to_string(pixels) + "x" + std::to_string(channels) + "xf32>"; };
  std::string text = "func.func @k(%x: " + type(left) + ", %y: " + type(right) + ") -> " + type(left + right) +
                     " {\n  %0 = graph.concat %x, %y {axis = 1 : i64} : (" + type(left) + ", " + type(right) + ") -> " +
                     type(left + right) + "\n  return %0 : " + type(left + right) + "\n}\n";
  return {"memory concat " + std::to_string(pixels) + "x" + std::to_string(left) + "+" + std::to_string(right),
          text,
          {pixels * left, pixels * right, pixels * (left + right)},
          0,
          8.0 * pixels * (left + right),
          {}};
}

std::vector<Benchmark> memoryCases() {
  const std::string relu = "  %b = graph.broadcast %c {dimensions = array<i64: 1>} : ($c) -> $t\n  %0 = graph.mul %x, %b : ($t, $t) -> $t\n"
                           "  %1 = graph.add %0, %b : ($t, $t) -> $t\n  %result = graph.relu %1 : ($t) -> $t\n",
                    add = "  %result = graph.add %x, %y : ($t, $t) -> $t\n", gelu = "  %result = graph.gelu %x : ($t) -> $t\n",
                    silu = "  %0 = graph.sigmoid %x : ($t) -> $t\n  %result = graph.mul %x, %0 : ($t, $t) -> $t\n",
                    tanh = "  %result = graph.tanh %x : ($t) -> $t\n", exp = "  %result = graph.exp %x : ($t) -> $t\n",
                    softmax = "  %result = graph.softmax %x {axis = 1 : i64} : ($t) -> $t\n",
                    norm = "  %result = graph.layer_norm %x, %c, %c {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = "
                           "array<i32: 1, 1, 1>} : ($t, $c, $c) -> $t\n",
                    addNorm =
                        "  %0 = graph.add %x, %y : ($t, $t) -> $t\n  %result = graph.layer_norm %0, %c, %c {axis = 1 : i64, epsilon = "
                        "1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : ($t, $c, $c) -> $t\n",
                    sum = "  %result = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : ($t) -> $r\n",
                    max = "  %result = graph.reduce %x {kind = #graph.reduce_kind<max>, axes = array<i64: 1>} : ($t) -> $r\n",
                    columnSum = "  %result = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 0>} : ($t) -> $c\n",
                    transpose = "  %result = graph.transpose %x {permutation = array<i64: 1, 0>} : ($t) -> $u\n";
  std::vector<Benchmark> cases;
  for (bool isSymbolic : {false, true})
    for (int64_t width : {1024, 1000, 49}) {
      int64_t rows = width == 49 ? 1024 : 64;
      for (auto &[name, tensors, body] : std::vector<std::tuple<std::string, int, std::string>>{{"relu(x*w+b)", 2, relu},
                                                                                                {"x+y", 3, add},
                                                                                                {"gelu", 2, gelu},
                                                                                                {"silu", 2, silu},
                                                                                                {"tanh", 2, tanh},
                                                                                                {"exp", 2, exp},
                                                                                                {"softmax", 2, softmax},
                                                                                                {"layer norm", 2, norm},
                                                                                                {"add+layer norm", 3, addNorm}})
        cases.push_back(rowCase(name, rows, width, tensors, body, isSymbolic));
      if (!isSymbolic) {
        cases[cases.size() - 3].library = librarySoftmax(rows, width);
        cases[cases.size() - 2].library = libraryLayerNorm(rows, width);
      }
      cases.push_back(rowCase("row sum", rows, width, 1, sum, isSymbolic, "$r"));
      cases.push_back(rowCase("row max", rows, width, 1, max, isSymbolic, "$r"));
      cases.push_back(rowCase("column sum", rows, width, 1, columnSum, isSymbolic, "$c"));
    }
  for (auto [rows, width] : {std::pair{256, 256}, {3, 50176}, {50176, 3}, {512, 1000}}) {
    cases.push_back(rowCase("transpose", rows, width, 2, transpose, false, "$u"));
    cases.back().library = libraryTranspose(rows, width);
  }
  for (auto [pixels, left, right] : {std::tuple<int64_t, int64_t, int64_t>{3136, 64, 32}, {784, 480, 32}, {4096, 128, 64}})
    cases.push_back(concatCase(pixels, left, right));
  cases.push_back(poolCase("max", 2, 112, 64, 3, 2, 1));
  cases.push_back(poolCase("max", 2, 32, 16, 3, 2, 1));
  cases.push_back(poolCase("average", 2, 56, 128, 2, 2, 0));
  return cases;
}

} // namespace stator::bench
