// Loops on data. What a loop carries is found by trying: the body is traced, and again when it did what was not expected.
#include "compiler/Import/Torch/Aten/Control.h"

#include "compiler/Import/Torch/Aten/Regions.h"
#include "compiler/Trace/ControlFlow.h"

#include <algorithm>

namespace stator::torch {

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
