// Operators whose result shares memory with their argument. One table of plans gives the views, their `_copy` forms, and the in-place
// forms that change how a tensor sees its memory (`unsqueeze_`), after which the tensor itself, under all of its names, is the view.
#include "compiler/Import/Torch/Aten/Views.h"

#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>

namespace stator::torch {

namespace fn = trace::fn;
using trace::BuilderImpl;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

template <Planner planner>
Value inPlace(OpCall &call) {
  MaybePlan plan = planner(call, 1);
  if (!plan || !call.ok())
    return Value::poison();
  TensorRef self = call.ref(0);
  // The view is of what the tensor was.
  return becomeResult(call, self, call.context().view(call.context().alias(self), plan->step, plan->strides, plan->offset));
}

MaybePlan reshaped(OpCall &call, const Dims &wanted) {
  TensorRef base = call.ref(0);
  std::optional<Dims> dims = call.ok() ? completeDims(call, base, wanted) : std::nullopt;
  return dims ? MaybePlan(reshapePlan(call, base, *dims)) : std::nullopt;
}

MaybePlan viewPlan(OpCall &call, size_t first) { return reshaped(call, call.dims(first)); }
MaybePlan viewAsPlan(OpCall &call, size_t first) {
  TensorRef other = call.ref(first);
  return call.ok() ? reshaped(call, call.context().dims(other)) : std::nullopt;
}

/// An alias where PyTorch's reshape gives one, else a copy.
Value reshapeTo(OpCall &call, const Dims &wanted) {
  TensorRef self = call.ref(0);
  std::optional<Dims> dims = call.ok() ? completeDims(call, self, wanted) : std::nullopt;
  if (!dims)
    return Value::poison();
  MaybePlan plan = reshapePlan(call, self, *dims);
  return viewStrides(call.context().dims(self), call.context().strides(self), *dims) ? viewResult(call, self, plan)
                                                                                     : copyResult(call, self, plan);
}

Value reshape(OpCall &call) { return reshapeTo(call, call.dims(1)); }
Value reshapeAs(OpCall &call) {
  TensorRef other = call.ref(1);
  return call.ok() ? reshapeTo(call, call.context().dims(other)) : Value::poison();
}
Value ravel(OpCall &call) { return reshapeTo(call, {Dim(-1)}); }

Value flatten(OpCall &call) {
  TensorRef self = call.ref(0);
  int64_t first = call.axis(1, self->rank()), last = call.axis(2, self->rank());
  if (!call.ok())
    return Value::poison();
  if (first > last)
    return call.invalid("start_dim " + std::to_string(first) + " lies behind end_dim " + std::to_string(last));
  if (first == last && self->rank() > 0)
    return call.argument(0);
  Dims own = call.context().dims(self), dims(own.begin(), own.begin() + first);
  Dim joined(1);
  for (int64_t axis = first; axis <= last && axis < self->rank(); ++axis)
    joined = joined * own[axis];
  dims.push_back(joined);
  for (int64_t axis = last + 1; axis < self->rank(); ++axis)
    dims.push_back(own[axis]);
  return reshapeTo(call, dims);
}

MaybePlan unflattenPlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  int64_t axis = call.axis(first, self->rank());
  Dims sizes = call.dims(first + 1);
  if (!call.ok() || self->rank() == 0)
    return std::nullopt;
  Dim rest(1);
  for (const Dim &size : sizes)
    rest = size == Dim(-1) ? rest : rest * size;
  for (Dim &size : sizes)
    size = size == Dim(-1) && rest != Dim(0) ? floorDiv(call.context().dims(self)[axis], rest) : size;
  Dims dims = withoutAxis(call.context().dims(self), axis);
  dims.insert(dims.begin() + axis, sizes.begin(), sizes.end());
  return reshapePlan(call, self, dims);
}

MaybePlan bitsPlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  std::optional<ElementType> type = call.dtype(first);
  if (!call.ok() || !type)
    return std::nullopt;
  ElementType own = self->type();
  bool areBits = own == *type || (isIntegerType(own) && isIntegerType(*type) && byteSize(own) == byteSize(*type));
  if (!areBits) {
    call.unsupported("the bits of " + std::string(name(own)) + " elements seen as " + std::string(name(*type)));
    return std::nullopt;
  }
  ElementType to = *type;
  return ViewPlan{{[to](const Tensor &x) { return fn::cast(x, to); }, [own](const Tensor &, const Tensor &x) { return fn::cast(x, own); }},
                  call.context().strides(self),
                  self->offset()};
}

