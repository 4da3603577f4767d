// Puts an artifact together: manifest, weights, shared objects, further files. The file is the same, byte for byte, for the same calls.
//
// Weights stream: each parameter is produced twice, once to learn its hash (equal bytes are stored once) and once to be written, so that
// memory does not depend on their size. The file appears under its name when it is complete (serialization/Base/OutputFile.h).
#ifndef STATOR_SERIALIZATION_ARTIFACTWRITER_ARTIFACTWRITER_H
#define STATOR_SERIALIZATION_ARTIFACTWRITER_ARTIFACTWRITER_H

#include "serialization/Artifact/Manifest.h"

#include <functional>
#include <map>

namespace stator::serialization {

/// Takes the next bytes of a parameter.
using ByteSink = std::function<Status(std::span<const std::byte>)>;
/// Gives all bytes of a parameter, in any number of parts, the same ones each time.
using ByteProducer = std::function<Status(const ByteSink &)>;

class ArtifactWriter {
public:
  /// Adds a parameter and returns its index in Manifest::parameters. Name, type, dims, layout, isMutable and recipe are the caller's;
  /// entry, offset, size and hash are filled in. Fails when the producer does, or gives another number of bytes than the type takes.
  Result<uint32_t> addParameter(Parameter parameter, ByteProducer producer);
  /// Bytes that stay valid until write().
  Result<uint32_t> addParameter(Parameter parameter, std::span<const std::byte> bytes);
  /// Adds a shared object, as `kernels/<level>/kernels.so`. Variants are added from the most demanding to the least.
  void addVariant(std::string level, uint64_t requiredFeatures, std::vector<std::byte> sharedObject);
  /// Adds a file, for instance `ir/graph.mlir` or `meta/source`.
  void addFile(std::string entry, std::vector<std::byte> bytes);

  /// The parameters so far, complete but for the bytes.
  const std::vector<Parameter> &parameters() const { return table; }

  /// Completes `manifest` with parameters and variants, checks it with the reader's own validator, and writes the file.
  Status write(const std::string &path, Manifest manifest);

private:
  struct Blob {
    ByteProducer producer;
    uint64_t offset = 0;
    uint64_t size = 0;
    Hash128 hash{};
    std::string name; ///< Of the first parameter with these bytes.
  };
  struct File {
    std::string entry;
    std::vector<std::byte> bytes;
  };

  std::vector<Parameter> table;
  std::vector<Blob> blobs; // In the order of their offsets.
  std::map<std::pair<Hash128, uint64_t>, size_t> blobByHash;
  uint64_t weightsBytes = 0;
  std::vector<Variant> variants;
  std::vector<File> files;
};

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACTWRITER_ARTIFACTWRITER_H
