// Reading of schemas, and binding of arguments.
#include "compiler/Import/Torch/Aten/Schema.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <limits>

namespace stator::torch {

using llvm::StringRef;

namespace {

class SchemaReader {
public:
  explicit SchemaReader(StringRef text) : text(text), rest(text) {}

  Schema read() {
    Schema schema;
    schema.text = text.str();
    StringRef fullName = rest.take_until([](char c) { return c == '('; });
    rest = rest.drop_front(fullName.size());
    auto [name, overload] = fullName.split('.');
    schema.name = name.str();
    schema.overload = overload.str();
    expect("(");
    bool isKeywordOnly = false;
    while (!take(")")) {
      if (take("*")) {
        isKeywordOnly = true;
      } else {
        schema.parameters.push_back(readParameter());
        schema.parameters.back().isKeywordOnly = isKeywordOnly;
      }
      take(",");
    }
    expect("->");
    return schema;
  }

private:
  [[noreturn]] void fail() { llvm::report_fatal_error(llvm::Twine("malformed schema: ") + text); }
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  void expect(StringRef token) {
    if (!take(token))
      fail();
  }
  StringRef word() {
    rest = rest.ltrim();
    StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-' || c == '+'; });
    rest = rest.drop_front(word.size());
    if (word.empty())
      fail();
    return word;
  }

  SchemaParameter readParameter() {
    SchemaParameter parameter;
    StringRef type = word();
    if (rest.starts_with("(")) // Tensor(a!): what aliases what; handlers know.
      rest = rest.drop_front(rest.find(')') + 1);
    parameter.kind = llvm::StringSwitch<ParameterKind>(type)
                         .Case("Tensor", ParameterKind::Tensor)
                         .Cases({"int", "SymInt"}, ParameterKind::Int)
                         .Cases({"float", "SymFloat"}, ParameterKind::Float)
                         .Cases({"bool", "SymBool"}, ParameterKind::Bool)
                         .Case("str", ParameterKind::String)
                         .Case("Scalar", ParameterKind::Scalar)
                         .Case("ScalarType", ParameterKind::ScalarType)
                         .Case("Layout", ParameterKind::Layout)
                         .Case("Device", ParameterKind::Device)
                         .Case("MemoryFormat", ParameterKind::MemoryFormat)
                         .Case("Generator", ParameterKind::Generator)
                         .Default(ParameterKind::Any);
    bool isOptional = rest.consume_front("?");
    if (rest.consume_front("[")) {
      parameter.isList = true;
      parameter.hasOptionalItems = isOptional;
      if (!rest.consume_front("]")) {
        rest.consumeInteger(10, parameter.length);
        expect("]");
      }
      if (rest.starts_with("("))
        rest = rest.drop_front(rest.find(')') + 1);
      isOptional = rest.consume_front("?");
    }
    parameter.isOptional = isOptional;
    parameter.name = word().str();
    if (take("="))
      parameter.defaultValue = readDefault(parameter);
    return parameter;
  }

  Value readDefault(const SchemaParameter &parameter) {
    if (take("[")) {
      Values items;
      while (!take("]")) {
        items.push_back(readItem(parameter));
        take(",");
      }
      return Value::list(std::move(items));
    }
    Value item = readItem(parameter);
    if (parameter.isList && !item.isNone())
      return Value::list(Values(std::max<int64_t>(parameter.length, 1), item));
    return item;
  }

