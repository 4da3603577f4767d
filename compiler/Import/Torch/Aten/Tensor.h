// PyTorch tensors alias: `y[:, 1:3]` is a window into y, and `y[:, 1:3].add_(1)` writes through it. The graph has values only. So a
// tensor here is a *view* of a *storage*: the storage has a value, a trace::Tensor, which a write replaces; a view knows how to read its
// part out of the storage and how to put a new part back. Both front-ends are functionalised by this while they trace.
//
// Strides and offset are those that PyTorch would have, in elements; what is asked of them (is_contiguous, whether reshape copies) must
// have PyTorch's answer, because it decides whether a later write is seen.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_TENSOR_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_TENSOR_H

#include "compiler/Import/Torch/Aten/Value.h"

#include <functional>

namespace stator::torch {

/// Memory that tensors share.
struct Storage {
  trace::Tensor value;
  /// Counts the writes.
  uint64_t version = 0;
  /// Whether the program wrote into it.
  bool isWritten = false;
  /// The scope (see Context) in which it was made.
  uint64_t scope = 0;
  /// Parameters, buffers and inputs have one, for messages.
  std::string name;
  /// Memory that may be this one, depending on data; see Context::mayShare.
  std::vector<std::weak_ptr<Storage>> mayShare;
  /// Whether such memory was written, so that the contents of this one are not known.
  bool isUncertain = false;
};

/// How a view is read out of what it looks into, and put back.
struct ViewStep {
  std::function<trace::Tensor(const trace::Tensor &base)> read;
  /// The base with `part` in the place of the view.
  std::function<trace::Tensor(const trace::Tensor &base, const trace::Tensor &part)> write;
  /// Whether elements of the view are the same memory, so that a write into one shows in others.
  bool overlaps = false;
};

class TensorView {
public:
  const std::shared_ptr<Storage> &storage() const { return storage_; }
  ElementType type() const { return type_; }
  /// As they were when the tensor was made; Context::dims() also knows what was learnt about sizes since then.
  const trace::Dims &dims() const { return dims_; }
  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  const trace::Dims &strides() const { return strides_; }
  /// Elements from the storage's start.
  const trace::Dim &offset() const { return offset_; }
  /// Whether it is the whole storage as it was made.
  bool isWhole() const { return !base_; }
  /// A Python number that became a tensor: it takes part in type promotion only by its category (bool, integer, float).
  bool isWrappedNumber() const { return isWrappedNumber_; }

private:
  friend class Context;
  std::shared_ptr<Storage> storage_;
  TensorRef base_; // what this is a view of; null: the storage
  std::shared_ptr<const ViewStep> step_;
  unsigned depth_ = 0;  // views between the storage and this
  bool isSeen_ = false; // whether there are views of this
  ElementType type_ = ElementType::F32;
  trace::Dims dims_, strides_;
  trace::Dim offset_;
  bool isWrappedNumber_ = false;
  // What was read last, good as long as the storage's version is this one and that scope is open.
  trace::Tensor cached_;
  uint64_t cachedVersion_ = 0, cachedScope_ = 0;
};

/// Row-major strides.
trace::Dims contiguousStrides(const trace::Dims &dims);
/// Whether these strides are row-major (axes of size 1 do not count, nor does anything in an empty tensor).
bool isContiguous(const trace::Dims &dims, const trace::Dims &strides);
/// The strides with which a tensor could be seen as `wanted` without a copy; nothing when PyTorch's view() would refuse.
std::optional<trace::Dims> viewStrides(const trace::Dims &dims, const trace::Dims &strides, const trace::Dims &wanted);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_TENSOR_H
