// Facts about sizes. Two sizes that an operation needs to be equal are made equal in one of four ways, tried in this order:
//   1. they are the same expression already;
//   2. a symbol is solved for and replaced everywhere (T == 64, N == M, 2*h == 64): the method then has one symbol less;
//   3. a min or max is decided by narrowing a range (min(T, 64) == T means T <= 64);
//   4. a guard `a == b` is recorded, checked whenever the model runs.
// Ranges that contradict are an error at once. Replacing rewrites all types made so far; that happens at most once per symbol.
#include "compiler/Trace/BuilderImpl.h"
#include "compiler/Trace/Postfix.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace stator::trace {

namespace {

constexpr size_t kMaxSymbols = 4096;
constexpr size_t kMaxGuards = 4096;
constexpr int64_t kDefaultMaxSize = 2147483647;

std::string describe(const DimExpr &expr, const std::map<std::string, DimInterval> &ranges) {
  std::string text = "`" + expr.str() + "`";
  if (expr.isConstant())
    return text;
  DimInterval range = expr.bounds(ranges);
  return text + " (" + (range.lo ? std::to_string(*range.lo) : "?") + ".." + (range.hi ? std::to_string(*range.hi) : "?") + ")";
}

/// The coefficient of `symbol` in an expression that is linear in it with a constant coefficient; 0 otherwise.
int64_t linearCoefficient(const DimExpr &expr, const std::string &symbol) {
  DimExpr step = expr.substitute({{symbol, DimExpr::symbol(symbol) + 1}}) - expr;
  std::optional<int64_t> coefficient = step.constant();
  if (!coefficient)
    return 0;
  // A floordiv may step by a constant by accident of simplification; what is left must be free of the symbol.
  DimExpr rest = expr - DimExpr(*coefficient) * DimExpr::symbol(symbol);
  return rest.isValid() && !llvm::is_contained(rest.symbols(), symbol) ? *coefficient : 0;
}

int64_t floorDivide(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

} // namespace

void BuilderImpl::declareSymbol(llvm::StringRef nameRef, int64_t min, int64_t max) {
  std::string name = nameRef.str();
  if (name.empty()) {
    invalid("a symbol needs a name");
    return;
  }
  if (min < 0 || max < min) {
    invalid("symbol `" + nameRef + "` has the range " + llvm::Twine(min) + ".." + llvm::Twine(max) + ", expected 0 <= min <= max");
    return;
  }
  auto [entry, isNew] = ranges_.try_emplace(name, DimInterval{min, max});
  if (isNew) {
    if (symbolOrder_.size() >= kMaxSymbols) {
      fail(StatusCode::ResourceExhausted, "more than " + llvm::Twine(kMaxSymbols) + " symbols");
      return;
    }
    symbolOrder_.push_back(name);
    return;
  }
  narrow(name, min, max);
}

DimExpr BuilderImpl::simplify(const DimExpr &expr) {
  if (expr.isConstant())
    return expr;
  DimExpr result = replaced_.empty() ? expr : expr.substitute(replaced_);
  if (result.isConstant() || result.str().find('(') == std::string::npos)
    return result;
  return rebuild(result, [this](DimOpcode op, const DimExpr &a, const DimExpr &b) -> DimExpr {
    switch (op) {
    case DimOpcode::Min:
      return min(a, b);
    case DimOpcode::Max:
      return max(a, b);
    case DimOpcode::FloorDiv:
    case DimOpcode::Mod:
      if (isLess(a, b).value_or(false) && bounds(a).lo.value_or(-1) >= 0)
        return op == DimOpcode::Mod ? a : DimExpr(0);
      [[fallthrough]];
    default:
      return apply(op, a, b);
    }
  });
}

std::optional<bool> BuilderImpl::isEqual(const DimExpr &a, const DimExpr &b) {
  if (a == b)
    return true;
  if (a.isConstant() && b.isConstant())
    return false;
  for (const auto &[x, y] : guards_)
    if ((x == a && y == b) || (x == b && y == a))
      return true;
  DimExpr difference = a - b;
  if (!difference.isValid())
    return std::nullopt;
  DimInterval range = bounds(difference);
  if ((range.lo && *range.lo > 0) || (range.hi && *range.hi < 0))
    return false;
  if (range.lo && range.hi && *range.lo == 0 && *range.hi == 0)
    return true;
  return std::nullopt;
}

std::optional<bool> BuilderImpl::isLess(const DimExpr &a, const DimExpr &b) {
  DimExpr difference = a - b;
  if (!difference.isValid())
    return std::nullopt;
  DimInterval range = bounds(difference);
  if (range.hi && *range.hi < 0)
    return true;
  if (range.lo && *range.lo >= 0)
    return false;
  return std::nullopt;
}

bool BuilderImpl::assumeNonNegative(const DimExpr &expr, int64_t most) {
  if (bounds(expr).lo.value_or(-1) >= 0)
    return true;
  std::vector<std::string> symbols = expr.symbols();
  if (symbols.size() == 1) {
    int64_t coefficient = linearCoefficient(expr, symbols[0]);
    std::optional<int64_t> rest = expr.substitute({{symbols[0], DimExpr(0)}}).constant();
    if (coefficient > 0 && rest && *rest != std::numeric_limits<int64_t>::min()) {
      int64_t least = -floorDivide(*rest, coefficient);
      std::optional<int64_t> greatest = bounds(DimExpr::symbol(symbols[0])).hi;
      return least <= most && greatest.value_or(least) >= least && narrow(symbols[0], least, std::nullopt);
    }
  }
  // Sizes that are at least 1 may be enough, as in `h*w - 1`.
  std::map<std::string, DimInterval> raised = ranges_;
  for (const std::string &symbol : symbols) {
    DimInterval range = bounds(DimExpr::symbol(symbol));
    raised[symbol] = DimInterval{std::max<int64_t>(1, range.lo.value_or(0)), range.hi};
    if (range.hi && *range.hi < 1)
      return false;
  }
  if (expr.bounds(raised).lo.value_or(-1) < 0)
    return false;
  for (const std::string &symbol : symbols)
    narrow(symbol, 1, std::nullopt);
  return ok();
}

DimExpr BuilderImpl::min(const DimExpr &a, const DimExpr &b) {
  if (isLess(a, b + 1).value_or(false))
    return a;
  if (isLess(b, a + 1).value_or(false))
    return b;
  return a.min(b);
}

DimExpr BuilderImpl::max(const DimExpr &a, const DimExpr &b) {
  if (isLess(a, b + 1).value_or(false))
    return b;
  if (isLess(b, a + 1).value_or(false))
    return a;
  return a.max(b);
}

DimExpr BuilderImpl::broadcastDim(const DimExpr &a, const DimExpr &b, llvm::StringRef what) {
  if (a.isConstant(1))
    return b;
  if (b.isConstant(1))
    return a;
  // A size of 0 or 1, as of `x[:, :1]`, gives way as well: whoever broadcasts it takes the axis for one that is not empty.
  auto isAtMostOne = [&](const DimExpr &size) { return !size.isConstant() && bounds(size).hi == 1; };
  if (isAtMostOne(a) != isAtMostOne(b)) {
    const DimExpr &least = isAtMostOne(a) ? a : b, &other = isAtMostOne(a) ? b : a;
    if (assumeNonNegative(least - DimExpr(1)) && simplify(least).isConstant(1))
      return simplify(other);
  }
  return requireEqual(a, b, what);
}

DimExpr BuilderImpl::requireEqual(DimExpr a, DimExpr b, llvm::StringRef what) {
  if (!ok())
    return a;
  a = simplify(a);
  b = simplify(b);
  auto mismatch = [&] {
    invalid((what.empty() ? llvm::Twine("sizes differ: ") : llvm::Twine("`") + what + "`: sizes differ: ") + describe(a, ranges_) +
            " and " + describe(b, ranges_));
    return a;
  };
  if (!a.isValid() || !b.isValid()) {
    invalid((what.empty() ? llvm::Twine() : llvm::Twine("`") + what + "`: ") + (a.isValid() ? b : a).status().message());
    return a;
  }
  std::optional<bool> equal = isEqual(a, b);
  if (equal && !*equal)
    return mismatch();
  if (a == b)
    return a;
  if (!equal && trySolve(a, b))
    return ok() ? simplify(a) : a;
  if (!equal && (tryNarrow(a, b) || tryNarrow(b, a))) {
    DimExpr left = simplify(a);
    if (!ok() || left == simplify(b))
      return left;
  }
  if (!ok())
    return mismatch();
  if (!equal) {
    if (guards_.size() >= kMaxGuards) {
      fail(StatusCode::ResourceExhausted, "more than " + llvm::Twine(kMaxGuards) + " guards");
      return a;
    }
    guards_.emplace_back(a, b);
    noteOperators(a);
    noteOperators(b);
  }
  // Both spellings mean the same from here on; the simpler one goes into types.
  std::string textA = a.str(), textB = b.str();
  return textA.size() < textB.size() || (textA.size() == textB.size() && textA < textB) ? a : b;
}

/// Solves a == b for one symbol. True when that settled it, by a replacement or by an error.
bool BuilderImpl::trySolve(const DimExpr &a, const DimExpr &b) {
  DimExpr difference = a - b;
  if (!difference.isValid())
    return false;
  // The symbol declared last goes, so that the names of the first inputs survive.
  std::vector<std::string> symbols = difference.symbols();
  llvm::sort(symbols,
             [&](const std::string &x, const std::string &y) { return llvm::find(symbolOrder_, x) > llvm::find(symbolOrder_, y); });
  for (const std::string &symbol : symbols) {
    int64_t coefficient = linearCoefficient(difference, symbol);
    if (coefficient == 0 || coefficient == std::numeric_limits<int64_t>::min())
      continue;
    DimExpr rest = DimExpr(coefficient) * DimExpr::symbol(symbol) - difference; // coefficient * symbol == rest
    if (coefficient < 0) {
      coefficient = -coefficient;
      rest = DimExpr(0) - rest;
    }
    std::optional<DimExpr> solution = rest.exactDiv(DimExpr(coefficient));
    if (!solution) {
      if (rest.isConstant()) {
        invalid("sizes differ: `" + a.str() + "` and `" + b.str() + "` are equal for no `" + symbol + "`");
        return true;
      }
      continue;
    }
    DimInterval own = bounds(DimExpr::symbol(symbol)), other = bounds(*solution);
    if ((own.lo && other.hi && *other.hi < *own.lo) || (own.hi && other.lo && *other.lo > *own.hi)) {
      invalid("sizes differ: `" + a.str() + "` and `" + b.str() + "`, since " + describe(DimExpr::symbol(symbol), ranges_) + " cannot be " +
              describe(*solution, ranges_));
      return true;
    }
    replaceSymbol(symbol, *solution);
    // The range of the symbol that is gone holds for what replaces it.
    if (own.lo && !(other.lo && *other.lo >= *own.lo) && !tryNarrow(max(*solution, DimExpr(*own.lo)), *solution))
      guards_.emplace_back(solution->max(DimExpr(*own.lo)), *solution);
    if (own.hi && *own.hi < kDefaultMaxSize && !(other.hi && *other.hi <= *own.hi) &&
        !tryNarrow(min(*solution, DimExpr(*own.hi)), *solution))
      guards_.emplace_back(solution->min(DimExpr(*own.hi)), *solution);
    return true;
  }
  return false;
}

/// `a` is min(b, y) or max(b, y): a == b bounds b by y. True when a range could be narrowed so (or an error was found).
bool BuilderImpl::tryNarrow(const DimExpr &a, const DimExpr &b) {
  std::optional<PostfixNode> top = topOperation(a);
  if (!top || (top->op != DimOpcode::Min && top->op != DimOpcode::Max))
    return false;
  DimExpr other;
  if (top->left == b)
    other = top->right;
  else if (top->right == b)
    other = top->left;
  else
    return false;
  // What must not be negative.
  DimExpr slack = top->op == DimOpcode::Min ? other - b : b - other;
  std::vector<std::string> symbols = slack.symbols();
  if (!slack.isValid() || symbols.size() != 1)
    return false;
  int64_t coefficient = linearCoefficient(slack, symbols[0]);
  std::optional<int64_t> rest = slack.substitute({{symbols[0], DimExpr(0)}}).constant();
  if (coefficient == 0 || !rest || *rest == std::numeric_limits<int64_t>::min())
    return false;
  // coefficient * symbol + rest >= 0.
  return coefficient > 0 ? narrow(symbols[0], -floorDivide(*rest, coefficient), std::nullopt)
                         : narrow(symbols[0], std::nullopt, floorDivide(*rest, -coefficient));
}

bool BuilderImpl::narrow(const std::string &symbol, std::optional<int64_t> lo, std::optional<int64_t> hi) {
  if (!ranges_.count(symbol))
    declareSymbol(symbol, 0, kDefaultMaxSize);
  DimInterval &range = ranges_[symbol];
  DimInterval old = range;
  if (lo)
    range.lo = std::max(*lo, *range.lo);
  if (hi)
    range.hi = std::min(*hi, *range.hi);
  if (*range.lo > *range.hi) {
    invalid("`" + symbol + "` ranges over " + llvm::Twine(*old.lo) + ".." + llvm::Twine(*old.hi) + ", but must be " +
            (lo ? "at least " + std::to_string(*lo) : "at most " + std::to_string(*hi)) + " here");
    range = old;
    return true;
  }
  if (range.lo != old.lo || range.hi != old.hi) {
    narrowed_ = true;
    if (insideOperators_.count(symbol))
      rewriteSizes();
  }
  return true;
}

void BuilderImpl::noteOperators(const DimExpr &expr) {
  if (expr.isConstant() || expr.str().find('(') == std::string::npos)
    return;
  for (const std::string &symbol : expr.symbols())
    insideOperators_.insert(symbol);
}

void BuilderImpl::replaceSymbol(const std::string &name, const DimExpr &by) {
  std::map<std::string, DimExpr> step{{name, by}};
  for (auto &[symbol, value] : replaced_)
    value = value.substitute(step);
  replaced_[name] = by;
  if (insideOperators_.count(name))
    for (const std::string &symbol : by.symbols())
      insideOperators_.insert(symbol);
  noteOperators(by);
  rewriteSizes();
}

void BuilderImpl::rewriteSizes() {
  if (!ok())
    return;
  for (TensorNode &node : nodes_) {
    for (DimExpr &dim : node.dims)
      dim = simplify(dim);
    if (!node.contents)
      continue;
    for (Element &element : *node.contents)
      if (!element.isNumber() && !element.numerator().isConstant())
        element = Element(simplify(element.numerator()), element.divisor());
  }
  std::vector<std::pair<DimExpr, DimExpr>> guards;
  for (auto &[a, b] : guards_)
    if (DimExpr left = simplify(a), right = simplify(b); !(left == right))
      guards.emplace_back(left, right);
  guards_ = std::move(guards);

  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([this](graph::DimsAttr attr) -> std::optional<mlir::Attribute> {
    llvm::SmallVector<DimExpr> dims;
    for (const DimExpr &dim : attr.dims())
      dims.push_back(simplify(dim));
    return graph::DimsAttr::get(attr.getContext(), dims);
  });
  replacer.addReplacement([this](mlir::RankedTensorType type) -> std::optional<mlir::Type> {
    if (!type.getEncoding())
      return type;
    llvm::SmallVector<DimExpr> dims;
    for (const DimExpr &dim : graph::dimsOf(type))
      dims.push_back(simplify(dim));
    return graph::tensorType(dims, type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(method_, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

} // namespace stator::trace
