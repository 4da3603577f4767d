//===- LowerResize.cpp - interpolation -------------------------------------===//
//
// Each result element blends a few input elements per axis that changes size.
// Positions and weights depend on one axis each, so the evaluator computes those
// of the outer axes once per row and, with channels last, all of them once per
// pixel. Positions are computed in f64, as the oracle does: a rounding must fall
// on the same side.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;

namespace {

/// One input position along an axis, with its share.
struct Tap {
  Value position; // index type, inside of the input
  Value weight;   // null: 1
};

/// The scale of an axis, when it is known.
static std::optional<double> scaleOf(graph::ResizeOp op, size_t axis) {
  if (op.getScales())
    return (*op.getScales())[axis];
  auto from = graph::dimOf(cast<RankedTensorType>(op.getInput().getType()), axis).constant();
  auto to = graph::dimOf(cast<RankedTensorType>(op.getResult().getType()), axis).constant();
  return from && to && *from > 0 ? std::optional<double>(double(*to) / double(*from)) : std::nullopt;
}

/// By how much antialiasing widens the kernel: 1 for not at all; nothing when that is not known.
static std::optional<double> shrinkOf(graph::ResizeOp op, size_t axis) {
  if (!op.getAntialias())
    return 1.0;
  std::optional<double> scale = scaleOf(op, axis);
  return scale ? std::optional<double>(std::min(*scale, 1.0)) : std::nullopt;
}

/// Input elements that one result element blends along an axis that changes.
static int64_t tapsPerAxis(graph::ResizeOp op, size_t axis) {
  double reach = (op.getMode() == graph::ResizeMode::Cubic ? 2 : 1) / shrinkOf(op, axis).value();
  return static_cast<int64_t>(std::ceil(2 * reach));
}

static bool isUnchanged(graph::ResizeOp op, size_t axis) {
  auto input = cast<RankedTensorType>(op.getInput().getType()), result = cast<RankedTensorType>(op.getResult().getType());
  return graph::dimOf(input, axis) == graph::dimOf(result, axis) && (!op.getScales() || (*op.getScales())[axis] == 1.0);
}

/// Each tap is written out, so there must be a known number, and not too many.
static bool hasFewTaps(graph::ResizeOp op) {
  constexpr int64_t mostTaps = 256;
  int64_t product = 1;
  for (int64_t axis = 0, rank = cast<RankedTensorType>(op.getType()).getRank(); axis < rank; ++axis) {
    if (isUnchanged(op, axis))
      continue;
    std::optional<double> shrink = shrinkOf(op, axis);
    if (!shrink || *shrink <= 1.0 / mostTaps)
      return false;
    product *= tapsPerAxis(op, axis);
    if (product > mostTaps)
      return false;
  }
  return true;
}

class ResizeBody {
public:
  ResizeBody(Body &b, graph::ResizeOp op)
      : b(b), op(op), input(graph::dimsOf(cast<RankedTensorType>(op.getInput().getType()))),
        output(graph::dimsOf(cast<RankedTensorType>(op.getResult().getType()))),
        element(scalarType(cast<RankedTensorType>(op.getInput().getType()).getElementType())) {}

  Value run() {
    SmallVector<SmallVector<Tap>> taps;
    for (size_t axis = 0; axis < input.size(); ++axis)
      taps.push_back(isUnchanged(op, axis) ? SmallVector<Tap>{{b.index(axis), {}}} : tapsOf(axis));
    SmallVector<Value> positions(input.size());
    return blend(taps, 0, positions);
  }

private:
  std::optional<double> givenScale(size_t axis) { return op.getScales() ? std::optional<double>((*op.getScales())[axis]) : std::nullopt; }

  Value real(double value) { return b.number(b.getF64Type(), value); }
  Value real(const DimExpr &size) { return toReal(b.size(size)); }
  Value toReal(Value index) { return arith::SIToFPOp::create(b, b.getF64Type(), b.toInteger(index, b.getI64Type())); }
  Value toIndex(Value value) { return b.toIndex(arith::FPToSIOp::create(b, b.getI64Type(), value)); }
  Value divide(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value floor(Value x) { return math::FloorOp::create(b, x); }

  /// Where along `axis` of the input the result's element is.
  Value coordinate(size_t axis) {
    Value x = toReal(b.index(axis)), n = real(input[axis]), m = real(output[axis]);
    std::optional<double> given = givenScale(axis);
    Value scale = given ? real(*given) : divide(m, n);
    Value half = real(0.5);
    auto halfPixel = [&] { return b.sub(divide(b.add(x, half), scale), half); };
    Value isSingle = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, m, real(1.0));
    switch (op.getCoordinate()) {
    case graph::ResizeCoordinate::HalfPixel:
      return halfPixel();
    case graph::ResizeCoordinate::PytorchHalfPixel:
      return b.select(isSingle, real(0.0), halfPixel());
    case graph::ResizeCoordinate::Asymmetric:
      return divide(x, scale);
    case graph::ResizeCoordinate::AlignCorners:
      return b.select(isSingle, real(0.0), divide(b.mul(x, b.sub(n, real(1.0))), b.sub(m, real(1.0))));
    case graph::ResizeCoordinate::HalfPixelSymmetric: {
      Value adjustment = divide(m, b.mul(scale, n));
      Value offset = b.mul(b.mul(n, half), b.sub(real(1.0), adjustment));
      return b.add(offset, halfPixel());
    }
    }
    llvm_unreachable("every coordinate transformation is handled above");
  }

