// A file that is there completely or not at all. Bytes go to a temporary file beside the target, which commit() renames over it, so
// that a reader (or a process that has the old file mapped) never sees half of one, whatever fails in between.
#ifndef STATOR_SERIALIZATION_BASE_OUTPUTFILE_H
#define STATOR_SERIALIZATION_BASE_OUTPUTFILE_H

#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stator {

class OutputFile {
public:
  /// InvalidArgument when `path` is something else than a regular file or free; NotFound when its folder does not exist.
  static Result<std::unique_ptr<OutputFile>> create(const std::string &path);

  /// Removes the temporary file unless commit() has succeeded.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// ResourceExhausted when the disk, a quota or the limit on file sizes is reached. After a failure every call fails likewise.
  Status write(std::span<const std::byte> bytes);
  Status write(const void *data, size_t size) { return write({static_cast<const std::byte *>(data), size}); }
  /// Where the next write() goes; may lie before the end, to overwrite.
  Status seek(uint64_t position);
  uint64_t position() const { return bufferStart + buffer.size(); }
  uint64_t size() const { return position() > fileSize ? position() : fileSize; }
  /// The first failure, if any.
  const Status &status() const { return firstFailure; }
  /// Makes the file appear under its name. Nothing may be written afterwards.
  Status commit();

private:
  OutputFile(std::string target, std::string temporary, int descriptor);
  Status flush();
  Status fail(int error);

  std::string target;
  std::string temporary;
  int descriptor;
  std::vector<std::byte> buffer; // Goes to bufferStart.
  uint64_t bufferStart = 0;
  uint64_t fileSize = 0;
  Status firstFailure;
};

} // namespace stator

#endif // STATOR_SERIALIZATION_BASE_OUTPUTFILE_H
