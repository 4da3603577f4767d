//===- SymbolicText.cpp - sizes written as expressions of sympy ------------===//

#include "compiler/Import/Torch/Export/SymbolicFunctions.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stator::torch::exported {

namespace {

using Kind = SymbolicValue::Kind;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view relations[] = {
    "Equality", "Unequality", "LessThan", "StrictLessThan", "GreaterThan", "StrictGreaterThan", "Eq", "Ne", "Le", "Lt", "Ge", "Gt"};

SymbolicValue condition() { return unknownSymbolic(Kind::Condition); }

class SreprParser {
public:
  explicit SreprParser(std::string_view text) : cursor(text) {}

  Result<SymbolicValue> parse() {
    SymbolicValue value = cursor.text.size() > maxSymbolicTextBytes ? cursor.fail("is too long") : expression();
    if (cursor.ok() && cursor.next() != '\0')
      cursor.fail("goes on after its end");
    value.isKnown = value.isKnown && value.value.isValid() && value.divisor.isValid();
    if (!cursor.ok())
      return cursor.status;
    return value;
  }

private:
  SymbolicValue expression() {
    if (++cursor.depth > maxSymbolicDepth)
      return cursor.fail("is nested more than " + std::to_string(maxSymbolicDepth) + " deep");
    SymbolicValue value = unguarded();
    --cursor.depth;
    return value;
  }

  SymbolicValue unguarded() {
    char first = cursor.next();
    if (isDigit(first) || first == '-')
      return cursor.accept("-oo") ? unknownSymbolic(Kind::Number) : cursor.literal();
    std::string_view name = cursor.name();
    if (name.empty())
      return cursor.fail("is not an expression of sizes");
    if (!cursor.accept("("))
      return bareName(name);
    if (name == "Symbol")
      return symbol();
    if (name == "Integer")
      return integerLiteral();
    if (name == "Float")
      return floatLiteral();
    return call(name);
  }

  SymbolicValue bareName(std::string_view name) {
    if (name == "true" || name == "false" || name == "True" || name == "False")
      return condition();
    if (name == "oo" || name == "int_oo" || name == "nan")
      return unknownSymbolic(Kind::Number);
    if (!isSymbolName(name))
      return cursor.fail("has the name `" + std::string(name) + "`, expected a symbol");
    return symbolicInteger(DimExpr::symbol(name));
  }

  SymbolicValue symbol() {
    std::optional<std::string_view> name = cursor.quoted();
    if (!name || !isSymbolName(*name))
      return cursor.fail("has a symbol without a proper name");
    bool isInteger = true, hasAssumptions = false, saysInteger = false;
    while (cursor.accept(",")) {
      std::string_view assumption = cursor.name();
      if (!isSymbolName(assumption) || !cursor.accept("="))
        return cursor.fail("has a symbol with unreadable assumptions");
      std::string_view value = cursor.name();
      if (value != "True" && value != "False")
        return cursor.fail("has a symbol with unreadable assumptions");
      hasAssumptions = true;
      saysInteger |= assumption == "integer" && value == "True";
    }
    if (!cursor.accept(")"))
      return cursor.fail("has an unfinished symbol");
    isInteger = saysInteger || !hasAssumptions;
    return isInteger ? symbolicInteger(DimExpr::symbol(*name)) : unknownSymbolic(Kind::Number);
  }

  SymbolicValue integerLiteral() {
    SymbolicValue value = cursor.literal();
    if (cursor.ok() && (value.kind != Kind::Integer || !cursor.accept(")")))
      return cursor.fail("has an integer that cannot be read");
    return value;
  }

  SymbolicValue floatLiteral() {
    std::optional<std::string_view> text = cursor.quoted();
    bool isReadable = bool(text);
    while (isReadable && cursor.accept(",")) {
      std::string_view key = cursor.name();
      isReadable = (key == "precision" || key == "prec" || key == "dps") && cursor.accept("=") && cursor.literal().isKnown && cursor.ok();
    }
    if (!isReadable || !cursor.accept(")"))
      return cursor.fail("has a number that cannot be read");
    double value = 0;
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size())
      return cursor.fail("has a number that cannot be read");
    return std::isfinite(value) ? symbolicNumber(value) : unknownSymbolic(Kind::Number);
  }

  SymbolicValues arguments() {
    SymbolicValues args;
    if (cursor.accept(")"))
      return args;
    do {
      args.push_back(expression());
      if (args.size() > maxSymbolicArguments)
        cursor.fail("has a function of more than " + std::to_string(maxSymbolicArguments) + " arguments");
    } while (cursor.ok() && cursor.accept(","));
    if (cursor.ok() && !cursor.accept(")"))
      cursor.fail("has an unfinished function");
    return args;
  }

  SymbolicValue call(std::string_view name) {
    const SymbolicFunction *function = findSymbolicFunction(name);
    bool isRelation = std::find(std::begin(relations), std::end(relations), name) != std::end(relations);
    bool isConnective = name == "And" || name == "Or" || name == "Not" || name == "Xor";
    // Square roots and the like, of which nothing but the name is known.
    bool isOpaque = name.starts_with("OpaqueUnaryFn_");
    if (!function && !isRelation && !isConnective && !isOpaque && name != "Rational")
      return cursor.fail("calls `" + std::string(name.substr(0, 80)) + "`, which is not a function of sizes");
    SymbolicValues args = arguments();
    if (!cursor.ok())
      return unknownSymbolic(Kind::Integer);
    auto wrongCount = [&] {
      return cursor.fail("has a `" + std::string(name.substr(0, 80)) + "` of " + std::to_string(args.size()) + " arguments");
    };
    for (const SymbolicValue &argument : args)
      if ((argument.kind == Kind::Condition) != isConnective)
        return cursor.fail("mixes conditions and numbers");
    if (isConnective)
      return condition();
    if (isRelation)
      return args.size() == 2 ? condition() : wrongCount();
    if (isOpaque)
      return args.size() == 1 ? unknownSymbolic(Kind::Number) : wrongCount();
    if (name == "Rational")
      return args.size() == 2 ? symbolicQuotient(args[0], args[1]) : wrongCount();
    if (args.size() < function->least || args.size() > function->most)
      return wrongCount();
    return function->apply(args);
  }

  SymbolicCursor cursor;
};
} // namespace

Result<SymbolicValue> parseSrepr(std::string_view text) { return SreprParser(text).parse(); }

} // namespace stator::torch::exported
