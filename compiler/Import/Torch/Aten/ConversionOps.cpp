// Operators that change the element type. `to` gives the tensor itself when nothing changes, which later writes can tell.
#include "compiler/Import/Torch/Aten/Conversion.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Aten/Views.h"

namespace stator::torch {

namespace fn = trace::fn;
using trace::Tensor;

Tensor converted(const Tensor &x, ElementType type) {
  bool wraps = type == ElementType::I8 || type == ElementType::U8 || type == ElementType::I16;
  return fn::cast(wraps && x && isFloatType(x.type()) ? fn::cast(x, ElementType::I64) : x, type);
}

Value numberAt(OpCall &call, size_t index) {
  const Value &value = call.argument(index);
  return value.isTensor() ? call.context().item(call.context().read(value.asTensor())) : value;
}

Tensor scalarOf(OpCall &call, size_t index, ElementType type) { return fn::cast(call.context().scalarTensor(numberAt(call, index)), type); }

ElementType defaultTypeOf(const Value &scalar) {
  return scalar.isInt() ? ElementType::I64 : scalar.isBool() ? ElementType::I1 : ElementType::F32;
}

namespace {

Value convert(OpCall &call, std::optional<ElementType> wanted, bool isCopy, int64_t format) {
  TensorRef self = call.ref(0);
  Tensor value = call.tensor(0);
  if (!call.ok())
    return Value::poison();
  Context &context = call.context();
  ElementType type = wanted.value_or(self->type());
  bool keepsFormat = format == kPreserveFormat || hasFormat(context, self, format);
  if (type == self->type() && !isCopy && keepsFormat)
    return call.argument(0);
  return Value::tensor(context.make(converted(value, type), formatStrides(context, context.dims(self), format, self)));
}

int64_t formatOf(OpCall &call, size_t index) { return call.isNone(index) ? kPreserveFormat : call.integer(index); }

Value toDtype(OpCall &call) {
  std::optional<ElementType> type = call.dtype(1);
  return convert(call, type, call.flag(3), formatOf(call, 4));
}
Value toDevice(OpCall &call) {
  std::optional<ElementType> type = call.dtype(2);
  return convert(call, type, call.flag(4), formatOf(call, 5));
}
Value toOther(OpCall &call) {
  TensorRef other = call.ref(1);
  return convert(call, other->type(), call.flag(3), formatOf(call, 4));
}
/// (self, *, dtype, layout, device, pin_memory, non_blocking, copy, memory_format)
Value toLayout(OpCall &call) {
  std::optional<ElementType> type = call.dtype(1);
  return convert(call, type, call.flag(6), formatOf(call, 7));
}
Value toPrimDevice(OpCall &call) {
  std::optional<ElementType> type = call.dtype(2);
  return convert(call, type, call.flag(4), kPreserveFormat);
}
Value toPrimDtype(OpCall &call) {
  std::optional<ElementType> type = call.dtype(1);
  return convert(call, type, call.flag(3), kPreserveFormat);
}
Value toPrimOther(OpCall &call) { return convert(call, std::nullopt, call.flag(2), kPreserveFormat); }
/// (self, *, dtype, layout, device, pin_memory, non_blocking, memory_format)
Value toCopy(OpCall &call) {
  std::optional<ElementType> type = call.dtype(1);
  return convert(call, type, true, formatOf(call, 6));
}
Value typeAs(OpCall &call) {
  TensorRef other = call.ref(1);
  return convert(call, other->type(), false, kPreserveFormat);
}
template <ElementType type>
Value castTo(OpCall &call) {
  return convert(call, type, false, kPreserveFormat);
}

/// prims.convert_element_type.
Value convertElementType(OpCall &call) {
  std::optional<ElementType> type = call.dtype(1);
  return convert(call, type, true, kPreserveFormat);
}

/// prims.broadcast_in_dim: axis i of the tensor is axis broadcast_dimensions[i] of the result.
Value broadcastInDim(OpCall &call) {
  trace::Dims shape = call.dims(1), aligned(shape.size(), trace::Dim(1));
  trace::Ints axes = call.integers(2);
  Tensor x = call.tensor(0);
  if (!call.ok())
    return Value::poison();
  if (static_cast<int64_t>(axes.size()) != x.rank())
    return call.invalid(std::to_string(axes.size()) + " axes for a tensor of rank " + std::to_string(x.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(shape.size()) || (i > 0 && axes[i] <= axes[i - 1]))
      return call.invalid("axis " + std::to_string(axes[i]) + " is out of range or out of order");
    aligned[axes[i]] = x.dim(static_cast<int64_t>(i));
  }
  return call.result(fn::broadcastTo(fn::reshape(x, aligned), shape));
}

Value resultTypeOf(OpCall &call) {
  TensorRef operands[] = {call.ref(0), call.ref(1)};
  return call.ok() ? Value::integer(scalarTypeOf(resultType(operands))) : Value::poison();
}

Value promotedType(OpCall &call) {
  std::optional<ElementType> a = call.dtype(0), b = call.dtype(1);
  return a && b && call.ok() ? Value::integer(scalarTypeOf(promoteTypes(*a, *b))) : Value::poison();
}

/// Not from a float to an integer, nor from a number to a boolean.
Value canCast(OpCall &call) {
  std::optional<ElementType> from = call.dtype(0), to = call.dtype(1);
  if (!from || !to || !call.ok())
    return Value::poison();
  bool loses = (isFloatType(*from) && !isFloatType(*to)) || (*from != ElementType::I1 && *to == ElementType::I1);
  return Value::boolean(!loses);
}

} // namespace

std::span<const OpEntry> conversionOps() {
  static constexpr OpEntry entries[] = {
      {"to.device(Tensor self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None) -> Tensor",
       toDevice},
      {"to.dtype(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
       toDtype},
      {"to.other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
       toOther},
      {"to.dtype_layout(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
       "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor",
       toLayout},
      {"to.prim_Device(Tensor self, Device? device, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor", toPrimDevice},
      {"to.prim_dtype(Tensor self, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor", toPrimDtype},
      {"to.prim_other(Tensor self, bool non_blocking=False, bool copy=False) -> Tensor", toPrimOther},
      {"_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
       "bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
       toCopy},
      {"type_as(Tensor self, Tensor other) -> Tensor", typeAs},
      {"_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::F32>},
      {"_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::F64>},
      {"_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::F16>},
      {"_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::I64>},
      {"_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::I32>},
      {"_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::I16>},
      {"_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::I8>},
      {"_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", castTo<ElementType::U8>},
      {"float(Tensor self) -> Tensor", castTo<ElementType::F32>},
      {"double(Tensor self) -> Tensor", castTo<ElementType::F64>},
      {"half(Tensor self) -> Tensor", castTo<ElementType::F16>},
      {"bfloat16(Tensor self) -> Tensor", castTo<ElementType::BF16>},
      {"long(Tensor self) -> Tensor", castTo<ElementType::I64>},
      {"int(Tensor self) -> Tensor", castTo<ElementType::I32>},
      {"short(Tensor self) -> Tensor", castTo<ElementType::I16>},
      {"char(Tensor self) -> Tensor", castTo<ElementType::I8>},
      {"byte(Tensor self) -> Tensor", castTo<ElementType::U8>},
      {"bool(Tensor self) -> Tensor", castTo<ElementType::I1>},
      {"prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor", convertElementType},
      {"prims::broadcast_in_dim(Tensor a, int[] shape, int[] broadcast_dimensions) -> Tensor", broadcastInDim},
      {"result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType", resultTypeOf},
      {"result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType", resultTypeOf},
      {"result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType", resultTypeOf},
      {"result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType", resultTypeOf},
      {"promote_types(ScalarType type1, ScalarType type2) -> ScalarType", promotedType},
      {"can_cast(ScalarType from, ScalarType to) -> bool", canCast},
  };
  return entries;
}

} // namespace stator::torch
