// Tables of steps and families. Operations and bytes are the artifact's nominal figures, so that shares of the peak can exceed 100 %: of
// arithmetic where an algorithm saves multiplications, of memory where operands are still in a cache.
#include "tools/stator-bench/ProfileReport.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

namespace stator::tools {

double perNanosecond(uint64_t count, uint64_t nanoseconds) {
  return nanoseconds ? static_cast<double>(count) / static_cast<double>(nanoseconds) : 0;
}

namespace {
/// Steps of one family, or all of them, summed over the runs.
struct Sum {
  uint64_t steps = 0, nanoseconds = 0, operations = 0, bytes = 0;

  void add(const ProfileEntry &entry) {
    ++steps;
    nanoseconds += entry.nanoseconds;
    operations += entry.operations;
    bytes += entry.bytes;
  }
};

struct Totals {
  std::map<std::string, Sum> families;
  Sum all;

  explicit Totals(const std::vector<ProfileEntry> &profile) {
    for (const ProfileEntry &entry : profile) {
      families[entry.family.empty() ? "other" : entry.family].add(entry);
      all.add(entry);
    }
  }

  /// Names of the families, slowest first.
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const auto &[name, sum] : families)
      names.push_back(name);
    std::sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
      uint64_t first = families.at(a).nanoseconds, second = families.at(b).nanoseconds;
      return first != second ? first > second : a < b;
    });
    return names;
  }
};
} // namespace

// Positions of the entries, slowest first; equal ones in plan order.
static std::vector<size_t> slowestFirst(const std::vector<ProfileEntry> &profile) {
  std::vector<size_t> order(profile.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return profile[a].nanoseconds != profile[b].nanoseconds ? profile[a].nanoseconds > profile[b].nanoseconds : a < b;
  });
  return order;
}

static double percentOf(double part, double whole) { return whole > 0 ? part * 100 / whole : 0; }

// "  123.4  46.2%   12.3  34.1%", with dashes where nothing is known.
static std::string ratesText(uint64_t operations, uint64_t bytes, uint64_t nanoseconds, const MachinePeak &peak) {
  char text[80];
  double gflops = perNanosecond(operations, nanoseconds), gigabytes = perNanosecond(bytes, nanoseconds);
  if (operations)
    std::snprintf(text, sizeof(text), "%8.1f %5.1f%%", gflops, percentOf(gflops, peak.gflops()));
  else
    std::snprintf(text, sizeof(text), "%8s %6s", "-", "-");
  std::string result = text;
  std::snprintf(text, sizeof(text), " %7.1f %5.0f%%", gigabytes, percentOf(gigabytes, peak.memoryGbPerS));
  return result + text;
}

static void printPeak(const MachinePeak &peak) {
  std::printf("\npeak        ");
  for (auto [bits, rate] : peak.arithmetic)
    std::printf("%.1f GFLOP/s (%d bits), ", rate, bits);
  std::printf("read %.1f GB/s (cache), %.1f GB/s (memory), %d threads\n", peak.cacheGbPerS, peak.memoryGbPerS, peak.threads);
}

void printProfile(const Measurement &measurement, const MachinePeak &peak) {
  const std::vector<ProfileEntry> &profile = measurement.profile;
  Totals totals(profile);
  double total = static_cast<double>(totals.all.nanoseconds), runs = static_cast<double>(std::max<size_t>(1, measurement.profiledRuns));
  printPeak(peak);
  std::printf("\n%9s %6s %8s %8s %6s %7s %6s  %-12s %s\n", "us/call", "share", "calls", "GFLOP/s", "peak", "GB/s", "memory", "family",
              "step");
  for (size_t index : slowestFirst(profile)) {
    const ProfileEntry &entry = profile[index];
    double calls = static_cast<double>(std::max<uint64_t>(1, entry.calls));
    std::printf("%9.2f %5.1f%% %8llu %s  %-12s %s (%s)\n", static_cast<double>(entry.nanoseconds) / 1e3 / calls,
                percentOf(static_cast<double>(entry.nanoseconds), total), static_cast<unsigned long long>(entry.calls),
                ratesText(entry.operations, entry.bytes, entry.nanoseconds, peak).c_str(), entry.family.c_str(), entry.name.c_str(),
                entry.kernel.c_str());
  }
  std::printf("\n%9s %6s %8s %8s %6s %7s %6s  %s\n", "us/run", "share", "steps", "GFLOP/s", "peak", "GB/s", "memory", "family");
  for (const std::string &name : totals.order()) {
    const Sum &sum = totals.families.at(name);
    std::printf("%9.2f %5.1f%% %8llu %s  %s\n", static_cast<double>(sum.nanoseconds) / 1e3 / runs,
                percentOf(static_cast<double>(sum.nanoseconds), total), static_cast<unsigned long long>(sum.steps),
                ratesText(sum.operations, sum.bytes, sum.nanoseconds, peak).c_str(), name.c_str());
  }
  std::printf("%9.2f %5.1f%% %8llu %s  all steps, of %.2f us per run (%.1f%%)\n", total / 1e3 / runs, 100.0,
              static_cast<unsigned long long>(totals.all.steps),
              ratesText(totals.all.operations, totals.all.bytes, totals.all.nanoseconds, peak).c_str(), measurement.profiledMs * 1e3 / runs,
              percentOf(total, measurement.profiledMs * 1e6));
}

static void writeSum(JsonWriter &json, const Sum &sum) {
  json.field("steps", sum.steps);
  json.field("nanoseconds", sum.nanoseconds);
  json.field("operations", sum.operations);
  json.field("bytes", sum.bytes);
}

void writeProfile(JsonWriter &json, const Measurement &measurement, const MachinePeak &peak) {
  json.key("machine");
  json.beginObject();
  json.field("threads", peak.threads);
  json.key("gflops_by_vector_bits");
  json.beginObject();
  for (auto [bits, rate] : peak.arithmetic)
    json.field(std::to_string(bits), rate);
  json.endObject();
  json.field("cache_gb_per_s", peak.cacheGbPerS);
  json.field("memory_gb_per_s", peak.memoryGbPerS);
  json.endObject();
  json.key("profile");
  json.beginArray();
  for (const ProfileEntry &entry : measurement.profile) {
    json.beginObject();
    json.field("name", entry.name);
    json.field("kernel", entry.kernel);
    json.field("family", entry.family);
    json.field("calls", entry.calls);
    json.field("nanoseconds", entry.nanoseconds);
    json.field("operations", entry.operations);
    json.field("bytes", entry.bytes);
    json.field("gflops", perNanosecond(entry.operations, entry.nanoseconds));
    json.field("gb_per_s", perNanosecond(entry.bytes, entry.nanoseconds));
    json.endObject();
  }
  json.endArray();
  Totals totals(measurement.profile);
  json.key("families");
  json.beginObject();
  for (const auto &[name, sum] : totals.families) {
    json.key(name);
    json.beginObject();
    writeSum(json, sum);
    json.endObject();
  }
  json.endObject();
  json.key("profile_total");
  json.beginObject();
  json.field("runs", measurement.profiledRuns);
  json.field("run_nanoseconds", measurement.profiledMs * 1e6);
  writeSum(json, totals.all);
  json.endObject();
}

} // namespace stator::tools
