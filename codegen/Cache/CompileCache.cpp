//===- CompileCache.cpp - entries as files, checked and evicted ------------===//
//
// An entry is `DIR/3f/3f09...e2.entry`: a header with the key and a checksum,
// then the bytes. Entries appear by rename, hence whole; the checksum is for
// what happens to files later. The time of last modification is the time of
// last use, since many file systems do not keep the time of last access.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cache/CompileCache.h"

#include "serialization/Base/MappedFile.h"
#include "serialization/Base/OutputFile.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>

namespace stator::codegen {

namespace fs = std::filesystem;
using serialization::Hash128;

static constexpr char kMagic[8] = {'S', 'T', 'A', 'T', 'O', 'R', 'C', '1'};
static constexpr const char *kExtension = ".entry";
/// Temporary files of writers that are older than this belong to nobody.
static constexpr auto kAbandonedAfter = std::chrono::hours(1);

namespace {
struct Header {
  char magic[sizeof(kMagic)];
  Hash128 key;
  Hash128 checksum;
  uint64_t size;
};
static_assert(sizeof(Header) == 48);
} // namespace

CompileCache::CompileCache(std::string folder, uint64_t maxBytes, std::function<void(const std::string &)> onWarning)
    : folder(std::move(folder)), maxBytes(maxBytes), onWarning(std::move(onWarning)) {}

std::string CompileCache::pathOf(const Hash128 &key) const {
  std::string name = serialization::hexOf(key);
  return folder + "/" + name.substr(0, 2) + "/" + name + kExtension;
}

void CompileCache::warn(const std::string &message) {
  if (!hasWarned && onWarning)
    onWarning("the compile cache `" + folder + "`: " + message);
  hasWarned = true;
}

/// The bytes behind the header, if both are what was stored under `key`.
static std::optional<std::span<const std::byte>> checkedBytes(std::span<const std::byte> file, const Hash128 &key) {
  Header header;
  if (file.size() < sizeof(header))
    return std::nullopt;
  std::memcpy(&header, file.data(), sizeof(header));
  std::span<const std::byte> bytes = file.subspan(sizeof(header));
  bool isIntact = !std::memcmp(header.magic, kMagic, sizeof(kMagic)) && header.key == key && header.size == bytes.size() &&
                  header.checksum == serialization::hashOf(bytes);
  return isIntact ? std::optional(bytes) : std::nullopt;
}

std::optional<std::vector<char>> CompileCache::find(const Hash128 &key) {
  std::string path = pathOf(key);
  auto file = MappedFile::open(path);
  std::optional<std::span<const std::byte>> bytes;
  if (file.ok())
    bytes = checkedBytes((*file)->bytes(), key);
  else if (file.status().code() != StatusCode::NotFound)
    warn(file.status().message());
  std::error_code ignored;
  if (!bytes) {
    ++counts.misses;
    if (file.ok()) {
      ++counts.damaged;
      fs::remove(path, ignored);
    }
    return std::nullopt;
  }
  ++counts.hits;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  const char *first = reinterpret_cast<const char *>(bytes->data());
  return std::vector<char>(first, first + bytes->size());
}

static Status writeEntry(const std::string &path, const Hash128 &key, std::span<const std::byte> bytes) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error)
    return notFound("`" + fs::path(path).parent_path().string() + "` cannot be made: " + error.message());
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.key = key;
  header.checksum = serialization::hashOf(bytes);
  header.size = bytes.size();
  STATOR_TRY(file, OutputFile::create(path));
  STATOR_RETURN_IF_ERROR(file->write(&header, sizeof(header)));
  STATOR_RETURN_IF_ERROR(file->write(bytes));
  return file->commit();
}

void CompileCache::store(const Hash128 &key, std::span<const char> bytes) {
  if (!isWritable)
    return;
  Status status = writeEntry(pathOf(key), key, std::as_bytes(bytes));
  isWritable = status.ok();
  hasStored |= isWritable;
  if (!isWritable)
    warn("nothing is stored: " + status.message());
}

void CompileCache::trim() {
  if (!hasStored)
    return;
  struct Entry {
    fs::file_time_type lastUse;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  auto now = fs::file_time_type::clock::now();
  std::error_code error;
  // Others add and remove files meanwhile: what is gone is passed over.
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    std::error_code gone;
    if (!file->is_regular_file(gone) || gone)
      continue;
    Entry entry{file->last_write_time(gone), 0, file->path()};
    entry.bytes = gone ? 0 : file->file_size(gone);
    if (gone)
      continue;
    if (entry.path.extension() == kExtension) {
      total += entry.bytes;
      entries.push_back(std::move(entry));
    } else if (entry.path.filename().string().find(std::string(kExtension) + ".partial-") != std::string::npos &&
               now - entry.lastUse > kAbandonedAfter) {
      fs::remove(entry.path, gone);
    }
  }
  if (total <= maxBytes)
    return;
  // A little more than needed, so that the next compilation does not have to do it again.
  uint64_t target = maxBytes - maxBytes / 10;
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.lastUse < b.lastUse; });
  for (const Entry &entry : entries) {
    if (total <= target)
      break;
    std::error_code gone;
    counts.evicted += fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

} // namespace stator::codegen
