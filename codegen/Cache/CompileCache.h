//===- CompileCache.h - compiled kernels that outlive the compiler ---------===//
//
// A folder of blobs, each named by the hash of all that it was made from, so
// that an entry is either right or not there: nothing is ever invalidated.
// Several compilers may use one folder at the same time, over a network too.
//
// The cache is an aid. Whatever goes wrong with it (no permission, a full disk,
// damaged files) makes compiling slower and is a warning at most.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_CACHE_COMPILECACHE_H
#define STATOR_CODEGEN_CACHE_COMPILECACHE_H

#include "serialization/Artifact/Hash.h"
#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stator::codegen {

struct CacheStatistics {
  unsigned hits = 0, misses = 0;
  /// Entries that were there but damaged; they count as misses too.
  unsigned damaged = 0;
  /// Entries that trim() has removed.
  unsigned evicted = 0;
};

/// Not synchronised: one thread at a time. Other processes do not matter.
class CompileCache {
public:
  /// `folder` is made when something is stored. `onWarning` is told what goes wrong, at most once for reading and once for writing.
  CompileCache(std::string folder, uint64_t maxBytes, std::function<void(const std::string &)> onWarning);

  /// The bytes stored under `key`. Marks the entry as used. A damaged entry is removed and not found.
  std::optional<std::vector<char>> find(const serialization::Hash128 &key);
  /// Readers see the whole entry or none. After a failure nothing more is written.
  void store(const serialization::Hash128 &key, std::span<const char> bytes);
  /// Removes the entries that have not been used for the longest time until the rest fits, and what died writers have left. Does nothing
  /// when nothing was stored.
  void trim();

  const CacheStatistics &statistics() const { return counts; }

private:
  std::string pathOf(const serialization::Hash128 &key) const;
  void warn(const std::string &message);

  std::string folder;
  uint64_t maxBytes;
  std::function<void(const std::string &)> onWarning;
  bool isWritable = true, hasStored = false, hasWarned = false;
  CacheStatistics counts;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CACHE_COMPILECACHE_H
