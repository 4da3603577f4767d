// Weights and constants, and how lazy tensors get their values. Weights stay in their source (a mapped file, or bytes that the
// context's ParameterStore owns); the IR only names them. What is small enough becomes a constant, whose contents tracing may use.
#include "compiler/Trace/BuilderImpl.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/ParameterStore.h"
#include "dialects/Graph/Shapes.h"

#include <cstring>

namespace stator::trace {

namespace {

/// Constants are written down in the IR up to this many elements.
constexpr int64_t kMaxConstantElements = graph::kMaxConstantElements;

} // namespace

/// The number of elements, if `available` bytes are enough for them.
std::optional<int64_t> BuilderImpl::checkBytes(llvm::StringRef what, ElementType type, llvm::ArrayRef<int64_t> dims, uint64_t available) {
  int64_t count = 1;
  bool overflow = false, isEmpty = false;
  for (int64_t dim : dims) {
    if (dim < 0) {
      invalid(what + " has a negative size " + llvm::Twine(dim));
      return std::nullopt;
    }
    isEmpty |= dim == 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (isEmpty)
    return 0;
  int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(count, static_cast<int64_t>(byteSize(type)), &bytes);
  if (overflow || static_cast<uint64_t>(bytes) > available) {
    invalid(what + " has " + llvm::Twine(available) + " bytes of data, expected " +
            (overflow ? llvm::Twine("more than 2^63") : llvm::Twine(bytes)));
    return std::nullopt;
  }
  return count;
}

Tensor BuilderImpl::smallConstant(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes) {
  TensorNode node;
  node.type = type;
  int64_t count = 1;
  for (int64_t dim : dims) {
    node.dims.emplace_back(dim);
    count *= dim;
  }
  if (count <= kMaxKnownElements) {
    node.contents = readContents(type, bytes.data(), count);
  } else {
    auto mlirType = mlir::RankedTensorType::get(dims, graph::toMlirType(type, context()));
    if (type == ElementType::I1) {
      llvm::SmallVector<bool> bits;
      for (char byte : bytes)
        bits.push_back(byte != 0);
      node.constant = mlir::DenseElementsAttr::get(mlirType, bits);
    } else {
      node.constant = mlir::DenseElementsAttr::getFromRawBuffer(mlirType, bytes);
    }
  }
  return add(std::move(node));
}

std::string BuilderImpl::uniqueParameterName(llvm::StringRef name) {
  std::string base = name.empty() ? "constant" : name.str(), unique = base;
  for (unsigned i = 1; !parameterNames_.insert(unique).second || unique == method_.getSymName(); ++i)
    unique = base + "." + std::to_string(i);
  return unique;
}

Tensor BuilderImpl::parameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, int32_t source, uint64_t offset,
                              bool isMutable) {
  TensorNode node;
  node.type = type;
  for (int64_t dim : dims)
    node.dims.emplace_back(dim);
  node.parameter = uniqueParameterName(name);
  std::string unique = node.parameter;
  Tensor tensor = add(std::move(node));
  if (!ok())
    return poison();
  mlir::OpBuilder builder(context());
  builder.setInsertionPoint(method_);
  auto mlirType = mlir::RankedTensorType::get(dims, graph::toMlirType(type, context()));
  auto op = graph::ParameterOp::create(builder, loc_, unique, mlirType, source, static_cast<int64_t>(offset));
  if (isMutable)
    op.setIsMutable(true);
  return tensor;
}

Tensor BuilderImpl::mappedParameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, int32_t source, uint64_t offset) {
  if (!ok())
    return poison();
  std::optional<std::span<const std::byte>> bytes = graph::parametersOf(context()).find(source);
  if (!bytes || offset > bytes->size())
    return invalid("the data of `" + name + "` begins at byte " + llvm::Twine(offset) + " of " + llvm::Twine(bytes ? bytes->size() : 0));
  std::optional<int64_t> count = checkBytes(("`" + name + "`").str(), type, dims, bytes->size() - offset);
  if (!count)
    return poison();
  if (*count <= kMaxConstantElements)
    return smallConstant(type, dims,
                         {reinterpret_cast<const char *>(bytes->data()) + offset, static_cast<size_t>(*count * byteSize(type))});
  return parameter(name, type, dims, source, offset, /*isMutable=*/false);
}

