// Reading at positions that are data: gather, take, and NumPy's advanced indexing in all its forms, and the writes that belong to it.
// Several index tensors become one index into their axes taken together, so that a gather of whole slices does the rest. Masks whose
// contents are unknown select a number of elements that depends on data, which no shape can express; writes through them are selections
// between old and new elements.
#include "compiler/Import/Torch/Aten/Indexing.h"

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

Tensor wrappedIndex(const Tensor &index, const Dim &size) {
  Tensor wide = fn::cast(index, ElementType::I64);
  std::optional<Dims> known = wide.knownIntegers();
  auto isPositive = [&](const Dim &dim) { return BuilderImpl::of(*index.builder()).bounds(dim.expr()).lo.value_or(-1) >= 0; };
  if (known && std::all_of(known->begin(), known->end(), isPositive))
    return wide;
  trace::Builder &builder = *index.builder();
  return fn::where(fn::lt(wide, builder.scalarInt(ElementType::I64, 0)), fn::add(wide, builder.fromDim(size)), wide);
}

namespace {

bool isMask(const Tensor &index) { return index && (index.type() == ElementType::I1 || index.type() == ElementType::U8); }

/// An entry of an index list with the axes it takes the place of; no entry stands for one whole axis.
struct Entry {
  Tensor index;
  int64_t axis = 0, axes = 1;
};

/// The indexed axes of a tensor as one.
struct Advanced {
  std::vector<Entry> entries; // without whole axes
  Tensor index;               // the common position in the indexed axes taken together
  Ints toFront;               // permutation: indexed axes, then the others
  int64_t place = 0;          // of the index's axes in the result
  bool isAdjacent = true;
};

std::optional<std::vector<Entry>> entriesOf(OpCall &call, const Tensor &x, const Tensors &indices) {
  std::vector<Entry> entries;
  int64_t axis = 0;
  for (const Tensor &index : indices) {
    Entry entry{index, axis, isMask(index) ? index.rank() : 1};
    if (entry.index && !isMask(index) && isFloatType(index.type()))
      return call.invalid("an index of type " + std::string(name(index.type()))), std::nullopt;
    axis += entry.axes;
    if (entry.index)
      entries.push_back(entry);
  }
  if (axis > x.rank())
    return call.invalid("indices for " + std::to_string(axis) + " axes of a tensor of rank " + std::to_string(x.rank())), std::nullopt;
  return entries;
}

/// Masks with known contents as lists of positions; others are an error.
std::vector<Entry> resolveMasks(OpCall &call, const std::vector<Entry> &entries) {
  std::vector<Entry> result;
  for (const Entry &entry : entries) {
    if (!isMask(entry.index)) {
      result.push_back(entry);
      continue;
    }
    if (!entry.index.knownNumbers()) {
      call.unsupported("a mask selects elements whose number depends on data; use torch.where, masked_fill, or multiply by the mask");
      return result;
    }
    Tensor places = fn::nonZero(entry.index);
    for (int64_t i = 0; i < entry.axes && call.ok(); ++i)
      result.push_back({fn::reshape(fn::slice(places, Dims{i}, Dims{i + 1}, {0}), Dims{places.dim(1)}), entry.axis + i, 1});
  }
  return result;
}

std::optional<Advanced> resolve(OpCall &call, const Tensor &x, std::vector<Entry> given) {
  Advanced a;
  a.entries = resolveMasks(call, given);
  if (!call.ok())
    return std::nullopt;
  if (a.entries.empty())
    return a;
  for (size_t i = 1; i < a.entries.size(); ++i)
    a.isAdjacent = a.isAdjacent && a.entries[i].axis == a.entries[i - 1].axis + 1;
  a.place = a.isAdjacent ? a.entries[0].axis : 0;
  // One number for all: the position in row-major order over the indexed axes.
  for (const Entry &entry : a.entries) {
    Dim size = x.dim(entry.axis);
    Tensor own = a.entries.size() == 1 ? entry.index : wrappedIndex(entry.index, size);
    a.index = a.index ? fn::add(fn::mul(a.index, call.builder().fromDim(size)), own) : own;
    a.toFront.push_back(entry.axis);
  }
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (std::find(a.toFront.begin(), a.toFront.end(), axis) == a.toFront.end())
      a.toFront.push_back(axis);
  return call.ok() ? std::optional(a) : std::nullopt;
}

Dim countOfAxes(const Tensor &x, const Advanced &a) {
  Dim count(1);
  for (const Entry &entry : a.entries)
    count = count * x.dim(entry.axis);
  return count;
}

/// x with the indexed axes as one, where they are when they are adjacent, else in front.
Tensor merged(const Tensor &x, const Advanced &a) {
  if (a.entries.size() == 1)
    return x;
  Tensor source = a.isAdjacent ? x : fn::transpose(x, a.toFront);
  Dims dims = source.dims();
  dims.erase(dims.begin() + a.place + 1, dims.begin() + a.place + static_cast<int64_t>(a.entries.size()));
  dims[a.place] = countOfAxes(x, a);
  return fn::reshape(source, dims);
}

Tensor unmerged(const Tensor &y, const Tensor &x, const Advanced &a) {
  if (a.entries.size() == 1)
    return y;
  if (a.isAdjacent)
    return fn::reshape(y, x.dims());
  Dims dims;
  Ints back(a.toFront.size());
  for (size_t i = 0; i < a.toFront.size(); ++i) {
    dims.push_back(x.dim(a.toFront[i]));
    back[a.toFront[i]] = static_cast<int64_t>(i);
  }
  return fn::transpose(fn::reshape(y, dims), back);
}

Value index(OpCall &call) {
  Tensor x = call.tensor(0);
  Tensors indices = call.tensors(1);
  std::optional<std::vector<Entry>> entries = call.ok() ? entriesOf(call, x, indices) : std::nullopt;
  std::optional<Advanced> a = entries ? resolve(call, x, *entries) : std::nullopt;
  if (!a)
    return Value::poison();
  return call.result(a->entries.empty() ? x : fn::gather(merged(x, *a), a->index, a->place));
}

/// Values for a mask: either the same for all selected places, or one after the other in the order of the places.
Tensor maskedValues(OpCall &call, const Tensor &x, const Tensor &values, const Entry &mask) {
  int64_t behind = x.rank() - mask.axis - mask.axes;
  Dims aligned = values.dims();
  bool hasPlaces = values.rank() > behind && values.dim(values.rank() - 1 - behind) != Dim(1);
  if (!hasPlaces) {
    // The axis of the places, of size 1, becomes the mask's axes.
    if (values.rank() > behind)
      aligned.insert(aligned.end() - behind, static_cast<size_t>(mask.axes - 1), Dim(1));
    return fn::reshape(values, aligned);
  }
  if (values.rank() != 1 + behind || mask.axis != 0) {
    call.unsupported("values of shape with one entry per element that a mask selects");
    return values;
  }
  Tensor flat = fn::reshape(fn::cast(mask.index, ElementType::I64), Dims{mask.index.elements()});
  Tensor order = fn::sub(fn::cumSum(flat, 0), call.builder().scalarInt(ElementType::I64, 1));
  Tensor zero = call.builder().scalarInt(ElementType::I64, 0);
  Tensor spread = fn::gather(values, fn::maximum(order, zero), 0);
  return fn::reshape(spread, x.dims());
}

Tensor putThroughMask(OpCall &call, const Tensor &x, const Entry &mask, const Tensor &given, bool accumulates) {
  Tensor values = maskedValues(call, x, fn::cast(given, x.type()), mask);
  if (!call.ok())
    return x;
  int64_t behind = x.rank() - mask.axis - mask.axes;
  Dims dims(static_cast<size_t>(mask.axis), Dim(1)), own = mask.index.dims();
  dims.insert(dims.end(), own.begin(), own.end());
  dims.insert(dims.end(), static_cast<size_t>(behind), Dim(1));
  Tensor condition = fn::reshape(fn::cast(mask.index, ElementType::I1), dims);
  return fn::where(condition, accumulates ? fn::add(x, values) : values, x);
}

Tensor put(OpCall &call, const Tensor &x, const Tensors &indices, const Tensor &given, bool accumulates) {
  std::optional<std::vector<Entry>> entries = call.ok() ? entriesOf(call, x, indices) : std::nullopt;
  if (!entries)
    return x;
  if (entries->size() == 1 && isMask(entries->front().index))
    return putThroughMask(call, x, entries->front(), given, accumulates);
  std::optional<Advanced> a = resolve(call, x, *entries);
  if (!a)
    return x;
  Tensor values = fn::cast(given, x.type());
  if (a->entries.empty()) {
    Tensor whole = fn::broadcastTo(values, x.dims());
    return accumulates ? fn::add(x, whole) : whole;
  }
  // The values broadcast to what reading at these places would give; then places come first.
  Tensor source = merged(x, *a);
  Dims result = source.dims(), places = a->index.dims();
  result.erase(result.begin() + a->place);
  result.insert(result.begin() + a->place, places.begin(), places.end());
  values = fn::broadcastTo(values, result);
  auto reduction = accumulates ? fn::ScatterReduction::Add : fn::ScatterReduction::None;
  if (a->place == 0)
    return unmerged(fn::scatterND(source, fn::unsqueeze(a->index, {-1}), values, reduction), x, *a);
  // Behind other axes: each element is written by itself, which leaves the tensor where it is.
  Dims flat = source.dims(), aligned(flat.size(), Dim(1));
  flat[a->place] = aligned[a->place] = a->index.elements();
  Tensor index = fn::broadcastTo(fn::reshape(a->index, aligned), flat);
  return unmerged(fn::scatterElements(source, index, fn::reshape(values, flat), a->place, reduction), x, *a);
}

Value indexPut(OpCall &call) {
  Tensor x = call.tensor(0);
  Tensors indices = call.tensors(1);
  Tensor values = call.tensor(2);
  bool accumulates = call.flag(3);
  return call.ok() ? call.result(put(call, x, indices, values, accumulates)) : Value::poison();
}

Value indexSelect(OpCall &call) {
  Tensor x = call.tensor(0), index = call.tensor(2);
  int64_t axis = call.axis(1, x.rank());
  if (!call.ok())
    return Value::poison();
  if (x.rank() == 0)
    return call.argument(0);
  return call.result(fn::gather(x, index.rank() == 0 ? fn::reshape(index, Dims{1}) : index, axis));
}

Value gatherElements(OpCall &call) {
  Tensor x = call.tensor(0), index = call.tensor(2);
  int64_t axis = call.axis(1, x.rank());
  if (!call.ok())
    return Value::poison();
  if (x.rank() == 0 || index.rank() == 0) {
    Tensor flat = fn::gather(fn::reshape(x, Dims{x.elements()}), fn::reshape(index, Dims{index.elements()}), 0);
    return call.result(fn::reshape(flat, index.dims()));
  }
  return call.result(fn::gatherElements(x, index, axis));
}

Value take(OpCall &call) {
  Tensor x = call.tensor(0), index = call.tensor(1);
  return call.ok() ? call.result(fn::gather(fn::reshape(x, Dims{x.elements()}), index, 0)) : Value::poison();
}

Value takeAlong(OpCall &call) {
  Tensor x = call.tensor(0), index = call.tensor(1);
  if (!call.ok())
    return Value::poison();
  if (call.isNone(2))
    return call.result(fn::gatherElements(fn::reshape(x, Dims{x.elements()}), fn::reshape(index, Dims{index.elements()}), 0));
  int64_t axis = call.axis(2, x.rank());
  if (!call.ok() || x.rank() != index.rank() || x.rank() == 0)
    return call.invalid("an index of rank " + std::to_string(index.rank()) + " for a tensor of rank " + std::to_string(x.rank()));
  BuilderImpl &b = BuilderImpl::of(call.builder());
  Dims dims = x.dims(), places = index.dims();
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      dims[i] = places[i] = Dim(b.broadcastDim(dims[i].expr(), places[i].expr(), "take_along_dim"));
  return call.ok() ? call.result(fn::gatherElements(fn::broadcastTo(x, dims), fn::broadcastTo(index, places), axis)) : Value::poison();
}

Value putFlat(OpCall &call) {
  Tensor x = call.tensor(0), index = call.tensor(1), values = call.tensor(2);
  bool accumulates = call.flag(3);
  if (!call.ok())
    return Value::poison();
  Tensor flat = fn::reshape(x, Dims{x.elements()}), places = fn::reshape(index, Dims{index.elements()});
  Tensor updates = fn::reshape(values, Dims{values.elements()});
  auto reduction = accumulates ? fn::ScatterReduction::Add : fn::ScatterReduction::None;
  return call.result(fn::reshape(fn::scatterElements(flat, places, updates, 0, reduction), x.dims()));
}

/// Where the mask is true the value, else the tensor; both broadcast.
Value maskedFill(OpCall &call) {
  Tensor x = call.tensor(0), mask = call.tensor(1), value = call.tensor(2);
  if (call.ok() && value.rank() != 0)
    return call.invalid("the value has rank " + std::to_string(value.rank()) + ", expected one number");
  return call.ok() ? call.result(fn::where(fn::cast(mask, ElementType::I1), fn::cast(value, x.type()), x)) : Value::poison();
}

/// Selected places take the source's elements one after the other.
Value maskedScatter(OpCall &call) {
  Tensor x = call.tensor(0), mask = call.tensor(1), source = call.tensor(2);
  if (!call.ok())
    return Value::poison();
  mask = fn::broadcastTo(fn::cast(mask, ElementType::I1), x.dims());
  Tensor flat = fn::reshape(source, Dims{source.elements()});
  return call.result(putThroughMask(call, x, {mask, 0, x.rank()}, flat, false));
}

Value maskedSelect(OpCall &call) {
  Tensor x = call.tensor(0), mask = call.tensor(1);
  if (!call.ok() || !mask.knownNumbers())
    return call.unsupported("a mask selects elements whose number depends on data; use torch.where, masked_fill, or multiply by the mask");
  Tensor whole = fn::expand(x, mask.dims()), condition = fn::broadcastTo(mask, whole.dims());
  return call.result(fn::compress(whole, fn::reshape(condition, Dims{condition.elements()})));
}

} // namespace

#define INDEX_PUT "(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False"

std::span<const OpEntry> indexingOps() {
  static constexpr OpEntry entries[] = {
      {"index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index},
      {"index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", index},
      {"_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index},
      {"index_put" INDEX_PUT ") -> Tensor", indexPut},
      {"index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor", indexPut},
      {"_unsafe_index_put" INDEX_PUT ") -> Tensor", indexPut},
      {"_index_put_impl" INDEX_PUT ", bool unsafe=False) -> Tensor", indexPut},
      {"index_select(Tensor self, int dim, Tensor index) -> Tensor", indexSelect},
      {"gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", gatherElements},
      {"take(Tensor self, Tensor index) -> Tensor", take},
      {"take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", takeAlong},
      {"put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", putFlat},
      {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", maskedFill},
      {"masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", maskedFill},
      {"masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", maskedScatter},
      {"masked_select(Tensor self, Tensor mask) -> Tensor", maskedSelect},
  };
  return entries;
}

} // namespace stator::torch
