// Minimum and maximum of symbolic sizes: flattened, sorted, without arguments that another one always beats, and with what all
// arguments share (an addend, a positive factor) taken out: min(N + 1, 65) is min(N, 64) + 1.
#include "serialization/Base/DimPolynomial.h"

#include <algorithm>
#include <numeric>

using namespace stator;

/// A constant term of an expression, 0 if it has none.
static int64_t constantTerm(const DimExpr &e) {
  std::vector<DimTerm> terms = termsOf(e);
  return !terms.empty() && terms.back().factors.empty() ? terms.back().coefficient : 0;
}

/// Adds the arguments of `e` if it is such an atom, also within f * atom + k with f > 0; else `e` itself.
static void flatten(DimAtomKind kind, const DimExpr &e, std::vector<DimExpr> &arguments) {
  DimExpr addend = constantTerm(e);
  std::vector<DimTerm> terms = termsOf(e - addend);
  if (terms.size() == 1 && terms.front().coefficient > 0 && terms.front().factors.size() == 1 &&
      terms.front().factors.front()->kind == kind) {
    std::vector<DimExpr> inner;
    bool valid = true;
    for (const DimExpr &argument : terms.front().factors.front()->arguments) {
      inner.push_back(argument * DimExpr(terms.front().coefficient) + addend);
      valid &= inner.back().isValid();
    }
    if (valid) {
      arguments.insert(arguments.end(), inner.begin(), inner.end());
      return;
    }
  }
  arguments.push_back(e);
}

/// Whether `a` is never above `b`.
static bool atMost(const DimExpr &a, const DimExpr &b) {
  DimExpr difference = b - a;
  return difference.isValid() && difference.isNonNegative();
}

/// Drops every argument that another one makes needless.
static std::vector<DimExpr> undominated(DimAtomKind kind, const std::vector<DimExpr> &arguments) {
  std::vector<DimExpr> kept;
  for (const DimExpr &candidate : arguments) {
    auto beats = [&](const DimExpr &x, const DimExpr &y) { return kind == DimAtomKind::Min ? atMost(x, y) : atMost(y, x); };
    if (std::any_of(kept.begin(), kept.end(), [&](const DimExpr &other) { return beats(other, candidate); }))
      continue;
    std::erase_if(kept, [&](const DimExpr &other) { return beats(candidate, other); });
    kept.push_back(candidate);
  }
  return kept;
}

/// The greatest common divisor of all coefficients.
static uint64_t content(const std::vector<DimExpr> &arguments) {
  uint64_t divisor = 0;
  for (const DimExpr &argument : arguments)
    for (const DimTerm &term : termsOf(argument))
      divisor =
          std::gcd(divisor, term.coefficient < 0 ? 0 - static_cast<uint64_t>(term.coefficient) : static_cast<uint64_t>(term.coefficient));
  return divisor;
}

static DimExpr extremum(DimAtomKind kind, const DimExpr &a, const DimExpr &b) {
  if (!a.isValid() || !b.isValid())
    return a.isValid() ? b : a;
  if (a.isConstant() && b.isConstant())
    return DimExpr(kind == DimAtomKind::Min ? std::min(*a.constant(), *b.constant()) : std::max(*a.constant(), *b.constant()));
  std::vector<DimExpr> arguments;
  flatten(kind, a, arguments);
  flatten(kind, b, arguments);
  arguments = undominated(kind, arguments);
  if (arguments.size() == 1)
    return arguments.front();

  int64_t addend = constantTerm(arguments.front());
  for (const DimExpr &argument : arguments)
    addend = std::min(addend, constantTerm(argument));
  std::vector<DimExpr> reduced;
  for (const DimExpr &argument : arguments)
    reduced.push_back(argument - DimExpr(addend));
  bool valid = std::all_of(reduced.begin(), reduced.end(), [](const DimExpr &e) { return e.isValid(); });
  if (!valid) {
    reduced = arguments;
    addend = 0;
  }
  int64_t factor = 1;
  uint64_t divisor = content(reduced);
  if (divisor > 1 && divisor <= INT64_MAX) {
    factor = static_cast<int64_t>(divisor);
    for (DimExpr &argument : reduced)
      argument = *argument.exactDiv(factor);
  }
  // Symbolic arguments first, the constant last: min(T, 64).
  std::sort(reduced.begin(), reduced.end(), [](const DimExpr &x, const DimExpr &y) { return y < x; });
  std::sort(reduced.begin(), reduced.end() - (reduced.back().isConstant() ? 1 : 0));
  return fromAtom(kind, std::move(reduced)) * DimExpr(factor) + DimExpr(addend);
}

DimExpr DimExpr::min(const DimExpr &other) const { return extremum(DimAtomKind::Min, *this, other); }
DimExpr DimExpr::max(const DimExpr &other) const { return extremum(DimAtomKind::Max, *this, other); }
