// Many elements into one: sums, products, extrema, norms and variances. Sums of integers are of i64, means and norms of floats; an empty
// list of dimensions means all of them; narrow floats are added up in f32.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <cmath>
#include <limits>

namespace stator::torch {

using fn::Reduction;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

/// Reduces over `axes`, which may be none at all (of a rank-0 tensor).
Tensor reduceOver(const Tensor &x, Reduction kind, const Ints &axes, bool keepDims) { return fn::reduce(x, kind, axes, keepDims); }

/// The type of sums and products: what is asked for, else i64 for integers and booleans.
Tensor summand(const Tensor &x, std::optional<ElementType> type) {
  return fn::cast(x, type ? *type : isFloat(x.type()) ? x.type() : ElementType::I64);
}

/// The arguments from `dim` on: dim, keepdim. Operators that reduce everything have none.
struct Over {
  Ints axes;
  bool keepDims = false;
};

Over over(OpCall &op, int64_t rank, std::optional<size_t> dim, std::optional<size_t> keepDims) {
  Over result;
  result.axes = dim ? op.axes(*dim, rank) : axisRange(0, rank);
  result.keepDims = keepDims && op.flag(*keepDims);
  return result;
}

/// (self, *, dtype) or (self, dim, keepdim, *, dtype).
template <Reduction kind>
Value sumOrProduct(OpCall &op) {
  bool hasDim = op.schema().parameters.size() > 2;
  Tensor x = op.tensor(0);
  std::optional<ElementType> type = op.dtype(hasDim ? 3 : 1);
  Over where = hasDim ? over(op, x.rank(), 1, 2) : over(op, x.rank(), {}, {});
  if (!op.ok())
    return Value::poison();
  Tensor input = summand(x, type);
  // A sum of booleans is asked for by name only.
  if (input.type() == ElementType::I1)
    return op.result(reduceOver(input, kind == Reduction::Sum ? Reduction::Any : Reduction::All, where.axes, where.keepDims));
  return op.result(reduceOver(input, kind, where.axes, where.keepDims));
}

Value mean(OpCall &op) {
  bool hasDim = op.schema().parameters.size() > 2;
  Tensor x = op.tensor(0);
  std::optional<ElementType> type = op.dtype(hasDim ? 3 : 1);
  Over where = hasDim ? over(op, x.rank(), 1, 2) : over(op, x.rank(), {}, {});
  if (!op.ok())
    return Value::poison();
  Tensor input = type ? fn::cast(x, *type) : x;
  if (!isFloat(input.type()))
    return op.invalid("the mean of integers or booleans; PyTorch refuses it without a dtype");
  return op.result(reduceOver(input, Reduction::Mean, where.axes, where.keepDims));
}

Tensor withoutNan(const Tensor &x) { return isFloat(x.type()) ? fn::where(fn::isNan(x), zeroLike(x), x) : x; }

Value nansum(OpCall &op) {
  Tensor x = op.tensor(0);
  std::optional<ElementType> type = op.dtype(3);
  Over where = over(op, x.rank(), 1, 2);
  return op.ok() ? op.result(reduceOver(summand(withoutNan(x), type), Reduction::Sum, where.axes, where.keepDims)) : Value::poison();
}

Value nanmean(OpCall &op) {
  Tensor x = op.tensor(0);
  std::optional<ElementType> type = op.dtype(3);
  Over where = over(op, x.rank(), 1, 2);
  if (!op.ok())
    return Value::poison();
  Tensor input = toFloat(type ? fn::cast(x, *type) : x), wide = widened(input);
  Tensor count = fn::cast(fn::logicalNot(fn::isNan(wide)), wide.type());
  Tensor sum = reduceOver(withoutNan(wide), Reduction::Sum, where.axes, where.keepDims);
  return op.result(fn::cast(fn::div(sum, reduceOver(count, Reduction::Sum, where.axes, where.keepDims)), input.type()));
}

template <Reduction kind>
Value extremumOver(OpCall &op) {
  Tensor x = op.tensor(0);
  bool hasDim = op.schema().parameters.size() > 2;
  Over where = hasDim ? over(op, x.rank(), 1, 2) : over(op, x.rank(), {}, {});
  return op.ok() ? op.result(reduceOver(x, kind, where.axes, where.keepDims)) : Value::poison();
}

Value aminmax(OpCall &op) {
  Tensor x = op.tensor(0);
  Over where = over(op, x.rank(), 1, 2);
  if (!op.ok())
    return Value::poison();
  return op.results({reduceOver(x, Reduction::Min, where.axes, where.keepDims), reduceOver(x, Reduction::Max, where.axes, where.keepDims)});
}

Tensor argOf(const Tensor &x, bool isMax, int64_t axis, bool keepDims) {
  if (x.rank() == 0)
    return fn::full(*x.builder(), ElementType::I64, {}, 0);
  return isMax ? fn::argMax(x, axis, keepDims) : fn::argMin(x, axis, keepDims);
}

/// (values, indices) along one dimension.
template <bool isMax>
Value extremumAlong(OpCall &op) {
  Tensor x = op.tensor(0);
  int64_t axis = op.axis(1, x.rank());
  bool keepDims = op.flag(2);
  if (!op.ok())
    return Value::poison();
  if (x.rank() == 0)
    return op.results({x, argOf(x, isMax, 0, false)});
  return op.results({reduceOver(x, isMax ? Reduction::Max : Reduction::Min, {axis}, keepDims), argOf(x, isMax, axis, keepDims)});
}

template <bool isMax>
Value argExtremum(OpCall &op) {
  Tensor x = op.tensor(0);
  bool keepDims = op.flag(2);
  int64_t axis = op.isNone(1) ? 0 : op.axis(1, x.rank());
  if (!op.ok())
    return Value::poison();
  if (!op.isNone(1))
    return op.result(argOf(x, isMax, axis, keepDims));
  Tensor position = argOf(fn::reshape(x, {-1}), isMax, 0, /*keepDims=*/false);
  return op.result(keepDims ? fn::reshape(position, Dims(x.rank(), 1)) : position);
}

/// The result is of booleans, of u8 for u8.
template <Reduction kind>
Value quantifier(OpCall &op) {
  Tensor x = op.tensor(0);
  bool hasDim = op.schema().parameters.size() > 1;
  Over where = hasDim ? over(op, x.rank(), 1, 2) : over(op, x.rank(), {}, {});
  if (!op.ok())
    return Value::poison();
  // Here, unlike everywhere else, an empty list of dimensions means none; None means all.
  bool isNone = op.schema().overload == "dims" && op.argument(1).items() && op.argument(1).items()->empty();
  Tensor result = isNone ? fn::cast(x, ElementType::I1) : reduceOver(x, kind, where.axes, where.keepDims);
  return op.result(x.type() == ElementType::U8 ? fn::cast(result, ElementType::U8) : result);
}

Value countNonzero(OpCall &op) {
  Tensor x = op.tensor(0);
  Over where = over(op, x.rank(), 1, {});
  return op.ok() ? op.result(reduceOver(fn::cast(fn::cast(x, ElementType::I1), ElementType::I64), Reduction::Sum, where.axes, false))
                 : Value::poison();
}

/// The norm of order p of wide floats.
Tensor normOf(const Tensor &x, double p, const Ints &axes, bool keepDims) {
  if (std::isinf(p))
    return reduceOver(fn::abs(x), p > 0 ? Reduction::Max : Reduction::Min, axes, keepDims);
  if (p == 0)
    return reduceOver(fn::cast(fn::ne(x, zeroLike(x)), x.type()), Reduction::Sum, axes, keepDims);
  if (p == 1)
    return reduceOver(x, Reduction::L1, axes, keepDims);
  if (p == 2)
    return reduceOver(x, Reduction::L2, axes, keepDims);
  Tensor sum = reduceOver(fn::pow(fn::abs(x), fn::scalarLike(x, p)), Reduction::Sum, axes, keepDims);
  return fn::pow(sum, fn::scalarLike(sum, 1 / p));
}

Value norm(OpCall &op, double p, const Over &where, std::optional<ElementType> type) {
  Tensor x = op.tensor(0);
  if (!op.ok())
    return Value::poison();
  Tensor input = toFloat(type ? fn::cast(x, *type) : x);
  return op.result(fn::cast(normOf(widened(input), p, where.axes, where.keepDims), input.type()));
}

double orderOf(OpCall &op, size_t index) { return op.isNone(index) ? 2 : op.number(index); }

/// norm(self, p[, *, dtype]), norm(self, p, dim, keepdim[, *, dtype]).
template <bool hasDim, bool hasType>
Value oldNorm(OpCall &op) {
  Over where = hasDim ? over(op, op.tensor(0).rank(), 2, 3) : over(op, op.tensor(0).rank(), {}, {});
  double p = orderOf(op, 1);
  std::optional<ElementType> type = hasType ? op.dtype(hasDim ? 4 : 2) : std::nullopt;
  return norm(op, p, where, type);
}

/// (self, ord, dim, keepdim, *, dtype)
Value vectorNorm(OpCall &op) {
  double p = orderOf(op, 1);
  Over where = over(op, op.tensor(0).rank(), 2, 3);
  std::optional<ElementType> type = op.dtype(4);
  return norm(op, p, where, type);
}

Value matrixNormOf(OpCall &op, const Tensor &given, const std::string &order, std::optional<double> p, Ints axes, bool keepDims,
                   std::optional<ElementType> type) {
  if (!op.ok())
    return Value::poison();
  Tensor input = toFloat(type ? fn::cast(given, *type) : given), x = widened(input);
  if (order == "fro")
    return op.result(fn::cast(normOf(x, 2, axes, keepDims), input.type()));
  bool isOne = p && std::fabs(*p) == 1;
  if (axes.size() != 2 || !p || (!isOne && !std::isinf(*p)))
    return op.unsupported("only the orders `fro`, 1, -1, inf and -inf of matrix norms are supported; others need singular values");
  // Sums of the columns (1) or rows (inf), then the extremum of these.
  Tensor sums = reduceOver(x, Reduction::L1, {axes[isOne ? 0 : 1]}, /*keepDims=*/true);
  Tensor result = reduceOver(sums, *p > 0 ? Reduction::Max : Reduction::Min, {axes[isOne ? 1 : 0]}, /*keepDims=*/true);
  if (!keepDims)
    result = fn::squeeze(result, axes);
  return op.result(fn::cast(result, input.type()));
}

/// Both axes of a matrix norm in the order given.
Ints matrixAxes(OpCall &op, size_t index, int64_t rank) {
  Ints axes;
  for (int64_t axis : op.integers(index)) {
    std::optional<int64_t> normal = normaliseAxis(axis, rank);
    if (!normal)
      op.invalid("dimension " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
    axes.push_back(normal.value_or(0));
  }
  return axes;
}

Value linalgNorm(OpCall &op) {
  Tensor x = op.tensor(0);
  Ints axes = matrixAxes(op, 2, x.rank());
  // Without an order, the norm of all elements.
  bool isMatrix = !op.isNone(1) && (axes.size() == 2 || (op.isNone(2) && x.rank() == 2));
  if (!isMatrix)
    return vectorNorm(op);
  if (op.isNone(2))
    axes = {0, 1};
  double p = op.number(1);
  bool keepDims = op.flag(3);
  std::optional<ElementType> type = op.dtype(4);
  return matrixNormOf(op, x, {}, p, axes, keepDims, type);
}

template <bool isText>
Value matrixNorm(OpCall &op) {
  Tensor x = op.tensor(0);
  std::string order = isText ? op.text(1) : std::string();
  std::optional<double> p = isText ? std::optional<double>() : op.number(1);
  Ints axes = op.isNone(2) ? Ints{x.rank() - 2, x.rank() - 1} : matrixAxes(op, 2, x.rank());
  bool keepDims = op.flag(3);
  std::optional<ElementType> type = op.dtype(4);
  return matrixNormOf(op, x, order, p, axes, keepDims, type);
}

Value frobeniusNorm(OpCall &op) {
  Over where = over(op, op.tensor(0).rank(), 1, 2);
  return norm(op, 2, where, {});
}

Value dist(OpCall &op) {
  double p = op.number(2);
  Operands x = promoted(op, {0, 1}, Promotion::ToFloat, Precision::Wide);
  if (!op.ok())
    return Value::poison();
  Tensor difference = fn::sub(x[0], x[1]);
  return x.result(op, normOf(difference, p, axisRange(0, difference.rank()), false));
}

// Variances: the squared distances from the mean over their number less the correction.

struct Moments {
  Tensor variance, mean;
};

Moments moments(const Tensor &x, const Over &where, double correction) {
  Tensor mean = reduceOver(x, Reduction::Mean, where.axes, /*keepDims=*/true);
  Tensor squares = reduceOver(fn::square(fn::sub(x, mean)), Reduction::Sum, where.axes, where.keepDims);
  Tensor count = countOf(x, where.axes, x.type());
  if (correction != 0)
    count = fn::maximum(plus(count, -correction), zeroLike(count));
  if (!where.keepDims)
    mean = fn::reshape(mean, squares.dims());
  return {fn::div(squares, count), mean};
}

/// (self, unbiased), (self, dim, unbiased, keepdim) and (self, dim, *, correction, keepdim).
template <bool isStd, bool withMean>
Value variance(OpCall &op) {
  Tensor x = op.tensor(0);
  bool isAll = op.schema().parameters.size() == 2, isCorrected = op.schema().overload == "correction";
  size_t at = isAll ? 1 : 2;
  Over where = isAll ? over(op, x.rank(), {}, {}) : over(op, x.rank(), 1, 3);
  double correction = isCorrected ? (op.isNone(at) ? 1 : op.number(at)) : op.flag(at) ? 1 : 0;
  if (!op.ok())
    return Value::poison();
  if (!isFloat(x.type()))
    return op.invalid("the variance of integers or booleans; PyTorch refuses it too");
  Moments result = moments(widened(x), where, correction);
  Tensor spread = fn::cast(isStd ? fn::sqrt(result.variance) : result.variance, x.type());
  return withMean ? op.results({spread, fn::cast(result.mean, x.type())}) : op.result(spread);
}

Value logsumexp(OpCall &op) {
  Operands x = promoted(op, {0}, Promotion::ToFloat, Precision::Wide);
  Over where = over(op, x[0].rank(), 1, 2);
  return op.ok() ? x.result(op, reduceOver(x[0], Reduction::LogSumExp, where.axes, where.keepDims)) : Value::poison();
}

} // namespace

std::span<const OpEntry> reductionOps() {
  static constexpr OpEntry entries[] = {
      {"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", sumOrProduct<Reduction::Sum>},
      {"sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", sumOrProduct<Reduction::Sum>},
      {"prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", sumOrProduct<Reduction::Prod>},
      {"prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", sumOrProduct<Reduction::Prod>},
      {"mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", mean},
      {"mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", mean},
      {"nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", nansum},
      {"nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", nanmean},
      {"amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", extremumOver<Reduction::Max>},
      {"amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", extremumOver<Reduction::Min>},
      {"max(Tensor self) -> Tensor", extremumOver<Reduction::Max>},
      {"min(Tensor self) -> Tensor", extremumOver<Reduction::Min>},
      {"max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", extremumAlong<true>},
      {"min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", extremumAlong<false>},
      {"aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", aminmax},
      {"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", argExtremum<true>},
      {"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", argExtremum<false>},
      {"any(Tensor self) -> Tensor", quantifier<Reduction::Any>},
      {"any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", quantifier<Reduction::Any>},
      {"any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", quantifier<Reduction::Any>},
      {"all(Tensor self) -> Tensor", quantifier<Reduction::All>},
      {"all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", quantifier<Reduction::All>},
      {"all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", quantifier<Reduction::All>},
      {"count_nonzero(Tensor self, int? dim=None) -> Tensor", countNonzero},
      {"count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", countNonzero},
      {"norm.Scalar(Tensor self, Scalar p=2) -> Tensor", oldNorm<false, false>},
      {"norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", oldNorm<true, false>},
      {"norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor", oldNorm<true, true>},
      {"norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", oldNorm<false, true>},
      {"linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       vectorNorm},
      {"linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", linalgNorm},
      {"linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       matrixNorm<false>},
      {"linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> "
       "Tensor",
       matrixNorm<true>},
      {"frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", frobeniusNorm},
      {"dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist},
      {"var(Tensor self, bool unbiased=True) -> Tensor", variance<false, false>},
      {"var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", variance<false, false>},
      {"var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor", variance<false, false>},
      {"std(Tensor self, bool unbiased=True) -> Tensor", variance<true, false>},
      {"std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", variance<true, false>},
      {"std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor", variance<true, false>},
      {"var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", variance<false, true>},
      {"var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)", variance<false, true>},
      {"var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
       variance<false, true>},
      {"std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", variance<true, true>},
      {"std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)", variance<true, true>},
      {"std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
       variance<true, true>},
      {"logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", logsumexp},
      {"special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", logsumexp},
  };
  return entries;
}

} // namespace stator::torch
