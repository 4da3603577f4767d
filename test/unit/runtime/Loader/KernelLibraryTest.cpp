// DEPS: stator::runtime::Loader stator::test::runtime
#include "test/unit/Catch.h"

#include "runtime/Loader/KernelLibrary.h"
#include "test/lib/runtime/TestArtifact.h"

#include <cstring>
#include <random>

using namespace stator;
using namespace stator::runtime;

TEST_CASE("kernels are found and can be called") {
  std::vector<std::byte> object = test::testKernels();
  Result<KernelLibrary> library = KernelLibrary::load(object);
  REQUIRE(library.status().message() == "");
  CHECK(library->symbolCount() >= 8);
  CHECK(library->find("stator_k_nothing") == nullptr);
  CHECK(library->find("") == nullptr);
  StatorKernelFunction add = library->find("stator_k_add");
  REQUIRE(add);
  float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, c[3] = {};
  void *buffers[] = {a, b, c};
  int64_t size = 3;
  StatorKernelArgs args{buffers, &size};
  StatorWorkerContext context{0, 1, nullptr, nullptr, nullptr};
  add(&args, &context);
  CHECK(c[2] == 33);
}

TEST_CASE("relative relocations are applied") {
  std::vector<std::byte> object = test::testKernels();
  KernelLibrary library = KernelLibrary::load(object).value();
  int64_t index = 1, result = 0;
  void *buffers[] = {&index, &result};
  StatorKernelArgs args{buffers, nullptr};
  StatorWorkerContext context{0, 1, nullptr, nullptr, nullptr};
  library.find("stator_k_table")(&args, &context);
  CHECK(result == 102);
}

TEST_CASE("what is no kernel library is refused") {
  CHECK(KernelLibrary::load({}).status().code() == StatusCode::InvalidFile);
  std::vector<std::byte> zeros(5000);
  CHECK(KernelLibrary::load(zeros).status().message() == "the kernel library is damaged: it is not a 64-bit ELF shared object");
  std::vector<std::byte> object = test::testKernels();
  object[18] = std::byte(40); // 32-bit ARM.
  CHECK(KernelLibrary::load(object).status().code() == StatusCode::Unsupported);
}

TEST_CASE("an object that needs others is refused") {
  // The test program's own C library has dependencies and initialisers.
  std::vector<std::byte> object = test::testKernels();
  Result<KernelLibrary> library = KernelLibrary::load(object);
  REQUIRE(library.ok());
  // DT_NEEDED in place of the first dynamic entry.
  uint64_t programHeaders, offset = 0;
  std::memcpy(&programHeaders, object.data() + 32, 8);
  uint16_t count;
  std::memcpy(&count, object.data() + 56, 2);
  for (int i = 0; i < count; ++i) {
    uint32_t type;
    std::memcpy(&type, object.data() + programHeaders + i * 56, 4);
    if (type == 2)
      std::memcpy(&offset, object.data() + programHeaders + i * 56 + 8, 8);
  }
  REQUIRE(offset);
  int64_t needed = 1;
  std::memcpy(object.data() + offset, &needed, 8);
  Status status = KernelLibrary::load(object).status();
  CHECK(status.code() == StatusCode::Unsupported);
  CHECK(status.message() == "the kernel library is not self-contained: it has dependencies, which the runtime does not provide");
}

TEST_CASE("a truncated or damaged library gives an error or loads, and never crashes") {
  std::vector<std::byte> object = test::testKernels();
  for (size_t size = 0; size < object.size(); size += 97)
    (void)KernelLibrary::load(std::span(object).first(size));
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> damaged = object;
    // Mostly the headers and the dynamic section at both ends, where the structure is.
    size_t range = i % 2 ? 1024 : damaged.size();
    for (unsigned flips = 1 + random() % 4; flips; --flips)
      damaged[random() % range] = std::byte(random());
    (void)KernelLibrary::load(damaged);
  }
  SUCCEED();
}