  Value readItem(const SchemaParameter &parameter) {
    if (take("\"") || take("'")) {
      StringRef string = rest.take_until([](char c) { return c == '"' || c == '\''; });
      rest = rest.drop_front(string.size() + 1);
      return Value::string(string.str());
    }
    StringRef text = word();
    if (text == "None")
      return Value::none();
    if (text == "True" || text == "False")
      return Value::boolean(text == "True");
    if (text == "Mean" || text == "Sum") // at::Reduction
      return Value::integer(text == "Mean" ? 1 : 2);
    if (text == "inf" || text == "-inf")
      return Value::real(text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
    int64_t integer;
    if (!text.getAsInteger(10, integer))
      return parameter.kind == ParameterKind::Float ? Value::real(static_cast<double>(integer)) : Value::integer(integer);
    double number;
    if (!text.getAsDouble(number))
      return Value::real(number);
    return Value::none(); // contiguous_format and the like.
  }

  StringRef text, rest;
};

std::string kindName(const SchemaParameter &parameter) {
  static const char *const names[] = {"Tensor", "int", "float", "bool", "str", "number", "dtype", "layout", "device", "memory format", "generator", "any"};
  std::string name = names[static_cast<int>(parameter.kind)];
  if (parameter.isList)
    name = "list of " + name;
  return parameter.isOptional ? name + " or None" : name;
}

bool fitsItem(const Value &value, ParameterKind kind, Conversions conversions) {
  bool convert = conversions == Conversions::Allowed;
  if (value.isPoison() || kind == ParameterKind::Any)
    return true;
  // Whether a tensor has one element is seen when it is asked for it.
  bool isRank0 = value.isTensor();
  switch (kind) {
  case ParameterKind::Tensor:
    return value.isTensor() || (convert && value.isScalar());
  case ParameterKind::Int:
    return value.isInt() || (convert && (value.isBool() || isRank0));
  case ParameterKind::Float:
    return value.isFloat() || (convert && (value.isInt() || isRank0));
  case ParameterKind::Bool:
    return value.isBool() || (convert && (value.isInt() || isRank0));
  case ParameterKind::Scalar:
    return value.isScalar() || (convert && isRank0);
  case ParameterKind::String:
    return value.isString();
  case ParameterKind::ScalarType:
  case ParameterKind::Layout:
  case ParameterKind::MemoryFormat:
    return value.isInt();
  case ParameterKind::Device:
    return value.isDevice() || value.isString();
  default:
    return value.isNone();
  }
}

/// The value as the parameter takes it; nothing when it does not fit.
std::optional<Value> fit(const Value &value, const SchemaParameter &parameter, Conversions conversions) {
  if (value.isPoison() || (value.isNone() && parameter.isOptional) || parameter.kind == ParameterKind::Any)
    return value;
  if (!parameter.isList)
    return fitsItem(value, parameter.kind, conversions) ? std::optional<Value>(value) : std::nullopt;
  if (const Values *items = value.items()) {
    for (const Value &item : *items)
      if (!(item.isNone() && parameter.hasOptionalItems) && !fitsItem(item, parameter.kind, conversions))
        return std::nullopt;
    return value;
  }
  bool standsForList = parameter.length > 0 || (conversions == Conversions::Allowed && !value.isTensor());
  if (standsForList && fitsItem(value, parameter.kind, conversions) && parameter.kind != ParameterKind::Tensor)
    return Value::list(Values(std::max<int64_t>(parameter.length, 1), value));
  return std::nullopt;
}

} // namespace

std::optional<size_t> Schema::find(std::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter)
      return i;
  return std::nullopt;
}

Schema parseSchema(std::string_view text) { return SchemaReader(StringRef(text.data(), text.size())).read(); }

Result<Values> bindArguments(const Schema &schema, const Values &positional, const std::vector<KeywordArgument> &keywords,
                             Conversions conversions) {
  Values bound(schema.parameters.size());
  std::vector<bool> isGiven(schema.parameters.size());
  auto refuse = [&](const std::string &what) { return invalidArgument("`" + schema.fullName() + "`: " + what); };
  auto give = [&](size_t index, const Value &value) -> Status {
    const SchemaParameter &parameter = schema.parameters[index];
    if (isGiven[index])
      return refuse("argument `" + parameter.name + "` is given twice");
    std::optional<Value> fitting = fit(value, parameter, conversions);
    if (!fitting)
      return refuse("argument `" + parameter.name + "` is " + value.typeName() + ", expected " + kindName(parameter));
    bound[index] = std::move(*fitting);
    isGiven[index] = true;
    return okStatus();
  };
  for (size_t i = 0; i < positional.size(); ++i) {
    if (i >= schema.parameters.size() || schema.parameters[i].isKeywordOnly)
      return refuse("got " + std::to_string(positional.size()) + " positional arguments, expected at most " + std::to_string(i));
    STATOR_RETURN_IF_ERROR(give(i, positional[i]));
  }
  for (const KeywordArgument &keyword : keywords) {
    std::optional<size_t> index = schema.find(keyword.name);
    if (!index)
      return refuse("there is no argument `" + keyword.name + "`");
    STATOR_RETURN_IF_ERROR(give(*index, keyword.value));
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    if (isGiven[i])
      continue;
    const SchemaParameter &parameter = schema.parameters[i];
    if (!parameter.defaultValue && !parameter.isOptional)
      return refuse("argument `" + parameter.name + "` (" + kindName(parameter) + ") is missing");
    if (parameter.defaultValue) // Lists are mutable: each call gets its own.
      bound[i] = parameter.defaultValue->isList() ? Value::list(parameter.defaultValue->asList().items) : *parameter.defaultValue;
  }
  return bound;
}

} // namespace stator::torch
