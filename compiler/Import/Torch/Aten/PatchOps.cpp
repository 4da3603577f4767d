// Borders, patches and the exchange of channels for positions.
#include "compiler/Import/Torch/Aten/Compute.h"
#include "compiler/Import/Torch/Aten/Contraction.h"

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

/// Amounts come as pairs from the last axis on.
Value padBy(OpCall &op, fn::PadMode mode, const Tensor &value) {
  Tensor x = op.tensor(0);
  Dims amounts = op.dims(1);
  if (!op.ok())
    return Value::poison();
  if (amounts.size() % 2 != 0 || static_cast<int64_t>(amounts.size()) > 2 * x.rank())
    return op.invalid(std::to_string(amounts.size()) + " amounts of padding for a tensor of rank " + std::to_string(x.rank()));
  Dims low(x.rank(), 0), high(x.rank(), 0);
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    low[x.rank() - 1 - i] = amounts[2 * i];
    high[x.rank() - 1 - i] = amounts[2 * i + 1];
  }
  return op.result(fn::pad(x, low, high, mode, value));
}

Value constantPad(OpCall &op) {
  Tensor value = op.tensor(2);
  return padBy(op, fn::PadMode::Constant, value);
}

/// pad(self, pad, mode, value)
Value pad(OpCall &op) {
  std::string mode = op.text(2);
  if (mode == "reflect")
    return padBy(op, fn::PadMode::Reflect, {});
  if (mode == "replicate")
    return padBy(op, fn::PadMode::Edge, {});
  if (mode == "circular")
    return padBy(op, fn::PadMode::Wrap, {});
  if (mode != "constant")
    return op.invalid("the mode is `" + mode + "`, expected constant, reflect, replicate or circular");
  return padBy(op, fn::PadMode::Constant, op.tensor(3));
}

/// at::padding_mode: reflect, replicate, circular, constant.
Value padEnum(OpCall &op) {
  constexpr fn::PadMode modes[] = {fn::PadMode::Reflect, fn::PadMode::Edge, fn::PadMode::Wrap, fn::PadMode::Constant};
  int64_t mode = op.integer(2);
  if (mode < 0 || mode > 3)
    return op.invalid("the mode is " + std::to_string(mode) + ", expected 0 to 3");
  return padBy(op, modes[mode], mode == 3 ? op.tensor(3) : Tensor());
}

template <fn::PadMode mode>
Value padAs(OpCall &op) {
  return padBy(op, mode, {});
}

/// x [.., C, H, W] as [product, C, H, W], and the leading sizes.
struct Image {
  Tensor value;
  Dims lead;
};

std::optional<Image> imageOf(OpCall &op, const Tensor &x) {
  if (!op.ok())
    return std::nullopt;
  if (x.rank() < 3) {
    op.invalid("the input has " + std::to_string(x.rank()) + " dimensions, expected at least 3");
    return std::nullopt;
  }
  Dims dims = x.dims();
  Image image{x, Dims(dims.begin(), dims.end() - 3)};
  if (x.rank() != 4) {
    Dim batch = 1;
    for (const Dim &dim : image.lead)
      batch = batch * dim;
    image.value = fn::reshape(x, {batch, dims[dims.size() - 3], dims[dims.size() - 2], dims[dims.size() - 1]});
  }
  return image;
}

Value imageResult(OpCall &op, const Image &image, const Tensor &result) {
  if (!op.ok() || image.lead.size() == 1)
    return op.result(result);
  Dims dims = image.lead;
  for (int64_t axis = 1; axis < 4; ++axis)
    dims.push_back(result.dim(axis));
  return op.result(fn::reshape(result, dims));
}

Value pixelShuffle(OpCall &op) {
  int64_t factor = op.integer(1);
  std::optional<Image> image = imageOf(op, op.tensor(0));
  return image ? imageResult(op, *image, fn::depthToSpace(image->value, factor, /*columnRowDepth=*/true)) : Value::poison();
}

