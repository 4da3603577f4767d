// DEPS: stator::tools::bench::harness stator::dialects::Target
// Inverted residual blocks against plain loops: with and without expansion and projection, tails of channels, borders, strides, batches.
#include "test/unit/passes/Kernel/ContractionTesting.h"

using namespace stator::kernel::testing;

namespace {

struct Block {
  int64_t batch, height, width, inputs, expanded, outputs; // no expansion: expanded == inputs and hasExpansion false
  int64_t taps, stride;
  std::string activation; // "relu6", "silu", "hard_swish" or ""
  bool hasExpansion = true, hasProjection = true, hasResidual = false;
};

struct Image {
  int64_t batch, height, width, channels;
  std::vector<float> values;
  std::string type() const {
    return "tensor<" + std::to_string(batch) + "x" + std::to_string(height) + "x" + std::to_string(width) + "x" + std::to_string(channels) + "xf32>";
  }
};

float activate(float v, const std::string &name) {
  if (name == "relu6")
    return std::min(std::max(v, 0.0f), 6.0f);
  if (name == "silu")
    return v / (1 + std::exp(-v));
  if (name == "hard_swish")
    return v * std::min(std::max(v + 3, 0.0f), 6.0f) * (1.0f / 6);
  return v;
}

Image pointwise(const Image &x, const std::vector<float> &w, const std::vector<float> &bias, int64_t outputs, const std::string &activation) {
  Image y{x.batch, x.height, x.width, outputs, {}};
  for (int64_t p = 0; p < x.batch * x.height * x.width; ++p)
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = bias[o];
      for (int64_t c = 0; c < x.channels; ++c)
        sum += double(x.values[p * x.channels + c]) * w[o * x.channels + c];
      y.values.push_back(activate(sum, activation));
    }
  return y;
}

/// Weights [taps * taps][channels].
Image depthwise(const Image &x, const std::vector<float> &w, const std::vector<float> &bias, int64_t taps, int64_t stride, const std::string &activation) {
  int64_t pad = taps / 2, height = (x.height + 2 * pad - taps) / stride + 1, width = (x.width + 2 * pad - taps) / stride + 1;
  Image y{x.batch, height, width, x.channels, {}};
  for (int64_t n = 0; n < x.batch; ++n)
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < width; ++j)
        for (int64_t c = 0; c < x.channels; ++c) {
          double sum = bias[c];
          for (int64_t ky = 0; ky < taps; ++ky)
            for (int64_t kx = 0; kx < taps; ++kx) {
              int64_t row = i * stride + ky - pad, column = j * stride + kx - pad;
              if (row >= 0 && row < x.height && column >= 0 && column < x.width)
                sum += double(x.values[((n * x.height + row) * x.width + column) * x.channels + c]) * w[(ky * taps + kx) * x.channels + c];
            }
          y.values.push_back(activate(sum, activation));
        }
  return y;
}

/// The kernel's text, built up stage by stage.
struct Writer {
  std::string arguments, body, last;
  std::vector<Buffer> operands;
  unsigned counter = 0;

  std::string argument(const std::string &type, const std::vector<float> &values) {
    std::string name = "%arg" + std::to_string(operands.size());
    arguments += (operands.empty() ? "" : ", ") + name + ": " + type;
    operands.push_back(Buffer::of(values));
    return name;
  }
  std::string value(const std::string &text) {
    std::string name = "%v" + std::to_string(counter++);
    body += "  " + name + " = graph." + text + "\n";
    return name;
  }
  void constant(const std::string &name, double number, const std::string &type) {
    body += "  " + name + " = graph.constant dense<" + std::to_string(number) + "> : " + type + "\n";
  }
  void epilogue(const std::string &type, int64_t channels, const std::vector<float> &bias, const std::string &activation) {
    std::string vector = "tensor<" + std::to_string(channels) + "xf32>", both = " : (" + type + ", " + type + ") -> " + type;
    std::string spread = value("broadcast " + argument(vector, bias) + " {dimensions = array<i64: 3>} : (" + vector + ") -> " + type);
    last = value("add " + last + ", " + spread + both);
    std::string prefix = "%c" + std::to_string(counter++);
    if (activation == "relu6") {
      constant(prefix + "zero", 0, type);
      constant(prefix + "six", 6, type);
      last = value("maximum " + last + ", " + prefix + "zero" + both);
      last = value("minimum " + last + ", " + prefix + "six" + both);
    } else if (activation == "silu") {
      last = value("mul " + last + ", " + value("sigmoid " + last + " : (" + type + ") -> " + type) + both);
    } else if (activation == "hard_swish") {
      constant(prefix + "zero", 0, type);
      constant(prefix + "three", 3, type);
      constant(prefix + "six", 6, type);
      constant(prefix + "sixth", 1.0 / 6, type);
      std::string gate = value("add " + last + ", " + prefix + "three" + both);
      gate = value("maximum " + gate + ", " + prefix + "zero" + both);
      gate = value("minimum " + gate + ", " + prefix + "six" + both);
      gate = value("mul " + last + ", " + gate + both);
      last = value("mul " + gate + ", " + prefix + "sixth" + both);
    }
  }
};

