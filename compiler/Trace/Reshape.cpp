// Functions that keep all elements and change how they are arranged or repeated. On known contents they cost no operation.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace {

namespace {

/// Checks that the target has as many elements as x, where one size may still be -1.
std::optional<Sizes> completeShape(const Call &call, const Tensor &x, Sizes dims) {
  DimExpr total = productOf(call->dims(x)), rest(1);
  int64_t open = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].isConstant(-1)) {
      rest *= dims[i];
      continue;
    }
    if (open >= 0) {
      call.invalid("two sizes are -1");
      return std::nullopt;
    }
    open = static_cast<int64_t>(i);
  }
  auto mismatch = [&] {
    call.invalid("the shape " + shapeText(call->dims(x)) + " cannot become " + shapeText(dims));
    return std::nullopt;
  };
  if (!total.isValid() || !rest.isValid())
    return mismatch();
  if (open >= 0) {
    if (rest.isConstant(0))
      return mismatch();
    std::optional<DimExpr> size = total.exactDiv(rest);
    if (!size && total.isConstant() && rest.isConstant())
      return mismatch();
    dims[open] = size ? *size : total.floorDiv(rest);
    rest *= dims[open];
  }
  if (total.isConstant() && rest.isConstant() && !(total == rest))
    return mismatch();
  if (!(total == rest)) {
    call->requireEqual(total, rest, "reshape");
    for (DimExpr &dim : dims)
      dim = call->simplify(dim);
  }
  return call ? std::optional<Sizes>(dims) : std::nullopt;
}

Sizes permuted(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<int64_t> permutation) {
  Sizes result;
  for (int64_t axis : permutation)
    result.push_back(dims[axis]);
  return result;
}

} // namespace

namespace fn {

Tensor reshape(const Tensor &x, const Dims &dims) {
  Call call("reshape", {x});
  if (!call)
    return call.failed();
  std::optional<Sizes> shape = completeShape(call, x, call.sizes(dims));
  return shape ? reshapeTo(*call, x, *shape) : call.failed();
}

Tensor reshape(const Tensor &x, const Tensor &shape, bool allowZero) {
  Call call("reshape", {x, shape});
  if (!call)
    return call.failed();
  std::optional<Sizes> sizes = call.sizes("the shape", shape);
  if (!sizes)
    return call.failed();
  for (size_t i = 0; i < sizes->size() && !allowZero; ++i) {
    if (!(*sizes)[i].isConstant(0))
      continue;
    if (static_cast<int64_t>(i) >= x.rank())
      return call.invalid("size " + llvm::Twine(i) + " is to be copied from a tensor of rank " + llvm::Twine(x.rank()));
    (*sizes)[i] = call->dims(x)[i];
  }
  std::optional<Sizes> complete = completeShape(call, x, *sizes);
  return complete ? reshapeTo(*call, x, *complete) : call.failed();
}

Tensor flatten(const Tensor &x, int64_t axis) {
  Call call("flatten", {x});
  if (!call)
    return call.failed();
  if (axis < -x.rank() || axis > x.rank())
    return call.invalid("axis " + llvm::Twine(axis) + " of a tensor of rank " + llvm::Twine(x.rank()));
  llvm::ArrayRef<DimExpr> dims = call->dims(x);
  size_t split = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  return reshapeTo(*call, x, {productOf(dims.take_front(split)), productOf(dims.drop_front(split))});
}

Tensor transpose(const Tensor &x, const Ints &given) {
  Call call("transpose", {x});
  if (!call)
    return call.failed();
  Axes permutation;
  if (given.empty())
    for (int64_t axis = x.rank(); axis-- > 0;)
      permutation.push_back(axis);
  else if (static_cast<int64_t>(given.size()) != x.rank() || !call.axes(given, x.rank()))
    return call.invalid("a permutation of " + llvm::Twine(given.size()) + " axes for a tensor of rank " + llvm::Twine(x.rank()));
  else
    for (int64_t axis : given)
      permutation.push_back(axis < 0 ? axis + x.rank() : axis);
  bool isIdentity = true, movesLongAxes = false;
  int64_t lastLong = -1;
  for (int64_t i = 0; i < x.rank(); ++i) {
    isIdentity &= permutation[i] == i;
    if (call->dims(x)[permutation[i]].isConstant(1))
      continue;
    movesLongAxes |= permutation[i] < lastLong;
    lastLong = permutation[i];
  }
  if (isIdentity)
    return x;
  // When only axes of size 1 move, the elements stay where they are.
  Sizes dims = permuted(call->dims(x), permutation);
  if (!movesLongAxes)
    return reshapeTo(*call, x, dims);
  std::optional<Axes> sizes = constantShape(x);
  if (const Contents *contents = sizes ? call->contents(x) : nullptr) {
    Axes strides(x.rank(), 1), target;
    for (int64_t axis = x.rank() - 1; axis > 0; --axis)
      strides[axis - 1] = strides[axis] * (*sizes)[axis];
    llvm::SmallVector<int64_t> offsets{0};
    for (int64_t axis : permutation) {
      target.push_back((*sizes)[axis]);
      llvm::SmallVector<int64_t> next;
      for (int64_t offset : offsets)
        for (int64_t i = 0; i < (*sizes)[axis]; ++i)
          next.push_back(offset + i * strides[axis]);
      offsets = std::move(next);
    }
    Contents moved;
    for (int64_t offset : offsets)
      moved.push_back((*contents)[offset]);
    return call->known(x.type(), target, std::move(moved));
  }
  return emit(*call, "graph.transpose", {x}, Attributes(*call).ints("permutation", permutation));
}

Tensor squeeze(const Tensor &x, const Ints &given) {
  Call call("squeeze", {x});
  if (!call)
    return call.failed();
  std::optional<Axes> axes = call.axes(given, x.rank());
  if (!axes)
    return call.failed();
  for (int64_t axis : *axes)
    if (!call->dims(x)[axis].isConstant(1))
      call->requireEqual(call->dims(x)[axis], DimExpr(1), "squeeze");
  Sizes dims;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (given.empty() ? !call->dims(x)[axis].isConstant(1) : !llvm::is_contained(*axes, axis))
      dims.push_back(call->dims(x)[axis]);
  return reshapeTo(*call, x, dims);
}

Tensor unsqueeze(const Tensor &x, const Ints &given) {
  Call call("unsqueeze", {x});
  if (!call)
    return call.failed();
  int64_t rank = x.rank() + static_cast<int64_t>(given.size());
  std::optional<Axes> axes = call.axes(given, rank);
  if (!axes)
    return call.failed();
  Sizes dims;
  for (int64_t axis = 0, from = 0; axis < rank; ++axis)
    dims.push_back(llvm::is_contained(*axes, axis) ? DimExpr(1) : call->dims(x)[from++]);
  return reshapeTo(*call, x, dims);
}

Tensor broadcastTo(const Tensor &x, const Dims &dims) {
  Call call("broadcastTo", {x});
  return call ? trace::broadcastTo(*call, "broadcastTo", x, call.sizes(dims)) : call.failed();
}

Tensor expand(const Tensor &x, const Dims &dims) {
  Call call("expand", {x});
  if (!call)
    return call.failed();
  Sizes target = broadcastShapes(*call, "expand", sizesOf(x), call.sizes(dims));
  return trace::broadcastTo(*call, "expand", x, target);
}

Tensor expand(const Tensor &x, const Tensor &shape) {
  Call call("expand", {x, shape});
  if (!call)
    return call.failed();
  std::optional<Sizes> sizes = call.sizes("the shape", shape);
  return sizes ? expand(x, Dims(sizes->begin(), sizes->end())) : call.failed();
}

Tensor tile(const Tensor &x, const Dims &given) {
  Call call("tile", {x});
  if (!call)
    return call.failed();
  Sizes repeats = call.sizes(given);
  if (static_cast<int64_t>(repeats.size()) != x.rank())
    return call.invalid(llvm::Twine(repeats.size()) + " repeats for a tensor of rank " + llvm::Twine(x.rank()));
  // [d] is seen as [1, d], repeated to [r, d], and seen as [r * d].
  Sizes narrow, wide, result;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    DimExpr size = call->dims(x)[axis], repeat = repeats[axis];
    if (call->bounds(repeat).hi.value_or(0) < 0)
      return call.invalid("axis " + llvm::Twine(axis) + " is to be repeated `" + repeat.str() + "` times");
    result.push_back(size * repeat);
    if (repeat.isConstant(1) || size.isConstant(1)) {
      narrow.push_back(size);
      wide.push_back(repeat.isConstant(1) ? size : repeat);
      continue;
    }
    narrow.append({DimExpr(1), size});
    wide.append({repeat, size});
  }
  Tensor repeated = trace::broadcastTo(*call, "tile", reshapeTo(*call, x, narrow), wide);
  return reshapeTo(*call, repeated, result);
}

