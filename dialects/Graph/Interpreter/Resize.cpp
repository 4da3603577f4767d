// Resizing. Interpolation along several axes is a product of interpolations along each, so the axes are done one after the other.
#include "dialects/Graph/Interpreter/OpCall.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

namespace {

/// How one axis is resized.
struct Axis {
  int64_t from, to;
  double scale;
};

struct Weight {
  int64_t index;
  double weight;
};

} // namespace

/// The input position that result position `x` stands for.
static double inputPosition(ResizeOp op, const Axis &axis, int64_t x) {
  double n = double(axis.from), m = double(axis.to), halfPixel = (double(x) + 0.5) / axis.scale - 0.5;
  switch (op.getCoordinate()) {
  case ResizeCoordinate::HalfPixel:
    return halfPixel;
  case ResizeCoordinate::PytorchHalfPixel:
    return axis.to > 1 ? halfPixel : 0;
  case ResizeCoordinate::Asymmetric:
    return double(x) / axis.scale;
  case ResizeCoordinate::AlignCorners:
    return axis.to > 1 ? double(x) * (n - 1) / (m - 1) : 0;
  case ResizeCoordinate::HalfPixelSymmetric:
    return n / 2 * (1 - m / (axis.scale * n)) + halfPixel;
  }
  llvm_unreachable("every map is listed");
}

static double nearest(ResizeNearest mode, double u) {
  switch (mode) {
  case ResizeNearest::RoundPreferFloor:
    return std::ceil(u - 0.5);
  case ResizeNearest::RoundPreferCeil:
    return std::floor(u + 0.5);
  case ResizeNearest::Floor:
    return std::floor(u);
  case ResizeNearest::Ceil:
    return std::ceil(u);
  }
  llvm_unreachable("every mode is listed");
}

/// The kernels: a triangle, and Keys' cubic.
static double kernelAt(ResizeMode mode, double a, double distance) {
  double x = std::fabs(distance);
  if (mode == ResizeMode::Linear)
    return x < 1 ? 1 - x : 0;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Which input elements make up result position `x`.
static SmallVector<Weight> weightsAt(ResizeOp op, const Axis &axis, int64_t x) {
  double u = inputPosition(op, axis, x);
  auto clamp = [&](double index) { return int64_t(std::clamp(index, 0.0, double(axis.from - 1))); };
  // Everything far outside shows the border. (Scales come from files; a position may even be no number.)
  if (!(std::fabs(u) < 1e9))
    return {{u > 0 ? axis.from - 1 : 0, 1.0}};
  if (op.getMode() == ResizeMode::Nearest)
    return {{clamp(nearest(op.getNearestMode(), u)), 1.0}};
  double shrink = op.getAntialias() ? std::min(axis.scale, 1.0) : 1.0;
  double reach = (op.getMode() == ResizeMode::Linear ? 1 : 2) / shrink, a = op.getCubicCoeff().convertToDouble();
  SmallVector<Weight> weights;
  double sum = 0;
  for (double index = std::floor(u - reach) + 1; index < u + reach; ++index) {
    double weight = kernelAt(op.getMode(), a, (index - u) * shrink);
    if (op.getExcludeOutside() && (index < 0 || index >= double(axis.from)))
      continue;
    weights.push_back({clamp(index), weight});
    sum += weight;
  }
  if (sum == 0)
    return {{clamp(u), 1.0}};
  if (op.getExcludeOutside() || op.getAntialias())
    for (Weight &weight : weights)
      weight.weight /= sum;
  return weights;
}

/// Resizes one axis of a tensor of doubles.
static std::vector<double> resizeAxis(ArrayRef<double> in, SmallVectorImpl<int64_t> &shape, int64_t number, ResizeOp op, const Axis &axis) {
  AxisSplit from(shape, number);
  shape[number] = axis.to;
  AxisSplit to(shape, number);
  std::vector<double> out(elementCount(shape));
  for (int64_t x = 0; x < axis.to; ++x) {
    SmallVector<Weight> weights = weightsAt(op, axis, x);
    for (int64_t o = 0; o < to.outer; ++o)
      for (int64_t i = 0; i < to.inner; ++i) {
        // A single element is taken as it is: a product with 1 plus 0 would change the sign of a zero.
        if (weights.size() == 1 && weights[0].weight == 1) {
          out[to.position(o, x, i)] = in[from.position(o, weights[0].index, i)];
          continue;
        }
        double sum = 0;
        for (const Weight &weight : weights)
          sum += weight.weight == 0 ? 0 : in[from.position(o, weight.index, i)] * weight.weight;
        out[to.position(o, x, i)] = sum;
      }
  }
  return out;
}

static LogicalResult resize(ResizeOp op, OpCall &call) {
  const TensorValue &in = call.in();
  if (call.out().count() == 0)
    return success();
  if (in.count() == 0)
    return op.emitOpError() << "resizes " << in.typeText() << ", which is empty, to " << call.out().typeText();
  bool real = isFloat(in.type);
  // Integers are only ever picked, never blended: their positions are resized instead of their values.
  std::vector<double> values = real ? in.reals() : std::vector<double>(in.count());
  for (size_t i = 0; !real && i < values.size(); ++i)
    values[i] = double(i);
  SmallVector<int64_t> shape = in.shape;
  // Axes that shrink come first, so that nothing in between is larger than both input and result.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, in.rank()));
  llvm::stable_sort(order,
                    [&](int64_t a, int64_t b) { return (call.out().shape[a] <= in.shape[a]) > (call.out().shape[b] <= in.shape[b]); });
  for (int64_t number : order) {
    Axis axis{in.shape[number], call.out().shape[number], 0};
    axis.scale = op.getScales() ? (*op.getScales())[number] : double(axis.to) / double(axis.from);
    if (axis.from == axis.to && axis.scale == 1)
      continue;
    double shrink = op.getAntialias() ? std::min(axis.scale, 1.0) : 1.0;
    auto taps = int64_t(std::min(4 / shrink + 1, 1e18));
    SmallVector<int64_t> work(shape);
    work[number] = axis.to;
    work.push_back(taps);
    if (failed(call.spend(work)))
      return failure();
    values = resizeAxis(values, shape, number, op, axis);
  }
  for (int64_t i = 0, n = call.out().count(); i < n; ++i) {
    if (real)
      call.out().setReal(i, values[i]);
    else
      call.out().copyElement(i, in, int64_t(values[i]));
  }
  return success();
}

ArrayRef<InterpreterEntry> resizeInterpreters() {
  static const InterpreterEntry entries[] = {entry<ResizeOp, resize>()};
  return entries;
}

} // namespace stator::graph
