// A small artifact file made from the sample manifest.
#ifndef STATOR_TEST_UNIT_SERIALIZATION_SAMPLEARTIFACT_H
#define STATOR_TEST_UNIT_SERIALIZATION_SAMPLEARTIFACT_H

#include "serialization/ArtifactWriter/ArtifactWriter.h"
#include "test/unit/serialization/SampleManifest.h"
#include "test/unit/serialization/TemporaryFolder.h"

namespace stator::test {

/// Bytes 0, 1, 2, ... for every parameter, so that "tied" and "weight" are equal.
inline Status writeSampleArtifact(const std::string &path) {
  serialization::ArtifactWriter writer;
  static const std::vector<std::byte> content = [] {
    std::vector<std::byte> bytes(64);
    for (size_t i = 0; i != bytes.size(); ++i)
      bytes[i] = std::byte(i);
    return bytes;
  }();
  for (const serialization::Parameter &parameter : sampleParameters()) {
    size_t size = byteSize(parameter.elementType);
    for (uint64_t dim : parameter.dims)
      size *= dim;
    STATOR_RETURN_IF_ERROR(writer.addParameter(parameter, std::span(content).first(size)).status());
  }
  auto owned = [](const std::string &text) {
    std::span<const std::byte> bytes = bytesOf(text);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  writer.addVariant("x86-64-v3", 2, owned("3rd level"));
  writer.addVariant("x86-64-v2", 1, owned("2nd level"));
  writer.addFile("meta/note", owned("hello"));
  return writer.write(path, sampleManifest());
}

} // namespace stator::test

#endif // STATOR_TEST_UNIT_SERIALIZATION_SAMPLEARTIFACT_H
