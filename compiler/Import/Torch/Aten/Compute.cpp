// Promotion of operands and small computations that several families of operators need.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <algorithm>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

Operands promoted(OpCall &op, std::initializer_list<size_t> indices, Promotion promotion, Precision precision) {
  std::vector<TensorRef> refs;
  for (size_t index : indices)
    refs.push_back(op.ref(index));
  Operands operands;
  operands.values.resize(refs.size());
  if (!op.ok() || std::any_of(refs.begin(), refs.end(), [](const TensorRef &ref) { return ref == nullptr; }))
    return operands;
  operands.type = resultType(refs);
  if (promotion == Promotion::ToFloat)
    operands.type = floatTypeOf(operands.type);
  bool hasNumber = std::any_of(refs.begin(), refs.end(), [](const TensorRef &ref) { return ref->isWrappedNumber(); });
  bool isWide = precision == Precision::Wide || (precision == Precision::Same && hasNumber);
  ElementType compute = isWide ? wideTypeOf(operands.type) : operands.type;
  for (size_t i = 0; i < refs.size(); ++i) {
    // A tensor is rounded to the type of the result before anything is computed, a Python number is not.
    Tensor value = op.context().read(refs[i]);
    operands.values[i] = fn::cast(refs[i]->isWrappedNumber() ? value : fn::cast(value, operands.type), compute);
  }
  return operands;
}

Tensor scalarArgument(OpCall &op, size_t index, ElementType type) { return fn::cast(op.tensor(index), type); }

bool isNumber(OpCall &op, size_t index, double number) {
  std::optional<double> known = op.argument(index).knownNumber();
  return known && *known == number;
}

Dims reducedDims(const Dims &dims, const Ints &axes, bool keepDims) {
  Dims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    bool isReduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
    if (!isReduced)
      result.push_back(dims[axis]);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}

Tensor countOf(const Tensor &x, const Ints &axes, ElementType type) {
  Dim count = 1;
  for (int64_t axis : axes)
    count = count * x.dim(axis);
  return fn::cast(x.builder()->fromDim(count), type);
}

Ints axisRange(int64_t from, int64_t to) {
  Ints axes;
  for (int64_t axis = from; axis < to; ++axis)
    axes.push_back(axis);
  return axes;
}

Tensor reduceLoss(OpCall &op, const Tensor &loss, int64_t reduction) {
  if (!op.ok() || reduction == 0)
    return loss;
  if (reduction != 1 && reduction != 2) {
    op.invalid("the reduction is " + std::to_string(reduction) + ", expected 0 (none), 1 (mean) or 2 (sum)");
    return loss;
  }
  return fn::reduce(loss, reduction == 1 ? fn::Reduction::Mean : fn::Reduction::Sum, Ints{}, /*keepDims=*/false);
}

} // namespace stator::torch
