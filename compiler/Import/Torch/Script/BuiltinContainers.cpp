//===- BuiltinContainers.cpp - lists, tuples and dicts -----------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"

#include <algorithm>

namespace stator::torch::script {

namespace {

bool isListCall(BuiltinCall &call, size_t least) { return call.size() >= least && call[0].isList(); }
bool isDictCall(BuiltinCall &call, size_t least) { return call.size() >= least && call[0].isDict(); }

/// An index from 0 to size - 1; nothing after an error.
std::optional<size_t> position(BuiltinCall &call, const Value &index, size_t size) {
  std::optional<int64_t> number = call.integer(index, "the index");
  if (!number)
    return std::nullopt;
  int64_t at = *number < 0 ? *number + int64_t(size) : *number;
  if (at < 0 || at >= int64_t(size)) {
    call.evaluator.raise("index " + std::to_string(*number) + " is out of range for a length of " + std::to_string(size));
    return std::nullopt;
  }
  return size_t(at);
}

std::optional<Value> getItem(BuiltinCall &call) {
  if (call.size() != 2)
    return std::nullopt;
  if (const Values *items = call[0].items()) {
    std::optional<size_t> at = position(call, call[1], items->size());
    return at ? (*items)[*at] : Value::poison();
  }
  if (call[0].isString()) {
    std::optional<size_t> at = position(call, call[1], call[0].asString().size());
    return at ? Value::string(call[0].asString().substr(*at, 1)) : Value::poison();
  }
  if (call[0].isDict()) {
    if (const Value *value = findItem(call[0].asDict(), call[1]))
      return *value;
    return call.evaluator.raise("KeyError: " + textOf(call[1], true));
  }
  return std::nullopt;
}

std::optional<Value> setItemOp(BuiltinCall &call) {
  if (call.size() != 3)
    return std::nullopt;
  if (call[0].isPoison() || call[1].isPoison())
    return Value::poison();
  if (call[0].isList()) {
    std::optional<size_t> at = position(call, call[1], call[0].asList().items.size());
    if (!at)
      return Value::poison();
    noteMutation(call);
    call[0].asList().items[*at] = call[2];
    return call[0];
  }
  if (call[0].isDict()) {
    if (call[1].isData())
      return call.evaluator.unsupported("the key of a dict depends on data");
    noteMutation(call);
    setItem(call[0].asDict(), call[1], call[2]);
    return Value::none();
  }
  return std::nullopt;
}

std::optional<Value> append(BuiltinCall &call) {
  if (call.size() == 2 && call[0].isPoison())
    return Value::poison();
  if (!isListCall(call, 2))
    return std::nullopt;
  if (call[0].asList().items.size() >= maxElements)
    return call.evaluator.fail(StatusCode::ResourceExhausted, "a list grows beyond 500000 elements");
  noteMutation(call);
  call[0].asList().items.push_back(call[1]);
  return call[0];
}

std::optional<Value> extend(BuiltinCall &call) {
  if (!isListCall(call, 2) || !call[1].items())
    return std::nullopt;
  noteMutation(call);
  Values more = *call[1].items();
  Values &items = call[0].asList().items;
  if (items.size() + more.size() > maxElements)
    return call.evaluator.fail(StatusCode::ResourceExhausted, "a list grows beyond 500000 elements");
  items.insert(items.end(), more.begin(), more.end());
  return Value::none();
}

/// `list += other`, which is printed like the operator on tensors.
std::optional<Value> addInPlace(BuiltinCall &call) {
  std::optional<Value> done = extend(call);
  return done && done->isNone() ? call[0] : done;
}

std::optional<Value> insert(BuiltinCall &call) {
  if (!isListCall(call, 3))
    return std::nullopt;
  std::optional<int64_t> index = call.integer(call[1], "the index");
  if (!index)
    return Value::poison();
  noteMutation(call);
  Values &items = call[0].asList().items;
  int64_t size = int64_t(items.size());
  int64_t at = std::clamp<int64_t>(*index < 0 ? *index + size : *index, 0, size);
  items.insert(items.begin() + at, call[2]);
  return Value::none();
}

std::optional<Value> pop(BuiltinCall &call) {
  if (isDictCall(call, 2)) {
    auto &items = call[0].asDict().items;
    auto found = llvm::find_if(items, [&](const auto &item) { return equalValues(item.first, call[1]) == true; });
    if (found == items.end())
      return call.size() > 2 ? call[2] : call.evaluator.raise("KeyError: " + textOf(call[1], true));
    noteMutation(call);
    Value value = found->second;
    items.erase(found);
    return value;
  }
  if (!isListCall(call, 1))
    return std::nullopt;
  Values &items = call[0].asList().items;
  std::optional<size_t> at = position(call, call.size() > 1 ? call[1] : Value::integer(-1), items.size());
  if (!at)
    return Value::poison();
  noteMutation(call);
  Value value = items[*at];
  items.erase(items.begin() + int64_t(*at));
  return value;
}

std::optional<Value> deleteItem(BuiltinCall &call) {
  if (call.size() != 2 || !(call[0].isList() || call[0].isDict()))
    return std::nullopt;
  std::optional<Value> popped = pop(call);
  return popped && popped->isPoison() ? popped : Value::none();
}

/// The place of the first equal element; nothing after an error, the size when there is none.
std::optional<size_t> search(BuiltinCall &call, const Values &items, const Value &wanted) {
  for (size_t i = 0; i < items.size(); ++i) {
    Value equal = items[i].isTensor() || wanted.isTensor() ? Value::boolean(equalValues(items[i], wanted) == true)
                                                           : areEqual(call.evaluator, items[i], wanted);
    if (!equal.knownBool()) {
      if (!equal.isPoison())
        call.evaluator.unsupported("`" + call.name.str() + "` depends on data");
      return std::nullopt;
    }
    if (*equal.knownBool())
      return i;
  }
  return items.size();
}

std::optional<Value> removeItem(BuiltinCall &call) {
  if (!isListCall(call, 2))
    return std::nullopt;
  Values &items = call[0].asList().items;
  std::optional<size_t> at = search(call, items, call[1]);
  if (!at)
    return Value::poison();
  if (*at == items.size())
    return call.evaluator.raise("list.remove(x): x not in list");
  noteMutation(call);
  items.erase(items.begin() + int64_t(*at));
  return Value::none();
}

std::optional<Value> indexOf(BuiltinCall &call) {
  if (!isListCall(call, 2) || call.size() != 2 || call[1].isList())
    return std::nullopt;
  std::optional<size_t> at = search(call, call[0].asList().items, call[1]);
  if (!at)
    return Value::poison();
  if (*at == call[0].asList().items.size())
    return call.evaluator.raise(textOf(call[1], true) + " is not in list");
  return Value::integer(int64_t(*at));
}

std::optional<Value> countOf(BuiltinCall &call) {
  if (!isListCall(call, 2))
    return std::nullopt;
  int64_t count = 0;
  for (const Value &item : call[0].asList().items) {
    Value equal = areEqual(call.evaluator, item, call[1]);
    if (!equal.knownBool())
      return equal.isPoison() ? equal : call.evaluator.unsupported("`count` depends on data");
    count += *equal.knownBool();
  }
  return Value::integer(count);
}

std::optional<Value> contains(BuiltinCall &call) {
  if (call.size() != 2)
    return std::nullopt;
  if (call[0].isString() && call[1].isString())
    return Value::boolean(call[0].asString().find(call[1].asString()) != std::string::npos);
  if (call[0].isDict())
    return Value::boolean(findItem(call[0].asDict(), call[1]) != nullptr);
  const Values *items = call[0].items();
  if (!items)
    return std::nullopt;
  // Not in it, that is: equal to none.
  Values equals;
  for (const Value &item : *items) {
    Value equal = areEqual(call.evaluator, item, call[1]);
    if (equal.isPoison() || equal.knownBool() == true)
      return equal;
    equals.push_back(equal);
  }
  Values arguments{Value::list(std::move(equals))};
  BuiltinCall inner{call.evaluator, "any", arguments, call.keywords};
  return callBuiltin(inner);
}

std::optional<Value> len(BuiltinCall &call) {
  if (call.size() != 1)
    return std::nullopt;
  if (call[0].isString())
    return Value::integer(int64_t(call[0].asString().size()));
  if (const Values *items = call[0].items())
    return Value::integer(int64_t(items->size()));
  if (call[0].isDict())
    return Value::integer(int64_t(call[0].asDict().items.size()));
  if (call[0].isTensor()) {
    // That of one that may still be empty is a size like others.
    if (call.evaluator.module().isStillEmpty(call[0].asTensor())) {
      Values arguments{call[0], Value::integer(0)};
      BuiltinCall size{call.evaluator, "size", arguments, call.keywords};
      return callBuiltin(size);
    }
    trace::Dims dims = call.evaluator.tensors().dims(call[0].asTensor());
    return dims.empty() ? call.evaluator.raise("len() of a 0-d tensor") : Value::integer(dims[0]);
  }
  return std::nullopt;
}

/// list[start:end:step], also of strings and tuples.
std::optional<Value> slice(BuiltinCall &call) {
  if (call.size() < 1 || !(call[0].items() || call[0].isString()))
    return std::nullopt;
  int64_t size = int64_t(call[0].isString() ? call[0].asString().size() : call[0].items()->size());
  auto bound = [&](const Value &value, int64_t absent) -> std::optional<int64_t> {
    return value.isNone() ? std::optional(absent) : call.integer(value, "a bound");
  };
  std::optional<int64_t> step = bound(call.given(3, "step"), 1);
  if (!step)
    return Value::poison();
  if (*step == 0)
    return call.evaluator.raise("slice step cannot be zero");
  std::optional<int64_t> start = bound(call.given(1, "start"), *step > 0 ? 0 : size - 1);
  std::optional<int64_t> end = bound(call.given(2, "end"), *step > 0 ? size : -size - 1);
  if (!start || !end)
    return Value::poison();
  int64_t low = *step > 0 ? 0 : -1, high = *step > 0 ? size : size - 1;
  int64_t from = std::clamp(*start < 0 ? *start + size : *start, low, high);
  int64_t to = std::clamp(*end < 0 ? *end + size : *end, low, high);
  Values items;
  std::string text;
  for (int64_t i = from; *step > 0 ? i < to : i > to; i += *step) {
    if (call[0].isString())
      text += call[0].asString()[size_t(i)];
    else
      items.push_back((*call[0].items())[size_t(i)]);
    if (*step > size || *step < -size)
      break;
  }
  return call[0].isString() ? Value::string(std::move(text))
         : call[0].isList() ? Value::list(std::move(items))
                            : Value::tuple(std::move(items));
}

std::optional<Value> list(BuiltinCall &call) {
  if (call.size() == 0)
    return Value::list({});
  if (const Values *items = call[0].items())
    return Value::list(*items);
  Values made;
  if (call[0].isString()) {
    for (char c : call[0].asString())
      made.push_back(Value::string(std::string(1, c)));
    return Value::list(std::move(made));
  }
  if (!call[0].isDict())
    return std::nullopt;
  for (const auto &[key, value] : call[0].asDict().items)
    made.push_back(key);
  return Value::list(std::move(made));
}

std::optional<Value> copy(BuiltinCall &call) {
  if (call.size() != 1)
    return std::nullopt;
  if (call[0].isList())
    return Value::list(call[0].asList().items);
  if (call[0].isDict())
    return Value::dict(call[0].asDict().items);
  return std::nullopt;
}

std::optional<Value> clear(BuiltinCall &call) {
  if (call.size() != 1 || !(call[0].isList() || call[0].isDict()))
    return std::nullopt;
  noteMutation(call);
  if (call[0].isList())
    call[0].asList().items.clear();
  else
    call[0].asDict().items.clear();
  return Value::none();
}

std::optional<Value> reverse(BuiltinCall &call) {
  if (call.size() != 1 || !call[0].isList())
    return std::nullopt;
  noteMutation(call);
  std::reverse(call[0].asList().items.begin(), call[0].asList().items.end());
  return Value::none();
}

/// The elements in ascending order; nothing after an error.
std::optional<Values> sorted(BuiltinCall &call, Values items, bool descending) {
  // Every pair is compared beforehand in effect: a sort must not see an order that changes under it.
  for (const Value &item : items)
    if (item.isData() || item.isTensor() || (item.isInt() && !item.knownInt())) {
      call.evaluator.unsupported("sorting depends on data");
      return std::nullopt;
    }
  std::stable_sort(items.begin(), items.end(), [&](const Value &a, const Value &b) {
    return isLess(call.evaluator, descending ? b : a, descending ? a : b).knownBool().value_or(false);
  });
  return items;
}

std::optional<Value> sortedOp(BuiltinCall &call) {
  if (!isListCall(call, 1))
    return std::nullopt;
  std::optional<Values> items = sorted(call, call[0].asList().items, call.given(1, "reverse").knownBool().value_or(false));
  return items ? Value::list(std::move(*items)) : Value::poison();
}

std::optional<Value> sort(BuiltinCall &call) {
  if (!isListCall(call, 1))
    return std::nullopt;
  std::optional<Values> items = sorted(call, call[0].asList().items, call.given(1, "reverse").knownBool().value_or(false));
  if (!items)
    return Value::poison();
  noteMutation(call);
  call[0].asList().items = std::move(*items);
  return Value::none();
}

/// Of a list of numbers.
std::optional<Value> sum(BuiltinCall &call) {
  if (call.size() != 1 || !call[0].isList() || llvm::any_of(call[0].asList().items, [](const Value &item) { return !item.isScalar(); }))
    return std::nullopt;
  Value total = Value::integer(0);
  for (const Value &item : call[0].asList().items) {
    Values pair{total, item.isBool() ? toInt(call.evaluator, item) : item};
    BuiltinCall inner{call.evaluator, "add", pair, call.keywords};
    std::optional<Value> next = callBuiltin(inner);
    if (!next || next->isPoison())
      return Value::poison();
    total = *next;
  }
  return total;
}

/// The number of elements of range(low, high, step), and an element of it.
std::optional<Value> rangeLength(BuiltinCall &call) {
  if (call.size() != 3 || !call[0].isInt() || !call[1].isInt())
    return std::nullopt;
  std::optional<int64_t> step = call.integer(call[2], "the step");
  if (!step)
    return Value::poison();
  if (*step == 0)
    return call.evaluator.raise("range() arg 3 must not be zero");
  auto run = [&](const char *name, const Value &a, const Value &b) {
    Values arguments{a, b};
    std::vector<KeywordArgument> none;
    BuiltinCall inner{call.evaluator, name, arguments, none};
    return callBuiltin(inner).value_or(Value::poison());
  };
  Value length = *step > 0 ? run("sub", call[1], call[0]) : run("sub", call[0], call[1]);
  int64_t size = *step > 0 ? *step : -*step;
  length = run("floordiv", run("add", length, Value::integer(size - 1)), Value::integer(size));
  return run("prim.max", length, Value::integer(0));
}

std::optional<Value> deriveIndex(BuiltinCall &call) {
  if (call.size() != 3)
    return std::nullopt;
  Values product{call[0], call[2]};
  BuiltinCall multiply{call.evaluator, "mul", product, call.keywords};
  Values total{call[1], callBuiltin(multiply).value_or(Value::poison())};
  BuiltinCall add{call.evaluator, "add", total, call.keywords};
  return callBuiltin(add);
}

} // namespace

llvm::ArrayRef<BuiltinEntry> containerBuiltins() {
  static const BuiltinEntry entries[] = {
      {"__getitem__", getItem},
      {"_set_item", setItemOp, true},
      {"append", append, true},
      {"extend", extend},
      {"add_", addInPlace, true},
      {"insert", insert},
      {"pop", pop},
      {"Delete", deleteItem},
      {"__delitem__", deleteItem},
      {"remove", removeItem},
      {"index", indexOf},
      {"count", countOf},
      {"__contains__", contains},
      {"len", len},
      {"word.len", len},
      {"slice", slice},
      {"list", list},
      {"word.list", list},
      {"copy", copy},
      {"clear", clear},
      {"reverse", reverse},
      {"sorted", sortedOp},
      {"word.sorted", sortedOp},
      {"sort", sort},
      {"sum", sum},
      {"__range_length", rangeLength},
      {"__derive_index", deriveIndex},
  };
  return entries;
}

} // namespace stator::torch::script
