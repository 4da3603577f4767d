//===- ArenaPacking.cpp - best-fit by classes, or slots --------------------===//
//
// With numbers for sizes, packing intervals is greedy: one piece after the
// other (the largest first, or the longest-lived), each into the tightest gap
// between those placed pieces whose lives meet its own. That is within a few
// per cent of the lower bound (the largest sum of live bytes) on the networks
// that matter.
//
// With symbols the same works inside a *class*: sizes that are one expression M
// times different constants (all activations of a model with a free batch size
// N are c*N bytes). Offsets are then constants times M, and hold for every N.
// Static sizes are the class M = 1. Classes lie one after the other and share
// nothing, which is wasteful when there are many with few members each
// (N*T, N*T*T, N*(T+1), ...). The alternative there is *slots*: each piece takes
// a free slot, whose size becomes the maximum of its members'. Both are
// computed and compared at nominal sizes.
//
// Alternatives: best-fit at run time for each new shape would pack tighter, at
// the price of an allocator in the runtime and offsets that nobody can print.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/ArenaPacking.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace stator;
using namespace stator::plan;

namespace {

bool meet(const ArenaPiece &a, const ArenaPiece &b) { return a.first <= b.last && b.first <= a.last; }

int64_t alignUp(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

/// The largest constant that divides the expression: the greatest common divisor of its coefficients.
int64_t contentOf(const DimExpr &expr) {
  std::vector<std::string> symbols = expr.symbols();
  // It divides every value of the expression, so the common divisor of a few values is it, up to what the expression's form adds.
  int64_t divisor = 0;
  for (int64_t base : {1, 2, 3, 7}) {
    std::map<std::string, int64_t> values;
    for (const std::string &symbol : symbols)
      values[symbol] = base + static_cast<int64_t>(values.size());
    Result<int64_t> value = expr.evaluate(values);
    if (value.ok())
      divisor = std::gcd(divisor, *value);
  }
  while (divisor > 1 && !expr.exactDiv(DimExpr(divisor)))
    for (int64_t prime = 2;; ++prime)
      if (divisor % prime == 0) {
        divisor /= prime;
        break;
      }
  return std::max<int64_t>(divisor, 1);
}

/// A class: `unit` times a constant per member.
struct SizeClass {
  DimExpr unit;
  std::vector<size_t> members;
  std::vector<int64_t> coefficients; // Multiples of the alignment.
};

/// Offsets for members of one class in multiples of its unit, placed in this order; returns the total.
int64_t placeInOrder(const std::vector<ArenaPiece> &pieces, const SizeClass &sizeClass, const std::vector<size_t> &order,
                     std::vector<int64_t> &offsets) {
  offsets.assign(order.size(), 0);
  std::vector<size_t> placed; // By offset.
  int64_t total = 0;
  for (size_t i : order) {
    int64_t size = sizeClass.coefficients[i];
    int64_t best = -1, bestGap = 0, end = 0;
    for (size_t other : placed) {
      if (!meet(pieces[sizeClass.members[i]], pieces[sizeClass.members[other]]))
        continue;
      int64_t gap = offsets[other] - end;
      if (gap >= size && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, offsets[other] + sizeClass.coefficients[other]);
    }
    offsets[i] = best >= 0 ? best : end;
    total = std::max(total, offsets[i] + size);
    auto at = std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) { return offsets[a] < offsets[b]; });
    placed.insert(at, i);
  }
  return total;
}

/// Tries a few orders, since none is best for all networks, and keeps the first of the smallest results.
int64_t packBestFit(const std::vector<ArenaPiece> &pieces, const SizeClass &sizeClass, std::vector<int64_t> &offsets) {
  auto size = [&](size_t i) { return sizeClass.coefficients[i]; };
  auto first = [&](size_t i) { return pieces[sizeClass.members[i]].first; };
  auto length = [&](size_t i) { return pieces[sizeClass.members[i]].last - first(i); };
  using Less = std::function<bool(size_t, size_t)>;
  const Less orders[] = {
      [&](size_t a, size_t b) { return size(a) > size(b); },
      [&](size_t a, size_t b) { return std::pair(-size(a), -length(a)) < std::pair(-size(b), -length(b)); },
      [&](size_t a, size_t b) { return std::pair(-length(a), -size(a)) < std::pair(-length(b), -size(b)); },
      [&](size_t a, size_t b) { return first(a) < first(b); },
  };
  int64_t best = -1;
  for (const Less &less : orders) {
    std::vector<size_t> order(sizeClass.members.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return less(a, b) || (!less(b, a) && a < b); });
    std::vector<int64_t> candidate;
    int64_t total = placeInOrder(pieces, sizeClass, order, candidate);
    if (best < 0 || total < best) {
      best = total;
      offsets = std::move(candidate);
    }
  }
  return best;
}

DimExpr alignedSize(const DimExpr &size, int64_t alignment) {
  if (contentOf(size) % alignment == 0)
    return size;
  return size.ceilDiv(DimExpr(alignment)) * DimExpr(alignment);
}

DimExpr maximum(const DimExpr &a, const DimExpr &b, const SymbolRanges &ranges) {
  auto isNeverNegative = [&](const DimExpr &difference) {
    DimInterval bounds = difference.bounds(ranges);
    return bounds.lo && *bounds.lo >= 0;
  };
  if (isNeverNegative(a - b))
    return a;
  if (isNeverNegative(b - a))
    return b;
  return a.max(b);
}

} // namespace

