// `-` as the name of a model: models are mapped, and a pipe cannot be, so standard input is first copied to a file.
#ifndef STATOR_TOOLS_SUPPORT_STANDARDINPUT_H
#define STATOR_TOOLS_SUPPORT_STANDARDINPUT_H

#include "stator/Result.h"

#include <string>

namespace stator::tools {

/// A file called `stdin` in a folder of its own below $TMPDIR, for as long as this lives.
class StandardInput {
public:
  StandardInput() = default;
  ~StandardInput();
  StandardInput(const StandardInput &) = delete;
  StandardInput &operator=(const StandardInput &) = delete;

  /// When `*path` is `-`, reads standard input to its end and makes it the path of the copy.
  Status resolve(std::string *path);

private:
  std::string folder;
};

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_STANDARDINPUT_H
