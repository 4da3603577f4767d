// The two numberings of element types that PyTorch's files use. Everything behind the readers speaks c10's, the one of TorchScript; the
// numbers of torch.export's JSON are converted where that is read.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_SCALARTYPES_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_SCALARTYPES_H

#include "stator/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stator::torch {

/// Nothing for a type that has no kernels (complex, float8, quantised, unknown numbers).
std::optional<ElementType> elementTypeOf(int64_t scalarType);
int64_t scalarTypeOf(ElementType type);
/// c10's number of a number in a .pt2 file; nothing when unknown.
std::optional<int64_t> scalarTypeOfExport(int64_t number);
/// The same of an enum member's name ("FLOAT"), which files before the numbers hold.
std::optional<int64_t> scalarTypeOfExport(std::string_view name);
/// "torch.float32"; "element type number 99" when unknown.
std::string scalarTypeName(int64_t scalarType);
/// c10's number of "float32" or "torch.float32".
std::optional<int64_t> scalarTypeNamed(std::string_view name);
/// Bytes per element of c10's number, 0 when unknown.
int64_t scalarTypeBytes(int64_t scalarType);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_SCALARTYPES_H
