//===- Pitch.cpp - strides of pitched tensors ------------------------------===//

#include "dialects/Graph/Pitch.h"

using namespace mlir;

namespace stator::graph {

std::optional<Pitch> pitchOfBuffer(func::FuncOp kernel, unsigned buffer) {
  auto attr = kernel->getAttrOfType<DenseI64ArrayAttr>(kPitchesAttrName);
  if (!attr)
    return std::nullopt;
  ArrayRef<int64_t> numbers = attr.asArrayRef();
  for (size_t i = 0; i + 2 < numbers.size(); i += 3)
    if (numbers[i] == static_cast<int64_t>(buffer))
      return Pitch{numbers[i + 1], numbers[i + 2]};
  return std::nullopt;
}

SmallVector<DimExpr> stridesOf(ArrayRef<DimExpr> dims, const std::optional<Pitch> &pitch) {
  SmallVector<DimExpr> strides(dims.size());
  DimExpr stride = 1;
  bool isInRow = pitch.has_value();
  for (size_t i = dims.size(); i-- > 0;) {
    if (isInRow && stride.isConstant(pitch->row)) {
      stride = pitch->distance;
      isInRow = false;
    }
    strides[i] = stride;
    stride = stride * dims[i];
  }
  return strides;
}

bool hasRowsOf(ArrayRef<DimExpr> dims, const Pitch &pitch) {
  DimExpr size = 1;
  for (const DimExpr &dim : llvm::reverse(dims)) {
    if (size.isConstant(pitch.row))
      return true;
    size = size * dim;
  }
  return size.isConstant(pitch.row);
}

std::optional<Layout> layoutOf(ArrayRef<DimExpr> dims, ArrayRef<DimExpr> strides) {
  Layout layout;
  DimExpr expected = 1, row = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i].isConstant(1))
      continue;
    if (strides[i] != expected) {
      std::optional<int64_t> rowSize = row.constant(), distance = strides[i].constant();
      if (layout.pitch || !rowSize || !distance || *distance <= *rowSize)
        return std::nullopt;
      layout.pitch = Pitch{*rowSize, *distance};
      expected = strides[i];
    }
    expected = expected * dims[i];
    if (!layout.pitch)
      row = row * dims[i];
  }
  return layout;
}

} // namespace stator::graph
