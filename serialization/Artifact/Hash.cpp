// XXH3-128 of bytes at once or in parts; see the header.
#include "serialization/Artifact/Hash.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace stator;
using namespace stator::serialization;

struct StreamingHash::State {
  // xxHash wants its state aligned to 64 bytes, which its own type declares.
  XXH3_state_t value;
};

static Hash128 canonical(XXH128_hash_t hash) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  Hash128 result;
  std::memcpy(result.data(), bytes.digest, sizeof bytes.digest);
  return result;
}

Hash128 stator::serialization::hashOf(std::span<const std::byte> bytes) { return canonical(XXH3_128bits(bytes.data(), bytes.size())); }

std::string stator::serialization::hexOf(const Hash128 &hash) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : hash) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

StreamingHash::StreamingHash() : state(std::make_unique<State>()) { XXH3_128bits_reset(&state->value); }
StreamingHash::~StreamingHash() = default;
void StreamingHash::update(std::span<const std::byte> bytes) { XXH3_128bits_update(&state->value, bytes.data(), bytes.size()); }
Hash128 StreamingHash::finish() const { return canonical(XXH3_128bits_digest(&state->value)); }
