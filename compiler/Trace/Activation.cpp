// Activations, written with element-wise functions except where the dialect keeps a composite (relu, gelu, softmax).
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace::fn {

namespace {

/// `where(x > 0, x, negative)`.
Tensor positiveOr(const Tensor &x, const Tensor &negative) { return where(gt(x, scalarLike(x, 0)), x, negative); }

Tensor plus(const Tensor &x, double value) { return withScalar("add", x, value); }
Tensor times(const Tensor &x, double value) { return value == 1 ? x : withScalar("mul", x, value); }

/// softmax and log_softmax; with coerce2D over a matrix.
Tensor softmaxLike(llvm::StringRef op, const Tensor &given, int64_t axis, bool coerce2D) {
  Tensor x = toFloat(given);
  Call call(op, {x});
  if (!call)
    return call.failed();
  Sizes dims = sizesOf(x);
  if (coerce2D) {
    Tensor matrix = flatten(x, axis);
    Tensor result = softmaxLike(op, matrix, 1, false);
    return call ? reshapeTo(*call, result, dims) : call.failed();
  }
  // The softmax of a single number is that of a vector of one.
  if (x.rank() == 0 && (axis == 0 || axis == -1))
    return reshapeTo(*call, softmaxLike(op, reshapeTo(*call, x, {DimExpr(1)}), 0, false), {});
  if (!call.axis(axis, x.rank()))
    return call.failed();
  return emit(*call, ("graph." + op).str(), {x}, Attributes(*call).integer("axis", axis));
}

} // namespace

Tensor relu(const Tensor &x) { return unary("relu", x); }
Tensor leakyRelu(const Tensor &x, double alpha) { return where(lt(x, scalarLike(x, 0)), times(x, alpha), x); }

Tensor prelu(const Tensor &x, const Tensor &slope) {
  Call call("prelu", {x, slope});
  if (!call)
    return call.failed();
  Tensor alpha = broadcastTo(*call, "prelu", cast(slope, x.type()), sizesOf(x));
  return where(lt(x, scalarLike(x, 0)), mul(alpha, x), x);
}

Tensor elu(const Tensor &x, double alpha) { return positiveOr(x, times(expm1(x), alpha)); }
Tensor selu(const Tensor &x, double alpha, double gamma) { return times(elu(x, alpha), gamma); }
Tensor celu(const Tensor &x, double alpha) { return positiveOr(x, times(expm1(times(x, 1 / alpha)), alpha)); }

Tensor gelu(const Tensor &given, bool tanhApproximation) {
  Tensor x = toFloat(given);
  Call call("gelu", {x});
  if (!call)
    return call.failed();
  auto kind = tanhApproximation ? graph::GeluApproximation::Tanh : graph::GeluApproximation::None;
  return emit(*call, "graph.gelu", {x}, Attributes(*call).attr("approximate", graph::GeluApproximationAttr::get(call->context(), kind)));
}

Tensor silu(const Tensor &x, double alpha) { return mul(x, sigmoid(times(x, alpha))); }
Tensor mish(const Tensor &x) { return mul(x, tanh(softplus(x))); }

Tensor softplus(const Tensor &given) {
  // log(1 + e^x) without overflow.
  Tensor x = toFloat(given);
  return add(relu(x), log1p(exp(neg(abs(x)))));
}

Tensor softsign(const Tensor &given) {
  Tensor x = toFloat(given);
  return div(x, plus(abs(x), 1));
}

Tensor hardSigmoid(const Tensor &given, double alpha, double beta) { return clip(plus(times(toFloat(given), alpha), beta), 0, 1); }
Tensor hardSwish(const Tensor &x) { return mul(x, hardSigmoid(x, 1.0 / 6, 0.5)); }

Tensor thresholdedRelu(const Tensor &x, double alpha) {
  Tensor zero = scalarLike(x, 0);
  return where(gt(x, scalarLike(x, alpha)), x, zero);
}

Tensor shrink(const Tensor &x, double lambd, double bias) {
  Tensor high = where(gt(x, scalarLike(x, lambd)), plus(x, -bias), scalarLike(x, 0));
  return where(lt(x, scalarLike(x, -lambd)), plus(x, bias), high);
}

Tensor softmax(const Tensor &x, int64_t axis, bool coerce2D) { return softmaxLike("softmax", x, axis, coerce2D); }
Tensor logSoftmax(const Tensor &x, int64_t axis, bool coerce2D) { return softmaxLike("log_softmax", x, axis, coerce2D); }

Tensor hardmax(const Tensor &x, int64_t axis, bool coerce2D) {
  Call call("hardmax", {x});
  if (!call)
    return call.failed();
  if (coerce2D) {
    Sizes dims = sizesOf(x);
    Tensor result = hardmax(flatten(x, axis), 1, false);
    return call ? reshapeTo(*call, result, dims) : call.failed();
  }
  if (!call.axis(axis, x.rank()))
    return call.failed();
  Tensor best = argMax(x, axis, /*keepDims=*/true);
  return cast(eq(iota(*call->builder(), ElementType::I64, x.dims(), axis), best), x.type());
}

Tensor dropout(const Tensor &x) { return x; }

} // namespace stator::trace::fn
