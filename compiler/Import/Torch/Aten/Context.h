// What an import carries from call to call: the Builder, the tensors' aliasing, warnings. One per method.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTEXT_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTEXT_H

#include "compiler/Import/Torch/Aten/Tensor.h"
#include "stator/Status.h"

#include <map>

namespace stator::torch {

class Context {
public:
  explicit Context(trace::Builder &builder) : builder_(builder) {}
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  trace::Builder &builder() { return builder_; }

  // Tensors.

  /// A tensor with memory of its own, contiguous.
  TensorRef make(trace::Tensor value, std::string name = {});
  /// The same with strides that PyTorch gave it (a channels-last weight).
  TensorRef make(trace::Tensor value, trace::Dims strides, std::string name = {});
  /// A Python number as a rank-0 tensor that is a wrapped number: i64, f64 or i1. Poison and others: an error.
  TensorRef wrapNumber(const Value &scalar);
  /// The same tensor, taking part in promotion as a Python number does (rank-0 constants of TorchScript).
  TensorRef asWrappedNumber(const TensorRef &tensor);
  /// The value now. Absent after an error.
  trace::Tensor read(const TensorRef &tensor);
  /// A view into `base`. `strides` and `offset` are the view's own.
  TensorRef view(const TensorRef &base, ViewStep step, trace::Dims strides, trace::Dim offset);
  /// Replaces the tensor's elements; `value` is cast to its type and broadcast to its shape. Everything that shares memory sees it.
  void write(const TensorRef &tensor, const trace::Tensor &value);
  /// Another tensor of the same memory and shape (detach, alias); not a wrapped number.
  TensorRef alias(const TensorRef &tensor);
  /// Makes `tensor`, under all of its names, what `other` is (`unsqueeze_` and its like). False when views of it exist: they would see
  /// something else than they were made for.
  bool become(const TensorRef &tensor, const TensorRef &other);
  /// What all views of the tensor's memory look into in the end.
  TensorRef root(const TensorRef &tensor) const;
  /// Sizes and strides in terms of what is known now: symbols may have been replaced since the tensor was made.
  trace::Dims dims(const TensorRef &tensor) { return simplify(tensor->dims()); }
  trace::Dims strides(const TensorRef &tensor) { return simplify(tensor->strides()); }
  trace::Dims simplify(const trace::Dims &dims);
  bool isContiguous(const TensorRef &tensor) { return torch::isContiguous(dims(tensor), strides(tensor)); }

  /// Two pieces of memory that may be one, depending on data: what control flow gave a variable, and what it might have been before. Once
  /// one of them is written, what the other holds is not known any more, and reading it is an error.
  void mayShare(const std::shared_ptr<Storage> &a, const std::shared_ptr<Storage> &b);
  /// What `tensor` holds although that may be out of date: for passing it on, marked, to where nobody may look at it.
  trace::Tensor readUncertain(const TensorRef &tensor);
  void markUncertain(const std::shared_ptr<Storage> &storage);
  /// How many were made unreadable so far, and taking the later ones back, for a loop that is traced again or the other branch of
  /// an `if`; they are given back.
  size_t countUncertain() const { return uncertain_.size(); }
  std::vector<std::shared_ptr<Storage>> forgetUncertain(size_t count);

  // Scalars.

  /// The number as a rank-0 tensor of i64, f64 or i1.
  trace::Tensor scalarTensor(const Value &scalar);
  /// The only element of `x` as an int, float or bool Value by its element type: known where tracing knows it, else data.
  Value item(const trace::Tensor &x);

  // Scopes: while a branch or a body of data-dependent control flow is traced, writes to memory from outside of it are noted, so that the
  // new values can be handed out as results. Used by Control.cpp.

  struct Scope {
    uint64_t id;
    /// Storages from outside that were written inside, in order, with the value they had before.
    std::vector<std::pair<std::shared_ptr<Storage>, trace::Tensor>> written;
  };
  void enterScope();
  /// Closes the innermost scope and puts the old values back; the caller decides what becomes of the new ones. `finals` gets them.
  Scope leaveScope(std::vector<trace::Tensor> &finals);
  bool isInsideScope() const { return !scopes_.empty(); }
  /// Sets a storage's value as a write does.
  void replace(const std::shared_ptr<Storage> &storage, trace::Tensor value);

  // Errors and warnings. Errors are the Builder's; a front-end takes them after each operation (BuilderImpl::takeError) to go on.

  Value unsupported(std::string_view message);
  Value invalid(std::string_view message);
  /// Kept once each, in order.
  void warn(std::string message);
  const std::vector<std::string> &warnings() const { return warnings_; }
  /// Nested tensors: memory that holds padded sequences, and which elements of [batch, length] are no padding.
  void markNested(const TensorRef &tensor, trace::Tensor isFilled) { nested_[tensor->storage()] = std::move(isFilled); }
  /// Absent for all other tensors.
  trace::Tensor nestedMask(const TensorRef &tensor) const {
    auto found = nested_.find(tensor->storage());
    return found == nested_.end() ? trace::Tensor() : found->second;
  }
  /// Inside of torch.autocast: the type in which contractions compute; nothing outside.
  std::optional<ElementType> autocast;

private:
  bool isOpen(uint64_t scope) const;
  void noteWrite(const std::shared_ptr<Storage> &storage);
  uint64_t currentScope() const { return scopes_.empty() ? 0 : scopes_.back().id; }

  trace::Builder &builder_;
  std::vector<Scope> scopes_;
  uint64_t nextScope_ = 1;
  std::vector<std::string> warnings_;
  std::vector<std::shared_ptr<Storage>> uncertain_;
  std::map<std::shared_ptr<Storage>, trace::Tensor> nested_;
};

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_CONTEXT_H
