//===- CpuLevel.h - the CPU feature levels that kernels are built for ------===//
//
// Data only: passes read the vector width from here, codegen the processor
// name and features, the artifact stage the bits that the loader checks. The
// processor names are LLVM's psABI levels, never a product name: CPUID family
// and model are masked on many virtual machines, feature bits are not.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_CPULEVEL_H
#define STATOR_DIALECTS_TARGET_CPULEVEL_H

#include <cstdint>
#include <span>
#include <string_view>

namespace stator {

struct CpuLevel {
  /// "x86-64-v3": the name in the artifact, on the command line and in LLVM.
  std::string_view name;
  /// Width of the vectors that kernels use, in bits.
  unsigned vectorBits;
  /// LLVM target features on top of the processor name.
  std::string_view llvmFeatures;
  /// Bits of serialization/Base/CpuFeatures.h that the machine must have.
  uint32_t requiredFeatures;
  /// Number of architectural vector registers, which bounds register tiles.
  unsigned vectorRegisters;
};

/// All levels, lowest first. The loader prefers the last one that fits.
std::span<const CpuLevel> cpuLevels();

/// The level of that name, or null.
const CpuLevel *findCpuLevel(std::string_view name);

} // namespace stator

#endif // STATOR_DIALECTS_TARGET_CPULEVEL_H
