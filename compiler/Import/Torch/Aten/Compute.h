// What the families of operators share: operands brought to one type, and the type in which to compute. Half-precision floats are added
// up, divided and scaled in f32 and rounded once, as PyTorch's kernels do on CPUs; only single operations, which round once anyway, stay
// in the narrow type.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_COMPUTE_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_COMPUTE_H

#include "compiler/Import/Torch/Aten/OpCall.h"

#include <initializer_list>

namespace stator::torch {

namespace fn = trace::fn;

inline bool isNarrowFloat(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }
/// f32 for narrow floats.
inline ElementType wideTypeOf(ElementType type) { return isNarrowFloat(type) ? ElementType::F32 : type; }
/// x in the type in which sums of it are made.
inline trace::Tensor widened(const trace::Tensor &x) { return fn::cast(x, wideTypeOf(x.type())); }
/// Integers and booleans as f32.
inline trace::Tensor toFloat(const trace::Tensor &x) { return fn::cast(x, floatTypeOf(x.type())); }

enum class Promotion { Plain, ToFloat };
enum class Precision {
  Exact, // nothing is rounded afterwards: all in the type of the result
  Same,  // narrow floats as they are, save where a Python number takes part, which is not rounded to them
  Wide,  // narrow floats in f32
};

/// Operands of one operation.
struct Operands {
  ElementType type = ElementType::F32; // of the result
  trace::Tensors values;               // in the type in which to compute

  const trace::Tensor &operator[](size_t index) const { return values[index]; }
  /// The result, rounded to its type.
  Value result(OpCall &op, const trace::Tensor &value) const { return op.ok() ? op.result(fn::cast(value, type)) : Value::poison(); }
};

/// The arguments at `indices`, promoted.
Operands promoted(OpCall &op, std::initializer_list<size_t> indices, Promotion promotion = Promotion::Plain,
                  Precision precision = Precision::Same);

/// The Scalar argument in x's type; known numbers only become a constant.
trace::Tensor scalarArgument(OpCall &op, size_t index, ElementType type);
/// Whether the Scalar argument is known to be this number.
bool isNumber(OpCall &op, size_t index, double number);
/// x with a number in its own type.
inline trace::Tensor plus(const trace::Tensor &x, double value) { return fn::add(x, fn::scalarLike(x, value)); }
inline trace::Tensor times(const trace::Tensor &x, double value) { return value == 1 ? x : fn::mul(x, fn::scalarLike(x, value)); }
inline trace::Tensor zeroLike(const trace::Tensor &x) { return fn::scalarLike(x, 0); }

/// The sizes without the axes, or with 1 in their place.
trace::Dims reducedDims(const trace::Dims &dims, const trace::Ints &axes, bool keepDims);
/// The product of the sizes of these axes as a rank-0 tensor.
trace::Tensor countOf(const trace::Tensor &x, const trace::Ints &axes, ElementType type);
/// Axes from..to-1.
trace::Ints axisRange(int64_t from, int64_t to);

/// torch.nn.functional's reductions of losses as numbers: 0 none, 1 mean, 2 sum.
trace::Tensor reduceLoss(OpCall &op, const trace::Tensor &loss, int64_t reduction);

/// An operator of one tensor computed in its float type; a composed one in f32 for narrow floats.
template <trace::Tensor (*function)(const trace::Tensor &), Precision precision = Precision::Same>
Value floatUnary(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, precision);
  return x.result(op, function(x[0]));
}

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_COMPUTE_H
