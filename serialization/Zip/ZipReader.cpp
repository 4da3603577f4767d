// Reads and checks the directory of a zip file in memory; see the header. Offsets are those of the ZIP application note (APPNOTE.TXT
// 6.3, sections 4.3.7 to 4.3.16). The parser is our own because minizip, which writes our zips, does not read 64-bit sizes.
#include "serialization/Zip/ZipReader.h"

#include "serialization/Zip/ZipNames.h"

#include <algorithm>
#include <optional>

using namespace stator;
using namespace stator::serialization;

std::string stator::serialization::shownEntry(const std::string &name) {
  std::string text = "`";
  for (char c : name.substr(0, 80))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (name.size() > 80 ? "...`" : "`");
}

Status stator::serialization::zipEntryError(const std::string &name, const std::string &what) {
  return invalidFile("zip entry " + shownEntry(name) + ": " + what);
}

static Status checkName(const std::string &name, size_t index) {
  if (name.empty())
    return invalidFile("zip entry " + std::to_string(index) + " has no name");
  if (name.find('\0') != std::string::npos || name.find('\\') != std::string::npos || name.front() == '/')
    return zipEntryError(name, "the name is not a relative path");
  for (size_t start = 0; start <= name.size();) {
    size_t end = std::min(name.find('/', start), name.size());
    if (name.compare(start, end - start, "..") == 0)
      return zipEntryError(name, "the name leaves its folder");
    start = end + 1;
  }
  return Status();
}

namespace {
using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalSignature = 0x04034b50, kDirectorySignature = 0x02014b50, kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr uint32_t kIn64 = 0xffffffff; // The number is in the 64-bit field instead.

/// Little-endian; the caller has checked that it lies within.
uint64_t number(Bytes bytes, uint64_t at, unsigned width) {
  uint64_t value = 0;
  for (unsigned i = 0; i != width; ++i)
    value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}
uint32_t u16(Bytes bytes, uint64_t at) { return static_cast<uint32_t>(number(bytes, at, 2)); }
uint32_t u32(Bytes bytes, uint64_t at) { return static_cast<uint32_t>(number(bytes, at, 4)); }
uint64_t u64(Bytes bytes, uint64_t at) { return number(bytes, at, 8); }

bool contains(Bytes bytes, uint64_t at, uint64_t size) { return at <= bytes.size() && size <= bytes.size() - at; }

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
  std::string comment;
};

/// From the end of the file: the end record, with its comment reaching exactly to the end, and the 64-bit one before it.
Result<Directory> findDirectory(Bytes file) {
  if (file.size() < kEndBytes)
    return invalidFile("not a zip file, or its end is missing");
  uint64_t last = file.size() - kEndBytes, lowest = last > 0xffff ? last - 0xffff : 0;
  uint64_t end = last;
  while (u32(file, end) != kEndSignature || u16(file, end + 20) != last - end) {
    if (end == lowest)
      return invalidFile("not a zip file, or its end is missing");
    --end;
  }
  Directory directory{u32(file, end + 16), u32(file, end + 12), u16(file, end + 10), {}};
  directory.comment.assign(reinterpret_cast<const char *>(file.data()) + end + kEndBytes, last - end);
  bool oneDisk = u16(file, end + 4) == 0 && u16(file, end + 6) == 0 && u16(file, end + 8) == directory.entries;
  uint64_t endOfDirectory = end;
  if (end >= kLocator64Bytes && u32(file, end - kLocator64Bytes) == kLocator64Signature) {
    uint64_t end64 = u64(file, end - kLocator64Bytes + 8);
    if (!contains(file.first(end - kLocator64Bytes), end64, kEnd64Bytes) || u32(file, end64) != kEnd64Signature)
      return invalidFile("zip directory is damaged: its 64-bit end record is missing");
    // The 32-bit record holds the same numbers, or all ones where they do not fit.
    auto agree = [](uint64_t &shown, uint64_t real, uint64_t tooLarge) {
      bool isSame = shown == real || shown == tooLarge;
      shown = real;
      return isSame;
    };
    if (!agree(directory.offset, u64(file, end64 + 48), kIn64) || !agree(directory.size, u64(file, end64 + 40), kIn64) ||
        !agree(directory.entries, u64(file, end64 + 32), 0xffff))
      return invalidFile("zip directory is damaged: its two end records contradict each other");
    oneDisk = u32(file, end64 + 16) == 0 && u32(file, end64 + 20) == 0 && u64(file, end64 + 24) == directory.entries;
    endOfDirectory = end64;
  }
  if (!oneDisk)
    return invalidFile("zip directory is damaged, or that of a zip in several parts");
  if (!contains(file.first(endOfDirectory), directory.offset, directory.size) || directory.offset + directory.size != endOfDirectory)
    return invalidFile("zip directory is not where its end record says: bytes are missing or were put in front");
  if (directory.entries > directory.size / kDirectoryBytes)
    return invalidFile("zip directory is damaged: " + std::to_string(directory.entries) + " entries in " + std::to_string(directory.size) +
                       " bytes");
  return directory;
}

/// The field of a list of extra fields, if it is there and complete.
std::optional<Bytes> extraField(Bytes extra, uint32_t id) {
  for (uint64_t at = 0; contains(extra, at, 4);) {
    uint64_t size = u16(extra, at + 2);
    if (!contains(extra, at + 4, size))
      return std::nullopt;
    if (u16(extra, at) == id)
      return extra.subspan(at + 4, size);
    at += 4 + size;
  }
  return std::nullopt;
}

