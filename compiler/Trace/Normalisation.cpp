// Normalisations. Those over trailing axes use the dialect's composites; instance and group normalisation are layer normalisations of
// a reshaped tensor, so that they share its kernels.
#include "compiler/Trace/ElementwiseSupport.h"
#include "compiler/Trace/Windows.h"

namespace stator::trace {

namespace {

/// scale and bias of [C] along axis 1; either may be absent.
Tensor scaleChannels(const Call &call, Tensor x, const Tensor &scale, const Tensor &bias) {
  for (const auto &[vector, isScale] : {std::pair(scale, true), std::pair(bias, false)}) {
    if (!vector || !call)
      continue;
    if (!call.rank(isScale ? "the scale" : "the bias", vector, 1))
      return call.failed();
    Tensor factor = fn::cast(vector, x.type());
    if (!requireEqualSizes(*call, call.name(), x, 1, factor, 0))
      return call.failed();
    Tensor spread = broadcastAlong(*call, factor, sizesOf(x), 1);
    x = isScale ? fn::mul(x, spread) : fn::add(x, spread);
  }
  return x;
}

/// Mean 0 and variance 1 over each of `groups` per sample: layer normalisation of [N, groups, rest].
Tensor normaliseGroups(const Call &call, const Tensor &x, const DimExpr &groups, double epsilon) {
  Sizes dims = sizesOf(x);
  DimExpr rest = productOf(llvm::ArrayRef<DimExpr>(dims).drop_front(1)).floorDiv(groups);
  Tensor rows = reshapeTo(*call, x, {dims[0], groups, rest});
  Tensor normal = emit(*call, "graph.layer_norm", {rows, {}, {}}, Attributes(*call).integer("axis", 2).number("epsilon", epsilon));
  return reshapeTo(*call, normal, dims);
}

/// x * scale + bias over the axes from `axis` on, inside of the composite where the shapes allow.
Tensor normaliseRows(const Call &call, llvm::StringRef op, const Tensor &x, const Tensor &scale, const Tensor &bias, int64_t axis,
                     double epsilon, bool hasBias) {
  Sizes dims = sizesOf(x), rows(dims.begin() + axis, dims.end());
  int64_t rank = static_cast<int64_t>(rows.size());
  bool isInside = (!scale || scale.rank() <= rank) && (!bias || bias.rank() <= rank);
  Tensor inner = scale ? fn::cast(scale, x.type()) : Tensor(), shift = bias ? fn::cast(bias, x.type()) : Tensor();
  llvm::SmallVector<Tensor> operands{x};
  if (isInside) {
    if (inner)
      inner = broadcastTo(*call, call.name(), inner, rows);
    if (shift)
      shift = broadcastTo(*call, call.name(), shift, rows);
  }
  operands.push_back(isInside ? inner : Tensor());
  if (hasBias)
    operands.push_back(isInside ? shift : Tensor());
  Tensor result = emit(*call, op, operands, Attributes(*call).integer("axis", axis).number("epsilon", epsilon));
  if (isInside)
    return result;
  if (inner)
    result = fn::mul(result, inner);
  return shift ? fn::add(result, shift) : result;
}

} // namespace

namespace fn {

Tensor batchNorm(const Tensor &given, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance, double epsilon,
                 int64_t axis) {
  Tensor x = toFloat(given);
  Call call("batchNorm", {x, scale, bias, mean, variance});
  if (!call || !call.rankAtLeast("the input", x, 2) || !call.axis(axis, x.rank()))
    return call.failed();
  llvm::SmallVector<Tensor> operands{x};
  for (const Tensor &vector : {scale, bias, mean, variance}) {
    if (!call.rank("a statistic", vector, 1))
      return call.failed();
    Tensor converted = cast(vector, x.type());
    if (!requireEqualSizes(*call, "batchNorm", operands[0], axis, converted, 0))
      return call.failed();
    operands.push_back(converted);
  }
  return emit(*call, "graph.batch_norm", operands, Attributes(*call).integer("axis", axis).number("epsilon", epsilon));
}

Tensor instanceNorm(const Tensor &given, const Tensor &scale, const Tensor &bias, double epsilon) {
  Tensor x = toFloat(given);
  Call call("instanceNorm", {x}, {scale, bias});
  if (!call || !call.rankAtLeast("the input", x, 3))
    return call.failed();
  return scaleChannels(call, normaliseGroups(call, x, call->dims(x)[1], epsilon), scale, bias);
}

Tensor groupNorm(const Tensor &given, int64_t groups, const Tensor &scale, const Tensor &bias, double epsilon, bool perGroup) {
  Tensor x = toFloat(given);
  Call call("groupNorm", {x}, {scale, bias});
  if (!call || !call.rankAtLeast("the input", x, 2))
    return call.failed();
  std::optional<int64_t> channels = call.constantSize("the input", x, 1);
  if (!channels)
    return call.failed();
  if (groups < 1 || *channels % groups != 0)
    return call.invalid(llvm::Twine(groups) + " groups for " + llvm::Twine(*channels) + " channels");
  Tensor normal = normaliseGroups(call, x, DimExpr(groups), epsilon);
  if (!perGroup || !call)
    return scaleChannels(call, normal, scale, bias);
  Sizes dims = sizesOf(x), split(dims);
  split[1] = DimExpr(*channels / groups);
  split.insert(split.begin() + 1, DimExpr(groups));
  return reshapeTo(*call, scaleChannels(call, reshapeTo(*call, normal, split), scale, bias), dims);
}

Tensor layerNorm(const Tensor &given, const Tensor &scale, const Tensor &bias, int64_t axis, double epsilon) {
  Tensor x = toFloat(given);
  Call call("layerNorm", {x}, {scale, bias});
  if (!call || !call.axis(axis, x.rank()))
    return call.failed();
  return normaliseRows(call, "graph.layer_norm", x, scale, bias, axis, epsilon, /*hasBias=*/true);
}

Tensor rmsNorm(const Tensor &given, const Tensor &scale, int64_t axis, double epsilon) {
  Tensor x = toFloat(given);
  Call call("rmsNorm", {x}, {scale});
  if (!call || !call.axis(axis, x.rank()))
    return call.failed();
  return normaliseRows(call, "graph.rms_norm", x, scale, {}, axis, epsilon, /*hasBias=*/false);
}

Tensor lrn(const Tensor &given, int64_t size, double alpha, double beta, double bias) {
  Tensor x = toFloat(given);
  Call call("lrn", {x});
  if (!call || !call.rankAtLeast("the input", x, 2))
    return call.failed();
  if (size < 1 || size > 65536)
    return call.invalid("the window has " + llvm::Twine(size) + " channels, expected 1..65536");
  // The sum over neighbouring channels, as a convolution by ones of [N, 1, C, rest].
  Sizes dims = sizesOf(x);
  Tensor image = reshapeTo(*call, square(x), {dims[0], DimExpr(1), dims[1], productOf(llvm::ArrayRef<DimExpr>(dims).drop_front(2))});
  Tensor ones = broadcastTo(*call, "lrn", scalarOf(*call, x.type(), 1), {DimExpr(1), DimExpr(1), DimExpr(size), DimExpr(1)});
  Window window{{size, 1}, {1, 1}, {(size - 1) / 2, 0}, {size / 2, 0}, {1, 1}};
  Tensor sums = reshapeTo(*call, emitConvolution(*call, image, ones, window, 1), dims);
  Tensor base = withScalar("add", withScalar("mul", sums, alpha / static_cast<double>(size)), bias);
  return div(x, withScalar("pow", base, beta));
}

Tensor lpNorm(const Tensor &given, int64_t axis, int64_t p) {
  Tensor x = toFloat(given);
  Call call("lpNorm", {x});
  if (!call)
    return call.failed();
  if (p != 1 && p != 2)
    return call.unsupported("a norm of order " + llvm::Twine(p) + ", expected 1 or 2");
  Tensor norm = reduce(x, p == 1 ? Reduction::L1 : Reduction::L2, Ints{axis});
  // Where the norm is 0 so is x; the quotient is 0, not NaN.
  return div(x, where(eq(norm, scalarLike(norm, 0)), scalarLike(norm, 1), norm));
}

Tensor meanVarianceNorm(const Tensor &given, const Ints &axes) {
  Tensor x = toFloat(given);
  Tensor centred = sub(x, reduce(x, Reduction::Mean, axes));
  Tensor deviation = sqrt(reduce(square(centred), Reduction::Mean, axes));
  return div(centred, add(deviation, scalarLike(x, 1e-9)));
}

} // namespace fn
} // namespace stator::trace
