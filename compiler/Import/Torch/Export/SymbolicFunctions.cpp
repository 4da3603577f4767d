//===- SymbolicFunctions.cpp - arithmetic on sizes read from text ----------===//

#include "compiler/Import/Torch/Export/SymbolicFunctions.h"

#include <charconv>
#include <cmath>
#include <functional>

namespace stator::torch::exported {

using Kind = SymbolicValue::Kind;

static constexpr int64_t maxExponent = 16;

static bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }

SymbolicValue symbolicInteger(DimExpr value) { return {Kind::Integer, std::move(value), DimExpr(1), true}; }
SymbolicValue unknownSymbolic(Kind kind) { return {kind, DimExpr(0), DimExpr(1), false}; }
static SymbolicValue quotient(DimExpr value, DimExpr divisor) {
  if (divisor.isConstant(0))
    return unknownSymbolic(Kind::Number);
  return {Kind::Number, std::move(value), std::move(divisor), true};
}

/// The kind of a sum or product, and whether it can be computed.
static SymbolicValue joined(const SymbolicValue &a, const SymbolicValue &b) {
  SymbolicValue result = unknownSymbolic(a.kind == Kind::Integer && b.kind == Kind::Integer ? Kind::Integer : Kind::Number);
  result.isKnown = a.isKnown && b.isKnown;
  return result;
}

SymbolicValue symbolicSum(const SymbolicValue &a, const SymbolicValue &b) {
  SymbolicValue result = joined(a, b);
  if (!result.isKnown)
    return result;
  bool isCommon = a.divisor == b.divisor;
  result.value = isCommon ? a.value + b.value : a.value * b.divisor + b.value * a.divisor;
  result.divisor = isCommon ? a.divisor : a.divisor * b.divisor;
  return result;
}

SymbolicValue symbolicProduct(const SymbolicValue &a, const SymbolicValue &b) {
  SymbolicValue result = joined(a, b);
  if (!result.isKnown)
    return result;
  result.value = a.value * b.value;
  result.divisor = a.divisor * b.divisor;
  return result;
}

/// A floating-point literal that is a quotient with a small power of two, as scale factors are.
SymbolicValue symbolicNumber(double value) {
  for (int64_t divisor = 1; divisor <= 1024 && std::abs(value) < 1e9; divisor *= 2)
    if (value * double(divisor) == std::floor(value * double(divisor)))
      return quotient(DimExpr(int64_t(value * double(divisor))), DimExpr(divisor));
  return unknownSymbolic(Kind::Number);
}

static std::optional<int64_t> constantOf(const SymbolicValue &value) {
  return value.isKnown && value.kind == Kind::Integer ? value.value.constant() : std::nullopt;
}

/// a op b of integers; unknown when one of them is.
static SymbolicValue onIntegers(const SymbolicValues &args, const std::function<DimExpr(const DimExpr &, const DimExpr &)> &op) {
  SymbolicValue result = args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    result.isKnown = result.isKnown && args[i].isKnown && args[i].divisor.isConstant(1) && result.divisor.isConstant(1);
    if (args[i].kind == Kind::Number)
      result.kind = Kind::Number;
    if (result.isKnown)
      result.value = op(result.value, args[i].value);
  }
  return result;
}

SymbolicValue symbolicPower(const SymbolicValue &base, const SymbolicValue &exponent) {
  std::optional<int64_t> times = constantOf(exponent);
  if (!times || *times < -maxExponent || *times > maxExponent)
    return unknownSymbolic(Kind::Number);
  SymbolicValue result = symbolicInteger(1);
  for (int64_t i = 0; i < std::abs(*times); ++i)
    result = symbolicProduct(result, base);
  if (*times >= 0 || !result.isKnown)
    return *times >= 0 ? result : unknownSymbolic(Kind::Number);
  return quotient(result.divisor, result.value);
}

SymbolicValue symbolicQuotient(const SymbolicValue &a, const SymbolicValue &b) {
  if (!a.isKnown || !b.isKnown)
    return unknownSymbolic(Kind::Number);
  return quotient(a.value * b.divisor, a.divisor * b.value);
}

/// Back to an integer.
static SymbolicValue rounded(const SymbolicValue &value, bool up) {
  if (!value.isKnown)
    return unknownSymbolic(Kind::Integer);
  return symbolicInteger(up ? value.value.ceilDiv(value.divisor) : value.value.floorDiv(value.divisor));
}

static constexpr size_t any = maxSymbolicArguments;

