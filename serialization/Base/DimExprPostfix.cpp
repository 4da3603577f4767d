// Symbolic sizes as postfix code: what the artifact stores and the runtime evaluates for every new shape, on a fixed stack and without
// allocating.
#include "serialization/Base/DimPolynomial.h"

#include <algorithm>

using namespace stator;

static Status emit(const DimExpr &e, const std::map<std::string, uint32_t> &symbolIndex, std::vector<int64_t> &code);

static void push(std::vector<int64_t> &code, DimOpcode opcode) { code.push_back(static_cast<int64_t>(opcode)); }

static DimOpcode opcodeOf(DimAtomKind kind) {
  switch (kind) {
  case DimAtomKind::FloorDiv:
    return DimOpcode::FloorDiv;
  case DimAtomKind::CeilDiv:
    return DimOpcode::CeilDiv;
  case DimAtomKind::Mod:
    return DimOpcode::Mod;
  case DimAtomKind::Min:
    return DimOpcode::Min;
  case DimAtomKind::Max:
    return DimOpcode::Max;
  case DimAtomKind::Symbol:
    break;
  }
  return DimOpcode::Symbol;
}

static Status emitAtom(const DimAtom &atom, const std::map<std::string, uint32_t> &symbolIndex, std::vector<int64_t> &code) {
  if (atom.kind == DimAtomKind::Symbol) {
    auto found = symbolIndex.find(atom.name);
    if (found == symbolIndex.end())
      return invalidArgument("size expression uses the symbol `" + atom.name + "`, which is not declared");
    push(code, DimOpcode::Symbol);
    code.push_back(found->second);
    return Status();
  }
  STATOR_RETURN_IF_ERROR(emit(atom.arguments.front(), symbolIndex, code));
  for (size_t i = 1; i != atom.arguments.size(); ++i) {
    STATOR_RETURN_IF_ERROR(emit(atom.arguments[i], symbolIndex, code));
    push(code, opcodeOf(atom.kind));
  }
  return Status();
}

static Status emit(const DimExpr &e, const std::map<std::string, uint32_t> &symbolIndex, std::vector<int64_t> &code) {
  std::vector<DimTerm> terms = termsOf(e);
  if (terms.empty()) {
    push(code, DimOpcode::Const);
    code.push_back(0);
  }
  bool firstTerm = true;
  for (const DimTerm &term : terms) {
    bool firstFactor = true;
    if (term.coefficient != 1 || term.factors.empty()) {
      push(code, DimOpcode::Const);
      code.push_back(term.coefficient);
      firstFactor = false;
    }
    for (const DimAtomPtr &atom : term.factors) {
      STATOR_RETURN_IF_ERROR(emitAtom(*atom, symbolIndex, code));
      if (!firstFactor)
        push(code, DimOpcode::Mul);
      firstFactor = false;
    }
    if (!firstTerm)
      push(code, DimOpcode::Add);
    firstTerm = false;
  }
  return Status();
}

Result<std::vector<int64_t>> stator::compile(const DimExpr &expr, const std::map<std::string, uint32_t> &symbolIndex) {
  STATOR_RETURN_IF_ERROR(expr.status());
  std::vector<int64_t> code;
  STATOR_RETURN_IF_ERROR(emit(expr, symbolIndex, code));
  return code;
}

static Status malformed(const std::string &what, size_t position) {
  return invalidArgument("expression code, element " + std::to_string(position) + ": " + what);
}

Status stator::checkPostfix(std::span<const int64_t> code, size_t numSymbols) {
  unsigned depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    int64_t opcode = code[i];
    if (opcode < 0 || opcode > static_cast<int64_t>(DimOpcode::Max))
      return malformed("unknown operator " + std::to_string(opcode), i);
    if (opcode == static_cast<int64_t>(DimOpcode::Const) || opcode == static_cast<int64_t>(DimOpcode::Symbol)) {
      if (i + 1 == code.size())
        return malformed("the operand is missing", i);
      ++i;
      if (opcode == static_cast<int64_t>(DimOpcode::Symbol) && (code[i] < 0 || static_cast<uint64_t>(code[i]) >= numSymbols))
        return malformed("symbol " + std::to_string(code[i]) + " of " + std::to_string(numSymbols), i);
      if (++depth > kMaxPostfixDepth)
        return malformed("more than " + std::to_string(kMaxPostfixDepth) + " values at once", i);
      continue;
    }
    if (depth < 2)
      return malformed("an operator has " + std::to_string(depth) + " operands, expected 2", i);
    --depth;
  }
  if (depth != 1)
    return malformed(std::to_string(depth) + " results, expected 1", code.size());
  return Status();
}

