// Views that pick parts along an axis: slices, single positions, and the splits into several parts, which are slices too.
#include "compiler/Import/Torch/Aten/Views.h"

#include "compiler/Trace/BuilderImpl.h"

#include "mlir/IR/Matchers.h"

#include <algorithm>

namespace stator::torch {

namespace fn = trace::fn;
using trace::BuilderImpl;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

/// `length` elements from a position that is data.
ViewPlan movingPlan(OpCall &call, const TensorRef &base, int64_t axis, const Tensor &start, const Dim &length) {
  Dim size = call.context().dims(base)[axis];
  ViewPlan plan;
  plan.strides = call.context().strides(base);
  plan.offset = base->offset();
  plan.step.read = [=](const Tensor &x) { return fn::gather(x, fn::add(positions(*x.builder(), length, 0, 1), start), axis); };
  plan.step.write = [=](const Tensor &x, const Tensor &part) {
    trace::Builder &builder = *x.builder();
    Tensor zero = builder.scalarInt(ElementType::I64, 0), last = builder.fromDim(length - Dim(1));
    Tensor at = fn::sub(positions(builder, size, 0, 1), start);
    Tensor spread = fn::gather(part, fn::maximum(fn::minimum(at, last), zero), axis);
    Dims aligned(static_cast<size_t>(x.rank()), Dim(1));
    aligned[axis] = size;
    Tensor isInside = fn::reshape(fn::logicalAnd(fn::ge(at, zero), fn::le(at, last)), aligned);
    return fn::where(isInside, spread, x);
  };
  return plan;
}

Value intAt(OpCall &call, size_t index) {
  const Value &value = call.argument(index);
  return value.isTensor() ? call.context().item(call.context().read(value.asTensor())) : value;
}

/// end - start of two positions that are data, where one was made from the other by adding something that is known (`x[i:i + 1]`).
std::optional<Dim> knownDistance(OpCall &call, const Value &start, const Value &end) {
  if (!call.ok() || !start.isInt() || !end.isInt() || !start.isData() || !end.isData())
    return std::nullopt;
  BuilderImpl &b = BuilderImpl::of(call.builder());
  mlir::Value from = b.value(start.asInt().data), to = b.value(end.asInt().data);
  auto known = [&](mlir::Value value) -> std::optional<Dim> {
    mlir::DenseIntElementsAttr constant;
    if (mlir::matchPattern(value, mlir::m_Constant(&constant)) && constant.getNumElements() == 1)
      return Dim((*constant.value_begin<llvm::APInt>()).getSExtValue());
    Tensor tensor = b.wrap(value);
    std::optional<Dims> integers = tensor ? tensor.knownIntegers() : std::nullopt;
    return integers && integers->size() == 1 ? std::optional<Dim>((*integers)[0]) : std::nullopt;
  };
  mlir::Operation *sum = to.getDefiningOp(), *difference = from.getDefiningOp();
  if (sum && sum->getName().getStringRef() == "graph.add")
    for (unsigned i = 0; i < 2; ++i)
      if (sum->getOperand(i) == from)
        return known(sum->getOperand(1 - i));
  if (difference && difference->getName().getStringRef() == "graph.sub" && difference->getOperand(0) == to)
    return known(difference->getOperand(1));
  return std::nullopt;
}

} // namespace

MaybePlan sliceArguments(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  if (self->rank() == 0)
    return call.invalid("a tensor of rank 0 has no axis to slice"), std::nullopt;
  int64_t axis = call.axis(first, self->rank()), step = call.integer(first + 3);
  std::optional<Dim> start, end;
  if (Value from = intAt(call, first + 1); from.isInt() && from.isData() && step == 1)
    if (std::optional<Dim> length = knownDistance(call, from, intAt(call, first + 2)))
      return movingPlan(call, self, axis, from.asInt().data, *length);
  if (!call.isNone(first + 1))
    start = call.dim(first + 1);
  if (!call.isNone(first + 2))
    end = call.dim(first + 2);
  return call.ok() ? slicePlan(call, self, axis, start, end, step) : std::nullopt;
}

