#include "tools/support/StandardInput.h"

#include "serialization/Base/OutputFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace stator::tools {

StandardInput::~StandardInput() {
  if (folder.empty())
    return;
  unlink((folder + "/stdin").c_str());
  rmdir(folder.c_str());
}

Status StandardInput::resolve(std::string *path) {
  if (*path != "-")
    return okStatus();
  const char *temporary = std::getenv("TMPDIR");
  std::string pattern = std::string(temporary && *temporary ? temporary : "/tmp") + "/stator-XXXXXX";
  if (!mkdtemp(pattern.data()))
    return notFound("cannot make the folder `" + pattern + "` for standard input: " + std::strerror(errno));
  folder = pattern;
  *path = folder + "/stdin";
  STATOR_TRY(file, OutputFile::create(*path));
  std::vector<std::byte> buffer(size_t(1) << 20);
  for (;;) {
    ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return notFound(std::string("cannot read standard input: ") + std::strerror(errno));
    if (count == 0)
      return file->commit();
    STATOR_RETURN_IF_ERROR(file->write(buffer.data(), static_cast<size_t>(count)));
  }
}

} // namespace stator::tools
