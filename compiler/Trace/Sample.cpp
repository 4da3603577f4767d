// Reading an image at computed positions, written as gathers and arithmetic: the elements around each position are gathered one corner
// at a time and added up with their weights. All positions are computed in the type of the grid.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace::fn {

namespace {

/// One axis of the image and the positions along it, each of shape [N, points].
struct Axis {
  Tensor position; // as a float, padding applied
  Tensor size;     // rank 0, of the position's type
};

Tensor scalar(const Tensor &x, double value) { return scalarLike(x, value); }

/// Positions mirrored at the edges until they lie between them.
Tensor reflect(const Tensor &position, const Tensor &low, const Tensor &high) {
  Tensor span = sub(high, low), distance = abs(sub(position, low));
  Tensor folded = remainder(distance, mul(span, scalar(span, 2)));
  Tensor inside = add(low, minimum(folded, sub(mul(span, scalar(span, 2)), folded)));
  // With one element between the edges there is nowhere to go.
  return where(le(span, scalar(span, 0)), low, inside);
}

Tensor pixel(const Tensor &size) { return sub(size, scalar(size, 1)); }

/// From -1 .. 1 to elements, and back into the image as far as the padding moves positions (not only elements).
Axis place(const Tensor &coordinate, const Tensor &size, const SampleOptions &options) {
  Tensor one = scalar(coordinate, 1), half = scalar(coordinate, 0.5);
  Tensor shifted = add(coordinate, one);
  Tensor position = options.alignCorners ? mul(mul(shifted, half), pixel(size)) : mul(sub(mul(shifted, size), one), half);
  if (options.mode == ResizeMode::Nearest)
    position = roundEven(position);
  Tensor low = scalar(size, options.alignCorners ? 0 : -0.5), high = options.alignCorners ? pixel(size) : sub(size, half);
  Tensor isOutside = logicalOr(lt(position, low), gt(position, high));
  if (!options.movesPositions)
    return {position, size};
  if (options.padding == SamplePadding::Border)
    position = where(isOutside, minimum(maximum(position, scalar(size, 0)), pixel(size)), position);
  else if (options.padding == SamplePadding::Reflection)
    position = where(isOutside, reflect(position, low, high), position);
  return {position, size};
}

/// A whole position as an index into the image, and whether it lies inside (else the index is some valid one).
std::pair<Tensor, Tensor> element(const Tensor &whole, const Axis &axis, const SampleOptions &options) {
  Tensor zero = scalar(whole, 0), last = pixel(axis.size);
  Tensor inside, position = whole;
  if (options.padding == SamplePadding::Zeros)
    inside = logicalAnd(ge(whole, zero), le(whole, last));
  else if (options.padding == SamplePadding::Reflection)
    position = options.alignCorners ? reflect(whole, zero, last) : reflect(whole, scalar(whole, -0.5), sub(axis.size, scalar(whole, 0.5)));
  return {cast(minimum(maximum(position, zero), last), ElementType::I64), inside};
}

/// Weights of the elements before and after a position, `t` behind the one at or before it.
Tensors weightsOf(const Tensor &t, ResizeMode mode) {
  if (mode == ResizeMode::Linear)
    return {sub(scalar(t, 1), t), t};
  constexpr double a = -0.75; // Keys' cubic, as in PyTorch.
  auto inner = [&](const Tensor &x) { return add(mul(mul(sub(mul(scalar(x, a + 2), x), scalar(x, a + 3)), x), x), scalar(x, 1)); };
  auto outer = [&](const Tensor &x) {
    Tensor sum = mul(sub(mul(scalar(x, a), x), scalar(x, 5 * a)), x);
    return sub(mul(add(sum, scalar(x, 8 * a)), x), scalar(x, 4 * a));
  };
  Tensor rest = sub(scalar(t, 1), t);
  return {outer(add(t, scalar(t, 1))), inner(t), inner(rest), outer(add(rest, scalar(t, 1)))};
}

class Sampler {
public:
  Sampler(const Call &call, const Tensor &x, const Tensor &grid, const SampleOptions &options) : call(call), options(options) {
    dims = x.dims();
    flat = reshape(x, Dims{dims[0], dims[1], productOfSpatial()});
    points = grid.dims();
    Dim count(1);
    for (size_t i = 1; i + 1 < points.size(); ++i)
      count = count * points[i];
    pointCount = count;
    int64_t rank = x.rank() - 2;
    for (int64_t i = 0; i < rank && call; ++i) {
      // The last coordinate belongs to the first spatial axis.
      Tensor coordinate = slice(grid, Dims{Dim(rank - 1 - i)}, Dims{Dim(rank - i)}, {grid.rank() - 1});
      Tensor size = cast(call->builder()->fromDim(dims[i + 2]), grid.type());
      axes.push_back(place(reshape(coordinate, Dims{dims[0], pointCount}), size, options));
    }
  }

  Tensor run() {
    Tensor sum;
    visit(0, {}, {}, {}, sum);
    Dims result{dims[0], dims[1]};
    result.insert(result.end(), points.begin() + 1, points.end() - 1);
    return call ? reshape(sum, result) : call.failed();
  }

private:
  Dim productOfSpatial() const {
    Dim product(1);
    for (size_t i = 2; i < dims.size(); ++i)
      product = product * dims[i];
    return product;
  }

