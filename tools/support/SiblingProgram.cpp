#include "tools/support/SiblingProgram.h"
#include "tools/support/CommandLine.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace stator::tools {

/// The folder of this program, with a slash; empty when the system does not tell.
static std::string ownFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || length == static_cast<ssize_t>(sizeof(path)))
    return "";
  std::string text(path, static_cast<size_t>(length));
  return text.substr(0, text.rfind('/') + 1);
}

int becomeSibling(const std::string &tool, const std::string &name, std::vector<std::string> arguments) {
  std::string program = ownFolder() + name;
  arguments.insert(arguments.begin(), program);
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  bool isMissing = errno == ENOENT;
  std::fprintf(stderr, "%s: error: cannot run `%s`: %s%s\n", tool.c_str(), program.c_str(), std::strerror(errno),
               isMissing ? "; this installation has no compiler, or is not complete" : "");
  return isMissing ? ExitUnsupported : ExitFailure;
}

} // namespace stator::tools
