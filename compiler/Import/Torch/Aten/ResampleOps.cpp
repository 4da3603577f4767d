// Images at another size or at computed positions. PyTorch maps positions by the scale that the model gives, where it gives one, and not
// by the quotient of the sizes; both spellings of each operator, with a list of scales (.vec) and with one per axis, carry it along.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

enum class Kernel { Nearest, NearestExact, Linear, Cubic, LinearAntialias, CubicAntialias };

struct Target {
  Dims sizes;                 // empty: from the scales
  std::vector<double> scales; // empty: from the sizes
};

fn::ResizeOptions optionsOf(Kernel kernel, bool alignCorners) {
  fn::ResizeOptions options;
  options.coordinate = alignCorners ? fn::ResizeCoordinate::AlignCorners : fn::ResizeCoordinate::HalfPixel;
  switch (kernel) {
  case Kernel::Nearest:
    options.coordinate = fn::ResizeCoordinate::Asymmetric;
    options.nearest = fn::ResizeNearest::Floor;
    break;
  case Kernel::NearestExact:
    options.nearest = fn::ResizeNearest::RoundPreferCeil;
    break;
  case Kernel::Linear:
  case Kernel::LinearAntialias:
    options.mode = fn::ResizeMode::Linear;
    break;
  case Kernel::Cubic:
  case Kernel::CubicAntialias:
    options.mode = fn::ResizeMode::Cubic;
    break;
  }
  if (kernel == Kernel::LinearAntialias || kernel == Kernel::CubicAntialias) {
    options.antialias = options.excludeOutside = true;
    options.cubicCoefficient = -0.5; // as in Pillow
  }
  return options;
}

/// Whether floor(size * scale) is the size wanted along every axis: then the scales say everything.
bool scalesGive(const Tensor &x, const Target &target) {
  for (size_t i = 0; i < target.scales.size(); ++i) {
    Dim size = x.dim(2 + static_cast<int64_t>(i));
    if (i < target.sizes.size() && size.isConstant() && target.sizes[i].isConstant() &&
        std::floor(static_cast<double>(size.constant()) * target.scales[i]) != static_cast<double>(target.sizes[i].constant()))
      return false;
  }
  return true;
}

Value resample(OpCall &op, Kernel kernel, int64_t spatial, bool alignCorners, const Target &target) {
  Tensor given = op.tensor(0);
  if (!op.ok())
    return Value::poison();
  if (given.rank() != spatial + 2)
    return op.invalid("the input has " + std::to_string(given.rank()) + " dimensions, expected " + std::to_string(spatial + 2));
  bool isNearest = kernel == Kernel::Nearest || kernel == Kernel::NearestExact;
  if (!isNearest && !isFloat(given.type()))
    return op.unsupported("interpolation between integers; convert the input to floats first");
  auto hasLength = [&](size_t size) { return size == 0 || static_cast<int64_t>(size) == spatial; };
  if (!hasLength(target.sizes.size()) || !hasLength(target.scales.size()) || (target.sizes.empty() && target.scales.empty()))
    return op.invalid("expected either the sizes or the scales of " + std::to_string(spatial) + " dimensions");
  bool isAntialiased = kernel == Kernel::LinearAntialias || kernel == Kernel::CubicAntialias;
  if (isAntialiased && alignCorners)
    return op.unsupported("antialiasing with align_corners, where PyTorch maps positions unlike anywhere else; use align_corners=False");
  for (int64_t i = 0; i < spatial && isAntialiased; ++i)
    if (!given.dim(2 + i).isConstant() || (!target.sizes.empty() && !target.sizes[i].isConstant()))
      return op.unsupported("antialiasing over the size " + given.dim(2 + i).str() +
                            ", which is known only at run time: how many elements are blended follows from it");
  Tensor x = isNearest ? given : widened(given);
  fn::ResizeOptions options = optionsOf(kernel, alignCorners);
  options.axes = axisRange(2, 2 + spatial);
  bool byScale = target.sizes.empty() || (!target.scales.empty() && !alignCorners && scalesGive(x, target));
  if (!byScale)
    return op.result(fn::cast(fn::resize(x, {}, op.builder().fromDims(target.sizes), options), given.type()));
  Tensor scales = op.builder().constant(ElementType::F64, {spatial}, target.scales.data(), target.scales.size() * sizeof(double));
  return op.result(fn::cast(fn::resize(x, scales, {}, options), given.type()));
}

