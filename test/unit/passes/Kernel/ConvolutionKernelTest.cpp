// DEPS: stator::tools::bench::harness
// Convolutions, channels last, against a loop in double: ranks 1 to 3, strides, dilations, groups, asymmetric and negative padding,
// narrow images, symbolic sizes, epilogues; and the depthwise kernel with the same cases.
#include "test/unit/passes/Kernel/ContractionTesting.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

struct Axis {
  int64_t size, taps, stride = 1, low = 0, high = 0, dilation = 1;
  bool isSymbolic = false;
  int64_t outputs() const { return (size + low + high - (taps - 1) * dilation - 1) / stride + 1; }
};

struct ConvolutionCase {
  int64_t batch, channels, outputs, groups;
  std::vector<Axis> axes;
  bool isDepthwise() const { return groups == channels && groups == outputs && groups > 1; }
  int64_t taps() const {
    int64_t count = 1;
    for (const Axis &axis : axes)
      count *= axis.taps;
    return count;
  }
};

/// Walks all positions of a box.
void forEach(const std::vector<int64_t> &sizes, const std::function<void(const std::vector<int64_t> &)> &body) {
  std::vector<int64_t> at(sizes.size());
  for (int64_t i = 0, count = product(sizes); i < count; ++i) {
    int64_t rest = i;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      at[d] = rest % sizes[d];
    body(at);
  }
}

std::vector<double> convolve(const ConvolutionCase &c, const std::vector<float> &x, const std::vector<float> &w) {
  std::vector<int64_t> out, taps;
  for (const Axis &axis : c.axes) {
    out.push_back(axis.outputs());
    taps.push_back(axis.taps);
  }
  int64_t pixels = product(out), groupChannels = c.channels / c.groups;
  std::vector<double> result(c.batch * pixels * c.outputs);
  for (int64_t n = 0; n < c.batch; ++n) {
    int64_t pixel = 0;
    forEach(out, [&](const std::vector<int64_t> &at) {
      int64_t tap = 0;
      forEach(taps, [&](const std::vector<int64_t> &k) {
        int64_t place = n;
        bool isInside = true;
        for (size_t d = 0; d < c.axes.size(); ++d) {
          const Axis &axis = c.axes[d];
          int64_t position = at[d] * axis.stride - axis.low + k[d] * axis.dilation;
          isInside &= position >= 0 && position < axis.size;
          place = place * axis.size + position;
        }
        if (isInside)
          for (int64_t o = 0; o < c.outputs; ++o)
            for (int64_t ch = 0; ch < groupChannels; ++ch)
              result[(n * pixels + pixel) * c.outputs + o] +=
                  double(x[place * c.channels + o / (c.outputs / c.groups) * groupChannels + ch]) *
                  w[(o * groupChannels + ch) * c.taps() + tap];
        ++tap;
      });
      ++pixel;
    });
  }
  return result;
}

std::string listText(const std::vector<int64_t> &values) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ">";
}

/// Kernel `name` with a bias and a relu behind the convolution.
std::string convolutionText(const std::string &name, const ConvolutionCase &c, std::vector<int64_t> &sizes) {
  sizes.clear();
  std::vector<std::string> in = {std::to_string(c.batch)}, out = in;
  std::vector<int64_t> strides, low, high, dilations, filter = {c.outputs, c.channels / c.groups};
  for (const Axis &axis : c.axes) {
    std::string size = std::to_string(axis.size), result = std::to_string(axis.outputs());
    if (axis.isSymbolic) {
      size = "s" + std::to_string(sizes.size());
      DimExpr span = DimExpr::symbol(size) + (axis.low + axis.high - (axis.taps - 1) * axis.dilation - 1);
      result = (span.floorDiv(axis.stride) + 1).str();
      sizes.push_back(axis.size);
    }
    in.push_back(size);
    out.push_back(result);
    strides.push_back(axis.stride);
    low.push_back(axis.low);
    high.push_back(axis.high);
    dilations.push_back(axis.dilation);
    filter.push_back(axis.taps);
  }
  in.push_back(std::to_string(c.channels));
  out.push_back(std::to_string(c.outputs));
  int64_t depth = c.taps() * c.channels / c.groups;
  std::string x = tensorText(in, "f32"), y = tensorText(out, "f32");
  std::string w =
      c.isDepthwise()
          ? tensorText({std::to_string(c.taps()), std::to_string(c.channels)}, "f32")
          : tensorText({std::to_string(c.groups), std::to_string(panelsOf(c.outputs / c.groups)), std::to_string(depth), "16"}, "f32");
  std::string bias = tensorText({std::to_string(c.outputs)}, "f32");
  return "func.func @" + name + "(%x: " + x + ", %w: " + w + ", %bias: " + bias + ") -> " + y + " {\n" +
         "  %0 = graph.convolution %x, %w {strides = " + listText(strides) + ", pad_low = " + listText(low) +
         ", pad_high = " + listText(high) + ", dilations = " + listText(dilations) + ", groups = " + std::to_string(c.groups) +
         " : i64, layout = #graph.layout<channels_last>, filter_packed, filter_shape = " + listText(filter) + "} : (" + x + ", " + w +
         ") -> " + y + "\n  %1 = graph.broadcast %bias {dimensions = array<i64: " + std::to_string(c.axes.size() + 1) + ">} : (" + bias +
         ") -> " + y + "\n  %2 = graph.add %0, %1 : (" + y + ", " + y + ") -> " + y + "\n  %3 = graph.relu %2 : (" + y + ") -> " + y +
         "\n  return %3 : " + y + "\n}\n";
}

