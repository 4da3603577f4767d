// Mutations of zips; see the header. LLVMFuzzerCustomMutator below is what libFuzzer and Driver.cpp call.
#include "test/fuzz/ZipMutator.h"
#include "test/fuzz/TextMutator.h"

#include "serialization/Zip/ZipReader.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

using namespace stator;
using namespace stator::serialization;

/// Least significant byte first.
static std::string field(uint64_t number, unsigned width) {
  std::string bytes;
  for (unsigned i = 0; i != width; ++i)
    bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

void fuzz::StoredZip::add(const std::string &name, const std::string &content) {
  uint64_t crc = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
  std::string common = field(20, 2) + std::string(8, '\0') + field(crc, 4) + field(content.size(), 4) + field(content.size(), 4) +
                       field(name.size(), 2) + field(0, 2);
  directory += "PK\1\2" + field(20, 2) + common + std::string(10, '\0') + field(bytes.size(), 4) + name;
  bytes += "PK\3\4" + common + name + content;
  ++count;
}

std::string fuzz::StoredZip::finish() const {
  return bytes + directory + "PK\5\6" + field(0, 4) + field(count, 2) + field(count, 2) + field(directory.size(), 4) +
         field(bytes.size(), 4) + field(0, 2);
}

void fuzz::repairChecksums(uint8_t *data, size_t size) {
  Result<ZipReader> zip = ZipReader::open({reinterpret_cast<const std::byte *>(data), size});
  if (!zip.ok())
    return;
  auto put = [&](size_t at, uint32_t value) { std::memcpy(data + at, field(value, 4).data(), 4); };
  for (const ZipEntry &entry : zip->entries()) {
    if (entry.isDeflated)
      continue;
    uint32_t crc = static_cast<uint32_t>(crc32_z(0, data + entry.dataOffset, entry.storedSize));
    // Bit 3 of the flags: the local header has no checksum.
    if (!(data[entry.headerOffset + 6] & 8))
      put(entry.headerOffset + 14, crc);
    // The directory's record is the one with this offset of the local header; zips here are small, so that a search does.
    std::string signature = "PK\1\2", offset = field(entry.headerOffset, 4);
    for (size_t at = entry.dataOffset; at + 46 <= size; ++at)
      if (std::memcmp(data + at, signature.data(), 4) == 0 && std::memcmp(data + at + 42, offset.data(), 4) == 0) {
        put(at + 16, crc);
        break;
      }
  }
}

/// The zip with one record changed; empty when it cannot be read.
static std::string withChangedRecord(const uint8_t *data, size_t size, std::minstd_rand &random) {
  Result<ZipReader> zip = ZipReader::open({reinterpret_cast<const std::byte *>(data), size});
  if (!zip.ok() || zip->entries().empty())
    return "";
  auto endsWith = [](const ZipEntry &entry, std::initializer_list<const char *> suffixes) {
    return std::any_of(suffixes.begin(), suffixes.end(), [&](const char *suffix) { return entry.name.ends_with(suffix); });
  };
  // Weights and versions are changed too, but more is to be found in code.
  const ZipEntry *target = nullptr;
  for (unsigned tries = 1 + random() % 8; tries != 0 && !(target && target->size > 200 && endsWith(*target, {".py", ".json"})); --tries)
    target = &zip->entries()[random() % zip->entries().size()];
  fuzz::StoredZip changed;
  for (const ZipEntry &entry : zip->entries()) {
    Result<std::vector<std::byte>> read = zip->read(entry, uint64_t(1) << 24);
    if (!read.ok())
      return "";
    std::string content(reinterpret_cast<const char *>(read->data()), read->size());
    if (&entry == target && endsWith(entry, {".py", ".json"}) && random() % 8 != 0) {
      for (unsigned count = 1 + random() % 3; count != 0; --count)
        fuzz::mutateText(content, random);
    } else if (&entry == target) {
      size_t before = content.size();
      content.resize(before + 256);
      content.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(content.data()), before, content.size()));
    }
    changed.add(entry.name, content);
  }
  return changed.finish();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 4 != 0) {
    std::string changed = withChangedRecord(data, size, random);
    if (!changed.empty() && changed.size() <= maxSize) {
      std::copy(changed.begin(), changed.end(), data);
      return changed.size();
    }
  }
  size = LLVMFuzzerMutate(data, size, maxSize);
  if (random() % 4 != 0)
    fuzz::repairChecksums(data, size);
  return size;
}
