#include "runtime/Memory/Arena.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>

namespace stator::runtime {

static Status noMemory(size_t bytes) {
  return resourceExhausted("the system has no " + std::to_string(bytes) + " bytes of memory for intermediate values");
}

// Maps a multiple of 2 MB at a multiple of 2 MB: maps more and cuts off both ends.
static std::byte *mapAligned(size_t bytes) {
  size_t padded = bytes + kHugePageBytes;
  void *mapped = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(mapped);
  uintptr_t aligned = (begin + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  if (aligned != begin)
    munmap(mapped, aligned - begin);
  if (uintptr_t tail = begin + padded - (aligned + bytes))
    munmap(reinterpret_cast<void *>(aligned + bytes), tail);
  // Advice: a kernel without huge pages ignores it.
  madvise(reinterpret_cast<void *>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte *>(aligned);
}

Status Arena::reserve(size_t bytes) {
  if (bytes <= capacity)
    return okStatus();
  release();
  if (bytes > SIZE_MAX / 4)
    return noMemory(bytes);
  size_t rounded = (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  if (rounded >= kHugePageBytes) {
    rounded = (rounded + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    memory = mapAligned(rounded);
  } else {
    memory = static_cast<std::byte *>(std::aligned_alloc(kArenaAlignment, rounded));
  }
  capacity = memory ? rounded : 0;
  return memory ? okStatus() : noMemory(bytes);
}

void Arena::release() {
  if (!memory)
    return;
  if (capacity >= kHugePageBytes)
    munmap(memory, capacity);
  else
    std::free(memory);
  memory = nullptr;
  capacity = 0;
}

} // namespace stator::runtime
