// floordiv, ceildiv and mod of symbolic sizes. The identities used, all of which hold for every integer (floor semantics) as long as the
// divisor is not zero:
//   floor((q*b + r) / b) = q + floor(r / b)                     whole multiples leave the division
//   floor((g*x) / (g*y)) = floor(x / y)                         common factors cancel
//   floor((g*x + k) / (g*c)) = floor((x + floor(k/g)) / c)      g, c > 0 constants
//   floor((floor(x / c) + k) / d) = floor((x + k*c) / (c*d))    c, d > 0 constants: strided layers in sequence
//   ceil(x / c) = floor((x + c - 1) / c)                        c > 0 constant: one form for both roundings
// A rewrite that would overflow is left out; the plain atom is always right.
#include "serialization/Base/DimPolynomial.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

using namespace stator;

std::optional<int64_t> stator::floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::optional<int64_t> stator::ceilDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  int64_t quotient = a / b;
  return quotient + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
}

std::optional<int64_t> stator::floorModulo(int64_t a, int64_t b) {
  if (b == 0)
    return std::nullopt;
  if (b == -1)
    return 0;
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

std::optional<std::vector<DimAtomPtr>> stator::divideMonomials(const std::vector<DimAtomPtr> &a, const std::vector<DimAtomPtr> &b) {
  std::vector<DimAtomPtr> quotient;
  size_t next = 0;
  for (const DimAtomPtr &atom : a) {
    if (next != b.size() && b[next]->text == atom->text)
      ++next;
    else
      quotient.push_back(atom);
  }
  return next == b.size() ? std::optional(std::move(quotient)) : std::nullopt;
}

/// Term by term, if both the coefficient and the monomial divide.
static std::optional<DimTerm> divideTerms(const DimTerm &a, const DimTerm &b) {
  if (b.coefficient == 0 || (a.coefficient == INT64_MIN && b.coefficient == -1) || a.coefficient % b.coefficient != 0)
    return std::nullopt;
  std::optional<std::vector<DimAtomPtr>> factors = divideMonomials(a.factors, b.factors);
  if (!factors)
    return std::nullopt;
  return DimTerm{a.coefficient / b.coefficient, std::move(*factors)};
}

std::optional<DimExpr> DimExpr::exactDiv(const DimExpr &divisor) const {
  if (!isValid() || !divisor.isValid() || divisor.isConstant(0))
    return std::nullopt;
  // Long division by the leading term. A quotient exists exactly when every step divides; each step removes the leading term, and
  // the number of steps is bounded by the budget for sizes.
  DimTerm lead = termsOf(divisor).front();
  DimExpr rest = *this;
  std::vector<DimTerm> quotient;
  while (!rest.isConstant(0)) {
    if (quotient.size() > kMaxDimWeight)
      return std::nullopt;
    std::optional<DimTerm> step = divideTerms(termsOf(rest).front(), lead);
    if (!step)
      return std::nullopt;
    rest = rest - fromTerms({*step}) * divisor;
    if (!rest.isValid())
      return std::nullopt;
    quotient.push_back(std::move(*step));
  }
  DimExpr result = fromTerms(std::move(quotient));
  return result.isValid() ? std::optional(std::move(result)) : std::nullopt;
}

static uint64_t magnitude(int64_t value) { return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value); }

/// The factors that all terms of `a` and `b` share, as one term; the coefficient is positive.
static DimTerm commonFactor(const DimExpr &a, const DimExpr &b) {
  DimTerm common;
  uint64_t divisor = 0;
  bool first = true;
  for (const DimExpr *e : {&a, &b})
    for (const DimTerm &term : termsOf(*e)) {
      divisor = std::gcd(divisor, magnitude(term.coefficient));
      if (first) {
        common.factors = term.factors;
      } else {
        std::vector<DimAtomPtr> shared;
        std::set_intersection(common.factors.begin(), common.factors.end(), term.factors.begin(), term.factors.end(),
                              std::back_inserter(shared), [](const DimAtomPtr &p, const DimAtomPtr &q) { return p->text < q->text; });
        common.factors = std::move(shared);
      }
      first = false;
    }
  common.coefficient = divisor > INT64_MAX || divisor == 0 ? 1 : static_cast<int64_t>(divisor);
  return common;
}

