// Symbolic sizes meet numbers: substitution, evaluation, interval bounds.
#include "serialization/Base/DimPolynomial.h"

#include <algorithm>
#include <cstdint>

using namespace stator;

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
  case DimAtomKind::Max:
    return a.max(b);
  case DimAtomKind::Symbol:
    break;
  }
  return a;
}

static DimExpr substituteAtom(const DimAtom &atom, const std::map<std::string, DimExpr> &values) {
  if (atom.kind == DimAtomKind::Symbol) {
    auto found = values.find(atom.name);
    return found == values.end() ? DimExpr::symbol(atom.name) : found->second;
  }
  DimExpr result = atom.arguments.front().substitute(values);
  for (size_t i = 1; i != atom.arguments.size(); ++i)
    result = apply(atom.kind, result, atom.arguments[i].substitute(values));
  return result;
}

DimExpr DimExpr::substitute(const std::map<std::string, DimExpr> &values) const {
  if (!polynomial || !isValid())
    return *this;
  DimExpr sum = 0;
  for (const DimTerm &term : polynomial->terms) {
    DimExpr product = term.coefficient;
    for (const DimAtomPtr &atom : term.factors)
      product = product * substituteAtom(*atom, values);
    sum = sum + product;
  }
  return sum;
}

static Result<int64_t> evaluateAtom(const DimAtom &atom, const std::map<std::string, int64_t> &values) {
  if (atom.kind == DimAtomKind::Symbol) {
    auto found = values.find(atom.name);
    if (found == values.end())
      return invalidArgument("symbol `" + atom.name + "` has no value");
    return found->second;
  }
  STATOR_TRY(result, atom.arguments.front().evaluate(values));
  for (size_t i = 1; i != atom.arguments.size(); ++i) {
    STATOR_TRY(operand, atom.arguments[i].evaluate(values));
    std::optional<int64_t> next;
    switch (atom.kind) {
    case DimAtomKind::FloorDiv:
      next = floorDivide(result, operand);
      break;
    case DimAtomKind::CeilDiv:
      next = ceilDivide(result, operand);
      break;
    case DimAtomKind::Mod:
      next = floorModulo(result, operand);
      break;
    case DimAtomKind::Min:
      next = std::min(result, operand);
      break;
    default:
      next = std::max(result, operand);
      break;
    }
    if (!next)
      return outOfRange(std::string(operand == 0 ? "division by zero" : "overflow") + " in `" + atom.text + "`");
    result = *next;
  }
  return result;
}

