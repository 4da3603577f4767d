// How composites are written with simpler operations. Statistics, exponentials and scores of floats narrower than f32 are computed in
// f32, as the fused kernels do.
#include "dialects/Graph/GraphTypeInference.h"

#include <cmath>

using namespace mlir;
using namespace stator;
using namespace stator::graph;

namespace {

/// Short names for building at one location. Sizes are equal or broadcast explicitly.
class Composer {
public:
  Composer(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename OpTy, typename... Args>
  Value make(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }

  /// A number as a tensor of this type.
  Value number(double value, RankedTensorType type) {
    Type element = type.getElementType();
    auto scalar = RankedTensorType::get({}, element);
    return spread(make<ConstantOp>(DenseElementsAttr::get(scalar, builder.getFloatAttr(element, value))), type, {});
  }

  /// `value`, whose axes are those `dimensions` of `type`, repeated to that shape (its element type is kept).
  Value spread(Value value, RankedTensorType type, ArrayRef<int64_t> dimensions) {
    RankedTensorType from = tensorTypeOf(value), to = withElement(type, from.getElementType());
    return from == to ? value : make<BroadcastOp>(to, value, dimensions);
  }
  /// `value` of the same rank with some sizes 1.
  Value spread(Value value, RankedTensorType type) { return spread(value, type, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))); }

  Value convert(Value value, Type element) {
    RankedTensorType from = tensorTypeOf(value);
    return from.getElementType() == element ? value : make<ConvertOp>(withElement(from, element), value);
  }
  /// In f32 or f64.
  Value widen(Value value) {
    Type element = tensorTypeOf(value).getElementType();
    return element.isF16() || element.isBF16() ? convert(value, builder.getF32Type()) : value;
  }

  Value reduce(Value value, ReduceKind kind, ArrayRef<int64_t> axes) { return make<ReduceOp>(value, kind, axes, /*keep_dims=*/true); }

  /// The mean over `axes`, which stay with size 1.
  Value mean(Value value, ArrayRef<int64_t> axes) {
    Value sum = reduce(value, ReduceKind::Sum, axes);
    RankedTensorType type = tensorTypeOf(sum);
    DimExpr count = 1;
    for (int64_t axis : axes)
      count *= dimOf(tensorTypeOf(value), axis);
    if (count.isConstant())
      return make<DivOp>(sum, number(double(*count.constant()), type));
    Value size = make<DimValuesOp>(DimsAttr::get(builder.getContext(), count), /*scalar=*/true);
    return make<DivOp>(sum, spread(convert(size, type.getElementType()), type, {}));
  }

private:
  OpBuilder &builder;
  Location loc;
};

SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) { return llvm::to_vector(llvm::seq<int64_t>(first, rank)); }

/// `value * scale + bias`, either of which may be absent, over the trailing `axes`.
Value scaleAndShift(Composer &compose, Value value, Value scale, Value bias, ArrayRef<int64_t> axes) {
  RankedTensorType type = tensorTypeOf(value);
  if (scale)
    value = compose.make<MulOp>(value, compose.spread(compose.widen(scale), type, axes));
  if (bias)
    value = compose.make<AddOp>(value, compose.spread(compose.widen(bias), type, axes));
  return value;
}

} // namespace