static const SymbolicFunction functions[] = {
    {"Add", 1, any,
     [](const SymbolicValues &args) {
       SymbolicValue result = args[0];
       for (size_t i = 1; i < args.size(); ++i)
         result = symbolicSum(result, args[i]);
       return result;
     }},
    {"Mul", 1, any,
     [](const SymbolicValues &args) {
       SymbolicValue result = args[0];
       for (size_t i = 1; i < args.size(); ++i)
         result = symbolicProduct(result, args[i]);
       return result;
     }},
    {"Pow", 2, 2, [](const SymbolicValues &args) { return symbolicPower(args[0], args[1]); }},
    {"PowByNatural", 2, 2, [](const SymbolicValues &args) { return symbolicPower(args[0], args[1]); }},
    {"FloatPow", 2, 2, [](const SymbolicValues &) { return unknownSymbolic(Kind::Number); }},
    {"FloorDiv", 2, 2, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.floorDiv(b); }); }},
    {"CleanDiv", 2, 2, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.floorDiv(b); }); }},
    {"CeilDiv", 2, 2, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.ceilDiv(b); }); }},
    {"Mod", 2, 2, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.mod(b); }); }},
    {"PythonMod", 2, 2, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.mod(b); }); }},
    {"ModularIndexing", 3, 3,
     [](const SymbolicValues &args) {
       SymbolicValue index = onIntegers({args[0], args[1]}, [](auto &a, auto &b) { return a.floorDiv(b); });
       return onIntegers({index, args[2]}, [](auto &a, auto &b) { return a.mod(b); });
     }},
    {"Min", 1, any, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.min(b); }); }},
    {"Max", 1, any, [](const SymbolicValues &args) { return onIntegers(args, [](auto &a, auto &b) { return a.max(b); }); }},
    {"Identity", 1, 1, [](const SymbolicValues &args) { return args[0]; }},
    {"ToFloat", 1, 1,
     [](const SymbolicValues &args) {
       SymbolicValue result = args[0];
       result.kind = Kind::Number;
       return result;
     }},
    {"FloatTrueDiv", 2, 2, [](const SymbolicValues &args) { return symbolicQuotient(args[0], args[1]); }},
    {"IntTrueDiv", 2, 2, [](const SymbolicValues &args) { return symbolicQuotient(args[0], args[1]); }},
    {"FloorToInt", 1, 1, [](const SymbolicValues &args) { return rounded(args[0], false); }},
    {"floor", 1, 1, [](const SymbolicValues &args) { return rounded(args[0], false); }},
    {"CeilToInt", 1, 1, [](const SymbolicValues &args) { return rounded(args[0], true); }},
    {"ceiling", 1, 1, [](const SymbolicValues &args) { return rounded(args[0], true); }},
    // Toward zero, which is down where sizes are.
    {"TruncToInt", 1, 1,
     [](const SymbolicValues &args) {
       return args[0].isKnown && args[0].value.isNonNegative() ? rounded(args[0], false) : unknownSymbolic(Kind::Integer);
     }},
    {"TruncToFloat", 1, 1, [](const SymbolicValues &) { return unknownSymbolic(Kind::Number); }},
    {"RoundToInt", 1, 1, [](const SymbolicValues &) { return unknownSymbolic(Kind::Integer); }},
    {"RoundDecimal", 2, 2, [](const SymbolicValues &) { return unknownSymbolic(Kind::Number); }},
    {"Abs", 1, 1,
     [](const SymbolicValues &args) { return args[0].isKnown && args[0].value.isNonNegative() ? args[0] : unknownSymbolic(args[0].kind); }},
};

const SymbolicFunction *findSymbolicFunction(std::string_view name) {
  for (const SymbolicFunction &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

SymbolicValue SymbolicCursor::fail(const std::string &why) {
  if (status.ok()) {
    std::string shown(text.substr(0, 200));
    for (char &c : shown)
      if (c < ' ' || c > '~')
        c = '?';
    status = invalidFile("the size `" + shown + (text.size() > 200 ? "...` " : "` ") + why + " (at character " + std::to_string(at) + ")");
  }
  return unknownSymbolic(Kind::Integer);
}

void SymbolicCursor::skipBlanks() {
  while (at < text.size() && text[at] == ' ')
    ++at;
}

bool SymbolicCursor::accept(std::string_view token) {
  skipBlanks();
  if (text.substr(at, token.size()) != token)
    return false;
  at += token.size();
  return true;
}

char SymbolicCursor::next() {
  skipBlanks();
  return at < text.size() ? text[at] : '\0';
}

std::string_view SymbolicCursor::name() {
  skipBlanks();
  size_t start = at;
  while (at < text.size() && (isNameStart(text[at]) || (at > start && (isDigit(text[at]) || text[at] == '.'))))
    ++at;
  return text.substr(start, at - start);
}

SymbolicValue SymbolicCursor::literal() {
  skipBlanks();
  size_t start = at;
  if (at < text.size() && text[at] == '-')
    ++at;
  while (at < text.size() &&
         (isDigit(text[at]) || text[at] == '.' || text[at] == 'e' || (at > start && text[at - 1] == 'e' && text[at] == '-')))
    ++at;
  std::string_view digits = text.substr(start, at - start);
  int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size())
    return symbolicInteger(value);
  double real = 0;
  auto [realEnd, realError] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (digits.find('.') == std::string_view::npos || realError != std::errc() || realEnd != digits.data() + digits.size())
    return fail("has a number that cannot be read");
  return symbolicNumber(real);
}

std::optional<std::string_view> SymbolicCursor::quoted() {
  char quote = next();
  if (quote != '\'' && quote != '"')
    return std::nullopt;
  size_t end = text.find(quote, at + 1);
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view content = text.substr(at + 1, end - at - 1);
  at = end + 1;
  return content;
}

bool isSymbolName(std::string_view name) {
  if (name.empty() || name.size() > 256 || !isNameStart(name[0]))
    return false;
  for (char c : name)
    if (!isNameStart(c) && !isDigit(c))
      return false;
  return true;
}

} // namespace stator::torch::exported
