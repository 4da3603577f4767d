// DEPS: stator::runtime::Devices::Cpu
#include "test/unit/Catch.h"

#include "runtime/Devices/Cpu/CpuInfo.h"
#include "serialization/Base/CpuFeatures.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>

using namespace stator;
using namespace stator::runtime;

TEST_CASE("thread counts are read from text") {
  CHECK(parseThreadCount("4") == 4);
  CHECK(parseThreadCount("4,2") == 4);
  for (const char *bad : {"", "0", "-1", "x", "4x", "5000", "99999999999999999999"})
    CHECK(parseThreadCount(bad) == 0);
  CHECK(parseThreadCount(nullptr) == 0);
}

TEST_CASE("the environment sets the default thread count") {
  setenv("STATOR_NUM_THREADS", "7", 1);
  setenv("OMP_NUM_THREADS", "5", 1);
  CHECK(defaultThreadCount() == 7);
  unsetenv("STATOR_NUM_THREADS");
  CHECK(defaultThreadCount() == 5);
  unsetenv("OMP_NUM_THREADS");
  CHECK(defaultThreadCount() == availableCpus());
}

TEST_CASE("available CPUs respect the affinity mask") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(availableCpus() == 1);
  sched_setaffinity(0, sizeof(before), &before);
}

namespace {
struct FakeCgroups {
  std::filesystem::path root;
  FakeCgroups() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stator-cgroup-XXXXXX").string();
    root = mkdtemp(pattern.data());
  }
  ~FakeCgroups() { std::filesystem::remove_all(root); }
  void file(const std::string &path, const std::string &text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  int quota(const std::string &cgroup) { return cgroupCpuQuota(cgroup, root.string()); }
};
} // namespace

TEST_CASE("cgroup version 2 quotas: the smallest on the way to the root counts") {
  FakeCgroups fake;
  CHECK(fake.quota("0::/a/b\n") == 0);
  fake.file("a/b/cpu.max", "max 100000\n");
  CHECK(fake.quota("0::/a/b\n") == 0);
  fake.file("a/cpu.max", "250000 100000\n");
  CHECK(fake.quota("0::/a/b\n") == 3);
  fake.file("a/b/cpu.max", "50000 100000\n");
  CHECK(fake.quota("0::/a/b\n") == 1);
  CHECK(fake.quota("0::/\n") == 0);
  fake.file("cpu.max", "400000 100000\n");
  CHECK(fake.quota("0::/\n") == 4);
  // A path of the host that does not exist here.
  CHECK(fake.quota("0::/somewhere/else\n") == 4);
}

TEST_CASE("cgroup version 1 quotas") {
  FakeCgroups fake;
  fake.file("cpu,cpuacct/docker/cpu.cfs_quota_us", "150000");
  fake.file("cpu,cpuacct/docker/cpu.cfs_period_us", "100000");
  CHECK(fake.quota("5:memory:/docker\n4:cpu,cpuacct:/docker\n") == 2);
  CHECK(fake.quota("5:memory:/docker\n") == 0);
  fake.file("cpu,cpuacct/docker/cpu.cfs_quota_us", "-1");
  CHECK(fake.quota("4:cpu,cpuacct:/docker\n") == 0);
}

TEST_CASE("damaged cgroup texts are no quota") {
  FakeCgroups fake;
  fake.file("cpu.max", "garbage");
  for (const char *text : {"", ":", "::", "0:", "0::", "\n\n", "0::x", "a:b"})
    CHECK(fake.quota(text) == 0);
}

TEST_CASE("feature levels build on each other") {
  uint32_t features = detectCpuFeatures();
  if (features & CpuFeatureX86_64_V4)
    CHECK(features & CpuFeatureX86_64_V3);
  if (features & CpuFeatureX86_64_V3)
    CHECK(features & CpuFeatureX86_64_V2);
#if defined(__x86_64__)
  CHECK(bool(features & CpuFeatureX86_64_V2) == bool(__builtin_cpu_supports("x86-64-v2")));
  CHECK(bool(features & CpuFeatureX86_64_V3) == bool(__builtin_cpu_supports("x86-64-v3")));
  CHECK(bool(features & CpuFeatureX86_64_V4) == bool(__builtin_cpu_supports("x86-64-v4")));
#endif
  CHECK(describeCpuFeatures(CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3) == "x86-64-v2, x86-64-v3");
  CHECK(describeCpuFeatures(0) == "none");
}