  /// Adds up the elements around all positions, axis by axis.
  void visit(size_t axis, const Tensor &index, const Tensor &inside, const Tensor &weight, Tensor &sum) {
    if (!call)
      return;
    if (axis == axes.size()) {
      Tensor spread = broadcastTo(unsqueeze(index, {1}), {dims[0], dims[1], pointCount});
      Tensor value = gatherElements(flat, spread, 2);
      if (weight)
        value = mul(value, unsqueeze(cast(weight, value.type()), {1}));
      if (inside)
        value = where(unsqueeze(inside, {1}), value, scalar(value, 0));
      sum = sum ? add(sum, value) : value;
      return;
    }
    const Axis &current = axes[axis];
    bool isNearest = options.mode == ResizeMode::Nearest, isCubic = options.mode == ResizeMode::Cubic;
    Tensor whole = isNearest ? current.position : floor(current.position);
    Tensors weights = isNearest ? Tensors{Tensor()} : weightsOf(sub(current.position, whole), options.mode);
    for (size_t i = 0; i < weights.size(); ++i) {
      Tensor corner = add(whole, scalar(whole, double(i) - (isCubic ? 1 : 0)));
      auto [at, isInside] = element(corner, current, options);
      if (!call)
        return;
      Tensor combined = index ? add(mul(index, call->builder()->fromDim(dims[axis + 2])), at) : at;
      visit(axis + 1, combined, inside && isInside ? logicalAnd(inside, isInside) : isInside,
            weight && weights[i] ? mul(weight, weights[i]) : weights[i], sum);
    }
  }

  const Call &call;
  const SampleOptions &options;
  Dims dims, points;
  Dim pointCount;
  Tensor flat;
  std::vector<Axis> axes;
};

} // namespace

Tensor gridSample(const Tensor &given, const Tensor &givenGrid, const SampleOptions &options) {
  Tensor x = given, grid = toFloat(givenGrid);
  Call call("gridSample", {x, grid});
  if (!call || !call.rankAtLeast("the input", x, 3) || !call.rank("the grid", grid, x.rank()) ||
      !requireEqualSizes(*call, "gridSample", x, 0, grid, 0))
    return call.failed();
  if (call->dims(grid).back() != DimExpr(x.rank() - 2))
    return call.invalid("the grid has positions of " + call->dims(grid).back().str() + " coordinates, expected " +
                        llvm::Twine(x.rank() - 2));
  if (x.rank() > (options.mode == ResizeMode::Cubic ? 4 : 5))
    return call.unsupported("an input of rank " + llvm::Twine(x.rank()));
  return Sampler(call, x, grid, options).run();
}

Tensor affineGrid(const Tensor &theta, const Dims &dims, bool alignCorners) {
  Call call("affineGrid", {theta});
  int64_t axes = static_cast<int64_t>(dims.size());
  if (!call || !call.rank("the matrix", theta, 3))
    return call.failed();
  if (call->dims(theta)[1] != DimExpr(axes) || call->dims(theta)[2] != DimExpr(axes + 1))
    return call.invalid("matrices of shape " + shapeText(call->dims(theta)) + " for " + llvm::Twine(axes) + " spatial axes");
  // Positions as [x, y, .., 1]: the last axis comes first.
  Builder &builder = *call->builder();
  Tensors columns;
  Dim count(1);
  for (const Dim &dim : dims)
    count = count * dim;
  for (int64_t axis = axes - 1; axis >= 0 && call; --axis) {
    Tensor index = iota(builder, theta.type(), dims, axis), size = cast(builder.fromDim(dims[axis]), theta.type());
    Tensor steps = alignCorners ? maximum(pixel(size), scalar(size, 1)) : size;
    Tensor ahead = alignCorners ? mul(index, scalar(index, 2)) : add(mul(index, scalar(index, 2)), scalar(index, 1));
    columns.push_back(reshape(sub(div(ahead, steps), scalar(index, 1)), Dims{count, 1}));
  }
  columns.push_back(full(builder, theta.type(), {count, 1}, 1));
  Tensor grid = matmul(concat(columns, 1), transpose(theta, {0, 2, 1}));
  Dims result{theta.dim(0)};
  result.insert(result.end(), dims.begin(), dims.end());
  result.push_back(axes);
  return call ? reshape(grid, result) : call.failed();
}

Tensor centerCropPad(const Tensor &given, const Dims &dims, const Ints &axes) {
  Tensor x = given;
  Call call("centerCropPad", {x});
  if (!call)
    return call.failed();
  if (dims.size() != axes.size())
    return call.invalid(llvm::Twine(dims.size()) + " sizes for " + llvm::Twine(axes.size()) + " axes");
  Dims low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i];
    if (!call.axis(axis, x.rank()))
      return call.failed();
    Dim size = x.dim(axis), kept = min(size, dims[i]), start = floorDiv(size - kept, Dim(2));
    x = slice(x, Dims{start}, Dims{start + kept}, {axis});
    low[axis] = floorDiv(dims[i] - kept, Dim(2));
    high[axis] = dims[i] - kept - low[axis];
  }
  return pad(x, low, high);
}

} // namespace stator::trace::fn
