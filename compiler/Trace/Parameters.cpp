// Weights, state and constants, and how lazy tensors get their values. Weights stay in their source (a mapped file, or bytes that the
// context's ParameterStore owns); the IR only names them. What is small enough becomes a constant, whose contents tracing may use;
// state never does, since its bytes are only what it begins with.
#include "compiler/Trace/BuilderImpl.h"
#include "compiler/Trace/FunctionSupport.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/ParameterStore.h"
#include "dialects/Graph/Shapes.h"

#include <cstring>

namespace stator::trace {

namespace {

/// Constants are written down in the IR up to this many elements.
constexpr int64_t kMaxConstantElements = graph::kMaxConstantElements;

llvm::SmallVector<int64_t> constantDims(llvm::ArrayRef<DimExpr> dims) {
  llvm::SmallVector<int64_t> sizes;
  for (const DimExpr &dim : dims)
    sizes.push_back(dim.constant().value_or(0));
  return sizes;
}

/// Whether elements with these strides lie as they would without any. Strides along an axis of one element mean nothing.
bool isRowMajor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides) {
  int64_t expected = 1;
  for (size_t axis = strides.size(); axis-- > 0;) {
    if (dims[axis] == 0)
      return true;
    if (dims[axis] != 1 && strides[axis] != expected)
      return false;
    if (__builtin_mul_overflow(expected, dims[axis], &expected))
      return false;
  }
  return true;
}

/// Calls `visit` with the offset of each element, in elements and in row-major order, until it gives false.
template <typename Visit>
void forEachOffset(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t count, Visit visit) {
  llvm::SmallVector<int64_t> index(dims.size());
  int64_t offset = 0;
  for (int64_t element = 0; element < count && visit(strides.empty() ? element : offset); ++element)
    for (size_t axis = strides.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < dims[axis])
        break;
      offset -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
}

std::vector<char> gather(std::span<const std::byte> data, size_t elementBytes, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<int64_t> strides, int64_t count) {
  std::vector<char> bytes;
  bytes.reserve(count * elementBytes);
  forEachOffset(dims, strides, count, [&](int64_t offset) {
    const char *element = reinterpret_cast<const char *>(data.data()) + offset * elementBytes;
    bytes.insert(bytes.end(), element, element + elementBytes);
    return true;
  });
  return bytes;
}

bool areBooleans(std::span<const std::byte> data, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t count) {
  bool all = true;
  forEachOffset(dims, strides, count, [&](int64_t offset) { return all = data[offset] <= std::byte(1); });
  return all;
}

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

/// The number of elements, if they and the gaps between them lie within `available` bytes.
std::optional<int64_t> BuilderImpl::checkSpan(llvm::StringRef what, ElementType type, llvm::ArrayRef<int64_t> dims,
                                              llvm::ArrayRef<int64_t> strides, uint64_t available) {
  int64_t count = 1, last = 0;
  bool overflow = false;
  for (auto [dim, stride] : llvm::zip_equal(dims, strides)) {
    if (dim < 0 || stride < 0) {
      invalid(what + " has a negative " + (dim < 0 ? "size " : "stride ") + llvm::Twine(dim < 0 ? dim : stride));
      return std::nullopt;
    }
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(count, dim, &count) || __builtin_mul_overflow(std::max<int64_t>(dim - 1, 0), stride, &step) ||
                __builtin_add_overflow(last, step, &last);
  }
  if (llvm::is_contained(dims, 0))
    return 0;
  int64_t bytes = 0;
  overflow |= __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, static_cast<int64_t>(byteSize(type)), &bytes);
  if (!overflow && static_cast<uint64_t>(bytes) <= available)
    return count;
  invalid(what + " has " + llvm::Twine(available) + " bytes of data, expected " +
          (overflow ? llvm::Twine("more than 2^63") : llvm::Twine(bytes)));
  return std::nullopt;
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
  for (unsigned i = 1; !symbolNames_.insert(unique).second; ++i)
    unique = base + "." + std::to_string(i);
  return unique;
}

Tensor BuilderImpl::parameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, int32_t source, uint64_t offset,
                              llvm::ArrayRef<int64_t> strides, bool isMutable) {
  TensorNode node;
  node.type = type;
  for (int64_t dim : dims)
    node.dims.emplace_back(dim);
  node.parameter = uniqueParameterName(name);
  node.isState = isMutable;
  std::string unique = node.parameter;
  Tensor tensor = add(std::move(node));
  if (!ok())
    return poison();
  mlir::OpBuilder builder(context());
  builder.setInsertionPoint(method_);
  auto mlirType = mlir::RankedTensorType::get(dims, graph::toMlirType(type, context()));
  auto op = graph::ParameterOp::create(builder, loc_, unique, mlirType, source, static_cast<int64_t>(offset));
  if (!strides.empty())
    op.setStrides(strides);
  op.setIsMutable(isMutable);
  return tensor;
}

