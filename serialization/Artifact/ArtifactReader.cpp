// Opens and checks an artifact; see the header.
#include "serialization/Artifact/ArtifactReader.h"

#include "serialization/Artifact/Hash.h"
#include "serialization/Artifact/Validator.h"

using namespace stator;
using namespace stator::serialization;

/// Beyond this a manifest is not one: a model of ten thousand instructions takes 2 MB.
static constexpr uint64_t kMaxManifestBytes = uint64_t(64) << 20;

Result<ArtifactReader> ArtifactReader::open(const std::string &path) {
  STATOR_TRY(file, MappedFile::open(path));
  return open(std::move(file));
}

Result<ArtifactReader> ArtifactReader::open(std::shared_ptr<MappedFile> file) {
  std::string path = file->path();
  Result<ArtifactReader> reader = read(std::move(file));
  if (!reader.ok())
    return reader.status().withContext("`" + path + "`");
  return reader;
}

Result<ArtifactReader> ArtifactReader::read(std::shared_ptr<MappedFile> file) {
  if (file->bytes().empty())
    return invalidFile("the file is empty");
  ArtifactReader reader;
  STATOR_TRY(zip, ZipReader::open(file->bytes()));
  reader.mapped = std::move(file);
  reader.zip = std::move(zip);
  if (reader.entries().empty() || reader.entries().front().name != kManifestEntry)
    return invalidFile("not an artifact: the first entry is not `" + std::string(kManifestEntry) + "`");
  const ZipEntry &manifestEntry = reader.entries().front();
  if (manifestEntry.headerOffset != 0)
    return invalidFile("not an artifact: there are bytes before the first entry");
  for (const ZipEntry &entry : reader.entries()) {
    if (entry.isDeflated)
      return invalidFile("entry `" + entry.name + "` is compressed, artifacts hold stored entries only");
    if (entry.dataOffset % 64 != 0)
      return invalidFile("entry `" + entry.name + "` starts at byte " + std::to_string(entry.dataOffset) + ", not a multiple of 64");
  }
  if (manifestEntry.size > kMaxManifestBytes)
    return invalidFile("the manifest has " + std::to_string(manifestEntry.size) + " bytes, at most " + std::to_string(kMaxManifestBytes) +
                       " are accepted");

  std::span<const std::byte> bytes = reader.zip.storedBytes(manifestEntry);
  if (!reader.zip.comment().starts_with(kCommentPrefix))
    return invalidFile("not an artifact: the zip comment holds no hash of the manifest");
  if (reader.zip.comment() != kCommentPrefix + hexOf(hashOf(bytes)))
    return invalidFile("the manifest is damaged: its hash differs from that in the zip comment");
  STATOR_TRY(manifest, parseManifest(bytes));
  STATOR_RETURN_IF_ERROR(validateManifest(manifest));
  reader.contents = std::move(manifest);
  STATOR_RETURN_IF_ERROR(reader.checkEntries());
  return reader;
}

/// The manifest passed; now what it says about the file.
Status ArtifactReader::checkEntries() const {
  for (const Parameter &parameter : contents.parameters) {
    const ZipEntry *entry = zip.find(parameter.entry);
    if (!entry)
      return invalidFile("parameter `" + parameter.name + "` is in `" + parameter.entry + "`, which is not in the file");
    if (parameter.offset > entry->size || parameter.size > entry->size - parameter.offset)
      return invalidFile("parameter `" + parameter.name + "` ends at byte " + std::to_string(parameter.offset + parameter.size) + " of `" +
                         parameter.entry + "`, which has " + std::to_string(entry->size));
  }
  for (const Variant &variant : contents.variants)
    if (!zip.find(variant.entry))
      return invalidFile("variant `" + variant.level + "` is in `" + variant.entry + "`, which is not in the file");
  return Status();
}

Result<std::span<const std::byte>> ArtifactReader::entry(std::string_view name) const {
  const ZipEntry *found = zip.find(name);
  if (!found)
    return notFound("`" + mapped->path() + "` has no entry `" + std::string(name) + "`");
  return zip.storedBytes(*found);
}

std::span<const std::byte> ArtifactReader::parameterBytes(size_t index) const {
  const Parameter &parameter = contents.parameters[index];
  return zip.storedBytes(*zip.find(parameter.entry)).subspan(parameter.offset, parameter.size);
}

std::span<const std::byte> ArtifactReader::kernelBytes(size_t index) const {
  return zip.storedBytes(*zip.find(contents.variants[index].entry));
}

Status ArtifactReader::verify() const {
  for (size_t i = 0; i != contents.parameters.size(); ++i)
    if (hashOf(parameterBytes(i)) != contents.parameters[i].hash)
      return invalidFile("`" + mapped->path() + "`: parameter `" + contents.parameters[i].name + "` is damaged: its hash differs");
  for (const ZipEntry &entry : zip.entries())
    STATOR_RETURN_IF_ERROR(zip.checkCrc(entry).withContext("`" + mapped->path() + "`"));
  return Status();
}
