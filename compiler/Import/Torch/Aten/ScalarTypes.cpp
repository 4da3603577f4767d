// One row per element type: c10's number is its position, then the number in torch.export's files.
#include "compiler/Import/Torch/Aten/ScalarTypes.h"

#include <iterator>

namespace stator::torch {

namespace {

struct Row {
  std::string_view name;
  std::string_view exportName;
  int64_t exportNumber; // 0: never there
  int64_t bytes;
  std::optional<ElementType> type;
};

// c10/core/ScalarType.h and torch/_export/serde/schema.py.
const Row rows[] = {
    {"uint8", "BYTE", 1, 1, ElementType::U8},
    {"int8", "CHAR", 2, 1, ElementType::I8},
    {"int16", "SHORT", 3, 2, ElementType::I16},
    {"int32", "INT", 4, 4, ElementType::I32},
    {"int64", "LONG", 5, 8, ElementType::I64},
    {"float16", "HALF", 6, 2, ElementType::F16},
    {"float32", "FLOAT", 7, 4, ElementType::F32},
    {"float64", "DOUBLE", 8, 8, ElementType::F64},
    {"complex32", "COMPLEXHALF", 9, 4, std::nullopt},
    {"complex64", "COMPLEXFLOAT", 10, 8, std::nullopt},
    {"complex128", "COMPLEXDOUBLE", 11, 16, std::nullopt},
    {"bool", "BOOL", 12, 1, ElementType::I1},
    {"qint8", "", 0, 1, std::nullopt},
    {"quint8", "", 0, 1, std::nullopt},
    {"qint32", "", 0, 4, std::nullopt},
    {"bfloat16", "BFLOAT16", 13, 2, ElementType::BF16},
    {"quint4x2", "", 0, 1, std::nullopt},
    {"quint2x4", "", 0, 1, std::nullopt},
    {"bits1x8", "", 0, 1, std::nullopt},
    {"bits2x4", "", 0, 1, std::nullopt},
    {"bits4x2", "", 0, 1, std::nullopt},
    {"bits8", "", 0, 1, std::nullopt},
    {"bits16", "", 0, 2, std::nullopt},
    {"float8_e5m2", "FLOAT8E5M2", 30, 1, std::nullopt},
    {"float8_e4m3fn", "FLOAT8E4M3FN", 29, 1, std::nullopt},
    {"float8_e5m2fnuz", "FLOAT8E5M2FNUZ", 32, 1, std::nullopt},
    {"float8_e4m3fnuz", "FLOAT8E4M3FNUZ", 31, 1, std::nullopt},
    {"uint16", "UINT16", 28, 2, std::nullopt},
};

const Row *rowOf(int64_t scalarType) {
  return scalarType >= 0 && scalarType < static_cast<int64_t>(std::size(rows)) ? &rows[scalarType] : nullptr;
}

template <typename Test> std::optional<int64_t> find(Test test) {
  for (const Row &row : rows)
    if (test(row))
      return &row - rows;
  return std::nullopt;
}

} // namespace

std::optional<ElementType> elementTypeOf(int64_t scalarType) {
  const Row *row = rowOf(scalarType);
  return row ? row->type : std::nullopt;
}

int64_t scalarTypeOf(ElementType type) {
  return *find([&](const Row &row) { return row.type == type; });
}

std::optional<int64_t> scalarTypeOfExport(int64_t number) {
  return find([&](const Row &row) { return number > 0 && row.exportNumber == number; });
}

std::optional<int64_t> scalarTypeOfExport(std::string_view name) {
  return find([&](const Row &row) { return !name.empty() && row.exportName == name; });
}

std::string scalarTypeName(int64_t scalarType) {
  const Row *row = rowOf(scalarType);
  return row ? "torch." + std::string(row->name) : "element type number " + std::to_string(scalarType);
}

std::optional<int64_t> scalarTypeNamed(std::string_view name) {
  if (name.starts_with("torch."))
    name.remove_prefix(6);
  return find([&](const Row &row) { return row.name == name; });
}

int64_t scalarTypeBytes(int64_t scalarType) {
  const Row *row = rowOf(scalarType);
  return row ? row->bytes : 0;
}

} // namespace stator::torch
