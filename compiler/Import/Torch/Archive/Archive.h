//===- Archive.h - the container of .pt and .pt2 files ---------------------===//
//
// TorchScript and torch.export files are zips of records below one root folder. An Archive knows which of the two it is, finds records by
// their name below the root, and hands out their bytes: views into the mapped file where they are stored (weights always are), unpacked
// and kept otherwise (source code). Nothing is executed, and no name from the file is looked up anywhere but in the zip's directory.
//
// What is checked, and when. On opening: the zip's directory (serialization/Zip/ZipReader.h), names (UTF-8, at most 4 KB), one root,
// the byte order, the version of the file format. On the first access to a record: its CRC-32, once, payloads of tensors included: they
// are read for compiling anyway, and zlib checks several gigabytes a second. A record that nobody asks for (the sample inputs, the debug
// information) is never looked at, so that damage in it does not matter. Unpacking stops at 200 times the packed size (beyond 1 MiB) and
// at 1 GiB for all records together.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_ARCHIVE_H
#define STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_ARCHIVE_H

#include "serialization/Base/MappedFile.h"
#include "serialization/Zip/ZipReader.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator::torch {

enum class ArchiveKind {
  TorchScript,   ///< torch.jit.save: data.pkl, constants.pkl, code/.
  Export,        ///< torch.export.save since 2.9: models/NAME.json, weights as raw records with a JSON directory.
  ExportPickled, ///< The same of 2.8: weights and constants are a nested torch.save file each.
  ExportLegacy,  ///< torch.export.save up to 2.7: serialized_*.json and .pt, no root folder.
  StateDict,     ///< torch.save: data.pkl without a program. Only as a nested archive.
};

/// For messages and summaries: "TorchScript", "torch.export".
const char *name(ArchiveKind kind);

struct Record {
  std::string name;      ///< Below the root folder: "data/0", "code/__torch__.py".
  uint64_t size = 0;     ///< Bytes of the content.
  bool isStored = false; ///< The content lies in the file as it is, see Archive::fileOffset().
  size_t entry = 0;      ///< In the zip.
};

class Archive {
public:
  /// Opens a model file. What is not a program is refused with a hint: a state dict (zip, tar or bare pickle), a package of compiled code,
  /// a file that is no zip. Messages do not name the file; callers put the path in front.
  static Result<std::shared_ptr<Archive>> open(const std::string &path);
  /// The same for a file that is mapped already.
  static Result<std::shared_ptr<Archive>> open(std::shared_ptr<MappedFile> file);
  /// From memory: no record has an offset in a mapped file. Also takes a state dict when `isNested`.
  static Result<std::shared_ptr<Archive>> fromBytes(std::shared_ptr<const std::vector<std::byte>> bytes, bool isNested = false);
  /// The torch.save file inside of a record. Where the record is stored, the tensors of the nested archive stay mapped: its offsets are
  /// those of the outer file. An empty record is an error; callers know what it stands for (in .pt2 files an empty dict).
  Result<std::shared_ptr<Archive>> openNested(const Record &record) const;

  ArchiveKind kind() const { return archiveKind; }
  /// The folder that all records are in, without the slash; "" when there is none.
  const std::string &root() const { return rootFolder; }
  /// The number in `version` or `.data/version`. TorchScript: 1 to 10, what the ops of the file need. Nothing when there is no such
  /// record or it is no number (.pt2 files up to 2.7 have the schema's version there: read the record).
  std::optional<int64_t> version() const { return formatVersion; }

  /// In the order of the file.
  const std::vector<Record> &records() const { return contents; }
  /// Null when there is none of that name (below the root).
  const Record *find(std::string_view name) const;
  /// Those whose name starts with `prefix`, in the order of the file.
  std::vector<const Record *> recordsBelow(std::string_view prefix) const;
  /// .pt2 of 2.8 and later: the NAMEs of models/NAME.json. Older ones: none.
  std::vector<std::string> programs() const;

  /// The content, with its checksum verified. Valid as long as this archive. Not safe for several threads at once.
  Result<std::span<const std::byte>> bytes(const Record &record) const;
  /// The same by name; the error of a missing record is InvalidFile "has no record `data/7`".
  Result<std::span<const std::byte>> bytes(std::string_view name) const;
  /// The content as text; InvalidFile with the byte offset where it is not UTF-8.
  Result<std::string_view> text(const Record &record) const;

  /// Where the content of a stored record starts in file(); nothing when it had to be unpacked or there is no file.
  std::optional<uint64_t> fileOffset(const Record &record) const;
  /// The offset in file() of bytes that this archive handed out; nothing when they do not lie in it.
  std::optional<uint64_t> fileOffset(std::span<const std::byte> bytes) const;
  /// The mapped file, also that of a nested archive; null when there is none.
  const std::shared_ptr<MappedFile> &file() const { return mapped; }

private:
  Archive() = default;
  static Result<std::shared_ptr<Archive>> build(std::shared_ptr<Archive> archive, bool isNested);
  Status refuseForeign() const;
  Status findRoot();
  void collectRecords();
  Status findKind(bool isNested);
  Status checkByteOrder();
  Status readVersion();

  std::shared_ptr<MappedFile> mapped;
  /// Keeps `whole` alive when it is not (only) `mapped`.
  std::shared_ptr<const void> owner;
  std::span<const std::byte> whole;
  serialization::ZipReader zip;
  ArchiveKind archiveKind = ArchiveKind::StateDict;
  std::string rootFolder;
  std::optional<int64_t> formatVersion;
  std::vector<Record> contents;
  std::map<std::string_view, size_t, std::less<>> byName;

  /// By record: what was verified, and what had to be unpacked for it.
  struct Cached {
    bool isVerified = false;
    std::shared_ptr<const std::vector<std::byte>> unpacked;
  };
  mutable std::vector<Cached> cache;
  mutable uint64_t unpackedBytes = 0;
};

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_ARCHIVE_H
