// A growable piece of memory for a session's intermediate values. Anonymous memory straight from the kernel when it is large, because
// only then can it be asked for in 2 MB pages, which makes memory-bound kernels up to 1.7 times faster.
#ifndef STATOR_RUNTIME_MEMORY_ARENA_H
#define STATOR_RUNTIME_MEMORY_ARENA_H

#include "stator/Status.h"

#include <cstddef>
#include <utility>

namespace stator::runtime {

/// What every arena, and every buffer in it, is aligned to.
constexpr size_t kArenaAlignment = 64;
/// From this size on memory is mapped, in multiples of it, and huge pages are asked for.
constexpr size_t kHugePageBytes = size_t(2) << 20;

/// Owns its memory. Not synchronised.
class Arena {
public:
  Arena() = default;
  ~Arena() { release(); }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  Arena(Arena &&other) noexcept { *this = std::move(other); }
  Arena &operator=(Arena &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(capacity, other.capacity);
    return *this;
  }

  /// Makes room for `bytes`; never shrinks. When it has to grow, the old content is lost and data() changes. ResourceExhausted, with
  /// the arena empty, when the system has no such memory.
  Status reserve(size_t bytes);
  void release();

  std::byte *data() const { return memory; }
  size_t size() const { return capacity; }

private:
  std::byte *memory = nullptr;
  size_t capacity = 0;
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_MEMORY_ARENA_H
