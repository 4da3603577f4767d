// Type promotion as PyTorch does it: c10/core/ScalarType.h (promoteTypes) and ATen/native/TypeProperties.cpp (result_type).
#include "compiler/Import/Torch/Aten/OpCall.h"

namespace stator::torch {

bool isFloatType(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::F16 || type == ElementType::BF16;
}
bool isIntegerType(ElementType type) { return type != ElementType::I1 && !isFloatType(type); }
ElementType floatTypeOf(ElementType type) { return isFloatType(type) ? type : ElementType::F32; }

ElementType promoteTypes(ElementType a, ElementType b) {
  if (a == b)
    return a;
  if (a == ElementType::I1 || b == ElementType::I1)
    return a == ElementType::I1 ? b : a;
  if (isFloatType(a) != isFloatType(b))
    return isFloatType(a) ? a : b;
  if (byteSize(a) != byteSize(b)) // The wider one holds the other: also u8 in i16.
    return byteSize(a) > byteSize(b) ? a : b;
  return isFloatType(a) ? ElementType::F32 : ElementType::I16; // f16 with bf16; u8 with i8.
}

ElementType resultType(std::span<const TensorRef> operands) {
  std::optional<ElementType> dimensioned, rank0, wrapped;
  auto meet = [](std::optional<ElementType> &type, ElementType other) { type = type ? promoteTypes(*type, other) : other; };
  for (const TensorRef &operand : operands) {
    if (!operand)
      continue;
    if (operand->isWrappedNumber())
      meet(wrapped, isFloatType(operand->type()) ? ElementType::F32 : operand->type());
    else
      meet(operand->rank() == 0 ? rank0 : dimensioned, operand->type());
  }
  auto combine = [&](std::optional<ElementType> higher, std::optional<ElementType> lower) {
    if (!higher || !lower)
      return higher ? higher : lower;
    if (isFloatType(*higher))
      return higher;
    if (*higher == ElementType::I1 || isFloatType(*lower))
      return std::optional<ElementType>(promoteTypes(*higher, *lower));
    return higher;
  };
  return combine(dimensioned, combine(rank0, wrapped)).value_or(ElementType::F32);
}

} // namespace stator::torch
