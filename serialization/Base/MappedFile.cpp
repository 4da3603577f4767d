// Read-only mapping of a file through mmap; see the header.
#include "serialization/Base/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace stator;

static Status failure(const std::string &path, const char *what, int error) {
  std::string message = std::string("cannot ") + what + " `" + path + "`: " + std::strerror(error);
  if (error == ENOENT || error == ENOTDIR)
    return notFound(std::move(message));
  if (error == ENOMEM)
    return resourceExhausted(std::move(message));
  return invalidFile(std::move(message));
}

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failure(path, "open", errno);
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    int error = errno;
    ::close(descriptor);
    return failure(path, "read", error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return invalidFile("`" + path + "` is not a regular file");
  }
  size_t size = static_cast<size_t>(info.st_size);
  const std::byte *data = nullptr;
  if (size != 0) {
    void *address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) {
      int error = errno;
      ::close(descriptor);
      return failure(path, "map", error);
    }
    data = static_cast<const std::byte *>(address);
  }
  ::close(descriptor);
  return std::shared_ptr<MappedFile>(new MappedFile(path, data, size));
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<std::byte *>(data), size);
}
