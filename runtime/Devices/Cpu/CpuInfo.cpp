// Thread counts: affinity and cgroup quota. The feature levels are in CpuFeatures.cpp.
#include "runtime/Devices/Cpu/CpuInfo.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <vector>

namespace stator::runtime {

static std::string readSmallFile(const std::string &path) {
  std::string text;
  if (std::FILE *file = std::fopen(path.c_str(), "re")) {
    char buffer[4096];
    text.assign(buffer, std::fread(buffer, 1, sizeof(buffer), file));
    std::fclose(file);
  }
  return text;
}

// The quota that the files of one group state, or 0.
static int quotaOf(const std::string &folder, bool version2) {
  long long quota = 0, period = 0;
  if (version2) {
    // "200000 100000", or "max 100000".
    if (std::sscanf(readSmallFile(folder + "/cpu.max").c_str(), "%lld %lld", &quota, &period) != 2)
      return 0;
  } else {
    // -1 means no limit.
    if (std::sscanf(readSmallFile(folder + "/cpu.cfs_quota_us").c_str(), "%lld", &quota) != 1 ||
        std::sscanf(readSmallFile(folder + "/cpu.cfs_period_us").c_str(), "%lld", &period) != 1)
      return 0;
  }
  if (quota <= 0 || period <= 0)
    return 0;
  return static_cast<int>(std::clamp<long long>(quota / period + (quota % period != 0), 1, INT_MAX));
}

// A version 1 controller list ("cpu,cpuacct") names the folder below the root and has to hold `cpu`.
static bool namesCpu(std::string_view controllers) {
  while (!controllers.empty()) {
    size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu")
      return true;
    controllers.remove_prefix(comma == std::string_view::npos ? controllers.size() : comma + 1);
  }
  return false;
}

int cgroupCpuQuota(std::string_view cgroupText, const std::string &root) {
  int best = 0;
  while (!cgroupText.empty()) {
    // "0::/user.slice" (version 2) or "4:cpu,cpuacct:/docker/1234".
    std::string_view line = cgroupText.substr(0, cgroupText.find('\n'));
    cgroupText.remove_prefix(std::min(line.size() + 1, cgroupText.size()));
    size_t first = line.find(':');
    size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos)
      continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    bool version2 = controllers.empty();
    if (!version2 && !namesCpu(controllers))
      continue;
    std::vector<std::string> mounts;
    if (version2)
      mounts = {root, root + "/unified"};
    else
      mounts = {root + "/" + std::string(controllers), root + "/cpu"};
    // Inside a container the path may be that of the host and not exist here; its ancestors, down to the root, still count.
    for (;;) {
      for (const std::string &mount : mounts)
        if (int quota = quotaOf(mount + (path == "/" ? "" : path), version2))
          best = best ? std::min(best, quota) : quota;
      size_t slash = path.rfind('/');
      if (slash == std::string::npos || path == "/" || path.empty())
        break;
      path = slash == 0 ? "/" : path.substr(0, slash);
    }
  }
  return best;
}

static int affinityCpus() {
  // The set grows until the kernel accepts it: machines may have more CPUs than cpu_set_t holds.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      return 1;
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    int result = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (result > 0)
      return result;
  }
  return 1;
}

int availableCpus() {
  int cpus = affinityCpus();
  int quota = cgroupCpuQuota(readSmallFile("/proc/self/cgroup"), "/sys/fs/cgroup");
  return std::max(1, quota ? std::min(cpus, quota) : cpus);
}

int parseThreadCount(const char *text) {
  if (!text)
    return 0;
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  // OMP_NUM_THREADS may be a list, one number per level of nesting.
  bool complete = end != text && (*end == 0 || *end == ',');
  return complete && value >= 1 && value <= 4096 ? static_cast<int>(value) : 0;
}

int defaultThreadCount() {
  for (const char *name : {"STATOR_NUM_THREADS", "OMP_NUM_THREADS"})
    if (int count = parseThreadCount(std::getenv(name)))
      return count;
  return availableCpus();
}

} // namespace stator::runtime
