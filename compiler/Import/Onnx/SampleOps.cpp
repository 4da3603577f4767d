//===- SampleOps.cpp - ONNX sampling, cropping, windows, unpooling ---------===//

#include "compiler/Import/Onnx/OpContext.h"

#include <numbers>

namespace stator::onnx {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using Value = trace::Tensor;

namespace {

/// The sizes in an input, which must be known.
std::optional<Dims> knownSizes(OpContext &op, size_t index, std::string_view what) {
  Value tensor = op.input(index);
  auto known = tensor ? tensor.knownIntegers() : std::nullopt;
  if (!known)
    op.unsupported("the " + std::string(what) + " is computed by the model, expected a constant");
  return known;
}

void gridSample(OpContext &op) {
  fn::SampleOptions options;
  // The names of the modes changed in opset 20.
  std::string_view mode = op.text("mode", op.opset() < 20 ? "bilinear" : "linear"), padding = op.text("padding_mode", "zeros");
  if (mode == "nearest")
    options.mode = fn::ResizeMode::Nearest;
  else if (mode == "cubic" || mode == "bicubic")
    options.mode = fn::ResizeMode::Cubic;
  else if (mode != "linear" && mode != "bilinear")
    return op.fail("attribute `mode` is `" + std::string(mode) + "`, expected linear, nearest or cubic");
  if (padding == "border")
    options.padding = fn::SamplePadding::Border;
  else if (padding == "reflection")
    options.padding = fn::SamplePadding::Reflection;
  else if (padding != "zeros")
    return op.fail("attribute `padding_mode` is `" + std::string(padding) + "`, expected zeros, border or reflection");
  options.alignCorners = op.flag("align_corners");
  op.output(fn::gridSample(op.input(0), op.input(1), options));
}

void affineGrid(OpContext &op) {
  auto size = knownSizes(op, 1, "size");
  if (!size)
    return;
  if (size->size() != 4 && size->size() != 5)
    return op.fail("the size has " + std::to_string(size->size()) + " entries, expected 4 or 5");
  op.output(fn::affineGrid(op.input(0), Dims(size->begin() + 2, size->end()), op.flag("align_corners")));
}

void centerCropPad(OpContext &op) {
  auto sizes = knownSizes(op, 1, "shape");
  if (!sizes)
    return;
  Ints axes;
  for (size_t i = 0; i < sizes->size(); ++i)
    axes.push_back(int64_t(i));
  op.output(fn::centerCropPad(op.input(0), *sizes, op.integers("axes").value_or(axes)));
}

/// first - second * cos(2 pi i / n) + third * cos(4 pi i / n).
void cosineWindow(OpContext &op, double first, double second, double third) {
  auto size = knownSizes(op, 0, "size");
  std::optional<ElementType> type = elementTypeAttribute(op, "output_datatype");
  if (!size)
    return;
  if (size->size() != 1)
    return op.fail("the size has " + std::to_string(size->size()) + " entries, expected one");
  Dim length = (*size)[0], period = op.flag("periodic", true) ? length : length - Dim(1);
  Value angle = fn::mul(fn::iota(op.builder(), ElementType::F64, {length}, 0), op.builder().scalar(ElementType::F64, 2 * std::numbers::pi));
  angle = fn::div(angle, fn::cast(op.builder().fromDim(period), ElementType::F64));
  Value window = fn::sub(fn::scalarLike(angle, first), fn::mul(fn::cos(angle), fn::scalarLike(angle, second)));
  if (third != 0)
    window = fn::add(window, fn::mul(fn::cos(fn::mul(angle, fn::scalarLike(angle, 2))), fn::scalarLike(angle, third)));
  op.output(fn::cast(window, type.value_or(ElementType::F32)));
}

void hannWindow(OpContext &op) { cosineWindow(op, 0.5, 0.5, 0); }
void hammingWindow(OpContext &op) { cosineWindow(op, 25.0 / 46, 21.0 / 46, 0); }
void blackmanWindow(OpContext &op) { cosineWindow(op, 0.42, 0.5, 0.08); }

/// Puts each element where the pool's index says; the rest is zero.
void maxUnpool(OpContext &op) {
  Value x = op.input(0), indices = op.input(1);
  WindowAttributes window = windowAttributes(op);
  if (!op.builder().ok())
    return;
  int64_t spatial = x.rank() - 2;
  if (spatial < 1 || int64_t(window.kernel.size()) != spatial)
    return op.fail("attribute `kernel_shape` does not fit an input of rank " + std::to_string(x.rank()));
  auto at = [](const Ints &list, int64_t i, int64_t otherwise) { return size_t(i) < list.size() ? list[i] : otherwise; };
  Dims dims{x.dim(0), x.dim(1)};
  for (int64_t i = 0; i < spatial; ++i)
    dims.push_back((x.dim(i + 2) - Dim(1)) * Dim(at(window.strides, i, 1)) - Dim(at(window.padLow, i, 0) + at(window.padHigh, i, 0)) +
                   Dim(window.kernel[i]));
  Dim count(1);
  for (const Dim &dim : dims)
    count = count * dim;
  Value zeros = fn::full(op.builder(), x.type(), {count}, 0);
  Value flat = fn::scatterElements(zeros, fn::reshape(indices, Dims{indices.elements()}), fn::reshape(x, Dims{x.elements()}), 0);
  Value result = fn::reshape(flat, dims);
  if (Value shape = op.optional(2)) {
    auto wanted = shape.knownIntegers();
    if (!wanted)
      return op.unsupported("the output shape is computed by the model, expected a constant");
    if (wanted->size() != dims.size())
      return op.fail("the output shape has " + std::to_string(wanted->size()) + " entries, expected " + std::to_string(dims.size()));
    Dims low(dims.size(), Dim(0)), high;
    for (size_t i = 0; i < dims.size(); ++i)
      high.push_back((*wanted)[i] - dims[i]);
    result = fn::pad(result, low, high);
  }
  op.output(result);
}

/// The sum of overlapping blocks: a transposed convolution with a filter that puts each element of a block in its place.
void col2Im(OpContext &op) {
  Value x = op.input(0);
  auto image = knownSizes(op, 1, "image shape"), block = knownSizes(op, 2, "block shape");
  if (!image || !block || !op.builder().ok())
    return;
  WindowAttributes window = windowAttributes(op);
  size_t spatial = image->size();
  if (x.rank() != 3 || block->size() != spatial || spatial == 0)
    return op.fail("an input of rank " + std::to_string(x.rank()) + ", an image of " + std::to_string(spatial) + " and a block of " +
                   std::to_string(block->size()) + " sizes");
  fn::ConvOptions options{.strides = window.strides, .padLow = window.padLow, .padHigh = window.padHigh, .dilations = window.dilations};
  int64_t taps = 1;
  Dims blocks{x.dim(0), x.dim(1)}, filter;
  for (size_t i = 0; i < spatial; ++i) {
    auto at = [&](const Ints &list, int64_t otherwise) { return i < list.size() ? list[i] : otherwise; };
    Dim size = (*block)[i];
    if (!size.isConstant() || size.constant() < 1 || size.constant() > 65536 || at(window.strides, 1) < 1)
      return op.fail("a block of size " + size.str() + " with the stride " + std::to_string(at(window.strides, 1)));
    taps *= size.constant();
    Dim room = (*image)[i] + Dim(at(window.padLow, 0) + at(window.padHigh, 0) - at(window.dilations, 1) * (size.constant() - 1) - 1);
    blocks.push_back(floorDiv(room, Dim(at(window.strides, 1))) + Dim(1));
    Dim rest = mod(room, Dim(at(window.strides, 1)));
    if (!rest.isConstant())
      return op.unsupported("an image of size " + (*image)[i].str() + " is not supported, expected a number");
    options.outputPadding.push_back(rest.constant());
  }
  Dim channels = x.dim(1);
  if (taps > (1 << 16) || !channels.isConstant() || channels.constant() % taps != 0)
    return op.fail(channels.str() + " channels for blocks of " + std::to_string(taps) + " elements");
  options.groups = channels.constant() / taps;
  filter = {options.groups * taps, 1};
  filter.insert(filter.end(), block->begin(), block->end());
  Value square = fn::full(op.builder(), x.type(), {taps, taps}, 0);
  Value weight = fn::reshape(fn::tile(fn::eyeLike(square, x.type()), Dims{options.groups, 1}), filter);
  op.output(fn::convTranspose(fn::reshape(x, blocks), weight, {}, options));
}

} // namespace

std::span<const OpEntry> sampleOps() {
  static constexpr OpEntry entries[] = {
      {"GridSample", gridSample},   {"AffineGrid", affineGrid},       {"CenterCropPad", centerCropPad}, {"HannWindow", hannWindow},
      {"HammingWindow", hammingWindow}, {"BlackmanWindow", blackmanWindow}, {"MaxUnpool", maxUnpool},         {"Col2Im", col2Im},
  };
  return entries;
}

} // namespace stator::onnx