ArenaLayout plan::packByClasses(const std::vector<ArenaPiece> &pieces, int64_t alignment) {
  // Sums of this many bytes do not overflow, whatever the number of pieces.
  constexpr int64_t kMaxCoefficient = int64_t(1) << 46;
  // In order of first member, so that the result does not depend on how expressions compare.
  std::vector<SizeClass> classes;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const DimExpr &size = pieces[i].sizeBytes;
    DimExpr unit(1);
    int64_t coefficient = size.constant() ? *size.constant() : contentOf(size);
    if (coefficient > kMaxCoefficient)
      return {{}, DimExpr::invalid("a buffer of " + size.str() + " bytes is too large")};
    if (size.isConstant()) {
      coefficient = alignUp(coefficient, alignment);
    } else {
      unit = *size.exactDiv(DimExpr(coefficient));
      int64_t aligned = alignUp(coefficient, alignment);
      if (aligned - coefficient > coefficient / 4) {
        // Rounding up inside the product would waste too much; round up the whole instead.
        unit = size.ceilDiv(DimExpr(alignment));
        aligned = alignment;
      }
      coefficient = aligned;
    }
    auto found = std::find_if(classes.begin(), classes.end(), [&](const SizeClass &known) { return known.unit == unit; });
    if (found == classes.end())
      found = classes.insert(classes.end(), SizeClass{unit, {}, {}});
    found->members.push_back(i);
    found->coefficients.push_back(coefficient);
  }

  ArenaLayout layout;
  layout.offsets.resize(pieces.size());
  for (const SizeClass &sizeClass : classes) {
    std::vector<int64_t> offsets;
    int64_t total = packBestFit(pieces, sizeClass, offsets);
    for (size_t member = 0; member < offsets.size(); ++member)
      layout.offsets[sizeClass.members[member]] = layout.sizeBytes + sizeClass.unit * DimExpr(offsets[member]);
    layout.sizeBytes += sizeClass.unit * DimExpr(total);
  }
  return layout;
}

ArenaLayout plan::packBySlots(const std::vector<ArenaPiece> &pieces, const SymbolRanges &ranges, int64_t alignment) {
  std::map<std::string, int64_t> nominal = nominalSymbols(ranges);
  auto nominalSize = [&](const DimExpr &size) {
    Result<int64_t> value = size.evaluate(nominal);
    return value.ok() ? *value : INT64_MAX / 4;
  };
  struct Slot {
    DimExpr sizeBytes;
    std::vector<size_t> members;
  };
  std::vector<Slot> slots;
  std::vector<size_t> slotOf(pieces.size());
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::pair(pieces[a].first, a) < std::pair(pieces[b].first, b); });
  for (size_t i : order) {
    int64_t size = nominalSize(pieces[i].sizeBytes);
    size_t best = slots.size();
    int64_t bestCost = 0;
    for (size_t s = 0; s < slots.size(); ++s) {
      if (std::any_of(slots[s].members.begin(), slots[s].members.end(), [&](size_t other) { return meet(pieces[i], pieces[other]); }))
        continue;
      int64_t cost = std::abs(nominalSize(slots[s].sizeBytes) - size); // Growth and waste weigh the same.
      if (best == slots.size() || cost < bestCost) {
        best = s;
        bestCost = cost;
      }
    }
    if (best == slots.size())
      slots.push_back({DimExpr(0), {}});
    Slot &slot = slots[best];
    slot.sizeBytes = slot.members.empty() ? pieces[i].sizeBytes : maximum(slot.sizeBytes, pieces[i].sizeBytes, ranges);
    slot.members.push_back(i);
    slotOf[i] = best;
  }
  ArenaLayout layout;
  std::vector<DimExpr> starts;
  for (const Slot &slot : slots) {
    starts.push_back(layout.sizeBytes);
    layout.sizeBytes += alignedSize(slot.sizeBytes, alignment);
  }
  for (size_t i = 0; i < pieces.size(); ++i)
    layout.offsets.push_back(starts[slotOf[i]]);
  return layout;
}

std::map<std::string, int64_t> plan::nominalSymbols(const SymbolRanges &ranges) {
  constexpr int64_t kNominal = 128;
  std::map<std::string, int64_t> values;
  for (const auto &[name, range] : ranges)
    values[name] = std::clamp(kNominal, range.lo.value_or(0), std::max(range.lo.value_or(0), range.hi.value_or(INT64_MAX)));
  return values;
}

ArenaLayout plan::packArena(const std::vector<ArenaPiece> &pieces, const SymbolRanges &ranges, int64_t alignment) {
  ArenaLayout byClasses = packByClasses(pieces, alignment);
  if (byClasses.sizeBytes.isConstant() || byClasses.offsets.size() != pieces.size())
    return byClasses;
  ArenaLayout bySlots = packBySlots(pieces, ranges, alignment);
  std::map<std::string, int64_t> nominal = nominalSymbols(ranges);
  Result<int64_t> classesSize = byClasses.sizeBytes.evaluate(nominal), slotsSize = bySlots.sizeBytes.evaluate(nominal);
  bool preferSlots = slotsSize.ok() && (!classesSize.ok() || *slotsSize < *classesSize);
  return preferSlots ? bySlots : byClasses;
}