/// The factor's positions become channels behind their channel: [N, C, H/f, f, W/f, f] to [N, C, f, f, H/f, W/f].
Value pixelUnshuffle(OpCall &op) {
  int64_t factor = op.integer(1);
  std::optional<Image> image = imageOf(op, op.tensor(0));
  if (!image)
    return Value::poison();
  if (factor < 1)
    return op.invalid("the factor is " + std::to_string(factor));
  Dims dims = image->value.dims();
  Dim height = floorDiv(dims[2], factor), width = floorDiv(dims[3], factor);
  Tensor split = fn::reshape(image->value, {dims[0], dims[1], height, factor, width, factor});
  Tensor turned = fn::transpose(split, {0, 1, 3, 5, 2, 4});
  return imageResult(op, *image, fn::reshape(turned, {dims[0], dims[1] * Dim(factor * factor), height, width}));
}

Value channelShuffle(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t groups = op.integer(1);
  if (op.ok() && (x.rank() < 3 || groups < 1))
    return op.invalid(std::to_string(groups) + " groups of a tensor of rank " + std::to_string(x.rank()));
  if (!op.ok())
    return Value::poison();
  Dims dims = x.dims(), split = dims;
  split[1] = floorDiv(dims[1], groups);
  split.insert(split.begin() + 1, groups);
  Ints order = axisRange(0, x.rank() + 1);
  std::swap(order[1], order[2]);
  return op.result(fn::reshape(fn::transpose(fn::reshape(x, split), order), dims));
}

/// Positions [count * size] of windows that start every `stride` elements, their elements `dilation` apart, windows first or last.
Tensor windowPositions(OpCall &op, const Dim &count, int64_t size, int64_t stride, int64_t dilation, bool windowsFirst) {
  Dims grid = windowsFirst ? Dims{count, size} : Dims{size, count};
  Tensor window = fn::iota(op.builder(), ElementType::I64, grid, windowsFirst ? 0 : 1);
  Tensor element = fn::iota(op.builder(), ElementType::I64, grid, windowsFirst ? 1 : 0);
  Tensor position = fn::add(times(window, static_cast<double>(stride)), times(element, static_cast<double>(dilation)));
  return fn::reshape(position, {count * Dim(size)});
}

struct Patches {
  Ints kernel, dilation, padding, stride;
};

Patches patches(OpCall &op, size_t first) {
  return {perSpatialAxis(op, op.integers(first), 2, 1, "the kernel"), perSpatialAxis(op, op.integers(first + 1), 2, 1, "the dilation"),
          perSpatialAxis(op, op.integers(first + 2), 2, 0, "the padding"), perSpatialAxis(op, op.integers(first + 3), 2, 1, "the stride")};
}

/// The number of patches along an axis of `size` elements.
Dim patchCount(const Patches &p, const Dim &size, size_t axis) {
  return floorDiv(size + Dim(2 * p.padding[axis] - p.dilation[axis] * (p.kernel[axis] - 1) - 1), p.stride[axis]) + 1;
}

/// im2col(self, kernel_size, dilation, padding, stride): [N, C * kernel, patches].
Value im2col(OpCall &op) {
  Patches p = patches(op, 1);
  std::optional<Image> image = imageOf(op, op.tensor(0));
  if (!image)
    return Value::poison();
  Dims pads{0, 0, p.padding[0], p.padding[1]}, dims = image->value.dims();
  Tensor x = fn::pad(image->value, pads, pads);
  Dim rows = patchCount(p, dims[2], 0), columns = patchCount(p, dims[3], 1);
  x = fn::gather(x, windowPositions(op, rows, p.kernel[0], p.stride[0], p.dilation[0], /*windowsFirst=*/false), 2);
  x = fn::gather(x, windowPositions(op, columns, p.kernel[1], p.stride[1], p.dilation[1], /*windowsFirst=*/false), 3);
  x = fn::transpose(fn::reshape(x, {dims[0], dims[1], p.kernel[0], rows, p.kernel[1], columns}), {0, 1, 2, 4, 3, 5});
  Dims result{dims[1] * Dim(p.kernel[0] * p.kernel[1]), rows * columns};
  result.insert(result.begin(), image->lead.begin(), image->lead.end());
  return op.result(fn::reshape(x, result));
}

