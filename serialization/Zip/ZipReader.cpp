// Reads and checks the directory of a zip file in memory; see the header.
#include "serialization/Zip/ZipReader.h"

#include <algorithm>
#include <cstring>
#include <minizip/unzip.h>
#include <zlib.h>

using namespace stator;
using namespace stator::serialization;

// minizip's view of the memory: a position that never leaves it.

namespace {
struct MemoryStream {
  std::span<const std::byte> bytes;
  uint64_t position = 0;
};

/// Closes minizip's handle on every way out.
struct UnzipHandle {
  unzFile handle;
  ~UnzipHandle() {
    if (handle)
      unzClose(handle);
  }
};
} // namespace

static voidpf openStream(voidpf opaque, const void *, int) { return opaque; }

static uLong readStream(voidpf, voidpf stream, void *buffer, uLong size) {
  MemoryStream *memory = static_cast<MemoryStream *>(stream);
  uint64_t count = std::min<uint64_t>(size, memory->bytes.size() - memory->position);
  if (count != 0)
    std::memcpy(buffer, memory->bytes.data() + memory->position, count);
  memory->position += count;
  return static_cast<uLong>(count);
}

static uLong refuseWrite(voidpf, voidpf, const void *, uLong) { return 0; }
static ZPOS64_T tellStream(voidpf, voidpf stream) { return static_cast<MemoryStream *>(stream)->position; }

static long seekStream(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  MemoryStream *memory = static_cast<MemoryStream *>(stream);
  uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET ? 0 : origin == ZLIB_FILEFUNC_SEEK_CUR ? memory->position : memory->bytes.size();
  if (offset > memory->bytes.size() - base)
    return -1;
  memory->position = base + offset;
  return 0;
}

static int closeStream(voidpf, voidpf) { return 0; }
static int streamError(voidpf, voidpf) { return 0; }

/// A name without its control characters, for messages.
static std::string shown(const std::string &name) {
  std::string text = "`";
  for (char c : name.substr(0, 80))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (name.size() > 80 ? "...`" : "`");
}

static Status entryError(const std::string &name, const std::string &what) { return invalidFile("zip entry " + shown(name) + ": " + what); }

static Status checkName(const std::string &name, size_t index) {
  if (name.empty())
    return invalidFile("zip entry " + std::to_string(index) + " has no name");
  if (name.find('\0') != std::string::npos || name.find('\\') != std::string::npos || name.front() == '/')
    return entryError(name, "the name is not a relative path");
  for (size_t start = 0; start <= name.size();) {
    size_t end = std::min(name.find('/', start), name.size());
    if (name.compare(start, end - start, "..") == 0)
      return entryError(name, "the name leaves its folder");
    start = end + 1;
  }
  return Status();
}

