//===- ElementwiseOps.cpp - ONNX arithmetic, comparison, logic, casts ------===//

#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;

namespace {

using Unary = trace::Tensor (*)(const trace::Tensor &);
using Binary = trace::Tensor (*)(const trace::Tensor &, const trace::Tensor &);
using Nary = trace::Tensor (*)(const trace::Tensors &);

template <Unary function>
void unary(OpContext &op) {
  op.output(function(op.input(0)));
}

/// Before opset 7 the second operand's axes lie where `axis` says, by default at the end.
trace::Tensor secondOperand(OpContext &op) {
  trace::Tensor a = op.input(0), b = op.input(1);
  if (op.opset() >= 7 || !op.has("axis") || !op.builder().ok())
    return b;
  int64_t axis = op.integer("axis", 0), after = a.rank() - (axis < 0 ? axis + a.rank() : axis) - b.rank();
  trace::Dims dims = b.dims();
  for (int64_t i = 0; i < after; ++i)
    dims.push_back(1);
  return fn::reshape(b, dims);
}

template <Binary function>
void binary(OpContext &op) {
  op.output(function(op.input(0), secondOperand(op)));
}

template <Nary function>
void nary(OpContext &op) {
  if (op.numInputs() == 0)
    return op.fail("has no inputs, expected at least one");
  for (size_t i = 0; i < op.numInputs(); ++i)
    op.input(i);
  op.output(function(op.allInputs()));
}

void mod(OpContext &op) {
  op.output(op.flag("fmod") ? fn::remainder(op.input(0), op.input(1)) : fn::modulo(op.input(0), op.input(1)));
}

void bitShift(OpContext &op) {
  std::string_view direction = op.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return op.fail("attribute `direction` is `" + std::string(direction) + "`, expected LEFT or RIGHT");
  op.output(direction == "LEFT" ? fn::shiftLeft(op.input(0), op.input(1)) : fn::shiftRight(op.input(0), op.input(1)));
}

void isInf(OpContext &op) { op.output(fn::isInf(op.input(0), op.flag("detect_negative", true), op.flag("detect_positive", true))); }

void cast(OpContext &op) {
  std::optional<ElementType> type = elementTypeAttribute(op, "to");
  if (!type)
    return op.fail("attribute `to` is missing");
  op.output(fn::cast(op.input(0), *type));
}

void castLike(OpContext &op) { op.output(fn::cast(op.input(0), op.input(1).type())); }

void clip(OpContext &op) { op.output(fn::clip(op.input(0), op.optional(1), op.optional(2))); }

void where(OpContext &op) { op.output(fn::where(op.input(0), op.input(1), op.input(2))); }

} // namespace

std::span<const OpEntry> elementwiseOps() {
  static constexpr OpEntry entries[] = {
      {"Abs", unary<fn::abs>},
      {"Neg", unary<fn::neg>},
      {"Exp", unary<fn::exp>},
      {"Log", unary<fn::log>},
      {"Sqrt", unary<fn::sqrt>},
      {"Reciprocal", unary<fn::reciprocal>},
      {"Sin", unary<fn::sin>},
      {"Cos", unary<fn::cos>},
      {"Tan", unary<fn::tan>},
      {"Asin", unary<fn::asin>},
      {"Acos", unary<fn::acos>},
      {"Atan", unary<fn::atan>},
      {"Sinh", unary<fn::sinh>},
      {"Cosh", unary<fn::cosh>},
      {"Asinh", unary<fn::asinh>},
      {"Acosh", unary<fn::acosh>},
      {"Atanh", unary<fn::atanh>},
      {"Tanh", unary<fn::tanh>},
      {"Erf", unary<fn::erf>},
      {"Sigmoid", unary<fn::sigmoid>},
      {"Floor", unary<fn::floor>},
      {"Ceil", unary<fn::ceil>},
      {"Round", unary<fn::roundEven>},
      {"Sign", unary<fn::sign>},
      {"Not", unary<fn::logicalNot>},
      {"BitwiseNot", unary<fn::bitwiseNot>},
      {"IsNaN", unary<fn::isNan>},
      {"IsInf", isInf},
      {"Identity", unary<fn::identity>},
      {"Add", binary<fn::add>},
      {"Sub", binary<fn::sub>},
      {"Mul", binary<fn::mul>},
      {"Div", binary<fn::div>},
      {"Pow", binary<fn::pow>},
      {"Mod", mod},
      {"And", binary<fn::logicalAnd>},
      {"Or", binary<fn::logicalOr>},
      {"Xor", binary<fn::logicalXor>},
      {"BitwiseAnd", binary<fn::bitwiseAnd>},
      {"BitwiseOr", binary<fn::bitwiseOr>},
      {"BitwiseXor", binary<fn::bitwiseXor>},
      {"BitShift", bitShift},
      {"Equal", binary<fn::eq>},
      {"Less", binary<fn::lt>},
      {"LessOrEqual", binary<fn::le>},
      {"Greater", binary<fn::gt>},
      {"GreaterOrEqual", binary<fn::ge>},
      {"Where", where},
      {"Clip", clip},
      {"Sum", nary<fn::sumOf>},
      {"Mean", nary<fn::meanOf>},
      {"Max", nary<fn::maxOf>},
      {"Min", nary<fn::minOf>},
      {"Cast", cast},
      {"CastLike", castLike},
  };
  return entries;
}

} // namespace stator::onnx
