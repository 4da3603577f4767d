// Tensors that alias, over a graph of values: reading through views, writing through them, scopes of control flow.
#include "compiler/Import/Torch/Aten/Context.h"

#include "compiler/Import/Torch/Aten/OpCall.h"
#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>
#include <utility>

namespace stator::torch {

using trace::BuilderImpl;
namespace fn = trace::fn;

/// Reading a view goes through all views below it; programs nest a handful.
static constexpr unsigned kMaxViewDepth = 2000;

TensorRef Context::make(trace::Tensor value, std::string name) {
  trace::Dims strides = value ? contiguousStrides(value.dims()) : trace::Dims();
  return make(std::move(value), std::move(strides), std::move(name));
}

TensorRef Context::make(trace::Tensor value, trace::Dims strides, std::string name) {
  auto tensor = std::make_shared<TensorView>();
  tensor->storage_ = std::make_shared<Storage>();
  tensor->storage_->scope = currentScope();
  tensor->storage_->name = std::move(name);
  if (value) {
    tensor->type_ = value.type();
    tensor->dims_ = value.dims();
  } else {
    invalid("a value is missing");
  }
  tensor->storage_->value = std::move(value);
  tensor->strides_ = std::move(strides);
  return tensor;
}

trace::Tensor Context::scalarTensor(const Value &scalar) {
  if (scalar.isInt())
    return scalar.asInt().data ? scalar.asInt().data : builder_.fromDim(scalar.asInt().dim);
  if (scalar.isFloat())
    return scalar.asFloat().data ? scalar.asFloat().data : builder_.scalar(ElementType::F64, scalar.asFloat().number);
  if (scalar.isBool())
    return scalar.asBool().data ? scalar.asBool().data : builder_.scalarInt(ElementType::I1, scalar.asBool().known);
  invalid("got " + scalar.typeName() + ", expected a number");
  return BuilderImpl::of(builder_).poison();
}

TensorRef Context::wrapNumber(const Value &scalar) {
  TensorRef tensor = make(scalarTensor(scalar));
  tensor->isWrappedNumber_ = true;
  return tensor;
}

TensorRef Context::asWrappedNumber(const TensorRef &tensor) {
  TensorRef copy = alias(tensor);
  copy->isWrappedNumber_ = tensor->rank() == 0;
  return copy;
}

TensorRef Context::alias(const TensorRef &tensor) {
  auto copy = std::make_shared<TensorView>(*tensor);
  copy->isWrappedNumber_ = false;
  copy->isSeen_ = false;
  return copy;
}

bool Context::become(const TensorRef &tensor, const TensorRef &other) {
  if (tensor->isSeen_)
    return false;
  *tensor = *other;
  tensor->isSeen_ = false;
  return true;
}

TensorRef Context::root(const TensorRef &tensor) const {
  TensorRef root = tensor;
  while (root->base_)
    root = root->base_;
  return root;
}

trace::Dims Context::simplify(const trace::Dims &dims) {
  trace::Dims result;
  for (const trace::Dim &dim : dims)
    result.push_back(dim.isConstant() ? dim : trace::Dim(BuilderImpl::of(builder_).simplify(dim.expr())));
  return result;
}

trace::Tensor Context::read(const TensorRef &tensor) {
  TensorView &view = *tensor;
  if (view.storage_->isUncertain) {
    unsupported(
        "a tensor is read that may share its memory, depending on data, with one that was written in place; clone() one of them before");
    return BuilderImpl::of(builder_).poison();
  }
  if (!view.base_)
    return view.storage_->value;
  if (view.cached_ && view.cachedVersion_ == view.storage_->version && isOpen(view.cachedScope_))
    return view.cached_;
  trace::Tensor base = read(view.base_);
  trace::Tensor value = builder_.ok() && base ? view.step_->read(base) : BuilderImpl::of(builder_).poison();
  view.cached_ = value;
  view.cachedVersion_ = view.storage_->version;
  view.cachedScope_ = currentScope();
  return value;
}

TensorRef Context::view(const TensorRef &base, ViewStep step, trace::Dims strides, trace::Dim offset) {
  auto tensor = std::make_shared<TensorView>();
  tensor->storage_ = base->storage_;
  tensor->base_ = base;
  base->isSeen_ = true;
  tensor->step_ = std::make_shared<const ViewStep>(std::move(step));
  tensor->depth_ = base->depth_ + 1;
  if (tensor->depth_ > kMaxViewDepth)
    unsupported("more than " + std::to_string(kMaxViewDepth) + " views of views");
  tensor->type_ = base->type_;
  tensor->strides_ = std::move(strides);
  tensor->offset_ = std::move(offset);
  trace::Tensor value = read(tensor);
  tensor->type_ = value ? value.type() : base->type_;
  tensor->dims_ = value ? value.dims() : trace::Dims();
  return tensor;
}

void Context::write(const TensorRef &tensor, const trace::Tensor &value) {
  if (!builder_.ok())
    return;
  trace::Tensor fitting = fn::cast(value, tensor->type_);
  if (fitting.rank() != tensor->rank() || fitting.dims() != dims(tensor))
    fitting = fn::broadcastTo(fitting, dims(tensor));
  if (!builder_.ok())
    return;
  if (!tensor->base_) {
    noteWrite(tensor->storage_);
    return replace(tensor->storage_, fitting);
  }
  trace::Tensor base = tensor->step_->write(read(tensor->base_), fitting);
  write(tensor->base_, base);
  if (tensor->step_->overlaps)
    return;
  tensor->cached_ = fitting;
  tensor->cachedVersion_ = tensor->storage_->version;
  tensor->cachedScope_ = currentScope();
}

void Context::mayShare(const std::shared_ptr<Storage> &a, const std::shared_ptr<Storage> &b) {
  if (a == b)
    return;
  a->mayShare.push_back(b);
  b->mayShare.push_back(a);
}

void Context::noteWrite(const std::shared_ptr<Storage> &storage) {
  for (const std::weak_ptr<Storage> &other : storage->mayShare) {
    std::shared_ptr<Storage> shared = other.lock();
    if (!shared || shared->isUncertain)
      continue;
    if (!shared->name.empty())
      warn("`" + shared->name + "` may be written in place, depending on data; its memory is left as it is");
    markUncertain(shared);
  }
}

void Context::markUncertain(const std::shared_ptr<Storage> &storage) {
  if (std::exchange(storage->isUncertain, true))
    return;
  uncertain_.push_back(storage);
}

trace::Tensor Context::readUncertain(const TensorRef &tensor) {
  bool wasUncertain = std::exchange(tensor->storage_->isUncertain, false);
  trace::Tensor value = read(tensor);
  tensor->storage_->isUncertain = wasUncertain;
  return value;
}

std::vector<std::shared_ptr<Storage>> Context::forgetUncertain(size_t count) {
  std::vector<std::shared_ptr<Storage>> later(uncertain_.begin() + static_cast<ptrdiff_t>(std::min(count, uncertain_.size())),
                                              uncertain_.end());
  for (const std::shared_ptr<Storage> &storage : later)
    storage->isUncertain = false;
  uncertain_.resize(uncertain_.size() - later.size());
  return later;
}

void Context::replace(const std::shared_ptr<Storage> &storage, trace::Tensor value) {
  for (Scope &scope : scopes_) {
    auto isStorage = [&](const auto &entry) { return entry.first == storage; };
    if (scope.id > storage->scope && std::none_of(scope.written.begin(), scope.written.end(), isStorage))
      scope.written.emplace_back(storage, storage->value);
  }
  storage->value = std::move(value);
  storage->isWritten = true;
  ++storage->version;
}

Value Context::item(const trace::Tensor &x) {
  BuilderImpl &impl = BuilderImpl::of(builder_);
  if (!x || !builder_.ok())
    return Value::poison();
  if (!(x.elements() == 1))
    return invalid("a tensor with " + x.elements().str() + " elements has no single value");
  bool isInteger = x.type() != ElementType::I1 && !isFloatType(x.type());
  const trace::Contents *contents = impl.contents(x);
  if (contents && contents->size() == 1) {
    const trace::Element &element = contents->front();
    if (isInteger && element.expr())
      return Value::integer(trace::Dim(*element.expr()));
    if (std::optional<double> number = element.constant())
      return isInteger                     ? Value::integer(static_cast<int64_t>(*number))
             : x.type() == ElementType::I1 ? Value::boolean(*number != 0)
                                           : Value::real(*number);
  }
  trace::Tensor flat = x.rank() == 0 ? x : fn::reshape(x, trace::Dims{});
  if (isInteger)
    return Value::dataInteger(fn::cast(flat, ElementType::I64));
  return x.type() == ElementType::I1 ? Value::dataBoolean(flat) : Value::dataReal(fn::cast(flat, ElementType::F64));
}

bool Context::isOpen(uint64_t scope) const {
  return scope == 0 || std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope &open) { return open.id == scope; });
}

void Context::enterScope() { scopes_.push_back({nextScope_++, {}}); }

Context::Scope Context::leaveScope(std::vector<trace::Tensor> &finals) {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (auto &[storage, original] : scope.written) {
    finals.push_back(storage->value);
    storage->value = original;
    ++storage->version;
  }
  return scope;
}

Value Context::unsupported(std::string_view message) {
  builder_.fail(StatusCode::Unsupported, message);
  return Value::poison();
}

Value Context::invalid(std::string_view message) {
  builder_.fail(StatusCode::InvalidArgument, message);
  return Value::poison();
}

void Context::warn(std::string message) {
  if (std::find(warnings_.begin(), warnings_.end(), message) == warnings_.end())
    warnings_.push_back(std::move(message));
}

} // namespace stator::torch
