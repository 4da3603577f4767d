// Gathers and scatters. One known index is a slice, which costs nothing; known indices into known contents (the usual shape
// arithmetic) are resolved here.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace {

namespace {

/// Indices as the dialect takes them: i32 or i64.
Tensor toIndex(const Tensor &indices) {
  bool isIndex = indices && (indices.type() == ElementType::I64 || indices.type() == ElementType::I32);
  return isIndex || !indices ? indices : fn::cast(indices, ElementType::I64);
}

/// The constant indices, made positive and checked, if all are known; an error for those out of range.
std::optional<llvm::SmallVector<int64_t>> knownIndices(const Call &call, const Tensor &indices, const DimExpr &size) {
  const Contents *contents = call->contents(indices);
  std::optional<int64_t> count = size.constant();
  if (!contents || !count)
    return std::nullopt;
  llvm::SmallVector<int64_t> result;
  for (const Element &element : *contents) {
    std::optional<int64_t> index = element.integer();
    if (!index)
      return std::nullopt;
    if (*index < -*count || *index >= *count) {
      call.invalid("index " + llvm::Twine(*index) + " of an axis with " + llvm::Twine(*count) + " elements");
      return std::nullopt;
    }
    result.push_back(*index < 0 ? *index + *count : *index);
  }
  return result;
}

mlir::Attribute reductionAttr(BuilderImpl &b, fn::ScatterReduction reduction) {
  // Both enums list the same reductions in the same order.
  static_assert(static_cast<int>(fn::ScatterReduction::Min) == static_cast<int>(graph::ScatterReduction::Min));
  return graph::ScatterReductionAttr::get(b.context(), static_cast<graph::ScatterReduction>(reduction));
}

} // namespace

namespace fn {

Tensor gather(const Tensor &x, const Tensor &given, int64_t axis) {
  Tensor indices = toIndex(given);
  Call call("gather", {x, indices});
  if (!call || !call.axis(axis, x.rank()))
    return call.failed();
  Sizes dims = sizesOf(x), result(dims.begin(), dims.begin() + axis);
  result.append(sizesOf(indices));
  result.append(dims.begin() + axis + 1, dims.end());

  std::optional<llvm::SmallVector<int64_t>> known = knownIndices(call, indices, dims[axis]);
  if (!call)
    return call.failed();
  std::optional<Axes> shape = constantShape(x);
  if (const Contents *contents = known && shape ? call->contents(x) : nullptr) {
    llvm::SmallVector<llvm::SmallVector<int64_t>> picks;
    for (int64_t i = 0; i < x.rank(); ++i) {
      picks.emplace_back();
      for (int64_t j = 0; i != axis && j < (*shape)[i]; ++j)
        picks.back().push_back(j);
    }
    picks[axis] = *known;
    Contents picked;
    llvm::SmallVector<int64_t> offsets = gridOffsets(*shape, picks);
    Axes target;
    for (const DimExpr &dim : result)
      target.push_back(dim.constant().value_or(0));
    if (static_cast<int64_t>(offsets.size()) <= kMaxKnownElements) {
      for (int64_t offset : offsets)
        picked.push_back((*contents)[offset]);
      return call->known(x.type(), target, std::move(picked));
    }
  }
  const Contents *index = call->contents(indices);
  if (index && index->size() == 1 && index->front().integer()) {
    int64_t at = *index->front().integer();
    Dim start = at < 0 ? Dim(dims[axis]) + Dim(at) : Dim(at);
    Tensor row = slice(x, Dims{start}, Dims{start + Dim(1)}, {axis});
    if (call && !call->dims(row)[axis].isConstant(1))
      call->requireEqual(call->dims(row)[axis], DimExpr(1), "gather");
    return reshapeTo(*call, row, result);
  }
  return emit(*call, "graph.gather", {x, indices}, Attributes(*call).integer("axis", axis));
}

Tensor gatherElements(const Tensor &x, const Tensor &given, int64_t axis) {
  Tensor indices = toIndex(given);
  Call call("gatherElements", {x, indices});
  if (!call || !call.axis(axis, x.rank()) || !call.rank("the list of indices", indices, x.rank()))
    return call.failed();
  return emit(*call, "graph.gather_elements", {x, indices}, Attributes(*call).integer("axis", axis));
}

Tensor gatherND(const Tensor &given, const Tensor &tuples, int64_t batchDims) {
  Tensor x = given, indices = toIndex(tuples);
  Call call("gatherND", {x, indices});
  if (!call || !call.rankAtLeast("the input", x, 1) || !call.rankAtLeast("the list of indices", indices, 1))
    return call.failed();
  if (batchDims < 0 || batchDims >= std::min(x.rank(), indices.rank()))
    return call.invalid(llvm::Twine(batchDims) + " batch axes for ranks " + llvm::Twine(x.rank()) + " and " + llvm::Twine(indices.rank()));
  for (int64_t axis = 0; axis < batchDims; ++axis)
    if (!requireEqualSizes(*call, "gatherND", x, axis, indices, axis))
      return call.failed();
  return emit(*call, "graph.gather_nd", {x, indices}, Attributes(*call).integer("batch_dims", batchDims));
}

Tensor scatterElements(const Tensor &x, const Tensor &given, const Tensor &updates, int64_t axis, ScatterReduction reduction) {
  Tensor indices = toIndex(given);
  Call call("scatterElements", {x, indices, updates});
  if (!call || !call.axis(axis, x.rank()) || !call.rank("the list of indices", indices, x.rank()) ||
      !call.rank("the list of updates", updates, x.rank()))
    return call.failed();
  Tensor values = cast(updates, x.type());
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!requireEqualSizes(*call, "scatterElements", indices, i, values, i))
      return call.failed();
  return emit(*call, "graph.scatter_elements", {x, indices, values},
              Attributes(*call).integer("axis", axis).attr("reduction", reductionAttr(*call, reduction)));
}

