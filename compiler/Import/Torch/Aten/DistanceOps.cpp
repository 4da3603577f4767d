// Distances between vectors, covariances and the cross product.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>

namespace stator::torch {

using trace::Dim;
using trace::Ints;
using trace::Tensor;

namespace {

Tensor sumAlong(const Tensor &x, int64_t axis, bool keepDims = false) { return fn::reduce(x, fn::Reduction::Sum, Ints{axis}, keepDims); }

Tensor normAlong(const Tensor &x, double p, int64_t axis, bool keepDims) {
  if (p == 2)
    return fn::reduce(x, fn::Reduction::L2, Ints{axis}, keepDims);
  if (p == 1)
    return fn::reduce(x, fn::Reduction::L1, Ints{axis}, keepDims);
  if (std::isinf(p))
    return fn::reduce(fn::abs(x), fn::Reduction::Max, Ints{axis}, keepDims);
  if (p == 0)
    return sumAlong(fn::cast(fn::ne(x, zeroLike(x)), x.type()), axis, keepDims);
  Tensor sum = sumAlong(fn::pow(fn::abs(x), fn::scalarLike(x, p)), axis, keepDims);
  return fn::pow(sum, fn::scalarLike(sum, 1 / p));
}

/// x1 [.., P, M], x2 [.., R, M]: [.., P, R].
Value cdist(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  double p = op.number(2);
  int64_t mode = op.isNone(3) ? 0 : op.integer(3); // 1 always, 2 never by a product of matrices
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() < 2 || x[1].rank() < 2)
    return op.invalid("both operands must have at least two dimensions");
  auto isLong = [](const trace::Dim &size) { return size.isConstant() && size.constant() > 25; };
  bool byProduct = p == 2 && (mode == 1 || (mode == 0 && (isLong(x[0].dim(-2)) || isLong(x[1].dim(-2)))));
  if (byProduct) {
    Tensor squares = fn::add(sumAlong(fn::square(x[0]), -1, true), fn::unsqueeze(sumAlong(fn::square(x[1]), -1), {-2}));
    Ints swapped = axisRange(0, x[1].rank());
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    Tensor rest = fn::sub(squares, times(fn::matmul(x[0], fn::transpose(x[1], swapped)), 2));
    return x.result(op, fn::sqrt(fn::maximum(rest, zeroLike(rest))));
  }
  Tensor difference = fn::sub(fn::unsqueeze(x[0], {x[0].rank() - 1}), fn::unsqueeze(x[1], {x[1].rank() - 2}));
  return x.result(op, normAlong(difference, p, -1, false));
}

Value cosineSimilarity(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  double epsilon = op.number(3);
  Tensor products = fn::mul(x[0], x[1]);
  int64_t axis = op.axis(2, products.rank());
  if (!op.ok())
    return Value::poison();
  Tensor a = fn::broadcastTo(x[0], products.dims()), b = fn::broadcastTo(x[1], products.dims());
  auto direction = [&](const Tensor &y) {
    Tensor length = normAlong(y, 2, axis, /*keepDims=*/true);
    return fn::div(y, fn::maximum(length, fn::scalarLike(length, epsilon)));
  };
  return x.result(op, sumAlong(fn::mul(direction(a), direction(b)), axis));
}

Value pairwiseDistance(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  double p = op.number(2), epsilon = op.number(3);
  bool keepDims = op.flag(4);
  return op.ok() ? x.result(op, normAlong(plus(fn::sub(x[0], x[1]), epsilon), p, -1, keepDims)) : Value::poison();
}

/// The cross product over an axis of three.
Value crossAlong(OpCall &op, std::optional<int64_t> given) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Wide);
  Tensor shape = fn::add(x[0], x[1]);
  if (!op.ok())
    return Value::poison();
  int64_t axis = given.value_or(0);
  while (!given && axis + 1 < shape.rank() && shape.dim(axis) != trace::Dim(3)) // The first axis of three.
    ++axis;
  std::optional<int64_t> normal = normaliseAxis(axis, shape.rank());
  if (!normal || shape.rank() == 0 || shape.dim(*normal) != trace::Dim(3))
    return op.invalid("there are not three elements along the dimension");
  Tensor a = fn::broadcastTo(x[0], shape.dims()), b = fn::broadcastTo(x[1], shape.dims());
  auto turned = [&](const Tensor &y, int64_t first, int64_t second, int64_t third) {
    return fn::gather(y, op.builder().vector(Ints{first, second, third}), *normal);
  };
  return x.result(op, fn::sub(fn::mul(turned(a, 1, 2, 0), turned(b, 2, 0, 1)), fn::mul(turned(a, 2, 0, 1), turned(b, 1, 2, 0))));
}