MaybePlan swapped(OpCall &call, int64_t a, int64_t b) {
  TensorRef self = call.ref(0);
  Ints permutation = iotaInts(self->rank());
  if (!permutation.empty())
    std::swap(permutation[a], permutation[b]);
  return permutePlan(call, self, permutation);
}
MaybePlan transposePlan(OpCall &call, size_t first) {
  int64_t rank = call.ref(0)->rank(), a = call.axis(first, rank), b = call.axis(first + 1, rank);
  return call.ok() ? swapped(call, a, b) : std::nullopt;
}
MaybePlan matrixPlan(OpCall &call, size_t) {
  int64_t rank = call.ref(0)->rank();
  if (rank > 2)
    return call.invalid("a tensor of rank " + std::to_string(rank) + ", expected at most 2"), std::nullopt;
  return swapped(call, 0, std::max<int64_t>(rank - 1, 0));
}
MaybePlan lastTwoPlan(OpCall &call, size_t) {
  int64_t rank = call.ref(0)->rank();
  if (rank < 2)
    return call.invalid("a tensor of rank " + std::to_string(rank) + ", expected at least 2"), std::nullopt;
  return swapped(call, rank - 2, rank - 1);
}
MaybePlan reversedPlan(OpCall &call, size_t) {
  Ints permutation = iotaInts(call.ref(0)->rank());
  std::reverse(permutation.begin(), permutation.end());
  return permutePlan(call, call.ref(0), permutation);
}

/// Axes made positive, each at most once; nothing after an error.
std::optional<Ints> distinctAxes(OpCall &call, const Ints &given, int64_t rank) {
  Ints axes;
  for (int64_t axis : given) {
    std::optional<int64_t> normal = normaliseAxis(axis, rank);
    if (!normal || std::find(axes.begin(), axes.end(), *normal) != axes.end())
      return call.invalid("axis " + std::to_string(axis) + " is out of range or repeated, for a tensor of rank " + std::to_string(rank)),
             std::nullopt;
    axes.push_back(*normal);
  }
  return axes;
}

MaybePlan permutationPlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  Ints given = call.integers(first);
  if (call.ok() && static_cast<int64_t>(given.size()) != self->rank())
    call.invalid(std::to_string(given.size()) + " axes for a tensor of rank " + std::to_string(self->rank()));
  std::optional<Ints> axes = call.ok() ? distinctAxes(call, given, self->rank()) : std::nullopt;
  return axes ? MaybePlan(permutePlan(call, self, *axes)) : std::nullopt;
}

MaybePlan movePlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  Ints sources = call.integers(first), targets = call.integers(first + 1);
  std::optional<Ints> from = call.ok() ? distinctAxes(call, sources, self->rank()) : std::nullopt;
  std::optional<Ints> to = from ? distinctAxes(call, targets, self->rank()) : std::nullopt;
  if (!to)
    return std::nullopt;
  if (from->size() != to->size())
    return call.invalid(std::to_string(from->size()) + " axes are to move to " + std::to_string(to->size()) + " places"), std::nullopt;
  Ints permutation(static_cast<size_t>(self->rank()), -1);
  for (size_t i = 0; i < to->size(); ++i)
    permutation[(*to)[i]] = (*from)[i];
  int64_t next = 0;
  for (int64_t &axis : permutation) {
    if (axis >= 0)
      continue;
    while (std::find(from->begin(), from->end(), next) != from->end())
      ++next;
    axis = next++;
  }
  return permutePlan(call, self, permutation);
}

