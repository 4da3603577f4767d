// stator-bench: measures how long a method of an artifact takes, and where the time goes.
#include "serialization/Base/JsonWriter.h"
#include "serialization/Base/OutputFile.h"
#include "tools/stator-bench/ProfileReport.h"
#include "tools/stator-bench/StepShapes.h"
#include "tools/stator-bench/TraceFile.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

namespace {
struct BenchOptions {
  std::string path;
  ModelOptions model;
  MeasurementPlan plan;
  std::vector<std::string> percentileTexts;
  std::vector<double> percentiles = {50, 90, 95, 99};
  std::string json;
  bool profile = false;
  std::string trace;
  int64_t tracedRuns = 3;
};

// A run of a model with loops may execute its steps any number of times.
constexpr size_t kMostTracedSteps = 100000;

struct Report {
  const BenchOptions &options;
  const MethodInfo &method;
  const std::vector<NpyArray> &inputs;
  const Measurement &measurement;
  std::string cpuLevel;
  double loadMs;
  uint64_t peakResident; ///< Before the machine's peak is measured, which takes memory too.
  MachinePeak peak;      ///< When profiling.
};
} // namespace

// "99", "99.9"
static std::string percentText(double percent) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", percent);
  return text;
}

static void printReport(const Report &report) {
  const Measurement &m = report.measurement;
  std::printf("model       %s, method %s\n", report.options.path.c_str(), report.method.name.c_str());
  for (size_t i = 0; i < report.inputs.size(); ++i)
    std::printf("input       %s: %s\n", report.method.inputs[i].name.c_str(),
                typeText(report.inputs[i].type, report.inputs[i].shape).c_str());
  std::printf("machine     %s kernels, %d threads, %lld streams\n", report.cpuLevel.c_str(), m.threads,
              static_cast<long long>(report.options.plan.streams));
  std::printf("load        %s, first run %s\n", formatMilliseconds(report.loadMs).c_str(), formatMilliseconds(m.firstRunMs).c_str());
  std::printf("latency     min %s, mean %s", formatMilliseconds(m.latenciesMs.front()).c_str(), formatMilliseconds(m.mean()).c_str());
  for (double percent : report.options.percentiles)
    std::printf(", P%s %s", percentText(percent).c_str(), formatMilliseconds(m.percentile(percent)).c_str());
  std::printf(", max %s\n", formatMilliseconds(m.latenciesMs.back()).c_str());
  std::printf("throughput  %.2f runs/s (%zu runs in %.2f s)\n", m.runsPerSecond(), m.latenciesMs.size(), m.elapsedSeconds);
  std::printf("memory      peak resident %s, arena %s\n", formatBytes(report.peakResident).c_str(), formatBytes(m.arenaBytes).c_str());
  if (report.options.profile)
    printProfile(m, report.peak);
}

static std::string jsonReport(const Report &report) {
  const Measurement &m = report.measurement;
  JsonWriter json;
  json.beginObject();
  json.field("model", report.options.path);
  json.field("method", report.method.name);
  json.key("inputs");
  json.beginArray();
  for (size_t i = 0; i < report.inputs.size(); ++i) {
    json.beginObject();
    json.field("name", report.method.inputs[i].name);
    json.field("type", typeText(report.inputs[i].type, report.inputs[i].shape));
    json.endObject();
  }
  json.endArray();
  json.field("cpu_level", report.cpuLevel);
  json.field("threads", m.threads);
  json.field("streams", report.options.plan.streams);
  json.field("load_ms", report.loadMs);
  json.field("first_run_ms", m.firstRunMs);
  json.key("latency_ms");
  json.beginObject();
  json.field("min", m.latenciesMs.front());
  json.field("mean", m.mean());
  for (double percent : report.options.percentiles)
    json.field("p" + percentText(percent), m.percentile(percent));
  json.field("max", m.latenciesMs.back());
  json.endObject();
  json.field("runs", m.latenciesMs.size());
  json.field("elapsed_s", m.elapsedSeconds);
  json.field("runs_per_s", m.runsPerSecond());
  json.field("peak_resident_bytes", report.peakResident);
  json.field("arena_bytes", m.arenaBytes);
  if (report.options.profile)
    writeProfile(json, m, report.peak);
  json.endObject();
  return json.text();
}

static Status writeJson(const std::string &path, const std::string &text) {
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return okStatus();
  }
  STATOR_TRY(file, OutputFile::create(path));
  STATOR_RETURN_IF_ERROR(file->write(text.data(), text.size()));
  return file->commit();
}

static Status writeTrace(OutputFile &file, const Report &report) {
  STATOR_TRY(shapes, stepShapes(report.options.path, report.method.name, report.inputs));
  std::string text = traceText(report.options.path, report.measurement, shapes);
  STATOR_RETURN_IF_ERROR(file.write(text.data(), text.size()));
  return file.commit();
}

