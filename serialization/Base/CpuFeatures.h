//===- CpuFeatures.h - feature bits that an artifact's variant may require -===//
//
// A variant of an artifact names the CPU features that its kernels use. The
// compiler writes these bits into the manifest and the loader compares them
// with what the machine reports, so both sides read this one table. A bit
// stands for a whole psABI micro-architecture level or for one extension on
// top of it; bits are never renumbered because files hold them.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_SERIALIZATION_BASE_CPUFEATURES_H
#define STATOR_SERIALIZATION_BASE_CPUFEATURES_H

#include <array>
#include <cstdint>
#include <string_view>

namespace stator {

enum CpuFeature : uint32_t {
  CpuFeatureX86_64_V2 = 1u << 0, ///< SSE3, SSSE3, SSE4.1, SSE4.2, POPCNT, CX16
  CpuFeatureX86_64_V3 = 1u << 1, ///< AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT, MOVBE
  CpuFeatureX86_64_V4 = 1u << 2, ///< AVX-512 F, BW, CD, DQ, VL
};

struct CpuFeatureName {
  CpuFeature bit;
  std::string_view name;
};

/// Every feature bit with the name shown to users, in ascending order.
inline constexpr std::array<CpuFeatureName, 3> cpuFeatureNames = {{
    {CpuFeatureX86_64_V2, "x86-64-v2"},
    {CpuFeatureX86_64_V3, "x86-64-v3"},
    {CpuFeatureX86_64_V4, "x86-64-v4"},
}};

} // namespace stator

#endif // STATOR_SERIALIZATION_BASE_CPUFEATURES_H
