// Symbolic sizes as text: the canonical form that types, artifacts and messages show, and its reader.
#include "serialization/Base/DimPolynomial.h"

#include <charconv>
#include <cstdio>

using namespace stator;

static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isNamePart(char c) { return isLetter(c) || isDigit(c) || c == '.' || c == '$'; }

static std::optional<DimAtomKind> functionKind(std::string_view word) {
  for (DimAtomKind kind : {DimAtomKind::FloorDiv, DimAtomKind::CeilDiv, DimAtomKind::Mod, DimAtomKind::Min, DimAtomKind::Max})
    if (word == functionName(kind))
      return kind;
  return std::nullopt;
}

std::string stator::symbolText(std::string_view name) {
  bool plain = isLetter(name.front()) && !functionKind(name);
  for (char c : name)
    plain &= isNamePart(c);
  if (plain)
    return std::string(name);
  std::string text = "'";
  for (char c : name) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      char buffer[5];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", byte);
      text += buffer;
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string DimExpr::str() const {
  if (!polynomial)
    return std::to_string(value);
  if (!isValid())
    return "invalid(" + polynomial->invalidReason + ")";
  std::string text;
  for (const DimTerm &term : polynomial->terms) {
    // The most negative number has no positive twin that the reader could negate.
    bool negative = term.coefficient < 0 && term.coefficient != INT64_MIN;
    if (text.empty())
      text += negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    int64_t shown = negative ? -term.coefficient : term.coefficient;
    bool needsStar = false;
    if (shown != 1 || term.factors.empty()) {
      text += std::to_string(shown);
      needsStar = true;
    }
    for (const DimAtomPtr &atom : term.factors) {
      text += needsStar ? "*" : "";
      text += atom->text;
      needsStar = true;
    }
  }
  return text;
}

namespace {
/// sum := product (('+' | '-') product)*; product := factor ('*' factor)*; factor := '-' factor | number | name | function '(' sum (','
/// sum)* ')' | '(' sum ')'.
class DimParser {
public:
  explicit DimParser(std::string_view text) : text(text) {}

  Result<DimExpr> parseAll() {
    STATOR_TRY(expr, parseSum());
    skipSpaces();
    if (position != text.size())
      return error("expected an operator or the end");
    if (!expr.isValid())
      return invalidArgument("size expression " + shownText() + ": " + expr.status().message());
    return expr;
  }

private:
  static constexpr unsigned kMaxNesting = 64;

  Status error(const std::string &what) const {
    return invalidArgument("size expression " + shownText() + ", at character " + std::to_string(position + 1) + ": " + what);
  }

  std::string shownText() const {
    return text.size() <= 80 ? "`" + std::string(text) + "`" : "`" + std::string(text.substr(0, 77)) + "...`";
  }

  void skipSpaces() {
    while (position != text.size() && (text[position] == ' ' || text[position] == '\t'))
      ++position;
  }

  bool accept(char c) {
    skipSpaces();
    if (position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  Result<DimExpr> parseSum() {
    if (++nesting > kMaxNesting)
      return error("nested more than 64 deep");
    STATOR_TRY(sum, parseProduct());
    while (true) {
      if (accept('+')) {
        STATOR_TRY(operand, parseProduct());
        sum = sum + operand;
      } else if (accept('-')) {
        STATOR_TRY(operand, parseProduct());
        sum = sum - operand;
      } else {
        --nesting;
        return sum;
      }
    }
  }

  Result<DimExpr> parseProduct() {
    STATOR_TRY(product, parseFactor());
    while (accept('*')) {
      STATOR_TRY(operand, parseFactor());
      product = product * operand;
    }
    return product;
  }

  Result<DimExpr> parseFactor() {
    bool negative = false;
    while (accept('-'))
      negative = !negative;
    skipSpaces();
    if (position == text.size())
      return error("expected a size, found the end");
    char c = text[position];
    if (isDigit(c))
      return parseNumber(negative);
    Result<DimExpr> factor = c == '(' ? parseParenthesis() : c == '\'' ? parseQuoted() : parseName();
    if (!factor.ok() || !negative)
      return factor;
    return -*factor;
  }

  Result<DimExpr> parseNumber(bool negative) {
    std::string digits = negative ? "-" : "";
    while (position != text.size() && isDigit(text[position]))
      digits += text[position++];
    int64_t number = 0;
    auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (failure != std::errc() || end != digits.data() + digits.size())
      return error("the number exceeds 64 bits");
    return DimExpr(number);
  }

  Result<DimExpr> parseParenthesis() {
    ++position;
    STATOR_TRY(inner, parseSum());
    if (!accept(')'))
      return error("expected `)`");
    return inner;
  }

  Result<DimExpr> parseQuoted() {
    ++position;
    std::string name;
    while (position != text.size() && text[position] != '\'') {
      char c = text[position++];
      if (c == '\\') {
        if (position == text.size())
          break;
        c = text[position++];
        if (c == 'x') {
          unsigned byte = 0;
          if (text.size() - position < 2)
            return error("expected two hexadecimal digits");
          auto [end, failure] = std::from_chars(text.data() + position, text.data() + position + 2, byte, 16);
          if (failure != std::errc() || end != text.data() + position + 2)
            return error("expected two hexadecimal digits");
          c = static_cast<char>(byte);
          position += 2;
        }
      }
      name += c;
    }
    if (position == text.size())
      return error("a quoted name has no end");
    ++position;
    if (name.empty())
      return error("a quoted name is empty");
    return DimExpr::symbol(name);
  }

  Result<DimExpr> parseName() {
    size_t start = position;
    if (!isLetter(text[position]))
      return error("expected a size");
    while (position != text.size() && isNamePart(text[position]))
      ++position;
    std::string_view word = text.substr(start, position - start);
    std::optional<DimAtomKind> kind = functionKind(word);
    if (!kind || !accept('('))
      return DimExpr::symbol(word);
    STATOR_TRY(result, parseSum());
    unsigned count = 1;
    bool takesTwo = *kind != DimAtomKind::Min && *kind != DimAtomKind::Max;
    while (accept(',')) {
      STATOR_TRY(operand, parseSum());
      result = apply(*kind, result, operand);
      if (++count > 2 && takesTwo)
        return error("`" + std::string(word) + "` takes two operands");
    }
    if (!accept(')'))
      return error("expected `)`");
    if (count < 2)
      return error("`" + std::string(word) + "` takes two operands");
    return result;
  }

  static DimExpr apply(DimAtomKind kind, const DimExpr &a, const DimExpr &b) {
    switch (kind) {
    case DimAtomKind::FloorDiv:
      return a.floorDiv(b);
    case DimAtomKind::CeilDiv:
      return a.ceilDiv(b);
    case DimAtomKind::Mod:
      return a.mod(b);
    case DimAtomKind::Min:
      return a.min(b);
    default:
      return a.max(b);
    }
  }

  std::string_view text;
  size_t position = 0;
  unsigned nesting = 0;
};
} // namespace

Result<DimExpr> DimExpr::parse(std::string_view text) {
  if (text.size() > 65536)
    return invalidArgument("size expression of " + std::to_string(text.size()) + " characters, at most 65536 are accepted");
  return DimParser(text).parseAll();
}