Call callOf(const std::string &name, const ConvolutionCase &c, unsigned seed) {
  int64_t pixels = 1, groupChannels = c.channels / c.groups;
  for (const Axis &axis : c.axes)
    pixels *= axis.size;
  auto x = randomValues(c.batch * pixels * c.channels, seed), w = randomValues(c.outputs * groupChannels * c.taps(), seed + 1),
       bias = randomValues(c.outputs, seed + 2);
  std::vector<float> packed(c.taps() * c.channels);
  if (c.isDepthwise())
    for (int64_t i = 0; i < c.channels; ++i)
      for (int64_t tap = 0; tap < c.taps(); ++tap)
        packed[tap * c.channels + i] = w[i * c.taps() + tap];
  else
    packed = packFilter(w, c.outputs, groupChannels, c.taps(), c.groups);
  std::vector<double> expected = convolve(c, x, w);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::max(expected[i] + bias[i % c.outputs], 0.0);
  return {name, {}, {Buffer::of(x), Buffer::of(packed), Buffer::of(bias)}, {expected}};
}

void checkCases(const std::vector<ConvolutionCase> &cases) {
  std::string text;
  std::vector<Call> calls;
  for (size_t i = 0; i < cases.size(); ++i) {
    calls.push_back(callOf("k_" + std::to_string(i), cases[i], 10 * i));
    text += convolutionText(calls.back().kernel, cases[i], calls.back().sizes);
  }
  checkKernels(text, calls);
}

/// One kernel with symbolic spatial sizes, called with each of `sizes`.
void checkSymbolic(ConvolutionCase c, const std::vector<std::vector<int64_t>> &sizes) {
  std::string text;
  std::vector<Call> calls;
  for (const std::vector<int64_t> &each : sizes) {
    for (size_t i = 0; i < each.size(); ++i) {
      c.axes[i].size = each[i];
      c.axes[i].isSymbolic = true;
    }
    calls.push_back(callOf("k", c, calls.size()));
    text = convolutionText("k", c, calls.back().sizes);
  }
  checkKernels(text, calls);
}

} // namespace

