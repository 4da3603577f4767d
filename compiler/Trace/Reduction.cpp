// Reductions, scans and sorting. The dialect reduces by sum, product, extremum and quantifier; norms and means are written with them.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace {

namespace {

graph::ReduceKind primitive(fn::Reduction kind) {
  switch (kind) {
  case fn::Reduction::Prod:
    return graph::ReduceKind::Prod;
  case fn::Reduction::Max:
    return graph::ReduceKind::Max;
  case fn::Reduction::Min:
    return graph::ReduceKind::Min;
  case fn::Reduction::Any:
    return graph::ReduceKind::Any;
  case fn::Reduction::All:
    return graph::ReduceKind::All;
  default:
    return graph::ReduceKind::Sum;
  }
}

/// All known elements into one.
std::optional<Element> foldKnown(BuilderImpl &b, fn::Reduction kind, ElementType type, const Contents &contents) {
  llvm::StringRef op = kind == fn::Reduction::Sum    ? "add"
                       : kind == fn::Reduction::Prod ? "mul"
                       : kind == fn::Reduction::Max  ? "maximum"
                       : kind == fn::Reduction::Min  ? "minimum"
                       : kind == fn::Reduction::Any  ? "or"
                                                     : "and";
  if (contents.empty()) {
    bool isOne = kind == fn::Reduction::Prod || kind == fn::Reduction::All;
    return kind == fn::Reduction::Max || kind == fn::Reduction::Min ? std::nullopt : std::optional<Element>(elementOf(type, isOne));
  }
  std::optional<Element> result = contents.front();
  for (size_t i = 1; i < contents.size() && result; ++i)
    result = knownBinary(b, op, type, *result, contents[i]);
  return result;
}

Tensor reducePrimitive(const Call &call, const Tensor &x, fn::Reduction kind, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  if (!call)
    return call.failed();
  if (static_cast<int64_t>(axes.size()) == x.rank())
    if (const Contents *contents = call->contents(x))
      if (std::optional<Element> result = foldKnown(*call, kind, x.type(), *contents))
        return call->known(x.type(), Axes(keepDims ? x.rank() : 0, 1), {*result});
  return emit(*call, "graph.reduce", {x},
              Attributes(*call)
                  .attr("kind", graph::ReduceKindAttr::get(call->context(), primitive(kind)))
                  .ints("axes", axes)
                  .flag("keep_dims", keepDims));
}

/// The number of elements that a reduction combines, as a rank-0 tensor of `type`.
Tensor countOf(const Call &call, const Tensor &x, llvm::ArrayRef<int64_t> axes, ElementType type) {
  DimExpr count(1);
  for (int64_t axis : axes)
    count *= call->dims(x)[axis];
  return fn::cast(call->known(ElementType::I64, {}, {Element(count)}), type);
}

Tensor reduceMean(const Call &call, const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  // The sum of many halves leaves their range long before their mean does.
  bool isNarrow = x.type() == ElementType::F16 || x.type() == ElementType::BF16;
  Tensor wide = isNarrow ? fn::cast(x, ElementType::F32) : x.type() == ElementType::I1 ? fn::cast(x, ElementType::I64) : x;
  Tensor sum = reducePrimitive(call, wide, fn::Reduction::Sum, axes, keepDims);
  Tensor mean = fn::div(sum, countOf(call, wide, axes, wide.type()));
  return isNarrow ? fn::cast(mean, x.type()) : mean;
}

Tensor reduceLogSumExp(const Call &call, const Tensor &x, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  Tensor most = reducePrimitive(call, x, fn::Reduction::Max, axes, /*keepDims=*/true);
  // Infinities cannot be subtracted from themselves.
  Tensor shift = fn::where(fn::isInf(most), fn::scalarLike(most, 0), most);
  Tensor sum = reducePrimitive(call, fn::exp(fn::sub(x, shift)), fn::Reduction::Sum, axes, /*keepDims=*/true);
  Tensor result = fn::add(fn::log(sum), shift);
  if (keepDims || !call)
    return result;
  Sizes dims;
  for (int64_t axis = 0; axis < result.rank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      dims.push_back(call->dims(result)[axis]);
  return reshapeTo(*call, result, dims);
}

Tensor reduceOver(const Call &call, const Tensor &given, fn::Reduction kind, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  using fn::Reduction;
  Tensor x = given;
  bool isBool = x.type() == ElementType::I1;
  switch (kind) {
  case Reduction::Mean:
    return reduceMean(call, x, axes, keepDims);
  case Reduction::Any:
  case Reduction::All:
    return reducePrimitive(call, fn::cast(x, ElementType::I1), kind, axes, keepDims);
  case Reduction::Max:
    return reducePrimitive(call, x, isBool ? Reduction::Any : kind, axes, keepDims);
  case Reduction::Min:
    return reducePrimitive(call, x, isBool ? Reduction::All : kind, axes, keepDims);
  case Reduction::Sum:
  case Reduction::Prod:
    return reducePrimitive(call, isBool ? fn::cast(x, ElementType::I64) : x, kind, axes, keepDims);
  case Reduction::L1:
    return reducePrimitive(call, fn::abs(x), Reduction::Sum, axes, keepDims);
  case Reduction::SumSquare:
    return reducePrimitive(call, fn::square(x), Reduction::Sum, axes, keepDims);
  case Reduction::L2:
  case Reduction::LogSum:
  case Reduction::LogSumExp: {
    // Of integers in f64, then back.
    ElementType type = x.type();
    x = isFloat(type) ? x : fn::cast(x, ElementType::F64);
    Tensor result = kind == Reduction::LogSumExp ? reduceLogSumExp(call, x, axes, keepDims)
                    : kind == Reduction::L2      ? fn::sqrt(reducePrimitive(call, fn::square(x), Reduction::Sum, axes, keepDims))
                                                 : fn::log(reducePrimitive(call, x, Reduction::Sum, axes, keepDims));
    return fn::cast(result, type);
  }
  }
  return call.failed();
}

Tensor argReduce(llvm::StringRef name, const Tensor &given, graph::ArgReduceKind kind, int64_t axis, bool keepDims, bool selectLast) {
  Call call(name, {given});
  if (!call || !call.axis(axis, given.rank()))
    return call.failed();
  Tensor x = given.type() == ElementType::I1 ? fn::cast(given, ElementType::U8) : given;
  return emit(*call, "graph.arg_reduce", {x},
              Attributes(*call)
                  .attr("kind", graph::ArgReduceKindAttr::get(call->context(), kind))
                  .integer("axis", axis)
                  .flag("keep_dims", keepDims)
                  .flag("select_last", selectLast));
}

Tensor cumulative(llvm::StringRef name, const Tensor &x, graph::CumulativeKind kind, int64_t axis, bool exclusive, bool reverse) {
  Call call(name, {x});
  if (!call || !call.axis(axis, x.rank()))
    return call.failed();
  return emit(*call, "graph.cumulative", {x},
              Attributes(*call)
                  .attr("kind", graph::CumulativeKindAttr::get(call->context(), kind))
                  .integer("axis", axis)
                  .flag("exclusive", exclusive)
                  .flag("reverse", reverse));
}

} // namespace

namespace fn {

Tensor reduce(const Tensor &x, Reduction kind, const Ints &given, bool keepDims) {
  Call call("reduce", {x});
  if (!call)
    return call.failed();
  Ints all;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    all.push_back(axis);
  std::optional<Axes> axes = call.axes(given.empty() ? all : given, x.rank());
  return axes ? reduceOver(call, x, kind, *axes, keepDims) : call.failed();
}

Tensor reduce(const Tensor &x, Reduction kind, const Tensor &axes, bool keepDims, bool noopWithEmptyAxes) {
  Call call("reduce", {x}, {axes});
  if (!call)
    return call.failed();
  Ints list;
  if (axes) {
    std::optional<Axes> constants = call.constants("the list of axes", axes);
    if (!constants)
      return call.failed();
    list.assign(constants->begin(), constants->end());
  }
  return list.empty() && noopWithEmptyAxes ? x : reduce(x, kind, list, keepDims);
}

Tensor argMax(const Tensor &x, int64_t axis, bool keepDims, bool selectLast) {
  return argReduce("argMax", x, graph::ArgReduceKind::Max, axis, keepDims, selectLast);
}

Tensor argMin(const Tensor &x, int64_t axis, bool keepDims, bool selectLast) {
  return argReduce("argMin", x, graph::ArgReduceKind::Min, axis, keepDims, selectLast);
}

Tensor cumSum(const Tensor &x, int64_t axis, bool exclusive, bool reverse) {
  return cumulative("cumSum", x, graph::CumulativeKind::Sum, axis, exclusive, reverse);
}

Tensor cumProd(const Tensor &x, int64_t axis, bool exclusive, bool reverse) {
  return cumulative("cumProd", x, graph::CumulativeKind::Prod, axis, exclusive, reverse);
}

Tensor cumMax(const Tensor &x, int64_t axis, bool exclusive, bool reverse) {
  return cumulative("cumMax", x, graph::CumulativeKind::Max, axis, exclusive, reverse);
}

std::pair<Tensor, Tensor> topK(const Tensor &x, const Dim &k, int64_t axis, bool largest, bool sorted) {
  Call call("topK", {x});
  if (!call || !call.axis(axis, x.rank()))
    return {call.failed(), call.failed()};
  DimExpr count = call->simplify(k.expr());
  // More than there are is an error; as many as there are at most (`min(k, N)`) is the model's business.
  if (call->isLess(call->dims(x)[axis], count).value_or(false)) {
    call.invalid("k is `" + count.str() + "`, the axis has `" + call->dims(x)[axis].str() + "` elements");
    return {call.failed(), call.failed()};
  }
  llvm::SmallVector<Tensor> results =
      emitAll(*call, "graph.top_k", {x},
              Attributes(*call).sizes("k", {count}).integer("axis", axis).flag("largest", largest).flag("sorted", sorted), 2);
  return {results[0], results[1]};
}

std::pair<Tensor, Tensor> topK(const Tensor &x, const Tensor &k, int64_t axis, bool largest, bool sorted) {
  Call call("topK", {x, k});
  if (!call)
    return {call.failed(), call.failed()};
  std::optional<Sizes> sizes = call.sizes("k", k);
  if (sizes && sizes->size() != 1)
    call.invalid("k has " + llvm::Twine(sizes->size()) + " elements, expected 1");
  if (!call)
    return {call.failed(), call.failed()};
  return topK(x, Dim(sizes->front()), axis, largest, sorted);
}

} // namespace fn
} // namespace stator::trace
