// The table of contents of a zip file (32 or 64 bits) that lies in memory, trusted by nobody. Refused is what makes zips dangerous or
// ambiguous: entries outside of the file or on top of each other, headers that contradict the directory, names twice, names that leave a
// folder, encryption, other methods than stored and deflated. Stored entries are views into the memory, without a copy.
#ifndef STATOR_SERIALIZATION_ZIP_ZIPREADER_H
#define STATOR_SERIALIZATION_ZIP_ZIPREADER_H

#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator::serialization {

struct ZipEntry {
  std::string name;
  uint64_t headerOffset = 0; ///< Of the local header, from the start of the file.
  uint64_t dataOffset = 0;
  uint64_t storedSize = 0; ///< Bytes in the file.
  uint64_t size = 0;       ///< Bytes of the content.
  uint32_t crc32 = 0;      ///< Of the content.
  bool isDeflated = false;
};

class ZipReader {
public:
  /// `file` must outlive the reader. InvalidFile names the entry at fault.
  static Result<ZipReader> open(std::span<const std::byte> file);

  /// In the order of the file.
  const std::vector<ZipEntry> &entries() const { return contents; }
  /// Null when there is no such entry.
  const ZipEntry *find(std::string_view name) const;
  /// The comment at the end of the file.
  const std::string &comment() const { return fileComment; }

  /// The bytes in the file: the content of a stored entry.
  std::span<const std::byte> storedBytes(const ZipEntry &entry) const { return file.subspan(entry.dataOffset, entry.storedSize); }
  /// The content, unpacked if need be, with its CRC-32 checked. ResourceExhausted when it has more than `limitBytes`.
  Result<std::vector<std::byte>> read(const ZipEntry &entry, uint64_t limitBytes) const;
  /// Whether the bytes of a stored entry have the CRC-32 of the directory.
  Status checkCrc(const ZipEntry &entry) const;

private:
  std::span<const std::byte> file;
  std::vector<ZipEntry> contents;
  std::map<std::string, size_t, std::less<>> byName;
  std::string fileComment;
};

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ZIP_ZIPREADER_H
