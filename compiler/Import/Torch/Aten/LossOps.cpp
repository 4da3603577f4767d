// Losses, which models that are exported for evaluation or training contain. All are computed element by element in floats (narrow ones
// in f32) and then reduced as asked: 0 not at all, 1 to the mean, 2 to the sum.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>
#include <numbers>

namespace stator::torch {

using fn::Reduction;
using trace::Ints;
using trace::Tensor;

namespace {

Operands pair(OpCall &op) { return promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide); }

Value reduced(OpCall &op, const Operands &x, const Tensor &loss, size_t reduction) {
  int64_t how = op.integer(reduction);
  return op.ok() ? x.result(op, reduceLoss(op, loss, how)) : Value::poison();
}

Tensor distanceOf(const Operands &x) { return fn::abs(fn::sub(x[0], x[1])); }

Value mseLoss(OpCall &op) {
  Operands x = pair(op);
  return reduced(op, x, fn::square(fn::sub(x[0], x[1])), 2);
}

Value l1Loss(OpCall &op) {
  Operands x = pair(op);
  return reduced(op, x, distanceOf(x), 2);
}

Value smoothL1Loss(OpCall &op) {
  Operands x = pair(op);
  double beta = op.number(3);
  if (!op.ok())
    return Value::poison();
  Tensor distance = distanceOf(x);
  if (beta == 0)
    return reduced(op, x, distance, 2);
  Tensor isNear = fn::lt(distance, fn::scalarLike(distance, beta));
  return reduced(op, x, fn::where(isNear, times(fn::square(distance), 0.5 / beta), plus(distance, -0.5 * beta)), 2);
}

Value huberLoss(OpCall &op) {
  Operands x = pair(op);
  double delta = op.number(3);
  if (!op.ok())
    return Value::poison();
  Tensor distance = distanceOf(x), isNear = fn::le(distance, fn::scalarLike(distance, delta));
  return reduced(op, x, fn::where(isNear, times(fn::square(distance), 0.5), times(plus(distance, -0.5 * delta), delta)), 2);
}

Tensor weighted(OpCall &op, const Tensor &loss, size_t weight) {
  return op.isNone(weight) ? loss : fn::mul(loss, fn::cast(op.tensor(weight), loss.type()));
}

Value binaryCrossEntropy(OpCall &op) {
  Operands x = pair(op);
  if (!op.ok())
    return Value::poison();
  // Logarithms of at least -100, as PyTorch has it.
  Tensor least = fn::scalarLike(x[0], -100), one = fn::scalarLike(x[0], 1);
  Tensor yes = fn::maximum(fn::log(x[0]), least), no = fn::maximum(fn::log1p(fn::neg(x[0])), least);
  Tensor loss = fn::sub(fn::mul(fn::sub(x[1], one), no), fn::mul(x[1], yes));
  return reduced(op, x, weighted(op, loss, 2), 3);
}

/// (self, target, weight, pos_weight, reduction)
Value binaryCrossEntropyWithLogits(OpCall &op) {
  Operands x = pair(op);
  if (!op.ok())
    return Value::poison();
  const Tensor &logit = x[0], &target = x[1];
  Tensor one = fn::scalarLike(target, 1);
  Tensor penalty = fn::softplus(fn::neg(logit)); // -log(sigmoid(x))
  if (!op.isNone(3))
    penalty = fn::mul(penalty, fn::add(fn::mul(fn::sub(fn::cast(op.tensor(3), target.type()), one), target), one));
  Tensor loss = fn::add(fn::mul(fn::sub(one, target), logit), penalty);
  return reduced(op, x, weighted(op, loss, 2), 4);
}

/// (self, target, reduction, *, log_target); self holds logarithms.
Value klDivergence(OpCall &op) {
  Operands x = pair(op);
  bool isLog = op.flag(3);
  if (!op.ok())
    return Value::poison();
  if (isLog)
    return reduced(op, x, fn::mul(fn::exp(x[1]), fn::sub(x[1], x[0])), 2);
  Tensor zero = zeroLike(x[1]), entropy = fn::where(fn::eq(x[1], zero), zero, fn::mul(x[1], fn::log(x[1])));
  return reduced(op, x, fn::sub(entropy, fn::mul(x[1], x[0])), 2);
}

/// (input, target, log_input, full, eps, reduction)
Value poissonLoss(OpCall &op) {
  Operands x = pair(op);
  bool isLog = op.flag(2), isFull = op.flag(3);
  double epsilon = op.number(4);
  if (!op.ok())
    return Value::poison();
  const Tensor &input = x[0], &target = x[1];
  Tensor loss = isLog ? fn::sub(fn::exp(input), fn::mul(target, input)) : fn::sub(input, fn::mul(target, fn::log(plus(input, epsilon))));
  if (isFull) { // Stirling's approximation of log(target!).
    Tensor stirling = fn::add(fn::sub(fn::mul(target, fn::log(target)), target), times(fn::log(times(target, 2 * std::numbers::pi)), 0.5));
    loss = fn::add(loss, fn::where(fn::le(target, fn::scalarLike(target, 1)), zeroLike(stirling), stirling));
  }
  return reduced(op, x, loss, 5);
}

Value softMarginLoss(OpCall &op) {
  Operands x = pair(op);
  return op.ok() ? reduced(op, x, fn::log1p(fn::exp(fn::neg(fn::mul(x[0], x[1])))), 2) : Value::poison();
}

Tensor positivePart(const Tensor &x) { return fn::maximum(x, zeroLike(x)); }

/// (self, target, margin, reduction)
Value hingeEmbeddingLoss(OpCall &op) {
  Operands x = pair(op);
  double margin = op.number(2);
  if (!op.ok())
    return Value::poison();
  Tensor one = fn::scalarLike(x[1], 1), zero = zeroLike(x[0]);
  Tensor apart = fn::where(fn::ne(x[1], one), positivePart(plus(fn::neg(x[0]), margin)), zero);
  Tensor near = fn::where(fn::ne(x[1], fn::neg(one)), x[0], zero);
  return reduced(op, x, fn::add(apart, near), 3);
}

/// (input1, input2, target, margin, reduction)
Value marginRankingLoss(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::ToFloat, Precision::Wide);
  double margin = op.number(3);
  return op.ok() ? reduced(op, x, positivePart(plus(fn::mul(fn::neg(x[2]), fn::sub(x[0], x[1])), margin)), 4) : Value::poison();
}

