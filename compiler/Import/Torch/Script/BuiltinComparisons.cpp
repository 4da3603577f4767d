//===- BuiltinComparisons.cpp - equality, order, identity --------------------===//
//
// Two sizes that are not known to be equal or different are compared when the
// model runs; what such a bool says about sizes is noted, in case the model
// raises an error unless it holds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::script {

namespace fn = trace::fn;

Value negated(Evaluator &evaluator, const Value &condition) {
  if (!condition.isBool())
    return condition.isPoison() ? condition : evaluator.invalid("a value of type " + condition.typeName() + " is no bool");
  if (!condition.isData())
    return Value::boolean(!condition.asBool().known);
  Value result = itemOf(evaluator, fn::logicalNot(condition.asBool().data));
  if (result.isBool() && result.isData())
    evaluator.noteNegation(condition.asBool(), result.asBool());
  return result;
}

static bool isSize(const Value &value) { return value.isInt() && !value.isData(); }

static Value scalarsEqual(Evaluator &evaluator, const Value &a, const Value &b) {
  if (isSize(a) && isSize(b)) {
    trace::BuilderImpl &impl = evaluator.tensors().builder().impl();
    const trace::Dim &x = a.asInt().dim, &y = b.asInt().dim;
    if (std::optional<bool> known = impl.isEqual(x.expr(), y.expr()))
      return Value::boolean(*known);
    Value result = itemOf(evaluator, fn::eq(evaluator.tensors().scalarTensor(a), evaluator.tensors().scalarTensor(b)));
    if (result.isBool() && result.isData())
      evaluator.noteFact(result.asBool(), {SizeFact::Kind::Equal, x, y}, false);
    return result;
  }
  trace::Tensor x = evaluator.tensors().scalarTensor(a), y = evaluator.tensors().scalarTensor(b);
  return itemOf(evaluator, fn::eq(x, y));
}

/// All of some bools.
static Value allOf(Evaluator &evaluator, const Values &conditions) {
  Value result = Value::boolean(true);
  for (const Value &condition : conditions) {
    if (condition.isPoison())
      return condition;
    if (std::optional<bool> known = condition.knownBool()) {
      if (!*known)
        return condition;
      continue;
    }
    if (result.knownBool()) {
      result = condition;
      continue;
    }
    Value both = itemOf(evaluator, fn::logicalAnd(result.asBool().data, condition.asBool().data));
    if (both.isBool() && both.isData())
      evaluator.noteCombination(result.asBool(), condition.asBool(), both.asBool(), true);
    result = both;
  }
  return result;
}

Value areEqual(Evaluator &evaluator, const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (a.isScalar() && b.isScalar()) {
    if (!a.isData() && !b.isData() && !(isSize(a) && isSize(b)))
      if (std::optional<bool> known = equalValues(a, b))
        return Value::boolean(*known);
    return scalarsEqual(evaluator, a, b);
  }
  if ((a.isList() && b.isList()) || (a.isTuple() && b.isTuple())) {
    const Values &left = *a.items(), &right = *b.items();
    if (left.size() != right.size())
      return Value::boolean(false);
    Values conditions;
    for (size_t i = 0; i < left.size(); ++i)
      conditions.push_back(areEqual(evaluator, left[i], right[i]));
    return allOf(evaluator, conditions);
  }
  if (a.isObject() && b.isObject())
    return Value::boolean(a.asObject() == b.asObject());
  if (std::optional<bool> known = equalValues(a, b))
    return Value::boolean(*known);
  return evaluator.unsupported("comparing " + a.typeName() + " with " + b.typeName() + " is not supported where it depends on data");
}

Value isLess(Evaluator &evaluator, const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (a.isString() && b.isString())
    return Value::boolean(a.asString() < b.asString());
  if ((a.isList() && b.isList()) || (a.isTuple() && b.isTuple())) {
    const Values &left = *a.items(), &right = *b.items();
    for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
      std::optional<bool> equal = areEqual(evaluator, left[i], right[i]).knownBool();
      if (!equal)
        return evaluator.unsupported("the order of two lists depends on data");
      if (!*equal)
        return isLess(evaluator, left[i], right[i]);
    }
    return Value::boolean(left.size() < right.size());
  }
  if (!a.isScalar() || !b.isScalar())
    return evaluator.invalid("cannot compare " + a.typeName() + " with " + b.typeName());
  if (isSize(a) && isSize(b)) {
    trace::BuilderImpl &impl = evaluator.tensors().builder().impl();
    const trace::Dim &x = a.asInt().dim, &y = b.asInt().dim;
    if (std::optional<bool> known = impl.isLess(x.expr(), y.expr()))
      return Value::boolean(*known);
    Value result = itemOf(evaluator, fn::lt(evaluator.tensors().scalarTensor(a), evaluator.tensors().scalarTensor(b)));
    if (result.isBool() && result.isData())
      evaluator.noteFact(result.asBool(), {SizeFact::Kind::AtMost, x + trace::Dim(1), y}, false);
    return result;
  }
  std::optional<double> x = a.knownNumber(), y = b.knownNumber();
  if (x && y)
    return Value::boolean(*x < *y);
  return itemOf(evaluator, fn::lt(evaluator.tensors().scalarTensor(a), evaluator.tensors().scalarTensor(b)));
}

