//===- QuantisedOps.cpp - ONNX quantisation and quantised contractions -----===//
//
// Integer contractions are exact products in i32. Blocks of a quantised tensor
// that share a scale become a scale per element, which the map kernels read
// without storing it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/QuantisedOps.h"

namespace stator::onnx {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using Value = trace::Tensor;

Value withoutZeroPoint(const Value &x, const Value &zeroPoint, ElementType type, int64_t axis) {
  Value value = fn::cast(x, type);
  if (!zeroPoint || !x)
    return value;
  Value zero = fn::cast(zeroPoint, type);
  if (zero.rank() == 1) {
    Dims dims(x.rank(), Dim(1));
    int64_t at = axis < 0 ? axis + x.rank() : axis;
    if (zero.dim(0) != Dim(1) && at >= 0 && at < x.rank())
      dims[at] = zero.dim(0);
    zero = fn::reshape(zero, dims);
  }
  return fn::sub(value, zero);
}

namespace {

/// Each entry along `axis` as often as a block is long, as far as x goes.
Value spreadBlocks(OpContext &op, const Value &scale, const Value &x, int64_t axis, int64_t block) {
  if (!scale || !op.builder().ok())
    return scale;
  axis += axis < 0 ? x.rank() : 0;
  if (scale.rank() != x.rank() || axis < 0 || axis >= x.rank()) {
    op.fail("a blocked scale of rank " + std::to_string(scale.rank()) + " along axis " + std::to_string(axis) + " for an input of rank " +
            std::to_string(x.rank()));
    return scale;
  }
  Dims split = scale.dims(), joined = scale.dims();
  split.insert(split.begin() + axis + 1, Dim(block));
  joined[axis] = joined[axis] * Dim(block);
  Value spread = fn::reshape(fn::broadcastTo(fn::unsqueeze(scale, {axis + 1}), split), joined);
  return joined[axis] == x.dim(axis) ? spread : fn::slice(spread, Dims{0}, Dims{x.dim(axis)}, {axis});
}

struct Quantisation {
  Value x, scale, zeroPoint;
  int64_t axis;
};

/// Scale and zero point lie along `axis`, or have the shape of x with blocks along it.
Quantisation operands(OpContext &op) {
  Quantisation q{op.input(0), op.input(1), op.optional(2), op.integer("axis", 1)};
  int64_t block = op.integer("block_size", 0);
  if (block < 0)
    op.fail("attribute `block_size` is " + std::to_string(block));
  if (block > 0 && op.builder().ok()) {
    q.scale = spreadBlocks(op, q.scale, q.x, q.axis, block);
    q.zeroPoint = spreadBlocks(op, q.zeroPoint, q.x, q.axis, block);
  }
  return q;
}

void quantize(OpContext &op) {
  Quantisation q = operands(op);
  std::optional<ElementType> type;
  if (op.integer("output_dtype", 0) != 0)
    type = elementTypeAttribute(op, "output_dtype");
  if (!q.zeroPoint && type)
    q.zeroPoint = op.builder().scalarInt(*type, 0);
  op.output(fn::quantize(q.x, q.scale, q.zeroPoint, q.axis));
}

void dequantize(OpContext &op) {
  Quantisation q = operands(op);
  Value value = fn::dequantize(q.x, q.scale, q.zeroPoint, q.axis);
  std::optional<ElementType> type;
  if (op.integer("output_dtype", 0) != 0)
    type = elementTypeAttribute(op, "output_dtype");
  op.output(type ? fn::cast(value, *type) : value);
}

/// To the range of ui8, widened so that zero is exact.
void dynamicQuantize(OpContext &op) {
  Value x = op.input(0);
  DynamicScale dynamic = dynamicScale(x);
  Value y = fn::add(fn::roundEven(fn::div(x, dynamic.scale)), dynamic.zeroPoint);
  op.output(fn::cast(fn::clip(y, 0, 255), ElementType::U8), 0);
  op.output(dynamic.scale, 1);
  op.output(fn::cast(dynamic.zeroPoint, ElementType::U8), 2);
}

void matMulInteger(OpContext &op) {
  // Zero points of a are per row, of b per column.
  Value a = withoutZeroPoint(op.input(0), op.optional(2), ElementType::I32, -2);
  op.output(fn::matmul(a, withoutZeroPoint(op.input(1), op.optional(3), ElementType::I32, -1)));
}

fn::ConvOptions convolution(OpContext &op) {
  WindowAttributes window = windowAttributes(op);
  return {.strides = window.strides, .padLow = window.padLow, .padHigh = window.padHigh, .dilations = window.dilations,
          .groups = op.integer("group", 1), .autoPad = window.autoPad};
}

void convInteger(OpContext &op) {
  Value x = withoutZeroPoint(op.input(0), op.optional(2), ElementType::I32, 1);
  op.output(fn::conv(x, withoutZeroPoint(op.input(1), op.optional(3), ElementType::I32, 0), {}, convolution(op)));
}

/// An accumulator of i32 to the type of the zero point, rounded and clamped.
Value requantise(OpContext &op, const Value &sum, const Value &factor, const Value &zeroPoint) {
  if (!sum || !factor || !zeroPoint)
    return {};
  if (zeroPoint.type() != ElementType::U8 && zeroPoint.type() != ElementType::I8) {
    op.unsupported("a result of type " + std::string(name(zeroPoint.type())) + " is not supported");
    return {};
  }
  bool isSigned = zeroPoint.type() == ElementType::I8;
  Value value = fn::roundEven(fn::mul(fn::cast(sum, ElementType::F32), factor));
  Value zero = fn::cast(zeroPoint.rank() == 1 && zeroPoint.dim(0) == Dim(1) ? fn::reshape(zeroPoint, Dims{}) : zeroPoint, ElementType::F32);
  return fn::cast(fn::clip(fn::add(value, zero), isSigned ? -128 : 0, isSigned ? 127 : 255), zeroPoint.type());
}

/// A scale as f32, placed along `axis` of a tensor of `rank` axes.
Value placeScale(const Value &scale, int64_t axis, int64_t rank) {
  if (!scale)
    return scale;
  Value value = fn::cast(scale, ElementType::F32);
  if (value.rank() != 1)
    return value;
  if (value.dim(0) == Dim(1))
    return fn::reshape(value, Dims{});
  Dims dims(rank, Dim(1));
  if (axis >= 0 && axis < rank)
    dims[axis] = value.dim(0);
  return fn::reshape(value, dims);
}

void qLinearMatMul(OpContext &op) {
  Value a = withoutZeroPoint(op.input(0), op.input(2), ElementType::I32, -2);
  Value b = withoutZeroPoint(op.input(3), op.input(5), ElementType::I32, -1);
  Value sum = fn::matmul(a, b);
  if (!op.builder().ok())
    return;
  Value factor = fn::mul(placeScale(op.input(1), sum.rank() - 2, sum.rank()), placeScale(op.input(4), sum.rank() - 1, sum.rank()));
  op.output(requantise(op, sum, fn::div(factor, placeScale(op.input(6), 0, 0)), op.input(7)));
}

void qLinearConv(OpContext &op) {
  Value x = withoutZeroPoint(op.input(0), op.input(2), ElementType::I32, 1);
  Value sum = fn::conv(x, withoutZeroPoint(op.input(3), op.input(5), ElementType::I32, 0), op.optional(8), convolution(op));
  if (!op.builder().ok())
    return;
  Value factor = fn::mul(placeScale(op.input(1), 1, sum.rank()), placeScale(op.input(4), 1, sum.rank()));
  op.output(requantise(op, sum, fn::div(factor, placeScale(op.input(6), 0, 0)), op.input(7)));
}

} // namespace

DynamicScale dynamicScale(const Value &x) {
  Value zero = fn::scalarLike(x, 0);
  Value low = fn::minimum(fn::reduce(x, fn::Reduction::Min, trace::Ints{}, false), zero);
  Value high = fn::maximum(fn::reduce(x, fn::Reduction::Max, trace::Ints{}, false), zero);
  Value range = fn::sub(high, low), one = fn::scalarLike(x, 1);
  Value scale = fn::div(fn::where(fn::eq(range, zero), one, range), fn::scalarLike(x, 255));
  return {scale, fn::roundEven(fn::clip(fn::neg(fn::div(low, scale)), 0, 255))};
}

std::span<const OpEntry> quantisedOps() {
  static constexpr OpEntry entries[] = {
      {"QuantizeLinear", quantize}, {"DequantizeLinear", dequantize}, {"DynamicQuantizeLinear", dynamicQuantize},
      {"MatMulInteger", matMulInteger}, {"ConvInteger", convInteger}, {"QLinearMatMul", qLinearMatMul},
      {"QLinearConv", qLinearConv},
  };
  return entries;
}

} // namespace stator::onnx
