//===- TimeRecorder.h - where a compilation's time goes --------------------===//
//
// Collects times by group and name from all threads, for CompileSummary::times
// and `--time-report`. Always on: it costs a clock and a lock per pass.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_TIMERECORDER_H
#define STATOR_COMPILER_TIMERECORDER_H

#include "stator/Compiler.h"

#include "mlir/Pass/PassManager.h"

#include <chrono>
#include <map>
#include <mutex>

namespace stator::compiler {

/// Thread-safe.
class TimeRecorder {
public:
  void add(const std::string &group, const std::string &name, double seconds, unsigned count = 1);
  /// Times each pass of `passes` in the group "pass", named "STAGE: PASS", and for passes on one kernel the kernel's family.
  /// The recorder must outlive the pass manager.
  void watch(mlir::PassManager &passes, const std::string &stage);
  /// Group by group in the order in which they began, within them the longest time first.
  std::vector<TimeEntry> entries() const;

private:
  struct Sum {
    double seconds = 0;
    unsigned count = 0;
  };
  mutable std::mutex mutex;
  std::vector<std::string> groups;
  std::map<std::pair<std::string, std::string>, Sum> sums;
};

/// Adds the time from here to the end of the scope.
class TimedScope {
public:
  TimedScope(TimeRecorder &recorder, std::string group, std::string name)
      : recorder(recorder), group(std::move(group)), name(std::move(name)) {}
  ~TimedScope() { recorder.add(group, name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()); }
  TimedScope(const TimedScope &) = delete;
  TimedScope &operator=(const TimedScope &) = delete;

private:
  TimeRecorder &recorder;
  std::string group, name;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace stator::compiler

#endif // STATOR_COMPILER_TIMERECORDER_H
