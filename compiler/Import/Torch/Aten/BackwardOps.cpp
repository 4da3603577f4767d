// Gradients of element-wise functions, softmax and losses, which the joint graphs of torch.export contain. Formulas are those of
// PyTorch's derivatives; narrow floats are computed in f32.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>
#include <numbers>

namespace stator::torch {

using fn::Reduction;
using trace::Ints;
using trace::Tensor;

namespace {

Operands pair(OpCall &op) { return promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide); }
Tensor complement(const Tensor &x) { return fn::sub(fn::scalarLike(x, 1), x); }
Tensor chosen(const Tensor &condition, const Tensor &gradient) { return fn::where(condition, gradient, zeroLike(gradient)); }
Tensor atMost(const Tensor &x, double limit) { return fn::le(x, fn::scalarLike(x, limit)); }
Tensor below(const Tensor &x, double limit) { return fn::lt(x, fn::scalarLike(x, limit)); }
Tensor above(const Tensor &x, double limit) { return fn::gt(x, fn::scalarLike(x, limit)); }

/// function(gradient, input or output)
template <Tensor (*function)(const Tensor &, const Tensor &)>
Value gradient(OpCall &op) {
  Operands x = pair(op);
  return op.ok() ? x.result(op, function(x[0], x[1])) : Value::poison();
}

Tensor tanhBackward(const Tensor &g, const Tensor &y) { return fn::mul(g, complement(fn::square(y))); }
Tensor sigmoidBackward(const Tensor &g, const Tensor &y) { return fn::mul(g, fn::mul(y, complement(y))); }
Tensor siluBackward(const Tensor &g, const Tensor &x) {
  Tensor gate = fn::sigmoid(x);
  return fn::mul(fn::mul(g, gate), plus(fn::mul(x, complement(gate)), 1));
}
Tensor mishBackward(const Tensor &g, const Tensor &x) {
  Tensor t = fn::tanh(fn::softplus(x));
  return fn::mul(g, fn::add(t, fn::mul(fn::mul(x, fn::sigmoid(x)), complement(fn::square(t)))));
}
Tensor hardswishBackward(const Tensor &g, const Tensor &x) {
  Tensor middle = fn::mul(g, plus(times(x, 1.0 / 3), 0.5));
  return fn::where(below(x, -3), zeroLike(g), fn::where(atMost(x, 3), middle, g));
}
Tensor hardsigmoidBackward(const Tensor &g, const Tensor &x) {
  return chosen(fn::logicalAnd(above(x, -3), below(x, 3)), times(g, 1.0 / 6));
}
Tensor logSigmoidBackward(const Tensor &g, const Tensor &x) { return fn::mul(g, fn::sigmoid(fn::neg(x))); }

Value thresholdBackward(OpCall &op) {
  Operands x = pair(op);
  double limit = op.number(2);
  return op.ok() ? x.result(op, fn::where(atMost(x[1], limit), zeroLike(x[0]), x[0])) : Value::poison();
}

Value geluBackward(OpCall &op) {
  Operands operands = pair(op);
  std::string approximate = op.text(2);
  if (!op.ok())
    return Value::poison();
  const Tensor &g = operands[0], &x = operands[1];
  if (approximate == "none") {
    Tensor cdf = times(plus(fn::erf(times(x, 1 / std::numbers::sqrt2)), 1), 0.5);
    Tensor density = times(fn::exp(times(fn::square(x), -0.5)), 0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
    return operands.result(op, fn::mul(g, fn::add(cdf, fn::mul(x, density))));
  }
  const double kappa = 0.044715, scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi; // sqrt(2 / pi)
  Tensor square = fn::square(x), t = fn::tanh(times(fn::mul(x, plus(times(square, kappa), 1)), scale));
  Tensor left = times(plus(t, 1), 0.5), slope = times(plus(times(square, 3 * kappa), 1), scale);
  Tensor right = fn::mul(fn::mul(times(x, 0.5), complement(fn::square(t))), slope);
  return operands.result(op, fn::mul(g, fn::add(left, right)));
}

Value hardtanhBackward(OpCall &op) {
  Operands x = pair(op);
  double low = op.number(2), high = op.number(3);
  return op.ok() ? x.result(op, chosen(fn::logicalAnd(above(x[1], low), below(x[1], high)), x[0])) : Value::poison();
}

Value leakyReluBackward(OpCall &op) {
  Operands x = pair(op);
  double slope = op.number(2);
  return op.ok() ? x.result(op, fn::where(above(x[1], 0), x[0], times(x[0], slope))) : Value::poison();
}

/// (grad_output, alpha, scale, input_scale, is_result, self_or_result)
Value eluBackward(OpCall &op) {
  Operands x = promoted(op, {0, 5}, Promotion::ToFloat, Precision::Wide);
  double alpha = op.number(1), scale = op.number(2), inputScale = op.number(3);
  bool isResult = op.flag(4);
  if (!op.ok())
    return Value::poison();
  double negative = alpha * scale;
  Tensor slope = isResult ? times(plus(x[1], negative), inputScale) : times(fn::exp(times(x[1], inputScale)), inputScale * negative);
  return x.result(op, fn::where(atMost(x[1], 0), fn::mul(x[0], slope), times(x[0], scale)));
}

Value softplusBackward(OpCall &op) {
  Operands x = pair(op);
  double beta = op.number(2), limit = op.number(3);
  if (!op.ok())
    return Value::poison();
  Tensor scaled = times(x[1], beta);
  return x.result(op, fn::where(above(scaled, limit), x[0], fn::mul(x[0], fn::sigmoid(scaled))));
}

/// hardshrink and softshrink: nothing flows where the result is 0.
Value shrinkBackward(OpCall &op) {
  Operands x = pair(op);
  double lambda = op.number(2);
  return op.ok() ? x.result(op, fn::where(atMost(fn::abs(x[1]), lambda), zeroLike(x[0]), x[0])) : Value::poison();
}

/// (grad_output, output, dim, input_dtype)
template <bool isLog>
Value softmaxBackward(OpCall &op) {
  Operands x = pair(op);
  Ints axes = x[0].rank() == 0 ? Ints{} : Ints{op.axis(2, x[0].rank())};
  std::optional<ElementType> type = op.dtype(3);
  if (!op.ok())
    return Value::poison();
  auto sum = [&](const Tensor &y) { return axes.empty() ? y : fn::reduce(y, Reduction::Sum, axes, /*keepDims=*/true); };
  Tensor result = isLog ? fn::sub(x[0], fn::mul(fn::exp(x[1]), sum(x[0]))) : fn::mul(x[1], fn::sub(x[0], sum(fn::mul(x[0], x[1]))));
  return op.result(fn::cast(result, type.value_or(x.type)));
}

/// What each element's gradient is divided by: their number for a mean.
Tensor perElement(OpCall &op, const Tensor &gradient, const Tensor &x, int64_t reduction) {
  return op.ok() && reduction == 1 ? fn::div(gradient, countOf(x, axisRange(0, x.rank()), gradient.type())) : gradient;
}

/// (grad_output, self, target, reduction)
Value mseBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::ToFloat, Precision::Wide);
  int64_t reduction = op.integer(3);
  Tensor difference = fn::sub(x[1], x[2]);
  return op.ok() ? x.result(op, perElement(op, fn::mul(times(difference, 2), x[0]), difference, reduction)) : Value::poison();
}