/// The position is a number, a size, or data.
static MaybePlan selectAt(OpCall &call, int64_t axis, size_t index) {
  TensorRef self = call.ref(0);
  Value known = intAt(call, index);
  if (known.isInt() && known.isData())
    return selectPlan(call, self, axis, known.asInt().data);
  if (known.isInt())
    return selectPlan(call, self, axis, known.asInt().dim);
  return call.invalid("a position is " + known.typeName() + ", expected an int"), std::nullopt;
}

MaybePlan selectArguments(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  if (self->rank() == 0)
    return call.invalid("a tensor of rank 0 has no axis to select from"), std::nullopt;
  int64_t axis = call.axis(first, self->rank());
  return call.ok() ? selectAt(call, axis, first + 1) : std::nullopt;
}

MaybePlan diagonalArguments(OpCall &call, size_t first) {
  int64_t offset = call.integer(first), a = call.integer(first + 1), b = call.integer(first + 2);
  return call.ok() ? diagonalPlan(call, call.ref(0), offset, a, b) : std::nullopt;
}

MaybePlan stridedArguments(OpCall &call, size_t first) {
  Dims dims = call.dims(first), strides = call.dims(first + 1);
  std::optional<Dim> offset;
  if (!call.isNone(first + 2))
    offset = call.dim(first + 2);
  return call.ok() ? stridedPlan(call, call.ref(0), dims, strides, offset) : std::nullopt;
}

