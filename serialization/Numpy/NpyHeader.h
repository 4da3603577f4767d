// The text header of a .npy file: a Python dictionary of element type, order and shape.
#ifndef STATOR_SERIALIZATION_NUMPY_NPYHEADER_H
#define STATOR_SERIALIZATION_NUMPY_NPYHEADER_H

#include "stator/ElementType.h"
#include "stator/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator::serialization {

struct NpyHeader {
  ElementType type = ElementType::F32;
  bool isBigEndian = false;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;
};

/// `text` is the dictionary without the magic and the length.
Result<NpyHeader> parseNpyHeader(std::string_view text);
/// Magic, version 1.0, length and dictionary, padded to a multiple of 64 bytes as NumPy does. bf16 has no name there.
std::string formatNpyHeader(ElementType type, std::span<const int64_t> shape);
/// The bytes of such a tensor; InvalidFile on a negative extent or overflow.
Result<uint64_t> npyByteSize(ElementType type, std::span<const int64_t> shape);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_NUMPY_NPYHEADER_H