static Result<int> bench(const BenchOptions &options) {
  std::unique_ptr<OutputFile> trace;
  if (!options.trace.empty()) {
    // Before the work, so that a wrong path is no loss of time.
    STATOR_TRY(file, OutputFile::create(options.trace));
    trace = std::move(file);
  }
  uint64_t begin = nanosecondsNow();
  STATOR_TRY(module, Module::load(options.path, LoadOptions().cpuLevel(options.model.cpuLevel)));
  double loadMs = static_cast<double>(nanosecondsNow() - begin) / 1e6;
  STATOR_TRY(method, findMethod(module, options.model.method));
  Result<std::vector<NamedTensor>> given = readInputs(options.model.inputs);
  if (!given.ok())
    return reportInputError("stator-bench", given.status());
  Result<std::vector<NpyArray>> arranged = arrangeInputs(method, std::move(given).value(), options.model, /*mayMakeUp=*/true);
  if (!arranged.ok())
    return reportInputError("stator-bench", arranged.status());
  std::vector<NpyArray> inputs = std::move(arranged).value();
  SessionOptions session = sessionOptions(options.model).profile(options.profile || trace);
  MeasurementPlan plan = options.plan;
  if (trace) {
    session.traceEvents(kMostTracedSteps);
    plan.tracedRuns = options.tracedRuns;
  }
  STATOR_TRY(measurement, measure(module, method, inputs, session, plan));
  Report report{options, method, inputs, measurement, module.cpuLevel(), loadMs, peakResidentBytes(), {}};
  if (options.profile)
    report.peak = measureMachinePeak(measurement.threads);
  if (options.json != "-")
    printReport(report);
  if (!options.json.empty())
    STATOR_RETURN_IF_ERROR(writeJson(options.json, jsonReport(report)));
  if (trace)
    STATOR_RETURN_IF_ERROR(writeTrace(*trace, report));
  return ExitOk;
}

static Status parsePercentile(BenchOptions &options, std::string_view text) {
  options.percentiles.clear();
  for (;;) {
    size_t comma = text.find(',');
    STATOR_TRY(percent, parseReal(text.substr(0, comma)));
    if (!(percent > 0 && percent <= 100))
      return invalidArgument("a percentile lies between 0 and 100");
    options.percentiles.push_back(percent);
    if (comma == std::string_view::npos)
      return okStatus();
    text.remove_prefix(comma + 1);
  }
}

int main(int argc, char **argv) {
  BenchOptions options;
  double warmUpMs = options.plan.warmUpSeconds * 1e3;
  bool jsonToStdout = false;
  CommandLine commandLine("stator-bench", "MODEL.stator [options]", "Measures how long a method of a compiled model takes.");
  commandLine.positional("MODEL.stator", &options.path, "the artifact");
  commandLine.group("Inputs");
  declareInputOptions(commandLine, options.model, /*mayMakeUp=*/true);
  commandLine.group("Measurement");
  commandLine.integer("iterations", "N", &options.plan.iterations, 1, 1000000000, "at least N measured runs (default 10)");
  commandLine.real("duration", "SECONDS", &options.plan.durationSeconds, 0, "and for at least so long (default 3)");
  commandLine.real("warmUp", "MILLISECONDS", &warmUpMs, 0, "run unmeasured before (default 200)");
  commandLine.alias("warm-up", "warmUp");
  commandLine.integer("streams", "N", &options.plan.streams, 1, 1024,
                      "sessions that run at the same time, each on a thread of its own (default 1)");
  commandLine.custom(
      "percentile", "P,P,...", [&](std::string_view text) { return parsePercentile(options, text); },
      "which percentiles to report (default 50,90,95,99)");
  commandLine.group("Execution");
  declareSessionOptions(commandLine, options.model);
  commandLine.group("Report");
  commandLine.flag("profile", &options.profile, "measure every step, slowest first, and what the machine could do");
  commandLine.text("trace", "FILE", &options.trace, "write every step of some runs to a file for chrome://tracing or ui.perfetto.dev");
  commandLine.integer("trace-runs", "N", &options.tracedRuns, 1, 1000, "how many runs of each stream --trace shows (default 3)");
  commandLine.flag("json", &jsonToStdout, "print JSON instead of text");
  commandLine.text("json-file", "FILE", &options.json, "write JSON to a file too");
  commandLine.alias("exportTimes", "json-file");
  commandLine.epilogue(exitCodeHelp());
  if (std::optional<int> code = commandLine.parse(argc, argv))
    return *code;
  if (jsonToStdout)
    options.json = "-";
  options.plan.warmUpSeconds = warmUpMs / 1e3;
  Result<int> result = bench(options);
  return result.ok() ? finishOutput("stator-bench", *result) : reportError("stator-bench", result.status());
}
