// The operators of quantised graphs: quantized_decomposed.*, which torchao's and PyTorch 2 export's quantisers write around float
// operators, fake quantisation, and products of integers. All are plain arithmetic here, with the rounding of PyTorch's reference
// functions (multiplication by the inverse of the scale). Tensors of PyTorch's older quantised types do not exist in these graphs.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <algorithm>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Tensor;

namespace {

/// Scales and zero points placed along `axis` of x, or one for all.
Tensor placed(OpCall &call, const Tensor &x, const Tensor &vector, std::optional<int64_t> axis) {
  if (!call.ok() || !vector)
    return vector;
  if (!axis)
    return fn::reshape(vector, Dims{});
  Dims dims(static_cast<size_t>(x.rank()), Dim(1));
  dims[*axis] = vector.dim(0);
  return fn::reshape(vector, dims);
}

/// The range of the integers.
struct Limits {
  Tensor low, high;
};

Limits limitsAt(OpCall &call, size_t index) {
  auto number = [&](size_t i) { return fn::cast(call.tensor(i), ElementType::F32); };
  return {number(index), number(index + 1)};
}
Limits flat(OpCall &call, Limits limits) {
  if (call.ok())
    limits = {fn::reshape(limits.low, Dims{}), fn::reshape(limits.high, Dims{})};
  return limits;
}

/// clamp(round(x * (1 / scale)) + zero point), still as floats.
Tensor steps(OpCall &call, const Tensor &x, const Tensor &scale, const Tensor &zeroPoint, const Limits &limits) {
  if (!call.ok())
    return x;
  Tensor inverse = fn::cast(fn::reciprocal(scale), x.type());
  Tensor value = fn::roundEven(fn::mul(x, inverse));
  if (zeroPoint)
    value = fn::add(value, fn::cast(zeroPoint, x.type()));
  return fn::clip(value, limits.low, limits.high);
}

Tensor unsteps(OpCall &call, const Tensor &x, const Tensor &scale, const Tensor &zeroPoint, ElementType type) {
  if (!call.ok())
    return x;
  Tensor value = fn::cast(x, type);
  if (zeroPoint)
    value = fn::sub(value, fn::cast(zeroPoint, type));
  return fn::mul(value, fn::cast(scale, type));
}

Tensor asFloats(const Tensor &x) { return fn::cast(x, ElementType::F32); }

/// (input, scale, zero_point, quant_min, quant_max, dtype)
Value quantize(OpCall &call) {
  Tensor x = asFloats(call.tensor(0)), scale = placed(call, x, call.tensor(1), {}), zero = placed(call, x, call.tensor(2), {});
  std::optional<ElementType> type = call.dtype(5);
  Limits limits = flat(call, limitsAt(call, 3));
  Tensor value = steps(call, x, scale, zero, limits);
  return type && call.ok() ? call.result(fn::cast(value, *type)) : Value::poison();
}
/// (input, scale, zero_point, quant_min, quant_max, dtype, *, out_dtype)
Value dequantize(OpCall &call) {
  Tensor x = call.tensor(0), scale = placed(call, x, call.tensor(1), {}), zero = placed(call, x, call.tensor(2), {});
  ElementType type = call.dtype(6).value_or(ElementType::F32);
  return call.result(unsteps(call, x, scale, zero, type));
}

/// (input, scales, zero_points, axis, quant_min, quant_max, dtype)
Value quantizeChannels(OpCall &call) {
  Tensor x = asFloats(call.tensor(0));
  int64_t axis = call.axis(3, x ? x.rank() : 0);
  Tensor scale = placed(call, x, call.tensor(1), axis), zero = placed(call, x, call.tensor(2), axis);
  std::optional<ElementType> type = call.dtype(6);
  Tensor value = steps(call, x, scale, zero, limitsAt(call, 4));
  return type && call.ok() ? call.result(fn::cast(value, *type)) : Value::poison();
}
/// (input, scales, zero_points, axis, quant_min, quant_max, dtype, *, out_dtype)
Value dequantizeChannels(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis(3, x ? x.rank() : 0);
  Tensor scale = placed(call, x, call.tensor(1), axis), zero = placed(call, x, call.tensor(2), axis);
  ElementType type = call.dtype(7).value_or(ElementType::F32);
  return call.result(unsteps(call, x, scale, zero, type));
}

/// Scales [.., 1] for each row. (input, scales, zero_points, quant_min, quant_max, dtype)
Value quantizeTokens(OpCall &call) {
  Tensor x = asFloats(call.tensor(0)), scale = call.tensor(1), zero = call.tensor(2);
  std::optional<ElementType> type = call.dtype(5);
  Tensor value = steps(call, x, scale, zero, limitsAt(call, 3));
  return type && call.ok() ? call.result(fn::cast(value, *type)) : Value::poison();
}
/// (input, scales, zero_points, quant_min, quant_max, dtype, output_dtype)
Value dequantizeTokens(OpCall &call) {
  Tensor x = call.tensor(0), scale = call.tensor(1), zero = call.tensor(2);
  ElementType type = call.dtype(6).value_or(ElementType::F32);
  return call.result(unsteps(call, x, scale, zero, type));
}

/// Groups of `size` elements along the last axis of a matrix share a scale: [rows, groups].
Tensor spreadGroups(OpCall &call, const Tensor &x, const Tensor &scales, int64_t size) {
  if (!call.ok() || !scales)
    return scales;
  if (x.rank() != 2 || scales.rank() != 2 || size < 1) {
    call.invalid("groups of a tensor of rank " + std::to_string(x.rank()) + " with scales of rank " + std::to_string(scales.rank()));
    return scales;
  }
  Dims spread{scales.dim(0), scales.dim(1), Dim(size)};
  return fn::reshape(fn::broadcastTo(fn::unsqueeze(scales, {2}), spread), x.dims());
}
/// (input, scales, zero_points, quant_min, quant_max, dtype, group_size)
Value quantizeGroups(OpCall &call) {
  Tensor x = asFloats(call.tensor(0));
  int64_t size = call.integer(6);
  Tensor scale = spreadGroups(call, x, call.tensor(1), size), zero = spreadGroups(call, x, call.tensor(2), size);
  std::optional<ElementType> type = call.dtype(5);
  Tensor value = steps(call, x, scale, zero, limitsAt(call, 3));
  return type && call.ok() ? call.result(fn::cast(value, *type)) : Value::poison();
}
/// (input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype)
Value dequantizeGroups(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t size = call.integer(6);
  Tensor scale = spreadGroups(call, x, call.tensor(1), size), zero = spreadGroups(call, x, call.tensor(2), size);
  ElementType type = call.dtype(7).value_or(ElementType::F32);
  return call.result(unsteps(call, x, scale, zero, type));
}

/// Scale (f64) and zero point (i64) that cover the range of the input, and 0. (input, quant_min, quant_max, eps, dtype)
template <bool isSymmetric>
Value chooseParameters(OpCall &call) {
  Tensor x = asFloats(call.tensor(0));
  double low = call.number(1), high = call.number(2), epsilon = call.number(3);
  std::optional<ElementType> type = call.dtype(4);
  if (!type || !call.ok())
    return Value::poison();
  trace::Builder &builder = call.builder();
  Tensor zero = builder.scalar(ElementType::F32, 0);
  Tensor least = fn::minimum(fn::reduce(x, fn::Reduction::Min, {}, false), zero);
  Tensor most = fn::maximum(fn::reduce(x, fn::Reduction::Max, {}, false), zero);
  if (isSymmetric)
    most = fn::maximum(fn::neg(least), most);
  Tensor span = isSymmetric ? most : fn::sub(most, least);
  double width = isSymmetric ? (high - low) / 2 : high - low;
  Tensor scale = fn::maximum(fn::div(span, builder.scalar(ElementType::F32, width)), builder.scalar(ElementType::F32, epsilon));
  Tensor point = builder.scalarInt(ElementType::I64, isSymmetric && *type == ElementType::U8 ? 128 : 0);
  if (!isSymmetric) {
    Tensor below = fn::cast(fn::roundEven(fn::div(least, scale)), ElementType::I64);
    point = fn::sub(builder.scalarInt(ElementType::I64, static_cast<int64_t>(low)), below);
    point = fn::clip(point, low, high);
  }
  return Value::tuple({call.result(fn::reshape(fn::cast(scale, ElementType::F64), Dims{1})), call.result(fn::reshape(point, Dims{1}))});
}

/// Scales and zero points [.., 1] of each row, for i8. (input, dtype)
template <bool isSymmetric>
Value chooseForTokens(OpCall &call) {
  Tensor x = asFloats(call.tensor(0));
  if (!call.ok() || x.rank() < 1)
    return call.invalid("expected a tensor of rank 1 or more");
  trace::Builder &builder = call.builder();
  auto number = [&](double value) { return builder.scalar(ElementType::F32, value); };
  if (isSymmetric) {
    Tensor most = fn::reduce(fn::abs(x), fn::Reduction::Max, {-1}, true);
    Tensor scale = fn::div(fn::maximum(most, number(1e-5)), number(127));
    return Value::tuple({call.result(scale), call.result(fn::full(builder, ElementType::F32, scale.dims(), 0))});
  }
  Tensor least = fn::minimum(fn::reduce(x, fn::Reduction::Min, {-1}, true), number(0));
  Tensor most = fn::maximum(fn::reduce(x, fn::Reduction::Max, {-1}, true), number(0));
  Tensor scale = fn::maximum(fn::div(fn::sub(most, least), number(255)), number(1.1920928955078125e-07));
  Tensor down = fn::div(least, scale), up = fn::div(most, scale);
  Tensor downError = fn::add(number(-128), down), upError = fn::add(number(127), up);
  Tensor point = fn::where(fn::gt(fn::add(downError, upError), number(0)), fn::sub(number(-128), down), fn::sub(number(127), up));
  point = fn::roundEven(fn::clip(point, -128, 127));
  return Value::tuple({call.result(fn::cast(scale, ElementType::F64)), call.result(fn::cast(point, ElementType::I64))});
}

/// Quantised and back, and which elements were in range.
Value fakeResult(OpCall &call, const Tensor &x, const Tensor &scale, const Tensor &zero, const Limits &limits, bool withMask) {
  if (!call.ok())
    return Value::poison();
  Tensor inverse = fn::cast(fn::reciprocal(scale), ElementType::F32), point = fn::cast(zero, ElementType::F32);
  Tensor step = fn::add(fn::roundEven(fn::mul(asFloats(x), inverse)), point);
  Tensor value = fn::mul(fn::sub(fn::clip(step, limits.low, limits.high), point), fn::cast(scale, ElementType::F32));
  value = fn::cast(value, floatTypeOf(x.type()));
  if (!withMask)
    return call.result(value);
  Tensor mask = fn::logicalAnd(fn::ge(step, limits.low), fn::le(step, limits.high));
  return Value::tuple({call.result(value), call.result(mask)});
}
/// (self, scale, zero_point, quant_min, quant_max)
template <bool withMask>
Value fakeQuantize(OpCall &call) {
  Tensor x = call.tensor(0), scale = placed(call, x, call.tensor(1), {}), zero = placed(call, x, call.tensor(2), {});
  return fakeResult(call, x, scale, zero, limitsAt(call, 3), withMask);
}
/// (self, scale, zero_point, axis, quant_min, quant_max)
template <bool withMask>
Value fakeQuantizeChannels(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis(3, x ? x.rank() : 0);
  Tensor scale = placed(call, x, call.tensor(1), axis), zero = placed(call, x, call.tensor(2), axis);
  return fakeResult(call, x, scale, zero, limitsAt(call, 4), withMask);
}

Value integerProduct(OpCall &call) {
  Tensor a = fn::cast(call.tensor(0), ElementType::I32), b = fn::cast(call.tensor(1), ElementType::I32);
  return call.result(fn::matmul(a, b));
}

/// (self, mat2, scales): self @ mat2^T with i8 weights, scaled for each output.
Value packedProduct(OpCall &call) {
  Tensor x = call.tensor(0), weight = call.tensor(1), scales = call.tensor(2);
  if (!call.ok())
    return Value::poison();
  Tensor product = fn::linear(widened(x), fn::cast(weight, wideTypeOf(x.type())), {});
  return call.result(fn::cast(fn::mul(product, fn::cast(scales, product.type())), x.type()));
}

Value quantisedType(OpCall &call) {
  return call.unsupported("tensors of PyTorch's quantised types (quint8, qint8) are not supported; quantise with torch.export and "
                          "torchao (pt2e), or export the float model");
}

} // namespace

