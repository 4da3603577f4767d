// The public classes Builder and Tensor: thin covers over BuilderImpl.
#include "compiler/Trace/BuilderImpl.h"
#include "compiler/Trace/FunctionSupport.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/raw_ostream.h"

namespace stator::trace {

ElementType Tensor::type() const { return node_ ? node_->type : ElementType::F32; }
int64_t Tensor::rank() const { return node_ ? static_cast<int64_t>(node_->dims.size()) : 0; }

Dim Tensor::dim(int64_t axis) const {
  if (!node_)
    return Dim(0);
  int64_t index = axis < 0 ? axis + rank() : axis;
  if (index >= 0 && index < rank())
    return Dim(node_->dims[index]);
  node_->owner->invalid("axis " + llvm::Twine(axis) + " of a tensor of rank " + llvm::Twine(rank()));
  return Dim(0);
}

Dims Tensor::dims() const { return node_ ? Dims(node_->dims.begin(), node_->dims.end()) : Dims(); }

Dim Tensor::elements() const {
  DimExpr product(1);
  if (node_)
    for (const DimExpr &dim : node_->dims)
      product *= dim;
  return Dim(product);
}

std::optional<Dims> Tensor::knownIntegers() const {
  if (!node_ || !node_->contents || isFloat(node_->type))
    return std::nullopt;
  Dims values;
  for (const Element &element : *node_->contents) {
    if (!element.expr())
      return std::nullopt;
    values.emplace_back(*element.expr());
  }
  return values;
}

std::optional<std::vector<double>> Tensor::knownNumbers() const {
  if (!node_ || !node_->contents)
    return std::nullopt;
  std::vector<double> values;
  for (const Element &element : *node_->contents) {
    std::optional<double> value = element.constant();
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

Builder *Tensor::builder() const { return node_ ? node_->owner->builder() : nullptr; }

Builder::Builder(std::string_view methodName) : Builder(std::make_unique<BuilderImpl>(llvm::StringRef(methodName))) {}
Builder::Builder(std::unique_ptr<BuilderImpl> impl) : impl_(std::move(impl)) { impl_->builder_ = this; }
Builder::Builder(Builder &first, std::string_view methodName)
    : Builder(std::make_unique<BuilderImpl>(first.impl().module(), llvm::StringRef(methodName))) {
  if (first.ok() && !first.impl().isFinished())
    impl_->invalid("method `" + llvm::StringRef(methodName) + "` is begun before `" + first.impl().method().getSymName() + "` is finished");
}
Builder::~Builder() = default;

Dim Builder::symbol(std::string_view name, int64_t min, int64_t max) {
  impl_->declareSymbol(name, min, max);
  if (!ok() || name.empty())
    return Dim(0);
  return Dim(impl_->simplify(DimExpr::symbol(name)));
}

Tensor Builder::input(std::string_view name, ElementType type, const Dims &dims) {
  llvm::SmallVector<DimExpr> exprs;
  for (const Dim &dim : dims)
    exprs.push_back(dim.expr());
  return impl_->input(name, type, exprs);
}

void Builder::output(std::string_view name, const Tensor &value) { impl_->output(name, value); }

Tensor Builder::parameter(std::string_view name, ElementType type, const Ints &dims, const void *data, size_t bytes) {
  return impl_->ownedParameter(name, type, dims, {static_cast<const char *>(data), bytes}, /*isMutable=*/false);
}

Tensor Builder::state(std::string_view name, ElementType type, const Ints &dims, const void *data, size_t bytes) {
  return impl_->ownedParameter(name, type, dims, {static_cast<const char *>(data), bytes}, /*isMutable=*/true);
}

void Builder::setState(const Tensor &state, const Tensor &value) { impl_->setParameter(state, value); }

Tensor Builder::shared(std::string_view name) { return impl_->sharedParameter(name); }

Tensor Builder::constant(ElementType type, const Ints &dims, const void *data, size_t bytes) {
  return impl_->constant(type, dims, {static_cast<const char *>(data), bytes});
}

Tensor Builder::scalar(ElementType type, double value) { return impl_->known(type, {}, {elementOf(type, value)}); }

Tensor Builder::scalarInt(ElementType type, int64_t value) {
  if (isFloat(type))
    return scalar(type, static_cast<double>(value));
  // Going through a double would lose the low bits of large numbers.
  return impl_->known(type, {}, {fits(type, value) ? Element(DimExpr(value)) : elementOf(type, static_cast<double>(value))});
}

Tensor Builder::vector(const std::vector<float> &values) {
  return constant(ElementType::F32, {static_cast<int64_t>(values.size())}, values.data(), values.size() * sizeof(float));
}

Tensor Builder::vector(const Ints &values) {
  return constant(ElementType::I64, {static_cast<int64_t>(values.size())}, values.data(), values.size() * sizeof(int64_t));
}

Tensor Builder::fromDims(const Dims &dims) {
  Contents contents;
  for (const Dim &dim : dims)
    contents.emplace_back(impl_->simplify(dim.expr()));
  int64_t count = static_cast<int64_t>(contents.size());
  return impl_->known(ElementType::I64, {count}, std::move(contents));
}

Tensor Builder::fromDim(const Dim &dim) { return impl_->known(ElementType::I64, {}, {Element(impl_->simplify(dim.expr()))}); }

void Builder::constrainEqual(const Dim &a, const Dim &b, std::string_view what) { impl_->requireEqual(a.expr(), b.expr(), what); }

void Builder::setLocation(std::string_view nodeName) { impl_->setLocation(nodeName); }
const std::string &Builder::location() const { return impl_->location(); }
const Status &Builder::status() const { return impl_->status(); }

void Builder::fail(StatusCode code, std::string_view message) {
  impl_->fail(code == StatusCode::Ok ? StatusCode::Internal : code, llvm::Twine(llvm::StringRef(message)));
}

Status Builder::finish() { return impl_->finish(); }

std::string Builder::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  impl_->module()->print(stream, mlir::OpPrintingFlags().elideLargeElementsAttrs(64));
  return text;
}

} // namespace stator::trace