/// The current entry of the directory, with its local header read and compared by minizip.
static Result<ZipEntry> readEntry(unzFile zip, size_t index) {
  unz_file_info64 info;
  if (unzGetCurrentFileInfo64(zip, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    return invalidFile("zip directory is damaged at entry " + std::to_string(index));
  ZipEntry entry;
  entry.name.resize(info.size_filename);
  if (unzGetCurrentFileInfo64(zip, &info, entry.name.data(), info.size_filename, nullptr, 0, nullptr, 0) != UNZ_OK)
    return invalidFile("zip directory is damaged at entry " + std::to_string(index));
  STATOR_RETURN_IF_ERROR(checkName(entry.name, index));
  if (info.flag & 1)
    return entryError(entry.name, "it is encrypted");
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
    return entryError(entry.name, "compression method " + std::to_string(info.compression_method) + ", expected stored or deflated");
  entry.isDeflated = info.compression_method == Z_DEFLATED;
  entry.storedSize = info.compressed_size;
  entry.size = info.uncompressed_size;
  entry.crc32 = static_cast<uint32_t>(info.crc);
  if (!entry.isDeflated && entry.storedSize != entry.size)
    return entryError(entry.name, "it is stored, but with two different sizes");

  int method = 0, level = 0;
  if (unzOpenCurrentFile2(zip, &method, &level, /*raw=*/1) != UNZ_OK)
    return entryError(entry.name, "its local header is damaged or differs from the directory");
  entry.dataOffset = unzGetCurrentFileZStreamPos64(zip);
  int localExtra = unzGetLocalExtrafield(zip, nullptr, 0);
  unzCloseCurrentFile(zip);
  uint64_t headerSize = 30 + static_cast<uint64_t>(info.size_filename) + static_cast<uint64_t>(std::max(localExtra, 0));
  if (localExtra < 0 || entry.dataOffset < headerSize)
    return entryError(entry.name, "its local header is damaged or differs from the directory");
  entry.headerOffset = entry.dataOffset - headerSize;
  return entry;
}

Result<ZipReader> ZipReader::open(std::span<const std::byte> file) {
  // minizip takes the end record at position 0 of an empty zip for a missing one.
  constexpr size_t kEndBytes = 22;
  static const char emptyZip[kEndBytes + 1] = "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
  if (file.size() == kEndBytes && std::memcmp(file.data(), emptyZip, kEndBytes) == 0)
    return ZipReader();

  MemoryStream stream{file};
  zlib_filefunc64_def functions{openStream, readStream, refuseWrite, tellStream, seekStream, closeStream, streamError, &stream};
  UnzipHandle zip{unzOpen2_64("", &functions)};
  if (!zip.handle)
    return invalidFile("not a zip file, or its end is missing");
  unz_global_info64 global;
  if (unzGetGlobalInfo64(zip.handle, &global) != UNZ_OK)
    return invalidFile("zip directory is damaged");

  ZipReader reader;
  reader.file = file;
  reader.fileComment.resize(global.size_comment);
  if (global.size_comment != 0 && unzGetGlobalComment(zip.handle, reader.fileComment.data(), global.size_comment) < 0)
    return invalidFile("zip comment is damaged");
  reader.fileComment.resize(std::strlen(reader.fileComment.c_str()));

  // The directory takes at least 46 bytes per entry, which bounds this loop by the file's size.
  for (uint64_t index = 0; index != global.number_entry; ++index) {
    int step = index == 0 ? unzGoToFirstFile(zip.handle) : unzGoToNextFile(zip.handle);
    if (step != UNZ_OK)
      return invalidFile("zip directory is damaged at entry " + std::to_string(index) + " of " + std::to_string(global.number_entry));
    STATOR_TRY(entry, readEntry(zip.handle, index));
    if (entry.dataOffset > file.size() || entry.storedSize > file.size() - entry.dataOffset)
      return entryError(entry.name, "bytes " + std::to_string(entry.dataOffset) + " + " + std::to_string(entry.storedSize) +
                                        " exceed the file's " + std::to_string(file.size()));
    reader.contents.push_back(std::move(entry));
  }

  std::sort(reader.contents.begin(), reader.contents.end(),
            [](const ZipEntry &a, const ZipEntry &b) { return a.headerOffset < b.headerOffset; });
  for (size_t i = 0; i != reader.contents.size(); ++i) {
    const ZipEntry &entry = reader.contents[i];
    if (i != 0 && entry.headerOffset < reader.contents[i - 1].dataOffset + reader.contents[i - 1].storedSize)
      return entryError(entry.name, "it overlaps " + shown(reader.contents[i - 1].name));
    if (!reader.byName.emplace(entry.name, i).second)
      return entryError(entry.name, "the name is there twice");
  }
  return reader;
}

const ZipEntry *ZipReader::find(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &contents[found->second];
}

static uint32_t crcOf(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

Status ZipReader::checkCrc(const ZipEntry &entry) const {
  if (crcOf(storedBytes(entry)) != entry.crc32)
    return entryError(entry.name, "its checksum is wrong");
  return Status();
}

Result<std::vector<std::byte>> ZipReader::read(const ZipEntry &entry, uint64_t limitBytes) const {
  if (entry.size > limitBytes)
    return resourceExhausted("zip entry " + shown(entry.name) + " has " + std::to_string(entry.size) + " bytes, at most " +
                             std::to_string(limitBytes) + " are accepted");
  std::span<const std::byte> stored = storedBytes(entry);
  if (!entry.isDeflated) {
    STATOR_RETURN_IF_ERROR(checkCrc(entry));
    return std::vector<std::byte>(stored.begin(), stored.end());
  }
  // Deflate shrinks to 1/1032 at best: what claims more is a lie that must not reach the allocator.
  if (entry.size / 1032 > entry.storedSize)
    return entryError(entry.name, "it claims to unpack " + std::to_string(entry.storedSize) + " bytes to " + std::to_string(entry.size));
  std::vector<std::byte> content(entry.size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return resourceExhausted("no memory to unpack zip entry " + shown(entry.name));
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
    return entryError(entry.name, "its compressed bytes are damaged");
  return content;
}
