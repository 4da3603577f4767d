//===- ArenaPacking.h - offsets for intervals with symbolic sizes ----------===//
//
// The arithmetic of plan-assign-memory, without any IR: pieces of memory with a
// life and a size in, offsets and a total out.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_ARENAPACKING_H
#define STATOR_PASSES_PLAN_ARENAPACKING_H

#include "serialization/Base/DimExpr.h"

#include <map>
#include <string>
#include <vector>

namespace stator::plan {

struct ArenaPiece {
  /// Instruction numbers, both included.
  int64_t first, last;
  DimExpr sizeBytes;
};

struct ArenaLayout {
  /// One per piece, a multiple of the alignment for all values of the symbols.
  std::vector<DimExpr> offsets;
  /// Invalid, with the reason, when there is no layout.
  DimExpr sizeBytes;
};

using SymbolRanges = std::map<std::string, DimInterval>;

/// The sizes are valid expressions. Pieces that are alive at the same time do not overlap, whatever the symbols' values. Deterministic.
/// `alignment` is a power of two.
ArenaLayout packArena(const std::vector<ArenaPiece> &pieces, const SymbolRanges &ranges, int64_t alignment);

/// Sizes at which layouts are compared: 128 for each symbol, moved into its range.
std::map<std::string, int64_t> nominalSymbols(const SymbolRanges &ranges);

/// Exposed for tests: the two ways between which packArena() chooses.
ArenaLayout packByClasses(const std::vector<ArenaPiece> &pieces, int64_t alignment);
ArenaLayout packBySlots(const std::vector<ArenaPiece> &pieces, const SymbolRanges &ranges, int64_t alignment);

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_ARENAPACKING_H
