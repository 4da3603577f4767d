// DEPS: stator::runtime::Memory
#include "test/unit/Catch.h"

#include "runtime/Memory/Arena.h"

#include <cstdint>
#include <cstring>

using namespace stator;
using namespace stator::runtime;

TEST_CASE("an arena grows, never shrinks, and is aligned") {
  Arena arena;
  CHECK(arena.size() == 0);
  for (size_t bytes :
       {size_t(1), size_t(100), size_t(5000), kHugePageBytes - 64, kHugePageBytes - 1, kHugePageBytes, 3 * kHugePageBytes + 1}) {
    REQUIRE(arena.reserve(bytes).ok());
    CHECK(arena.size() >= bytes);
    CHECK(reinterpret_cast<uintptr_t>(arena.data()) % (arena.size() >= kHugePageBytes ? kHugePageBytes : kArenaAlignment) == 0);
    std::memset(arena.data(), 1, arena.size());
  }
  std::byte *before = arena.data();
  REQUIRE(arena.reserve(1).ok());
  CHECK(arena.data() == before);
  arena.release();
  CHECK(arena.size() == 0);
}

TEST_CASE("an arena that is too large is an error") {
  Arena arena;
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 8, size_t(1) << 60}) {
    Status status = arena.reserve(bytes);
    CHECK(status.code() == StatusCode::ResourceExhausted);
    CHECK(arena.data() == nullptr);
  }
  CHECK(arena.reserve(64).ok());
}
