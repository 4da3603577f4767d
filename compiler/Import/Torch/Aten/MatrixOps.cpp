// Triangles, diagonals, unit matrices, and products that make matrices out of vectors.
#include "compiler/Import/Torch/Aten/Conversion.h"
#include "compiler/Import/Torch/Aten/Views.h"

#include <algorithm>
#include <functional>

namespace stator::torch {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

template <bool isUpper>
Value triangle(OpCall &call) {
  Tensor x = call.tensor(0);
  const Value &diagonal = call.argument(1);
  if (!call.ok())
    return Value::poison();
  if (std::optional<double> known = diagonal.knownNumber(); known || x.rank() < 2)
    return call.result(fn::trilu(x, isUpper, call.integer(1)));
  // A diagonal that depends on sizes or data (a causal mask after a cache of any length): elements by their row and column.
  Tensor row = fn::iota(call.builder(), ElementType::I64, {x.dim(-2), x.dim(-1)}, 0);
  Tensor column = fn::iota(call.builder(), ElementType::I64, {x.dim(-2), x.dim(-1)}, 1);
  Tensor distance = fn::sub(column, row), limit = call.context().scalarTensor(diagonal);
  return call.result(fn::where(isUpper ? fn::ge(distance, limit) : fn::le(distance, limit), x, fn::scalarLike(x, 0)));
}

/// Row and column of every element of a triangle.
template <bool isUpper>
Value triangleIndices(OpCall &call) {
  int64_t rows = call.integer(0), columns = call.integer(1), offset = call.integer(2);
  ElementType type = call.dtype(3).value_or(ElementType::I64);
  if (!call.ok())
    return Value::poison();
  if (rows < 0 || columns < 0 || (rows > 0 && columns > (int64_t(1) << 22) / rows))
    return call.invalid("a matrix of " + std::to_string(rows) + " x " + std::to_string(columns));
  Ints first, second;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (isUpper ? column - row >= offset : column - row <= offset) {
        first.push_back(row);
        second.push_back(column);
      }
  int64_t count = static_cast<int64_t>(first.size());
  first.insert(first.end(), second.begin(), second.end());
  Tensor indices = call.builder().constant(ElementType::I64, {2, count}, first.data(), first.size() * sizeof(int64_t));
  return call.result(fn::cast(indices, type));
}

/// The last axis on the diagonal `offset` of new axes, which stand at `axis1` and `axis2` of the result.
Tensor embedded(OpCall &call, const Tensor &x, int64_t offset, int64_t axis1, int64_t axis2) {
  int64_t rank = x.rank() + 1;
  std::optional<int64_t> first = normaliseAxis(axis1, rank), second = normaliseAxis(axis2, rank);
  if (!first || !second || *first == *second) {
    call.invalid("the axes " + std::to_string(axis1) + " and " + std::to_string(axis2) + " of a result of rank " + std::to_string(rank));
    return x;
  }
  Dim size = x.dim(-1) + Dim(std::abs(offset));
  Dims low(static_cast<size_t>(x.rank()), Dim(0)), high = low;
  low.back() = Dim(std::max<int64_t>(-offset, 0));
  high.back() = Dim(std::max<int64_t>(offset, 0));
  Tensor rows = fn::unsqueeze(offset == 0 ? x : fn::pad(x, low, high), {-1});
  Tensor row = positions(call.builder(), size, 0, 2), column = positions(call.builder(), size, 1, 2);
  Tensor isOn = fn::eq(column, fn::add(row, call.builder().scalarInt(ElementType::I64, offset)));
  Tensor square = fn::where(isOn, rows, fn::scalarLike(x, 0));
  // Axis rank - 2 of the square goes to `first`, rank - 1 to `second`.
  Ints permutation;
  for (int64_t axis = 0, next = 0; axis < rank; ++axis)
    permutation.push_back(axis == *first ? rank - 2 : axis == *second ? rank - 1 : next++);
  return fn::transpose(square, permutation);
}

Value diagonalEmbedding(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t offset = call.integer(1), axis1 = call.integer(2), axis2 = call.integer(3);
  return call.ok() ? call.result(embedded(call, x, offset, axis1, axis2)) : Value::poison();
}

Value flatDiagonal(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t offset = call.integer(1);
  return call.ok() ? call.result(embedded(call, fn::reshape(x, Dims{x.elements()}), offset, 0, 1)) : Value::poison();
}

/// A vector becomes a matrix, a matrix gives its diagonal.
Value diagonal(OpCall &call) {
  TensorRef self = call.ref(0);
  int64_t offset = call.integer(1);
  if (!call.ok())
    return Value::poison();
  if (self->rank() == 1)
    return call.result(embedded(call, call.tensor(0), offset, 0, 1));
  if (self->rank() != 2)
    return call.invalid("a tensor of rank " + std::to_string(self->rank()) + ", expected 1 or 2");
  return copyResult(call, self, diagonalPlan(call, self, offset, 0, 1));
}

Value trace(OpCall &call) {
  TensorRef self = call.ref(0);
  if (!call.ok() || self->rank() != 2)
    return call.invalid("a tensor of rank " + std::to_string(self->rank()) + ", expected 2");
  MaybePlan plan = diagonalPlan(call, self, 0, 0, 1);
  if (!plan)
    return Value::poison();
  Tensor values = plan->step.read(call.tensor(0));
  if (call.ok() && !isFloatType(values.type()))
    values = fn::cast(values, ElementType::I64);
  return call.result(fn::reduce(values, fn::Reduction::Sum, {0}, false));
}

Value unitMatrix(OpCall &call, const Dim &rows, const Dim &columns, size_t dtype) {
  ElementType type = call.dtype(dtype).value_or(ElementType::F32);
  if (!call.ok())
    return Value::poison();
  Tensor row = positions(call.builder(), rows, 0, 2), column = positions(call.builder(), columns, 1, 2);
  return call.result(fn::cast(fn::eq(row, column), type));
}
Value eye(OpCall &call) {
  Dim size = call.dim(0);
  return unitMatrix(call, size, size, 1);
}
Value eyeOf(OpCall &call) {
  Dim rows = call.dim(0), columns = call.dim(1);
  return unitMatrix(call, rows, columns, 2);
}

/// Every element of the first times all of the second.
Value kronecker(OpCall &call) {
  std::vector<TensorRef> refs{call.ref(0), call.ref(1)};
  Tensor a = call.tensor(0), b = call.tensor(1);
  if (!call.ok())
    return Value::poison();
  a = fn::cast(a, resultType(refs));
  b = fn::cast(b, resultType(refs));
  int64_t rank = std::max(a.rank(), b.rank());
  Dims outer, inner, result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Dim m = axis < rank - a.rank() ? Dim(1) : a.dim(axis - (rank - a.rank()));
    Dim n = axis < rank - b.rank() ? Dim(1) : b.dim(axis - (rank - b.rank()));
    outer.insert(outer.end(), {m, Dim(1)});
    inner.insert(inner.end(), {Dim(1), n});
    result.push_back(m * n);
  }
  return call.result(fn::reshape(fn::mul(fn::reshape(a, outer), fn::reshape(b, inner)), result));
}

