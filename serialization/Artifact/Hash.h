// XXH3-128, for content addressing and integrity (not security). Header-only use of xxHash, kept behind three functions.
#ifndef STATOR_SERIALIZATION_ARTIFACT_HASH_H
#define STATOR_SERIALIZATION_ARTIFACT_HASH_H

#include "serialization/Artifact/Manifest.h"

#include <memory>

namespace stator::serialization {

/// In canonical (big-endian) form, as `xxhsum -H128` prints it.
Hash128 hashOf(std::span<const std::byte> bytes);
std::string hexOf(const Hash128 &hash);

/// The same for bytes that come in parts.
class StreamingHash {
public:
  StreamingHash();
  ~StreamingHash();
  void update(std::span<const std::byte> bytes);
  Hash128 finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_HASH_H
