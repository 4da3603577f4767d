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
};

struct Measurement {
  std::vector<double> latenciesMs; ///< Sorted; of all streams.
  double firstRunMs = 0;           ///< Of the first session: prepares the shape.
  double elapsedSeconds = 0;
  uint64_t arenaBytes = 0; ///< Of all streams.
  int threads = 0;         ///< Of each.
  std::vector<ProfileEntry> profile;

  double mean() const;
  /// Nearest rank: the smallest latency that `percent` of the runs did not exceed.
  double percentile(double percent) const;
  double runsPerSecond() const { return elapsedSeconds > 0 ? static_cast<double>(latenciesMs.size()) / elapsedSeconds : 0; }
};

Result<Measurement> measure(const Module &module, const MethodInfo &method, const std::vector<NpyArray> &inputs,
                            const SessionOptions &options, const MeasurementPlan &plan);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATOR_BENCH_MEASUREMENT_H
