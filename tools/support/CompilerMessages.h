// What compiler tools print while they work: diagnostics with their place, and on a terminal the current step on one line that is
// overwritten. Everything goes to stderr.
#ifndef STATOR_TOOLS_SUPPORT_COMPILERMESSAGES_H
#define STATOR_TOOLS_SUPPORT_COMPILERMESSAGES_H

#include "stator/Compiler.h"
#include "tools/support/CommandLine.h"

#include <cstdio>
#include <string>

namespace stator::tools {

class CompilerMessages {
public:
  CompilerMessages(std::string tool, bool showProgress) : tool(std::move(tool)), showProgress(showProgress) {}

  void print(const compiler::Diagnostic &diagnostic) {
    static const char *const kSeverities[] = {"error", "warning", "remark", "note"};
    endProgress();
    hasError |= diagnostic.severity == compiler::Diagnostic::Severity::Error;
    std::fprintf(stderr, "%s: %s: %s%s%s\n", tool.c_str(), kSeverities[static_cast<int>(diagnostic.severity)], diagnostic.place.c_str(),
                 diagnostic.place.empty() ? "" : ": ", diagnostic.message.c_str());
  }

  void print(const compiler::Progress &progress) {
    if (!showProgress)
      return;
    std::fprintf(stderr, "\r\x1b[K[%u/%u] %s %s", progress.number, progress.total, progress.stage.c_str(), progress.detail.c_str());
    std::fflush(stderr);
    isOpen = true;
  }

  /// Removes the line of the current step.
  void endProgress() {
    if (isOpen)
      std::fputs("\r\x1b[K", stderr);
    isOpen = false;
  }

  /// Ends with `failure`: says it unless a diagnostic has said it already, and returns the exit code.
  int report(const Status &failure) {
    endProgress();
    return hasError ? exitCodeFor(failure) : reportError(tool, failure);
  }

private:
  std::string tool;
  bool showProgress;
  bool isOpen = false;
  bool hasError = false;
};

/// "1.2 MB"; decimal units.
inline std::string formatBytes(uint64_t bytes) {
  const char *const kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < sizeof(kUnits) / sizeof(kUnits[0])) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

/// "dir/model.onnx" and ".stator" give "dir/model.stator".
inline std::string replaceExtension(const std::string &path, const std::string &extension) {
  size_t slash = path.rfind('/'), dot = path.rfind('.');
  bool hasExtension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  return (hasExtension ? path.substr(0, dot) : path) + extension;
}

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_COMPILERMESSAGES_H
