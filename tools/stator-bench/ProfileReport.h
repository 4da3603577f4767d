// The step-by-step part of a report: where the time goes, and how far each step is from what the machine can do.
#ifndef STATOR_TOOLS_STATOR_BENCH_PROFILEREPORT_H
#define STATOR_TOOLS_STATOR_BENCH_PROFILEREPORT_H

#include "serialization/Base/JsonWriter.h"
#include "tools/stator-bench/Measurement.h"
#include "tools/support/MachinePeak.h"

namespace stator::tools {

/// Billions per second; 0 when it took no time.
double perNanosecond(uint64_t count, uint64_t nanoseconds);

/// Steps, slowest first; families; the sum against the time of the runs.
void printProfile(const Measurement &measurement, const MachinePeak &peak);
/// Adds the fields `machine`, `profile`, `families` and `profile_total` to an open object. Steps are in plan order.
void writeProfile(JsonWriter &json, const Measurement &measurement, const MachinePeak &peak);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATOR_BENCH_PROFILEREPORT_H