namespace {

bool holdsTensor(const Value &value) {
  if (value.isTensor())
    return true;
  const Values *items = value.items();
  return items && llvm::any_of(*items, holdsTensor);
}

/// Not for tensors, which compare element by element.
bool isOurs(BuiltinCall &call) { return call.size() == 2 && call.keywords.empty() && !holdsTensor(call[0]) && !holdsTensor(call[1]); }

std::optional<Value> eq(BuiltinCall &call) {
  if (!isOurs(call))
    return std::nullopt;
  return areEqual(call.evaluator, call[0], call[1]);
}
std::optional<Value> ne(BuiltinCall &call) {
  if (!isOurs(call))
    return std::nullopt;
  return negated(call.evaluator, areEqual(call.evaluator, call[0], call[1]));
}
std::optional<Value> lt(BuiltinCall &call) {
  if (!isOurs(call))
    return std::nullopt;
  return isLess(call.evaluator, call[0], call[1]);
}
std::optional<Value> gt(BuiltinCall &call) {
  if (!isOurs(call))
    return std::nullopt;
  return isLess(call.evaluator, call[1], call[0]);
}

/// a <= b is not b < a, except for NaN.
Value isAtMost(Evaluator &evaluator, const Value &a, const Value &b) {
  if (a.isFloat() || b.isFloat()) {
    std::optional<double> x = a.knownNumber(), y = b.knownNumber();
    if (x && y)
      return Value::boolean(*x <= *y);
    if (a.isScalar() && b.isScalar())
      return itemOf(evaluator, fn::le(evaluator.tensors().scalarTensor(a), evaluator.tensors().scalarTensor(b)));
  }
  Value less = isLess(evaluator, b, a);
  return less.isPoison() ? less : negated(evaluator, less);
}
std::optional<Value> le(BuiltinCall &call) {
  if (!isOurs(call))
    return std::nullopt;
  return isAtMost(call.evaluator, call[0], call[1]);
}
std::optional<Value> ge(BuiltinCall &call) {
  if (!isOurs(call))
    return std::nullopt;
  return isAtMost(call.evaluator, call[1], call[0]);
}

std::optional<Value> notOf(BuiltinCall &call) {
  if (call.size() != 1 || call[0].isTensor())
    return std::nullopt;
  return negated(call.evaluator, call[0]);
}

bool isIdentical(const Value &a, const Value &b) {
  if (a.isTensor() && b.isTensor())
    return a.asTensor() == b.asTensor();
  if (a.isList() && b.isList())
    return &a.asList() == &b.asList();
  if (a.isDict() && b.isDict())
    return &a.asDict() == &b.asDict();
  if (a.isObject() && b.isObject())
    return a.asObject() == b.asObject();
  if (a.variant().index() != b.variant().index())
    return false;
  return equalValues(a, b) == true;
}
std::optional<Value> is(BuiltinCall &call) {
  if (call.size() != 2)
    return std::nullopt;
  return Value::boolean(isIdentical(call[0], call[1]));
}
std::optional<Value> isNot(BuiltinCall &call) {
  if (call.size() != 2)
    return std::nullopt;
  return Value::boolean(!isIdentical(call[0], call[1]));
}

/// any() and all() of a list of bools or ints.
template <bool isAll>
std::optional<Value> quantifier(BuiltinCall &call) {
  if (call.size() != 1 || !call[0].isList())
    return std::nullopt;
  Values conditions;
  for (const Value &item : call[0].asList().items) {
    if (item.isTensor())
      return std::nullopt;
    Value condition = toBool(call.evaluator, item);
    conditions.push_back(isAll ? condition : negated(call.evaluator, condition));
  }
  Value result = allOf(call.evaluator, conditions);
  return isAll || result.isPoison() ? result : negated(call.evaluator, result);
}

} // namespace

llvm::ArrayRef<BuiltinEntry> comparisonBuiltins() {
  static const BuiltinEntry entries[] = {
      {"eq", eq},
      {"ne", ne},
      {"lt", lt},
      {"gt", gt},
      {"le", le},
      {"ge", ge},
      {"__not__", notOf},
      {"__is__", is},
      {"__isnot__", isNot},
      {"any", quantifier<false>},
      {"all", quantifier<true>},
  };
  return entries;
}

} // namespace stator::torch::script
