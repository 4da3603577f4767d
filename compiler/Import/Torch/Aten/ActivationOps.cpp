// Activation functions, softmax and dropout. Narrow floats are computed in f32 and rounded once. Dropout is the identity of evaluation;
// training needs random numbers, which a compiled model does not draw.
#include "compiler/Import/Torch/Aten/Compute.h"

namespace stator::torch {

using trace::Tensor;

namespace {

template <Tensor (*function)(const Tensor &)>
Value wide(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  return x.result(op, function(x[0]));
}

Operands wideInput(OpCall &op) { return promoted(op, {0}, Promotion::ToFloat, Precision::Wide); }

Value relu(OpCall &op) {
  Tensor x = op.tensor(0);
  return op.ok() && x.type() == ElementType::I1 ? op.invalid("the tensor is of booleans; PyTorch refuses them too")
                                                : op.result(fn::relu(x));
}

Value clampTo(OpCall &op, double low, double high) { return op.result(fn::clip(op.tensor(0), low, high)); }
Value relu6(OpCall &op) { return clampTo(op, 0, 6); }
Value hardtanh(OpCall &op) {
  double low = op.number(1), high = op.number(2);
  return clampTo(op, low, high);
}

Value leakyReluWith(OpCall &op, double slope) {
  Operands x = wideInput(op);
  return x.result(op, fn::leakyRelu(x[0], slope));
}

Value leakyRelu(OpCall &op) {
  double slope = op.number(1);
  return leakyReluWith(op, slope);
}

/// rrelu(self, lower, upper, training) and rrelu_with_noise(self, noise, lower, upper, training).
template <size_t first>
Value rrelu(OpCall &op) {
  if (op.flag(first + 2))
    return op.unsupported("it draws random slopes in training; export the model in evaluation mode (model.eval())");
  double lower = op.number(first), upper = op.number(first + 1);
  return leakyReluWith(op, (lower + upper) / 2);
}

Value prelu(OpCall &op) {
  Tensor x = op.tensor(0), slope = op.tensor(1);
  if (!op.ok())
    return Value::poison();
  // One slope, or one for each channel, which is axis 1.
  bool isOne = slope.elements() == trace::Dim(1);
  trace::Dims dims(isOne || x.rank() < 2 ? 0 : x.rank(), 1);
  if (!isOne && x.rank() >= 2)
    dims[1] = x.dim(1);
  if (slope.rank() != x.rank() || x.rank() == 1)
    slope = isOne || x.rank() >= 2 ? fn::reshape(slope, dims) : slope;
  return op.result(fn::prelu(x, slope));
}

Value preluKernel(OpCall &op) { return op.result(fn::prelu(op.tensor(0), op.tensor(1))); }

/// x * scale for positive x, else (e^(x * inputScale) - 1) * alpha * scale.
Value eluOf(OpCall &op, double alpha, double scale, double inputScale) {
  Operands x = wideInput(op);
  if (!op.ok())
    return Value::poison();
  Tensor negative = times(fn::expm1(times(x[0], inputScale)), alpha * scale);
  return x.result(op, fn::where(fn::gt(x[0], zeroLike(x[0])), times(x[0], scale), negative));
}

Value elu(OpCall &op) {
  double alpha = op.number(1), scale = op.number(2), inputScale = op.number(3);
  return eluOf(op, alpha, scale, inputScale);
}
Value selu(OpCall &op) { return eluOf(op, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1); }
Value celu(OpCall &op) {
  double alpha = op.number(1);
  if (op.ok() && alpha == 0)
    return op.invalid("alpha is 0");
  return eluOf(op, alpha, 1, 1 / alpha);
}

Value gelu(OpCall &op) {
  std::string approximate = op.text(1);
  if (approximate != "none" && approximate != "tanh")
    return op.invalid("the approximation is `" + approximate + "`, expected `none` or `tanh`");
  Operands x = wideInput(op);
  return x.result(op, fn::gelu(x[0], approximate == "tanh"));
}

Tensor siluOf(const Tensor &x) { return fn::silu(x); }
Tensor hardSigmoidOf(const Tensor &x) { return times(fn::clip(plus(x, 3), 0, 6), 1.0 / 6); }
Tensor hardSwishOf(const Tensor &x) { return fn::mul(x, hardSigmoidOf(x)); }
/// min(x, 0) - log(1 + e^-|x|)
Tensor logSigmoidOf(const Tensor &x) { return fn::sub(fn::minimum(x, zeroLike(x)), fn::log1p(fn::exp(fn::neg(fn::abs(x))))); }

Value logSigmoidForward(OpCall &op) {
  Operands x = wideInput(op);
  if (!op.ok())
    return Value::poison();
  Tensor buffer = fn::exp(fn::neg(fn::abs(x[0])));
  return op.results({fn::cast(logSigmoidOf(x[0]), x.type), fn::cast(buffer, x.type)});
}

Value softplus(OpCall &op) {
  double beta = op.number(1), threshold = op.number(2);
  Operands x = wideInput(op);
  if (!op.ok())
    return Value::poison();
  Tensor scaled = times(x[0], beta);
  Tensor smooth = beta == 1 ? fn::softplus(scaled) : fn::div(fn::softplus(scaled), fn::scalarLike(scaled, beta));
  return x.result(op, fn::where(fn::gt(scaled, fn::scalarLike(scaled, threshold)), x[0], smooth));
}

Value hardshrink(OpCall &op) {
  double lambda = op.number(1);
  Tensor x = op.tensor(0);
  return op.ok() ? op.result(fn::where(fn::le(fn::abs(x), fn::scalarLike(x, lambda)), zeroLike(x), x)) : Value::poison();
}

Value softshrink(OpCall &op) {
  double lambda = op.number(1);
  Operands x = wideInput(op);
  if (!op.ok())
    return Value::poison();
  Tensor result = fn::shrink(x[0], lambda, lambda);
  return x.result(op, fn::where(fn::isNan(x[0]), x[0], result));
}

Value threshold(OpCall &op) {
  double limit = op.number(1), value = op.number(2);
  Tensor x = op.tensor(0);
  return op.ok() ? op.result(fn::where(fn::le(x, fn::scalarLike(x, limit)), fn::scalarLike(x, value), x)) : Value::poison();
}

Value glu(OpCall &op) {
  Operands x = wideInput(op);
  int64_t axis = op.axis(1, x[0].rank());
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() == 0)
    return op.invalid("the tensor has no dimensions");
  trace::Dim size = x[0].dim(axis), half = floorDiv(size, 2);
  if (size.isConstant() && size.constant() % 2 != 0)
    return op.invalid("dimension " + std::to_string(axis) + " has " + size.str() + " elements, which cannot be halved");
  Tensor value = fn::slice(x[0], {0}, {half}, {axis}), gate = fn::slice(x[0], {half}, {half + half}, {axis});
  return x.result(op, fn::mul(value, fn::sigmoid(gate)));
}

// softmax.int(self, dim, dtype): converted first. _softmax(self, dim, half_to_float).

template <bool isLog, bool isSafe = false>
Value softmax(OpCall &op) {
  Tensor given = op.tensor(0);
  std::optional<ElementType> type = op.dtype(2);
  int64_t axis = op.axis(1, given.rank());
  if (!op.ok())
    return Value::poison();
  Tensor x = toFloat(type ? fn::cast(given, *type) : given), input = widened(x);
  Tensor result = isLog ? fn::logSoftmax(input, axis) : fn::softmax(input, axis);
  if (isSafe && input.rank() > 0) { // What may attend to nothing gives zeros.
    Tensor most = fn::reduce(input, fn::Reduction::Max, trace::Ints{axis}), isNothing = fn::isInf(most, true, false);
    result = fn::where(isNothing, zeroLike(result), result);
  }
  return op.result(fn::cast(result, x.type()));
}

template <bool isLog>
Value rawSoftmax(OpCall &op) {
  Tensor x = toFloat(op.tensor(0));
  bool toFloat32 = op.flag(2);
  int64_t axis = op.axis(1, x.rank());
  Tensor result = isLog ? fn::logSoftmax(widened(x), axis) : fn::softmax(widened(x), axis);
  return op.result(fn::cast(result, toFloat32 ? ElementType::F32 : x.type()));
}

/// Whether nothing is to be dropped; else the error is recorded.
bool isIdentity(OpCall &op) {
  bool isTraining = !op.isNone(2) && op.flag(2);
  if (!op.ok() || !isTraining || isNumber(op, 1, 0))
    return op.ok();
  op.unsupported("dropout in training mode draws random numbers; export the model in evaluation mode (model.eval())");
  return false;
}

/// The input itself: PyTorch makes no copy.
Value dropout(OpCall &op) { return isIdentity(op) ? op.argument(0) : Value::poison(); }

Value nativeDropout(OpCall &op) {
  if (!isIdentity(op))
    return Value::poison();
  Tensor x = op.tensor(0);
  return op.results({x, fn::full(op.builder(), ElementType::I1, x.dims(), 1)});
}

} // namespace

