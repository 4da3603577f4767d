// Streams of runs, and their figures.
#include "tools/stator-bench/Measurement.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

namespace stator::tools {

double Measurement::mean() const {
  return latenciesMs.empty() ? 0 : std::accumulate(latenciesMs.begin(), latenciesMs.end(), 0.0) / static_cast<double>(latenciesMs.size());
}

double Measurement::percentile(double percent) const {
  if (latenciesMs.empty())
    return 0;
  double rank = std::ceil(percent / 100 * static_cast<double>(latenciesMs.size()));
  size_t index = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return latenciesMs[std::min(index, latenciesMs.size() - 1)];
}

namespace {
/// One session and its outputs, so that streams share nothing but the weights.
struct Stream {
  Stream(Session session, const char *method, std::vector<TensorView> inputs)
      : session(std::move(session)), method(method), inputs(std::move(inputs)) {}

  Session session;
  const char *method;
  std::vector<TensorView> inputs;
  std::vector<double> latenciesMs;
  double firstRunMs = 0;
  uint64_t begin = 0, end = 0;
  std::vector<ProfileEntry> profile; // Of the measured runs.
  std::vector<TracedRun> trace;
  Status status;

  Status runOnce(double &milliseconds) {
    uint64_t before = nanosecondsNow();
    Result<Outputs> outputs = session.run(method, inputs);
    milliseconds = static_cast<double>(nanosecondsNow() - before) / 1e6;
    return outputs.status();
  }

  Status warmUp(double seconds) {
    STATOR_RETURN_IF_ERROR(runOnce(firstRunMs));
    uint64_t until = nanosecondsNow() + static_cast<uint64_t>(seconds * 1e9);
    for (double ignored; nanosecondsNow() < until;)
      STATOR_RETURN_IF_ERROR(runOnce(ignored));
    return okStatus();
  }

  Status measure(const MeasurementPlan &plan) {
    std::vector<ProfileEntry> before = session.profile(method);
    STATOR_RETURN_IF_ERROR(runMany(plan));
    profile = session.profile(method);
    for (size_t i = 0; i < profile.size(); ++i) {
      profile[i].calls -= before[i].calls;
      profile[i].nanoseconds -= before[i].nanoseconds;
      profile[i].operations -= before[i].operations;
      profile[i].bytes -= before[i].bytes;
    }
    for (int64_t i = 0; i < plan.tracedRuns; ++i) {
      double ignored;
      TracedRun run;
      run.begin = nanosecondsNow();
      STATOR_RETURN_IF_ERROR(runOnce(ignored));
      run.end = nanosecondsNow();
      run.events = session.trace();
      trace.push_back(std::move(run));
    }
    return okStatus();
  }

private:
  Status runMany(const MeasurementPlan &plan) {
    begin = nanosecondsNow();
    uint64_t until = begin + static_cast<uint64_t>(plan.durationSeconds * 1e9);
    auto done = [&] { return static_cast<int64_t>(latenciesMs.size()); };
    while (done() < plan.iterations || (done() < plan.maxIterations && nanosecondsNow() < until)) {
      double milliseconds;
      STATOR_RETURN_IF_ERROR(runOnce(milliseconds));
      latenciesMs.push_back(milliseconds);
    }
    end = nanosecondsNow();
    return okStatus();
  }
};
} // namespace

Result<Measurement> measure(const Module &module, const MethodInfo &method, const std::vector<NpyArray> &inputs,
                            const SessionOptions &options, const MeasurementPlan &plan) {
  std::vector<Stream> streams;
  for (int64_t i = 0; i < plan.streams; ++i) {
    STATOR_TRY(session, module.session(options));
    streams.emplace_back(std::move(session), method.name.c_str(), viewsOf(inputs));
    // One after the other: the first run of a shape prepares it, and is an error if the inputs do not fit.
    STATOR_RETURN_IF_ERROR(streams.back().warmUp(i == 0 ? plan.warmUpSeconds : 0));
  }
  std::vector<std::thread> threads;
  std::atomic<int64_t> ready{0};
  for (Stream &stream : streams)
    threads.emplace_back([&] {
      // All begin together.
      for (++ready; ready < plan.streams;)
        std::this_thread::yield();
      stream.status = stream.measure(plan);
    });
  for (std::thread &thread : threads)
    thread.join();

  Measurement result;
  result.firstRunMs = streams.front().firstRunMs;
  result.threads = streams.front().session.threads();
  uint64_t begin = UINT64_MAX, end = 0;
  for (Stream &stream : streams) {
    STATOR_RETURN_IF_ERROR(stream.status);
    result.latenciesMs.insert(result.latenciesMs.end(), stream.latenciesMs.begin(), stream.latenciesMs.end());
    result.arenaBytes += stream.session.arenaBytes();
    begin = std::min(begin, stream.begin);
    end = std::max(end, stream.end);
  }
  std::sort(result.latenciesMs.begin(), result.latenciesMs.end());
  result.elapsedSeconds = static_cast<double>(end - begin) / 1e9;
  const Stream &first = streams.front();
  result.profile = first.profile;
  result.profiledRuns = first.latenciesMs.size();
  result.profiledMs = std::accumulate(first.latenciesMs.begin(), first.latenciesMs.end(), 0.0);
  for (size_t i = 0; i < streams.size(); ++i)
    for (TracedRun &run : streams[i].trace) {
      run.stream = i;
      result.trace.push_back(std::move(run));
    }
  return result;
}

} // namespace stator::tools
