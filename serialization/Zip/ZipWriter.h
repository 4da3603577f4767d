// Writes a zip whose entries lie at multiples of an alignment, with the same bytes for the same content: no dates, no owners, no host.
// minizip writes the structures; an extra field in each local header (id 0xd935, as zipalign writes it) pads the data to its place.
// Memory does not depend on the size of the entries.
#ifndef STATOR_SERIALIZATION_ZIP_ZIPWRITER_H
#define STATOR_SERIALIZATION_ZIP_ZIPWRITER_H

#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace stator::serialization {

class ZipWriter {
public:
  /// The file appears under its name with finish(); see serialization/Base/OutputFile.h.
  static Result<std::unique_ptr<ZipWriter>> create(const std::string &path);
  ~ZipWriter();
  ZipWriter(const ZipWriter &) = delete;
  ZipWriter &operator=(const ZipWriter &) = delete;

  /// Starts an entry of exactly `size` bytes, its data at a multiple of `alignment` (a power of two up to 4096).
  Status beginEntry(const std::string &name, uint64_t size, unsigned alignment);
  Status write(std::span<const std::byte> bytes);
  /// Internal when the entry got another number of bytes than announced.
  Status endEntry();
  /// All at once. A deflated entry is not aligned.
  Status addEntry(const std::string &name, std::span<const std::byte> bytes, unsigned alignment);
  Status addDeflatedEntry(const std::string &name, std::span<const std::byte> bytes);
  /// Writes the directory and lets the file appear.
  Status finish(const std::string &comment);

private:
  struct Implementation;
  explicit ZipWriter(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ZIP_ZIPWRITER_H
