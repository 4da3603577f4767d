// The content of zip entries: checksums and unpacking, by zlib; see ZipReader.h.
#include "serialization/Zip/ZipNames.h"
#include "serialization/Zip/ZipReader.h"

#include <algorithm>
#include <zlib.h>

using namespace stator;
using namespace stator::serialization;

static uint32_t crcOf(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

Status ZipReader::checkCrc(const ZipEntry &entry) const {
  if (crcOf(storedBytes(entry)) != entry.crc32)
    return zipEntryError(entry.name, "its checksum is wrong");
  return Status();
}

Result<std::vector<std::byte>> ZipReader::read(const ZipEntry &entry, uint64_t limitBytes) const {
  if (entry.size > limitBytes)
    return resourceExhausted("zip entry " + shownEntry(entry.name) + " has " + std::to_string(entry.size) + " bytes, at most " +
                             std::to_string(limitBytes) + " are accepted");
  std::span<const std::byte> stored = storedBytes(entry);
  if (!entry.isDeflated) {
    STATOR_RETURN_IF_ERROR(checkCrc(entry));
    return std::vector<std::byte>(stored.begin(), stored.end());
  }
  // Deflate shrinks to 1/1032 at best: what claims more is a lie that must not reach the allocator.
  if (entry.size / 1032 > entry.storedSize)
    return zipEntryError(entry.name, "it claims to unpack " + std::to_string(entry.storedSize) + " bytes to " + std::to_string(entry.size));
  std::vector<std::byte> content(entry.size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return resourceExhausted("no memory to unpack zip entry " + shownEntry(entry.name));
  // zlib counts in 32 bits, so that large entries go through in parts.
  constexpr uint64_t kPart = uint64_t(1) << 30;
  uint64_t consumed = 0, produced = 0;
  std::byte beyond[1];
  int state = Z_OK;
  while (state == Z_OK) {
    uint64_t in = std::min(kPart, stored.size() - consumed), out = std::min(kPart, content.size() - produced);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(stored.data() + consumed));
    stream.avail_in = static_cast<uInt>(in);
    // With the content complete, one more byte shows whether the stream goes on.
    stream.next_out = reinterpret_cast<Bytef *>(out != 0 ? content.data() + produced : beyond);
    stream.avail_out = static_cast<uInt>(out != 0 ? out : 1);
    uInt before = stream.avail_out;
    state = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    produced += before - stream.avail_out;
    if (produced > content.size())
      break;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || produced != content.size() || crcOf(content) != entry.crc32)
    return zipEntryError(entry.name, "its compressed bytes are damaged");
  return content;
}
