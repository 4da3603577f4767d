// Checksums of mutated zips and the mutator of zips that all fuzzers of whole files share; see the header.
#include "test/fuzz/ZipRepair.h"

#include "serialization/Zip/ZipReader.h"

#include <cstring>
#include <vector>
#include <zlib.h>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

using namespace stator;
using namespace stator::serialization;

static std::vector<ZipEntry> entriesOf(const uint8_t *data, size_t size) {
  Result<ZipReader> zip = ZipReader::open({reinterpret_cast<const std::byte *>(data), size});
  return zip.ok() ? zip->entries() : std::vector<ZipEntry>();
}

static void put32(uint8_t *to, uint32_t value) {
  for (unsigned i = 0; i != 4; ++i)
    to[i] = static_cast<uint8_t>(value >> (8 * i));
}

static uint32_t get32(const uint8_t *from) { return from[0] | uint32_t(from[1]) << 8 | uint32_t(from[2]) << 16 | uint32_t(from[3]) << 24; }

void fuzz::repairChecksums(uint8_t *data, size_t size) {
  std::vector<ZipEntry> entries = entriesOf(data, size);
  for (const ZipEntry &entry : entries) {
    if (entry.isDeflated)
      continue;
    uint32_t crc = static_cast<uint32_t>(crc32_z(0, data + entry.dataOffset, entry.storedSize));
    if (crc == entry.crc32)
      continue;
    // Bit 3 of the flags: the local header has no checksum.
    if (!(data[entry.headerOffset + 6] & 8))
      put32(data + entry.headerOffset + 14, crc);
    // The directory's record is the one with this offset of the local header; there are few, so that a search does.
    for (size_t at = entry.dataOffset; at + 46 <= size; ++at)
      if (get32(data + at) == 0x02014b50 && get32(data + at + 42) == entry.headerOffset) {
        put32(data + at + 16, crc);
        break;
      }
  }
}

bool fuzz::mutateOneEntry(uint8_t *data, size_t size, unsigned seed) {
  std::vector<ZipEntry> entries = entriesOf(data, size);
  if (entries.empty())
    return false;
  const ZipEntry &entry = entries[seed % entries.size()];
  std::vector<uint8_t> content(data + entry.dataOffset, data + entry.dataOffset + entry.storedSize);
  content.resize(content.size() + 64);
  size_t changed = LLVMFuzzerMutate(content.data(), entry.storedSize, content.size());
  std::memcpy(data + entry.dataOffset, content.data(), std::min<size_t>(changed, entry.storedSize));
  return true;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  if (seed % 4 == 0 || !fuzz::mutateOneEntry(data, size, seed / 4))
    size = LLVMFuzzerMutate(data, size, maxSize);
  if (seed % 8 != 7)
    fuzz::repairChecksums(data, size);
  return size;
}
