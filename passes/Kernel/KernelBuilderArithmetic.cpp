//===- KernelBuilderArithmetic.cpp - constants and index arithmetic --------===//
//
// Index arithmetic folds constants as it is written: kernels with static sizes
// come out with plain numbers, without a clean-up pass over the loops.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelBuilder.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace stator::kernel {

Value KernelBuilder::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    InPrologue guard(*this);
    known = arith::ConstantOp::create(*this, value);
  }
  return known;
}

Value KernelBuilder::i64(int64_t value) { return constant(getI64IntegerAttr(value)); }

Value KernelBuilder::number(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attribute =
      isa<FloatType>(element) ? TypedAttr(getFloatAttr(element, value)) : TypedAttr(getIntegerAttr(element, static_cast<int64_t>(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return constant(attribute);
}

Value KernelBuilder::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return number(type, static_cast<double>(value));
  // Truncated to the width: -1 is all ones in every type.
  auto width = element.getIntOrFloatBitWidth();
  TypedAttr attribute = getIntegerAttr(element, APInt(64, value, /*isSigned=*/true).trunc(width));
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return constant(attribute);
}

Value KernelBuilder::step(unsigned lanes) {
  if (lanes == 1)
    return i64(0);
  SmallVector<int64_t> values;
  for (unsigned i = 0; i != lanes; ++i)
    values.push_back(i);
  return constant(DenseElementsAttr::get(VectorType::get(lanes, getI64Type()), ArrayRef<int64_t>(values)));
}

/// The number, if `value` is a constant that the builder made.
static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (value && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

Value KernelBuilder::add(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(*ca + *cb);
  if (ca == 0)
    return b;
  if (cb == 0)
    return a;
  return arith::AddIOp::create(*this, a, b);
}

Value KernelBuilder::sub(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(*ca - *cb);
  if (cb == 0)
    return a;
  return arith::SubIOp::create(*this, a, b);
}

Value KernelBuilder::mul(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(*ca * *cb);
  if (ca == 1 || cb == 0)
    return b;
  if (cb == 1 || ca == 0)
    return a;
  return arith::MulIOp::create(*this, a, b);
}

Value KernelBuilder::div(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(*ca / *cb);
  return cb == 1 ? a : arith::DivUIOp::create(*this, a, b).getResult();
}

Value KernelBuilder::rem(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(*ca % *cb);
  return cb == 1 ? zero(a.getType()) : arith::RemUIOp::create(*this, a, b).getResult();
}

Value KernelBuilder::ceilDiv(Value a, Value b) {
  auto cb = constantOf(b);
  return cb == 1 ? a : div(add(a, sub(b, integer(b.getType(), 1))), b);
}

Value KernelBuilder::min(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(std::min(*ca, *cb));
  return a == b ? a : arith::MinSIOp::create(*this, a, b).getResult();
}

Value KernelBuilder::max(Value a, Value b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (ca && cb && a.getType().isInteger(64))
    return i64(std::max(*ca, *cb));
  return a == b ? a : arith::MaxSIOp::create(*this, a, b).getResult();
}

Value KernelBuilder::product(ArrayRef<Value> values) {
  Value result = i64(1);
  for (Value value : values)
    result = mul(result, value);
  return result;
}

Value KernelBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) { return arith::CmpIOp::create(*this, predicate, a, b); }

Value KernelBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return onTrue == onFalse ? onTrue : arith::SelectOp::create(*this, condition, onTrue, onFalse).getResult();
}

Value KernelBuilder::linearise(ArrayRef<Value> indices, ArrayRef<Value> strides) {
  Value result = i64(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    result = add(result, mul(index, stride));
  return result;
}

} // namespace stator::kernel
