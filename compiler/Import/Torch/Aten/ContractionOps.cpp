// Products of matrices and vectors. Inside of torch.autocast, f32 and narrower operands are brought to its type first, since a
// non-decomposed export leaves that to the importer.
#include "compiler/Import/Torch/Aten/Contraction.h"

#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>

namespace stator::torch {

using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

Tensor contractionOperand(OpCall &op, size_t index) {
  Tensor x = op.tensor(index);
  std::optional<ElementType> type = op.context().autocast;
  return x && type && isFloat(x.type()) && x.type() != ElementType::F64 ? fn::cast(x, *type) : x;
}

namespace {

bool hasRank(OpCall &op, const Tensor &x, int64_t rank, const char *what) {
  if (op.ok() && x.rank() != rank)
    op.invalid(std::string(what) + " has " + std::to_string(x.rank()) + " dimensions, expected " + std::to_string(rank));
  return op.ok();
}

Value linear(OpCall &op) {
  Tensor x = contractionOperand(op, 0), weight = contractionOperand(op, 1), bias = contractionOperand(op, 2);
  if (!op.ok())
    return Value::poison();
  if (weight.rank() == 1) { // One output, without an axis of its own.
    Tensor result = fn::matmul(x, weight);
    return op.result(bias ? fn::add(result, bias) : result);
  }
  return op.result(fn::linear(x, weight, bias));
}

Value matmul(OpCall &op) { return op.result(fn::matmul(contractionOperand(op, 0), contractionOperand(op, 1))); }

template <int64_t left, int64_t right>
Value product(OpCall &op) {
  Tensor a = contractionOperand(op, 0), b = contractionOperand(op, 1);
  if (!hasRank(op, a, left, "the left operand") || !hasRank(op, b, right, "the right operand"))
    return Value::poison();
  return op.result(fn::matmul(a, b));
}

/// With the type of the result given: products are computed in it.
template <int64_t rank>
Value productAs(OpCall &op) {
  Tensor a = op.tensor(0), b = op.tensor(1);
  std::optional<ElementType> type = op.dtype(2);
  if (!hasRank(op, a, rank, "the left operand") || !hasRank(op, b, rank, "the right operand"))
    return Value::poison();
  return op.result(fn::matmul(fn::cast(a, *type), fn::cast(b, *type)));
}

/// beta * self + alpha * product, where self counts for nothing, NaN included, when beta is 0. Narrow floats are rounded once.
Value addProduct(OpCall &op, const Tensor &product, size_t beta) {
  Tensor self = contractionOperand(op, 0);
  if (!op.ok())
    return Value::poison();
  bool isScaled = !isNumber(op, beta, 1) || !isNumber(op, beta + 1, 1);
  ElementType type = product.type(), compute = isScaled ? wideTypeOf(type) : type;
  Tensor result = fn::cast(product, compute);
  if (!isNumber(op, beta + 1, 1))
    result = fn::mul(result, scalarArgument(op, beta + 1, compute));
  if (!isNumber(op, beta, 0)) {
    Tensor addend = fn::cast(self, compute);
    result = fn::add(isNumber(op, beta, 1) ? addend : fn::mul(addend, scalarArgument(op, beta, compute)), result);
  } else {
    result = fn::broadcastTo(result, product.dims());
  }
  return op.result(fn::cast(result, type));
}

Value addMatmul(OpCall &op) { return addProduct(op, fn::matmul(contractionOperand(op, 1), contractionOperand(op, 2)), 3); }

Value addbmm(OpCall &op) {
  Tensor batches = fn::matmul(contractionOperand(op, 1), contractionOperand(op, 2));
  return addProduct(op, fn::reduce(batches, fn::Reduction::Sum, Ints{0}, /*keepDims=*/false), 3);
}

Tensor outerOf(const Tensor &a, const Tensor &b) { return fn::mul(fn::unsqueeze(a, {1}), fn::unsqueeze(b, {0})); }

Value outer(OpCall &op) {
  Operands x = promoted(op, {0, 1});
  if (!hasRank(op, x[0], 1, "the left operand") || !hasRank(op, x[1], 1, "the right operand"))
    return Value::poison();
  return op.result(x.type == ElementType::I1 ? fn::logicalAnd(fn::unsqueeze(x[0], {1}), fn::unsqueeze(x[1], {0})) : outerOf(x[0], x[1]));
}

Value addr(OpCall &op) {
  Tensor a = op.tensor(1), b = op.tensor(2);
  return hasRank(op, a, 1, "the vector") && hasRank(op, b, 1, "the vector") ? addProduct(op, outerOf(a, b), 3) : Value::poison();
}

Value einsum(OpCall &op) {
  Tensors operands = op.tensors(1);
  if (std::optional<ElementType> type = op.context().autocast)
    for (Tensor &x : operands)
      if (x && isFloat(x.type()) && x.type() != ElementType::F64)
        x = fn::cast(x, *type);
  std::string equation = op.text(0);
  return op.result(fn::einsum(equation, operands));
}

/// The sum over pairs of axes, as an einsum.
Value contract(OpCall &op, const Tensor &a, const Tensor &b, const Ints &axesA, const Ints &axesB) {
  if (!op.ok())
    return Value::poison();
  if (axesA.size() != axesB.size() || a.rank() + b.rank() > 52)
    return op.invalid(std::to_string(axesA.size()) + " and " + std::to_string(axesB.size()) + " dimensions to sum over");
  auto letter = [](int64_t index) { return static_cast<char>(index < 26 ? 'a' + index : 'A' + index - 26); };
  std::string left, right, result;
  for (int64_t i = 0; i < a.rank(); ++i)
    left += letter(i);
  for (int64_t i = 0; i < b.rank(); ++i)
    right += letter(a.rank() + i);
  std::string keptLeft = left, keptRight = right;
  for (size_t i = 0; i < axesA.size(); ++i) {
    std::optional<int64_t> x = normaliseAxis(axesA[i], a.rank()), y = normaliseAxis(axesB[i], b.rank());
    if (!x || !y || a.rank() == 0 || b.rank() == 0)
      return op.invalid("a dimension to sum over is out of range");
    std::erase(keptLeft, left[*x]);
    std::erase(keptRight, right[*y]);
    right[*y] = left[*x];
  }
  return op.result(fn::einsum(left + "," + right + "->" + keptLeft + keptRight, {a, b}));
}

Value tensordot(OpCall &op) {
  Tensor a = contractionOperand(op, 0), b = contractionOperand(op, 1);
  Ints axesA = op.integers(2), axesB = op.integers(3);
  return contract(op, a, b, axesA, axesB);
}

Value inner(OpCall &op) {
  Tensor a = contractionOperand(op, 0), b = contractionOperand(op, 1);
  if (op.ok() && (a.rank() == 0 || b.rank() == 0))
    return op.result(fn::mul(a, b));
  return contract(op, a, b, {-1}, {-1});
}

Value vecdot(OpCall &op) {
  Operands x = promoted(op, {0, 1}, Promotion::Plain, Precision::Wide);
  Tensor products = fn::mul(x[0], x[1]);
  int64_t axis = op.axis(2, products.rank());
  return op.ok() ? x.result(op, fn::reduce(products, fn::Reduction::Sum, Ints{axis}, false)) : Value::poison();
}

Value multiDot(OpCall &op) {
  Tensors factors = op.tensors(0);
  if (factors.empty())
    return op.invalid("there are no matrices");
  Tensor result = factors[0];
  for (size_t i = 1; i < factors.size(); ++i)
    result = fn::matmul(result, factors[i]);
  return op.result(result);
}

/// input1 [.., I], input2 [.., J], weight [O, I, J].
Value bilinear(OpCall &op) {
  Tensor result = fn::einsum("...i,oij,...j->...o", {contractionOperand(op, 0), contractionOperand(op, 2), contractionOperand(op, 1)});
  Tensor bias = contractionOperand(op, 3);
  return op.result(bias && op.ok() ? fn::add(result, bias) : result);
}

// Distances.

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
  auto isLong = [](const trace::Dim &size) { return !size.isConstant() || size.constant() > 25; };
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

} // namespace

std::span<const OpEntry> contractionOps() {
  static constexpr OpEntry entries[] = {
      {"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear},
      {"matmul(Tensor self, Tensor other) -> Tensor", matmul},
      {"linalg_matmul(Tensor self, Tensor other) -> Tensor", matmul},
      {"mm(Tensor self, Tensor mat2) -> Tensor", product<2, 2>},
      {"mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", productAs<2>},
      {"bmm(Tensor self, Tensor mat2) -> Tensor", product<3, 3>},
      {"bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", productAs<3>},
      {"mv(Tensor self, Tensor vec) -> Tensor", product<2, 1>},
      {"dot(Tensor self, Tensor tensor) -> Tensor", product<1, 1>},
      {"vdot(Tensor self, Tensor other) -> Tensor", product<1, 1>},
      {"linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", vecdot},
      {"inner(Tensor self, Tensor other) -> Tensor", inner},
      {"addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addMatmul},
      {"addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addMatmul},
      {"baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addMatmul},
      {"addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addbmm},
      {"addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addr},
      {"outer(Tensor self, Tensor vec2) -> Tensor", outer},
      {"ger(Tensor self, Tensor vec2) -> Tensor", outer},
      {"einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", einsum},
      {"tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", tensordot},
      {"chain_matmul(Tensor[] matrices) -> Tensor", multiDot},
      {"linalg_multi_dot(Tensor[] tensors) -> Tensor", multiDot},
      {"bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", bilinear},
      {"cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor", cdist},
      {"_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", cdist},
      {"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", cosineSimilarity},
      {"pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor", pairwiseDistance},
      {"cross(Tensor self, Tensor other, int? dim=None) -> Tensor", cross},
      {"linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", cross},
  };
  return entries;
}

} // namespace stator::torch
