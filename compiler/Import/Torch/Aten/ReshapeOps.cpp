// Operators that join, repeat and rearrange into new memory.
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
using trace::Tensors;

namespace {

Value listOf(OpCall &call, const Tensors &values) {
  Values items;
  for (const Tensor &value : values)
    items.push_back(call.ok() ? call.result(value) : Value::poison());
  return Value::list(std::move(items));
}

/// The tensors of argument 0 in their common type.
Tensors operands(OpCall &call) {
  std::vector<TensorRef> refs = call.refs(0);
  Tensors values;
  if (refs.empty())
    call.invalid("an empty list of tensors");
  for (const TensorRef &ref : refs)
    if (call.ok() && ref)
      values.push_back(fn::cast(call.context().read(ref), resultType(refs)));
  return values;
}

Value joined(OpCall &call, Tensors xs, int64_t given) {
  if (!call.ok() || xs.empty())
    return Value::poison();
  // A rank-1 tensor without elements joins with anything, for the sake of old programs.
  auto isIgnored = [](const Tensor &x) { return x.rank() == 1 && x.dim(0) == Dim(0); };
  Tensors kept;
  std::copy_if(xs.begin(), xs.end(), std::back_inserter(kept), [&](const Tensor &x) { return !isIgnored(x); });
  if (kept.empty())
    kept.push_back(xs[0]);
  if (kept[0].rank() == 0)
    return call.invalid("tensors of rank 0 cannot be joined");
  std::optional<int64_t> axis = normaliseAxis(given, kept[0].rank());
  if (!axis)
    return call.invalid("axis " + std::to_string(given) + " of tensors of rank " + std::to_string(kept[0].rank()));
  return call.result(fn::concat(kept, *axis));
}

Value cat(OpCall &call) { return joined(call, operands(call), call.integer(1)); }

Value stack(OpCall &call) {
  Tensors xs = operands(call);
  int64_t axis = call.ok() ? call.axis(1, xs[0].rank() + 1) : 0;
  return call.ok() ? call.result(fn::stack(xs, axis)) : Value::poison();
}

/// At least `rank` axes, as NumPy adds them.
Tensor atLeast(const Tensor &x, int64_t rank) {
  Dims dims = x.dims();
  if (rank >= 1 && dims.empty())
    dims.push_back(1);
  if (rank >= 2 && dims.size() == 1)
    dims.insert(dims.begin(), 1);
  if (rank >= 3 && dims.size() == 2)
    dims.push_back(1);
  return static_cast<int64_t>(dims.size()) == x.rank() ? x : fn::reshape(x, dims);
}

template <int64_t rank>
Value stackedAlong(OpCall &call) {
  Tensors xs = operands(call);
  for (Tensor &x : xs)
    x = call.ok() ? atLeast(x, rank) : x;
  // hstack of vectors joins them end to end; vstack and dstack add the axis that they join.
  int64_t axis = rank == 1 ? (xs.empty() || xs[0].rank() == 1 ? 0 : 1) : rank == 2 ? 0 : 2;
  return joined(call, xs, axis);
}

Value columnStack(OpCall &call) {
  Tensors xs = operands(call);
  for (Tensor &x : xs)
    if (call.ok() && x.rank() <= 1)
      x = fn::reshape(x, Dims{x.elements(), Dim(1)});
  return joined(call, xs, 1);
}

template <int64_t rank>
Value atLeastOne(OpCall &call) {
  TensorRef self = call.ref(0);
  Dims dims = call.ok() ? atLeast(call.tensor(0), rank).dims() : Dims();
  return static_cast<int64_t>(dims.size()) == self->rank() ? call.argument(0) : viewResult(call, self, reshapePlan(call, self, dims));
}
template <int64_t rank>
Value atLeastEach(OpCall &call) {
  Values results;
  for (const TensorRef &ref : call.refs(0)) {
    Dims dims = call.ok() ? atLeast(call.context().read(ref), rank).dims() : Dims();
    bool isSame = static_cast<int64_t>(dims.size()) == ref->rank();
    results.push_back(isSame ? Value::tensor(ref) : viewResult(call, ref, reshapePlan(call, ref, dims)));
  }
  return Value::list(std::move(results));
}

Value flip(OpCall &call) {
  Tensor x = call.tensor(0);
  Ints axes = call.integers(1);
  return call.ok() && !axes.empty() && x.rank() > 0 ? call.result(fn::reverse(x, axes)) : call.result(x);
}
template <int64_t axis>
Value flipAlong(OpCall &call) {
  Tensor x = call.tensor(0);
  if (call.ok() && x.rank() <= axis)
    return call.invalid("a tensor of rank " + std::to_string(x.rank()));
  return call.result(fn::reverse(x, {axis}));
}

/// Elements move by `shift` towards the end; what falls out comes in at the front.
Tensor rolled(OpCall &call, const Tensor &x, const Dim &shift, int64_t axis) {
  BuilderImpl &b = BuilderImpl::of(call.builder());
  Dim size = x.dim(axis);
  if (!call.ok() || shift == Dim(0) || size == Dim(0) || size == Dim(1))
    return x;
  auto lowest = [&](const Dim &dim) { return b.bounds(dim.expr()).lo; };
  // The usual shift is shorter than the axis, and known to be.
  Dim start = size - shift;
  bool isShort = lowest(shift) && *lowest(shift) >= 0 && lowest(start) && *lowest(start) >= 0;
  Dim back = Dim(0) - shift;
  if (!isShort && lowest(back) && *lowest(back) >= 0 && lowest(size - back) && *lowest(size - back) >= 0) {
    start = back;
    isShort = true;
  }
  if (!isShort)
    start = mod(size - shift, max(size, Dim(1)));
  start = Dim(b.simplify(start.expr()));
  if (start == Dim(0))
    return x;
  return fn::concat({fn::slice(x, Dims{start}, Dims{size}, {axis}), fn::slice(x, Dims{0}, Dims{start}, {axis})}, axis);
}

Value roll(OpCall &call) {
  Tensor x = call.tensor(0);
  Dims shifts = call.dims(1);
  Ints axes = call.integers(2);
  if (!call.ok())
    return Value::poison();
  if (axes.empty()) {
    if (shifts.size() != 1)
      return call.invalid(std::to_string(shifts.size()) + " shifts without axes, expected 1");
    Tensor flat = fn::reshape(x, Dims{x.elements()});
    return call.result(fn::reshape(rolled(call, flat, shifts[0], 0), x.dims()));
  }
  if (shifts.size() != axes.size())
    return call.invalid(std::to_string(shifts.size()) + " shifts for " + std::to_string(axes.size()) + " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<int64_t> axis = normaliseAxis(axes[i], x.rank());
    if (!axis || x.rank() == 0)
      return call.invalid("axis " + std::to_string(axes[i]) + " of a tensor of rank " + std::to_string(x.rank()));
    x = rolled(call, x, shifts[i], *axis);
  }
  return call.result(x);
}

Value rot90(OpCall &call) {
  Tensor x = call.tensor(0);
  int64_t turns = ((call.integer(1) % 4) + 4) % 4;
  Ints axes = call.integers(2);
  if (!call.ok())
    return Value::poison();
  std::optional<int64_t> a, b;
  if (axes.size() == 2 && x.rank() >= 2) {
    a = normaliseAxis(axes[0], x.rank());
    b = normaliseAxis(axes[1], x.rank());
  }
  if (!a || !b || *a == *b)
    return call.invalid("expected two different axes of a tensor of rank 2 or more");
  if (turns == 2)
    x = fn::reverse(x, {*a, *b});
  if (turns == 1 || turns == 3) {
    Ints permutation = iotaInts(x.rank());
    std::swap(permutation[*a], permutation[*b]);
    x = fn::transpose(fn::reverse(x, {turns == 1 ? *b : *a}), permutation);
  }
  return call.result(x);
}

Value tiled(OpCall &call, bool mayBeShorter) {
  Tensor x = call.tensor(0);
  Dims repeats = call.dims(1);
  if (!call.ok())
    return Value::poison();
  int64_t missing = x.rank() - static_cast<int64_t>(repeats.size());
  if (missing > 0 && !mayBeShorter)
    return call.invalid(std::to_string(repeats.size()) + " repeats for a tensor of rank " + std::to_string(x.rank()));
  repeats.insert(repeats.begin(), static_cast<size_t>(std::max<int64_t>(missing, 0)), Dim(1));
  if (missing < 0) {
    Dims dims = x.dims();
    dims.insert(dims.begin(), static_cast<size_t>(-missing), Dim(1));
    x = fn::reshape(x, dims);
  }
  return call.result(fn::tile(x, repeats));
}
Value repeat(OpCall &call) { return tiled(call, false); }
Value tile(OpCall &call) { return tiled(call, true); }

Tensor repeatedEach(const Tensor &x, int64_t axis, const Dim &times) {
  Dims spread = withAxis(x.dims(), axis + 1, times), result = x.dims();
  result[axis] = result[axis] * times;
  return fn::reshape(fn::broadcastTo(fn::unsqueeze(x, {axis + 1}), spread), result);
}

/// The tensor flattened, or as it is, and the axis; nothing after an error.
std::optional<std::pair<Tensor, int64_t>> repeatAxis(OpCall &call, size_t index) {
  Tensor x = call.tensor(0);
  if (!call.ok())
    return std::nullopt;
  if (call.isNone(index) || x.rank() == 0)
    return std::pair(fn::reshape(x, Dims{x.elements()}), int64_t{0});
  int64_t axis = call.axis(index, x.rank());
  return call.ok() ? std::optional(std::pair(x, axis)) : std::nullopt;
}

Value repeatInterleave(OpCall &call) {
  auto at = repeatAxis(call, 2);
  Dim times = call.dim(1);
  return at && call.ok() ? call.result(repeatedEach(at->first, at->second, times)) : Value::poison();
}

/// Which element stands at each place when element i is repeated repeats[i] times.
Tensor repeatIndices(OpCall &call, const Tensor &repeats, size_t outputSize) {
  if (std::optional<std::vector<double>> known = repeats.knownNumbers()) {
    Ints indices;
    double total = 0;
    for (double times : *known)
      total += std::max(0.0, times);
    if (total > 0x1p22) {
      call.unsupported("more than 2^22 repeats");
      return repeats;
    }
    for (size_t i = 0; i < known->size(); ++i)
      indices.insert(indices.end(), static_cast<size_t>(std::max(0.0, (*known)[i])), static_cast<int64_t>(i));
    return call.builder().vector(indices);
  }
  if (call.isNone(outputSize)) {
    call.unsupported("how often elements are repeated depends on data, and so does the size of the result; give output_size");
    return repeats;
  }
  // As many as have ended at or before this place.
  Dim size = call.dim(outputSize);
  Tensor ends = fn::unsqueeze(fn::cumSum(fn::cast(repeats, ElementType::I64), 0), {0});
  Tensor hasEnded = fn::cast(fn::le(ends, positions(call.builder(), size, 0, 2)), ElementType::I64);
  return fn::reduce(hasEnded, fn::Reduction::Sum, {1}, false);
}

Value repeatInterleaveEach(OpCall &call) {
  auto at = repeatAxis(call, 2);
  Tensor repeats = call.tensor(1);
  if (!at || !call.ok())
    return Value::poison();
  std::optional<Dims> known = repeats.knownIntegers();
  if (known && known->size() == 1)
    return call.result(repeatedEach(at->first, at->second, (*known)[0]));
  if (repeats.rank() != 1)
    return call.unsupported("a number of repeats that depends on data");
  Tensor indices = repeatIndices(call, repeats, 3);
  return call.ok() ? call.result(fn::gather(at->first, indices, at->second)) : Value::poison();
}
Value repeatInterleaveIndices(OpCall &call) {
  Tensor repeats = call.tensor(0);
  return call.ok() ? call.result(fn::cast(repeatIndices(call, repeats, 1), repeats.type())) : Value::poison();
}

Tensors grid(const Tensors &xs) {
  Dims dims;
  for (const Tensor &x : xs)
    dims.push_back(x.elements());
  Tensors results;
  for (size_t i = 0; i < xs.size(); ++i) {
    Dims aligned(xs.size(), Dim(1));
    aligned[i] = dims[i];
    results.push_back(fn::broadcastTo(fn::reshape(xs[i], aligned), dims));
  }
  return results;
}

Value meshgrid(OpCall &call) {
  Tensors xs = call.tensors(0);
  std::string indexing = call.schema().parameters.size() > 1 ? call.text(1) : "ij";
  if (!call.ok())
    return Value::poison();
  if (indexing != "ij" && indexing != "xy")
    return call.invalid("indexing is \"" + indexing + "\", expected \"ij\" or \"xy\"");
  bool swaps = indexing == "xy" && xs.size() >= 2;
  if (swaps)
    std::swap(xs[0], xs[1]);
  Tensors results = grid(xs);
  if (swaps)
    std::swap(results[0], results[1]);
  return listOf(call, results);
}

Value cartesianProduct(OpCall &call) {
  Tensors xs = operands(call), columns;
  if (!call.ok())
    return Value::poison();
  if (xs.size() == 1)
    return call.result(xs[0]);
  for (const Tensor &x : grid(xs))
    columns.push_back(fn::reshape(x, Dims{x.elements()}));
  return call.result(fn::stack(columns, 1));
}

Value blockDiagonal(OpCall &call) {
  Tensors xs = operands(call);
  if (!call.ok())
    return Value::poison();
  Dim width(0), before(0);
  for (Tensor &x : xs) {
    x = atLeast(x, 2);
    width = width + x.dim(-1);
  }
  for (Tensor &x : xs) {
    Dim own = x.dim(-1);
    x = fn::pad(x, Dims{0, before}, Dims{0, width - before - own});
    before = before + own;
  }
  return call.result(fn::concat(xs, 0));
}

} // namespace

