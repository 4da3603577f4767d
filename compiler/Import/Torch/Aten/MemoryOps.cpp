// Operators about a tensor's memory rather than its elements' values: copies, writes of whole tensors, memory formats, and the in-place
// forms that put other memory under a tensor.
#include "compiler/Import/Torch/Aten/Views.h"

namespace stator::torch {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Tensor;

namespace {

Value self(OpCall &call) { return call.argument(0); }

Value alias(OpCall &call) {
  TensorRef self = call.ref(0);
  return call.ok() ? Value::tensor(call.context().alias(self)) : Value::poison();
}

Value copy(OpCall &call) { return call.result(call.tensor(0)); }

/// In the memory format of argument 1; None keeps the order of the axes.
Value clone(OpCall &call) {
  TensorRef self = call.ref(0);
  int64_t format = call.isNone(1) ? kPreserveFormat : call.integer(1);
  Tensor value = call.tensor(0);
  if (!call.ok())
    return Value::poison();
  Context &context = call.context();
  return Value::tensor(context.make(value, formatStrides(context, context.dims(self), format, self)));
}

Value contiguous(OpCall &call) {
  TensorRef self = call.ref(0);
  int64_t format = call.isNone(1) ? kContiguousFormat : call.integer(1);
  if (!call.ok())
    return Value::poison();
  Context &context = call.context();
  if (format == kPreserveFormat || hasFormat(context, self, format))
    return call.argument(0);
  return Value::tensor(context.make(call.tensor(0), formatStrides(context, context.dims(self), format, {})));
}

Value copyInto(OpCall &call) {
  TensorRef self = call.ref(0), source = call.ref(1);
  Tensor value = call.tensor(1);
  if (call.ok() && source->rank() > self->rank())
    return call.invalid("a tensor of rank " + std::to_string(source->rank()) + " copied into one of rank " + std::to_string(self->rank()));
  if (call.ok())
    call.context().write(self, value);
  return call.argument(0);
}

/// The source's elements in the type and shape of self.
Value copied(OpCall &call) {
  TensorRef self = call.ref(0);
  Tensor value = call.tensor(1);
  return call.ok() ? call.result(fn::broadcastTo(fn::cast(value, self->type()), call.context().dims(self))) : Value::poison();
}

Value fillInto(OpCall &call) {
  TensorRef self = call.ref(0);
  Tensor value = call.tensor(1);
  if (call.ok() && value.rank() != 0)
    return call.invalid("the value has rank " + std::to_string(value.rank()) + ", expected one number");
  if (call.ok())
    call.context().write(self, value);
  return call.argument(0);
}

/// (self, fill_value, wrap): the main diagonal; in a tall matrix it begins again below the square when it wraps.
Value fillDiagonal(OpCall &call) {
  TensorRef self = call.ref(0);
  Tensor x = call.tensor(0), value = call.tensor(1);
  bool wraps = call.flag(2);
  if (!call.ok() || self->rank() < 2)
    return call.invalid("a tensor of rank " + std::to_string(self->rank()) + ", expected at least 2");
  Tensor row = positions(call.builder(), x.dim(0), 0, x.rank());
  if (wraps && x.rank() == 2)
    row = fn::modulo(row, call.builder().fromDim(x.dim(1) + Dim(1)));
  Tensor isOn;
  for (int64_t axis = 1; axis < x.rank(); ++axis) {
    Tensor same = fn::eq(row, positions(call.builder(), x.dim(axis), axis, x.rank()));
    isOn = isOn ? fn::logicalAnd(isOn, same) : same;
  }
  call.context().write(self, fn::where(isOn, fn::cast(value, x.type()), x));
  return call.argument(0);
}

Value zeroInto(OpCall &call) {
  call.context().write(call.ref(0), call.builder().scalarInt(ElementType::I64, 0));
  return call.argument(0);
}

Value zeroed(OpCall &call) {
  TensorRef self = call.ref(0);
  return call.result(fn::full(call.builder(), self->type(), call.context().dims(self), 0));
}

/// Memory is not made larger: only what fits into the memory that is there is seen anew.
Value resize(OpCall &call) {
  TensorRef self = call.ref(0);
  Dims dims = call.schema().name == "resize_as_" ? call.context().dims(call.ref(1)) : call.dims(1);
  Dim before(1), after(1);
  for (const Dim &dim : call.context().dims(self))
    before = before * dim;
  for (const Dim &dim : dims)
    after = after * dim;
  if (!call.ok())
    return Value::poison();
  bool isSmaller = before.isConstant() && after.isConstant() && after.constant() < before.constant();
  if (!call.context().isContiguous(self) || (before != after && !isSmaller))
    return call.unsupported("a tensor of " + before.str() + " elements resized to " + after.str() +
                            ", whose new elements are undefined; make a tensor of the size that is needed");
  MaybePlan plan = stridedPlan(call, self, dims, contiguousStrides(dims), std::nullopt);
  if (!plan || !call.ok())
    return Value::poison();
  return becomeResult(call, self, call.context().view(call.context().alias(self), plan->step, plan->strides, plan->offset));
}

Value set(OpCall &call) { return becomeResult(call, call.ref(0), call.ref(1)); }

Value imaginary(OpCall &call) { return call.unsupported("complex numbers are not supported"); }

} // namespace

std::span<const OpEntry> memoryOps() {
  static constexpr OpEntry entries[] = {
      {"clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", clone},
      {"contiguous(Tensor self, *, MemoryFormat? memory_format=0) -> Tensor", contiguous},
      {"detach(Tensor self) -> Tensor", alias},
      {"alias(Tensor self) -> Tensor", alias},
      {"data(Tensor self) -> Tensor", alias},
      {"lift(Tensor self) -> Tensor", self},
      {"lift_fresh(Tensor self) -> Tensor", self},
      {"lift_fresh_copy(Tensor self) -> Tensor", copy},
      {"alias_copy(Tensor self) -> Tensor", copy},
      {"detach_copy(Tensor self) -> Tensor", copy},
      {"detach_(Tensor self) -> Tensor", self},
      {"requires_grad_(Tensor self, bool requires_grad=True) -> Tensor", self},
      {"cpu(Tensor self) -> Tensor", self},
      {"cuda(Tensor self) -> Tensor", self},
      {"pin_memory(Tensor self, Device? device=None) -> Tensor", self},
      {"real(Tensor self) -> Tensor", self},
      {"conj(Tensor self) -> Tensor", self},
      {"conj_physical(Tensor self) -> Tensor", self},
      {"resolve_conj(Tensor self) -> Tensor", self},
      {"resolve_neg(Tensor self) -> Tensor", self},
      {"imag(Tensor self) -> Tensor", imaginary},
      {"view_as_complex(Tensor self) -> Tensor", imaginary},
      {"complex(Tensor real, Tensor imag) -> Tensor", imaginary},
      {"polar(Tensor abs, Tensor angle) -> Tensor", imaginary},
      {"copy_(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copyInto},
      {"copy_.Tensor(Tensor self, Tensor other) -> Tensor", copyInto},
      {"copy_.int(Tensor self, int other) -> Tensor", copyInto},
      {"copy_.float(Tensor self, float other) -> Tensor", copyInto},
      {"copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copied},
      {"fill_.Scalar(Tensor self, Scalar value) -> Tensor", fillInto},
      {"fill_.Tensor(Tensor self, Tensor value) -> Tensor", fillInto},
      {"fill.Scalar(Tensor self, Scalar value) -> Tensor", copied},
      {"fill.Tensor(Tensor self, Tensor value) -> Tensor", copied},
      {"fill_diagonal_(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor", fillDiagonal},
      {"zero_(Tensor self) -> Tensor", zeroInto},
      {"zero(Tensor self) -> Tensor", zeroed},
      {"resize_(Tensor self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor", resize},
      {"resize_as_(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor", resize},
      {"set_.source_Tensor(Tensor self, Tensor source) -> Tensor", set},
      {"set_data(Tensor self, Tensor new_data) -> Tensor", set},
  };
  return entries;
}

} // namespace stator::torch
