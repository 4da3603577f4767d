//===- BuiltinDicts.cpp - dicts -------------------------------------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"

namespace stator::torch::script {

const Value *findItem(const DictObject &dict, const Value &key) {
  for (const auto &[other, value] : dict.items)
    if (equalValues(other, key) == true)
      return &value;
  return nullptr;
}

void setItem(DictObject &dict, const Value &key, const Value &value) {
  for (auto &[other, item] : dict.items)
    if (equalValues(other, key) == true) {
      item = value;
      return;
    }
  dict.items.emplace_back(key, value);
}

void noteMutation(BuiltinCall &call) {
  const Value &target = call[0];
  const void *container = target.isList() ? static_cast<const void *>(&target.asList()) : &target.asDict();
  if (call.evaluator.module().noteMutation(container) && call.evaluator.tensors().isInsideScope())
    call.evaluator.unsupported("an attribute that is a list or dict is changed in a branch that depends on data");
}

namespace {

bool isDictCall(BuiltinCall &call, size_t least) { return call.size() >= least && call[0].isDict(); }

std::optional<Value> keys(BuiltinCall &call) {
  if (!isDictCall(call, 1))
    return std::nullopt;
  Values items;
  for (const auto &[key, value] : call[0].asDict().items)
    items.push_back(key);
  return Value::list(std::move(items));
}

std::optional<Value> values(BuiltinCall &call) {
  if (!isDictCall(call, 1))
    return std::nullopt;
  Values items;
  for (const auto &[key, value] : call[0].asDict().items)
    items.push_back(value);
  return Value::list(std::move(items));
}

std::optional<Value> itemsOf(BuiltinCall &call) {
  if (!isDictCall(call, 1))
    return std::nullopt;
  Values items;
  for (const auto &[key, value] : call[0].asDict().items)
    items.push_back(Value::tuple({key, value}));
  return Value::list(std::move(items));
}

std::optional<Value> get(BuiltinCall &call) {
  if (!isDictCall(call, 2))
    return std::nullopt;
  const Value *found = findItem(call[0].asDict(), call[1]);
  return found ? *found : call.given(2, "default_value");
}

std::optional<Value> setDefault(BuiltinCall &call) {
  if (!isDictCall(call, 3))
    return std::nullopt;
  if (const Value *found = findItem(call[0].asDict(), call[1]))
    return *found;
  noteMutation(call);
  setItem(call[0].asDict(), call[1], call[2]);
  return call[2];
}

std::optional<Value> update(BuiltinCall &call) {
  if (!isDictCall(call, 2) || !call[1].isDict())
    return std::nullopt;
  noteMutation(call);
  auto more = call[1].asDict().items;
  for (auto &[key, value] : more)
    setItem(call[0].asDict(), key, value);
  return Value::none();
}

std::optional<Value> popItem(BuiltinCall &call) {
  if (!isDictCall(call, 1))
    return std::nullopt;
  auto &items = call[0].asDict().items;
  if (items.empty())
    return call.evaluator.raise("popitem(): the dict is empty");
  noteMutation(call);
  Value last = Value::tuple({items.back().first, items.back().second});
  items.pop_back();
  return last;
}

/// dict() of nothing, of a dict, of a list of pairs.
std::optional<Value> dict(BuiltinCall &call) {
  Value made = Value::dict();
  if (call.size() == 0)
    return made;
  if (call[0].isDict())
    return Value::dict(call[0].asDict().items);
  if (!call[0].isList())
    return std::nullopt;
  for (const Value &item : call[0].asList().items) {
    const Values *pair = item.items();
    if (!pair || pair->size() != 2)
      return std::nullopt;
    setItem(made.asDict(), (*pair)[0], (*pair)[1]);
  }
  return made;
}

} // namespace

llvm::ArrayRef<BuiltinEntry> dictBuiltins() {
  static const BuiltinEntry entries[] = {
      {"keys", keys},     {"values", values},   {"items", itemsOf}, {"get", get},        {"setdefault", setDefault},
      {"update", update}, {"popitem", popItem}, {"dict", dict},     {"word.dict", dict},
  };
  return entries;
}

} // namespace stator::torch::script