/// (input1, input2, target, margin, reduction) over the last axis.
Value cosineEmbeddingLoss(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  Tensor target = op.tensor(2);
  double margin = op.number(3);
  if (!op.ok())
    return Value::poison();
  auto along = [&](const Tensor &y) { return fn::reduce(y, Reduction::Sum, Ints{-1}, /*keepDims=*/false); };
  constexpr double kEpsilon = 1e-12;
  Tensor lengths = fn::sqrt(fn::mul(plus(along(fn::square(x[0])), kEpsilon), plus(along(fn::square(x[1])), kEpsilon)));
  Tensor cosine = fn::div(along(fn::mul(x[0], x[1])), lengths), zero = zeroLike(cosine);
  Tensor alike = fn::where(fn::eq(target, fn::scalarLike(target, 1)), plus(fn::neg(cosine), 1), zero);
  Tensor apart = fn::where(fn::eq(target, fn::scalarLike(target, -1)), positivePart(plus(cosine, -margin)), zero);
  return reduced(op, x, fn::add(alike, apart), 4);
}

/// (anchor, positive, negative, margin, p, eps, swap, reduction)
Value tripletMarginLoss(OpCall &op) {
  Operands x = promoted(op, {0, 1, 2}, Promotion::ToFloat, Precision::Wide);
  double margin = op.number(3), p = op.number(4), epsilon = op.number(5);
  bool swap = op.flag(6);
  if (!op.ok())
    return Value::poison();
  auto distance = [&](const Tensor &a, const Tensor &b) {
    Tensor difference = plus(fn::sub(a, b), epsilon);
    if (p == 2)
      return fn::reduce(difference, Reduction::L2, Ints{-1}, false);
    Tensor sum = fn::reduce(fn::pow(fn::abs(difference), fn::scalarLike(difference, p)), Reduction::Sum, Ints{-1}, false);
    return fn::pow(sum, fn::scalarLike(sum, 1 / p));
  };
  Tensor near = distance(x[0], x[1]), far = distance(x[0], x[2]);
  if (swap)
    far = fn::minimum(far, distance(x[1], x[2]));
  return reduced(op, x, positivePart(plus(fn::sub(near, far), margin)), 7);
}

// Classes.