std::string convolution(const std::string &operands, int64_t outputs, int64_t groupChannels, int64_t taps, int64_t stride, int64_t groups,
                        const std::string &types) {
  auto pair = [](int64_t v) { return "array<i64: " + std::to_string(v) + ", " + std::to_string(v) + ">"; };
  std::string shape = std::to_string(outputs) + ", " + std::to_string(groupChannels) + ", " + std::to_string(taps) + ", " + std::to_string(taps);
  return "convolution " + operands + " {dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: " + shape +
         ">, groups = " + std::to_string(groups) + " : i64, layout = #graph.layout<channels_last>, pad_high = " + pair(taps / 2) +
         ", pad_low = " + pair(taps / 2) + ", strides = " + pair(stride) + "} : " + types;
}

void check(const Block &block) {
  INFO("batch " << block.batch << ", " << block.height << "x" << block.width << ", " << block.inputs << " -> " << block.expanded << " -> "
                << block.outputs << ", " << block.taps << " taps, stride " << block.stride << " " << block.activation);
  unsigned seed = 1;
  auto random = [&](int64_t count) { return randomValues(count, seed++); };
  Image x{block.batch, block.height, block.width, block.inputs, random(block.batch * block.height * block.width * block.inputs)};
  Writer writer;
  writer.last = writer.argument(x.type(), x.values);
  const std::string input = writer.last;

  auto emitPointwise = [&](const Image &from, int64_t outputs, const std::string &activation) {
    std::vector<float> w = random(outputs * from.channels), bias = random(outputs);
    Image to = pointwise(from, w, bias, outputs, activation);
    std::string filter = "tensor<1x" + std::to_string(stator::panelsOf(outputs)) + "x" + std::to_string(from.channels) + "x16xf32>";
    std::string operands = writer.last + ", " + writer.argument(filter, packFilter(w, outputs, from.channels, 1, 1));
    writer.last = writer.value(convolution(operands, outputs, from.channels, 1, 1, 1, "(" + from.type() + ", " + filter + ") -> " + to.type()));
    writer.epilogue(to.type(), outputs, bias, activation);
    return to;
  };

  Image wide = block.hasExpansion ? emitPointwise(x, block.expanded, block.activation) : x;
  std::vector<float> w = random(block.taps * block.taps * wide.channels), bias = random(wide.channels);
  Image result = depthwise(wide, w, bias, block.taps, block.stride, block.activation);
  std::string filter = "tensor<" + std::to_string(block.taps * block.taps) + "x" + std::to_string(wide.channels) + "xf32>";
  std::string operands = writer.last + ", " + writer.argument(filter, w);
  writer.last = writer.value(convolution(operands, wide.channels, 1, block.taps, block.stride, wide.channels,
                                         "(" + wide.type() + ", " + filter + ") -> " + result.type()));
  writer.epilogue(result.type(), result.channels, bias, block.activation);
  if (block.hasProjection)
    result = emitPointwise(result, block.outputs, "");
  if (block.hasResidual) {
    writer.last = writer.value("add " + writer.last + ", " + input + " : (" + result.type() + ", " + x.type() + ") -> " + result.type());
    for (size_t i = 0; i < result.values.size(); ++i)
      result.values[i] += x.values[i];
  }

  Call call{"k", {}, writer.operands, {{result.values.begin(), result.values.end()}}};
  std::string text = "func.func @k(" + writer.arguments + ") -> " + result.type() + " {\n" + writer.body + "  return " + writer.last + " : " +
                     result.type() + "\n}";
  checkKernels(text, {call}, 2e-5);
}

} // namespace

TEST_CASE("whole blocks") {
  check({1, 8, 14, 24, 144, 24, 3, 1, "relu6", true, true, true});
  check({2, 9, 7, 24, 72, 40, 3, 1, "silu"});
  check({1, 12, 15, 8, 33, 10, 3, 2, "hard_swish"});
  check({3, 7, 5, 16, 20, 16, 5, 1, "relu6", true, true, true});
  check({1, 1, 29, 5, 17, 3, 3, 1, ""});
  check({2, 11, 10, 16, 96, 24, 5, 2, "silu"});
}

TEST_CASE("blocks without projection") {
  check({1, 16, 14, 24, 100, 0, 3, 1, "silu", true, false});
  check({2, 30, 9, 12, 40, 0, 5, 2, "hard_swish", true, false});
  check({1, 1, 1, 16, 64, 0, 3, 1, "relu6", true, false});
  check({1, 50, 7, 24, 64, 0, 3, 1, "", true, false});
}

TEST_CASE("blocks without expansion") {
  check({1, 14, 14, 32, 32, 16, 3, 1, "relu6", false});
  check({2, 9, 6, 24, 24, 24, 3, 1, "silu", false, true, true});
  check({1, 13, 21, 19, 19, 50, 5, 2, "relu6", false});
}
