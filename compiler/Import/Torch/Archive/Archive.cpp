//===- Archive.cpp - records of a torch file -------------------------------===//

#include "compiler/Import/Torch/Archive/Archive.h"
#include "serialization/Base/Utf8.h"

#include <algorithm>
#include <functional>

namespace stator::torch {

using serialization::ZipEntry;
using serialization::ZipReader;

/// Source code shrinks to a tenth; what shrinks far more is a bomb. Small records may, since no harm is in them.
static constexpr uint64_t kMaxRatio = 200, kFreeBytes = uint64_t(1) << 20;
static constexpr uint64_t kMaxUnpackedBytes = uint64_t(1) << 30;
static constexpr size_t kMaxNameBytes = 4096;

/// For messages, which are UTF-8 without control characters.
static std::string shownName(std::string_view name) {
  std::string shown = escapeInvalidUtf8(name);
  std::replace_if(shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return shown;
}

const Record *Archive::find(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &contents[found->second];
}

std::vector<const Record *> Archive::recordsBelow(std::string_view prefix) const {
  std::vector<const Record *> found;
  for (const Record &record : contents)
    if (record.name.starts_with(prefix))
      found.push_back(&record);
  return found;
}

std::vector<std::string> Archive::programs() const {
  constexpr std::string_view folder = "models/", suffix = ".json";
  std::vector<std::string> names;
  for (const Record *record : recordsBelow(folder)) {
    std::string_view name = std::string_view(record->name).substr(folder.size());
    if (name.size() > suffix.size() && name.ends_with(suffix) && name.find('/') == name.npos)
      names.emplace_back(name.substr(0, name.size() - suffix.size()));
  }
  return names;
}

Result<std::span<const std::byte>> Archive::bytes(const Record &record) const {
  const ZipEntry &entry = zip.entries()[record.entry];
  Cached &cached = cache[record.entry];
  if (cached.unpacked)
    return std::span<const std::byte>(*cached.unpacked);
  if (!entry.isDeflated) {
    if (!cached.isVerified)
      STATOR_RETURN_IF_ERROR(zip.checkCrc(entry));
    cached.isVerified = true;
    return zip.storedBytes(entry);
  }
  if (entry.size > kFreeBytes && entry.size / kMaxRatio > entry.storedSize)
    return resourceExhausted("record `" + record.name + "` unpacks " + std::to_string(entry.storedSize) + " bytes to " +
                             std::to_string(entry.size) + ", more than " + std::to_string(kMaxRatio) + " times as many");
  if (entry.size > kMaxUnpackedBytes - unpackedBytes)
    return resourceExhausted("record `" + record.name + "` brings what was unpacked to more than 1 GiB");
  STATOR_TRY(content, zip.read(entry, entry.size));
  unpackedBytes += entry.size;
  cached.unpacked = std::make_shared<const std::vector<std::byte>>(std::move(content));
  return std::span<const std::byte>(*cached.unpacked);
}

Result<std::span<const std::byte>> Archive::bytes(std::string_view name) const {
  if (const Record *record = find(name))
    return bytes(*record);
  return invalidFile("has no record `" + shownName(name) + "`");
}

Result<std::string_view> Archive::text(const Record &record) const {
  STATOR_TRY(content, bytes(record));
  std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
  for (size_t at = 0; at != text.size();) {
    size_t length = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : utf8Length(text.substr(at));
    if (length == 0)
      return invalidFile("record `" + record.name + "` is not UTF-8 text at byte " + std::to_string(at));
    at += length;
  }
  return text;
}

std::optional<uint64_t> Archive::fileOffset(const Record &record) const {
  return record.isStored ? fileOffset(zip.storedBytes(zip.entries()[record.entry])) : std::nullopt;
}

std::optional<uint64_t> Archive::fileOffset(std::span<const std::byte> part) const {
  if (!mapped)
    return std::nullopt;
  // std::less orders pointers of different objects too.
  std::span<const std::byte> all = mapped->bytes();
  std::less<const std::byte *> before;
  if (part.data() == nullptr || before(part.data(), all.data()) || before(all.data() + all.size(), part.data()))
    return std::nullopt;
  return static_cast<uint64_t>(part.data() - all.data());
}

Result<std::shared_ptr<Archive>> Archive::open(const std::string &path) {
  STATOR_TRY(file, MappedFile::open(path));
  return open(std::move(file));
}

Result<std::shared_ptr<Archive>> Archive::open(std::shared_ptr<MappedFile> file) {
  std::shared_ptr<Archive> archive(new Archive());
  archive->whole = file->bytes();
  archive->mapped = std::move(file);
  return build(std::move(archive), /*isNested=*/false);
}

Result<std::shared_ptr<Archive>> Archive::fromBytes(std::shared_ptr<const std::vector<std::byte>> bytes, bool isNested) {
  std::shared_ptr<Archive> archive(new Archive());
  archive->whole = *bytes;
  archive->owner = std::move(bytes);
  return build(std::move(archive), isNested);
}

Result<std::shared_ptr<Archive>> Archive::openNested(const Record &record) const {
  STATOR_TRY(content, bytes(record));
  std::shared_ptr<Archive> archive(new Archive());
  archive->whole = content;
  if (cache[record.entry].unpacked)
    archive->owner = cache[record.entry].unpacked;
  else
    archive->owner = owner;
  archive->mapped = fileOffset(content) ? mapped : nullptr;
  Result<std::shared_ptr<Archive>> built = build(std::move(archive), /*isNested=*/true);
  if (!built.ok())
    return built.status().withContext("record `" + record.name + "`");
  return built;
}

Result<std::shared_ptr<Archive>> Archive::build(std::shared_ptr<Archive> archive, bool isNested) {
  STATOR_RETURN_IF_ERROR(archive->refuseForeign());
  STATOR_TRY(reader, ZipReader::open(archive->whole));
  archive->zip = std::move(reader);
  archive->cache.resize(archive->zip.entries().size());
  for (const ZipEntry &entry : archive->zip.entries()) {
    if (entry.name.size() > kMaxNameBytes)
      return invalidFile("zip entry `" + shownName(entry.name.substr(0, 40)) + "...` has a name of " + std::to_string(entry.name.size()) +
                         " bytes, at most " + std::to_string(kMaxNameBytes) + " are accepted");
    bool isText = escapeInvalidUtf8(entry.name) == entry.name;
    if (!isText || std::any_of(entry.name.begin(), entry.name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      return invalidFile("zip entry `" + shownName(entry.name) + "` has a name that is not UTF-8 text");
  }
  STATOR_RETURN_IF_ERROR(archive->findRoot());
  archive->collectRecords();
  STATOR_RETURN_IF_ERROR(archive->findKind(isNested));
  STATOR_RETURN_IF_ERROR(archive->checkByteOrder());
  STATOR_RETURN_IF_ERROR(archive->readVersion());
  return archive;
}

void Archive::collectRecords() {
  std::string prefix = rootFolder.empty() ? "" : rootFolder + "/";
  for (size_t index = 0; index != zip.entries().size(); ++index) {
    const ZipEntry &entry = zip.entries()[index];
    // Folders have entries of their own when people pack a zip by hand.
    if (entry.name.starts_with(prefix) && entry.name.size() > prefix.size() && !entry.name.ends_with('/'))
      contents.push_back({entry.name.substr(prefix.size()), entry.size, !entry.isDeflated, index});
  }
  // The names stay where they are from now on.
  for (size_t index = 0; index != contents.size(); ++index)
    byName.emplace(contents[index].name, index);
}

} // namespace stator::torch