/// x [N, C, ...] or [C], target [N, ...] or []; weights over the classes. What PyTorch calls total_weight comes second.
std::pair<Tensor, Tensor> classLoss(OpCall &op, const Tensor &given, const Tensor &target, const Tensor &weight, int64_t reduction,
                                    int64_t ignore) {
  if (!op.ok())
    return {};
  if (reduction < 0 || reduction > 2) {
    op.invalid("the reduction is " + std::to_string(reduction) + ", expected 0 (none), 1 (mean) or 2 (sum)");
    return {};
  }
  bool isVector = given.rank() == 1;
  Tensor x = isVector ? fn::unsqueeze(given, {0}) : given;
  Tensor classes = isVector && target.rank() == 0 ? fn::unsqueeze(target, {0}) : target;
  constexpr fn::LossReduction kinds[] = {fn::LossReduction::None, fn::LossReduction::Mean, fn::LossReduction::Sum};
  Tensor loss = fn::negativeLogLikelihood(x, classes, weight, kinds[reduction], ignore);
  if (isVector && reduction == 0)
    loss = fn::reshape(loss, target.dims());
  Tensor counted = fn::ne(classes, fn::scalarLike(classes, static_cast<double>(ignore)));
  Tensor factor = fn::cast(counted, x.type());
  if (weight)
    factor = fn::mul(factor, fn::gather(fn::cast(weight, x.type()), fn::where(counted, classes, zeroLike(classes)), 0));
  return {loss, fn::reduce(factor, Reduction::Sum, Ints{}, false)};
}

/// (self, target, weight, reduction, ignore_index)
template <bool withTotal>
Value nllLoss(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  int64_t reduction = op.integer(3), ignore = op.integer(4);
  auto [loss, total] = classLoss(op, x[0], op.tensor(1), op.tensor(2), reduction, ignore);
  if (!op.ok() || !withTotal)
    return x.result(op, loss);
  Tensor sum = reduction == 0 ? zeroLike(x[0]) : total;
  return op.results({fn::cast(loss, x.type), fn::cast(sum, x.type)});
}

/// multi_margin_loss(self, target, p, margin, weight, reduction): how far other classes come within the margin of the target.
Value multiMarginLoss(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  double p = op.number(2), margin = op.number(3);
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() < 1 || x[0].rank() > 2)
    return op.invalid("the input has " + std::to_string(x[0].rank()) + " dimensions, expected 1 or 2");
  Tensor classes = fn::unsqueeze(fn::cast(op.tensor(1), ElementType::I64), {-1});
  if (x[0].rank() == 1)
    classes = fn::reshape(classes, {1});
  Tensor score = fn::gatherElements(x[0], classes, -1), excess = positivePart(plus(fn::sub(x[0], score), margin));
  if (p != 1)
    excess = fn::pow(excess, fn::scalarLike(excess, p));
  if (!op.isNone(4))
    excess = fn::mul(excess, fn::gather(fn::cast(op.tensor(4), excess.type()), classes, 0));
  Tensor isTarget = fn::eq(fn::iota(op.builder(), ElementType::I64, x[0].dims(), -1), classes);
  Tensor loss = fn::reduce(fn::where(isTarget, zeroLike(excess), excess), Reduction::Mean, Ints{-1}, /*keepDims=*/false);
  return reduced(op, x, loss, 5);
}

/// multilabel_margin_loss(self, target, reduction): the targets of each sample are classes up to the first -1.
Value multilabelMarginLoss(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  Tensor target = fn::cast(op.tensor(1), ElementType::I64);
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() < 1 || x[0].rank() > 2 || target.rank() != x[0].rank())
    return op.invalid("input and target must both have 1 or 2 dimensions");
  Tensor isValid = fn::cumProd(fn::cast(fn::ge(target, zeroLike(target)), ElementType::I64), -1),
         isUsed = fn::cast(isValid, ElementType::I1);
  Tensor classes = fn::where(isUsed, target, zeroLike(target)), scores = fn::gatherElements(x[0], classes, -1);
  // [.., targets, classes]
  Tensor isClass = fn::eq(fn::unsqueeze(classes, {-1}), fn::unsqueeze(fn::iota(op.builder(), ElementType::I64, x[0].dims(), -1), {-2}));
  isClass = fn::logicalAnd(isClass, fn::unsqueeze(isUsed, {-1}));
  Tensor isTarget = fn::reduce(isClass, Reduction::Any, Ints{-2});
  Tensor excess = positivePart(plus(fn::sub(fn::unsqueeze(x[0], {-2}), fn::unsqueeze(scores, {-1})), 1));
  Tensor counts = fn::logicalAnd(fn::unsqueeze(isUsed, {-1}), fn::logicalNot(isTarget));
  Tensor sum = fn::reduce(fn::where(counts, excess, zeroLike(excess)), Reduction::Sum, Ints{-2}, /*keepDims=*/false);
  return reduced(op, x, fn::reduce(sum, Reduction::Mean, Ints{-1}, /*keepDims=*/false), 2);
}