Tensor BuilderImpl::ownedParameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes,
                                   bool isMutable) {
  if (!ok())
    return poison();
  std::optional<int64_t> count = checkBytes(("`" + name + "`").str(), type, dims, bytes.size());
  if (!count)
    return poison();
  if (static_cast<uint64_t>(*count) * byteSize(type) != bytes.size())
    return invalid("`" + name + "` has " + llvm::Twine(bytes.size()) + " bytes of data, expected " + llvm::Twine(*count * byteSize(type)));
  if (!isMutable && *count <= kMaxConstantElements)
    return smallConstant(type, dims, bytes);
  std::vector<std::byte> owned(bytes.size());
  if (!bytes.empty())
    std::memcpy(owned.data(), bytes.data(), bytes.size());
  if (type == ElementType::I1)
    for (std::byte &byte : owned)
      byte = std::byte(byte != std::byte(0));
  int source = graph::parametersOf(context()).addOwned(std::move(owned));
  return parameter(name, type, dims, source, 0, isMutable);
}

Tensor BuilderImpl::constant(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes) {
  return ownedParameter("", type, dims, bytes, /*isMutable=*/false);
}

mlir::Value BuilderImpl::constantAtHead(mlir::OpBuilder &head, mlir::DenseElementsAttr value) {
  auto [entry, isNew] = constants_.try_emplace(value);
  if (isNew) {
    auto op = graph::ConstantOp::create(head, loc_, value);
    entry->second = op.getResult();
    lastAtHead_ = op;
  }
  return entry->second;
}

/// Everything made here depends on nothing, so it goes to the head of the method, where it dominates all uses, also those inside of
/// regions that are not finished yet.
mlir::Value BuilderImpl::materialise(TensorNode &node) {
  mlir::OpBuilder head(context());
  if (lastAtHead_)
    head.setInsertionPointAfter(lastAtHead_);
  else
    head.setInsertionPointToStart(&method_.getBody().front());
  mlir::Type elementType = graph::toMlirType(node.type, context());
  llvm::SmallVector<int64_t> dims;
  for (const DimExpr &dim : node.dims)
    dims.push_back(dim.constant().value_or(0));
  auto type = mlir::RankedTensorType::get(dims, elementType);

  if (!node.parameter.empty()) {
    auto op = graph::GetParameterOp::create(head, loc_, type, node.parameter);
    lastAtHead_ = op;
    return op.getResult();
  }
  if (node.constant)
    return constantAtHead(head, *node.constant);
  if (!node.contents)
    return {};

  std::vector<char> bytes;
  if (writeContents(node.type, *node.contents, bytes)) {
    if (node.type != ElementType::I1)
      return constantAtHead(head, mlir::DenseElementsAttr::getFromRawBuffer(type, bytes));
    llvm::SmallVector<bool> bits;
    for (char byte : bytes)
      bits.push_back(byte != 0);
    return constantAtHead(head, mlir::DenseElementsAttr::get(type, bits));
  }

  // Sizes as data: numerators as i64, then the shape, the type, the divisors; plain numbers among them are added last.
  llvm::SmallVector<DimExpr> numerators;
  Contents divisors, numbers;
  bool hasDivisors = false, hasNumbers = false;
  for (const Element &element : *node.contents) {
    bool isNumber = element.isNumber();
    numerators.push_back(isNumber ? DimExpr(0) : element.numerator());
    divisors.push_back(elementOf(node.type, isNumber ? 1 : static_cast<double>(element.divisor())));
    numbers.push_back(isNumber ? element : elementOf(node.type, 0));
    hasDivisors |= !isNumber && element.divisor() != 1;
    hasNumbers |= isNumber;
  }
  auto values = graph::DimValuesOp::create(head, loc_, graph::DimsAttr::get(context(), numerators), node.dims.empty());
  mlir::Value value = values.getResult();
  if (node.dims.size() > 1)
    value = graph::ReshapeOp::create(head, loc_, mlir::RankedTensorType::get(dims, head.getI64Type()), value);
  if (node.type != ElementType::I64)
    value = graph::ConvertOp::create(head, loc_, type, value);
  lastAtHead_ = value.getDefiningOp();
  auto apply = [&](const Contents &operand, llvm::function_ref<mlir::Value(mlir::Value)> make) {
    std::vector<char> operandBytes;
    writeContents(node.type, operand, operandBytes);
    mlir::Value constant = constantAtHead(head, mlir::DenseElementsAttr::getFromRawBuffer(type, operandBytes));
    head.setInsertionPointAfter(lastAtHead_);
    value = make(constant);
    lastAtHead_ = value.getDefiningOp();
  };
  if (hasDivisors)
    apply(divisors, [&](mlir::Value operand) -> mlir::Value { return graph::DivOp::create(head, loc_, value, operand); });
  if (hasNumbers)
    apply(numbers, [&](mlir::Value operand) -> mlir::Value { return graph::AddOp::create(head, loc_, value, operand); });
  return value;
}

} // namespace stator::trace
