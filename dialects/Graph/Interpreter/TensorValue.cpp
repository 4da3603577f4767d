// See TensorValue.h.
#include "dialects/Graph/Interpreter/TensorValue.h"

#include "dialects/Graph/NumberFormats.h"
#include "dialects/Graph/Shapes.h"

using namespace mlir;

namespace stator::graph {

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  // Zeros first: an empty shape may have other sizes whose product does not fit.
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape)
    count *= size;
  return count;
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    // Of an empty shape no element is ever addressed, so that wrapping does no harm.
    strides[i - 1] = int64_t(uint64_t(strides[i]) * uint64_t(shape[i]));
  return strides;
}

AxisSplit::AxisSplit(ArrayRef<int64_t> shape, int64_t axis) : size(shape[axis]) {
  if (elementCount(shape) == 0) {
    outer = inner = 0;
    return;
  }
  outer = elementCount(shape.take_front(axis));
  inner = elementCount(shape.drop_front(axis + 1));
}

TensorValue::TensorValue(ElementType type, ArrayRef<int64_t> shape)
    : type(type), shape(shape), data(elementCount(shape) * byteSize(type)) {}

TensorValue TensorValue::of(ElementType type, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  TensorValue tensor(type, shape);
  tensor.setReals(values);
  return tensor;
}

TensorValue TensorValue::ofIntegers(ElementType type, ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  TensorValue tensor(type, shape);
  tensor.setIntegers(values);
  return tensor;
}

int64_t TensorValue::count() const { return elementCount(shape); }

double TensorValue::real(int64_t i) const { return loadDouble(type, element(i)); }
int64_t TensorValue::integer(int64_t i) const { return loadInteger(type, element(i)); }
void TensorValue::setReal(int64_t i, double value) { storeDouble(type, element(i), value); }
void TensorValue::setInteger(int64_t i, int64_t value) { storeInteger(type, element(i), value); }

void TensorValue::copyElement(int64_t i, const TensorValue &from, int64_t j) { std::memcpy(element(i), from.element(j), elementBytes()); }

std::vector<double> TensorValue::reals() const {
  std::vector<double> values(count());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = real(i);
  return values;
}

std::vector<int64_t> TensorValue::integers() const {
  std::vector<int64_t> values(count());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = integer(i);
  return values;
}

void TensorValue::setReals(ArrayRef<double> values) {
  assert(int64_t(values.size()) == count() && "one value per element");
  for (size_t i = 0; i < values.size(); ++i)
    setReal(i, values[i]);
}

void TensorValue::setIntegers(ArrayRef<int64_t> values) {
  assert(int64_t(values.size()) == count() && "one value per element");
  for (size_t i = 0; i < values.size(); ++i)
    setInteger(i, values[i]);
}

TensorValue TensorValue::fromElements(DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  TensorValue tensor(elementTypeOf(type.getElementType()), type.getShape());
  int64_t count = tensor.count(), bytes = tensor.elementBytes();
  if (tensor.type == ElementType::I1) {
    for (auto [i, value] : llvm::enumerate(elements.getValues<bool>()))
      tensor.setInteger(i, value);
    return tensor;
  }
  ArrayRef<char> raw = elements.getRawData();
  if (elements.isSplat()) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(tensor.element(i), raw.data(), bytes);
  } else if (count) {
    std::memcpy(tensor.data.data(), raw.data(), count * bytes);
  }
  return tensor;
}

DenseElementsAttr TensorValue::toElements(MLIRContext *context) const {
  auto tensorType = RankedTensorType::get(shape, toMlirType(type, context));
  if (type == ElementType::I1) {
    SmallVector<bool> values;
    for (int64_t i = 0, n = count(); i < n; ++i)
      values.push_back(integer(i) != 0);
    return DenseElementsAttr::get(tensorType, values);
  }
  return DenseElementsAttr::getFromRawBuffer(tensorType, ArrayRef<char>(reinterpret_cast<const char *>(data.data()), data.size()));
}

std::string TensorValue::typeText() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + name(type) + ">";
}

} // namespace stator::graph
