//===- PrintedSize.cpp - sizes in the syntax of Python ---------------------===//

#include "compiler/Import/Torch/Export/SymbolicFunctions.h"

namespace stator::torch::exported {

namespace {

using Kind = SymbolicValue::Kind;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

class PrintedParser {
public:
  explicit PrintedParser(std::string_view text) : cursor(text) {}

  Result<DimExpr> parse() {
    SymbolicValue value = cursor.text.size() > maxSymbolicTextBytes ? cursor.fail("is too long") : additive();
    if (cursor.ok() && cursor.next() != '\0')
      cursor.fail("goes on after its end");
    if (cursor.ok() && !(value.kind == Kind::Integer && value.isKnown && value.value.isValid()))
      cursor.fail("is not an integer that can be represented");
    if (!cursor.ok())
      return cursor.status;
    return value.value;
  }

private:
  SymbolicValue additive() {
    SymbolicValue value = multiplicative();
    while (cursor.ok()) {
      if (cursor.accept("+"))
        value = symbolicSum(value, multiplicative());
      else if (cursor.accept("-"))
        value = symbolicSum(value, symbolicProduct(symbolicInteger(-1), multiplicative()));
      else
        break;
    }
    return value;
  }

  SymbolicValue multiplicative() {
    SymbolicValue value = unary();
    while (cursor.ok()) {
      if (cursor.accept("//"))
        value = findSymbolicFunction("FloorDiv")->apply({value, unary()});
      else if (cursor.accept("/"))
        value = symbolicQuotient(value, unary());
      else if (cursor.accept("*"))
        value = symbolicProduct(value, unary());
      else if (cursor.accept("%"))
        value = findSymbolicFunction("Mod")->apply({value, unary()});
      else
        break;
    }
    return value;
  }

  SymbolicValue unary() {
    if (++cursor.depth > maxSymbolicDepth)
      return cursor.fail("is nested more than " + std::to_string(maxSymbolicDepth) + " deep");
    SymbolicValue value = cursor.accept("-") ? symbolicProduct(symbolicInteger(-1), unary()) : primary();
    --cursor.depth;
    return value;
  }

  SymbolicValue primary() {
    SymbolicValue value = atom();
    if (cursor.ok() && cursor.accept("**"))
      value = symbolicPower(value, unary());
    return value;
  }

  SymbolicValue atom() {
    if (cursor.accept("(")) {
      SymbolicValue value = additive();
      return cursor.ok() && !cursor.accept(")") ? cursor.fail("has an unfinished bracket") : value;
    }
    if (isDigit(cursor.next()))
      return cursor.literal();
    std::string_view name = cursor.name();
    if (!isSymbolName(name))
      return cursor.fail("is not an expression of sizes");
    if (!cursor.accept("("))
      return symbolicInteger(DimExpr::symbol(name));
    const SymbolicFunction *function = findSymbolicFunction(name);
    if (!function)
      return cursor.fail("calls `" + std::string(name.substr(0, 80)) + "`, which is not a function of sizes");
    SymbolicValues args;
    do
      args.push_back(additive());
    while (cursor.ok() && cursor.accept(",") && args.size() < maxSymbolicArguments);
    if (cursor.ok() && !cursor.accept(")"))
      return cursor.fail("has an unfinished function");
    if (!cursor.ok())
      return unknownSymbolic(Kind::Integer);
    if (args.size() < function->least || args.size() > function->most)
      return cursor.fail("has a `" + std::string(name) + "` of " + std::to_string(args.size()) + " arguments");
    return function->apply(args);
  }

  SymbolicCursor cursor;
};
} // namespace

Result<DimExpr> parsePrinted(std::string_view text) { return PrintedParser(text).parse(); }

} // namespace stator::torch::exported
