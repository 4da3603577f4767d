// Tensors in NumPy's files: .npy (format versions 1 to 3, C and Fortran order, either byte order) and .npz (a zip of them, stored or
// deflated). NumPy has no bf16: such tensors are written as f32, and toBf16() narrows what was read. Files are hostile: every size is
// checked against the bytes that are there before memory is taken. What is written is little-endian, C order, format version 1.
#ifndef STATOR_SERIALIZATION_NUMPY_NPY_H
#define STATOR_SERIALIZATION_NUMPY_NPY_H

#include "stator/ElementType.h"
#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stator::serialization {

/// A tensor that owns its bytes: dense, row-major, little-endian; i1 is a byte of 0 or 1.
struct NpyArray {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

/// The same, of bytes that lie elsewhere.
struct NpyView {
  ElementType type = ElementType::F32;
  std::span<const int64_t> shape;
  std::span<const std::byte> data;

  NpyView(ElementType type, std::span<const int64_t> shape, std::span<const std::byte> data) : type(type), shape(shape), data(data) {}
  NpyView(const NpyArray &array) : type(array.type), shape(array.shape), data(array.data) {}
};

struct NamedNpyArray {
  std::string name;
  NpyArray array;
};

struct NamedNpyView {
  std::string name;
  NpyView view;
};

/// InvalidFile for damage, Unsupported for an element type without a counterpart, both named.
Result<NpyArray> parseNpy(std::span<const std::byte> bytes);
Result<NpyArray> readNpy(const std::string &path);
Status writeNpy(const std::string &path, const NpyView &array);

/// Arrays in the order of the file. ResourceExhausted when one takes more than `limitBytes` unpacked.
Result<std::vector<NamedNpyArray>> readNpz(const std::string &path, uint64_t limitBytes = uint64_t(4) << 30);
Status writeNpz(const std::string &path, std::span<const NamedNpyView> arrays, bool compressed = false);

/// Rounds f32 to bf16, to nearest even; other types stay.
NpyArray toBf16(NpyArray array);
/// Widens bf16 to f32, exactly; other types stay.
NpyArray fromBf16(const NpyView &array);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_NUMPY_NPY_H