/// Without the axes of size 1 among `axes`.
MaybePlan squeezed(OpCall &call, const Ints &axes) {
  TensorRef self = call.ref(0);
  Dims dims, strides;
  for (int64_t axis = 0; axis < self->rank(); ++axis) {
    if (call.context().dims(self)[axis] == Dim(1) && std::find(axes.begin(), axes.end(), axis) != axes.end())
      continue;
    dims.push_back(call.context().dims(self)[axis]);
    strides.push_back(call.context().strides(self)[axis]);
  }
  ViewPlan plan = reshapePlan(call, self, dims);
  plan.strides = strides;
  return plan;
}
MaybePlan squeezePlan(OpCall &call, size_t) { return squeezed(call, iotaInts(call.ref(0)->rank())); }
MaybePlan squeezeAxisPlan(OpCall &call, size_t first) {
  int64_t axis = call.axis(first, call.ref(0)->rank());
  return call.ok() ? squeezed(call, {axis}) : std::nullopt;
}
MaybePlan squeezeAxesPlan(OpCall &call, size_t first) {
  Ints given = call.integers(first);
  std::optional<Ints> axes = call.ok() ? distinctAxes(call, given, call.ref(0)->rank()) : std::nullopt;
  return axes ? squeezed(call, *axes) : std::nullopt;
}
MaybePlan unsqueezePlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  int64_t axis = call.axis(first, self->rank() + 1);
  if (!call.ok())
    return std::nullopt;
  ViewPlan plan = reshapePlan(call, self, withAxis(call.context().dims(self), axis, Dim(1)));
  plan.strides = withAxis(call.context().strides(self), axis,
                          axis < self->rank() ? call.context().dims(self)[axis] * call.context().strides(self)[axis] : Dim(1));
  return plan;
}

MaybePlan expandToPlan(OpCall &call, size_t first) {
  Dims dims = call.dims(first);
  return call.ok() ? expandPlan(call, call.ref(0), dims) : std::nullopt;
}
MaybePlan expandAsPlan(OpCall &call, size_t first) {
  TensorRef other = call.ref(first);
  return call.ok() ? expandPlan(call, call.ref(0), call.context().dims(other)) : std::nullopt;
}

MaybePlan unfoldOfPlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  int64_t axis = call.axis(first, self->rank()), size = call.integer(first + 1), step = call.integer(first + 2);
  return call.ok() ? unfoldPlan(call, self, axis, size, step) : std::nullopt;
}

/// Sizes, strides and offset count from the start of the memory, of which the tensor may show a part only.
Value asStrided(OpCall &call) {
  TensorRef self = call.ref(0), root = call.context().root(self);
  Dims dims = call.dims(1), strides = call.dims(2);
  Dim offset = call.isNone(3) ? self->offset() : call.dim(3);
  if (!call.ok())
    return Value::poison();
  if (root->type() != self->type())
    root = self;
  return viewResult(call, root, stridedPlan(call, root, dims, strides, offset));
}

Value broadcastTensors(OpCall &call) {
  std::vector<TensorRef> tensors = call.refs(0);
  BuilderImpl &b = BuilderImpl::of(call.builder());
  std::vector<DimExpr> dims;
  for (const TensorRef &tensor : tensors) {
    size_t rank = call.context().dims(tensor).size();
    if (rank > dims.size())
      dims.insert(dims.begin(), rank - dims.size(), DimExpr(1));
    for (size_t i = 0; i < rank; ++i) {
      DimExpr &dim = dims[dims.size() - rank + i];
      dim = b.broadcastDim(dim, call.context().dims(tensor)[i].expr(), "broadcast_tensors");
    }
  }
  Values results;
  for (const TensorRef &tensor : tensors)
    results.push_back(viewResult(call, tensor, call.ok() ? expandPlan(call, tensor, Dims(dims.begin(), dims.end())) : std::nullopt));
  return Value::list(std::move(results));
}

} // namespace