/// Probabilities as targets, of the shape of the input.
Value softCrossEntropy(OpCall &op, const Operands &x, const Tensor &logarithms, int64_t axis, double smoothing, int64_t reduction) {
  Tensor target = fn::cast(op.tensor(1), logarithms.type());
  trace::Dim classes = logarithms.dim(axis);
  Tensor count = fn::cast(op.builder().fromDim(classes), logarithms.type());
  if (smoothing > 0)
    target = fn::add(times(target, 1 - smoothing), fn::div(fn::scalarLike(count, smoothing), count));
  Tensor products = fn::mul(logarithms, target);
  if (!op.isNone(2)) {
    trace::Dims spread(logarithms.rank(), 1);
    spread[axis] = classes;
    products = fn::mul(products, fn::reshape(fn::cast(op.tensor(2), products.type()), spread));
  }
  Tensor loss = fn::neg(fn::reduce(products, Reduction::Sum, Ints{axis}, false));
  return x.result(op, reduceLoss(op, loss, reduction));
}

/// (self, target, weight, reduction, ignore_index, label_smoothing)
Value crossEntropyLoss(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  int64_t reduction = op.integer(3), ignore = op.integer(4), axis = x[0].rank() == 1 ? 0 : 1;
  double smoothing = op.number(5);
  Tensor target = op.tensor(1), weight = op.tensor(2);
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() == 0)
    return op.invalid("the input has no dimensions");
  Tensor logarithms = fn::logSoftmax(x[0], axis);
  if (isFloat(target.type()))
    return softCrossEntropy(op, x, logarithms, axis, smoothing, reduction);
  auto [loss, total] = classLoss(op, logarithms, target, weight, reduction, ignore);
  if (smoothing == 0 || !op.ok())
    return x.result(op, loss);
  // The same towards all classes, mixed in.
  trace::Dim classes = logarithms.dim(axis);
  Tensor all = logarithms;
  if (weight) {
    trace::Dims spread(all.rank(), 1);
    spread[axis] = classes;
    all = fn::mul(all, fn::reshape(fn::cast(weight, all.type()), spread));
  }
  Tensor smooth = fn::neg(fn::reduce(all, Reduction::Sum, Ints{axis}, false));
  Tensor counted = fn::ne(target, fn::scalarLike(target, static_cast<double>(ignore)));
  smooth = fn::where(counted, smooth, zeroLike(smooth));
  if (reduction != 0)
    smooth = fn::reduce(smooth, Reduction::Sum, Ints{}, false);
  if (reduction == 1)
    smooth = fn::div(smooth, total);
  Tensor share = fn::div(fn::scalarLike(smooth, smoothing), fn::cast(op.builder().fromDim(classes), smooth.type()));
  return x.result(op, fn::add(fn::mul(smooth, share), times(loss, 1 - smoothing)));
}

} // namespace

std::span<const OpEntry> lossOps() {
  static constexpr OpEntry entries[] = {
      {"mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", mseLoss},
      {"l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", l1Loss},
      {"smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor", smoothL1Loss},
      {"huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor", huberLoss},
      {"binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor", binaryCrossEntropy},
      {"binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, "
       "int reduction=Mean) -> Tensor",
       binaryCrossEntropyWithLogits},
      {"kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor", klDivergence},
      {"poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor", poissonLoss},
      {"soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", softMarginLoss},
      {"hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor", hingeEmbeddingLoss},
      {"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> Tensor",
       marginRankingLoss},
      {"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> Tensor",
       cosineEmbeddingLoss},
      {"triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, "
       "bool swap=False, int reduction=Mean) -> Tensor",
       tripletMarginLoss},
      {"multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean) -> Tensor",
       multiMarginLoss},
      {"multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", multilabelMarginLoss},
      {"nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor", nllLoss<false>},
      {"nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor",
       nllLoss<false>},
      {"nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor",
       nllLoss<false>},
      {"nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
       "(Tensor output, Tensor total_weight)",
       nllLoss<true>},
      {"nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
       "(Tensor output, Tensor total_weight)",
       nllLoss<true>},
      {"cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, "
       "float label_smoothing=0.0) -> Tensor",
       crossEntropyLoss},
  };
  return entries;
}

} // namespace stator::torch
