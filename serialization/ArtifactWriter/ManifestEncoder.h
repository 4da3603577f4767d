// Manifest to the bytes of `manifest.pb`, with the code that protoc generates from manifest.proto. The same manifest gives the same
// bytes: the schema has no maps.
#ifndef STATOR_SERIALIZATION_ARTIFACTWRITER_MANIFESTENCODER_H
#define STATOR_SERIALIZATION_ARTIFACTWRITER_MANIFESTENCODER_H

#include "serialization/Artifact/Manifest.h"

namespace stator::serialization {

std::string encodeManifest(const Manifest &manifest);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACTWRITER_MANIFESTENCODER_H