/// (input, output_size?, scale_factors?) or (input, output_size?, align_corners, scale_factors?)
template <Kernel kernel, int64_t spatial>
Value byList(OpCall &op) {
  bool hasCorners = op.schema().parameters.size() == 4;
  Target target{op.dims(1), op.numbers(hasCorners ? 3 : 2)};
  return resample(op, kernel, spatial, hasCorners && op.flag(2), target);
}

/// (self, output_size, scales...?) or (self, output_size, align_corners, scales...?)
template <Kernel kernel, int64_t spatial>
Value byAxis(OpCall &op) {
  bool hasCorners = kernel != Kernel::Nearest && kernel != Kernel::NearestExact;
  Target target{op.dims(1), {}};
  for (size_t i = hasCorners ? 3 : 2; i < op.schema().parameters.size(); ++i)
    if (!op.isNone(i))
      target.scales.push_back(op.number(i));
  if (static_cast<int64_t>(target.scales.size()) != spatial)
    target.scales.clear();
  return resample(op, kernel, spatial, hasCorners && op.flag(2), target);
}

/// (input, grid, interpolation_mode, padding_mode, align_corners)
Value gridSample(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  int64_t mode = op.integer(2), padding = op.integer(3);
  fn::SampleOptions options;
  options.alignCorners = op.flag(4);
  if (!op.ok())
    return Value::poison();
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return op.invalid("interpolation mode " + std::to_string(mode) + " and padding mode " + std::to_string(padding) + ", expected 0 to 2");
  if (x[0].rank() >= 3 && x[1].rank() == x[0].rank() && !x[1].dim(-1).isConstant()) // One coordinate per spatial axis.
    op.builder().constrainEqual(x[1].dim(-1), x[0].rank() - 2, "grid_sampler");
  options.mode = mode == 0 ? fn::ResizeMode::Linear : mode == 1 ? fn::ResizeMode::Nearest : fn::ResizeMode::Cubic;
  options.movesPositions = options.mode != fn::ResizeMode::Cubic;
  options.padding = padding == 0 ? fn::SamplePadding::Zeros : padding == 1 ? fn::SamplePadding::Border : fn::SamplePadding::Reflection;
  return x.result(op, fn::gridSample(x[0], x[1], options));
}

/// affine_grid_generator(theta, size, align_corners), size [N, C, spatial...]
Value affineGrid(OpCall &op) {
  Dims size = op.dims(1);
  bool alignCorners = op.flag(2);
  if (op.ok() && size.size() < 3)
    return op.invalid("the size has " + std::to_string(size.size()) + " entries, expected at least 3");
  return op.ok() ? op.result(fn::affineGrid(op.tensor(0), Dims(size.begin() + 2, size.end()), alignCorners)) : Value::poison();
}

} // namespace

std::span<const OpEntry> resampleOps() {
  static constexpr OpEntry entries[] = {
      {"upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor", byAxis<Kernel::Nearest, 1>},
      {"upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", byList<Kernel::Nearest, 1>},
      {"upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
       byAxis<Kernel::Nearest, 2>},
      {"upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", byList<Kernel::Nearest, 2>},
      {"upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
       byAxis<Kernel::Nearest, 3>},
      {"upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", byList<Kernel::Nearest, 3>},
      {"_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor", byAxis<Kernel::NearestExact, 1>},
      {"_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
       byList<Kernel::NearestExact, 1>},
      {"_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
       byAxis<Kernel::NearestExact, 2>},
      {"_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
       byList<Kernel::NearestExact, 2>},
      {"_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, "
       "float? scales_w=None) -> Tensor",
       byAxis<Kernel::NearestExact, 3>},
      {"_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
       byList<Kernel::NearestExact, 3>},
      {"upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
       byAxis<Kernel::Linear, 1>},
      {"upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
       byList<Kernel::Linear, 1>},
      {"upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
       byAxis<Kernel::Linear, 2>},
      {"upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
       byList<Kernel::Linear, 2>},
      {"upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, "
       "float? scales_w=None) -> Tensor",
       byAxis<Kernel::Linear, 3>},
      {"upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
       byList<Kernel::Linear, 3>},
      {"upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
       byAxis<Kernel::Cubic, 2>},
      {"upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
       byList<Kernel::Cubic, 2>},
      {"_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> "
       "Tensor",
       byAxis<Kernel::LinearAntialias, 2>},
      {"_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
       byList<Kernel::LinearAntialias, 2>},
      {"_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> "
       "Tensor",
       byAxis<Kernel::CubicAntialias, 2>},
      {"_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
       byList<Kernel::CubicAntialias, 2>},
      {"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", gridSample},
      {"grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", gridSample},
      {"grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", gridSample},
      {"affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor", affineGrid},
  };
  return entries;
}

} // namespace stator::torch
