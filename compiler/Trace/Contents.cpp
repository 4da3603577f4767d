// Conversions of known elements: between types, and from and to the bytes of a constant.
#include "compiler/Trace/Contents.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace stator::trace {

namespace {

/// The exact integer value of a float, if it has one.
std::optional<int64_t> integral(double value) {
  if (!(std::fabs(value) < 9007199254740992.0) || value != std::floor(value))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

struct IntegerRange {
  int64_t lo, hi;
};

IntegerRange rangeOf(ElementType type) {
  switch (type) {
  case ElementType::I32:
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  case ElementType::I16:
    return {-32768, 32767};
  case ElementType::I8:
    return {-128, 127};
  case ElementType::U8:
    return {0, 255};
  case ElementType::I1:
    return {0, 1};
  default:
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

const llvm::fltSemantics &semantics16(ElementType type) {
  return type == ElementType::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

template <typename T>
T load(const char *bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(std::vector<char> &bytes, T value) {
  const char *raw = reinterpret_cast<const char *>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

/// Wraps as a conversion between integer types does.
int64_t wrap(ElementType type, int64_t value) {
  switch (type) {
  case ElementType::I32:
    return static_cast<int32_t>(value);
  case ElementType::I16:
    return static_cast<int16_t>(value);
  case ElementType::I8:
    return static_cast<int8_t>(value);
  case ElementType::U8:
    return static_cast<uint8_t>(value);
  case ElementType::I1:
    return value != 0;
  default:
    return value;
  }
}

int64_t saturate(ElementType type, double value) {
  if (std::isnan(value))
    return 0;
  IntegerRange range = rangeOf(type);
  if (value <= static_cast<double>(range.lo))
    return range.lo;
  if (value >= static_cast<double>(range.hi))
    return range.hi;
  return static_cast<int64_t>(value);
}

} // namespace

std::optional<int64_t> Element::integer() const {
  if (isNumber_)
    return integral(number_);
  std::optional<int64_t> value = expr_.constant();
  if (!value || divisor_ == 1)
    return value;
  return *value % divisor_ == 0 ? std::optional<int64_t>(*value / divisor_) : std::nullopt;
}

std::optional<double> Element::constant() const {
  if (isNumber_)
    return number_;
  if (std::optional<int64_t> value = expr_.constant())
    return static_cast<double>(*value) / static_cast<double>(divisor_);
  return std::nullopt;
}

std::optional<Element> Element::asFraction() const {
  if (!isNumber_)
    return *this;
  constexpr int64_t kDenominator = int64_t(1) << 20;
  if (std::optional<int64_t> value = integral(number_))
    return Element(DimExpr(*value));
  std::optional<int64_t> scaled = integral(number_ * static_cast<double>(kDenominator));
  if (!scaled || *scaled == 0)
    return std::nullopt;
  int64_t divisor = kDenominator;
  while (*scaled % 2 == 0 && divisor > 1) {
    *scaled /= 2;
    divisor /= 2;
  }
  return Element(DimExpr(*scaled), divisor);
}

bool fits(ElementType type, int64_t value) {
  IntegerRange range = rangeOf(type);
  return value >= range.lo && value <= range.hi;
}

double roundTo(ElementType type, double value) {
  if (type == ElementType::F32)
    return static_cast<float>(value);
  if (type == ElementType::F16 || type == ElementType::BF16) {
    llvm::APFloat rounded(value);
    bool losesInfo = false;
    rounded.convert(semantics16(type), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    rounded.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return rounded.convertToDouble();
  }
  return value;
}

Element elementOf(ElementType type, double value) {
  if (isFloat(type))
    return Element::number(roundTo(type, value));
  if (type == ElementType::I1)
    return Element(DimExpr(value != 0));
  return Element(DimExpr(saturate(type, value)));
}

std::optional<Element> convertElement(const Element &element, ElementType from, ElementType to,
                                      llvm::function_ref<bool(const DimExpr &)> isNonNegative) {
  if (from == to)
    return element;
  if (std::optional<double> value = element.constant(); value && (isFloat(from) || isFloat(to))) {
    // Integers beyond 2^53 do not pass through a double unharmed.
    if (!isFloat(from) && std::fabs(*value) >= 9007199254740992.0)
      return std::nullopt;
    return elementOf(to, *value);
  }
  if (std::optional<int64_t> value = element.integer(); value && !isFloat(from))
    return Element(DimExpr(wrap(to, *value)));
  // What follows is symbolic; narrow types are not tracked, sizes are taken to fit i32.
  if (isFloat(to))
    return to == ElementType::F32 || to == ElementType::F64 ? std::optional<Element>(element) : std::nullopt;
  if (to != ElementType::I64 && to != ElementType::I32)
    return std::nullopt;
  if (element.divisor() == 1)
    return element;
  // Truncation is floor for what is not negative.
  if (!isNonNegative(element.numerator()))
    return std::nullopt;
  return Element(element.numerator().floorDiv(DimExpr(element.divisor())));
}

Contents readContents(ElementType type, const char *bytes, int64_t count) {
  Contents contents;
  contents.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    switch (type) {
    case ElementType::F32:
      contents.push_back(Element::number(load<float>(bytes, i)));
      break;
    case ElementType::F64:
      contents.push_back(Element::number(load<double>(bytes, i)));
      break;
    case ElementType::F16:
    case ElementType::BF16: {
      llvm::APFloat value(semantics16(type), llvm::APInt(16, load<uint16_t>(bytes, i)));
      bool losesInfo = false;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      contents.push_back(Element::number(value.convertToDouble()));
      break;
    }
    case ElementType::I64:
      contents.emplace_back(DimExpr(load<int64_t>(bytes, i)));
      break;
    case ElementType::I32:
      contents.emplace_back(DimExpr(load<int32_t>(bytes, i)));
      break;
    case ElementType::I16:
      contents.emplace_back(DimExpr(load<int16_t>(bytes, i)));
      break;
    case ElementType::I8:
      contents.emplace_back(DimExpr(load<int8_t>(bytes, i)));
      break;
    case ElementType::U8:
      contents.emplace_back(DimExpr(load<uint8_t>(bytes, i)));
      break;
    case ElementType::I1:
      contents.emplace_back(DimExpr(load<uint8_t>(bytes, i) != 0));
      break;
    }
  }
  return contents;
}

bool writeContents(ElementType type, const Contents &contents, std::vector<char> &bytes) {
  for (const Element &element : contents) {
    if (isFloat(type)) {
      std::optional<double> value = element.constant();
      if (!value)
        return false;
      if (type == ElementType::F32) {
        store(bytes, static_cast<float>(*value));
      } else if (type == ElementType::F64) {
        store(bytes, *value);
      } else {
        llvm::APFloat rounded(*value);
        bool losesInfo = false;
        rounded.convert(semantics16(type), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
        store(bytes, static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue()));
      }
      continue;
    }
    std::optional<int64_t> value = element.integer();
    if (!value)
      return false;
    switch (byteSize(type)) {
    case 8:
      store(bytes, *value);
      break;
    case 4:
      store(bytes, static_cast<int32_t>(*value));
      break;
    case 2:
      store(bytes, static_cast<int16_t>(*value));
      break;
    default:
      store(bytes, static_cast<int8_t>(*value));
    }
  }
  return true;
}

} // namespace stator::trace
