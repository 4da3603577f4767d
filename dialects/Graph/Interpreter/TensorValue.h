// A tensor as the interpreter holds it: element type, sizes, and dense row-major bytes. i1 is one byte, 0 or 1.
#ifndef STATOR_DIALECTS_GRAPH_INTERPRETER_TENSORVALUE_H
#define STATOR_DIALECTS_GRAPH_INTERPRETER_TENSORVALUE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "stator/ElementType.h"

#include <cstddef>
#include <string>
#include <vector>

namespace stator::graph {

class TensorValue {
public:
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<std::byte> data;

  TensorValue() = default;
  /// All zeros. The sizes' product must fit in memory; the interpreter's budget sees to it.
  TensorValue(ElementType type, llvm::ArrayRef<int64_t> shape);
  /// Elements rounded or wrapped to the type; as many as the shape has.
  static TensorValue of(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);
  static TensorValue ofIntegers(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values);

  int64_t rank() const { return int64_t(shape.size()); }
  int64_t count() const;
  unsigned elementBytes() const { return byteSize(type); }
  std::byte *element(int64_t i) { return data.data() + i * elementBytes(); }
  const std::byte *element(int64_t i) const { return data.data() + i * elementBytes(); }

  /// Element `i` in row-major order.
  double real(int64_t i) const;
  int64_t integer(int64_t i) const;
  void setReal(int64_t i, double value);
  void setInteger(int64_t i, int64_t value);
  /// Element `i` becomes element `j` of `from`, which has the same type.
  void copyElement(int64_t i, const TensorValue &from, int64_t j);

  std::vector<double> reals() const;
  std::vector<int64_t> integers() const;
  void setReals(llvm::ArrayRef<double> values);
  void setIntegers(llvm::ArrayRef<int64_t> values);

  /// The value of a constant: `elements` is a DenseElementsAttr of a supported type.
  static TensorValue fromElements(mlir::DenseElementsAttr elements);
  mlir::DenseElementsAttr toElements(mlir::MLIRContext *context) const;

  /// "tensor<2x3xf32>", for messages.
  std::string typeText() const;
};

/// The number of elements of a shape that fits in memory.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);
/// For each axis, how far apart in row-major order its neighbours are.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Calls `visit(index, position)` for every index of `shape` in row-major order.
template <typename Visit>
void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t position = 0, count = elementCount(shape); position < count; ++position) {
    visit(llvm::ArrayRef<int64_t>(index), position);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

/// The row-major position of an index, given strides.
inline int64_t positionOf(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> strides) {
  int64_t position = 0;
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    position += i * stride;
  return position;
}

/// A shape cut at an axis: `outer` slices of `size` steps of `inner` elements each.
struct AxisSplit {
  int64_t outer = 1, size = 1, inner = 1;
  AxisSplit(llvm::ArrayRef<int64_t> shape, int64_t axis);
  int64_t position(int64_t o, int64_t step, int64_t i) const { return (o * size + step) * inner + i; }
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INTERPRETER_TENSORVALUE_H
