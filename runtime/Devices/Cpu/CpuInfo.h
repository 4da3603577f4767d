// What the processor and the operating system offer: feature levels for choosing kernels, and how many threads make sense. Both are
// asked for explicitly (CPUID bits, XCR0, affinity mask, cgroup quota) and never guessed from a product name, which virtual machines
// mask, or from the number of CPUs of the machine, which a container may not use.
#ifndef STATOR_RUNTIME_DEVICES_CPU_CPUINFO_H
#define STATOR_RUNTIME_DEVICES_CPU_CPUINFO_H

#include <cstdint>
#include <string>
#include <string_view>

namespace stator::runtime {

/// Bits of serialization/Base/CpuFeatures.h that this machine has and the operating system has switched on.
uint32_t detectCpuFeatures();

/// "x86-64-v2, x86-64-v3", or "none".
std::string describeCpuFeatures(uint32_t features);

/// CPUs in the affinity mask of the process, but not more than its cgroup's CPU quota rounded up. At least 1.
int availableCpus();

/// Threads that a session uses unless told otherwise: STATOR_NUM_THREADS, else OMP_NUM_THREADS, else availableCpus().
int defaultThreadCount();

/// The CPU quota in whole CPUs, rounded up, of the cgroup that `cgroupText` (the content of /proc/self/cgroup) names below `root`
/// (/sys/fs/cgroup), or 0 when there is none. Versions 1 and 2; the smallest quota of the group and its ancestors.
int cgroupCpuQuota(std::string_view cgroupText, const std::string &root);

/// The first number of "4" or "4,2", if it is between 1 and 4096; else 0.
int parseThreadCount(const char *text);

} // namespace stator::runtime

#endif // STATOR_RUNTIME_DEVICES_CPU_CPUINFO_H