std::span<const OpEntry> viewOps() {
  static constexpr OpEntry entries[] = {
      {"view(Tensor self, int[] size) -> Tensor", asView<viewPlan>},
      {"view.dtype(Tensor self, ScalarType dtype) -> Tensor", asView<bitsPlan>},
      {"view_as(Tensor self, Tensor other) -> Tensor", asView<viewAsPlan>},
      {"_unsafe_view(Tensor self, int[] size) -> Tensor", asView<viewPlan>},
      {"_reshape_alias(Tensor self, int[] size, int[] stride) -> Tensor", asView<viewPlan>},
      {"reshape(Tensor self, int[] shape) -> Tensor", reshape},
      {"reshape_as(Tensor self, Tensor other) -> Tensor", reshapeAs},
      {"ravel(Tensor self) -> Tensor", ravel},
      {"flatten.using_ints(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor", flatten},
      {"unflatten.int(Tensor self, int dim, int[] sizes) -> Tensor", asView<unflattenPlan>},
      {"t(Tensor self) -> Tensor", asView<matrixPlan>},
      {"transpose.int(Tensor self, int dim0, int dim1) -> Tensor", asView<transposePlan>},
      {"swapaxes(Tensor self, int axis0, int axis1) -> Tensor", asView<transposePlan>},
      {"swapdims(Tensor self, int dim0, int dim1) -> Tensor", asView<transposePlan>},
      {"permute(Tensor self, int[] dims) -> Tensor", asView<permutationPlan>},
      {"movedim.intlist(Tensor self, int[] source, int[] destination) -> Tensor", asView<movePlan>},
      {"movedim.int(Tensor self, int source, int destination) -> Tensor", asView<movePlan>},
      {"moveaxis.intlist(Tensor self, int[] source, int[] destination) -> Tensor", asView<movePlan>},
      {"moveaxis.int(Tensor self, int source, int destination) -> Tensor", asView<movePlan>},
      {"numpy_T(Tensor self) -> Tensor", asView<reversedPlan>},
      {"matrix_H(Tensor self) -> Tensor", asView<lastTwoPlan>},
      {"mT(Tensor self) -> Tensor", asView<lastTwoPlan>},
      {"mH(Tensor self) -> Tensor", asView<lastTwoPlan>},
      {"adjoint(Tensor self) -> Tensor", asView<lastTwoPlan>},
      {"squeeze(Tensor self) -> Tensor", asView<squeezePlan>},
      {"squeeze.dim(Tensor self, int dim) -> Tensor", asView<squeezeAxisPlan>},
      {"squeeze.dims(Tensor self, int[] dim) -> Tensor", asView<squeezeAxesPlan>},
      {"unsqueeze(Tensor self, int dim) -> Tensor", asView<unsqueezePlan>},
      {"expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor", asView<expandToPlan>},
      {"expand_as(Tensor self, Tensor other) -> Tensor", asView<expandAsPlan>},
      {"broadcast_to(Tensor self, int[] size) -> Tensor", asView<expandToPlan>},
      {"broadcast_tensors(Tensor[] tensors) -> Tensor[]", broadcastTensors},
      {"diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", asView<diagonalArguments>},
      {"as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor", asStrided},
      {"unfold(Tensor self, int dimension, int size, int step) -> Tensor", asView<unfoldOfPlan>},

      {"view_copy(Tensor self, int[] size) -> Tensor", asCopy<viewPlan>},
      {"view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", asCopy<bitsPlan>},
      {"_reshape_copy(Tensor self, int[] size) -> Tensor", asCopy<viewPlan>},
      {"t_copy(Tensor self) -> Tensor", asCopy<matrixPlan>},
      {"transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", asCopy<transposePlan>},
      {"permute_copy(Tensor self, int[] dims) -> Tensor", asCopy<permutationPlan>},
      {"squeeze_copy(Tensor self) -> Tensor", asCopy<squeezePlan>},
      {"squeeze_copy.dim(Tensor self, int dim) -> Tensor", asCopy<squeezeAxisPlan>},
      {"squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", asCopy<squeezeAxesPlan>},
      {"unsqueeze_copy(Tensor self, int dim) -> Tensor", asCopy<unsqueezePlan>},
      {"expand_copy(Tensor self, int[] size, *, bool implicit=False) -> Tensor", asCopy<expandToPlan>},
      {"diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", asCopy<diagonalArguments>},
      {"as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor", asCopy<stridedArguments>},
      {"unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", asCopy<unfoldOfPlan>},

      {"t_(Tensor self) -> Tensor", inPlace<matrixPlan>},
      {"transpose_(Tensor self, int dim0, int dim1) -> Tensor", inPlace<transposePlan>},
      {"swapaxes_(Tensor self, int axis0, int axis1) -> Tensor", inPlace<transposePlan>},
      {"swapdims_(Tensor self, int dim0, int dim1) -> Tensor", inPlace<transposePlan>},
      {"squeeze_(Tensor self) -> Tensor", inPlace<squeezePlan>},
      {"squeeze_.dim(Tensor self, int dim) -> Tensor", inPlace<squeezeAxisPlan>},
      {"squeeze_.dims(Tensor self, int[] dim) -> Tensor", inPlace<squeezeAxesPlan>},
      {"unsqueeze_(Tensor self, int dim) -> Tensor", inPlace<unsqueezePlan>},
      {"as_strided_(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor", inPlace<stridedArguments>},
  };
  return entries;
}

} // namespace stator::torch
