//===- Optimisations.cpp - the table of optimisations ----------------------===//

#include "dialects/Target/Optimisations.h"

#include <algorithm>
#include <cassert>

namespace stator {

static constexpr OptimisationInfo kOptimisations[] = {
    {"attention-views", MathMode::Exact, "attention reads queries, keys and values where projections and caches left them"},
    {"causal-masks", MathMode::Exact, "attention with a triangular mask skips the keys above the diagonal"},
    {"gates", MathMode::Exact, "pool, squeeze and excite of mobile networks in one kernel"},
    {"in-place", MathMode::Exact, "kernels write results over operands that nobody reads any more"},
    {"merge-matmuls", MathMode::Exact, "queries, keys and values of an attention are one product"},
    {"mobile-blocks", MathMode::Exact, "expand, depthwise and project convolutions in one kernel, row by row"},
    {"phase-convolutions", MathMode::Exact, "transposed convolutions do not multiply the zeros between pixels"},
    {"pitched-views", MathMode::Exact, "parts of concatenations are computed, and slices read, where they lie, without copies"},
    {"pool-first", MathMode::Exact, "averages of pixels are taken before a 1x1 convolution instead of after it"},
    {"strassen", MathMode::Fast, "large products with constant weights by 7 products of halves in place of 8"},
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
