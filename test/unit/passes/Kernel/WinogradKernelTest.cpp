// DEPS: stator::tools::bench::harness
// Winograd convolutions against a loop in double, at every CPU level and number of workers: images that tiles do not divide, paddings,
// channels and outputs that vectors do not divide, several images and blocks, residuals, symbolic sizes; and the rounding error of a layer.
#include "test/unit/passes/Kernel/ContractionTesting.h"

#include "dialects/Target/Winograd.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

struct WinogradCase {
  int64_t tile, batch, height, width, channels, outputs;
  int64_t low[2] = {1, 1}, high[2] = {1, 1};
  bool hasResidual = false;
  bool isSymbolic = false;

  int64_t outHeight() const { return height + low[0] + high[0] - 2; }
  int64_t outWidth() const { return width + low[1] + high[1] - 2; }
};

std::vector<double> convolve(const WinogradCase &c, const std::vector<float> &x, const std::vector<float> &w) {
  std::vector<double> result(c.batch * c.outHeight() * c.outWidth() * c.outputs);
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t i = 0; i < c.outHeight(); ++i)
      for (int64_t j = 0; j < c.outWidth(); ++j)
        for (int64_t tap = 0; tap < 9; ++tap) {
          int64_t y = i - c.low[0] + tap / 3, z = j - c.low[1] + tap % 3;
          if (y < 0 || y >= c.height || z < 0 || z >= c.width)
            continue;
          const float *pixel = &x[((n * c.height + y) * c.width + z) * c.channels];
          double *out = &result[((n * c.outHeight() + i) * c.outWidth() + j) * c.outputs];
          for (int64_t o = 0; o < c.outputs; ++o)
            for (int64_t channel = 0; channel < c.channels; ++channel)
              out[o] += double(pixel[channel]) * w[(o * c.channels + channel) * 9 + tap];
        }
  return result;
}

/// OIHW -> [ceil(O/16)][n * n][I][16], by the definition.
std::vector<float> packWinograd(const WinogradCase &c, const std::vector<float> &w) {
  WinogradTransform transform(c.tile);
  const int64_t n = transform.inputs();
  std::vector<float> packed(panelsOf(c.outputs) * n * n * c.channels * panelColumns);
  for (int64_t o = 0; o < c.outputs; ++o)
    for (int64_t channel = 0; channel < c.channels; ++channel)
      for (int64_t r = 0; r < n; ++r)
        for (int64_t s = 0; s < n; ++s) {
          double sum = 0;
          for (int64_t tap = 0; tap < 9; ++tap)
            sum += transform.weight(r, tap / 3) * transform.weight(s, tap % 3) * w[(o * c.channels + channel) * 9 + tap];
          packed[(((o / 16) * n * n + r * n + s) * c.channels + channel) * 16 + o % 16] = float(sum);
        }
  return packed;
}

std::string textOf(const std::string &name, const WinogradCase &c, std::vector<int64_t> &sizes) {
  auto number = [](int64_t value) { return std::to_string(value); };
  const int64_t n = c.tile + 2;
  std::vector<std::string> in = {number(c.batch), number(c.height), number(c.width), number(c.channels)},
                           out = {number(c.batch), number(c.outHeight()), number(c.outWidth()), number(c.outputs)};
  if (c.isSymbolic) {
    in = {"s0", "s1", "s2", number(c.channels)};
    auto grown = [](const char *symbol, int64_t by) { return (DimExpr::symbol(symbol) + by).str(); };
    out = {"s0", grown("s1", c.low[0] + c.high[0] - 2), grown("s2", c.low[1] + c.high[1] - 2), number(c.outputs)};
    sizes = {c.batch, c.height, c.width};
  }
  std::string x = tensorText(in, "f32"), y = tensorText(out, "f32"), bias = tensorText({number(c.outputs)}, "f32");
  std::string w = tensorText({number(panelsOf(c.outputs)), number(n * n), number(c.channels), "16"}, "f32");
  auto pair = [&](const int64_t (&values)[2]) { return "array<i64: " + number(values[0]) + ", " + number(values[1]) + ">"; };
  std::string text = "func.func @" + name + "(%x: " + x + ", %w: " + w + ", %bias: " + bias +
                     (c.hasResidual ? ", %other: " + y : std::string()) + ") -> " + y + " {\n  %0 = graph.convolution %x, %w {strides = " +
                     "array<i64: 1, 1>, pad_low = " + pair(c.low) + ", pad_high = " + pair(c.high) +
                     ", dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: " +
                     number(c.outputs) + ", " + number(c.channels) + ", 3, 3>, winograd = " + number(c.tile) + " : i64} : (" + x + ", " + w +
                     ") -> " + y + "\n  %1 = graph.broadcast %bias {dimensions = array<i64: 3>} : (" + bias + ") -> " + y +
                     "\n  %2 = graph.add %0, %1 : (" + y + ", " + y + ") -> " + y + "\n";
  if (c.hasResidual)
    text += "  %3 = graph.add %2, %other : (" + y + ", " + y + ") -> " + y + "\n";
  return text + "  %4 = graph.relu %" + (c.hasResidual ? "3" : "2") + " : (" + y + ") -> " + y + "\n  return %4 : " + y + "\n}\n";
}

