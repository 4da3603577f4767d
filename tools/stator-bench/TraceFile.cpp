// Complete events ("ph": "X"); times are microseconds from the first run's begin.
#include "tools/stator-bench/TraceFile.h"

#include "serialization/Base/JsonWriter.h"
#include "tools/stator-bench/ProfileReport.h"

#include <algorithm>

namespace stator::tools {

namespace {
class TraceWriter {
public:
  TraceWriter(const Measurement &measurement, const std::vector<std::string> &shapes) : measurement(measurement), shapes(shapes) {
    for (const TracedRun &run : measurement.trace)
      origin = std::min(origin, run.begin);
  }

  std::string write(const std::string &model) {
    json.beginObject();
    json.field("displayTimeUnit", "ns");
    json.key("traceEvents");
    json.beginArray();
    metadata("process_name", 0, model);
    size_t streams = 0;
    for (const TracedRun &run : measurement.trace)
      streams = std::max(streams, run.stream + 1);
    for (size_t stream = 0; stream < streams; ++stream)
      metadata("thread_name", stream, "stream " + std::to_string(stream));
    for (const TracedRun &run : measurement.trace)
      this->run(run);
    json.endArray();
    json.endObject();
    return json.text();
  }

private:
  void metadata(const char *what, size_t stream, const std::string &name) {
    json.beginObject();
    json.field("name", what);
    json.field("ph", "M");
    json.field("pid", 1);
    json.field("tid", stream);
    json.key("args");
    json.beginObject();
    json.field("name", name);
    json.endObject();
    json.endObject();
  }

  void beginEvent(const std::string &name, const std::string &category, size_t stream, uint64_t begin, uint64_t end) {
    json.beginObject();
    json.field("name", name);
    json.field("cat", category);
    json.field("ph", "X");
    json.field("pid", 1);
    json.field("tid", stream);
    json.field("ts", static_cast<double>(begin - origin) / 1e3);
    json.field("dur", static_cast<double>(end - begin) / 1e3);
  }

  void run(const TracedRun &run) {
    beginEvent("run", "run", run.stream, run.begin, run.end);
    json.endObject();
    for (const TraceEvent &event : run.events) {
      const ProfileEntry &step = measurement.profile[event.instruction];
      beginEvent(step.name.empty() ? step.kernel : step.name, step.family.empty() ? step.kernel : step.family, run.stream,
                 event.begin_nanoseconds, event.end_nanoseconds);
      json.key("args");
      json.beginObject();
      json.field("step", event.instruction);
      json.field("kernel", step.kernel);
      json.field("family", step.family);
      if (event.instruction < shapes.size())
        json.field("shapes", shapes[event.instruction]);
      json.field("workers", event.workers);
      uint64_t took = event.end_nanoseconds - event.begin_nanoseconds;
      json.field("gflops", perNanosecond(event.operations, took));
      json.field("gb_per_s", perNanosecond(event.bytes, took));
      json.endObject();
      json.endObject();
    }
  }

  const Measurement &measurement;
  const std::vector<std::string> &shapes;
  uint64_t origin = UINT64_MAX;
  JsonWriter json;
};
} // namespace

std::string traceText(const std::string &model, const Measurement &measurement, const std::vector<std::string> &shapes) {
  return TraceWriter(measurement, shapes).write(model);
}

} // namespace stator::tools
