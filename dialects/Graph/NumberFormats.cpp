// See NumberFormats.h.
#include "dialects/Graph/NumberFormats.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace stator::graph {

/// A 16-bit float with `exponentBits` and `mantissaBits`. The value is scaled so that its last mantissa bit is worth 1, where rounding
/// to an integer is rounding to the format; subnormals differ only in how far that goes. Adding the exponent to the rounded mantissa,
/// whose leading bit counts as one exponent step, carries into the exponent by itself.
static uint16_t encodeFloat(double value, int exponentBits, int mantissaBits) {
  const int bias = (1 << (exponentBits - 1)) - 1, minimum = 1 - bias;
  const uint32_t infinity = ((1u << exponentBits) - 1) << mantissaBits;
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return uint16_t(sign | infinity | (1u << (mantissaBits - 1)));
  if (std::isinf(value))
    return uint16_t(sign | infinity);
  if (value == 0)
    return uint16_t(sign);
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, minimum);
  if (exponent > bias)
    return uint16_t(sign | infinity);
  auto mantissa = uint32_t(std::nearbyint(std::ldexp(std::fabs(value), mantissaBits - exponent)));
  uint32_t bits = (uint32_t(exponent - minimum) << mantissaBits) + mantissa;
  return uint16_t(sign | std::min(bits, infinity));
}

static double decodeFloat(uint16_t bits, int exponentBits, int mantissaBits) {
  const int bias = (1 << (exponentBits - 1)) - 1, ones = (1 << exponentBits) - 1;
  int exponent = (bits >> mantissaBits) & ones;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  double value;
  if (exponent == ones)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - mantissaBits);
  else
    value = std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
  return bits & 0x8000 ? -value : value;
}

uint16_t encodeF16(double value) { return encodeFloat(value, 5, 10); }
uint16_t encodeBF16(double value) { return encodeFloat(value, 8, 7); }
double decodeF16(uint16_t bits) { return decodeFloat(bits, 5, 10); }
double decodeBF16(uint16_t bits) { return decodeFloat(bits, 8, 7); }

template <typename T>
static T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T>
static void store(void *element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

int64_t loadInteger(ElementType type, const void *element) {
  switch (type) {
  case ElementType::I64:
    return load<int64_t>(element);
  case ElementType::I32:
    return load<int32_t>(element);
  case ElementType::I16:
    return load<int16_t>(element);
  case ElementType::I8:
    return load<int8_t>(element);
  case ElementType::U8:
    return load<uint8_t>(element);
  case ElementType::I1:
    return load<uint8_t>(element) != 0;
  default:
    return int64_t(loadDouble(type, element));
  }
}

double loadDouble(ElementType type, const void *element) {
  switch (type) {
  case ElementType::F64:
    return load<double>(element);
  case ElementType::F32:
    return load<float>(element);
  case ElementType::F16:
    return decodeF16(load<uint16_t>(element));
  case ElementType::BF16:
    return decodeBF16(load<uint16_t>(element));
  default:
    return double(loadInteger(type, element));
  }
}

template <typename T>
static void storeSaturated(void *element, double value) {
  // The bounds as doubles: the upper one is a power of two, exact for every width, and itself out of range.
  constexpr double low = double(std::numeric_limits<T>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (std::isnan(value))
    store<T>(element, 0);
  else if (value >= high)
    store<T>(element, std::numeric_limits<T>::max());
  else if (value <= low)
    store<T>(element, std::numeric_limits<T>::min());
  else
    store<T>(element, T(value));
}

void storeDouble(ElementType type, void *element, double value) {
  switch (type) {
  case ElementType::F64:
    return store<double>(element, value);
  case ElementType::F32:
    return store<float>(element, float(value));
  case ElementType::F16:
    return store<uint16_t>(element, encodeF16(value));
  case ElementType::BF16:
    return store<uint16_t>(element, encodeBF16(value));
  case ElementType::I64:
    return storeSaturated<int64_t>(element, value);
  case ElementType::I32:
    return storeSaturated<int32_t>(element, value);
  case ElementType::I16:
    return storeSaturated<int16_t>(element, value);
  case ElementType::I8:
    return storeSaturated<int8_t>(element, value);
  case ElementType::U8:
    return storeSaturated<uint8_t>(element, value);
  case ElementType::I1:
    return store<uint8_t>(element, value != 0 ? 1 : 0);
  }
}

void storeInteger(ElementType type, void *element, int64_t value) {
  switch (type) {
  case ElementType::F64:
    return store<double>(element, double(value));
  case ElementType::F32:
    return store<float>(element, float(value));
  case ElementType::F16:
  case ElementType::BF16: {
    // Through a double, which must not round to a tie: low bits that it cannot hold are kept as one that says "there was more".
    bool large = value > (int64_t(1) << 52) || value < -(int64_t(1) << 52);
    double exact = large ? std::ldexp(double((value >> 11) | ((value & 2047) != 0)), 11) : double(value);
    return storeDouble(type, element, exact);
  }
  case ElementType::I64:
    return store<int64_t>(element, value);
  case ElementType::I32:
    return store<uint32_t>(element, uint32_t(uint64_t(value)));
  case ElementType::I16:
    return store<uint16_t>(element, uint16_t(uint64_t(value)));
  case ElementType::I8:
  case ElementType::U8:
    return store<uint8_t>(element, uint8_t(uint64_t(value)));
  case ElementType::I1:
    return store<uint8_t>(element, value != 0);
  }
}

void convertElement(ElementType from, const void *source, ElementType to, void *target) {
  if (isFloat(from))
    storeDouble(to, target, loadDouble(from, source));
  else
    storeInteger(to, target, loadInteger(from, source));
}

} // namespace stator::graph