namespace {
/// a = quotient * divisor + remainder, in the sense needed to take `quotient` out of a floor division.
struct Split {
  DimExpr quotient;
  DimExpr remainder;
};
} // namespace

/// Takes out of `a` what is a multiple of the single term `divisor`. With a constant divisor coefficients are reduced below it, and the
/// constant to 0 .. divisor-1.
static Split splitMultiples(const DimExpr &a, const DimTerm &divisor) {
  std::vector<DimTerm> quotient, remainder;
  for (const DimTerm &term : termsOf(a)) {
    std::optional<std::vector<DimAtomPtr>> factors = divideMonomials(term.factors, divisor.factors);
    if (!factors || divisor.coefficient <= 0) {
      remainder.push_back(term);
      continue;
    }
    bool isConstant = term.factors.empty();
    int64_t part = isConstant ? *floorDivide(term.coefficient, divisor.coefficient) : term.coefficient / divisor.coefficient;
    int64_t rest = term.coefficient - part * divisor.coefficient;
    if (part != 0)
      quotient.push_back({part, std::move(*factors)});
    if (rest != 0)
      remainder.push_back({rest, term.factors});
  }
  return {fromTerms(std::move(quotient)), fromTerms(std::move(remainder))};
}

/// Whether the sign of numerator and divisor should be turned: one form for x / -y and -x / y.
static bool leadIsNegative(const DimExpr &e) {
  std::vector<DimTerm> terms = termsOf(e);
  return !terms.empty() && terms.front().coefficient < 0;
}

static bool allSymbolicTermsNegative(const DimExpr &e) {
  bool any = false;
  for (const DimTerm &term : termsOf(e)) {
    if (term.factors.empty())
      continue;
    if (term.coefficient > 0)
      return false;
    any = true;
  }
  return any;
}

static int64_t constantTerm(const DimExpr &e) {
  std::vector<DimTerm> terms = termsOf(e);
  return !terms.empty() && terms.back().factors.empty() ? terms.back().coefficient : 0;
}

/// floordiv(a, c) for a constant c > 1, where multiples of c are already taken out; invalid when a step overflows.
static DimExpr floorDivByConstant(DimExpr a, int64_t c) {
  // -ceil(x / c) reads better than floor(-x / c) and is what ceilDiv makes of x.
  if (allSymbolicTermsNegative(a))
    return -((-a) + DimExpr(c - 1)).floorDiv(c);
  int64_t constant = constantTerm(a);
  uint64_t shared = static_cast<uint64_t>(c);
  for (const DimTerm &term : termsOf(a))
    if (!term.factors.empty())
      shared = std::gcd(shared, magnitude(term.coefficient));
  if (shared > 1) {
    int64_t g = static_cast<int64_t>(shared);
    std::optional<DimExpr> symbolic = (a - DimExpr(constant)).exactDiv(g);
    if (symbolic)
      return (*symbolic + DimExpr(*floorDivide(constant, g))).floorDiv(c / g);
  }
  // floordiv(floordiv(x, d) + k, c).
  DimAtomPtr inner = asAtom(a - DimExpr(constant));
  if (inner && inner->kind == DimAtomKind::FloorDiv && inner->arguments[1].constant() > 0) {
    const DimExpr &d = inner->arguments[1];
    DimExpr combined = (inner->arguments[0] + DimExpr(constant) * d).floorDiv(d * DimExpr(c));
    if (combined.isValid())
      return combined;
  }
  return fromAtom(DimAtomKind::FloorDiv, {std::move(a), c});
}

