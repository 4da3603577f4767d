// The element types of tensors, with the numbers that stand for them in files. The numbers are part of the format: they are never
// reused. This header is installed and compiles as C++17.
#ifndef STATOR_ELEMENT_TYPE_H
#define STATOR_ELEMENT_TYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace stator {

enum class ElementType : uint8_t { F32 = 1, F64 = 2, F16 = 3, BF16 = 4, I64 = 5, I32 = 6, I16 = 7, I8 = 8, U8 = 9, I1 = 10 };

constexpr ElementType kAllElementTypes[] = {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::I64,
                                            ElementType::I32, ElementType::I16, ElementType::I8,  ElementType::U8,   ElementType::I1};

constexpr bool isElementType(uint64_t number) { return number >= 1 && number <= 10; }

/// Bytes of one element in memory and in files. I1 takes a whole byte, 0 or 1.
constexpr unsigned byteSize(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
    return 2;
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::I1:
    return 1;
  }
  return 0;
}

constexpr bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::F16 || type == ElementType::BF16;
}

/// As in MLIR: "f32", "bf16", "i64", "ui8", "i1".
constexpr const char *name(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::I64:
    return "i64";
  case ElementType::I32:
    return "i32";
  case ElementType::I16:
    return "i16";
  case ElementType::I8:
    return "i8";
  case ElementType::U8:
    return "ui8";
  case ElementType::I1:
    return "i1";
  }
  return "unknown";
}

/// The inverse of name(); "u8" and "bool" are understood too.
inline std::optional<ElementType> parseElementType(std::string_view text) {
  for (ElementType type : kAllElementTypes)
    if (text == name(type))
      return type;
  if (text == "u8")
    return ElementType::U8;
  if (text == "bool")
    return ElementType::I1;
  return std::nullopt;
}

} // namespace stator

#endif // STATOR_ELEMENT_TYPE_H
