// Products of matrices and vectors. Inside of torch.autocast, f32 and narrower operands are brought to its type first, since a
// non-decomposed export leaves that to the importer.
#include "compiler/Import/Torch/Aten/Contraction.h"

#include "compiler/Import/Torch/Aten/Compute.h"

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

/// _int_mm: i8 matrices, the result i32.
Value integerProduct(OpCall &op) {
  return op.result(fn::matmul(fn::cast(op.tensor(0), ElementType::I32), fn::cast(op.tensor(1), ElementType::I32)));
}

/// _weight_int8pack_mm(self, mat2, scales): self @ mat2^T, its columns scaled.
Value packedProduct(OpCall &op) {
  Tensor x = op.tensor(0), weight = op.tensor(1), scales = op.tensor(2);
  if (!hasRank(op, weight, 2, "the weight"))
    return Value::poison();
  Tensor product = fn::linear(widened(x), fn::cast(weight, wideTypeOf(x.type())), {});
  return op.result(fn::cast(fn::mul(product, fn::cast(scales, product.type())), x.type()));
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

/// Every element of one times the whole other: [a1 * b1, a2 * b2, ..], of the higher rank.
Value kron(OpCall &op) {
  Operands x = promoted(op, {0, 1});
  if (!op.ok())
    return Value::poison();
  int64_t rank = std::max(x[0].rank(), x[1].rank());
  auto spread = [&](const Tensor &y, bool isOuter) {
    Dims dims;
    for (int64_t axis = 0; axis < rank; ++axis) {
      int64_t own = axis - (rank - y.rank());
      trace::Dim size = own < 0 ? trace::Dim(1) : y.dim(own);
      dims.push_back(isOuter ? size : trace::Dim(1));
      dims.push_back(isOuter ? trace::Dim(1) : size);
    }
    return fn::reshape(y, dims);
  };
  Tensor products = fn::mul(spread(x[0], true), spread(x[1], false));
  Dims joined, all = products.dims();
  for (size_t axis = 0; axis + 1 < all.size(); axis += 2)
    joined.push_back(all[axis] * all[axis + 1]);
  return x.result(op, fn::reshape(products, joined));
}

/// By repeated squaring.
Value matrixPower(OpCall &op) {
  Tensor square = op.tensor(0);
  int64_t power = op.integer(1);
  if (!op.ok())
    return Value::poison();
  if (power < 0 || square.rank() < 2)
    return op.unsupported("powers below 0, which need the inverse, or of what is no matrix");
  Dims matrix{square.dim(-2), square.dim(-1)};
  Tensor result = fn::broadcastTo(fn::eyeLike(fn::full(op.builder(), square.type(), matrix, 0), square.type()), square.dims());
  for (bool isFirst = true; power > 0; power /= 2) {
    if (power % 2 != 0)
      result = isFirst ? square : fn::matmul(result, square);
    isFirst = isFirst && power % 2 == 0;
    if (power > 1)
      square = fn::matmul(square, square);
  }
  return op.result(result);
}

/// input1 [.., I], input2 [.., J], weight [O, I, J].
Value bilinear(OpCall &op) {
  Tensor result = fn::einsum("...i,oij,...j->...o", {contractionOperand(op, 0), contractionOperand(op, 2), contractionOperand(op, 1)});
  Tensor bias = contractionOperand(op, 3);
  return op.result(bias && op.ok() ? fn::add(result, bias) : result);
}

} // namespace

std::span<const OpEntry> contractionOps() {
  static constexpr OpEntry entries[] = {
      {"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear},
      {"matmul(Tensor self, Tensor other) -> Tensor", matmul},
      {"linalg_matmul(Tensor self, Tensor other) -> Tensor", matmul},
      {"mm(Tensor self, Tensor mat2) -> Tensor", product<2, 2>},
      {"mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", productAs<2>},
      {"_int_mm(Tensor self, Tensor mat2) -> Tensor", integerProduct},
      {"_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", packedProduct},
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
      {"kron(Tensor self, Tensor other) -> Tensor", kron},
      {"matrix_power(Tensor self, int n) -> Tensor", matrixPower},
      {"linalg_matrix_power(Tensor self, int n) -> Tensor", matrixPower},
      {"bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", bilinear},
  };
  return entries;
}

} // namespace stator::torch
