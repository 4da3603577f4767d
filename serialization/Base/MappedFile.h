// A whole file as read-only memory. Models and artifacts are gigabytes; mapping them costs nothing up front and shares the pages
// between processes. Whoever holds views into the bytes holds the shared_ptr. A file that another process truncates while it is mapped
// raises SIGBUS on access, as with every mapping; writers in this project therefore replace files by renaming.
#ifndef STATOR_SERIALIZATION_BASE_MAPPEDFILE_H
#define STATOR_SERIALIZATION_BASE_MAPPEDFILE_H

#include "stator/Result.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace stator {

class MappedFile {
public:
  /// NotFound when there is no such file, InvalidFile for anything but a regular file. An empty file has empty bytes.
  static Result<std::shared_ptr<MappedFile>> open(const std::string &path);

  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  std::span<const std::byte> bytes() const { return {data, size}; }
  const std::string &path() const { return filePath; }

private:
  MappedFile(std::string path, const std::byte *data, size_t size) : filePath(std::move(path)), data(data), size(size) {}

  std::string filePath;
  const std::byte *data;
  size_t size;
};

} // namespace stator

#endif // STATOR_SERIALIZATION_BASE_MAPPEDFILE_H
