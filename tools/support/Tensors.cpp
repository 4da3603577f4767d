// Elements, values, printing. The grammar of --input is in TensorArguments.cpp.
#include "tools/support/Tensors.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace stator::tools {

std::string typeText(ElementType type, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + name(type);
}

Result<NpyArray> makeTensor(ElementType type, std::vector<int64_t> shape) {
  uint64_t bytes = byteSize(type);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) || bytes > uint64_t(1) << 40)
      return resourceExhausted("a tensor of " + typeText(type, shape) + " is too large");
  NpyArray array;
  array.type = type;
  array.shape = std::move(shape);
  array.data.resize(bytes);
  return array;
}

// splitmix64: small, and the same everywhere, which the distributions of <random> are not.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void fillRandom(NpyArray &array, uint64_t seed) {
  size_t count = array.data.size() / byteSize(array.type);
  uint64_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = nextRandom(state) >> 11;
    double unit = static_cast<double>(bits) * 0x1p-53;
    storeElement(array.type, array.data.data(), i, isFloat(array.type) ? 2 * unit - 1 : static_cast<double>(bits & 1));
  }
}

template <typename T>
static T loadAs(const void *data, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte *>(data) + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
static void storeAs(void *data, size_t index, T value) {
  std::memcpy(static_cast<std::byte *>(data) + index * sizeof(T), &value, sizeof(T));
}

static double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude = exponent == 31 ? (mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
                     : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                    : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t toHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  if (magnitude >= 65520) // Half way between the largest number and the next one.
    return sign | 0x7c00;
  if (magnitude == 0)
    return sign;
  int exponent;
  std::frexp(magnitude, &exponent);
  // Ten bits behind the leading one, fewer below the smallest normal number; nearbyint rounds to even.
  int scale = std::max(exponent - 11, -24);
  auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -scale)));
  return sign | static_cast<uint16_t>(scale == -24 ? units : units + (static_cast<uint32_t>(scale + 24) << 10));
}

static double fromBrain(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
static uint16_t toBrain(double value) {
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T>
static T toInteger(double value) {
  if (std::isnan(value))
    return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  // The largest int64 is no double; the next one above is.
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

double elementAt(ElementType type, const void *data, size_t index) {
  switch (type) {
  case ElementType::F32:
    return loadAs<float>(data, index);
  case ElementType::F64:
    return loadAs<double>(data, index);
  case ElementType::F16:
    return fromHalf(loadAs<uint16_t>(data, index));
  case ElementType::BF16:
    return fromBrain(loadAs<uint16_t>(data, index));
  case ElementType::I64:
    return static_cast<double>(loadAs<int64_t>(data, index));
  case ElementType::I32:
    return loadAs<int32_t>(data, index);
  case ElementType::I16:
    return loadAs<int16_t>(data, index);
  case ElementType::I8:
    return loadAs<int8_t>(data, index);
  case ElementType::U8:
  case ElementType::I1:
    return loadAs<uint8_t>(data, index);
  }
  return 0;
}

void storeElement(ElementType type, void *data, size_t index, double value) {
  switch (type) {
  case ElementType::F32:
    return storeAs(data, index, static_cast<float>(value));
  case ElementType::F64:
    return storeAs(data, index, value);
  case ElementType::F16:
    return storeAs(data, index, toHalf(value));
  case ElementType::BF16:
    return storeAs(data, index, toBrain(value));
  case ElementType::I64:
    return storeAs(data, index, toInteger<int64_t>(value));
  case ElementType::I32:
    return storeAs(data, index, toInteger<int32_t>(value));
  case ElementType::I16:
    return storeAs(data, index, toInteger<int16_t>(value));
  case ElementType::I8:
    return storeAs(data, index, toInteger<int8_t>(value));
  case ElementType::U8:
    return storeAs(data, index, toInteger<uint8_t>(value));
  case ElementType::I1:
    return storeAs<uint8_t>(data, index, value != 0);
  }
}

TensorView viewOf(const NpyArray &array) {
  return TensorView(array.type, array.shape.data(), array.shape.size(), const_cast<std::byte *>(array.data.data()), array.data.size());
}

static void appendElement(std::string &out, const NpyArray &array, size_t index) {
  char buffer[40];
  std::to_chars_result end{};
  double value = elementAt(array.type, array.data.data(), index);
  if (array.type == ElementType::I64)
    end = std::to_chars(buffer, buffer + sizeof(buffer), loadAs<int64_t>(array.data.data(), index));
  else if (array.type == ElementType::F64)
    end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  else if (isFloat(array.type)) // The shortest text that reads back as this number.
    end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value));
  else
    end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<int64_t>(value));
  out.append(buffer, end.ptr);
}

std::string formatTensor(const NpyArray &array, size_t limit) {
  size_t count = array.data.size() / byteSize(array.type);
  std::string out = typeText(array.type, array.shape) + "=";
  size_t rank = array.shape.size();
  if (rank == 0) {
    appendElement(out, array, 0);
    return out;
  }
  for (size_t i = 0; i < count && i < limit; ++i) {
    // A bracket opens for each inner axis that begins with this element, except the outermost one.
    size_t stride = 1, opened = 0, closed = 0;
    for (size_t axis = rank - 1; axis > 0 || rank == 1; --axis) {
      stride *= static_cast<size_t>(array.shape[axis]);
      opened += i % stride == 0;
      closed += (i + 1) % stride == 0;
      if (axis == 0)
        break;
    }
    if (!opened)
      out += ' ';
    out.append(opened, '[');
    appendElement(out, array, i);
    if (i + 1 == limit && count > limit)
      out += " ...";
    out.append(closed, ']');
  }
  if (count == 0)
    out += "[]";
  else if (limit < count)
    out += " (" + std::to_string(count - limit) + " more elements)";
  return out;
}

} // namespace stator::tools
