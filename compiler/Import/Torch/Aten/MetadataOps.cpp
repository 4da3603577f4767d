// Questions about tensors whose answers are Python values: sizes, strides, types, and the elements of tensors that stand for numbers.
#include "compiler/Import/Torch/Aten/Conversion.h"
#include "compiler/Import/Torch/Aten/Views.h"

namespace stator::torch {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Tensor;

namespace {

Value listOf(const Dims &dims) {
  Values items;
  for (const Dim &dim : dims)
    items.push_back(Value::integer(dim));
  return Value::list(std::move(items));
}

Value sizes(OpCall &call) { return listOf(call.context().dims(call.ref(0))); }
Value strides(OpCall &call) { return listOf(call.context().strides(call.ref(0))); }

Value at(OpCall &call, const Dims &dims) {
  if (dims.empty())
    return call.invalid("a tensor of rank 0 has no axes");
  int64_t axis = call.axis(1, static_cast<int64_t>(dims.size()));
  return call.ok() ? Value::integer(dims[axis]) : Value::poison();
}
Value sizeAt(OpCall &call) { return at(call, call.context().dims(call.ref(0))); }
Value strideAt(OpCall &call) { return at(call, call.context().strides(call.ref(0))); }
Value rank(OpCall &call) { return Value::integer(call.ref(0)->rank()); }
Value length(OpCall &call) {
  TensorRef self = call.ref(0);
  return self->rank() == 0 ? call.invalid("a tensor of rank 0 has no length") : Value::integer(call.context().dims(self)[0]);
}

Value elements(OpCall &call) {
  Dim count(1);
  for (const Dim &dim : call.context().dims(call.ref(0)))
    count = count * dim;
  return Value::integer(count);
}

Value offset(OpCall &call) { return Value::integer(call.context().simplify({call.ref(0)->offset()})[0]); }
Value elementSize(OpCall &call) { return Value::integer(static_cast<int64_t>(byteSize(call.ref(0)->type()))); }

Value isContiguousIn(OpCall &call) {
  int64_t format = call.schema().parameters.size() > 1 && !call.isNone(1) ? call.integer(1) : kContiguousFormat;
  return Value::boolean(hasFormat(call.context(), call.ref(0), format));
}
Value isFloating(OpCall &call) { return Value::boolean(isFloatType(call.ref(0)->type())); }
Value isSigned(OpCall &call) {
  ElementType type = call.ref(0)->type();
  return Value::boolean(type != ElementType::I1 && type != ElementType::U8);
}
Value no(OpCall &) { return Value::boolean(false); }
Value isSameSize(OpCall &call) { return Value::boolean(call.context().dims(call.ref(0)) == call.context().dims(call.ref(1))); }
Value device(OpCall &) { return Value::integer(int64_t{-1}); }

Value item(OpCall &call) { return call.context().item(call.tensor(0)); }
/// The only element, brought to the type of a Python number first.
template <ElementType type>
Value itemAs(OpCall &call) {
  Tensor x = call.tensor(0);
  return call.ok() ? call.context().item(fn::cast(x, type)) : Value::poison();
}

Value numToTensor(OpCall &call) { return call.result(call.context().scalarTensor(call.argument(0))); }

} // namespace

std::span<const OpEntry> metadataOps() {
  static constexpr OpEntry entries[] = {
      {"size(Tensor self) -> int[]", sizes},
      {"size.int(Tensor self, int dim) -> int", sizeAt},
      {"sym_size(Tensor self) -> int[]", sizes},
      {"sym_size.int(Tensor self, int dim) -> int", sizeAt},
      {"stride(Tensor self) -> int[]", strides},
      {"stride.int(Tensor self, int dim) -> int", strideAt},
      {"sym_stride(Tensor self) -> int[]", strides},
      {"sym_stride.int(Tensor self, int dim) -> int", strideAt},
      {"dim(Tensor self) -> int", rank},
      {"ndimension(Tensor self) -> int", rank},
      {"len.Tensor(Tensor t) -> int", length},
      {"numel(Tensor self) -> int", elements},
      {"nelement(Tensor self) -> int", elements},
      {"sym_numel(Tensor self) -> int", elements},
      {"storage_offset(Tensor self) -> int", offset},
      {"sym_storage_offset(Tensor self) -> int", offset},
      {"element_size(Tensor self) -> int", elementSize},
      {"get_device(Tensor self) -> int", device},
      {"is_contiguous(Tensor self) -> bool", isContiguousIn},
      {"is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool", isContiguousIn},
      {"is_floating_point(Tensor self) -> bool", isFloating},
      {"is_signed(Tensor self) -> bool", isSigned},
      {"is_complex(Tensor self) -> bool", no},
      {"is_conj(Tensor self) -> bool", no},
      {"is_neg(Tensor self) -> bool", no},
      {"is_inference(Tensor self) -> bool", no},
      {"is_same_size(Tensor self, Tensor other) -> bool", isSameSize},
      {"is_nonzero(Tensor self) -> bool", itemAs<ElementType::I1>},
      {"item(Tensor self) -> Scalar", item},
      {"_local_scalar_dense(Tensor self) -> Scalar", item},
      {"ScalarImplicit(Tensor a) -> Scalar", item},
      {"Int.Tensor(Tensor a) -> int", itemAs<ElementType::I64>},
      {"IntImplicit(Tensor a) -> int", itemAs<ElementType::I64>},
      {"Float.Tensor(Tensor a) -> float", itemAs<ElementType::F64>},
      {"FloatImplicit(Tensor a) -> float", itemAs<ElementType::F64>},
      {"Bool.Tensor(Tensor a) -> bool", itemAs<ElementType::I1>},
      {"prim::NumToTensor.Scalar(Scalar a) -> Tensor", numToTensor},
      {"prim::NumToTensor.bool(bool a) -> Tensor", numToTensor},
  };
  return entries;
}

} // namespace stator::torch
