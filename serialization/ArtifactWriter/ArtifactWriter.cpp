// Lays out and writes an artifact; see the header, and docs/format.md for the result.
#include "serialization/ArtifactWriter/ArtifactWriter.h"

#include "serialization/Artifact/ArtifactReader.h"
#include "serialization/Artifact/Hash.h"
#include "serialization/Artifact/PlanValidator.h"
#include "serialization/Artifact/Validator.h"
#include "serialization/ArtifactWriter/ManifestEncoder.h"
#include "serialization/Zip/ZipWriter.h"

using namespace stator;
using namespace stator::serialization;

static constexpr char kWeightsEntry[] = "weights/blob0";
static constexpr unsigned kWeightsAlignment = 4096;
static constexpr unsigned kEntryAlignment = 64;

static uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

Result<uint32_t> ArtifactWriter::addParameter(Parameter parameter, ByteProducer producer) {
  uint64_t expected = byteSize(parameter.elementType);
  for (uint64_t dim : parameter.dims)
    if (__builtin_mul_overflow(expected, dim, &expected))
      return invalidArgument("parameter `" + parameter.name + "` exceeds 64 bits in size");
  StreamingHash hash;
  uint64_t size = 0;
  Status status = producer([&](std::span<const std::byte> bytes) {
    hash.update(bytes);
    size += bytes.size();
    return Status();
  });
  if (!status.ok())
    return status.withContext("parameter `" + parameter.name + "`");
  if (size != expected)
    return internalError("parameter `" + parameter.name + "` produced " + std::to_string(size) + " bytes, its type takes " +
                         std::to_string(expected));

  parameter.entry = kWeightsEntry;
  parameter.size = size;
  parameter.hash = hash.finish();
  auto [known, isNew] = blobByHash.try_emplace({parameter.hash, size}, blobs.size());
  if (isNew) {
    uint64_t offset = alignUp(weightsBytes, kParameterAlignment);
    blobs.push_back({std::move(producer), offset, size, parameter.hash, parameter.name});
    weightsBytes = offset + size;
  }
  parameter.offset = blobs[known->second].offset;
  table.push_back(std::move(parameter));
  return static_cast<uint32_t>(table.size() - 1);
}

Result<uint32_t> ArtifactWriter::addParameter(Parameter parameter, std::span<const std::byte> bytes) {
  return addParameter(std::move(parameter), [bytes](const ByteSink &sink) { return sink(bytes); });
}

void ArtifactWriter::addVariant(std::string level, uint64_t requiredFeatures, std::vector<std::byte> sharedObject) {
  std::string entry = "kernels/" + level + "/kernels.so";
  files.push_back({entry, std::move(sharedObject)});
  variants.push_back({std::move(level), requiredFeatures, std::move(entry)});
}

void ArtifactWriter::addFile(std::string entry, std::vector<std::byte> bytes) { files.push_back({std::move(entry), std::move(bytes)}); }

/// The blob of all weights: each at its offset, zeros between.
template <typename Blobs>
static Status writeWeights(ZipWriter &zip, const Blobs &blobs, uint64_t totalBytes) {
  STATOR_RETURN_IF_ERROR(zip.beginEntry(kWeightsEntry, totalBytes, kWeightsAlignment));
  uint64_t position = 0;
  for (const auto &blob : blobs) {
    static const std::byte zeros[kParameterAlignment] = {};
    STATOR_RETURN_IF_ERROR(zip.write({zeros, static_cast<size_t>(blob.offset - position)}));
    StreamingHash hash;
    uint64_t size = 0;
    Status written;
    Status status = blob.producer([&](std::span<const std::byte> bytes) {
      size += bytes.size();
      hash.update(bytes);
      if (size > blob.size)
        return internalError("it produced more bytes than the first time");
      written = zip.write(bytes);
      return written;
    });
    STATOR_RETURN_IF_ERROR(written);
    if (!status.ok())
      return status.withContext("parameter `" + blob.name + "`");
    if (size != blob.size || hash.finish() != blob.hash)
      return internalError("parameter `" + blob.name + "` produced other bytes than the first time");
    position = blob.offset + blob.size;
  }
  return zip.endEntry();
}

Status ArtifactWriter::write(const std::string &path, Manifest manifest) {
  manifest.formatMajor = kFormatMajor;
  manifest.formatMinor = kFormatMinor;
  manifest.parameters = table;
  manifest.variants = variants;
  std::string bytes = encodeManifest(manifest);
  std::span<const std::byte> manifestBytes = std::as_bytes(std::span(bytes));
  // A file that the reader would refuse is a bug of the compiler: better found here than in the field.
  Result<Manifest> reread = parseManifest(manifestBytes);
  Status status = reread.ok() ? validateManifest(*reread) : reread.status();
  if (!status.ok())
    return internalError("the artifact would not be valid: " + status.message());

  STATOR_TRY(zip, ZipWriter::create(path));
  STATOR_RETURN_IF_ERROR(zip->addEntry(kManifestEntry, manifestBytes, kEntryAlignment));
  if (!table.empty())
    STATOR_RETURN_IF_ERROR(writeWeights(*zip, blobs, weightsBytes));
  for (const File &file : files)
    STATOR_RETURN_IF_ERROR(zip->addEntry(file.entry, file.bytes, kEntryAlignment));
  return zip->finish(kCommentPrefix + hexOf(hashOf(manifestBytes)));
}