std::span<const OpEntry> reshapeOps() {
  static constexpr OpEntry entries[] = {
      {"cat(Tensor[] tensors, int dim=0) -> Tensor", cat},
      {"concat(Tensor[] tensors, int dim=0) -> Tensor", cat},
      {"concatenate(Tensor[] tensors, int dim=0) -> Tensor", cat},
      {"stack(Tensor[] tensors, int dim=0) -> Tensor", stack},
      {"hstack(Tensor[] tensors) -> Tensor", stackedAlong<1>},
      {"vstack(Tensor[] tensors) -> Tensor", stackedAlong<2>},
      {"row_stack(Tensor[] tensors) -> Tensor", stackedAlong<2>},
      {"dstack(Tensor[] tensors) -> Tensor", stackedAlong<3>},
      {"column_stack(Tensor[] tensors) -> Tensor", columnStack},
      {"atleast_1d(Tensor self) -> Tensor", atLeastOne<1>},
      {"atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", atLeastEach<1>},
      {"atleast_2d(Tensor self) -> Tensor", atLeastOne<2>},
      {"atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", atLeastEach<2>},
      {"atleast_3d(Tensor self) -> Tensor", atLeastOne<3>},
      {"atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", atLeastEach<3>},
      {"flip(Tensor self, int[] dims) -> Tensor", flip},
      {"fliplr(Tensor self) -> Tensor", flipAlong<1>},
      {"flipud(Tensor self) -> Tensor", flipAlong<0>},
      {"roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", roll},
      {"rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", rot90},
      {"repeat(Tensor self, int[] repeats) -> Tensor", repeat},
      {"tile(Tensor self, int[] dims) -> Tensor", tile},
      {"repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor", repeatInterleaveIndices},
      {"repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor", repeatInterleave},
      {"repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
       repeatInterleaveEach},
      {"meshgrid(Tensor[] tensors) -> Tensor[]", meshgrid},
      {"meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", meshgrid},
      {"cartesian_prod(Tensor[] tensors) -> Tensor", cartesianProduct},
      {"block_diag(Tensor[] tensors) -> Tensor", blockDiagonal},
  };
  return entries;
}

} // namespace stator::torch
