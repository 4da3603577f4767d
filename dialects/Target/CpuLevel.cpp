//===- CpuLevel.cpp - the table of CPU feature levels ----------------------===//

#include "dialects/Target/CpuLevel.h"
#include "serialization/Base/CpuFeatures.h"

#include <array>

namespace stator {

// LLVM tunes x86-64-v4 for 256-bit vectors. Our kernels spell out 512-bit
// vectors, and -prefer-256-bit keeps LLVM from splitting what it forms itself.
static constexpr std::array<CpuLevel, 3> levels = {{
    {"x86-64-v2", 128, "", CpuFeatureX86_64_V2, 16},
    {"x86-64-v3", 256, "", CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3, 16},
    {"x86-64-v4", 512, "-prefer-256-bit",
     CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3 | CpuFeatureX86_64_V4, 32},
}};

std::span<const CpuLevel> cpuLevels() { return levels; }

const CpuLevel *findCpuLevel(std::string_view name) {
  for (const CpuLevel &level : levels)
    if (level.name == name)
      return &level;
  return nullptr;
}

} // namespace stator