static DimExpr divide(DimAtomKind kind, const DimExpr &a, const DimExpr &b) {
  if (std::optional<DimExpr> exact = a.exactDiv(b))
    return *exact;
  if (leadIsNegative(b)) {
    DimExpr turnedA = -a, turnedB = -b;
    if (turnedA.isValid() && turnedB.isValid())
      return divide(kind, turnedA, turnedB);
    return fromAtom(kind, {a, b});
  }
  if (b.isConstant()) {
    int64_t c = *b.constant();
    if (kind == DimAtomKind::CeilDiv) {
      DimExpr asFloor = (a + DimExpr(c - 1)).floorDiv(b);
      return asFloor.isValid() ? asFloor : fromAtom(kind, {a, b});
    }
    Split split = splitMultiples(a, DimTerm{c, {}});
    DimExpr result = split.quotient + floorDivByConstant(split.remainder, c);
    return result.isValid() ? result : fromAtom(kind, {a, b});
  }

  DimTerm common = commonFactor(a, b);
  if (common.coefficient != 1 || !common.factors.empty()) {
    DimExpr factor = fromTerms({common});
    std::optional<DimExpr> smallA = a.exactDiv(factor), smallB = b.exactDiv(factor);
    if (smallA && smallB)
      return divide(kind, *smallA, *smallB);
  }
  std::vector<DimTerm> divisorTerms = termsOf(b);
  if (divisorTerms.size() == 1) {
    Split split = splitMultiples(a, divisorTerms.front());
    if (!split.quotient.isConstant(0) && split.quotient.isValid() && split.remainder.isValid())
      return split.quotient + divide(kind, split.remainder, b);
  }
  if (kind == DimAtomKind::FloorDiv && a.isNonNegative() && (b - a - DimExpr(1)).isNonNegative())
    return DimExpr(0);
  return fromAtom(kind, {a, b});
}

static DimExpr checkedOperands(const DimExpr &a, const DimExpr &b) {
  if (!a.isValid())
    return a;
  if (!b.isValid())
    return b;
  if (b.isConstant(0))
    return DimExpr::invalid("division by zero");
  return 0;
}

DimExpr DimExpr::floorDiv(const DimExpr &divisor) const {
  DimExpr error = checkedOperands(*this, divisor);
  if (!error.isValid())
    return error;
  if (isConstant() && divisor.isConstant()) {
    std::optional<int64_t> quotient = floorDivide(value, divisor.value);
    return quotient ? DimExpr(*quotient) : invalid("a quotient exceeds 64 bits");
  }
  return divide(DimAtomKind::FloorDiv, *this, divisor);
}

DimExpr DimExpr::ceilDiv(const DimExpr &divisor) const {
  DimExpr error = checkedOperands(*this, divisor);
  if (!error.isValid())
    return error;
  if (isConstant() && divisor.isConstant()) {
    std::optional<int64_t> quotient = ceilDivide(value, divisor.value);
    return quotient ? DimExpr(*quotient) : invalid("a quotient exceeds 64 bits");
  }
  return divide(DimAtomKind::CeilDiv, *this, divisor);
}

DimExpr DimExpr::mod(const DimExpr &divisor) const {
  DimExpr error = checkedOperands(*this, divisor);
  if (!error.isValid())
    return error;
  if (isConstant() && divisor.isConstant())
    return DimExpr(*floorModulo(value, divisor.value));
  if (exactDiv(divisor))
    return DimExpr(0);
  if (isNonNegative() && (divisor - *this - DimExpr(1)).isNonNegative())
    return *this;
  // mod(g*x, g*y) = g * mod(x, y).
  DimTerm common = commonFactor(*this, divisor);
  if (common.coefficient != 1 || !common.factors.empty()) {
    DimExpr factor = fromTerms({common});
    std::optional<DimExpr> smallA = exactDiv(factor), smallB = divisor.exactDiv(factor);
    if (smallA && smallB)
      return factor * smallA->mod(*smallB);
  }
  std::vector<DimTerm> divisorTerms = termsOf(divisor);
  if (divisorTerms.size() == 1) {
    Split split = splitMultiples(*this, divisorTerms.front());
    if (!split.quotient.isConstant(0) && split.quotient.isValid() && split.remainder.isValid())
      return split.remainder.mod(divisor);
  }
  return fromAtom(DimAtomKind::Mod, {*this, divisor});
}
