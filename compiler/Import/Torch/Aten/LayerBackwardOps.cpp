// Gradients of convolutions, pools and normalisations. Those that were not asked for (output_mask) are None.
#include "compiler/Import/Torch/Aten/Compute.h"
#include "compiler/Import/Torch/Aten/Contraction.h"

namespace stator::torch {

using fn::Reduction;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

/// Which of the results are wanted.
std::vector<bool> outputMask(OpCall &op, size_t index, size_t count) {
  std::vector<bool> mask;
  if (const Values *items = op.argument(index).items())
    for (const Value &item : *items)
      mask.push_back(item.knownBool().value_or(true));
  mask.resize(count, true);
  return mask;
}

Tensor sumOver(const Tensor &x, const Ints &axes, bool keepDims = false) {
  return axes.empty() ? x : fn::reduce(x, Reduction::Sum, axes, keepDims);
}

Ints allBut(int64_t rank, int64_t kept) {
  Ints axes = axisRange(0, rank);
  axes.erase(axes.begin() + kept);
  return axes;
}

/// The gradient of a filter: a convolution in which positions of the result slide over the input, with batch and channels exchanged.
Tensor filterGradient(OpCall &op, const Tensor &image, const Tensor &sliding, const Tensor &weight, const Convolution &forward) {
  auto exchanged = [](const Tensor &x) {
    Ints order = axisRange(0, x.rank());
    std::swap(order[0], order[1]);
    return fn::transpose(x, order);
  };
  trace::Tensors groups;
  Dim imageChannels = floorDiv(image.dim(1), forward.groups), slidingChannels = floorDiv(sliding.dim(1), forward.groups);
  for (int64_t group = 0; group < forward.groups && op.ok(); ++group) {
    auto part = [&](const Tensor &x, const Dim &channels) {
      return forward.groups == 1 ? x : fn::slice(x, {channels * Dim(group)}, {channels * Dim(group + 1)}, {1});
    };
    Tensor x = exchanged(part(image, imageChannels)), filter = exchanged(part(sliding, slidingChannels));
    Tensor full = convolve(op, x, filter, {}, {.stride = forward.dilation, .padding = forward.padding, .dilation = forward.stride});
    if (!op.ok())
      return {};
    // A stride that left elements over gives more positions than the filter has.
    Dims starts(full.rank(), 0), ends = full.dims();
    for (int64_t axis = 2; axis < full.rank(); ++axis)
      ends[axis] = weight.dim(axis);
    groups.push_back(exchanged(fn::slice(full, starts, ends)));
  }
  return groups.size() == 1 ? groups[0] : fn::concat(groups, 0);
}

/// (grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask)
Value convolutionBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::ToFloat, Precision::Wide);
  Convolution forward{.stride = op.integers(4),
                      .padding = op.integers(5),
                      .dilation = op.integers(6),
                      .outputPadding = op.integers(8),
                      .isTransposed = op.flag(7),
                      .groups = op.integer(9)};
  std::vector<bool> mask = outputMask(op, 10, 3);
  if (!op.ok())
    return Value::poison();
  const Tensor &gradient = x[0], &input = x[1], &weight = x[2];
  int64_t spatial = weight.rank() - 2;
  if (spatial < 1 || input.rank() != weight.rank() || gradient.rank() != weight.rank())
    return op.invalid("the ranks of gradient, input and weight do not fit");
  constexpr int64_t kMostGroups = 65536;
  if (forward.groups < 1 || forward.groups > kMostGroups)
    return op.invalid(std::to_string(forward.groups) + " groups");
  forward.stride = perSpatialAxis(op, forward.stride, spatial, 1, "the stride");
  forward.padding = perSpatialAxis(op, forward.padding, spatial, 0, "the padding");
  forward.dilation = perSpatialAxis(op, forward.dilation, spatial, 1, "the dilation");
  Values results(3);
  if (mask[0] && op.ok()) {
    Convolution reverse = forward;
    reverse.isTransposed = !forward.isTransposed;
    reverse.outputPadding.clear();
    for (int64_t i = 0; i < spatial && reverse.isTransposed; ++i) {
      Dim reached = (gradient.dim(2 + i) - 1) * Dim(forward.stride[i]) + (weight.dim(2 + i) - 1) * Dim(forward.dilation[i]) + 1;
      Dim rest = input.dim(2 + i) - (reached - Dim(2 * forward.padding[i]));
      if (!rest.isConstant())
        return op.unsupported("the size " + input.dim(2 + i).str() + " is known only at run time");
      reverse.outputPadding.push_back(rest.constant());
    }
    results[0] = x.result(op, convolve(op, gradient, weight, {}, reverse));
  }
  if (mask[1] && op.ok())
    results[1] = x.result(op, forward.isTransposed ? filterGradient(op, gradient, input, weight, forward)
                                                   : filterGradient(op, input, gradient, weight, forward));
  if (mask[2] && op.ok())
    results[2] = x.result(op, sumOver(gradient, allBut(gradient.rank(), 1)));
  return op.ok() ? Value::tuple(std::move(results)) : Value::poison();
}

