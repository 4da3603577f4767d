//===- IndexingOps.cpp - ONNX gather, scatter, one-hot, resize -------------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

void gather(OpContext &op) { op.output(fn::gather(op.input(0), op.input(1), op.integer("axis", 0))); }
void gatherElements(OpContext &op) { op.output(fn::gatherElements(op.input(0), op.input(1), op.integer("axis", 0))); }
void gatherND(OpContext &op) { op.output(fn::gatherND(op.input(0), op.input(1), op.integer("batch_dims", 0))); }

std::optional<fn::ScatterReduction> reductionOf(OpContext &op) {
  std::string_view reduction = op.text("reduction", "none");
  using fn::ScatterReduction;
  constexpr std::pair<std::string_view, ScatterReduction> known[] = {{"none", ScatterReduction::None},
                                                                     {"add", ScatterReduction::Add},
                                                                     {"mul", ScatterReduction::Mul},
                                                                     {"max", ScatterReduction::Max},
                                                                     {"min", ScatterReduction::Min}};
  for (auto [name, value] : known)
    if (name == reduction)
      return value;
  op.fail("attribute `reduction` is `" + std::string(reduction) + "`, expected none, add, mul, max or min");
  return std::nullopt;
}

void scatterElements(OpContext &op) {
  if (auto reduction = reductionOf(op))
    op.output(fn::scatterElements(op.input(0), op.input(1), op.input(2), op.integer("axis", 0), *reduction));
}

void scatterND(OpContext &op) {
  if (auto reduction = reductionOf(op))
    op.output(fn::scatterND(op.input(0), op.input(1), op.input(2), *reduction));
}

void oneHot(OpContext &op) { op.output(fn::oneHot(op.input(0), op.input(1), op.input(2), op.integer("axis", -1))); }

void compress(OpContext &op) {
  std::optional<int64_t> axis;
  if (op.has("axis"))
    axis = op.integer("axis", 0);
  op.output(fn::compress(op.input(0), op.input(1), axis));
}

void nonZero(OpContext &op) { op.output(fn::nonZero(op.input(0))); }

bool readCoordinate(OpContext &op, fn::ResizeOptions &options) {
  std::string_view mode = op.text("coordinate_transformation_mode", "half_pixel");
  using fn::ResizeCoordinate;
  constexpr std::pair<std::string_view, ResizeCoordinate> known[] = {{"half_pixel", ResizeCoordinate::HalfPixel},
                                                                     {"half_pixel_symmetric", ResizeCoordinate::HalfPixelSymmetric},
                                                                     {"pytorch_half_pixel", ResizeCoordinate::PytorchHalfPixel},
                                                                     {"align_corners", ResizeCoordinate::AlignCorners},
                                                                     {"asymmetric", ResizeCoordinate::Asymmetric}};
  for (auto [name, value] : known)
    if (name == mode) {
      options.coordinate = value;
      return true;
    }
  op.unsupported("coordinate transformation `" + std::string(mode) + "` is not supported");
  return false;
}

bool readMode(OpContext &op, fn::ResizeOptions &options) {
  std::string_view mode = op.text("mode", "nearest");
  if (mode == "nearest")
    options.mode = fn::ResizeMode::Nearest;
  else if (mode == "linear")
    options.mode = fn::ResizeMode::Linear;
  else if (mode == "cubic")
    options.mode = fn::ResizeMode::Cubic;
  else {
    op.fail("attribute `mode` is `" + std::string(mode) + "`, expected nearest, linear or cubic");
    return false;
  }
  std::string_view nearest = op.text("nearest_mode", "round_prefer_floor");
  if (nearest == "round_prefer_floor")
    options.nearest = fn::ResizeNearest::RoundPreferFloor;
  else if (nearest == "round_prefer_ceil")
    options.nearest = fn::ResizeNearest::RoundPreferCeil;
  else if (nearest == "floor")
    options.nearest = fn::ResizeNearest::Floor;
  else if (nearest == "ceil")
    options.nearest = fn::ResizeNearest::Ceil;
  else {
    op.fail("attribute `nearest_mode` is `" + std::string(nearest) + "`, expected floor, ceil, round_prefer_floor or round_prefer_ceil");
    return false;
  }
  return true;
}

/// An omitted tensor may also be given as an empty one.
trace::Tensor nonEmpty(trace::Tensor tensor) {
  return tensor && tensor.elements().isConstant() && tensor.elements().constant() == 0 ? trace::Tensor() : tensor;
}

void resize(OpContext &op) {
  fn::ResizeOptions options;
  if (!readMode(op, options))
    return;
  if (op.opset() < 11) {
    // Resize-10 and Upsample: scales only, positions divided by the scale.
    options.coordinate = fn::ResizeCoordinate::Asymmetric;
    options.nearest = fn::ResizeNearest::Floor;
    return op.output(fn::resize(op.input(0), op.input(1), {}, options));
  }
  if (!readCoordinate(op, options))
    return;
  options.cubicCoefficient = op.number("cubic_coeff_a", -0.75);
  options.excludeOutside = op.flag("exclude_outside");
  if (op.flag("antialias") && options.mode != fn::ResizeMode::Nearest)
    return op.unsupported("antialiasing is not supported");
  options.axes = op.integers("axes").value_or(trace::Ints());
  std::string_view aspect = op.text("keep_aspect_ratio_policy", "stretch");
  if (aspect == "not_larger")
    options.aspect = fn::ResizeAspect::NotLarger;
  else if (aspect == "not_smaller")
    options.aspect = fn::ResizeAspect::NotSmaller;
  else if (aspect != "stretch")
    return op.fail("attribute `keep_aspect_ratio_policy` is `" + std::string(aspect) + "`, expected stretch, not_larger or not_smaller");
  op.output(fn::resize(op.input(0), nonEmpty(op.optional(2)), nonEmpty(op.optional(3)), options));
}

} // namespace

std::span<const OpEntry> indexingOps() {
  static constexpr OpEntry entries[] = {
      {"Gather", gather},
      {"GatherElements", gatherElements},
      {"GatherND", gatherND},
      {"ScatterElements", scatterElements},
      {"Scatter", scatterElements},
      {"ScatterND", scatterND},
      {"OneHot", oneHot},
      {"Compress", compress},
      {"NonZero", nonZero},
      {"Resize", resize},
      {"Upsample", resize},
  };
  return entries;
}

} // namespace stator::onnx