Result<int64_t> DimExpr::evaluate(const std::map<std::string, int64_t> &values) const {
  STATOR_RETURN_IF_ERROR(status());
  if (!polynomial)
    return value;
  int64_t sum = 0;
  for (const DimTerm &term : polynomial->terms) {
    int64_t product = term.coefficient;
    for (const DimAtomPtr &atom : term.factors) {
      STATOR_TRY(factor, evaluateAtom(*atom, values));
      if (__builtin_mul_overflow(product, factor, &product))
        return outOfRange("overflow in `" + str() + "`");
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return outOfRange("overflow in `" + str() + "`");
  }
  return sum;
}

// Intervals. Ends are 128-bit numbers whose extremes stand for "unbounded"; what leaves 64 bits becomes unbounded, so that products of
// ends never overflow.

namespace {
using Wide = __int128;
constexpr Wide kInfinity = Wide(1) << 100;

struct WideInterval {
  Wide lo = -kInfinity;
  Wide hi = kInfinity;
};
} // namespace

static bool isInfinite(Wide end) { return end == kInfinity || end == -kInfinity; }

static WideInterval widen(const DimInterval &interval) {
  return {interval.lo ? Wide(*interval.lo) : -kInfinity, interval.hi ? Wide(*interval.hi) : kInfinity};
}

static DimInterval narrow(WideInterval interval) {
  DimInterval result;
  if (interval.lo >= INT64_MIN)
    result.lo = static_cast<int64_t>(std::min<Wide>(interval.lo, INT64_MAX));
  if (interval.hi <= INT64_MAX)
    result.hi = static_cast<int64_t>(std::max<Wide>(interval.hi, INT64_MIN));
  return result;
}

static Wide clampEnd(Wide end) { return end > INT64_MAX ? kInfinity : end < INT64_MIN ? -kInfinity : end; }

static Wide addEnds(Wide a, Wide b) {
  if (isInfinite(a))
    return a;
  return isInfinite(b) ? b : clampEnd(a + b);
}

static Wide multiplyEnds(Wide a, Wide b) {
  if (a == 0 || b == 0)
    return 0;
  if (isInfinite(a) || isInfinite(b))
    return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return clampEnd(a * b);
}

static WideInterval multiply(const WideInterval &a, const WideInterval &b) {
  Wide ends[] = {multiplyEnds(a.lo, b.lo), multiplyEnds(a.lo, b.hi), multiplyEnds(a.hi, b.lo), multiplyEnds(a.hi, b.hi)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

static Wide floorOf(Wide a, Wide b) { return a / b - ((a % b != 0 && a < 0) ? 1 : 0); }

/// floor(a / b) for ends, b > 0; a finite number over infinity is 0 or just below.
static Wide divideEnds(Wide a, Wide b) {
  if (isInfinite(a))
    return a;
  if (isInfinite(b))
    return a < 0 ? -1 : 0;
  return floorOf(a, b);
}

/// For a divisor that is never negative; at zero the division is undefined, so that the bound need not hold there.
static WideInterval divide(const WideInterval &a, WideInterval b) {
  if (b.lo < 0)
    return {};
  b.lo = std::max<Wide>(b.lo, 1);
  b.hi = std::max<Wide>(b.hi, 1);
  return {std::min(divideEnds(a.lo, b.lo), divideEnds(a.lo, b.hi)), std::max(divideEnds(a.hi, b.lo), divideEnds(a.hi, b.hi))};
}

static WideInterval modulo(const WideInterval &a, const WideInterval &b) {
  if (b.lo < 0)
    return {};
  Wide lowestDivisor = std::max<Wide>(b.lo, 1);
  if (a.lo >= 0 && a.hi < lowestDivisor)
    return a;
  WideInterval result{0, isInfinite(b.hi) ? b.hi : std::max<Wide>(b.hi - 1, 0)};
  if (a.lo >= 0)
    result.hi = std::min(result.hi, a.hi);
  return result;
}

DimInterval stator::boundsOfAtom(const DimAtom &atom, const std::map<std::string, DimInterval> *ranges) {
  if (atom.kind == DimAtomKind::Symbol) {
    if (ranges)
      if (auto found = ranges->find(atom.name); found != ranges->end())
        return found->second;
    return {0, std::nullopt};
  }
  WideInterval result = widen(boundsOf(atom.arguments.front(), ranges));
  for (size_t i = 1; i != atom.arguments.size(); ++i) {
    WideInterval operand = widen(boundsOf(atom.arguments[i], ranges));
    switch (atom.kind) {
    case DimAtomKind::FloorDiv:
      result = divide(result, operand);
      break;
    case DimAtomKind::CeilDiv:
      result = divide({-result.hi, -result.lo}, operand);
      result = {-result.hi, -result.lo};
      break;
    case DimAtomKind::Mod:
      result = modulo(result, operand);
      break;
    case DimAtomKind::Min:
      result = {std::min(result.lo, operand.lo), std::min(result.hi, operand.hi)};
      break;
    default:
      result = {std::max(result.lo, operand.lo), std::max(result.hi, operand.hi)};
      break;
    }
  }
  return narrow(result);
}

DimInterval stator::boundsOf(const DimExpr &e, const std::map<std::string, DimInterval> *ranges) {
  if (!e.isValid())
    return {};
  WideInterval sum{0, 0};
  for (const DimTerm &term : termsOf(e)) {
    WideInterval product{term.coefficient, term.coefficient};
    for (const DimAtomPtr &atom : term.factors)
      product = multiply(product, widen(ranges ? boundsOfAtom(*atom, ranges) : atom->range));
    sum = {addEnds(sum.lo, product.lo), addEnds(sum.hi, product.hi)};
  }
  return narrow(sum);
}

DimInterval DimExpr::bounds(const std::map<std::string, DimInterval> &ranges) const { return boundsOf(*this, &ranges); }

bool DimExpr::isNonNegative() const {
  DimInterval interval = boundsOf(*this, nullptr);
  return interval.lo && *interval.lo >= 0;
}