/// rstd * (g - mean(g) - xhat * mean(g * xhat)), means over the axes.
Tensor normalisedGradient(const Tensor &g, const Tensor &xhat, const Tensor &inverse, const Ints &axes) {
  auto mean = [&](const Tensor &y) { return fn::reduce(y, Reduction::Mean, axes, /*keepDims=*/true); };
  return fn::mul(inverse, fn::sub(fn::sub(g, mean(g)), fn::mul(xhat, mean(fn::mul(g, xhat)))));
}

/// (grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
Value layerNormBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1, 3, 4}, Promotion::ToFloat, Precision::Wide);
  Tensor weight = op.tensor(5);
  int64_t rank = x[1].rank(), axis = rank - static_cast<int64_t>(op.dims(2).size());
  std::vector<bool> mask = outputMask(op, 7, 3);
  if (!op.ok() || axis < 0)
    return op.ok() ? op.invalid("the normalised shape has more dimensions than the input") : Value::poison();
  const Tensor &g = x[0];
  Tensor xhat = fn::mul(fn::sub(x[1], x[2]), x[3]), scaled = weight ? fn::mul(g, fn::cast(weight, g.type())) : g;
  Ints inner = axisRange(axis, rank), outer = axisRange(0, axis);
  Values results(3);
  if (mask[0])
    results[0] = x.result(op, normalisedGradient(scaled, xhat, x[3], inner));
  if (mask[1] && weight)
    results[1] = x.result(op, sumOver(fn::mul(g, xhat), outer));
  if (mask[2] && !op.isNone(6))
    results[2] = x.result(op, sumOver(g, outer));
  return op.ok() ? Value::tuple(std::move(results)) : Value::poison();
}

/// (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
Value groupNormBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2, 3}, Promotion::ToFloat, Precision::Wide);
  Tensor weight = op.tensor(4);
  Dim batch = op.dim(5), channels = op.dim(6), area = op.dim(7);
  int64_t groups = op.integer(8);
  std::vector<bool> mask = outputMask(op, 9, 3);
  if (!op.ok() || groups < 1)
    return op.ok() ? op.invalid(std::to_string(groups) + " groups") : Value::poison();
  Dims split{batch, groups, floorDiv(channels, groups), area};
  Tensor g = fn::reshape(x[0], split), inverse = fn::reshape(x[3], {batch, groups, 1, 1});
  Tensor xhat = fn::mul(fn::sub(fn::reshape(x[1], split), fn::reshape(x[2], {batch, groups, 1, 1})), inverse);
  Tensor scaled = weight ? fn::mul(g, fn::reshape(fn::cast(weight, g.type()), {1, groups, split[2], 1})) : g;
  Values results(3);
  if (mask[0])
    results[0] = x.result(op, fn::reshape(normalisedGradient(scaled, xhat, inverse, {2, 3}), x[1].dims()));
  if (mask[1])
    results[1] = x.result(op, fn::reshape(sumOver(fn::mul(g, xhat), {0, 3}), {channels}));
  if (mask[2])
    results[2] = x.result(op, fn::reshape(sumOver(g, {0, 3}), {channels}));
  return op.ok() ? Value::tuple(std::move(results)) : Value::poison();
}

/// (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask)
Value batchNormBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  bool isTraining = op.flag(7);
  double epsilon = op.number(8);
  std::vector<bool> mask = outputMask(op, 9, 3);
  if (!op.ok())
    return Value::poison();
  if (x[1].rank() < 2 || op.isNone(isTraining ? 5 : 3) || op.isNone(isTraining ? 6 : 4))
    return op.invalid("the statistics are missing, or the input has less than two dimensions");
  const Tensor &g = x[0];
  Dims spread(x[1].rank(), 1);
  spread[1] = x[1].dim(1);
  auto channelwise = [&](const Tensor &y) { return fn::reshape(fn::cast(y, g.type()), spread); };
  Tensor mean = channelwise(op.tensor(isTraining ? 5 : 3)), inverse = channelwise(op.tensor(isTraining ? 6 : 4));
  if (!isTraining)
    inverse = fn::rsqrt(plus(inverse, epsilon));
  Tensor weight = op.isNone(2) ? Tensor() : channelwise(op.tensor(2));
  Tensor xhat = fn::mul(fn::sub(x[1], mean), inverse), scaled = weight ? fn::mul(g, weight) : g;
  Ints axes = allBut(x[1].rank(), 1);
  Values results(3);
  if (mask[0])
    results[0] = x.result(op, isTraining ? normalisedGradient(scaled, xhat, inverse, axes) : fn::mul(scaled, inverse));
  if (mask[1])
    results[1] = x.result(op, sumOver(fn::mul(g, xhat), axes));
  if (mask[2])
    results[2] = x.result(op, sumOver(g, axes));
  return op.ok() ? Value::tuple(std::move(results)) : Value::poison();
}

