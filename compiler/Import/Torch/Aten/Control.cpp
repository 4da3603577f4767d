// Merging of Values where control flow meets, and memory that branches write.
#include "compiler/Import/Torch/Aten/Control.h"

#include "compiler/Trace/ControlFlow.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace stator::torch {

namespace {

/// What the tensors of a region's results are, read while their memory still is as the region left it.
struct Read {
  trace::Tensor value;
  bool isUncertain = false; // out of date, see Context::mayShare
};
using Reads = std::map<const TensorView *, Read>;

void readAll(Context &context, const Value &value, Reads &reads) {
  if (value.isTensor())
    reads[value.asTensor().get()] = {context.readUncertain(value.asTensor()), value.asTensor()->storage()->isUncertain};
  if (const Values *items = value.items())
    for (const Value &item : *items)
      readAll(context, item, reads);
  if (value.isDict())
    for (const auto &[key, item] : value.asDict().items)
      readAll(context, item, reads);
}

/// One traced region: its values and the memory that it wrote.
struct Region {
  Values values;
  Reads reads;
  Context::Scope scope{0, {}};
  std::vector<trace::Tensor> finals; // of scope.written

  trace::Tensor finalOf(const std::shared_ptr<Storage> &storage) const {
    for (size_t i = 0; i < finals.size(); ++i)
      if (scope.written[i].first == storage)
        return finals[i];
    return storage->value;
  }
};

Region traceRegion(Context &context, const std::function<Values()> &run) {
  Region region;
  context.enterScope();
  region.values = run();
  if (context.builder().ok())
    for (const Value &value : region.values)
      readAll(context, value, region.reads);
  region.scope = context.leaveScope(region.finals);
  return region;
}

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

/// A result of control flow in the form of the value that it stands for.
Value wrapLike(Context &context, const Value &model, const trace::Tensor &result) {
  if (model.isInt())
    return Value::dataInteger(result);
  if (model.isFloat())
    return Value::dataReal(result);
  return model.isBool() ? Value::dataBoolean(result) : Value::tensor(context.make(result));
}

/// The memory that results of control flow may share with what is outside and among each other: a branch or a body that gives a variable a
/// tensor from outside, or two variables the same one.
class Sharing {
public:
  explicit Sharing(Context &context) : context(context) {}