std::span<const OpEntry> activationOps() {
  static constexpr OpEntry entries[] = {
      {"relu(Tensor self) -> Tensor", relu},
      {"relu6(Tensor self) -> Tensor", relu6},
      {"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", leakyRelu},
      {"rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor",
       rrelu<1>},
      {"rrelu_with_noise(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, "
       "Generator? generator=None) -> Tensor",
       rrelu<2>},
      {"prelu(Tensor self, Tensor weight) -> Tensor", prelu},
      {"_prelu_kernel(Tensor self, Tensor weight) -> Tensor", preluKernel},
      {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", elu},
      {"selu(Tensor self) -> Tensor", selu},
      {"celu(Tensor self, Scalar alpha=1.0) -> Tensor", celu},
      {"gelu(Tensor self, *, str approximate=\"none\") -> Tensor", gelu},
      {"silu(Tensor self) -> Tensor", wide<siluOf>},
      {"mish(Tensor self) -> Tensor", wide<fn::mish>},
      {"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", softplus},
      {"hardsigmoid(Tensor self) -> Tensor", wide<hardSigmoidOf>},
      {"hardswish(Tensor self) -> Tensor", wide<hardSwishOf>},
      {"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", hardtanh},
      {"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", hardshrink},
      {"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", softshrink},
      {"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", threshold},
      {"glu(Tensor self, int dim=-1) -> Tensor", glu},
      {"log_sigmoid(Tensor self) -> Tensor", wide<logSigmoidOf>},
      {"log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", logSigmoidForward},
      {"softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax<false>},
      {"special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax<false>},
      {"_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax<false, true>},
      {"log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax<true>},
      {"special_log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax<true>},
      {"_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", rawSoftmax<false>},
      {"_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", rawSoftmax<true>},
      {"dropout(Tensor input, float p, bool train) -> Tensor", dropout},
      {"alpha_dropout(Tensor input, float p, bool train) -> Tensor", dropout},
      {"feature_dropout(Tensor input, float p, bool train) -> Tensor", dropout},
      {"feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", dropout},
      {"native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", nativeDropout},
  };
  return entries;
}

} // namespace stator::torch
