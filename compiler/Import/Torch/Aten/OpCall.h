// One call of an operator as its handler sees it: arguments by their position in the schema, already matched and with defaults. Getters
// record an error and give something harmless when an argument is not what the handler needs (a size that depends on data).
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_OPCALL_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_OPCALL_H

#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {

class OpCall {
public:
  OpCall(Context &context, const Operator &op, const Values &arguments) : context_(context), op_(op), arguments_(arguments) {}

  Context &context() { return context_; }
  trace::Builder &builder() { return context_.builder(); }
  const Schema &schema() const { return op_.schema; }
  /// False once an error has been recorded: nothing need be computed any more.
  bool ok() { return builder().ok(); }

  const Value &argument(size_t index) const { return arguments_[index]; }
  bool isNone(size_t index) const { return arguments_[index].isNone(); }

  // Tensors; absent (null) for None. A number where a tensor may stand becomes a wrapped number.

  TensorRef ref(size_t index);
  trace::Tensor tensor(size_t index);
  std::vector<TensorRef> refs(size_t index);
  trace::Tensors tensors(size_t index);

  // Scalars, which must be known now.

  int64_t integer(size_t index);
  double number(size_t index);
  bool flag(size_t index);
  std::string text(size_t index);
  /// A size: may be an expression.
  trace::Dim dim(size_t index);
  /// Lists; an int where a list is wanted counts as one.
  trace::Ints integers(size_t index);
  trace::Dims dims(size_t index);
  std::vector<double> numbers(size_t index);
  /// The element type that a dtype argument names; nothing for None. A type without kernels: an error.
  std::optional<ElementType> dtype(size_t index);
  /// A dimension made positive: -rank .. rank - 1 (of a rank-0 tensor: -1 .. 0).
  int64_t axis(size_t index, int64_t rank);
  /// A list of them, sorted, each once; None and the empty list give all axes.
  trace::Ints axes(size_t index, int64_t rank);

  // Results.

  Value result(const trace::Tensor &value);
  Value results(const trace::Tensors &values);

  /// "`add.Tensor`: message".
  Value unsupported(std::string_view message);
  Value invalid(std::string_view message);

private:
  Context &context_;
  const Operator &op_;
  const Values &arguments_;
};

// Type promotion (c10/core/ScalarType.h promoteTypes and ATen/native/TypeProperties.cpp result_type).

/// The type in which these operands meet: tensors with dimensions first, then rank-0 tensors, then wrapped numbers, each only if its
/// category (bool < integer < float) is higher than that of those before. A wrapped float alone is f32.
ElementType resultType(std::span<const TensorRef> operands);
ElementType promoteTypes(ElementType a, ElementType b);
bool isFloatType(ElementType type);
bool isIntegerType(ElementType type); // not i1
/// f32 for integers and booleans.
ElementType floatTypeOf(ElementType type);
/// A normalised axis; nothing when out of range.
std::optional<int64_t> normaliseAxis(int64_t axis, int64_t rank);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_OPCALL_H