/// One operator; false on overflow and on division by zero.
static bool applyOpcode(DimOpcode opcode, int64_t a, int64_t b, int64_t &result) {
  std::optional<int64_t> quotient;
  switch (opcode) {
  case DimOpcode::Add:
    return !__builtin_add_overflow(a, b, &result);
  case DimOpcode::Sub:
    return !__builtin_sub_overflow(a, b, &result);
  case DimOpcode::Mul:
    return !__builtin_mul_overflow(a, b, &result);
  case DimOpcode::FloorDiv:
    quotient = floorDivide(a, b);
    break;
  case DimOpcode::CeilDiv:
    quotient = ceilDivide(a, b);
    break;
  case DimOpcode::Mod:
    quotient = floorModulo(a, b);
    break;
  case DimOpcode::Min:
    quotient = std::min(a, b);
    break;
  case DimOpcode::Max:
    quotient = std::max(a, b);
    break;
  default:
    return false;
  }
  if (quotient)
    result = *quotient;
  return quotient.has_value();
}

Result<int64_t> stator::evaluatePostfix(std::span<const int64_t> code, std::span<const int64_t> symbols) {
  int64_t stack[kMaxPostfixDepth];
  unsigned depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    int64_t opcode = code[i];
    if (opcode == static_cast<int64_t>(DimOpcode::Const) || opcode == static_cast<int64_t>(DimOpcode::Symbol)) {
      if (++i == code.size() || depth == kMaxPostfixDepth)
        return checkPostfix(code, symbols.size());
      if (opcode == static_cast<int64_t>(DimOpcode::Const)) {
        stack[depth++] = code[i];
        continue;
      }
      if (code[i] < 0 || static_cast<uint64_t>(code[i]) >= symbols.size())
        return checkPostfix(code, symbols.size());
      stack[depth++] = symbols[static_cast<size_t>(code[i])];
      continue;
    }
    if (depth < 2 || opcode < 0 || opcode > static_cast<int64_t>(DimOpcode::Max))
      return checkPostfix(code, symbols.size());
    int64_t b = stack[--depth], a = stack[depth - 1];
    if (!applyOpcode(static_cast<DimOpcode>(opcode), a, b, stack[depth - 1])) {
      bool divides = opcode >= static_cast<int64_t>(DimOpcode::FloorDiv) && opcode <= static_cast<int64_t>(DimOpcode::Mod);
      return outOfRange(divides && b == 0 ? "a size expression divides by zero" : "a size expression exceeds 64 bits");
    }
  }
  if (depth != 1)
    return checkPostfix(code, symbols.size());
  return stack[0];
}

DimExpr stator::decompile(std::span<const int64_t> code, std::span<const std::string> symbolNames) {
  std::vector<DimExpr> stack;
  if (Status status = checkPostfix(code, symbolNames.size()); !status.ok())
    return DimExpr::invalid(status.message());
  for (size_t i = 0; i < code.size(); ++i) {
    DimOpcode opcode = static_cast<DimOpcode>(code[i]);
    if (opcode == DimOpcode::Const) {
      stack.push_back(code[++i]);
      continue;
    }
    if (opcode == DimOpcode::Symbol) {
      stack.push_back(DimExpr::symbol(symbolNames[static_cast<size_t>(code[++i])]));
      continue;
    }
    DimExpr b = std::move(stack.back());
    stack.pop_back();
    DimExpr &a = stack.back();
    switch (opcode) {
    case DimOpcode::Add:
      a = a + b;
      break;
    case DimOpcode::Sub:
      a = a - b;
      break;
    case DimOpcode::Mul:
      a = a * b;
      break;
    case DimOpcode::FloorDiv:
      a = a.floorDiv(b);
      break;
    case DimOpcode::CeilDiv:
      a = a.ceilDiv(b);
      break;
    case DimOpcode::Mod:
      a = a.mod(b);
      break;
    case DimOpcode::Min:
      a = a.min(b);
      break;
    default:
      a = a.max(b);
      break;
    }
  }
  return stack.front();
}
