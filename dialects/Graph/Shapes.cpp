// See Shapes.h.
#include "dialects/Graph/Shapes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace stator::graph {

DimExpr dimOf(RankedTensorType type, int64_t axis) {
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  auto names = dyn_cast_or_null<DimsAttr>(type.getEncoding());
  if (!names || names.size() != size_t(type.getRank()))
    return DimExpr::invalid("a size without a name");
  return names.dim(axis);
}

SmallVector<DimExpr> dimsOf(RankedTensorType type) {
  SmallVector<DimExpr> dims;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    dims.push_back(dimOf(type, axis));
  return dims;
}

RankedTensorType tensorType(ArrayRef<DimExpr> dims, Type element) {
  SmallVector<int64_t> sizes;
  bool dynamic = false;
  for (const DimExpr &dim : dims) {
    if (!dim.isValid() || (dim.isConstant() && *dim.constant() < 0))
      return {};
    sizes.push_back(dim.constant().value_or(ShapedType::kDynamic));
    dynamic |= !dim.isConstant();
  }
  return RankedTensorType::get(sizes, element, dynamic ? DimsAttr::get(element.getContext(), dims) : Attribute());
}

RankedTensorType tensorType(ArrayRef<int64_t> sizes, Type element) {
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return {};
  return RankedTensorType::get(sizes, element);
}

RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

DimExpr elementCount(RankedTensorType type) {
  DimExpr count = 1;
  for (const DimExpr &dim : dimsOf(type))
    count *= dim;
  return count;
}

std::optional<int64_t> staticElementCount(RankedTensorType type) {
  // An empty tensor is empty however large its other sizes are.
  if (type.hasStaticShape() && llvm::is_contained(type.getShape(), 0))
    return 0;
  return elementCount(type).constant();
}

std::optional<int64_t> staticByteSize(RankedTensorType type) {
  std::optional<int64_t> count = staticElementCount(type);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, int64_t(byteSize(elementTypeOf(type.getElementType()))), &bytes))
    return std::nullopt;
  return bytes;
}

ElementType elementTypeOf(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isUnsignedInteger(8))
    return ElementType::U8;
  switch (type.isSignlessInteger() ? type.getIntOrFloatBitWidth() : 0) {
  case 64:
    return ElementType::I64;
  case 32:
    return ElementType::I32;
  case 16:
    return ElementType::I16;
  case 8:
    return ElementType::I8;
  case 1:
    return ElementType::I1;
  }
  llvm_unreachable("the verifier admits no other element type");
}

Type toMlirType(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case ElementType::I64:
    return IntegerType::get(context, 64);
  case ElementType::I32:
    return IntegerType::get(context, 32);
  case ElementType::I16:
    return IntegerType::get(context, 16);
  case ElementType::I8:
    return IntegerType::get(context, 8);
  case ElementType::I1:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("every element type is listed");
}

bool isFloatElement(Type type) { return type.isF32() || type.isF64() || type.isF16() || type.isBF16(); }
bool isBoolElement(Type type) { return type.isSignlessInteger(1); }
bool isIndexElement(Type type) { return type.isSignlessInteger(32) || type.isSignlessInteger(64); }
bool isIntElement(Type type) {
  return type.isSignlessInteger(8) || type.isSignlessInteger(16) || isIndexElement(type) || type.isUnsignedInteger(8);
}
bool isNumberElement(Type type) { return isFloatElement(type) || isIntElement(type); }
bool isBitsElement(Type type) { return isIntElement(type) || isBoolElement(type); }
bool isSupportedElement(Type type) { return isNumberElement(type) || isBoolElement(type); }

bool isGraphTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isSupportedElement(tensor.getElementType()))
    return false;
  if (tensor.hasStaticShape())
    return !tensor.getEncoding();
  auto names = dyn_cast_or_null<DimsAttr>(tensor.getEncoding());
  return names && names.size() == size_t(tensor.getRank());
}

bool mayBeEqual(const DimExpr &a, const DimExpr &b) {
  std::optional<int64_t> difference = (a - b).constant();
  return !difference || *difference == 0;
}

std::string str(ArrayRef<DimExpr> dims) {
  std::string text = "[";
  for (const DimExpr &dim : dims)
    text += (text.size() > 1 ? ", " : "") + dim.str();
  return text + "]";
}

std::map<std::string, DimInterval> symbolRanges(FunctionOpInterface method) {
  std::map<std::string, DimInterval> ranges;
  if (auto symbols = method->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (auto symbol : symbols.getAsRange<SymbolAttr>())
      ranges[symbol.getName().str()] = {symbol.getMin(), symbol.getMax()};
  return ranges;
}

std::map<std::string, DimInterval> allSymbolRanges(FunctionOpInterface method) {
  std::map<std::string, DimInterval> ranges = symbolRanges(method);
  for (Type type : method.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (const DimExpr &dim : dimsOf(tensor))
        for (const std::string &name : dim.symbols())
          ranges.try_emplace(name, DimInterval{kDefaultSymbolMin, kDefaultSymbolMax});
  return ranges;
}

} // namespace stator::graph
