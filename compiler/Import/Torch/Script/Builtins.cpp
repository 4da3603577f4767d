//===- Builtins.cpp - the table of builtins, and text ------------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"

#include "llvm/ADT/StringSwitch.h"

#include <charconv>
#include <cmath>

namespace stator::torch::script {

Value BuiltinCall::given(size_t index, std::string_view keyword) const {
  if (index < arguments.size())
    return arguments[index];
  for (const KeywordArgument &argument : keywords)
    if (argument.name == keyword)
      return argument.value;
  return Value::none();
}

std::optional<int64_t> BuiltinCall::integer(const Value &value, const char *what) const {
  if (std::optional<int64_t> number = value.knownInt())
    return number;
  if (value.isInt())
    evaluator.unsupported(std::string(what) + " of `" + name.str() + "` depends on " +
                          (value.isData() ? "data" : "the size " + value.asInt().dim.str()) +
                          ", and must be a number when the model is compiled");
  else
    evaluator.invalid(std::string(what) + " of `" + name.str() + "` is " + value.typeName() + ", expected int");
  return std::nullopt;
}

bool isContainerMutation(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"append", "extend", "insert", "pop", "remove"}, true)
      .Cases({"clear", "reverse", "sort", "_set_item", "Delete"}, true)
      .Cases("setdefault", "popitem", "update", "__delitem__", true)
      .Case("add_", true) // `list += other`; of tensors too, which are no containers and not looked into.
      .Default(false);
}

static const llvm::StringMap<const BuiltinEntry *> &table() {
  static const llvm::StringMap<const BuiltinEntry *> instance = [] {
    llvm::StringMap<const BuiltinEntry *> entries;
    for (llvm::ArrayRef<BuiltinEntry> family : {numberBuiltins(), conversionBuiltins(), comparisonBuiltins(), containerBuiltins(),
                                                dictBuiltins(), stringBuiltins(), primBuiltins()})
      for (const BuiltinEntry &entry : family)
        entries[entry.name] = &entry;
    return entries;
  }();
  return instance;
}

bool hasBuiltin(llvm::StringRef name) { return table().count(name) != 0; }

/// Stands in a text for a number that is not known when the model is compiled: good for messages, but its length is not its length.
static constexpr char unknownMark = '\x01';

std::string shownText(std::string text) {
  llvm::erase(text, unknownMark);
  return text;
}

/// Whether an operator only passes text on.
static bool passesTextOn(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("format", "percentFormat", "str", "word.str", "join", true)
      .Cases("add", "append", "insert", "extend", "_set_item", true)
      .Cases("prim.RaiseException", "warn", "prim.Print", "word.print", true)
      .Default(false);
}

std::optional<Value> callBuiltin(BuiltinCall &call) {
  const BuiltinEntry *entry = table().lookup(call.name);
  if (!entry)
    return std::nullopt;
  if (!entry->takesPoison) {
    bool hasPoison = llvm::any_of(call.arguments, [](const Value &value) { return value.isPoison(); }) ||
                     llvm::any_of(call.keywords, [](const KeywordArgument &keyword) { return keyword.value.isPoison(); });
    if (hasPoison)
      return Value::poison();
  }
  for (const Value &value : call.arguments)
    if (value.isString() && value.asString().find(unknownMark) != std::string::npos && !passesTextOn(call.name))
      return call.evaluator.unsupported("`" + call.name.str() + "` is given the text \"" + shownText(value.asString()) +
                                        "\", in which a number is not known when the model is compiled");
  return entry->function(call);
}

static std::string textOf(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string textOf(const Value &value, bool quoteStrings) {
  auto list = [](const Values &items, const char *open, const char *close) {
    std::string text = open;
    for (size_t i = 0; i < items.size(); ++i)
      text += (i ? ", " : "") + textOf(items[i], true);
    return text + close;
  };
  if (value.isNone())
    return "None";
  if (value.isString())
    return quoteStrings ? "'" + value.asString() + "'" : value.asString();
  if (value.isData())
    return unknownMark + std::string("(depends on data)");
  if (value.isInt())
    return value.knownInt() ? std::to_string(*value.knownInt()) : unknownMark + value.asInt().dim.str();
  if (value.isFloat())
    return textOf(value.asFloat().number);
  if (value.isBool())
    return value.asBool().known ? "True" : "False";
  if (value.isList())
    return list(value.asList().items, "[", "]");
  if (value.isTuple())
    return list(value.asTuple().items, "(", value.asTuple().items.size() == 1 ? ",)" : ")");
  if (value.isDict()) {
    std::string text = "{";
    for (const auto &[key, item] : value.asDict().items)
      text += (text.size() > 1 ? ", " : "") + textOf(key, true) + ": " + textOf(item, true);
    return text + "}";
  }
  if (value.isDevice())
    return value.asDevice().name;
  if (auto *member = objectIn<EnumMember>(value))
    return member->typeName() + "." + member->name;
  return "<" + value.typeName() + ">";
}

} // namespace stator::torch::script
