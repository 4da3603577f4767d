//===- TimeReport.cpp - times as aligned text ------------------------------===//
//
// The stages add up to the whole; everything below them is a sum over threads,
// which may be more than the stage took.
//
//===----------------------------------------------------------------------===//

#include "tools/stator-compile/TimeReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace stator;
using namespace stator::tools;
using compiler::TimeEntry;

namespace {

constexpr size_t kMaxLines = 20;

struct Family {
  double lower = 0, compile = 0;
  unsigned kernels = 0;
};

void printEntries(llvm::raw_ostream &out, llvm::StringRef title, std::vector<TimeEntry> entries, size_t maxLines, bool withCount) {
  if (entries.empty())
    return;
  double total = 0;
  for (const TimeEntry &entry : entries)
    total += entry.seconds;
  out << title << llvm::format(": %.3f s\n", total);
  for (const TimeEntry &entry : llvm::ArrayRef(entries).take_front(maxLines)) {
    out << llvm::format("  %9.3f s %5.1f %%  ", entry.seconds, total > 0 ? entry.seconds / total * 100 : 0.0) << entry.name;
    if (withCount && entry.count > 1)
      out << " (" << entry.count << ")";
    out << "\n";
  }
  if (entries.size() > maxLines)
    out << "  and " << entries.size() - maxLines << " more\n";
}

void printFamilies(llvm::raw_ostream &out, const std::vector<TimeEntry> &entries) {
  std::map<std::string, Family> families;
  for (const TimeEntry &entry : entries) {
    size_t colon = entry.name.rfind(": ");
    Family &family = families[entry.name.substr(0, colon)];
    if (entry.name.substr(colon + 2) == "lower") {
      family.lower += entry.seconds;
    } else {
      family.compile += entry.seconds;
      family.kernels += entry.count;
    }
  }
  if (families.empty())
    return;
  std::vector<std::pair<std::string, Family>> sorted(families.begin(), families.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return std::tie(b.second.compile, a.first) < std::tie(a.second.compile, b.first); });
  out << "kernel families (kernels times levels, all threads)\n    lowering      LLVM   number\n";
  for (const auto &[name, family] : sorted)
    out << llvm::format("  %8.3f s %7.3f s %8u  ", family.lower, family.compile, family.kernels) << name << "\n";
}

} // namespace

std::string tools::timeReport(const std::vector<TimeEntry> &times) {
  auto of = [&](const char *group) {
    std::vector<TimeEntry> entries;
    std::copy_if(times.begin(), times.end(), std::back_inserter(entries), [&](const TimeEntry &entry) { return entry.group == group; });
    return entries;
  };
  std::string text;
  llvm::raw_string_ostream out(text);
  printEntries(out, "stages", of("stage"), SIZE_MAX, /*withCount=*/false);
  printEntries(out, "codegen after lowering (all threads)", of("codegen"), SIZE_MAX, /*withCount=*/true);
  printFamilies(out, of("kernel family"));
  printEntries(out, "slowest kernels (LLVM)", of("kernel"), kMaxLines / 2, /*withCount=*/false);
  printEntries(out, "passes (all threads)", of("pass"), kMaxLines, /*withCount=*/true);
  return text;
}
