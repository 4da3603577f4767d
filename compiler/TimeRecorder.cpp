//===- TimeRecorder.cpp - sums of times, and the watch on passes -----------===//

#include "compiler/TimeRecorder.h"

#include "dialects/Plan/PlanOps.h"

#include "mlir/Pass/PassInstrumentation.h"

#include <algorithm>
#include <thread>
#include <tuple>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

void TimeRecorder::add(const std::string &group, const std::string &name, double seconds, unsigned count) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!llvm::is_contained(groups, group))
    groups.push_back(group);
  Sum &sum = sums[{group, name}];
  sum.seconds += seconds;
  sum.count += count;
}

std::vector<TimeEntry> TimeRecorder::entries() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<TimeEntry> result;
  for (const std::string &group : groups) {
    size_t first = result.size();
    for (const auto &[key, sum] : sums)
      if (key.first == group)
        result.push_back({group, key.second, sum.seconds, sum.count});
    std::sort(result.begin() + first, result.end(),
              [](const TimeEntry &a, const TimeEntry &b) { return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name); });
  }
  return result;
}

namespace {

/// Calls come from many threads; those of one thread are nested. The instrumentor calls one at a time.
class PassWatch : public PassInstrumentation {
public:
  PassWatch(TimeRecorder &recorder, std::string stage) : recorder(recorder), stage(std::move(stage)) {}

  void runBeforePass(Pass *, Operation *) override { running[std::this_thread::get_id()].push_back(std::chrono::steady_clock::now()); }
  void runAfterPass(Pass *pass, Operation *op) override { finish(pass, op); }
  void runAfterPassFailed(Pass *pass, Operation *op) override { finish(pass, op); }

private:
  void finish(Pass *pass, Operation *op) {
    auto &starts = running[std::this_thread::get_id()];
    if (starts.empty())
      return;
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - starts.back()).count();
    starts.pop_back();
    if (pass->getArgument().empty())
      return; // What hands nested operations to other passes.
    recorder.add("pass", stage + ": " + pass->getArgument().str(), seconds);
    if (auto family = op->getAttrOfType<StringAttr>(plan::kFamilyAttrName))
      recorder.add("kernel family", family.str() + ": lower", seconds, 0);
  }

  TimeRecorder &recorder;
  std::string stage;
  std::map<std::thread::id, std::vector<std::chrono::steady_clock::time_point>> running;
};

} // namespace

void TimeRecorder::watch(PassManager &passes, const std::string &stage) {
  passes.addInstrumentation(std::make_unique<PassWatch>(*this, stage));
}
