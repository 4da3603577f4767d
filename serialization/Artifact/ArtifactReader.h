// A mapped artifact. open() checks everything that later steps rely on: the zip's structure, the manifest's hash, the manifest itself,
// and that each parameter and shared object lies within the file. It costs time proportional to the manifest, not to the weights, whose
// bytes are not touched; verify() reads them all.
//
// Owns the mapping (shared with whoever keeps file()); spans stay valid as long as that. May be used from several threads.
#ifndef STATOR_SERIALIZATION_ARTIFACT_ARTIFACTREADER_H
#define STATOR_SERIALIZATION_ARTIFACT_ARTIFACTREADER_H

#include "serialization/Artifact/Manifest.h"
#include "serialization/Base/MappedFile.h"
#include "serialization/Zip/ZipReader.h"

namespace stator::serialization {

constexpr char kManifestEntry[] = "manifest.pb";
/// The zip's comment is this, then the manifest's XXH3-128 in hexadecimal.
constexpr char kCommentPrefix[] = "stator manifest xxh3-128 ";

class ArtifactReader {
public:
  /// Errors start with the path.
  static Result<ArtifactReader> open(const std::string &path);
  static Result<ArtifactReader> open(std::shared_ptr<MappedFile> file);

  const Manifest &manifest() const { return contents; }
  /// In the order of the file; the manifest is the first.
  const std::vector<ZipEntry> &entries() const { return zip.entries(); }
  /// NotFound when there is none of this name.
  Result<std::span<const std::byte>> entry(std::string_view name) const;
  /// `index` < manifest().parameters.size().
  std::span<const std::byte> parameterBytes(size_t index) const;
  /// The shared object of manifest().variants[index].
  std::span<const std::byte> kernelBytes(size_t index) const;
  const std::shared_ptr<MappedFile> &file() const { return mapped; }

  /// Reads the whole file: the CRC-32 of every entry, the hash of every parameter.
  Status verify() const;

private:
  static Result<ArtifactReader> read(std::shared_ptr<MappedFile> file);
  Status checkEntries() const;

  std::shared_ptr<MappedFile> mapped;
  ZipReader zip;
  Manifest contents;
};

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_ARTIFACTREADER_H
