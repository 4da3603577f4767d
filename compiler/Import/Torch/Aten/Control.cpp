// Merging of Values where the branches of an `if` on data meet.
#include "compiler/Import/Torch/Aten/Control.h"

#include "compiler/Import/Torch/Aten/Regions.h"
#include "compiler/Trace/ControlFlow.h"

#include <algorithm>

namespace stator::torch {

namespace {

/// Walks two values of the same structure; `leaf` gives the value in the place of two that are not known to be the same.
class Merge {
public:
  using Leaf = std::function<Value(const Value &, const Value &)>;
  Merge(Context &context, Leaf leaf) : context(context), leaf(std::move(leaf)) {}

  Value operator()(const Value &a, const Value &b) {
    if (a.isPoison() || b.isPoison())
      return Value::poison();
    if (a.isUninitialized() && b.isUninitialized())
      return a;
    bool isLeaf = (a.isTensor() || a.isScalar()) && a.variant().index() == b.variant().index();
    if (a.isUninitialized() || b.isUninitialized())
      return halfKnown(a, b);
    if (isLeaf)
      return equalValues(a, b) == true ? a : leaf(a, b);
    if (a.isList() && b.isList()) {
      if (&a.asList() == &b.asList())
        return a;
      return Value::list(items(a.asList().items, b.asList().items));
    }
    if (a.isTuple() && b.isTuple())
      return Value::namedTuple(items(a.asTuple().items, b.asTuple().items), a.asTuple().fields, a.asTuple().typeName);
    if (a.isDict() && b.isDict())
      return dict(a.asDict(), b.asDict());
    if (equalValues(a, b) == true)
      return a;
    return context.unsupported("a value is " + a.typeName() + " or " + b.typeName() + ", depending on data; it must have one form");
  }

private:
  /// What one side leaves open is what the other side gives; what was made inside of that leaves it as a result all the same.
  Value halfKnown(const Value &a, const Value &b) {
    const Value &given = a.isUninitialized() ? b : a;
    if (given.isTensor() || given.isData())
      return leaf(a, b);
    auto merged = [&](const Value &item) { return a.isUninitialized() ? (*this)(a, item) : (*this)(item, b); };
    Values items;
    if (given.items())
      for (const Value &item : *given.items())
        items.push_back(merged(item));
    if (given.isList())
      return Value::list(std::move(items));
    if (given.isTuple())
      return Value::namedTuple(std::move(items), given.asTuple().fields, given.asTuple().typeName);
    if (!given.isDict())
      return given;
    std::vector<std::pair<Value, Value>> entries;
    for (const auto &[key, item] : given.asDict().items)
      entries.emplace_back(key, merged(item));
    return Value::dict(std::move(entries));
  }

  Values items(const Values &a, const Values &b) {
    if (a.size() != b.size()) {
      context.unsupported("a list has " + std::to_string(a.size()) + " or " + std::to_string(b.size()) + " elements, depending on data");
      return {};
    }
    Values merged;
    for (size_t i = 0; i < a.size(); ++i)
      merged.push_back((*this)(a[i], b[i]));
    return merged;
  }

  Value dict(const DictObject &a, const DictObject &b) {
    if (&a == &b)
      return Value::dict(a.items);
    std::vector<std::pair<Value, Value>> merged;
    for (const auto &[key, value] : a.items) {
      auto other = std::find_if(b.items.begin(), b.items.end(),
                                [&, &key = key](const auto &entry) { return equalValues(entry.first, key) == true; });
      if (a.items.size() != b.items.size() || other == b.items.end())
        return context.unsupported("a dict has other keys, depending on data");
      merged.emplace_back(key, (*this)(value, other->second));
    }
    return Value::dict(std::move(merged));
  }

  Context &context;
  Leaf leaf;
};

/// The storages that either region wrote, in the order in which they did.
std::vector<std::shared_ptr<Storage>> writtenBy(const Region &a, const Region &b) {
  std::vector<std::shared_ptr<Storage>> storages;
  for (const Region *region : {&a, &b})
    for (const auto &[storage, original] : region->scope.written)
      if (std::find(storages.begin(), storages.end(), storage) == storages.end())
        storages.push_back(storage);
  return storages;
}

} // namespace

Values dynamicIf(Context &context, const BoolValue &condition, const std::function<Values()> &onTrue,
                 const std::function<Values()> &onFalse) {
  if (!condition.data)
    return condition.known ? onTrue() : onFalse();
  trace::Builder &builder = context.builder();
  std::string location = builder.location();
  trace::IfBuilder branches(builder, condition.data);
  branches.enterThen();
  size_t uncertain = context.countUncertain();
  Region left = traceRegion(context, onTrue);
  std::vector<std::shared_ptr<Storage>> afterLeft = context.forgetUncertain(uncertain); // Nothing to the other branch.
  branches.enterElse();
  Region right = builder.ok() ? traceRegion(context, onFalse) : Region();
  for (const std::shared_ptr<Storage> &storage : afterLeft)
    context.markUncertain(storage);
  builder.setLocation(location);
  if (builder.ok() && left.values.size() != right.values.size())
    context.invalid("the branches give " + std::to_string(left.values.size()) + " and " + std::to_string(right.values.size()) + " values");
  if (!builder.ok())
    return {};

  trace::Tensors thenResults, elseResults;
  auto sideOf = [&](const Region &region, const Value &value, const trace::Tensor &otherTensor) {
    if (value.isTensor())
      return region.reads.at(value.asTensor().get()).value;
    if (value.isUninitialized()) // Never read; it only has to be of the right type.
      return trace::fn::full(builder, otherTensor.type(), otherTensor.dims(), 0);
    return context.scalarTensor(value);
  };
  Merge collect(context, [&](const Value &a, const Value &b) {
    branches.enterThen();
    trace::Tensor known = !a.isUninitialized() ? trace::Tensor()
                          : b.isTensor()       ? right.reads.at(b.asTensor().get()).value
                                               : context.scalarTensor(b);
    thenResults.push_back(sideOf(left, a, known));
    branches.enterElse();
    known = !b.isUninitialized() ? trace::Tensor() : a.isTensor() ? left.reads.at(a.asTensor().get()).value : context.scalarTensor(a);
    elseResults.push_back(sideOf(right, b, known));
    return Value::poison();
  });
  for (size_t i = 0; i < left.values.size() && builder.ok(); ++i)
    collect(left.values[i], right.values[i]);
  std::vector<std::shared_ptr<Storage>> storages = writtenBy(left, right);
  for (const std::shared_ptr<Storage> &storage : storages) {
    thenResults.push_back(left.finalOf(storage));
    elseResults.push_back(right.finalOf(storage));
  }
  trace::Tensors results = branches.finish(thenResults, elseResults);
  if (!builder.ok())
    return {};

  size_t next = 0;
  Sharing sharing(context);
  Merge rebuild(context, [&](const Value &a, const Value &b) {
    Value result = wrapLike(context, a.isUninitialized() ? b : a, results[next++]);
    sharing.note(result, a, left);
    sharing.note(result, b, right);
    return result;
  });
  Values merged;
  for (size_t i = 0; i < left.values.size(); ++i)
    merged.push_back(rebuild(left.values[i], right.values[i]));
  for (const std::shared_ptr<Storage> &storage : storages)
    context.replace(storage, results[next++]);
  return merged;
}

} // namespace stator::torch