  Value nearest(Value u) {
    switch (op.getNearestMode()) {
    case graph::ResizeNearest::RoundPreferFloor:
      return math::CeilOp::create(b, b.sub(u, real(0.5)));
    case graph::ResizeNearest::RoundPreferCeil:
      return floor(b.add(u, real(0.5)));
    case graph::ResizeNearest::Floor:
      return floor(u);
    case graph::ResizeNearest::Ceil:
      return math::CeilOp::create(b, u);
    }
    llvm_unreachable("every nearest mode is handled above");
  }

  /// The triangle at distance t >= 0.
  Value linearWeight(Value t) {
    Value weight = b.sub(real(1.0), t);
    return b.select(b.less(weight, real(0.0)), real(0.0), weight);
  }

  /// Keys' kernel at distance t >= 0.
  Value cubicWeight(Value t) {
    double a = op.getCubicCoeff().convertToDouble();
    Value t2 = b.mul(t, t), t3 = b.mul(t2, t);
    Value near = b.add(b.sub(b.mul(real(a + 2), t3), b.mul(real(a + 3), t2)), real(1.0));
    Value far = b.sub(b.add(b.sub(b.mul(real(a), t3), b.mul(real(5 * a), t2)), b.mul(real(8 * a), t)), real(4 * a));
    far = b.select(b.less(t, real(2.0)), far, real(0.0));
    return b.select(arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, t, real(1.0)), near, far);
  }

  SmallVector<Tap> tapsOf(size_t axis) {
    Value u = coordinate(axis), size = b.size(input[axis]);
    if (op.getMode() == graph::ResizeMode::Nearest)
      return {{b.clamp(toIndex(nearest(u)), size), {}}};

    bool isCubic = op.getMode() == graph::ResizeMode::Cubic, isNormalised = op.getExcludeOutside() || op.getAntialias();
    double shrink = shrinkOf(op, axis).value(), reach = (isCubic ? 2 : 1) / shrink;
    Value first = b.add(floor(b.sub(u, real(reach))), real(1.0));
    SmallVector<Tap> taps;
    SmallVector<Value> weights;
    Value total;
    for (int64_t i = 0, e = tapsPerAxis(op, axis); i != e; ++i) {
      Value place = b.add(first, real(double(i)));
      Value distance = b.mul(math::AbsFOp::create(b, b.sub(u, place)), real(shrink));
      Value weight = isCubic ? cubicWeight(distance) : linearWeight(distance);
      Value index = toIndex(place);
      if (op.getExcludeOutside()) {
        Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
        weight = b.select(isInside, weight, real(0.0));
      }
      weights.push_back(weight);
      total = total ? b.add(total, weight) : weight;
      taps.push_back({b.clamp(index, size), {}});
    }
    for (auto [tap, weight] : llvm::zip_equal(taps, weights)) {
      Value share = isNormalised ? divide(weight, total) : weight;
      tap.weight = element.isF64() ? share : arith::TruncFOp::create(b, element, share).getResult();
    }
    return taps;
  }

  /// The blend over axes `axis ..` at the positions chosen before it.
  Value blend(ArrayRef<SmallVector<Tap>> taps, size_t axis, SmallVector<Value> &positions) {
    if (axis == taps.size())
      return b.extract(op.getInput(), positions);
    Value result;
    for (const Tap &tap : taps[axis]) {
      positions[axis] = tap.position;
      Value value = blend(taps, axis + 1, positions);
      if (tap.weight)
        value = b.mul(value, tap.weight);
      result = result ? b.add(result, value) : value;
    }
    return result;
  }

  Body &b;
  graph::ResizeOp op;
  SmallVector<DimExpr> input, output;
  Type element;
};

} // namespace

Value lowerResize(LinalgLowering &lowering, graph::ResizeOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  bool blends = op.getMode() != graph::ResizeMode::Nearest;
  // The caller reports an op that has no form here: integers cannot be blended, and every tap is written out.
  if (blends && (!isa<FloatType>(type.getElementType()) || !hasFewTaps(op)))
    return {};
  return lowering.elementwise(type, {}, [&](Body &b, ValueRange) { return ResizeBody(b, op).run(); });
}

} // namespace stator::kernel
