//===- ParseExpression.cpp - expressions of TorchScript source ---------------===//

#include "compiler/Import/Torch/Script/ParserImpl.h"

#include <charconv>
#include <limits>

namespace stator::torch::script {

/// Brackets in brackets. Each costs a frame of every recursive walk over expressions.
static constexpr unsigned maxDepth = 256;

bool ParserImpl::Level::tooDeep() {
  if (parser.depth <= maxDepth)
    return false;
  parser.failAt(parser.token.offset, "expressions are nested more than " + std::to_string(maxDepth) + " deep");
  return true;
}

void ParserImpl::fail(const std::string &expected) {
  std::string found;
  switch (token.kind) {
  case TokenKind::Newline:
    found = "the end of the line";
    break;
  case TokenKind::Indent:
    found = "an indented line";
    break;
  case TokenKind::Dedent:
    found = "the end of the block";
    break;
  case TokenKind::End:
    found = "the end of the file";
    break;
  default:
    found = "`" + token.text.take_front(40).str() + "`";
  }
  failAt(token.offset, "found " + found + ", expected " + expected);
}

void ParserImpl::advance() {
  previousEnd = token.offset + uint32_t(token.text.size());
  token = lexer.next();
}

bool ParserImpl::accept(llvm::StringRef symbol) {
  if (!token.is(symbol))
    return false;
  advance();
  return true;
}

bool ParserImpl::acceptWord(llvm::StringRef word) {
  if (!token.isWord(word))
    return false;
  advance();
  return true;
}

void ParserImpl::expect(llvm::StringRef symbol) {
  if (!accept(symbol))
    fail("`" + symbol.str() + "`");
}

llvm::StringRef ParserImpl::name(const char *what) {
  llvm::StringRef text = token.text;
  if (token.kind != TokenKind::Name) {
    fail(what);
    return {};
  }
  advance();
  return text;
}

Expr *ParserImpl::make(ExprKind kind, uint32_t offset) {
  if (++arena.nodes > Arena::maxNodes) {
    failAt(offset, "the program has more than " + std::to_string(Arena::maxNodes) + " expressions");
    return nullptr;
  }
  Expr *expr = new (arena.memory.Allocate<Expr>()) Expr();
  expr->kind = kind;
  expr->offset = offset;
  return expr;
}

Expr *ParserImpl::withItems(Expr *expr, llvm::ArrayRef<Expr *> items) {
  if (!expr || failed())
    return nullptr;
  unsigned height = 0;
  for (Expr *item : items)
    height = std::max<unsigned>(height, item ? item->height : 0);
  for (const Keyword &keyword : expr->keywords)
    height = std::max<unsigned>(height, keyword.value->height);
  if (height >= maxDepth) {
    failAt(expr->offset, "expressions are nested more than " + std::to_string(maxDepth) + " deep");
    return nullptr;
  }
  expr->height = uint16_t(height + 1);
  expr->items = arena.copy(items);
  return expr;
}

int32_t ParserImpl::slotOf(llvm::StringRef name) {
  if (!current)
    return -1;
  auto [found, isNew] = slots.try_emplace(name, int32_t(current->slotNames.size()));
  if (isNew) {
    current->slotNames.push_back(name);
    current->lastRead.push_back(0);
  }
  return found->second;
}

Expr *ParserImpl::expression() {
  Level level(*this);
  if (failed() || level.tooDeep())
    return nullptr;
  if (token.is("-"))
    return negative();
  Expr *expr = primary();
  return expr ? postfix(expr) : nullptr;
}

Expr *ParserImpl::negative() {
  uint32_t offset = token.offset;
  advance();
  if (token.kind == TokenKind::Int || token.kind == TokenKind::Float) {
    Expr *expr = number(/*isNegative=*/true);
    if (expr)
      expr->offset = offset;
    return expr;
  }
  Expr *expr = make(ExprKind::Float, offset);
  if (acceptWord("inf") && expr) {
    expr->number = -std::numeric_limits<double>::infinity();
    return expr;
  }
  if (acceptWord("nan") && expr) {
    expr->number = std::numeric_limits<double>::quiet_NaN();
    return expr;
  }
  fail("a number behind `-`");
  return nullptr;
}

Expr *ParserImpl::number(bool isNegative) {
  Expr *expr = make(token.kind == TokenKind::Int ? ExprKind::Int : ExprKind::Float, token.offset);
  if (!expr)
    return nullptr;
  llvm::StringRef text = token.text;
  if (expr->kind == ExprKind::Float) {
    double value = 0;
    auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    // Out of range is infinity or zero, as everywhere else.
    if (error == std::errc::result_out_of_range)
      value = std::strtod(text.str().c_str(), nullptr);
    else if (error != std::errc() || end != text.end())
      return failAt(token.offset, "`" + text.take_front(40).str() + "` is not a number"), nullptr;
    expr->number = isNegative ? -value : value;
  } else {
    uint64_t value = 0;
    bool isTooLarge = text.getAsInteger(10, value) || value > uint64_t(std::numeric_limits<int64_t>::max()) + (isNegative ? 1 : 0);
    if (isTooLarge)
      return failAt(token.offset, "`" + text.take_front(40).str() + "` does not fit in 64 bits"), nullptr;
    expr->integer = isNegative ? int64_t(0 - value) : int64_t(value);
  }
  advance();
  return expr;
}

Expr *ParserImpl::primary() {
  uint32_t offset = token.offset;
  switch (token.kind) {
  case TokenKind::Int:
  case TokenKind::Float:
    return number(/*isNegative=*/false);
  case TokenKind::String: {
    Expr *expr = make(ExprKind::String, offset);
    std::string value;
    if (!unquote(token.text, value))
      return failAt(offset, "the string has an escape that is not one"), nullptr;
    if (expr)
      expr->text = arena.strings.save(value);
    advance();
    return expr;
  }
  case TokenKind::Name: {
    llvm::StringRef text = token.text;
    ExprKind kind = text == "True" ? ExprKind::True : text == "False" ? ExprKind::False : text == "None" ? ExprKind::None : ExprKind::Name;
    if (text == "inf" || text == "nan")
      kind = ExprKind::Float;
    Expr *expr = make(kind, offset);
    advance();
    if (!expr)
      return nullptr;
    if (kind == ExprKind::Float)
      expr->number = text == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (kind == ExprKind::Name) {
      expr->text = expr->dotted = text;
      expr->slot = slotOf(text);
    }
    return expr;
  }
  default:
    break;
  }
  if (token.is("(") || token.is("["))
    return bracketed();
  if (token.is("{"))
    return dict();
  if (token.is("^")) {
    advance();
    failAt(offset, "`^" + token.text.take_front(60).str() +
                       "` is a Python function that was not exported with the model: it exists only where the model was made");
    return nullptr;
  }
  fail("an expression");
  return nullptr;
}

Expr *ParserImpl::bracketed() {
  uint32_t offset = token.offset;
  bool isList = token.is("[");
  llvm::StringRef close = isList ? "]" : ")";
  advance();
  llvm::SmallVector<Expr *, 8> items;
  bool hasComma = false;
  while (!failed() && !token.is(close)) {
    items.push_back(expression());
    if (!accept(","))
      break;
    hasComma = true;
  }
  expect(close);
  if (failed())
    return nullptr;
  if (!isList && items.size() == 1 && !hasComma) {
    // Parentheses stop a name from being read as the head of a longer one: `(self.conv).forward` is a method of a value.
    items[0]->dotted = items[0]->kind == ExprKind::Name ? items[0]->dotted : llvm::StringRef();
    return items[0];
  }
  return withItems(make(isList ? ExprKind::List : ExprKind::Tuple, offset), items);
}

Expr *ParserImpl::dict() {
  Expr *expr = make(ExprKind::Dict, token.offset);
  advance();
  llvm::SmallVector<Expr *, 8> items;
  while (!failed() && !token.is("}")) {
    items.push_back(expression());
    expect(":");
    items.push_back(expression());
    if (!accept(","))
      break;
  }
  expect("}");
  return withItems(expr, items);
}

Expr *ParserImpl::postfix(Expr *base) {
  while (base && !failed()) {
    if (token.is(".")) {
      uint32_t dot = token.offset;
      advance();
      Expr *expr = make(ExprKind::Attribute, base->offset);
      llvm::StringRef member = name("the name of an attribute");
      if (!expr || failed())
        return nullptr;
      expr->text = member;
      // Adjacent in the text: one view covers the whole name.
      if (!base->dotted.empty() && base->dotted.end() == file.text.data() + dot && member.begin() == base->dotted.end() + 1)
        expr->dotted = llvm::StringRef(base->dotted.data(), member.end() - base->dotted.begin());
      base = withItems(expr, {base});
    } else if (token.is("(")) {
      base = call(base);
    } else if (token.is("[")) {
      base = subscript(base);
    } else {
      return base;
    }
  }
  return nullptr;
}

Expr *ParserImpl::call(Expr *callee) {
  Expr *expr = make(ExprKind::Call, callee->offset);
  advance();
  llvm::SmallVector<Expr *, 8> items{callee};
  llvm::SmallVector<Keyword, 4> keywords;
  while (!failed() && !token.is(")")) {
    Expr *value = expression();
    if (value && value->kind == ExprKind::Name && token.is("=")) {
      advance();
      keywords.push_back({value->text, expression()});
      // A keyword is no variable: nothing was read.
    } else {
      if (!keywords.empty())
        failAt(token.offset, "an argument without a name follows one with a name");
      items.push_back(value);
    }
    if (!accept(","))
      break;
  }
  expect(")");
  if (!expr || failed())
    return nullptr;
  expr->keywords = arena.copy(llvm::ArrayRef<Keyword>(keywords));
  return withItems(expr, items);
}

Expr *ParserImpl::subscript(Expr *object) {
  Expr *expr = make(ExprKind::Subscript, object->offset);
  advance();
  llvm::SmallVector<Expr *, 4> items{object};
  while (!failed() && !token.is("]")) {
    uint32_t offset = token.offset;
    Expr *start = token.is(":") ? nullptr : expression();
    if (token.is(":")) {
      Expr *parts[3] = {start, nullptr, nullptr};
      for (int i = 1; i < 3 && accept(":"); ++i)
        if (!token.is(":") && !token.is("]") && !token.is(","))
          parts[i] = expression();
      start = withItems(make(ExprKind::Slice, offset), parts);
    }
    items.push_back(start);
    if (!accept(","))
      break;
  }
  expect("]");
  return withItems(expr, items);
}

Expr *ParserImpl::expressionList() {
  uint32_t offset = token.offset;
  Expr *first = expression();
  if (failed() || !token.is(","))
    return first;
  llvm::SmallVector<Expr *, 8> items{first};
  while (accept(",") && !failed()) {
    if (token.kind == TokenKind::Newline || token.kind == TokenKind::End || token.is("=") || token.is(":"))
      break;
    items.push_back(expression());
  }
  return withItems(make(ExprKind::Tuple, offset), items);
}

Status ParserImpl::parseLoneExpression(Expr *&expr) {
  expr = expressionList();
  if (!failed() && token.kind == TokenKind::Newline)
    advance();
  if (!failed() && token.kind != TokenKind::End)
    fail("the end of the text");
  return lexer.status();
}

} // namespace stator::torch::script
