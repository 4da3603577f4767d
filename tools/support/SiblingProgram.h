// Running another program of the same installation in place of this one. Each tool is a program of its own, so that those that only need
// the runtime carry no compiler.
#ifndef STATOR_TOOLS_SUPPORT_SIBLINGPROGRAM_H
#define STATOR_TOOLS_SUPPORT_SIBLINGPROGRAM_H

#include <string>
#include <vector>

namespace stator::tools {

/// Becomes `name`, which lies beside this program. Returns only when that fails: with the exit code, after saying why on stderr as `tool`.
int becomeSibling(const std::string &tool, const std::string &name, std::vector<std::string> arguments);

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_SIBLINGPROGRAM_H
