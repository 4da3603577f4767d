// DEPS: stator::dialects::Target
#include "dialects/Target/CostTable.h"
#include "dialects/Target/CpuLevel.h"
#include "unit/Catch.h"

using namespace stator;

static ContractionCost costOf(const MeasuredCost &measured) {
  return {measured.kind, measured.rows, measured.depth, measured.columns, measured.taps, measured.stride, measured.isGrouped};
}

TEST_CASE("each level has a table of sane measurements") {
  for (const CpuLevel &level : cpuLevels()) {
    CHECK(measuredCosts(level.name).size() > 50);
    for (const MeasuredCost &measured : measuredCosts(level.name)) {
      CHECK((measured.rows > 0 && measured.depth > 0 && measured.columns > 0 && measured.taps > 0 && measured.stride > 0));
      CHECK((measured.ownNanoseconds > 0 && measured.libraryNanoseconds > 0));
    }
  }
  CHECK(measuredCosts("x86-64-v9").empty());
}

TEST_CASE("a measured shape is decided by its own figures") {
  for (const CpuLevel &level : cpuLevels())
    for (const MeasuredCost &measured : measuredCosts(level.name)) {
      CostVerdict verdict = chooseByCost(costOf(measured), level.name);
      CHECK(verdict.useLibrary == (measured.ownNanoseconds > measured.libraryNanoseconds * kLibraryMargin));
      CHECK(verdict.reason.find(" times as fast as ") != std::string::npos);
      CHECK(verdict.reason.find("(" + std::string(level.name) + ")") != std::string::npos);
      // A little larger: the same neighbour.
      ContractionCost near = costOf(measured);
      near.rows = *near.rows + *near.rows / 50;
      CHECK(chooseByCost(near, level.name).reason == verdict.reason);
    }
}

TEST_CASE("what was not measured is for own kernels, and the reason says so") {
  ContractionCost cost{ContractionKind::Matmul, 100000, 7, 3, 1, 1, false};
  CHECK(!chooseByCost(cost, "x86-64-v4").useLibrary);
  CHECK(chooseByCost(cost, "x86-64-v4").reason == "own matmul: no shape near it was measured");
  cost = {ContractionKind::Convolution, 784, 128, 128, 49, 3, false};
  CHECK(chooseByCost(cost, "x86-64-v4").reason == "own convolution: no shape near it was measured");
  cost.rows.reset();
  CHECK(chooseByCost(cost, "x86-64-v4").reason == "own convolution: one kernel for all sizes");
  cost = costOf(measuredCosts("x86-64-v4").front());
  CHECK(chooseByCost(cost, "x86-64-v9").reason == "own matmul: no shape near it was measured");
}