/// All choices of r elements of a vector, in order.
Value combinations(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t r = call.integer(1);
  bool repeats = call.flag(2);
  if (!call.ok())
    return Value::poison();
  if (x.rank() != 1 || r < 0 || r > 8 || !x.dim(0).isConstant())
    return call.unsupported("choices of " + std::to_string(r) + " elements of a tensor of rank " + std::to_string(x.rank()) +
                            ", expected at most 8 of a vector of known size");
  Ints places;
  std::vector<int64_t> choice;
  constexpr size_t most = size_t(1) << 22;
  std::function<void(int64_t)> extend = [&](int64_t from) {
    if (static_cast<int64_t>(choice.size()) == r) {
      places.insert(places.end(), choice.begin(), choice.end());
      return;
    }
    for (int64_t i = from; i < x.dim(0).constant() && places.size() < most; ++i) {
      choice.push_back(i);
      extend(repeats ? i : i + 1);
      choice.pop_back();
    }
  };
  if (r > 0)
    extend(0);
  if (places.size() >= most)
    return call.unsupported("more than 2^22 chosen elements");
  Tensor chosen = fn::gather(x, call.builder().vector(places), 0);
  int64_t rows = r == 0 ? 0 : static_cast<int64_t>(places.size()) / r;
  return call.result(fn::reshape(chosen, Dims{rows, r}));
}

/// Powers of a vector's elements as rows, falling unless `increasing`.
Value vandermonde(OpCall &call) {
  Tensor x = call.tensor(0);
  bool isIncreasing = call.flag(2);
  Dim count = !call.ok() ? Dim(0) : call.isNone(1) ? x.dim(0) : call.dim(1);
  if (!call.ok() || x.rank() != 1)
    return call.invalid("expected a vector");
  ElementType type = isFloatType(x.type()) ? x.type() : ElementType::I64;
  Tensor exponents = positions(call.builder(), count, 1, 2);
  if (!isIncreasing)
    exponents = fn::sub(call.builder().fromDim(count - Dim(1)), exponents);
  return call.result(fn::pow(fn::unsqueeze(fn::cast(x, type), {1}), fn::cast(exponents, type)));
}

} // namespace

#define FACTORY "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define INTEGER_FACTORY "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"

std::span<const OpEntry> matrixOps() {
  static constexpr OpEntry entries[] = {
      {"tril(Tensor self, int diagonal=0) -> Tensor", triangle<false>},
      {"triu(Tensor self, int diagonal=0) -> Tensor", triangle<true>},
      {"tril_indices(int row, int col, int offset=0, *, " INTEGER_FACTORY ") -> Tensor", triangleIndices<false>},
      {"triu_indices(int row, int col, int offset=0, *, " INTEGER_FACTORY ") -> Tensor", triangleIndices<true>},
      {"diag(Tensor self, int diagonal=0) -> Tensor", diagonal},
      {"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", diagonalEmbedding},
      {"diagflat(Tensor self, int offset=0) -> Tensor", flatDiagonal},
      {"trace(Tensor self) -> Tensor", trace},
      {"eye(int n, *, " FACTORY ") -> Tensor", eye},
      {"eye.m(int n, int m, *, " FACTORY ") -> Tensor", eyeOf},
      {"kron(Tensor self, Tensor other) -> Tensor", kronecker},
      {"combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", combinations},
      {"vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", vandermonde},
  };
  return entries;
}

} // namespace stator::torch