/// (grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices): each gradient goes where its maximum was.
template <int64_t spatial, size_t indices>
Value maxPoolBackward(OpCall &op) {
  Tensor g = op.tensor(0), x = op.tensor(1), positions = op.tensor(indices);
  if (!op.ok())
    return Value::poison();
  Dims dims = x.dims();
  if (x.rank() < spatial || g.rank() != x.rank())
    return op.invalid("the ranks of gradient and input do not fit");
  Dims plane(dims.begin(), dims.end() - spatial), flat = plane;
  Dim area = 1;
  for (int64_t i = 0; i < spatial; ++i)
    area = area * dims[dims.size() - 1 - i];
  plane.push_back(area);
  flat.push_back(-1);
  Tensor zeros = fn::full(op.builder(), wideTypeOf(g.type()), plane, 0);
  Tensor sums = fn::scatterElements(zeros, fn::reshape(positions, flat), fn::reshape(widened(g), flat), -1, fn::ScatterReduction::Add);
  return op.result(fn::cast(fn::reshape(sums, dims), g.type()));
}

/// (grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
Value avgPoolBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  Ints kernel = perSpatialAxis(op, op.integers(2), 2, 1, "the kernel"), padding = perSpatialAxis(op, op.integers(4), 2, 0, "the padding");
  Ints stride = op.integers(3);
  stride = stride.empty() ? kernel : perSpatialAxis(op, stride, 2, 1, "the stride");
  bool isCeil = op.flag(5), countsPadding = op.flag(6) || (padding[0] == 0 && padding[1] == 0);
  double divisor = op.isNone(7) ? static_cast<double>(kernel[0] * kernel[1]) : static_cast<double>(op.integer(7));
  if (!op.ok())
    return Value::poison();
  if (isCeil || (!countsPadding && op.isNone(7)) || x[1].rank() != 4)
    return op.unsupported("the gradient of an average pool with ceil_mode, without counting padding, or without a batch");
  // Each element of a window gets its share: a transposed convolution by ones, each channel on its own.
  Dims dims = x[1].dims();
  fn::ConvOptions options{.strides = stride, .padLow = padding, .padHigh = padding};
  for (size_t i = 0; i < 2; ++i) {
    Dim rest = dims[2 + i] - ((x[0].dim(2 + static_cast<int64_t>(i)) - 1) * Dim(stride[i]) + Dim(kernel[i] - 2 * padding[i]));
    if (!rest.isConstant() || rest.constant() < 0)
      return op.unsupported("the size " + dims[2 + i].str() + " is known only at run time");
    options.outputPadding.push_back(rest.constant());
  }
  Tensor rows = fn::reshape(x[0], {dims[0] * dims[1], 1, x[0].dim(2), x[0].dim(3)});
  Tensor ones = fn::full(op.builder(), rows.type(), {1, 1, kernel[0], kernel[1]}, 1 / divisor);
  return x.result(op, fn::reshape(fn::convTranspose(rows, ones, {}, options), dims));
}

/// (grad_output, self): windows of one size.
Value adaptiveAvgPoolBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  if (!op.ok())
    return Value::poison();
  Dims dims = x[1].dims(), split, spread, result;
  Dim count = 1;
  for (int64_t axis = 0; axis < x[1].rank(); ++axis) {
    Dim from = x[0].dim(axis), to = dims[axis], width = from == to ? Dim(1) : from == Dim(1) ? to : Dim(0);
    if (width == Dim(0)) {
      if (!from.isConstant() || !to.isConstant() || from.constant() == 0 || to.constant() % from.constant() != 0)
        return op.unsupported("the gradient of an adaptive pool of " + to.str() + " to " + from.str() + " elements");
      width = to.constant() / from.constant();
    }
    split.insert(split.end(), {from, 1});
    spread.insert(spread.end(), {from, width});
    count = count * width;
  }
  Tensor share = fn::div(x[0], fn::cast(op.builder().fromDim(count), x[0].type()));
  return x.result(op, fn::reshape(fn::broadcastTo(fn::reshape(share, split), spread), dims));
}

/// embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq): rows added up.
Value embeddingBackward(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  Tensor indices = fn::cast(op.tensor(1), ElementType::I64);
  Dim rows = op.dim(2);
  int64_t padding = op.integer(3);
  if (op.flag(4))
    return op.unsupported("gradients scaled by the frequency of words");
  if (!op.ok())
    return Value::poison();
  Tensor flow = x[0];
  if (padding >= 0) {
    Tensor isPadding = fn::unsqueeze(fn::eq(indices, fn::scalarLike(indices, static_cast<double>(padding))), {-1});
    flow = fn::where(isPadding, zeroLike(flow), flow);
  }
  Tensor zeros = fn::full(op.builder(), flow.type(), {rows, flow.dim(-1)}, 0);
  return x.result(op, fn::scatterND(zeros, fn::unsqueeze(indices, {-1}), flow, fn::ScatterReduction::Add));
}

/// Zeros around the part of an axis that a slice took; elements `step` apart.
Tensor spreadAlong(const Tensor &gradient, int64_t axis, const Dim &size, const Dim &start, int64_t step) {
  Dims low(gradient.rank(), 0), high(gradient.rank(), 0);
  low[axis] = start;
  if (step == 1) {
    high[axis] = size - start - gradient.dim(axis);
    return fn::pad(gradient, low, high);
  }
  Dims dims = gradient.dims(), gaps(gradient.rank() + 1, 0);
  gaps[axis + 1] = step - 1;
  Tensor spread = fn::pad(fn::unsqueeze(gradient, {axis + 1}), Dims(gradient.rank() + 1, 0), gaps);
  dims[axis] = dims[axis] * Dim(step);
  spread = fn::reshape(spread, dims);
  high[axis] = size - start - dims[axis]; // Negative where the last gap reaches over the end.
  return fn::pad(spread, low, high);
}

/// select_backward(grad_output, input_sizes, dim, index)
Value selectBackward(OpCall &op) {
  Tensor gradient = op.tensor(0);
  Dims sizes = op.dims(1);
  int64_t axis = op.axis(2, static_cast<int64_t>(sizes.size()));
  Dim index = op.dim(3);
  if (!op.ok() || sizes.empty())
    return op.ok() ? op.invalid("the input has no dimensions") : Value::poison();
  if (index.isConstant() && index.constant() < 0)
    index = index + sizes[axis];
  return op.result(spreadAlong(fn::unsqueeze(gradient, {axis}), axis, sizes[axis], index, 1));
}

/// slice_backward(grad_output, input_sizes, dim, start, end, step)
Value sliceBackward(OpCall &op) {
  Tensor gradient = op.tensor(0);
  Dims sizes = op.dims(1);
  int64_t axis = op.axis(2, static_cast<int64_t>(sizes.size())), step = op.integer(5);
  Dim start = op.dim(3);
  if (!op.ok() || sizes.empty() || gradient.rank() != static_cast<int64_t>(sizes.size()))
    return op.ok() ? op.invalid("the ranks of gradient and input do not fit") : Value::poison();
  if (start.isConstant() && start.constant() < 0)
    start = start + sizes[axis];
  return op.result(spreadAlong(gradient, axis, sizes[axis], start, step));
}

} // namespace

std::span<const OpEntry> layerBackwardOps() {
  static constexpr OpEntry entries[] = {
      {"convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, int[] stride, SymInt[] padding, "
       "int[] dilation, bool transposed, SymInt[] output_padding, int groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       convolutionBackward},
      {"native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, "
       "Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       layerNormBackward},
      {"native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt "
       "HxW, "
       "int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       groupNormBackward},
      {"native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, "
       "Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       batchNormBackward},
      {"max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
       "int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
       maxPoolBackward<2, 7>},
      {"max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, "
       "int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
       maxPoolBackward<3, 7>},
      {"adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", maxPoolBackward<2, 2>},
      {"avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, "
       "bool count_include_pad, int? divisor_override) -> Tensor",
       avgPoolBackward},
      {"_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", adaptiveAvgPoolBackward},
      {"embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> "
       "Tensor",
       embeddingBackward},
      {"select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor", selectBackward},
      {"slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor", sliceBackward},
      {"_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor", adaptiveAvgPoolBackward},
  };
  return entries;
}

} // namespace stator::torch
