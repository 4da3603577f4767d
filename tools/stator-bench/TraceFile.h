// Traced runs in the Trace Event Format, which chrome://tracing and ui.perfetto.dev show: a bar per run and per step, a line per stream.
#ifndef STATOR_TOOLS_STATOR_BENCH_TRACEFILE_H
#define STATOR_TOOLS_STATOR_BENCH_TRACEFILE_H

#include "tools/stator-bench/Measurement.h"

#include <string>
#include <vector>

namespace stator::tools {

/// `shapes` has a text per step, in the order of the profile.
std::string traceText(const std::string &model, const Measurement &measurement, const std::vector<std::string> &shapes);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATOR_BENCH_TRACEFILE_H