namespace {

MaybePlan narrowPlan(OpCall &call, size_t first) {
  TensorRef self = call.ref(0);
  int64_t axis = call.axis(first, self->rank());
  Dim length = call.dim(first + 2);
  if (!call.ok() || self->rank() == 0)
    return std::nullopt;
  Value start = intAt(call, first + 1);
  if (start.isInt() && start.isData())
    return movingPlan(call, self, axis, start.asInt().data, length);
  if (!start.isInt())
    return call.invalid("the start is " + start.typeName() + ", expected an int"), std::nullopt;
  Dim from = start.asInt().dim, size = call.context().dims(self)[axis];
  if (from.isConstant() && from.constant() < 0)
    from = from + size;
  if (from.isConstant() && length.isConstant() && size.isConstant() &&
      (from.constant() < 0 || length.constant() < 0 || from.constant() + length.constant() > size.constant()))
    return call.invalid("start " + from.str() + " and length " + length.str() + " for an axis of size " + size.str()), std::nullopt;
  return slicePlan(call, self, axis, from, from + length, 1);
}

/// Parts as views or as copies.
enum class Parts { Views, Copies };

struct Cut {
  Dim start, end;
};

Value partsAt(OpCall &call, int64_t axis, const std::vector<Cut> &cuts, Parts kind) {
  TensorRef self = call.ref(0);
  Values parts;
  for (const Cut &cut : cuts) {
    MaybePlan plan = call.ok() ? slicePlan(call, self, axis, cut.start, cut.end, 1) : std::nullopt;
    parts.push_back(kind == Parts::Views ? viewResult(call, self, plan) : copyResult(call, self, plan));
  }
  return Value::list(std::move(parts));
}

/// The axis in argument `index` of a tensor that has at least one, and its size.
std::optional<std::pair<int64_t, Dim>> splitAxis(OpCall &call, size_t index) {
  TensorRef self = call.ref(0);
  if (self->rank() == 0)
    return call.invalid("a tensor of rank 0 cannot be split"), std::nullopt;
  int64_t axis = call.axis(index, self->rank());
  if (!call.ok())
    return std::nullopt;
  return std::pair(axis, call.context().dims(self)[axis]);
}

std::vector<Cut> evenCuts(const Dim &part, int64_t count) {
  std::vector<Cut> cuts;
  for (int64_t i = 0; i < count; ++i)
    cuts.push_back({part * Dim(i), part * Dim(i + 1)});
  return cuts;
}

template <Parts kind>
Value splitSize(OpCall &call) {
  auto at = splitAxis(call, 2);
  Dim part = call.dim(1);
  if (!at || !call.ok())
    return Value::poison();
  if (part.isConstant() && part.constant() < 1 && !(part == Dim(0) && at->second == Dim(0)))
    return call.invalid("parts of size " + part.str());
  Dim count = part == Dim(0) ? Dim(1) : Dim(BuilderImpl::of(call.builder()).simplify(ceilDiv(at->second, part).expr()));
  if (!count.isConstant())
    return call.unsupported("an axis of size " + at->second.str() + " in parts of " + part.str() +
                            ": their number is not known when the model is "
                            "compiled; give the axis a fixed size");
  if (count.constant() > 65536)
    return call.unsupported(count.str() + " parts, expected at most 65536");
  return partsAt(call, at->first, evenCuts(part, std::max<int64_t>(count.constant(), 1)), kind);
}

template <Parts kind>
Value splitSizes(OpCall &call) {
  auto at = splitAxis(call, 2);
  Dims sizes = call.dims(1);
  if (!at || !call.ok())
    return Value::poison();
  std::vector<Cut> cuts;
  Dim start(0);
  for (const Dim &size : sizes) {
    if (size.isConstant() && size.constant() < 0)
      return call.invalid("a part of size " + size.str());
    cuts.push_back({start, start + size});
    start = start + size;
  }
  if (start.isConstant() && at->second.isConstant() && start != at->second)
    return call.invalid("parts of " + start.str() + " elements altogether, expected " + at->second.str());
  call.builder().constrainEqual(start, at->second, "split_with_sizes");
  return partsAt(call, at->first, cuts, kind);
}

template <Parts kind>
Value chunk(OpCall &call) {
  auto at = splitAxis(call, 2);
  int64_t chunks = call.integer(1);
  if (!at || !call.ok())
    return Value::poison();
  if (chunks < 1 || chunks > 65536)
    return call.invalid("into " + std::to_string(chunks) + " parts, expected 1..65536");
  if (at->second == Dim(0))
    return partsAt(call, at->first, std::vector<Cut>(static_cast<size_t>(chunks), Cut{Dim(0), Dim(0)}), kind);
  BuilderImpl &b = BuilderImpl::of(call.builder());
  Dim part(b.simplify(ceilDiv(at->second, Dim(chunks)).expr()));
  Dim count(b.simplify(ceilDiv(at->second, part).expr()));
  // With a size known only at run time there are as many parts as asked for; that holds whenever it is large enough.
  return partsAt(call, at->first, evenCuts(part, count.isConstant() ? count.constant() : chunks), kind);
}

Value sections(OpCall &call, int64_t axis, int64_t count) {
  if (count < 1 || count > 65536)
    return call.invalid("into " + std::to_string(count) + " parts, expected 1..65536");
  Dim size = call.context().dims(call.ref(0))[axis], start(0);
  std::vector<Cut> cuts;
  for (int64_t i = 0; i < count; ++i) {
    Dim end = start + floorDiv(size + Dim(count - 1 - i), Dim(count));
    cuts.push_back({start, end});
    start = end;
  }
  return partsAt(call, axis, cuts, Parts::Views);
}

Value cutsAt(OpCall &call, int64_t axis, const Dims &indices) {
  Dim size = call.context().dims(call.ref(0))[axis], start(0);
  std::vector<Cut> cuts;
  for (const Dim &index : indices) {
    cuts.push_back({start, index});
    start = index;
  }
  cuts.push_back({start, size});
  return partsAt(call, axis, cuts, Parts::Views);
}

Value tensorSplitSections(OpCall &call) {
  auto at = splitAxis(call, 2);
  int64_t count = call.integer(1);
  return at && call.ok() ? sections(call, at->first, count) : Value::poison();
}
Value tensorSplitIndices(OpCall &call) {
  auto at = splitAxis(call, 2);
  Dims indices = call.dims(1);
  return at && call.ok() ? cutsAt(call, at->first, indices) : Value::poison();
}
Value tensorSplitTensor(OpCall &call) {
  auto at = splitAxis(call, 2);
  Tensor given = call.tensor(1);
  std::optional<Dims> known = at && call.ok() ? given.knownIntegers() : std::nullopt;
  if (!at || !call.ok())
    return Value::poison();
  if (!known || (given.rank() == 0 && !(*known)[0].isConstant()))
    return call.unsupported("where to split depends on the values of a tensor");
  return given.rank() == 0 ? sections(call, at->first, (*known)[0].constant()) : cutsAt(call, at->first, *known);
}

/// hsplit, vsplit and dsplit: tensor_split along a fixed axis, into equal parts.
template <int64_t wanted, bool isCount>
Value splitAlong(OpCall &call) {
  int64_t rank = call.ref(0)->rank(), axis = wanted == 1 && rank == 1 ? 0 : wanted;
  if (rank <= axis)
    return call.invalid("a tensor of rank " + std::to_string(rank));
  return isCount ? sections(call, axis, call.integer(1)) : cutsAt(call, axis, call.dims(1));
}

template <Parts kind>
Value unbind(OpCall &call) {
  auto at = splitAxis(call, 1);
  if (!at)
    return Value::poison();
  if (!at->second.isConstant())
    return call.unsupported("an axis of size " + at->second.str() +
                            " is taken apart, whose size is not known when the model is compiled; "
                            "give it a fixed size");
  if (at->second.constant() > 65536)
    return call.unsupported("an axis of size " + at->second.str() + " is taken apart");
  Values parts;
  TensorRef self = call.ref(0);
  for (int64_t i = 0; i < at->second.constant(); ++i) {
    MaybePlan plan = call.ok() ? selectPlan(call, self, at->first, Dim(i)) : std::nullopt;
    parts.push_back(kind == Parts::Views ? viewResult(call, self, plan) : copyResult(call, self, plan));
  }
  return Value::list(std::move(parts));
}

} // namespace

