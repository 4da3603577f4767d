// Writing at positions that are data, along one axis. Reductions that the graph's scatter lacks are made of those it has: a mean is a sum
// and a count, and leaving out the old element starts from the reduction's neutral element at the places that are written.
#include "compiler/Import/Torch/Aten/Conversion.h"
#include "compiler/Import/Torch/Aten/Indexing.h"

#include <algorithm>
#include <limits>

namespace stator::torch {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using Reduction = fn::ScatterReduction;

namespace {

enum class Kind { Replace, Sum, Product, Mean, Max, Min };

std::optional<Kind> kindOf(OpCall &call, const std::string &text) {
  if (text == "sum" || text == "add")
    return Kind::Sum;
  if (text == "prod" || text == "multiply")
    return Kind::Product;
  if (text == "mean")
    return Kind::Mean;
  if (text == "amax")
    return Kind::Max;
  if (text == "amin")
    return Kind::Min;
  return call.invalid("the reduction is \"" + text + "\", expected sum, prod, mean, amax or amin"), std::nullopt;
}

double lowest(ElementType type) {
  switch (type) {
  case ElementType::I64:
    return -0x1p63;
  case ElementType::I32:
    return -0x1p31;
  case ElementType::I16:
    return -0x1p15;
  case ElementType::I8:
    return -0x1p7;
  case ElementType::U8:
  case ElementType::I1:
    return 0;
  default:
    return -std::numeric_limits<double>::infinity();
  }
}

/// What a reduction starts from. Integers that are out of range saturate.
Tensor neutral(OpCall &call, ElementType type, Kind kind) {
  switch (kind) {
  case Kind::Product:
    return call.builder().scalar(type, 1);
  case Kind::Max:
    return call.builder().scalar(type, lowest(type));
  case Kind::Min:
    return call.builder().scalar(type, type == ElementType::U8 ? 255 : type == ElementType::I1 ? 1 : -lowest(type));
  default:
    return call.builder().scalar(type, 0);
  }
}

/// How elements at an index are combined: along one axis by an index of the updates' shape, or whole slices by a vector of positions.
using Scatter = std::function<Tensor(const Tensor &x, const Tensor &updates, Reduction reduction)>;

Tensor combine(OpCall &call, const Tensor &x, const Tensor &updates, Kind kind, bool includesSelf, const Scatter &scatter) {
  if (kind == Kind::Replace)
    return scatter(x, updates, Reduction::None);
  // Booleans are combined as numbers.
  if (x.type() == ElementType::I1) {
    Tensor wide = combine(call, fn::cast(x, ElementType::I32), fn::cast(updates, ElementType::I32), kind, includesSelf, scatter);
    return fn::cast(wide, ElementType::I1);
  }
  Tensor start = x, isWritten;
  if (!includesSelf) {
    Tensor zeros = fn::full(call.builder(), ElementType::I32, x.dims(), 0),
           ones = fn::full(call.builder(), ElementType::I32, updates.dims(), 1);
    isWritten = fn::cast(scatter(zeros, ones, Reduction::None), ElementType::I1);
    start = fn::where(isWritten, neutral(call, x.type(), kind), x);
  }
  Reduction reduction = kind == Kind::Product ? Reduction::Mul
                        : kind == Kind::Max   ? Reduction::Max
                        : kind == Kind::Min   ? Reduction::Min
                                              : Reduction::Add;
  Tensor result = scatter(start, updates, reduction);
  if (kind != Kind::Mean)
    return result;
  Tensor one = call.builder().scalar(x.type(), 1);
  Tensor own = fn::full(call.builder(), x.type(), x.dims(), includesSelf ? 1 : 0);
  Tensor count = scatter(own, fn::full(call.builder(), x.type(), updates.dims(), 1), Reduction::Add);
  count = fn::maximum(count, one);
  return isFloatType(x.type()) ? fn::div(result, count) : fn::floorDiv(result, count);
}

/// The part of x that an index of these sizes reaches.
Tensor cutTo(const Tensor &x, const Dims &dims) {
  if (x.dims() == dims)
    return x;
  return fn::slice(x, Dims(dims.size(), Dim(0)), dims);
}

/// Rank-0 tensors count as vectors of one element.
Tensor asVector(const Tensor &x) { return x.rank() == 0 ? fn::reshape(x, Dims{1}) : x; }

struct Along {
  Tensor x, index;
  int64_t axis = 0;
};

/// (self, dim, index)
std::optional<Along> alongOf(OpCall &call) {
  Along along{call.tensor(0), call.tensor(2)};
  along.axis = call.axis(1, along.x ? along.x.rank() : 0);
  if (!call.ok())
    return std::nullopt;
  along.x = asVector(along.x);
  along.index = asVector(along.index);
  if (along.x.rank() != along.index.rank())
    return call.invalid("an index of rank " + std::to_string(along.index.rank()) + " for a tensor of rank " +
                        std::to_string(along.x.rank())),
           std::nullopt;
  return along;
}

Value scattered(OpCall &call, const Tensor &given, Kind kind, bool includesSelf) {
  std::optional<Along> along = alongOf(call);
  if (!along)
    return Value::poison();
  Tensor updates = fn::cast(given, along->x.type());
  updates = given.rank() == 0 && along->index.rank() > 0 ? fn::broadcastTo(updates, along->index.dims())
                                                         : cutTo(asVector(updates), along->index.dims());
  auto scatter = [&](const Tensor &x, const Tensor &u, Reduction reduction) {
    return fn::scatterElements(x, along->index, u, along->axis, reduction);
  };
  Tensor result = call.ok() ? combine(call, along->x, updates, kind, includesSelf, scatter) : along->x;
  return call.ok() ? call.result(fn::reshape(result, call.tensor(0).dims())) : Value::poison();
}

Value scatter(OpCall &call) { return scattered(call, call.tensor(3), Kind::Replace, true); }
Value scatterReducing(OpCall &call) {
  std::optional<Kind> kind = kindOf(call, call.text(4));
  return kind ? scattered(call, call.tensor(3), *kind, true) : Value::poison();
}
Value scatterAdd(OpCall &call) { return scattered(call, call.tensor(3), Kind::Sum, true); }
Value scatterReduce(OpCall &call) {
  std::optional<Kind> kind = kindOf(call, call.text(4));
  return kind ? scattered(call, call.tensor(3), *kind, call.flag(5)) : Value::poison();
}

/// Whole slices of `source` along argument 1, at the positions in argument 2.
Value slicesAt(OpCall &call, const Tensor &source, Kind kind, bool includesSelf) {
  Tensor own = call.tensor(0), index = call.tensor(2);
  int64_t axis = call.axis(1, own ? own.rank() : 0);
  if (!call.ok())
    return Value::poison();
  Tensor x = asVector(own), updates = asVector(fn::cast(source, own.type()));
  index = asVector(index);
  if (index.rank() != 1 || updates.rank() != x.rank())
    return call.invalid("an index of rank " + std::to_string(index.rank()) + " and a source of rank " + std::to_string(updates.rank()) +
                        " for a tensor of rank " + std::to_string(x.rank()));
  Scatter scatter;
  if (axis == 0) {
    scatter = [&](const Tensor &y, const Tensor &u, Reduction reduction) {
      return fn::scatterND(y, fn::unsqueeze(index, {1}), u, reduction);
    };
  } else {
    Dims aligned(static_cast<size_t>(x.rank()), Dim(1));
    aligned[axis] = index.dim(0);
    Tensor spread = fn::broadcastTo(fn::reshape(index, aligned), updates.dims());
    scatter = [=](const Tensor &y, const Tensor &u, Reduction reduction) { return fn::scatterElements(y, spread, u, axis, reduction); };
  }
  Tensor result = call.ok() ? combine(call, x, updates, kind, includesSelf, scatter) : x;
  return call.ok() ? call.result(fn::reshape(result, own.dims())) : Value::poison();
}

Value indexAdd(OpCall &call) {
  Tensor source = call.tensor(3);
  std::optional<double> alpha = call.argument(4).knownNumber();
  if (call.ok() && alpha != 1.0)
    source = fn::mul(source, scalarOf(call, 4, source.type()));
  return slicesAt(call, source, Kind::Sum, true);
}
Value indexCopy(OpCall &call) { return slicesAt(call, call.tensor(3), Kind::Replace, true); }
Value indexReduce(OpCall &call) {
  std::optional<Kind> kind = kindOf(call, call.text(4));
  return kind ? slicesAt(call, call.tensor(3), *kind, call.flag(5)) : Value::poison();
}

/// One number at all positions: a selection between it and the old elements.
Value indexFill(OpCall &call) {
  Tensor x = call.tensor(0), index = call.tensor(2), value = call.tensor(3);
  int64_t axis = call.axis(1, x ? x.rank() : 0);
  if (!call.ok())
    return Value::poison();
  if (value.rank() != 0)
    return call.invalid("the value has rank " + std::to_string(value.rank()) + ", expected one number");
  value = fn::cast(value, x.type());
  if (x.rank() == 0)
    return call.result(index.elements() == Dim(0) ? x : value);
  Dim size = x.dim(axis);
  Tensor places = fn::reshape(wrappedIndex(index, size), Dims{1, index.elements()});
  Tensor isFilled = fn::reduce(fn::eq(positions(call.builder(), size, 0, 2), places), fn::Reduction::Any, {1}, false);
  Dims aligned(static_cast<size_t>(x.rank()), Dim(1));
  aligned[axis] = size;
  return call.result(fn::where(fn::reshape(isFilled, aligned), value, x));
}

} // namespace

#define ALONG "(Tensor self, int dim, Tensor index, "

std::span<const OpEntry> scatterOps() {
  static constexpr OpEntry entries[] = {
      {"scatter.value" ALONG "Scalar value) -> Tensor", scatter},
      {"scatter.src" ALONG "Tensor src) -> Tensor", scatter},
      {"scatter.reduce" ALONG "Tensor src, *, str reduce) -> Tensor", scatterReducing},
      {"scatter.value_reduce" ALONG "Scalar value, *, str reduce) -> Tensor", scatterReducing},
      {"scatter_add" ALONG "Tensor src) -> Tensor", scatterAdd},
      {"scatter_reduce.two" ALONG "Tensor src, str reduce, *, bool include_self=True) -> Tensor", scatterReduce},
      {"index_add" ALONG "Tensor source, *, Scalar alpha=1) -> Tensor", indexAdd},
      {"index_copy" ALONG "Tensor source) -> Tensor", indexCopy},
      {"index_reduce" ALONG "Tensor source, str reduce, *, bool include_self=True) -> Tensor", indexReduce},
      {"index_fill.int_Scalar" ALONG "Scalar value) -> Tensor", indexFill},
      {"index_fill.int_Tensor" ALONG "Tensor value) -> Tensor", indexFill},
  };
  return entries;
}

} // namespace stator::torch