/// Replaces those of the numbers that are kIn64 by what the zip64 field holds, in this order. False when it does not.
bool readZip64(Bytes extra, std::initializer_list<uint64_t *> numbers) {
  uint64_t at = 0;
  std::optional<Bytes> field;
  for (uint64_t *number : numbers) {
    if (*number != kIn64)
      continue;
    if (!field)
      field = extraField(extra, 1);
    if (!field || !contains(*field, at, 8))
      return false;
    *number = u64(*field, at);
    at += 8;
  }
  return true;
}

/// Compares the local header with the directory's entry and finds the data behind it.
Status readLocalHeader(Bytes beforeDirectory, uint32_t flags, uint32_t method, ZipEntry &entry) {
  auto damaged = [&] { return zipEntryError(entry.name, "its local header is damaged or differs from the directory"); };
  uint64_t at = entry.headerOffset;
  if (!contains(beforeDirectory, at, kLocalBytes) || u32(beforeDirectory, at) != kLocalSignature)
    return damaged();
  uint64_t nameBytes = u16(beforeDirectory, at + 26), extraBytes = u16(beforeDirectory, at + 28);
  if (!contains(beforeDirectory, at + kLocalBytes, nameBytes + extraBytes) || u16(beforeDirectory, at + 6) != flags ||
      u16(beforeDirectory, at + 8) != method)
    return damaged();
  const char *name = reinterpret_cast<const char *>(beforeDirectory.data()) + at + kLocalBytes;
  if (std::string_view(name, nameBytes) != entry.name)
    return damaged();
  entry.dataOffset = at + kLocalBytes + nameBytes + extraBytes;
  // Bit 3: written by a program that could not go back; the numbers follow the data.
  if (!(flags & 8)) {
    uint64_t storedSize = u32(beforeDirectory, at + 18), size = u32(beforeDirectory, at + 22);
    if (!readZip64(beforeDirectory.subspan(at + kLocalBytes + nameBytes, extraBytes), {&size, &storedSize}) ||
        storedSize != entry.storedSize || size != entry.size || u32(beforeDirectory, at + 14) != entry.crc32)
      return damaged();
  }
  if (!contains(beforeDirectory, entry.dataOffset, entry.storedSize))
    return zipEntryError(entry.name, "bytes " + std::to_string(entry.dataOffset) + " + " + std::to_string(entry.storedSize) +
                                         " reach into the directory at " + std::to_string(beforeDirectory.size()));
  return Status();
}
} // namespace

Result<ZipReader> ZipReader::open(std::span<const std::byte> file) {
  STATOR_TRY(directory, findDirectory(file));
  ZipReader reader;
  reader.file = file;
  reader.fileComment = std::move(directory.comment);
  Bytes records = file.subspan(directory.offset, directory.size);
  uint64_t at = 0;
  for (uint64_t index = 0; index != directory.entries; ++index) {
    auto damaged = [&] { return invalidFile("zip directory is damaged at entry " + std::to_string(index)); };
    if (!contains(records, at, kDirectoryBytes) || u32(records, at) != kDirectorySignature)
      return damaged();
    uint64_t nameBytes = u16(records, at + 28), extraBytes = u16(records, at + 30), commentBytes = u16(records, at + 32);
    if (!contains(records, at + kDirectoryBytes, nameBytes + extraBytes + commentBytes))
      return damaged();
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char *>(records.data()) + at + kDirectoryBytes, nameBytes);
    STATOR_RETURN_IF_ERROR(checkName(entry.name, index));
    uint32_t flags = u16(records, at + 8), method = u16(records, at + 10);
    if (flags & 1)
      return zipEntryError(entry.name, "it is encrypted");
    if (method != 0 && method != 8)
      return zipEntryError(entry.name, "compression method " + std::to_string(method) + ", expected stored or deflated");
    entry.isDeflated = method == 8;
    entry.crc32 = u32(records, at + 16);
    entry.storedSize = u32(records, at + 20);
    entry.size = u32(records, at + 24);
    entry.headerOffset = u32(records, at + 42);
    if (!readZip64(records.subspan(at + kDirectoryBytes + nameBytes, extraBytes), {&entry.size, &entry.storedSize, &entry.headerOffset}))
      return zipEntryError(entry.name, "its 64-bit sizes are missing");
    if (!entry.isDeflated && entry.storedSize != entry.size)
      return zipEntryError(entry.name, "it is stored, but with two different sizes");
    STATOR_RETURN_IF_ERROR(readLocalHeader(file.first(directory.offset), flags, method, entry));
    reader.contents.push_back(std::move(entry));
    at += kDirectoryBytes + nameBytes + extraBytes + commentBytes;
  }
  if (at != records.size())
    return invalidFile("zip directory is damaged: " + std::to_string(records.size() - at) + " bytes after its last entry");

  std::sort(reader.contents.begin(), reader.contents.end(),
            [](const ZipEntry &a, const ZipEntry &b) { return a.headerOffset < b.headerOffset; });
  for (size_t i = 0; i != reader.contents.size(); ++i) {
    const ZipEntry &entry = reader.contents[i];
    if (i != 0 && entry.headerOffset < reader.contents[i - 1].dataOffset + reader.contents[i - 1].storedSize)
      return zipEntryError(entry.name, "it overlaps " + shownEntry(reader.contents[i - 1].name));
    if (!reader.byName.emplace(entry.name, i).second)
      return zipEntryError(entry.name, "the name is there twice");
  }
  return reader;
}

const ZipEntry *ZipReader::find(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &contents[found->second];
}
