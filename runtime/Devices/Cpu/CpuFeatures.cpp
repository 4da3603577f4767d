// Which micro-architecture levels this machine has: the CPUID bits of the psABI's levels, and, for the vector registers, that the
// operating system saves them (XCR0). A processor may have AVX-512 and a kernel or hypervisor may not allow it.
#include "serialization/Base/CpuFeatures.h"
#include "runtime/Devices/Cpu/CpuInfo.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stator::runtime {

#if defined(__x86_64__)
namespace {
struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
} // namespace

static Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx))
    return Registers();
  return r;
}

static uint64_t readXcr0() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

static constexpr bool has(uint32_t value, uint32_t bits) { return (value & bits) == bits; }
static constexpr uint32_t bit(int index) { return 1u << index; }

uint32_t detectCpuFeatures() {
  Registers one = cpuid(1), seven = cpuid(7), extended = cpuid(0x80000001);
  uint32_t features = 0;
  // SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF.
  if (!has(one.ecx, bit(0) | bit(9) | bit(13) | bit(19) | bit(20) | bit(23)) || !has(extended.ecx, bit(0)))
    return features;
  features |= CpuFeatureX86_64_V2;
  // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT.
  if (!has(one.ecx, bit(12) | bit(22) | bit(27) | bit(28) | bit(29)) || !has(seven.ebx, bit(3) | bit(5) | bit(8)) ||
      !has(extended.ecx, bit(5)))
    return features;
  uint64_t saved = readXcr0();
  if ((saved & 0x6) != 0x6) // XMM and YMM.
    return features;
  features |= CpuFeatureX86_64_V3;
  // AVX512F, DQ, CD, BW, VL.
  if (!has(seven.ebx, bit(16) | bit(17) | bit(28) | bit(30) | bit(31)) || (saved & 0xe6) != 0xe6) // + masks, ZMM low and high.
    return features;
  return features | CpuFeatureX86_64_V4;
}
#else
uint32_t detectCpuFeatures() { return 0; }
#endif

std::string describeCpuFeatures(uint32_t features) {
  std::string text;
  for (const CpuFeatureName &feature : cpuFeatureNames)
    if (features & feature.bit)
      text += (text.empty() ? "" : ", ") + std::string(feature.name);
  return text.empty() ? "none" : text;
}

} // namespace stator::runtime
