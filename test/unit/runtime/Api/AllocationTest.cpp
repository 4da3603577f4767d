// DEPS: stator::stator stator::test::runtime
// Counts every allocation of the process while a run is under way. The C library's functions are replaced here, in the test program,
// so that the shared object's calls come through as well.
#include "test/unit/Catch.h"

#include "stator/Runtime.h"
#include "test/lib/runtime/TestArtifact.h"

#include <atomic>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STATOR_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STATOR_TEST_SANITIZED
#endif
#endif

#ifndef STATOR_TEST_SANITIZED
static std::atomic<bool> counting{false};
static std::atomic<int> allocations{0};

static void countOne() {
  if (counting.load(std::memory_order_relaxed))
    ++allocations;
}

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) {
  countOne();
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  countOne();
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  countOne();
  return __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  countOne();
  return __libc_memalign(alignment, size);
}
}
#endif

using namespace stator;

TEST_CASE("running allocates nothing after the first call per shape") {
#ifdef STATOR_TEST_SANITIZED
  STATOR_SKIP("the sanitizer has its own allocator");
#else
  test::TestArtifact artifact;
  uint32_t mirror = artifact.kernel("mirror", 3, 1), add = artifact.kernel("add", 3, 1);
  test::TestMethod forward;
  forward.symbol("N", 1, 1000000, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"});
  uint32_t a = forward.arena(ElementType::F32, {"N"}, "0"), b = forward.arena(ElementType::F32, {"N"}, "64*floordiv(N + 15, 16)");
  uint32_t y = forward.output("y", ElementType::F32, {"N"}), n = forward.output("n", ElementType::I64, {"1"});
  forward.arenaSize("128*floordiv(N + 15, 16)");
  forward.add(forward.kernel(mirror, {x}, {a, b}, {"N"}));
  forward.add(forward.kernel(add, {a, b}, {y}, {"N"}));
  forward.add(forward.shape(n, {"N"}));
  artifact.add(std::move(forward));
  Session session = Module::load(artifact.write("allocations.stator")).value().session(SessionOptions().threads(2)).value();

  std::vector<Tensor> inputs;
  for (int64_t size : {10, 100000, 5000})
    inputs.push_back(Tensor::zeros(ElementType::F32, {size}));
  Tensor own = Tensor::zeros(ElementType::F32, {100000}), count = Tensor::zeros(ElementType::I64, {1});
  std::vector<TensorView> outputs = {own, count};
  for (const Tensor &input : inputs)
    REQUIRE(session.run("forward", {input}).ok());

  bool good = true;
  allocations = 0;
  counting = true;
  for (int round = 0; round < 50; ++round)
    for (const Tensor &input : inputs) {
      good &= session.run("forward", {input}).ok();
      outputs[0] = own;
      outputs[1] = count;
      good &= session.run("forward", {input}, outputs).ok();
    }
  counting = false;
  CHECK(good);
  CHECK(allocations == 0);
  // The counter does count.
  counting = true;
  std::free(std::malloc(10));
  counting = false;
  CHECK(allocations == 1);
#endif
}
