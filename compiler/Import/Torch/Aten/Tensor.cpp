// Strides: which tensors are row-major, and when a shape can be seen in place.
#include "compiler/Import/Torch/Aten/Tensor.h"

#include <algorithm>

namespace stator::torch {

trace::Dims contiguousStrides(const trace::Dims &dims) {
  trace::Dims strides(dims.size());
  trace::Dim next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = next;
    // PyTorch counts an empty axis as 1 here, so that strides stay positive.
    next = dims[i] == 0 ? next : next * dims[i];
  }
  return strides;
}

bool isContiguous(const trace::Dims &dims, const trace::Dims &strides) {
  if (std::any_of(dims.begin(), dims.end(), [](const trace::Dim &dim) { return dim == 0; }))
    return true;
  trace::Dim next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1)
      continue;
    if (strides[i] != next)
      return false;
    next = next * dims[i];
  }
  return true;
}

// ATen/TensorUtils.cpp computeStride: the old axes fall into runs that are contiguous among themselves; each run must be a product of
// new axes.
std::optional<trace::Dims> viewStrides(const trace::Dims &dims, const trace::Dims &strides, const trace::Dims &wanted) {
  if (isContiguous(dims, strides))
    return contiguousStrides(wanted);
  trace::Dims result(wanted.size());
  size_t left = wanted.size();
  trace::Dim elements = 1, views = 1, innermost = strides.empty() ? trace::Dim(1) : strides.back();
  for (size_t i = dims.size(); i-- > 0;) {
    elements = elements * dims[i];
    bool endsRun = i == 0 || (dims[i - 1] != 1 && strides[i - 1] != elements * innermost);
    if (!endsRun)
      continue;
    // What is left belongs to the outermost run, since the products are the same; with unknown sizes only this shows it.
    while (left > 0 && (i == 0 || views != elements || wanted[left - 1] == 1)) {
      --left;
      result[left] = views * innermost;
      views = views * wanted[left];
      // A size that is no factor never meets the run's product; sizes are compared as expressions.
      if (i > 0 && views.isConstant() && elements.isConstant() && views.constant() > elements.constant())
        return std::nullopt;
    }
    if (i > 0 && views != elements)
      return std::nullopt;
    if (i > 0) {
      innermost = strides[i - 1];
      elements = 1;
      views = 1;
    }
  }
  if (left != 0)
    return std::nullopt;
  return result;
}

} // namespace stator::torch