/// (grad_output, self, target, reduction, beta or delta)
template <bool isHuber>
Value smoothBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::ToFloat, Precision::Wide);
  int64_t reduction = op.integer(3);
  double limit = op.number(4);
  if (!op.ok())
    return Value::poison();
  Tensor difference = fn::sub(x[1], x[2]), isNear = isHuber ? atMost(fn::abs(difference), limit) : below(fn::abs(difference), limit);
  Tensor near = isHuber || limit == 0 ? difference : times(difference, 1 / limit);
  Tensor slope = fn::where(isNear, near, times(fn::sign(difference), isHuber ? limit : 1));
  return x.result(op, perElement(op, fn::mul(slope, x[0]), difference, reduction));
}

/// (grad_output, self, target, weight, reduction, ignore_index, total_weight)
Value nllBackward(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  Tensor target = op.tensor(2), weight = op.tensor(3), total = op.tensor(6);
  int64_t reduction = op.integer(4), ignore = op.integer(5);
  if (!op.ok())
    return Value::poison();
  const Tensor &input = x[1];
  int64_t axis = input.rank() == 1 ? 0 : 1;
  Tensor classes = fn::unsqueeze(fn::cast(target, ElementType::I64), {axis}), gradient = x[0];
  if (gradient.rank() != 0)
    gradient = fn::unsqueeze(gradient, {axis});
  if (reduction == 1)
    gradient = fn::div(gradient, fn::cast(total, gradient.type()));
  Tensor isTarget = fn::eq(fn::iota(op.builder(), ElementType::I64, input.dims(), axis), classes);
  isTarget = fn::logicalAnd(isTarget, fn::ne(classes, fn::scalarLike(classes, static_cast<double>(ignore))));
  Tensor flow = fn::neg(gradient);
  if (weight) {
    trace::Dims spread(input.rank(), 1);
    spread[axis] = input.dim(axis);
    flow = fn::mul(fn::reshape(fn::cast(weight, flow.type()), spread), flow);
  }
  return x.result(op, fn::where(isTarget, flow, zeroLike(flow)));
}