FailureOr<SmallVector<Value>> BatchNormOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  RankedTensorType type = getInput().getType();
  int64_t axis = getAxis();
  Value mean = compose.widen(getMean()), variance = compose.widen(getVariance());
  Value epsilon = compose.number(getEpsilon().convertToDouble(), tensorTypeOf(variance));
  Value factor = compose.make<MulOp>(compose.widen(getScale()), compose.make<RsqrtOp>(compose.make<AddOp>(variance, epsilon)));
  Value offset = compose.make<SubOp>(compose.widen(getBias()), compose.make<MulOp>(mean, factor));
  Value scaled = compose.make<MulOp>(compose.widen(getInput()), compose.spread(factor, type, axis));
  Value result = compose.make<AddOp>(scaled, compose.spread(offset, type, axis));
  return SmallVector<Value>{compose.convert(result, type.getElementType())};
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  RankedTensorType type = getInput().getType();
  SmallVector<int64_t> axes = axesFrom(getAxis(), type.getRank());
  Value input = compose.widen(getInput());
  Value centred = compose.make<SubOp>(input, compose.spread(compose.mean(input, axes), type));
  Value variance = compose.mean(compose.make<MulOp>(centred, centred), axes);
  Value epsilon = compose.number(getEpsilon().convertToDouble(), tensorTypeOf(variance));
  Value factor = compose.make<RsqrtOp>(compose.make<AddOp>(variance, epsilon));
  Value normalised = compose.make<MulOp>(centred, compose.spread(factor, type));
  Value result = scaleAndShift(compose, normalised, getScale(), getBias(), axes);
  return SmallVector<Value>{compose.convert(result, type.getElementType())};
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  RankedTensorType type = getInput().getType();
  SmallVector<int64_t> axes = axesFrom(getAxis(), type.getRank());
  Value input = compose.widen(getInput());
  Value square = compose.mean(compose.make<MulOp>(input, input), axes);
  Value epsilon = compose.number(getEpsilon().convertToDouble(), tensorTypeOf(square));
  Value factor = compose.make<RsqrtOp>(compose.make<AddOp>(square, epsilon));
  Value normalised = compose.make<MulOp>(input, compose.spread(factor, type));
  Value result = scaleAndShift(compose, normalised, getScale(), Value(), axes);
  return SmallVector<Value>{compose.convert(result, type.getElementType())};
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  RankedTensorType type = getInput().getType();
  int64_t axis = getAxis();
  Value input = compose.widen(getInput());
  Value shifted = compose.make<SubOp>(input, compose.spread(compose.reduce(input, ReduceKind::Max, axis), type));
  Value power = compose.make<ExpOp>(shifted);
  Value result = compose.make<DivOp>(power, compose.spread(compose.reduce(power, ReduceKind::Sum, axis), type));
  return SmallVector<Value>{compose.convert(result, type.getElementType())};
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  RankedTensorType type = getInput().getType();
  int64_t axis = getAxis();
  Value input = compose.widen(getInput());
  Value shifted = compose.make<SubOp>(input, compose.spread(compose.reduce(input, ReduceKind::Max, axis), type));
  Value sum = compose.reduce(compose.make<ExpOp>(shifted), ReduceKind::Sum, axis);
  Value result = compose.make<SubOp>(shifted, compose.spread(compose.make<LogOp>(sum), type));
  return SmallVector<Value>{compose.convert(result, type.getElementType())};
}

FailureOr<SmallVector<Value>> GeluOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  Value input = compose.widen(getInput());
  RankedTensorType type = tensorTypeOf(input);
  auto scaled = [&](Value value, double factor) { return compose.make<MulOp>(value, compose.number(factor, type)); };
  Value gate;
  if (getApproximate() == GeluApproximation::Tanh) {
    Value cube = compose.make<MulOp>(compose.make<MulOp>(input, input), input);
    gate = compose.make<TanhOp>(scaled(compose.make<AddOp>(input, scaled(cube, 0.044715)), std::sqrt(2 / M_PI)));
  } else {
    gate = compose.make<ErfOp>(scaled(input, std::sqrt(0.5)));
  }
  Value result = compose.make<MulOp>(scaled(input, 0.5), compose.make<AddOp>(gate, compose.number(1, type)));
  return SmallVector<Value>{compose.convert(result, getType().getElementType())};
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &builder) {
  Composer compose(builder, getLoc());
  int64_t rank = getType().getRank();
  SmallVector<int64_t> batch = axesFrom(0, rank - 2);
  SmallVector<int64_t> last = {rank - 1}, beforeLast = {rank - 2};
  Value scores = compose.make<DotGeneralOp>(compose.widen(getQuery()), compose.widen(getKey()), batch, batch, last, last, IntegerAttr());
  RankedTensorType type = tensorTypeOf(scores);
  scores = compose.make<MulOp>(scores, compose.number(getScale().convertToDouble(), type));

  Value lowest = compose.number(-INFINITY, type);
  if (Value mask = getMask()) {
    if (isBoolElement(tensorTypeOf(mask).getElementType()))
      scores = compose.make<SelectOp>(compose.spread(mask, type), scores, lowest);
    else
      scores = compose.make<AddOp>(scores, compose.spread(compose.widen(mask), type));
  }
  if (getCausal()) {
    RankedTensorType positions = withElement(type, builder.getI64Type());
    Value query = compose.make<IotaOp>(positions, rank - 2), key = compose.make<IotaOp>(positions, rank - 1);
    if (std::optional<DimsAttr> offset = getCausalOffset())
      query = compose.make<AddOp>(query, compose.spread(compose.make<DimValuesOp>(*offset, true), positions, {}));
    scores = compose.make<SelectOp>(compose.make<CompareOp>(key, query, CompareDirection::Le), scores, lowest);
  }
  Value weights = compose.make<SoftmaxOp>(scores, rank - 1);
  if (getEmptyRowsZero())
    weights = compose.make<SelectOp>(compose.make<IsNanOp>(weights), compose.number(0, type), weights);
  Value result = compose.make<DotGeneralOp>(weights, compose.widen(getValue()), batch, batch, last, beforeLast, IntegerAttr());
  return SmallVector<Value>{compose.convert(result, getType().getElementType())};
}