  /// `result` may be `value`, which a region gave; scopes from `scope` on are inside.
  void note(const Value &result, const Value &value, const Region &region) {
    if (!result.isTensor() || !value.isTensor())
      return;
    const std::shared_ptr<Storage> &made = result.asTensor()->storage(), &given = value.asTensor()->storage();
    if (auto read = region.reads.find(value.asTensor().get()); read != region.reads.end() && read->second.isUncertain)
      context.markUncertain(made);
    if (given->scope < region.scope.id)
      return context.mayShare(made, given);
    for (const std::weak_ptr<Storage> &other : std::vector(given->mayShare))
      if (std::shared_ptr<Storage> outside = other.lock(); outside && outside->scope < region.scope.id)
        context.mayShare(made, outside);
    for (const auto &[storage, owner, twin] : notes)
      if (storage == given && owner == &region)
        context.mayShare(made, twin);
    notes.emplace_back(given, &region, made);
  }

private:
  Context &context;
  std::vector<std::tuple<std::shared_ptr<Storage>, const Region *, std::shared_ptr<Storage>>> notes;
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
  auto sideOf = [&](const Region &region, const Value &value, const Value &other, const trace::Tensor &otherTensor) {
    if (value.isTensor())
      return region.reads.at(value.asTensor().get()).value;
    if (value.isUninitialized()) // Never read; it only has to be of the right type.
      return trace::fn::full(builder, otherTensor.type(), otherTensor.dims(), 0);
    (void)other;
    return context.scalarTensor(value);
  };
  Merge collect(context, [&](const Value &a, const Value &b) {
    branches.enterThen();
    trace::Tensor known = !a.isUninitialized() ? trace::Tensor()
                          : b.isTensor()       ? right.reads.at(b.asTensor().get()).value
                                               : context.scalarTensor(b);
    thenResults.push_back(sideOf(left, a, b, known));
    branches.enterElse();
    known = !b.isUninitialized() ? trace::Tensor() : a.isTensor() ? left.reads.at(a.asTensor().get()).value : context.scalarTensor(a);
    elseResults.push_back(sideOf(right, b, a, known));
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

namespace {

/// The tensors and numbers in a value, in order.
void leavesOf(const Value &value, Values &leaves) {
  if (value.isTensor() || value.isScalar()) {
    leaves.push_back(value);
  } else if (const Values *items = value.items()) {
    for (const Value &item : *items)
      leavesOf(item, leaves);
  } else if (value.isDict()) {
    for (const auto &[key, item] : value.asDict().items)
      leavesOf(item, leaves);
  }
}

/// The value with these leaves.
Value withLeaves(const Value &model, const Values &leaves, size_t &next) {
  if (model.isTensor() || model.isScalar())
    return leaves[next++];
  if (const Values *items = model.items()) {
    Values rebuilt;
    for (const Value &item : *items)
      rebuilt.push_back(withLeaves(item, leaves, next));
    return model.isList() ? Value::list(std::move(rebuilt))
                          : Value::namedTuple(std::move(rebuilt), model.asTuple().fields, model.asTuple().typeName);
  }
  if (model.isDict()) {
    std::vector<std::pair<Value, Value>> rebuilt;
    for (const auto &[key, item] : model.asDict().items)
      rebuilt.emplace_back(key, withLeaves(item, leaves, next));
    return Value::dict(std::move(rebuilt));
  }
  return model;
}

/// Whether a loop may go on with `next` in the place of `model`; what is no leaf must be equal.
bool hasForm(const Value &model, const Value &next) {
  if (model.isPoison() || next.isPoison())
    return true;
  if (model.variant().index() != next.variant().index())
    return false;
  if (const Values *items = model.items()) {
    const Values &others = *next.items();
    return items->size() == others.size() && std::equal(items->begin(), items->end(), others.begin(), hasForm);
  }
  if (model.isDict()) {
    const auto &items = model.asDict().items, &others = next.asDict().items;
    return items.size() == others.size() && std::equal(items.begin(), items.end(), others.begin(), [](const auto &a, const auto &b) {
             return equalValues(a.first, b.first) == true && hasForm(a.second, b.second);
           });
  }
  return model.isTensor() || model.isScalar() || equalValues(model, next) == true;
}

/// How a loop passes on a variable: its value; or, when the body writes into it, itself, so that whoever shares its memory sees the write;
/// or its value although it is written, because the body also gives the variable another tensor.
enum class Passing { Value, Alias, ValueForGood };

/// What the attempts at a loop learn from each other.
struct LoopKnowledge {
  std::vector<std::shared_ptr<Storage>> carried;                   // memory from outside that the body writes
  std::vector<Passing> passing;                                    // of each leaf
  std::vector<bool> uncertain;                                     // whether a leaf is out of date after a step
  std::vector<std::pair<size_t, std::shared_ptr<Storage>>> shares; // leaves that are memory from outside after a step
  bool isNew = false;                                              // whether the last attempt added to this
  std::vector<std::pair<size_t, Value>> forms; // what the last attempt found in variables that had no value before the loop
};

/// A loop that is tried with what is known about it, and tells what was not.
class LoopAttempt {
public:
  LoopAttempt(Context &context, const Values &initial, LoopKnowledge &knowledge)
      : context(context), initial(initial), knowledge(knowledge), carried(knowledge.carried), passing(knowledge.passing) {
    knowledge.isNew = false;
    knowledge.forms.clear();
    for (const Value &value : initial)
      leavesOf(value, outer);
    passing.resize(outer.size(), Passing::Value);
    knowledge.uncertain.resize(outer.size());
    for (const Value &leaf : outer)
      isOuterUncertain.push_back(leaf.isTensor() && leaf.asTensor()->storage()->isUncertain);
  }

  /// Nothing: an error, or something was learnt and another attempt is to be made.
  std::optional<Values> run(const std::function<Value(const Values &)> &condition, const std::function<Values(const Values &)> &body) {
    trace::Builder &builder = context.builder();
    std::string location = builder.location();
    trace::Tensors start;
    for (size_t i = 0; i < outer.size(); ++i)
      if (passing[i] != Passing::Alias)
        start.push_back(tensorOf(outer[i], {}));
    for (const std::shared_ptr<Storage> &storage : carried)
      start.push_back(storage->value);
    trace::WhileBuilder loop(builder, start);
    if (!builder.ok())
      return std::nullopt;

    Region test = traceRegion(context, [&] { return Values{condition(enter(loop.enterCondition()))}; });
    if (!builder.ok() || test.values.front().isPoison())
      return std::nullopt;
    if (hasWrittenOthers(test)) {
      context.unsupported("the condition of a loop writes memory");
      return std::nullopt;
    }
    const Value &go = test.values.front();
    loop.finishCondition(go.isTensor() ? test.reads.at(go.asTensor().get()).value : context.scalarTensor(go));

    Region step = traceRegion(context, [&] { return body(enter(loop.enterBody())); });
    builder.setLocation(location);
    if (!builder.ok() || learntForms(step) || learnt(step))
      return std::nullopt;
    if (step.values.size() != initial.size() || !std::equal(initial.begin(), initial.end(), step.values.begin(), hasForm)) {
      context.unsupported(formError(step.values));
      return std::nullopt;
    }
    trace::Tensors next;
    Values last = leavesAfter(step);
    for (size_t i = 0; i < last.size(); ++i)
      if (passing[i] != Passing::Alias)
        next.push_back(tensorOf(last[i], step.reads));
    for (const std::shared_ptr<Storage> &storage : carried)
      next.push_back(step.finalOf(storage));
    trace::Tensors results = loop.finish(next);
    if (!builder.ok())
      return std::nullopt;
    size_t values = results.size() - carried.size();
    for (size_t i = 0; i < carried.size(); ++i)
      context.replace(carried[i], results[values + i]);
    Values rebuilt = rebuild(results);
    Sharing sharing(context);
    for (size_t i = 0; i < inner.size(); ++i)
      sharing.note(inner[i], last[i], step);
    return rebuilt;
  }

private:
  trace::Tensor tensorOf(const Value &leaf, const Reads &reads) {
    if (!leaf.isTensor())
      return context.scalarTensor(leaf);
    auto read = reads.find(leaf.asTensor().get());
    return read == reads.end() ? context.readUncertain(leaf.asTensor()) : read->second.value;
  }

  static Values leavesAfter(const Region &step) {
    Values leaves;
    for (const Value &value : step.values)
      leavesOf(value, leaves);
    return leaves;
  }

  /// The variables with these values.
  Values rebuild(const trace::Tensors &values) {
    inner.clear();
    size_t next = 0;
    for (size_t i = 0; i < outer.size(); ++i) {
      inner.push_back(passing[i] == Passing::Alias ? outer[i] : wrapLike(context, outer[i], values[next++]));
      if (outer[i].isTensor()) // At first it is that, and if there is no step, it stays that.
        context.mayShare(inner[i].asTensor()->storage(), outer[i].asTensor()->storage());
      for (const auto &[leaf, storage] : knowledge.shares)
        if (leaf == i && inner[i].isTensor())
          context.mayShare(inner[i].asTensor()->storage(), storage);
      if (outer[i].isTensor() && passing[i] != Passing::Alias && (knowledge.uncertain[i] || isOuterUncertain[i]))
        context.markUncertain(inner[i].asTensor()->storage());
    }
    Values rebuilt;
    next = 0;
    for (const Value &model : initial)
      rebuilt.push_back(withLeaves(model, inner, next));
    return rebuilt;
  }

  Values enter(const trace::Tensors &arguments) {
    for (size_t i = 0; i < carried.size(); ++i)
      context.replace(carried[i], arguments[arguments.size() - carried.size() + i]);
    return rebuild(arguments);
  }

  /// Whether a variable without a value before the loop has one after a step.
  bool learntForms(const Region &step) {
    for (size_t i = 0; i < initial.size() && i < step.values.size(); ++i)
      if (initial[i].isUninitialized() && !step.values[i].isUninitialized() && !step.values[i].isPoison())
        knowledge.forms.emplace_back(i, step.values[i]);
    knowledge.isNew |= !knowledge.forms.empty();
    return !knowledge.forms.empty();
  }

  /// Whether the body did what the attempt was not made for.
  bool learnt(const Region &step) {
    bool &isNew = knowledge.isNew;
    for (const auto &[storage, original] : step.scope.written)
      if (std::find(carried.begin(), carried.end(), storage) == carried.end()) {
        carried.push_back(storage);
        isNew = true;
      }
    Values last = leavesAfter(step);
    for (size_t i = 0; i < outer.size(); ++i) {
      bool isWritten = passing[i] == Passing::Value && outer[i].isTensor() && inner[i].asTensor()->storage()->isWritten;
      bool isReplaced =
          passing[i] == Passing::Alias && i < last.size() && !(last[i].isTensor() && last[i].asTensor() == outer[i].asTensor());
      if (isWritten || isReplaced)
        passing[i] = isWritten ? Passing::Alias : Passing::ValueForGood;
      isNew |= isWritten || isReplaced;
      if (passing[i] == Passing::Alias || i >= last.size() || !last[i].isTensor())
        continue;
      const std::shared_ptr<Storage> &given = last[i].asTensor()->storage();
      std::pair<size_t, std::shared_ptr<Storage>> share(i, given);
      if (given->scope < step.scope.id && std::find(knowledge.shares.begin(), knowledge.shares.end(), share) == knowledge.shares.end()) {
        knowledge.shares.push_back(std::move(share));
        isNew = true;
      }
      bool isUncertain = given->isUncertain;
      isNew |= isUncertain && !knowledge.uncertain[i];
      knowledge.uncertain[i] = knowledge.uncertain[i] || isUncertain;
    }
    return isNew;
  }

  bool hasWrittenOthers(const Region &region) {
    return std::any_of(region.scope.written.begin(), region.scope.written.end(),
                       [&](const auto &entry) { return std::find(carried.begin(), carried.end(), entry.first) == carried.end(); });
  }

  std::string formError(const Values &next) {
    for (size_t i = 0; i < next.size() && i < initial.size(); ++i)
      if (!hasForm(initial[i], next[i]))
        return "a value that a loop carries is " + initial[i].typeName() + " at first and " + next[i].typeName() +
               " after a step, with as many elements only if nothing grows; it must keep its form";
    return "the body of a loop gives " + std::to_string(next.size()) + " values for " + std::to_string(initial.size());
  }

  Context &context;
  const Values &initial;
  LoopKnowledge &knowledge;
  std::vector<std::shared_ptr<Storage>> &carried;
  std::vector<Passing> &passing;
  std::vector<bool> isOuterUncertain;
  Values outer, inner; // the leaves of `initial`, and what they are where tracing is
};

/// Zeros in the form of a value, for a variable that has none before the first step.
Value zerosLike(Context &context, const Value &model) {
  if (model.isTensor()) {
    const TensorRef &tensor = model.asTensor();
    return Value::tensor(context.make(trace::fn::full(context.builder(), tensor->type(), context.dims(tensor), 0)));
  }
  if (model.isInt())
    return Value::integer(0);
  if (model.isFloat())
    return Value::real(0);
  if (model.isBool())
    return Value::boolean(false);
  if (const Values *models = model.items()) {
    Values items;
    for (const Value &item : *models)
      items.push_back(zerosLike(context, item));
    return model.isList() ? Value::list(std::move(items))
                          : Value::namedTuple(std::move(items), model.asTuple().fields, model.asTuple().typeName);
  }
  if (model.isDict()) {
    std::vector<std::pair<Value, Value>> items;
    for (const auto &[key, item] : model.asDict().items)
      items.emplace_back(key, zerosLike(context, item));
    return Value::dict(std::move(items));
  }
  return model;
}

} // namespace

Values dynamicWhile(Context &context, const Values &initial, const std::function<Value(const Values &)> &condition,
                    const std::function<Values(const Values &)> &body) {
  LoopKnowledge knowledge;
  Values start;
  for (const Value &value : initial) { // In lists of their own: the body may change the lists of the program, and is traced again.
    Values leaves;
    leavesOf(value, leaves);
    size_t next = 0;
    start.push_back(withLeaves(value, leaves, next));
  }
  for (;;) {
    size_t uncertain = context.countUncertain();
    std::optional<Values> result = LoopAttempt(context, start, knowledge).run(condition, body);
    if (result)
      return *result;
    context.forgetUncertain(uncertain);
    if (!context.builder().ok() || !knowledge.isNew)
      return {};
    if (!knowledge.forms.empty())
      knowledge.passing.clear(), knowledge.uncertain.clear(), knowledge.shares.clear(); // They count leaves, of which there are more now.
    for (const auto &[i, form] : knowledge.forms)
      start[i] = zerosLike(context, form);
  }
}

} // namespace stator::torch