Value dropoutBackward(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  double scale = op.number(2);
  return op.ok() ? x.result(op, times(chosen(op.tensor(1), x[0]), scale)) : Value::poison();
}

/// glu: the value's half gets g * gate, the gate's g * value * gate * (1 - gate).
Value gluBackward(OpCall &op) {
  Operands x = pair(op);
  int64_t axis = op.axis(2, x[1].rank());
  if (!op.ok() || x[1].rank() == 0)
    return op.ok() ? op.invalid("the tensor has no dimensions") : Value::poison();
  trace::Dim half = floorDiv(x[1].dim(axis), 2);
  Tensor value = fn::slice(x[1], {0}, {half}, {axis}), gate = fn::sigmoid(fn::slice(x[1], {half}, {half + half}, {axis}));
  Tensor first = fn::mul(x[0], gate);
  return x.result(op, fn::concat({first, fn::mul(fn::mul(first, complement(gate)), value)}, axis));
}

Value logSigmoidBackwardOf(OpCall &op) { return gradient<logSigmoidBackward>(op); }

} // namespace

std::span<const OpEntry> backwardOps() {
  static constexpr OpEntry entries[] = {
      {"threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor", thresholdBackward},
      {"tanh_backward(Tensor grad_output, Tensor output) -> Tensor", gradient<tanhBackward>},
      {"sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", gradient<sigmoidBackward>},
      {"silu_backward(Tensor grad_output, Tensor self) -> Tensor", gradient<siluBackward>},
      {"mish_backward(Tensor grad_output, Tensor self) -> Tensor", gradient<mishBackward>},
      {"hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", gradient<hardswishBackward>},
      {"hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", gradient<hardsigmoidBackward>},
      {"log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor", logSigmoidBackwardOf},
      {"gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor", geluBackward},
      {"hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor", hardtanhBackward},
      {"leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor", leakyReluBackward},
      {"elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> Tensor",
       eluBackward},
      {"softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor", softplusBackward},
      {"hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor", shrinkBackward},
      {"softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", shrinkBackward},
      {"glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", gluBackward},
      {"_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor", softmaxBackward<false>},
      {"_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor", softmaxBackward<true>},
      {"mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor", mseBackward},
      {"smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor",
       smoothBackward<false>},
      {"huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor", smoothBackward<true>},
      {"nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, "
       "Tensor total_weight) -> Tensor",
       nllBackward},
      {"nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, "
       "Tensor total_weight) -> Tensor",
       nllBackward},
      {"native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor", dropoutBackward},
  };
  return entries;
}

} // namespace stator::torch
