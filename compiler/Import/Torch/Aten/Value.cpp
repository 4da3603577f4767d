// Values: questions about them, and their equality as Python sees it.
#include "compiler/Import/Torch/Aten/Tensor.h"

namespace stator::torch {

std::optional<int64_t> Value::knownInt() const {
  if (!isInt() || asInt().data || !asInt().dim.isConstant())
    return std::nullopt;
  return asInt().dim.constant();
}

std::optional<bool> Value::knownBool() const {
  if (!isBool() || asBool().data)
    return std::nullopt;
  return asBool().known;
}

std::optional<double> Value::knownNumber() const {
  if (std::optional<int64_t> number = knownInt())
    return static_cast<double>(*number);
  if (isFloat() && !asFloat().data)
    return asFloat().number;
  if (std::optional<bool> known = knownBool())
    return *known;
  return std::nullopt;
}

bool Value::isData() const {
  return (isInt() && asInt().data) || (isFloat() && asFloat().data) || (isBool() && asBool().data);
}

const Values *Value::items() const {
  return isList() ? &asList().items : isTuple() ? &asTuple().items : nullptr;
}

std::string Value::typeName() const {
  if (isList()) {
    const Values &items = asList().items;
    return items.empty() ? "List" : "List[" + items.front().typeName() + "]";
  }
  if (isTuple()) {
    if (!asTuple().typeName.empty())
      return asTuple().typeName;
    std::string text;
    for (const Value &item : asTuple().items)
      text += (text.empty() ? "" : ", ") + item.typeName();
    return "Tuple[" + text + "]";
  }
  if (isObject())
    return asObject()->typeName();
  static const char *const names[] = {"None", "Tensor", "int", "float", "bool", "str", "List", "Tuple", "Dict", "object", "Device", "uninitialized", "unknown"};
  static_assert(std::size(names) == std::variant_size_v<Variant>);
  return names[variant_.index()];
}

static std::optional<bool> equalItems(const Values &a, const Values &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i) {
    std::optional<bool> equal = equalValues(a[i], b[i]);
    if (equal != true)
      return equal;
  }
  return true;
}

std::optional<bool> equalValues(const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison())
    return std::nullopt;
  if (a.isScalar() && b.isScalar()) {
    if (a.isInt() && b.isInt() && !a.isData() && !b.isData()) {
      if (a.asInt().dim == b.asInt().dim)
        return true;
      return a.knownInt() && b.knownInt() ? std::optional<bool>(false) : std::nullopt;
    }
    std::optional<double> left = a.knownNumber(), right = b.knownNumber();
    return left && right ? std::optional<bool>(*left == *right) : std::nullopt;
  }
  if (a.variant().index() != b.variant().index())
    return false;
  if (a.isString())
    return a.asString() == b.asString();
  if (a.isDevice())
    return a.asDevice().name == b.asDevice().name;
  if (a.items())
    return equalItems(*a.items(), *b.items());
  if (a.isDict()) {
    const auto &left = a.asDict().items, &right = b.asDict().items;
    if (left.size() != right.size())
      return false;
    for (const auto &[key, value] : left) {
      const Value *other = nullptr;
      for (const auto &[otherKey, otherValue] : right)
        if (equalValues(key, otherKey) == true)
          other = &otherValue;
      std::optional<bool> equal = other ? equalValues(value, *other) : std::optional<bool>(false);
      if (equal != true)
        return equal;
    }
    return true;
  }
  if (a.isTensor())
    return a.asTensor() == b.asTensor();
  if (a.isObject())
    return a.asObject() == b.asObject();
  return true; // None, uninitialized.
}

} // namespace stator::torch
