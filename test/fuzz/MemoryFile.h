// A file in memory with a path, for functions that open files by themselves.
#ifndef STATOR_TEST_FUZZ_MEMORYFILE_H
#define STATOR_TEST_FUZZ_MEMORYFILE_H

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace stator::fuzz {

class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size) : descriptor(memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor < 0 || write(descriptor, data, size) != static_cast<ssize_t>(size))
      std::abort();
  }
  ~MemoryFile() { close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

} // namespace stator::fuzz

#endif // STATOR_TEST_FUZZ_MEMORYFILE_H
