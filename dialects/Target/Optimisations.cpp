//===- Optimisations.cpp - the table of optimisations ----------------------===//

#include "dialects/Target/Optimisations.h"

#include <algorithm>
#include <cassert>

namespace stator {

static constexpr OptimisationInfo kOptimisations[] = {
    {"winograd", MathMode::Default, "3x3 convolutions of stride 1 with fewer multiplications, where that pays"},
};

std::span<const OptimisationInfo> optimisations() { return kOptimisations; }

std::optional<MathMode> parseMathMode(std::string_view text) {
  if (text == "exact")
    return MathMode::Exact;
  if (text == "default")
    return MathMode::Default;
  if (text == "fast")
    return MathMode::Fast;
  return std::nullopt;
}

bool Optimisations::isOn(std::string_view name) const {
  auto info = std::ranges::find(kOptimisations, name, &OptimisationInfo::name);
  assert(info != std::end(kOptimisations) && "an optimisation without an entry in the table");
  return math >= info->from && std::ranges::find(disabled, name) == disabled.end();
}

} // namespace stator
