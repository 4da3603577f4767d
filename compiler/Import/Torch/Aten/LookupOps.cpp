// Tables looked up by index or by value: embeddings, one-hot codes, sorted boundaries, membership; and the operators whose result's size
// depends on data, which work on known contents only.
#include "compiler/Import/Torch/Aten/Indexing.h"

#include <algorithm>
#include <limits>
#include <map>

namespace stator::torch {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

namespace {

Value embedding(OpCall &call) {
  Tensor weight = call.tensor(0), indices = call.tensor(1);
  return call.ok() ? call.result(fn::gather(weight, indices, 0)) : Value::poison();
}

/// A one in the class of each element.
Value oneHot(OpCall &call) {
  Tensor x = call.tensor(0);
  Dim classes = call.dim(1);
  if (!call.ok())
    return Value::poison();
  if (classes.isConstant() && classes.constant() < 0) {
    std::optional<std::vector<double>> known = x.knownNumbers();
    if (!known || known->empty())
      return call.unsupported("the number of classes depends on data; pass num_classes");
    classes = Dim(static_cast<int64_t>(*std::max_element(known->begin(), known->end())) + 1);
  }
  Tensor codes = positions(call.builder(), classes, x.rank(), x.rank() + 1);
  return call.result(fn::cast(fn::eq(fn::unsqueeze(fn::cast(x, ElementType::I64), {-1}), codes), ElementType::I64));
}

/// Bags of embeddings that are added up, averaged, or from which the largest is taken.
struct Bags {
  Tensor weight, indices, offsets, factors;
  int64_t mode = 0; // 0 sum, 1 mean, 2 max
  bool hasLastOffset = false;
  std::optional<int64_t> padding = {};
};

/// Offsets 0, n, 2n, ... of bags with n indices each, if they are known to be.
std::optional<int64_t> evenBag(const Bags &bags, const Dim &count) {
  std::optional<Dims> known = bags.offsets.knownIntegers();
  if (!known || known->empty() || !count.isConstant() || bags.hasLastOffset)
    return std::nullopt;
  int64_t bagCount = static_cast<int64_t>(known->size());
  if (count.constant() % bagCount != 0)
    return std::nullopt;
  int64_t size = count.constant() / bagCount;
  for (int64_t i = 0; i < bagCount; ++i)
    if ((*known)[i] != Dim(i * size))
      return std::nullopt;
  return size;
}

Value bagResults(OpCall &call, const Bags &bags) {
  if (!call.ok())
    return Value::poison();
  if (bags.indices.rank() != 1 || bags.offsets.rank() != 1)
    return call.invalid("indices of rank " + std::to_string(bags.indices.rank()) + " and offsets of rank " +
                        std::to_string(bags.offsets.rank()) + ", expected 1");
  trace::Builder &builder = call.builder();
  Tensor indices = fn::cast(bags.indices, ElementType::I64), offsets = fn::cast(bags.offsets, ElementType::I64);
  Tensor rows = fn::gather(bags.weight, indices, 0);
  ElementType type = bags.weight.type();
  double nothing = bags.mode == 2 ? -std::numeric_limits<double>::infinity() : 0;
  if (bags.factors && bags.mode == 0)
    rows = fn::mul(rows, fn::unsqueeze(fn::cast(bags.factors, type), {1}));
  Tensor counts = fn::full(builder, ElementType::I64, {indices.dim(0)}, 1);
  if (bags.padding && *bags.padding >= 0) {
    Tensor isPadding = fn::eq(indices, builder.scalarInt(ElementType::I64, *bags.padding));
    rows = fn::where(fn::unsqueeze(isPadding, {1}), fn::scalarLike(rows, nothing), rows);
    counts = fn::cast(fn::logicalNot(isPadding), ElementType::I64);
  }
  Dim bagCount = offsets.dim(0) - Dim(bags.hasLastOffset ? 1 : 0);
  Tensor starts = bags.hasLastOffset ? fn::slice(offsets, Dims{0}, Dims{bagCount}, {0}) : offsets;
  // The bag of a place is the last one that begins at or before it.
  Tensor place = positions(builder, indices.dim(0), 0, 2);
  Tensor hasBegun = fn::cast(fn::le(fn::unsqueeze(starts, {0}), place), ElementType::I64);
  Tensor bagOf = fn::sub(fn::reduce(hasBegun, fn::Reduction::Sum, {1}, false), builder.scalarInt(ElementType::I64, 1));
  Tensor output, sizes;
  if (std::optional<int64_t> size = evenBag(bags, indices.dim(0))) {
    auto kind = bags.mode == 2 ? fn::Reduction::Max : fn::Reduction::Sum;
    output = fn::reduce(fn::reshape(rows, Dims{bagCount, Dim(*size), rows.dim(1)}), kind, {1}, false);
    sizes = fn::reduce(fn::reshape(counts, Dims{bagCount, Dim(*size)}), fn::Reduction::Sum, {1}, false);
  } else {
    Tensor tuples = fn::unsqueeze(bagOf, {1});
    auto reduction = bags.mode == 2 ? fn::ScatterReduction::Max : fn::ScatterReduction::Add;
    output = fn::scatterND(fn::full(builder, type, {bagCount, rows.dim(1)}, nothing), tuples, rows, reduction);
    sizes = fn::scatterND(fn::full(builder, ElementType::I64, {bagCount}, 0), tuples, counts, fn::ScatterReduction::Add);
  }
  Tensor one = builder.scalarInt(ElementType::I64, 1);
  if (bags.mode == 1)
    output = fn::div(output, fn::unsqueeze(fn::cast(fn::maximum(sizes, one), type), {1}));
  if (bags.mode == 2)
    output = fn::where(fn::unsqueeze(fn::lt(sizes, one), {1}), fn::scalarLike(output, 0), output);
  if (!call.ok())
    return Value::poison();
  // The last result says which rows were the largest, which only the gradient needs.
  return Value::tuple({call.result(output), call.result(bagOf), call.result(sizes), call.result(sizes)});
}

/// (weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset[, padding_idx])
Value embeddingBag(OpCall &call) {
  Bags bags{call.tensor(0), call.tensor(1), call.tensor(2), call.tensor(6)};
  bags.mode = call.integer(4);
  bags.hasLastOffset = call.flag(7);
  if (call.schema().parameters.size() > 8 && !call.isNone(8)) {
    bags.padding = call.integer(8);
    bool countsFromEnd = call.schema().overload == "padding_idx" && *bags.padding < 0;
    if (call.ok() && countsFromEnd && bags.weight.dim(0).isConstant())
      bags.padding = *bags.padding + bags.weight.dim(0).constant();
  }
  return bagResults(call, bags);
}

/// How many of the sorted numbers lie before each value.
Value sortedPlaces(OpCall &call, Tensor sorted, const Tensor &values, bool isRight, bool isNarrow) {
  if (!call.ok())
    return Value::poison();
  if (sorted.rank() < 1 || (sorted.rank() > 1 && sorted.rank() != values.rank()))
    return call.invalid("sorted numbers of rank " + std::to_string(sorted.rank()) + " for values of rank " + std::to_string(values.rank()));
  if (sorted.rank() > 1)
    sorted = fn::unsqueeze(sorted, {-2});
  Tensor each = fn::unsqueeze(values, {-1});
  Tensor isBefore = fn::logicalNot(isRight ? fn::gt(sorted, each) : fn::ge(sorted, each));
  ElementType type = isNarrow ? ElementType::I32 : ElementType::I64;
  return call.result(fn::reduce(fn::cast(isBefore, type), fn::Reduction::Sum, {-1}, false));
}

/// (sorted_sequence, self, *, out_int32, right, side, sorter)
Value searchSorted(OpCall &call) {
  Tensor sorted = call.tensor(0), values = call.tensor(1), sorter = call.tensor(5);
  bool isNarrow = call.flag(2), isRight = call.flag(3) || call.text(4) == "right";
  if (call.ok() && sorter)
    sorted = fn::gatherElements(sorted, sorter, -1);
  return sortedPlaces(call, sorted, values, isRight, isNarrow);
}
/// (self, boundaries, *, out_int32, right)
Value bucketize(OpCall &call) {
  Tensor values = call.tensor(0), boundaries = call.tensor(1);
  bool isNarrow = call.flag(2), isRight = call.flag(3);
  return sortedPlaces(call, boundaries, values, isRight, isNarrow);
}

/// (elements, test_elements, *, assume_unique, invert)
Value isIn(OpCall &call) {
  Tensor x = call.tensor(0), tested = call.tensor(1);
  bool isInverted = call.flag(3);
  if (!call.ok())
    return Value::poison();
  Tensor among = fn::eq(fn::unsqueeze(x, {-1}), fn::reshape(tested, Dims{tested.elements()}));
  Tensor found = fn::reduce(among, fn::Reduction::Any, {-1}, false);
  return call.result(isInverted ? fn::logicalNot(found) : found);
}

// Results whose sizes depend on data.

Value dataDependent(OpCall &call) {
  return call.unsupported("the size of the result depends on the values of a tensor, which a compiled model cannot express; use a form of "
                          "fixed size (torch.where with three arguments, masks, topk)");
}

/// The positions of elements that are not zero, one row each.
Value nonZero(OpCall &call) {
  Tensor x = call.tensor(0);
  if (!call.ok() || !x.knownNumbers())
    return call.ok() ? dataDependent(call) : Value::poison();
  Tensor places = fn::nonZero(x);
  return call.result(fn::transpose(places, {1, 0}));
}
/// The same as one vector for each axis.
Value nonZeroEach(OpCall &call) {
  Tensor x = call.tensor(0);
  if (!call.ok() || !x.knownNumbers())
    return call.ok() ? dataDependent(call) : Value::poison();
  Tensor places = fn::nonZero(x.rank() == 0 ? fn::reshape(x, Dims{1}) : x);
  Values results;
  for (int64_t axis = 0; axis < std::max<int64_t>(x.rank(), 1); ++axis)
    results.push_back(call.result(fn::reshape(fn::slice(places, Dims{axis}, Dims{axis + 1}, {0}), Dims{places.dim(1)})));
  return Value::list(std::move(results));
}

/// How often each number occurs.
Value binCount(OpCall &call) {
  Tensor x = call.tensor(0), weights = call.tensor(1);
  int64_t least = call.integer(2);
  if (!call.ok())
    return Value::poison();
  std::optional<std::vector<double>> known = x.knownNumbers();
  if (!known)
    return call.unsupported(
        "the number of bins depends on data; use one_hot(x, num_classes).sum(0) or scatter_add into zeros of a fixed size");
  for (double number : *known)
    least = std::max(least, static_cast<int64_t>(number) + 1);
  ElementType type = !weights ? ElementType::I64 : weights.type() == ElementType::F32 ? ElementType::F32 : ElementType::F64;
  Tensor updates = weights ? fn::cast(weights, type) : fn::full(call.builder(), type, x.dims(), 1);
  return call.result(fn::scatterElements(fn::full(call.builder(), type, {Dim(least)}, 0), x, updates, 0, fn::ScatterReduction::Add));
}

} // namespace

#define BAG "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False"
#define FOUR " -> (Tensor, Tensor, Tensor, Tensor)"

std::span<const OpEntry> lookupOps() {
  static constexpr OpEntry entries[] = {
      {"embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
       embedding},
      {"embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, " BAG ")" FOUR,
       embeddingBag},
      {"embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
       "Tensor? per_sample_weights, bool include_last_offset, int? padding_idx)" FOUR,
       embeddingBag},
      {"_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, " BAG
       ", int padding_idx=-1)" FOUR,
       embeddingBag},
      {"_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, " BAG
       ", int padding_idx=-1)" FOUR,
       embeddingBag},
      {"one_hot(Tensor self, int num_classes=-1) -> Tensor", oneHot},
      {"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, "
       "Tensor? sorter=None) -> Tensor",
       searchSorted},
      {"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, "
       "Tensor? sorter=None) -> Tensor",
       searchSorted},
      {"bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", bucketize},
      {"bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", bucketize},
      {"isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", isIn},
      {"isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor", isIn},
      {"isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor", isIn},
      {"nonzero(Tensor self) -> Tensor", nonZero},
      {"argwhere(Tensor self) -> Tensor", nonZero},
      {"nonzero_numpy(Tensor self) -> Tensor[]", nonZeroEach},
      {"where(Tensor condition) -> Tensor[]", nonZeroEach},
      {"bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor", binCount},
      {"_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
       dataDependent},
      {"unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
       "(Tensor, Tensor, Tensor)",
       dataDependent},
      {"unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
       dataDependent},
  };
  return entries;
}

} // namespace stator::torch