#define Q "quantized_decomposed::"
#define RANGE "int quant_min, int quant_max, ScalarType dtype"

std::span<const OpEntry> quantisedOps() {
  static constexpr OpEntry entries[] = {
      {Q "quantize_per_tensor(Tensor input, float scale, int zero_point, " RANGE ") -> Tensor", quantize},
      {Q "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " RANGE ") -> Tensor", quantize},
      {Q "quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype) "
         "-> Tensor",
       quantize},
      {Q "dequantize_per_tensor(Tensor input, float scale, int zero_point, " RANGE ", *, ScalarType? out_dtype=None) -> Tensor",
       dequantize},
      {Q "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " RANGE ", *, ScalarType? out_dtype=None) -> Tensor",
       dequantize},
      {Q "dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, "
         "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
       dequantize},
      {Q "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, " RANGE ") -> Tensor", quantizeChannels},
      {Q "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, " RANGE
         ", *, ScalarType? out_dtype=None) -> Tensor",
       dequantizeChannels},
      {Q "quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, " RANGE ") -> Tensor", quantizeTokens},
      {Q "dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, " RANGE ", ScalarType output_dtype) -> Tensor",
       dequantizeTokens},
      {Q "quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, " RANGE ", int group_size=128) -> Tensor",
       quantizeGroups},
      {Q "dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, " RANGE ", int group_size=128, "
         "ScalarType output_dtype=6) -> Tensor",
       dequantizeGroups},
      {Q "choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)",
       chooseParameters<false>},
      {Q "choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)",
       chooseParameters<true>},
      {Q "choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", chooseForTokens<true>},
      {Q "choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", chooseForTokens<false>},
      {"fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor",
       fakeQuantize<false>},
      {"fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> "
       "Tensor",
       fakeQuantize<false>},
      {"fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> "
       "(Tensor output, Tensor mask)",
       fakeQuantize<true>},
      {"fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> Tensor",
       fakeQuantizeChannels<false>},
      {"fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) "
       "-> "
       "(Tensor output, Tensor mask)",
       fakeQuantizeChannels<true>},
      {"_int_mm(Tensor self, Tensor mat2) -> Tensor", integerProduct},
      {"_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", packedProduct},
      {"quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor", quantisedType},
      {"quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> Tensor", quantisedType},
      {"quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType dtype) -> Tensor", quantisedType},
      {"quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor", quantisedType},
      {"dequantize.self(Tensor self) -> Tensor", quantisedType},
      {"int_repr(Tensor self) -> Tensor", quantisedType},
  };
  return entries;
}

} // namespace stator::torch