Tensor scatterND(const Tensor &x, const Tensor &tuples, const Tensor &updates, ScatterReduction reduction) {
  Tensor indices = toIndex(tuples);
  Call call("scatterND", {x, indices, updates});
  if (!call || !call.rankAtLeast("the input", x, 1) || !call.rankAtLeast("the list of indices", indices, 1))
    return call.failed();
  std::optional<int64_t> depth = call.constantSize("the list of indices", indices, indices.rank() - 1);
  if (!depth)
    return call.failed();
  if (*depth > x.rank())
    return call.invalid("index tuples of length " + llvm::Twine(*depth) + " for a tensor of rank " + llvm::Twine(x.rank()));
  Sizes expected = sizesOf(indices), dims = sizesOf(x);
  expected.pop_back();
  expected.append(dims.begin() + *depth, dims.end());
  if (!call.rank("the list of updates", updates, static_cast<int64_t>(expected.size())))
    return call.failed();
  for (size_t i = 0; i < expected.size(); ++i)
    call->requireEqual(expected[i], call->dims(updates)[i], "scatterND");
  Tensor values = reshapeTo(*call, cast(updates, x.type()), expected);
  return emit(*call, "graph.scatter_nd", {x, indices, values}, Attributes(*call).attr("reduction", reductionAttr(*call, reduction)));
}

Tensor compress(const Tensor &x, const Tensor &condition, std::optional<int64_t> axis) {
  Call call("compress", {x, condition});
  if (!call)
    return call.failed();
  std::optional<Axes> flags = call.constants("the condition", condition);
  if (!flags)
    return call.failed();
  Ints wanted;
  for (size_t i = 0; i < flags->size(); ++i)
    if ((*flags)[i] != 0)
      wanted.push_back(static_cast<int64_t>(i));
  Tensor from = axis ? x : reshapeTo(*call, x, {productOf(call->dims(x))});
  return gather(from, call->builder()->vector(wanted), axis.value_or(0));
}

Tensor nonZero(const Tensor &x) {
  Call call("nonZero", {x});
  if (!call)
    return call.failed();
  std::optional<std::vector<double>> numbers = x.knownNumbers();
  if (!numbers)
    return call.unsupported("the number of elements that are not zero depends on data");
  Axes shape = *constantShape(x);
  Contents result;
  int64_t count = llvm::count_if(*numbers, [](double value) { return value != 0; });
  int64_t stride = static_cast<int64_t>(numbers->size());
  for (int64_t size : shape) {
    stride = size == 0 ? 0 : stride / size;
    for (size_t i = 0; i < numbers->size(); ++i)
      if ((*numbers)[i] != 0)
        result.emplace_back(DimExpr(static_cast<int64_t>(i) / stride % size));
  }
  return call->known(ElementType::I64, {x.rank(), count}, std::move(result));
}

Tensor reverseSequence(const Tensor &given, const Tensor &lengths, int64_t batchAxis, int64_t timeAxis) {
  Tensor x = given, counts = toIndex(lengths);
  Call call("reverseSequence", {x, counts});
  if (!call || !call.axis(batchAxis, x.rank()) || !call.axis(timeAxis, x.rank()) || !call.rank("the list of lengths", counts, 1))
    return call.failed();
  if (batchAxis == timeAxis)
    return call.invalid("axis " + llvm::Twine(batchAxis) + " is both batch and time");
  if (!requireEqualSizes(*call, "reverseSequence", x, batchAxis, counts, 0))
    return call.failed();
  // Position t of a sequence of length n comes from n - 1 - t, and from t behind its end.
  Sizes dims = sizesOf(x);
  Tensor position = iota(*call->builder(), ElementType::I64, x.dims(), timeAxis);
  Tensor length = broadcastAlong(*call, cast(counts, ElementType::I64), dims, batchAxis);
  Tensor mirrored = sub(sub(length, scalarLike(length, 1)), position);
  return gatherElements(x, where(lt(position, length), mirrored, position), timeAxis);
}

} // namespace fn
} // namespace stator::trace