Call callOf(const std::string &name, const WinogradCase &c, unsigned seed) {
  auto x = randomValues(c.batch * c.height * c.width * c.channels, seed), w = randomValues(c.outputs * c.channels * 9, seed + 1),
       bias = randomValues(c.outputs, seed + 2);
  std::vector<double> expected = convolve(c, x, w);
  auto other = randomValues(expected.size(), seed + 3);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::max(expected[i] + bias[i % c.outputs] + (c.hasResidual ? other[i] : 0), 0.0);
  Call call{name, {}, {Buffer::of(x), Buffer::of(packWinograd(c, w)), Buffer::of(bias)}, {expected}};
  if (c.hasResidual)
    call.operands.push_back(Buffer::of(other));
  return call;
}

void checkCases(const std::vector<WinogradCase> &cases) {
  std::string text;
  std::vector<Call> calls;
  for (size_t i = 0; i < cases.size(); ++i) {
    calls.push_back(callOf("k_" + std::to_string(i), cases[i], 10 * i));
    text += textOf(calls.back().kernel, cases[i], calls.back().sizes);
  }
  checkKernels(text, calls, 2e-4); // Of sums of up to 900 products in [-1, 1).
}

/// The error of one layer relative to its largest output, with filters of variance 2 / (9 C), scaled down.
void checkError(int64_t tile, bool isRectified, double allowed) {
  WinogradCase c{tile, 1, 24, 24, 64, 64};
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  std::vector<float> x(c.height * c.width * c.channels), w(c.outputs * c.channels * 9);
  for (float &value : x) {
    value = normal(generator);
    value = isRectified ? std::max(value, 0.0f) : value;
  }
  for (float &value : w)
    value = std::ldexp(normal(generator) * std::sqrt(2.0f / (9 * c.channels)), -12);
  std::vector<double> expected = convolve(c, x, w);
  double largest = 0;
  for (double &value : expected) {
    largest = std::max(largest, std::abs(value));
    value = std::max(value, 0.0);
  }
  Call call{"k", {}, {Buffer::of(x), Buffer::of(packWinograd(c, w)), Buffer::of(std::vector<float>(c.outputs))}, {expected}};
  std::string text = textOf("k", c, call.sizes);
  // The comparison allows tolerance * (1 + |expected|), and outputs are about 2^-10.
  checkKernels(text, {call}, allowed * largest);
}

} // namespace

TEST_CASE("winograd: images that tiles do not divide") {
  std::vector<WinogradCase> cases;
  for (int64_t tile : {2, 4})
    for (auto [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {2, 3}, {4, 4}, {5, 7}, {8, 6}, {13, 11}, {17, 16}})
      cases.push_back({tile, 1, height, width, 16, 32});
  checkCases(cases);
}

TEST_CASE("winograd: paddings") {
  std::vector<WinogradCase> cases;
  for (int64_t tile : {2, 4}) {
    cases.push_back({tile, 1, 9, 10, 16, 16, {0, 0}, {0, 0}});
    cases.push_back({tile, 1, 9, 10, 16, 16, {0, 2}, {1, 0}});
    cases.push_back({tile, 2, 6, 9, 16, 16, {2, 1}, {0, 3}});
    cases.push_back({tile, 1, 9, 10, 16, 16, {-1, 1}, {1, -2}});
  }
  checkCases(cases);
}

TEST_CASE("winograd: channels and outputs that vectors do not divide") {
  std::vector<WinogradCase> cases;
  for (int64_t tile : {2, 4})
    for (auto [channels, outputs] : {std::pair<int64_t, int64_t>{1, 1}, {3, 17}, {20, 33}, {31, 40}, {48, 48}, {65, 7}})
      cases.push_back({tile, 1, 7, 9, channels, outputs});
  checkCases(cases);
}

TEST_CASE("winograd: several images and blocks, with a residual") {
  std::vector<WinogradCase> cases;
  for (int64_t tile : {2, 4}) {
    cases.push_back({tile, 3, 7, 7, 24, 80, {1, 1}, {1, 1}, true});
    cases.push_back({tile, 2, 37, 30, 32, 16, {1, 1}, {1, 1}, true});
    cases.push_back({tile, 3, 14, 13, 96, 50, {1, 1}, {1, 1}, true});
  }
  checkCases(cases);
}

TEST_CASE("winograd: symbolic sizes") {
  for (int64_t tile : {2, 4}) {
    std::string text;
    std::vector<Call> calls;
    for (auto [batch, height, width] : {std::array<int64_t, 3>{1, 1, 2}, {2, 5, 4}, {1, 21, 33}, {3, 16, 12}}) {
      WinogradCase c{tile, batch, height, width, 20, 36};
      c.isSymbolic = true;
      calls.push_back(callOf("k", c, calls.size()));
      text = textOf("k", c, calls.back().sizes);
    }
    checkKernels(text, calls, 2e-4); // Of sums of up to 900 products in [-1, 1).
  }
}

TEST_CASE("winograd: the error of a layer against double") {
  checkError(2, false, 1e-6);
  checkError(2, true, 1e-6);
  checkError(4, false, 5e-6);
  checkError(4, true, 5e-6);
}
