// Products of matrices. All of them become graph.dot_general; weights of rank 2 are never broadcast over batches, their product keeps
// the leading axes of the other operand as they are.
#include "compiler/Trace/ElementwiseSupport.h"

#include <cmath>

namespace stator::trace {

namespace {

Tensor dotGeneral(BuilderImpl &b, const Tensor &x, const Tensor &y, llvm::ArrayRef<int64_t> batchX, llvm::ArrayRef<int64_t> batchY,
                  llvm::ArrayRef<int64_t> contractX, llvm::ArrayRef<int64_t> contractY) {
  return emit(
      b, "graph.dot_general", {x, y},
      Attributes(b).ints("lhs_batch", batchX).ints("rhs_batch", batchY).ints("lhs_contract", contractX).ints("rhs_contract", contractY));
}

Sizes withoutAxis(Sizes dims, int64_t axis) {
  dims.erase(dims.begin() + axis);
  return dims;
}

} // namespace

namespace fn {

Tensor matmul(const Tensor &a, const Tensor &b) {
  Call call("matmul", {a, b});
  if (!call || !call.rankAtLeast("the left operand", a, 1) || !call.rankAtLeast("the right operand", b, 1))
    return call.failed();
  ElementType type = promote(a.type(), b.type());
  Tensor x = cast(a, type), y = cast(b, type);
  // A vector on the left is a row, one on the right a column; the axis added goes again at the end.
  bool isRow = x.rank() == 1, isColumn = y.rank() == 1;
  if (isRow)
    x = unsqueeze(x, {0});
  if (isColumn)
    y = unsqueeze(y, {1});
  if (!call)
    return call.failed();

  // Leading ones of the right operand (a weight of shape [1, K, N]) need no batches.
  Sizes leadY = sizesOf(y);
  leadY.resize(y.rank() - 2);
  if (!leadY.empty() && y.rank() <= x.rank() && llvm::all_of(leadY, [](const DimExpr &dim) { return dim.isConstant(1); })) {
    Sizes matrix = sizesOf(y);
    matrix.erase(matrix.begin(), matrix.end() - 2);
    y = reshapeTo(*call, y, matrix);
  }
  if (!call || !requireEqualSizes(*call, "matmul", x, x.rank() - 1, y, y.rank() - 2))
    return call.failed();

  Tensor result;
  if (y.rank() == 2) {
    result = dotGeneral(*call, x, y, {}, {}, {x.rank() - 1}, {0});
  } else {
    Sizes dimsX = sizesOf(x), dimsY = sizesOf(y);
    Sizes lead = broadcastShapes(*call, "matmul", llvm::ArrayRef<DimExpr>(dimsX).drop_back(2), llvm::ArrayRef<DimExpr>(dimsY).drop_back(2));
    if (!call)
      return call.failed();
    dimsX = sizesOf(x), dimsY = sizesOf(y);
    Sizes targetX(lead), targetY(lead);
    targetX.append(dimsX.end() - 2, dimsX.end());
    targetY.append(dimsY.end() - 2, dimsY.end());
    x = broadcastTo(*call, "matmul", x, targetX);
    y = broadcastTo(*call, "matmul", y, targetY);
    Axes batch;
    for (size_t i = 0; i < lead.size(); ++i)
      batch.push_back(i);
    int64_t rank = static_cast<int64_t>(lead.size());
    result = dotGeneral(*call, x, y, batch, batch, {rank + 1}, {rank});
  }
  if (!call)
    return call.failed();
  if (isColumn)
    result = reshapeTo(*call, result, withoutAxis(sizesOf(result), result.rank() - 1));
  if (isRow && call)
    result = reshapeTo(*call, result, withoutAxis(sizesOf(result), result.rank() - (isColumn ? 1 : 2)));
  return result;
}

Tensor gemm(const Tensor &a, const Tensor &b, const Tensor &c, double alpha, double beta, bool transA, bool transB) {
  Call call("gemm", {a, b}, {c});
  if (!call || !call.rank("the left operand", a, 2) || !call.rank("the right operand", b, 2))
    return call.failed();
  ElementType type = promote(a.type(), b.type());
  Tensor x = cast(a, type), y = cast(b, type);
  int64_t contractX = transA ? 0 : 1, contractY = transB ? 1 : 0;
  if (!requireEqualSizes(*call, "gemm", x, contractX, y, contractY))
    return call.failed();
  Tensor result = dotGeneral(*call, x, y, {}, {}, {contractX}, {contractY});
  if (alpha != 1)
    result = withScalar("mul", result, alpha);
  if (!c || beta == 0 || !call)
    return result;
  Tensor addend = broadcastTo(*call, "gemm", cast(c, type), sizesOf(result));
  return add(result, beta == 1 ? addend : withScalar("mul", addend, beta));
}

Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias) {
  Call call("linear", {x, weight}, {bias});
  if (!call || !call.rankAtLeast("the input", x, 1) || !call.rank("the weight", weight, 2))
    return call.failed();
  ElementType type = promote(x.type(), weight.type());
  Tensor left = cast(x, type), right = cast(weight, type);
  if (!requireEqualSizes(*call, "linear", left, left.rank() - 1, right, 1))
    return call.failed();
  Tensor result = dotGeneral(*call, left, right, {}, {}, {left.rank() - 1}, {1});
  return bias ? add(result, bias) : result;
}

Tensor attention(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &mask, std::optional<double> scale,
                 bool causal) {
  Call call("attention", {query, key, value}, {mask});
  if (!call || !call.rankAtLeast("the query", query, 2) || !call.rank("the key", key, query.rank()) ||
      !call.rank("the value", value, query.rank()))
    return call.failed();
  ElementType type = promote(promote(query.type(), key.type()), value.type());
  Tensor q = toFloat(cast(query, type)), k = toFloat(cast(key, type)), v = toFloat(cast(value, type));
  int64_t rank = q.rank();
  for (int64_t axis = 0; axis < rank - 2; ++axis)
    if (!requireEqualSizes(*call, "attention", q, axis, k, axis) || !requireEqualSizes(*call, "attention", q, axis, v, axis))
      return call.failed();
  if (!call || !requireEqualSizes(*call, "attention", q, rank - 1, k, rank - 1) ||
      !requireEqualSizes(*call, "attention", k, rank - 2, v, rank - 2))
    return call.failed();
  if (!scale) {
    std::optional<int64_t> width = call.constantSize("the query", q, rank - 1);
    if (!width)
      return call.failed();
    scale = 1 / std::sqrt(static_cast<double>(*width));
  }
  Tensor bias = mask;
  if (mask) {
    if (mask.rank() > rank)
      return call.invalid("the mask has rank " + llvm::Twine(mask.rank()) + ", expected at most " + llvm::Twine(rank));
    Sizes dims = sizesOf(mask);
    dims.insert(dims.begin(), rank - mask.rank(), DimExpr(1));
    bias = reshapeTo(*call, mask.type() == ElementType::I1 ? mask : cast(mask, q.type()), dims);
  }
  return emit(*call, "graph.attention", {q, k, v, bias}, Attributes(*call).number("scale", *scale).flag("causal", causal));
}

} // namespace fn
} // namespace stator::trace
