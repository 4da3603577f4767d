// Promotion, broadcasting and known contents of element-wise functions.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace {

namespace {

/// Whether a tensor of these constant sizes may carry contents.
std::optional<Axes> trackable(llvm::ArrayRef<DimExpr> dims) {
  Axes sizes;
  int64_t count = 1;
  for (const DimExpr &dim : dims) {
    std::optional<int64_t> size = dim.constant();
    if (!size || *size > kMaxKnownElements || (count *= *size) > kMaxKnownElements)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

} // namespace

Tensor unary(llvm::StringRef op, const Tensor &x) {
  Call call(op, {x});
  if (!call)
    return call.failed();
  if (const Contents *contents = call->contents(x)) {
    Contents results;
    for (const Element &element : *contents) {
      std::optional<Element> result = knownUnary(*call, op, x.type(), element);
      if (!result)
        break;
      results.push_back(*result);
    }
    if (results.size() == contents->size())
      return call->known(x.type(), *constantShape(x), std::move(results));
  }
  return emit(*call, ("graph." + op).str(), {x});
}

Tensor toFloat(const Tensor &x) { return !x || isFloat(x.type()) ? x : fn::cast(x, ElementType::F32); }

Tensor floatUnary(llvm::StringRef op, const Tensor &x) { return unary(op, toFloat(x)); }

Tensor binary(llvm::StringRef op, const Tensor &a, const Tensor &b) {
  Call call(op, {a, b});
  if (!call)
    return call.failed();
  ElementType type = promote(a.type(), b.type());
  Tensor left = fn::cast(a, type), right = fn::cast(b, type);
  Sizes dims = broadcastShapes(*call, op, sizesOf(left), sizesOf(right));
  if (!call)
    return call.failed();
  const Contents *x = call->contents(left), *y = call->contents(right);
  if (std::optional<Axes> sizes = x && y ? trackable(dims) : std::nullopt) {
    llvm::SmallVector<int64_t> atX = broadcastOffsets(*constantShape(left), *sizes), atY = broadcastOffsets(*constantShape(right), *sizes);
    Contents results;
    for (size_t i = 0; i < atX.size(); ++i) {
      std::optional<Element> result = knownBinary(*call, op, type, (*x)[atX[i]], (*y)[atY[i]]);
      if (!result)
        break;
      results.push_back(*result);
    }
    if (results.size() == atX.size())
      return call->known(type, *sizes, std::move(results));
  }
  return emit(*call, ("graph." + op).str(), {broadcastTo(*call, op, left, dims), broadcastTo(*call, op, right, dims)});
}

Tensor withScalar(llvm::StringRef op, const Tensor &x, double value) {
  Call call(op, {x});
  return call ? binary(op, x, scalarOf(*call, x.type(), value)) : call.failed();
}

Tensor compare(llvm::StringRef name, graph::CompareDirection direction, const Tensor &a, const Tensor &b) {
  Call call(name, {a, b});
  if (!call)
    return call.failed();
  ElementType type = promote(a.type(), b.type());
  Tensor left = fn::cast(a, type), right = fn::cast(b, type);
  Sizes dims = broadcastShapes(*call, name, sizesOf(left), sizesOf(right));
  if (!call)
    return call.failed();
  const Contents *x = call->contents(left), *y = call->contents(right);
  if (std::optional<Axes> sizes = x && y ? trackable(dims) : std::nullopt) {
    llvm::SmallVector<int64_t> atX = broadcastOffsets(*constantShape(left), *sizes), atY = broadcastOffsets(*constantShape(right), *sizes);
    Contents results;
    for (size_t i = 0; i < atX.size(); ++i) {
      std::optional<bool> result = knownCompare(*call, direction, (*x)[atX[i]], (*y)[atY[i]]);
      if (!result)
        break;
      results.emplace_back(DimExpr(*result));
    }
    if (results.size() == atX.size())
      return call->known(ElementType::I1, *sizes, std::move(results));
  }
  return emit(*call, "graph.compare", {broadcastTo(*call, name, left, dims), broadcastTo(*call, name, right, dims)},
              Attributes(*call).attr("direction", graph::CompareDirectionAttr::get(call->context(), direction)));
}

namespace fn {

Tensor cast(const Tensor &x, ElementType type) {
  Call call("cast", {x});
  if (!call)
    return call.failed();
  if (x.type() == type)
    return x;
  if (call->contents(x)) {
    // A copy, since assuming something about a symbol may rewrite the original.
    Contents contents = *call->contents(x), results;
    auto isNonNegative = [&](const DimExpr &expr) { return call->assumeNonNegative(expr, kMaxAssumedSize); };
    for (const Element &element : contents) {
      std::optional<Element> result = convertElement(element, x.type(), type, isNonNegative);
      if (!result)
        break;
      results.push_back(*result);
    }
    if (results.size() == contents.size())
      return call->known(type, *constantShape(x), std::move(results));
  }
  return emitAs(*call, "graph.convert", {x}, type, sizesOf(x));
}

Tensor where(const Tensor &condition, const Tensor &onTrue, const Tensor &onFalse) {
  Call call("where", {condition, onTrue, onFalse});
  if (!call)
    return call.failed();
  ElementType type = promote(onTrue.type(), onFalse.type());
  Tensor test = cast(condition, ElementType::I1), left = cast(onTrue, type), right = cast(onFalse, type);
  Sizes dims = broadcastShapes(*call, "where", sizesOf(left), sizesOf(right));
  if (call)
    dims = broadcastShapes(*call, "where", dims, sizesOf(test));
  if (!call)
    return call.failed();
  const Contents *c = call->contents(test), *x = call->contents(left), *y = call->contents(right);
  std::optional<Axes> sizes = c && (x || y) ? trackable(dims) : std::nullopt;
  if (sizes) {
    llvm::SmallVector<int64_t> atC = broadcastOffsets(*constantShape(test), *sizes), atX, atY;
    if (x)
      atX = broadcastOffsets(*constantShape(left), *sizes);
    if (y)
      atY = broadcastOffsets(*constantShape(right), *sizes);
    Contents results;
    for (size_t i = 0; i < atC.size(); ++i) {
      std::optional<int64_t> choice = (*c)[atC[i]].integer();
      const Contents *from = choice.value_or(0) ? x : y;
      if (!choice || !from)
        break;
      results.push_back((*from)[choice.value_or(0) ? atX[i] : atY[i]]);
    }
    if (results.size() == atC.size())
      return call->known(type, *sizes, std::move(results));
  }
  return emit(*call, "graph.select",
              {broadcastTo(*call, "where", test, dims), broadcastTo(*call, "where", left, dims), broadcastTo(*call, "where", right, dims)});
}

} // namespace fn
} // namespace stator::trace