TEST_CASE("convolution: widths around tile edges") {
  std::vector<ConvolutionCase> cases;
  for (int64_t width : {1, 2, 3, 5, 7, 8, 14, 15, 29})
    cases.push_back({1, 5, 20, 1, {{4, 3, 1, 1, 1}, {width, 3, 1, 1, 1}}});
  cases.push_back({2, 3, 16, 1, {{11, 7, 2, 3, 3}, {13, 7, 2, 3, 3}}});
  cases.push_back({1, 16, 33, 1, {{9, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}});
  checkCases(cases);
}

TEST_CASE("convolution: strides, dilations, asymmetric and negative padding") {
  checkCases({
      {1, 4, 8, 1, {{9, 3, 2, 0, 1}, {9, 3, 2, 0, 1}}},
      {1, 4, 8, 1, {{9, 3, 1, 2, 2, 2}, {12, 3, 1, 2, 2, 2}}},
      {1, 4, 8, 1, {{8, 3, 1, -1, 1}, {10, 3, 1, -2, -1}}},
      {1, 4, 8, 1, {{3, 5, 1, 4, 4}, {2, 5, 1, 4, 4}}}, // More padding than image.
      {2, 6, 17, 1, {{7, 1, 2, 0, 0}, {7, 1, 2, 0, 0}}},
      {1, 4, 8, 1, {{5, 1, 1, 1, 1}, {5, 1, 1, 1, 1}}},
  });
}

TEST_CASE("convolution: one tap, stride 1 is a matrix product over pixels") {
  checkCases({{2, 9, 40, 1, {{5, 1}, {6, 1}}}, {1, 16, 16, 1, {{30, 1}}}, {2, 3, 5, 1, {{2, 1}, {3, 1}, {4, 1}}}});
}

TEST_CASE("convolution: groups") {
  checkCases({
      {1, 8, 12, 4, {{6, 3, 1, 1, 1}, {16, 3, 1, 1, 1}}},
      {1, 6, 6, 2, {{6, 3, 2, 1, 1}, {7, 3, 2, 1, 1}}},
      {2, 4, 8, 4, {{5, 3, 1, 1, 1}, {5, 3, 1, 1, 1}}}, // A channel multiplier of 2.
      {1, 40, 80, 2, {{3, 1}, {20, 1}}},
  });
}

TEST_CASE("convolution: one and three spatial axes, long filters") {
  checkCases({
      {2, 5, 18, 1, {{33, 3, 1, 1, 1}}},
      {1, 2, 16, 1, {{100, 10, 5, 0, 0}}},
      {1, 4, 8, 2, {{40, 25, 1, 12, 12}}},
      {1, 3, 9, 1, {{4, 3, 1, 1, 1}, {5, 3, 2, 1, 1}, {9, 3, 1, 1, 1}}},
  });
}

TEST_CASE("convolution: symbolic sizes") {
  checkSymbolic({1, 3, 20, 1, {{0, 3, 1, 1, 1}, {0, 3, 1, 1, 1}}}, {{1, 1}, {2, 13}, {5, 14}, {3, 16}, {4, 31}, {7, 45}});
  checkSymbolic({2, 4, 8, 1, {{0, 5, 2, 2, 2}, {0, 5, 2, 2, 2}}}, {{5, 5}, {6, 28}, {9, 61}});
  checkSymbolic({1, 6, 6, 3, {{0, 3, 1, 2, 2, 2}}}, {{1}, {14}, {15}, {40}});
  checkSymbolic({1, 4, 24, 1, {{0, 1}, {0, 1}}}, {{1, 1}, {3, 5}, {8, 8}});
}

TEST_CASE("depthwise: sizes, strides, dilations, channel tails") {
  std::vector<ConvolutionCase> cases;
  for (int64_t width : {1, 2, 6, 7, 8, 14, 15})
    cases.push_back({1, 20, 20, 20, {{5, 3, 1, 1, 1}, {width, 3, 1, 1, 1}}});
  cases.push_back({2, 16, 16, 16, {{9, 3, 2, 0, 1}, {9, 3, 2, 0, 1}}});
  cases.push_back({1, 33, 33, 33, {{10, 5, 1, 2, 2}, {11, 5, 1, 2, 2}}});
  cases.push_back({1, 3, 3, 3, {{8, 3, 1, 2, 2, 2}, {9, 3, 1, 2, 2, 2}}});
  cases.push_back({1, 17, 17, 17, {{9, 9, 1, 4, 4}, {12, 9, 1, 4, 4}}});
  cases.push_back({1, 300, 300, 300, {{4, 3, 1, 1, 1}, {4, 3, 1, 1, 1}}});
  cases.push_back({1, 8, 8, 8, {{30, 4, 1, 3, 0}}});
  cases.push_back({1, 5, 5, 5, {{3, 3, 1, 1, 1}, {4, 3, 1, 1, 1}, {6, 3, 2, 1, 1}}});
  checkCases(cases);
}

TEST_CASE("depthwise: symbolic sizes") {
  checkSymbolic({1, 20, 20, 20, {{0, 3, 1, 1, 1}, {0, 3, 1, 1, 1}}}, {{1, 1}, {2, 3}, {5, 7}, {6, 8}, {7, 22}});
  checkSymbolic({2, 16, 16, 16, {{0, 5, 2, 2, 2}, {0, 5, 2, 2, 2}}}, {{3, 3}, {8, 15}, {9, 16}});
  checkSymbolic({1, 6, 6, 6, {{0, 11, 1, 5, 5}, {0, 11, 1, 5, 5}}}, {{3, 4}, {12, 13}});
}