/// col2im(self, output_size, kernel_size, dilation, padding, stride): patches added up where they overlap, which is a transposed
/// convolution by filters of a single one.
Value col2im(OpCall &op) {
  Tensor given = op.tensor(0);
  Dims size = op.dims(1);
  Patches p = patches(op, 2);
  if (!op.ok())
    return Value::poison();
  if (size.size() != 2 || (given.rank() != 2 && given.rank() != 3))
    return op.invalid("expected patches of rank 2 or 3 and a size of 2 entries");
  Tensor x = given.rank() == 2 ? fn::unsqueeze(given, {0}) : given;
  int64_t places = p.kernel[0] * p.kernel[1];
  Dim features = x.dim(1), rows = patchCount(p, size[0], 0), columns = patchCount(p, size[1], 1);
  if (!features.isConstant() || features.constant() % places != 0)
    return op.invalid(features.str() + " rows for kernels of " + std::to_string(places) + " elements");
  int64_t channels = features.constant() / places;
  fn::ConvOptions options{.strides = p.stride, .padLow = p.padding, .padHigh = p.padding, .dilations = p.dilation, .groups = channels};
  for (size_t i = 0; i < 2; ++i) {
    Dim reached = ((i == 0 ? rows : columns) - 1) * Dim(p.stride[i]) + Dim(p.dilation[i] * (p.kernel[i] - 1) + 1 - 2 * p.padding[i]);
    Dim rest = size[i] - reached;
    if (!rest.isConstant() || rest.constant() < 0)
      return op.unsupported("a size of " + size[i].str() + " that is known only at run time");
    options.outputPadding.push_back(rest.constant());
  }
  Tensor image = fn::reshape(x, {x.dim(0), features, rows, columns});
  Tensor square = fn::full(op.builder(), ElementType::F32, {places, places}, 0);
  Tensor one = fn::reshape(fn::eyeLike(square, x.type()), {1, places, 1, p.kernel[0], p.kernel[1]});
  Tensor filter =
      fn::reshape(fn::broadcastTo(one, {channels, places, 1, p.kernel[0], p.kernel[1]}), {features, 1, p.kernel[0], p.kernel[1]});
  Tensor result = fn::convTranspose(image, filter, {}, options);
  return op.result(given.rank() == 2 ? fn::squeeze(result, {0}) : result);
}

} // namespace

std::span<const OpEntry> patchOps() {
  static constexpr OpEntry entries[] = {
      {"pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor", pad},
      {"_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor", padEnum},
      {"_pad_circular(Tensor self, SymInt[] pad) -> Tensor", padAs<fn::PadMode::Wrap>},
      {"constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", constantPad},
      {"reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", padAs<fn::PadMode::Reflect>},
      {"reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", padAs<fn::PadMode::Reflect>},
      {"reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", padAs<fn::PadMode::Reflect>},
      {"replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", padAs<fn::PadMode::Edge>},
      {"replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", padAs<fn::PadMode::Edge>},
      {"replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", padAs<fn::PadMode::Edge>},
      {"pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", pixelShuffle},
      {"pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", pixelUnshuffle},
      {"channel_shuffle(Tensor self, int groups) -> Tensor", channelShuffle},
      {"native_channel_shuffle(Tensor self, int groups) -> Tensor", channelShuffle},
      {"im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor", im2col},
      {"col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor", col2im},
  };
  return entries;
}

} // namespace stator::torch
