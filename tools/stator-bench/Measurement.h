// Measuring a model: latencies of many runs, by one or several sessions at once, and the figures made of them.
#ifndef STATOR_TOOLS_STATOR_BENCH_MEASUREMENT_H
#define STATOR_TOOLS_STATOR_BENCH_MEASUREMENT_H

#include "tools/support/ModelRunner.h"

#include <vector>

namespace stator::tools {

struct MeasurementPlan {
  int64_t iterations = 10;        ///< At least so many measured runs (of each stream),
  double durationSeconds = 3;     ///< and for so long.
  int64_t maxIterations = 200000; ///< But not more, so that the figures themselves take little memory.
  double warmUpSeconds = 0.2;     ///< At least one unmeasured run.
  int64_t streams = 1;            ///< Sessions that run at the same time, each on its own thread.
  int64_t tracedRuns = 0;         ///< Of each stream, after the measured ones.
};

/// One traced run. Times are nanoseconds of one clock for all streams.
struct TracedRun {
  size_t stream = 0;
  uint64_t begin = 0, end = 0;
  std::vector<TraceEvent> events;
};

struct Measurement {
  std::vector<double> latenciesMs; ///< Sorted; of all streams.
  double firstRunMs = 0;           ///< Of the first session: prepares the shape.
  double elapsedSeconds = 0;
  uint64_t arenaBytes = 0; ///< Of all streams.
  int threads = 0;         ///< Of each.
  /// Of the first stream's measured runs: the steps, and the runs' number and time.
  std::vector<ProfileEntry> profile;
  size_t profiledRuns = 0;
  double profiledMs = 0;
  std::vector<TracedRun> trace;

  double mean() const;
  /// Nearest rank: the smallest latency that `percent` of the runs did not exceed.
  double percentile(double percent) const;
  double runsPerSecond() const { return elapsedSeconds > 0 ? static_cast<double>(latenciesMs.size()) / elapsedSeconds : 0; }
};

Result<Measurement> measure(const Module &module, const MethodInfo &method, const std::vector<NpyArray> &inputs,
                            const SessionOptions &options, const MeasurementPlan &plan);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATOR_BENCH_MEASUREMENT_H