std::span<const OpEntry> selectOps() {
  static constexpr OpEntry entries[] = {
      {"slice.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor", asView<sliceArguments>},
      {"select.int(Tensor self, int dim, int index) -> Tensor", asView<selectArguments>},
      {"narrow(Tensor self, int dim, int start, int length) -> Tensor", asView<narrowPlan>},
      {"narrow.Tensor(Tensor self, int dim, Tensor start, int length) -> Tensor", asView<narrowPlan>},
      {"split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", splitSize<Parts::Views>},
      {"split.sizes(Tensor self, int[] split_size, int dim=0) -> Tensor[]", splitSizes<Parts::Views>},
      {"split(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", splitSizes<Parts::Views>},
      {"split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", splitSizes<Parts::Views>},
      {"chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", chunk<Parts::Views>},
      {"tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]", tensorSplitSections},
      {"tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]", tensorSplitIndices},
      {"tensor_split.tensor_indices_or_sections(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]", tensorSplitTensor},
      {"hsplit.int(Tensor self, int sections) -> Tensor[]", splitAlong<1, true>},
      {"hsplit.array(Tensor self, int[] indices) -> Tensor[]", splitAlong<1, false>},
      {"vsplit.int(Tensor self, int sections) -> Tensor[]", splitAlong<0, true>},
      {"vsplit.array(Tensor self, int[] indices) -> Tensor[]", splitAlong<0, false>},
      {"dsplit.int(Tensor self, int sections) -> Tensor[]", splitAlong<2, true>},
      {"dsplit.array(Tensor self, int[] indices) -> Tensor[]", splitAlong<2, false>},
      {"unbind.int(Tensor self, int dim=0) -> Tensor[]", unbind<Parts::Views>},

      {"slice_copy.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor", asCopy<sliceArguments>},
      {"select_copy.int(Tensor self, int dim, int index) -> Tensor", asCopy<selectArguments>},
      {"narrow_copy(Tensor self, int dim, int start, int length) -> Tensor", asCopy<narrowPlan>},
      {"unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", splitSize<Parts::Copies>},
      {"unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", splitSizes<Parts::Copies>},
      {"unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", chunk<Parts::Copies>},
      {"split_copy.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", splitSize<Parts::Copies>},
      {"split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", splitSizes<Parts::Copies>},
      {"unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", unbind<Parts::Copies>},

      {"slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
       asScatter<sliceArguments>},
      {"select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", asScatter<selectArguments>},
      {"diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", asScatter<diagonalArguments>},
      {"as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
       asScatter<stridedArguments>},
  };
  return entries;
}

} // namespace stator::torch
