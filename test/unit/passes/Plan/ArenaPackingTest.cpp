// DEPS: stator::passes::Plan
// Layouts are checked by their definition: pieces that are alive together do not overlap, at any sizes.
#include "unit/Catch.h"

#include "passes/Plan/ArenaPacking.h"

#include <random>

using namespace stator;
using namespace stator::plan;

static void checkLayout(const std::vector<ArenaPiece> &pieces, const ArenaLayout &layout, const std::map<std::string, int64_t> &point) {
  REQUIRE(layout.offsets.size() == pieces.size());
  int64_t total = layout.sizeBytes.evaluate(point).value();
  for (size_t i = 0; i < pieces.size(); ++i) {
    int64_t begin = layout.offsets[i].evaluate(point).value(), end = begin + pieces[i].sizeBytes.evaluate(point).value();
    CHECK(begin % 64 == 0);
    CHECK(begin >= 0);
    CHECK(end <= total);
    for (size_t j = 0; j < i; ++j) {
      if (pieces[i].first > pieces[j].last || pieces[j].first > pieces[i].last)
        continue;
      int64_t otherBegin = layout.offsets[j].evaluate(point).value();
      int64_t otherEnd = otherBegin + pieces[j].sizeBytes.evaluate(point).value();
      CHECK((end <= otherBegin || otherEnd <= begin || begin == end || otherBegin == otherEnd));
    }
  }
}

static int64_t peakOf(const std::vector<ArenaPiece> &pieces, const std::map<std::string, int64_t> &point) {
  int64_t peak = 0;
  for (const ArenaPiece &at : pieces) {
    int64_t live = 0;
    for (const ArenaPiece &piece : pieces)
      if (piece.first <= at.first && at.first <= piece.last)
        live += piece.sizeBytes.evaluate(point).value();
    peak = std::max(peak, live);
  }
  return peak;
}

TEST_CASE("static pieces are packed near the lower bound") {
  std::mt19937 random(7);
  int64_t total = 0, bound = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaPiece> pieces;
    for (int i = 0; i < 40; ++i) {
      int64_t first = i + static_cast<int64_t>(random() % 3);
      pieces.push_back({first, first + static_cast<int64_t>(random() % 6), DimExpr(64 * static_cast<int64_t>(1 + random() % 100))});
    }
    ArenaLayout layout = packArena(pieces, {}, 64);
    checkLayout(pieces, layout, {});
    total += *layout.sizeBytes.constant();
    bound += peakOf(pieces, {});
  }
  CHECK(total <= bound * 11 / 10);
}

TEST_CASE("symbolic pieces do not overlap at any sizes") {
  SymbolRanges ranges = {{"N", {1, 64}}, {"T", {1, 512}}};
  DimExpr n = DimExpr::symbol("N"), t = DimExpr::symbol("T");
  const DimExpr sizes[] = {n * t * 256, n * t * 64, n * t * 4, n * 4, t * t * n * 4, DimExpr(100), n * t * 8 + n * 8, n * t * 3072};
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    std::vector<ArenaPiece> pieces;
    for (int i = 0; i < 25; ++i) {
      int64_t first = i;
      pieces.push_back({first, first + static_cast<int64_t>(random() % 4), sizes[random() % std::size(sizes)]});
    }
    for (const ArenaLayout &layout : {packArena(pieces, ranges, 64), packByClasses(pieces, 64), packBySlots(pieces, ranges, 64)})
      for (auto [valueN, valueT] : {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {64, 512}, {5, 100}})
        checkLayout(pieces, layout, {{"N", valueN}, {"T", valueT}});
  }
}

TEST_CASE("a free batch size packs as well as a fixed one") {
  SymbolRanges ranges = {{"N", {1, 64}}};
  DimExpr n = DimExpr::symbol("N");
  std::vector<ArenaPiece> pieces = {{0, 1, n * 256}, {1, 2, n * 512}, {2, 3, n * 256}, {3, 4, n * 512}};
  CHECK(packArena(pieces, ranges, 64).sizeBytes.str() == "768*N");
}

TEST_CASE("small symbolic sizes are rounded up as a whole") {
  SymbolRanges ranges = {{"N", {1, 64}}};
  std::vector<ArenaPiece> pieces = {{0, 1, DimExpr::symbol("N")}};
  // Rounding the coefficient would cost 64 bytes per element.
  CHECK(packArena(pieces, ranges, 64).sizeBytes.evaluate({{"N", 65}}).value() == 128);
}

TEST_CASE("nominal sizes lie in the range") {
  std::map<std::string, int64_t> nominal = nominalSymbols({{"a", {1, 8}}, {"b", {200, 300}}, {"c", {0, std::nullopt}}});
  CHECK(nominal["a"] == 8);
  CHECK(nominal["b"] == 200);
  CHECK(nominal["c"] == 128);
}