Tensor tile(const Tensor &x, const Tensor &repeats) {
  Call call("tile", {x, repeats});
  if (!call)
    return call.failed();
  std::optional<Sizes> sizes = call.sizes("the repeats", repeats);
  return sizes ? tile(x, Dims(sizes->begin(), sizes->end())) : call.failed();
}

Tensor depthToSpace(const Tensor &x, int64_t blockSize, bool columnRowDepth) {
  Call call("depthToSpace", {x});
  if (!call || !call.rank("the input", x, 4))
    return call.failed();
  std::optional<int64_t> channels = call.constantSize("the input", x, 1);
  if (!channels)
    return call.failed();
  if (blockSize < 1 || blockSize > 65536 || *channels % (blockSize * blockSize) != 0)
    return call.invalid("blocks of " + llvm::Twine(blockSize) + " for " + llvm::Twine(*channels) + " channels");
  Sizes dims = sizesOf(x);
  DimExpr block(blockSize), depth(*channels / (blockSize * blockSize));
  Sizes split =
      columnRowDepth ? Sizes{dims[0], depth, block, block, dims[2], dims[3]} : Sizes{dims[0], block, block, depth, dims[2], dims[3]};
  Tensor moved = transpose(reshapeTo(*call, x, split), columnRowDepth ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2});
  return reshapeTo(*call, moved, {dims[0], depth, dims[2] * block, dims[3] * block});
}

Tensor spaceToDepth(const Tensor &x, int64_t blockSize) {
  Call call("spaceToDepth", {x});
  if (!call || !call.rank("the input", x, 4))
    return call.failed();
  if (blockSize < 1 || blockSize > 65536)
    return call.invalid("blocks of " + llvm::Twine(blockSize));
  DimExpr block(blockSize);
  std::optional<Sizes> split = completeShape(
      call, x, {call->dims(x)[0], call->dims(x)[1], call->dims(x)[2].floorDiv(block), block, call->dims(x)[3].floorDiv(block), block});
  if (!split)
    return call.failed();
  Tensor moved = transpose(reshapeTo(*call, x, *split), {0, 3, 5, 1, 2, 4});
  return reshapeTo(*call, moved, {(*split)[0], (*split)[1] * block * block, (*split)[2], (*split)[4]});
}

} // namespace fn
} // namespace stator::trace
