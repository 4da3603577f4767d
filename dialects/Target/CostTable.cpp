//===- CostTable.cpp - own kernel or library, by measured cost -------------===//

#include "dialects/Target/CostTable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace stator {

using Kind = ContractionKind;

static constexpr MeasuredCost kLevel2[] = {
#include "dialects/Target/costs/x86-64-v2.inc"
};
static constexpr MeasuredCost kLevel3[] = {
#include "dialects/Target/costs/x86-64-v3.inc"
};
static constexpr MeasuredCost kLevel4[] = {
#include "dialects/Target/costs/x86-64-v4.inc"
};

std::span<const MeasuredCost> measuredCosts(std::string_view level) {
  if (level == "x86-64-v2")
    return kLevel2;
  if (level == "x86-64-v3")
    return kLevel3;
  if (level == "x86-64-v4")
    return kLevel4;
  return {};
}

/// The largest factor between the sizes, as a logarithm.
static double distance(const ContractionCost &cost, const MeasuredCost &measured) {
  auto factor = [](int64_t a, int64_t b) { return std::abs(std::log2(double(std::max<int64_t>(1, a)) / double(b))); };
  double result = std::max(factor(*cost.rows, measured.rows), factor(*cost.columns, measured.columns));
  return cost.kind == Kind::Depthwise ? result : std::max(result, factor(*cost.depth, measured.depth));
}

static const char *nameOf(Kind kind) {
  switch (kind) {
  case Kind::Matmul:
    return "matmul";
  case Kind::Convolution:
    return "convolution";
  case Kind::Depthwise:
    return "depthwise";
  }
  return "";
}

static std::string shapeOf(const MeasuredCost &cost) {
  std::string text = std::to_string(cost.rows) + "x" + std::to_string(cost.depth) + "x" + std::to_string(cost.columns);
  if (cost.taps != 1)
    text += ", " + std::to_string(cost.taps) + " taps";
  if (cost.stride != 1)
    text += ", stride " + std::to_string(cost.stride);
  return text;
}

CostVerdict chooseByCost(const ContractionCost &cost, std::string_view level) {
  std::string own = std::string("own ") + nameOf(cost.kind) + ": ";
  if (!cost.rows || !cost.depth || !cost.columns)
    return {false, own + "one kernel for all sizes"};
  const MeasuredCost *nearest = nullptr;
  double least = 1; // A factor of two.
  for (const MeasuredCost &measured : measuredCosts(level)) {
    if (measured.kind != cost.kind || measured.taps != cost.taps || measured.stride != cost.stride || measured.isGrouped != cost.isGrouped)
      continue;
    // The first of equally near ones.
    if (double far = distance(cost, measured); far < least || (far == least && !nearest)) {
      least = far;
      nearest = &measured;
    }
  }
  if (!nearest)
    return {false, own + "no shape near it was measured"};
  double speed = double(nearest->libraryNanoseconds) / double(nearest->ownNanoseconds);
  bool useLibrary = speed * kLibraryMargin < 1;
  char figure[32];
  std::snprintf(figure, sizeof(figure), "%.2f", useLibrary ? 1 / speed : speed);
  std::string where = std::string(" times as fast as ") + (useLibrary ? std::string("the own ") + nameOf(cost.kind) : "oneDNN") + " at " +
                      shapeOf(*nearest) + " (" + std::string(level) + ")";
  return {useLibrary, (useLibrary ? "oneDNN: " : own) + figure + where};
}

} // namespace stator
