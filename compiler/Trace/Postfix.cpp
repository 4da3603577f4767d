// A stack machine over the postfix code of DimExpr.
#include "compiler/Trace/Postfix.h"

namespace stator::trace {

DimExpr apply(DimOpcode op, const DimExpr &a, const DimExpr &b) {
  switch (op) {
  case DimOpcode::Add:
    return a + b;
  case DimOpcode::Sub:
    return a - b;
  case DimOpcode::Mul:
    return a * b;
  case DimOpcode::FloorDiv:
    return a.floorDiv(b);
  case DimOpcode::CeilDiv:
    return a.ceilDiv(b);
  case DimOpcode::Mod:
    return a.mod(b);
  case DimOpcode::Min:
    return a.min(b);
  case DimOpcode::Max:
    return a.max(b);
  case DimOpcode::Const:
  case DimOpcode::Symbol:
    break;
  }
  return DimExpr::invalid("not an operation");
}

DimExpr rebuild(const DimExpr &expr, const std::function<DimExpr(DimOpcode, const DimExpr &, const DimExpr &)> &combine) {
  std::vector<std::string> symbols = expr.symbols();
  std::map<std::string, uint32_t> index;
  for (uint32_t i = 0; i < symbols.size(); ++i)
    index[symbols[i]] = i;
  Result<std::vector<int64_t>> code = compile(expr, index);
  if (!code.ok())
    return expr;
  std::vector<DimExpr> stack;
  for (size_t i = 0; i < code->size(); ++i) {
    DimOpcode op = static_cast<DimOpcode>((*code)[i]);
    if (op == DimOpcode::Const) {
      stack.emplace_back((*code)[++i]);
    } else if (op == DimOpcode::Symbol) {
      stack.push_back(DimExpr::symbol(symbols[(*code)[++i]]));
    } else {
      DimExpr right = stack.back();
      stack.pop_back();
      stack.back() = combine(op, stack.back(), right);
    }
  }
  return stack.size() == 1 ? stack.back() : expr;
}

std::optional<PostfixNode> topOperation(const DimExpr &expr) {
  std::optional<PostfixNode> top;
  rebuild(expr, [&](DimOpcode op, const DimExpr &left, const DimExpr &right) {
    top = PostfixNode{op, left, right};
    return apply(op, left, right);
  });
  return top;
}

} // namespace stator::trace
