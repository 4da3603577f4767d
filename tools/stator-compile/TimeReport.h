//===- TimeReport.h - the table behind --time-report -----------------------===//

#ifndef STATOR_TOOLS_STATORCOMPILE_TIMEREPORT_H
#define STATOR_TOOLS_STATORCOMPILE_TIMEREPORT_H

#include "stator/Compiler.h"

#include <string>
#include <vector>

namespace stator::tools {

/// One table per group, the longest times first; of single kernels and of passes only the slowest. Ends with a line end.
std::string timeReport(const std::vector<compiler::TimeEntry> &times);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATORCOMPILE_TIMEREPORT_H