Value cross(OpCall &op) { return crossAlong(op, op.isNone(2) ? std::optional<int64_t>() : op.integer(2)); }

/// renorm(self, p, dim, maxnorm): slices along `dim` that are longer are scaled down.
Value renorm(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  double p = op.number(1), most = op.number(3);
  int64_t axis = op.axis(2, x[0].rank());
  if (!op.ok())
    return Value::poison();
  Tensor norm = x[0];
  if (p != 1 && p != 2 && !std::isinf(p))
    norm = fn::pow(fn::abs(norm), fn::scalarLike(norm, p));
  Ints axes = axisRange(0, norm.rank());
  axes.erase(axes.begin() + axis);
  fn::Reduction kind = p == 2 ? fn::Reduction::L2 : std::isinf(p) ? fn::Reduction::Max : fn::Reduction::L1;
  norm = axes.empty() ? fn::abs(norm) : fn::reduce(std::isinf(p) ? fn::abs(norm) : norm, kind, axes);
  if (p != 1 && p != 2 && !std::isinf(p))
    norm = fn::pow(norm, fn::scalarLike(norm, 1 / p));
  Tensor limit = fn::scalarLike(norm, most), factor = fn::div(limit, plus(norm, 1e-7));
  return x.result(op, fn::mul(x[0], fn::where(fn::gt(norm, limit), factor, fn::scalarLike(norm, 1))));
}

/// pdist(self, p): the distances of all pairs of rows.
Value pdist(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  double p = op.number(1);
  if (!op.ok())
    return Value::poison();
  if (x[0].rank() != 2 || !x[0].dim(0).isConstant() || x[0].dim(0).constant() > 1024)
    return op.unsupported("a matrix is expected whose number of rows is known when the model is compiled and at most 1024");
  Ints first, second;
  for (int64_t i = 0; i < x[0].dim(0).constant(); ++i)
    for (int64_t j = i + 1; j < x[0].dim(0).constant(); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  auto rows = [&](const Ints &at) { return fn::gather(x[0], op.builder().vector(at), 0); };
  return x.result(op, normAlong(fn::sub(rows(first), rows(second)), p, -1, false));
}

/// Of variables in rows; a vector is one variable.
Tensor covarianceOf(const Tensor &given, double correction) {
  Tensor x = given.rank() == 1 ? fn::unsqueeze(given, {0}) : given;
  Tensor centred = fn::sub(x, fn::reduce(x, fn::Reduction::Mean, Ints{1}));
  Tensor count = fn::maximum(plus(countOf(x, {1}, x.type()), -correction), zeroLike(x));
  Tensor result = fn::div(fn::matmul(centred, fn::transpose(centred, {1, 0})), count);
  return given.rank() == 1 ? fn::reshape(result, trace::Dims{}) : result;
}

bool isMatrixOrVector(OpCall &op, const Tensor &x) {
  if (op.ok() && (x.rank() < 1 || x.rank() > 2))
    op.invalid("the tensor has " + std::to_string(x.rank()) + " dimensions, expected 1 or 2");
  return op.ok();
}

Value covariance(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  double correction = op.number(1);
  if (op.ok() && (!op.isNone(2) || !op.isNone(3)))
    return op.unsupported("weights of the observations");
  return isMatrixOrVector(op, x[0]) ? x.result(op, covarianceOf(x[0], correction)) : Value::poison();
}

Value correlation(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  if (!isMatrixOrVector(op, x[0]))
    return Value::poison();
  Tensor c = covarianceOf(x[0], 1);
  if (c.rank() == 0)
    return x.result(op, fn::div(c, c));
  Dim size = c.dim(0);
  Tensor isDiagonal =
      fn::eq(fn::iota(op.builder(), ElementType::I64, {size, 1}, 0), fn::iota(op.builder(), ElementType::I64, {1, size}, 1));
  Tensor deviation = fn::sqrt(fn::reduce(fn::where(isDiagonal, c, zeroLike(c)), fn::Reduction::Sum, Ints{1}));
  return x.result(op, fn::clip(fn::div(fn::div(c, deviation), fn::transpose(deviation, {1, 0})), -1, 1));
}

} // namespace

std::span<const OpEntry> distanceOps() {
  static constexpr OpEntry entries[] = {
      {"cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor", cdist},
      {"_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", cdist},
      {"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", cosineSimilarity},
      {"pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor", pairwiseDistance},
      {"cross(Tensor self, Tensor other, int? dim=None) -> Tensor", cross},
      {"linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", cross},
      {"renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", renorm},
      {"pdist(Tensor self, float p=2) -> Tensor", pdist},
      {"cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor", covariance},
      {"corrcoef(Tensor self) -> Tensor", correlation},
  };
  return entries;
}

} // namespace stator::torch