Tensor BuilderImpl::mappedParameter(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> dims, int32_t source, uint64_t offset,
                                    llvm::ArrayRef<int64_t> strides, bool isMutable) {
  if (!ok())
    return poison();
  std::optional<std::span<const std::byte>> bytes = graph::parametersOf(context()).find(source);
  if (!bytes || offset > bytes->size())
    return invalid("the data of `" + name + "` begins at byte " + llvm::Twine(offset) + " of " + llvm::Twine(bytes ? bytes->size() : 0));
  if (!strides.empty() && strides.size() != dims.size())
    return invalid("`" + name + "` has " + llvm::Twine(strides.size()) + " strides for " + llvm::Twine(dims.size()) + " sizes");
  if (isRowMajor(dims, strides))
    strides = {};
  std::string what = ("`" + name + "`").str();
  std::span<const std::byte> data = bytes->subspan(offset);
  std::optional<int64_t> count =
      strides.empty() ? checkBytes(what, type, dims, data.size()) : checkSpan(what, type, dims, strides, data.size());
  if (!count)
    return poison();
  bool isSmall = !isMutable && *count <= kMaxConstantElements;
  if (isSmall && strides.empty())
    return smallConstant(type, dims, {reinterpret_cast<const char *>(data.data()), static_cast<size_t>(*count * byteSize(type))});
  // Kernels rely on booleans being 0 or 1; smallConstant sees to it by itself, and so does ownedParameter.
  if (isSmall || (type == ElementType::I1 && !areBooleans(data, dims, strides, *count))) {
    std::vector<char> gathered = gather(data, byteSize(type), dims, strides, *count);
    return ownedParameter(name, type, dims, gathered, isMutable);
  }
  return parameter(name, type, dims, source, offset, strides, isMutable);
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
  return parameter(name, type, dims, source, 0, /*strides=*/{}, isMutable);
}

Tensor BuilderImpl::constant(ElementType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes) {
  return ownedParameter("", type, dims, bytes, /*isMutable=*/false);
}

Tensor BuilderImpl::sharedParameter(llvm::StringRef name) {
  auto parameter = ok() ? mlir::SymbolTable(module_).lookup<graph::ParameterOp>(name) : graph::ParameterOp();
  if (!parameter)
    return {};
  TensorNode node;
  node.type = graph::elementTypeOf(parameter.tensorType().getElementType());
  for (int64_t dim : parameter.tensorType().getShape())
    node.dims.emplace_back(dim);
  node.parameter = name.str();
  node.isState = parameter.getIsMutable();
  return add(std::move(node));
}

void BuilderImpl::setParameter(const Tensor &state, const Tensor &value) {
  if (!ok())
    return;
  if (!state || state.node_->owner != this || !state.node_->isState) {
    invalid("the tensor that is to be set is no state of this builder");
    return;
  }
  std::string what = "state `" + state.node_->parameter + "`";
  if (!value || value.node_->owner != this) {
    invalid(what + " is set to " + (value ? "a tensor of another builder" : "an absent tensor"));
    return;
  }
  auto text = [](const TensorNode &node) { return std::string(name(node.type)) + graph::str(node.dims); };
  bool fits = state.node_->type == value.node_->type && state.node_->dims.size() == value.node_->dims.size();
  for (size_t axis = 0; fits && axis < state.node_->dims.size(); ++axis)
    fits = !value.node_->dims[axis].isConstant() || value.node_->dims[axis] == state.node_->dims[axis];
  if (!fits) {
    invalid(what + " of type " + text(*state.node_) + " is set to a value of type " + text(*value.node_));
    return;
  }
  for (auto [stateDim, valueDim] : llvm::zip(state.node_->dims, value.node_->dims))
    requireEqual(stateDim, valueDim, what);
  for (auto &[known, next] : sets_)
    if (known.node_->parameter == state.node_->parameter) {
      next = value;
      return;
    }
  sets_.emplace_back(state, value);
}

/// The ops that end the method; false after an error.
bool BuilderImpl::emitSets() {
  for (const auto &[state, next] : sets_) {
    mlir::Value result = value(reshapeTo(*this, next, state.node_->dims));
    if (!result)
      return false;
    if (next.node_->parameter == state.node_->parameter)
      continue;
    graph::SetParameterOp::create(ops_, loc_, state.node_->parameter, result);
  }
  return true;
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
  llvm::SmallVector<int64_t> dims = constantDims(node.dims);
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
