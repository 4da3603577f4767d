// Convolutions in all their spellings: by the number of spatial axes, with numbers or words for the padding, and the general forms that
// traces and decomposed exports contain.
#include "compiler/Import/Torch/Aten/Compute.h"
#include "compiler/Import/Torch/Aten/Contraction.h"

namespace stator::torch {

using trace::Ints;
using trace::Tensor;

Ints perSpatialAxis(OpCall &op, Ints list, int64_t count, int64_t fallback, const char *what) {
  if (list.empty())
    list.assign(static_cast<size_t>(count), fallback);
  if (list.size() == 1)
    list.assign(static_cast<size_t>(count), list[0]);
  if (op.ok() && static_cast<int64_t>(list.size()) != count)
    op.invalid(std::string(what) + " has " + std::to_string(list.size()) + " entries for " + std::to_string(count) + " spatial dimensions");
  return list;
}

Tensor convolve(OpCall &op, const Tensor &given, const Tensor &weight, const Tensor &bias, Convolution convolution) {
  if (!op.ok())
    return {};
  int64_t spatial = weight.rank() - 2;
  bool isUnbatched = given.rank() == weight.rank() - 1;
  if (spatial < 1 || (!isUnbatched && given.rank() != weight.rank())) {
    op.invalid("the input has " + std::to_string(given.rank()) + " dimensions, the weight " + std::to_string(weight.rank()));
    return {};
  }
  fn::ConvOptions options;
  options.strides = perSpatialAxis(op, convolution.stride, spatial, 1, "the stride");
  options.padLow = perSpatialAxis(op, convolution.padding, spatial, 0, "the padding");
  options.padHigh = convolution.paddingHigh.empty() ? options.padLow : convolution.paddingHigh;
  options.dilations = perSpatialAxis(op, convolution.dilation, spatial, 1, "the dilation");
  options.groups = convolution.groups;
  if (convolution.isTransposed)
    options.outputPadding = perSpatialAxis(op, convolution.outputPadding, spatial, 0, "the output padding");
  if (!op.ok())
    return {};
  Tensor x = isUnbatched ? fn::unsqueeze(given, {0}) : given;
  Tensor result = convolution.isTransposed ? fn::convTranspose(x, weight, bias, options) : fn::conv(x, weight, bias, options);
  return isUnbatched ? fn::squeeze(result, {0}) : result;
}

namespace {

Value convolveArguments(OpCall &op, Convolution convolution) {
  Tensor x = contractionOperand(op, 0), weight = contractionOperand(op, 1), bias = contractionOperand(op, 2);
  return op.result(convolve(op, x, weight, bias, std::move(convolution)));
}

/// Padding by a word: "valid" is none, "same" gives as many elements as there were; the odd one is put at the end.
bool padByName(OpCall &op, const std::string &name, Convolution &convolution) {
  if (name != "same" && name != "valid")
    op.invalid("the padding is `" + name + "`, expected `same` or `valid`");
  Tensor weight = op.tensor(1);
  int64_t spatial = weight ? weight.rank() - 2 : 0;
  convolution.padding.assign(static_cast<size_t>(std::max<int64_t>(spatial, 0)), 0);
  convolution.paddingHigh = convolution.padding;
  Ints dilations = perSpatialAxis(op, convolution.dilation, spatial, 1, "the dilation");
  for (int64_t i = 0; i < spatial && name == "same" && op.ok(); ++i) {
    trace::Dim kernel = weight.dim(2 + i);
    if (!kernel.isConstant()) {
      op.unsupported("the padding `same` with a kernel whose size is known only at run time");
      break;
    }
    int64_t total = dilations[i] * (kernel.constant() - 1);
    convolution.padding[i] = total / 2;
    convolution.paddingHigh[i] = total - total / 2;
  }
  for (int64_t stride : convolution.stride)
    if (name == "same" && stride != 1 && op.ok())
      op.invalid("the padding `same` with a stride of " + std::to_string(stride) + "; PyTorch refuses it too");
  return op.ok();
}

/// (input, weight, bias, stride, padding, dilation, groups)
Value conv(OpCall &op) {
  return convolveArguments(op, {.stride = op.integers(3), .padding = op.integers(4), .dilation = op.integers(5), .groups = op.integer(6)});
}

Value convByName(OpCall &op) {
  Convolution convolution{.stride = op.integers(3), .dilation = op.integers(5), .groups = op.integer(6)};
  std::string name = op.text(4);
  return padByName(op, name, convolution) ? convolveArguments(op, std::move(convolution)) : Value::poison();
}

/// (input, weight, bias, stride, padding, output_padding, groups, dilation)
Value convTransposed(OpCall &op) {
  return convolveArguments(op, {.stride = op.integers(3),
                                .padding = op.integers(4),
                                .dilation = op.integers(7),
                                .outputPadding = op.integers(5),
                                .isTransposed = true,
                                .groups = op.integer(6)});
}

/// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...)
Value convolution(OpCall &op) {
  return convolveArguments(op, {.stride = op.integers(3),
                                .padding = op.integers(4),
                                .dilation = op.integers(5),
                                .outputPadding = op.integers(7),
                                .isTransposed = op.flag(6),
                                .groups = op.integer(8)});
}

/// (self, weight, bias, padding, stride, dilation, groups)
Value mkldnnConvolution(OpCall &op) {
  return convolveArguments(op, {.stride = op.integers(4), .padding = op.integers(3), .dilation = op.integers(5), .groups = op.integer(6)});
}

/// (self, weight, kernel_size, bias, stride, padding)
Value slowConvolution(OpCall &op) {
  Tensor x = contractionOperand(op, 0), weight = contractionOperand(op, 1), bias = contractionOperand(op, 3);
  return op.result(convolve(op, x, weight, bias, {.stride = op.integers(4), .padding = op.integers(5)}));
}

/// self [T, B, C], weight [K, C, O], bias [O].
Value convTimeBatchChannels(OpCall &op) {
  Tensor x = fn::transpose(op.tensor(0), {1, 2, 0}), weight = fn::transpose(op.tensor(1), {2, 1, 0});
  Tensor result = convolve(op, x, weight, op.tensor(2), {.padding = {op.integer(3)}});
  return op.ok() ? op.result(fn::transpose(result, {2, 0, 1})) : Value::poison();
}

} // namespace

std::span<const OpEntry> convolutionOps() {
  static constexpr OpEntry entries[] = {
      {"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, SymInt[1] padding=0, int[1] dilation=1, int groups=1) -> "
       "Tensor",
       conv},
      {"conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding=\"valid\", int[1] dilation=1, "
       "int groups=1) -> Tensor",
       convByName},
      {"conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, SymInt[2] padding=0, int[2] dilation=1, int groups=1) -> "
       "Tensor",
       conv},
      {"conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding=\"valid\", int[2] dilation=1, "
       "int groups=1) -> Tensor",
       convByName},
      {"conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, SymInt[3] padding=0, int[3] dilation=1, int groups=1) -> "
       "Tensor",
       conv},
      {"conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding=\"valid\", int[3] dilation=1, "
       "int groups=1) -> Tensor",
       convByName},
      {"conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, "
       "int groups=1, int[1] dilation=1) -> Tensor",
       convTransposed},
      {"conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, "
       "int groups=1, int[2] dilation=1) -> Tensor",
       convTransposed},
      {"conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, "
       "int groups=1, int[3] dilation=1) -> Tensor",
       convTransposed},
      {"convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, SymInt[] padding, int[] dilation, bool transposed, "
       "SymInt[] output_padding, int groups) -> Tensor",
       convolution},
      {"convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, int[] stride, SymInt[] padding, int[] dilation, bool "
       "transposed, "
       "SymInt[] output_padding, int groups) -> Tensor",
       convolution},
      {"_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, SymInt[] padding, int[] dilation, bool transposed, "
       "SymInt[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
       convolution},
      {"_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, "
       "int[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
       convolution},
      {"_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation, int groups) -> Tensor",
       convByName},
      {"mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, int[] stride, int[] dilation, int groups) -> Tensor",
       mkldnnConvolution},
      {"thnn_conv2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias=None, int[2] stride=1, int[2] padding=0) -> Tensor",
       slowConvolution},
      {"_slow_conv2d_forward(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias, int[2] stride, int[2] padding) -> Tensor",
       slowConvolution},
      {"slow_conv3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? bias=None, int[3] stride=1, int[3] padding=0) -> Tensor",
       slowConvolution},
      {"conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", convTimeBatchChannels},
  };
  return entries;
}

} // namespace stator::torch
