// DEPS: stator::stator stator::test::runtime stator::test::c_api
// libstator.so as a file: what it exports, what it needs, how large it is; and the C interface used from C.
#include "test/unit/Catch.h"

#include "test/lib/runtime/TestArtifact.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

extern "C" const char *stator_test_c_api(const char *path);

static const std::string library = STATOR_BINARY_DIR "/lib/libstator.so";

static std::string outputOf(const std::string &command) {
  std::string text;
  std::FILE *pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> buffer;
  while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), count);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

TEST_CASE("the C interface works from C") {
  std::string path = stator::test::smallArtifact().write("c.stator");
  const char *failure = stator_test_c_api(path.c_str());
  CHECK(std::string(failure ? failure : "") == "");
}

TEST_CASE("libstator exports the C interface and nothing else") {
  std::istringstream lines(outputOf("nm -D --defined-only " + library));
  int exported = 0;
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    INFO(name);
    CHECK(name.rfind("stator_", 0) == 0);
    ++exported;
  }
  CHECK(exported > 30);
}

TEST_CASE("libstator contains nothing of LLVM") {
  for (const std::string &what : {"_ZN4mlir", "_ZN4llvm", "6google8protobuf"}) {
    INFO(what);
    CHECK(outputOf("nm -a " + library + " | grep -c " + what + " || true") == "0\n");
  }
}

TEST_CASE("libstator needs only what every system has") {
  std::istringstream lines(outputOf("readelf -d " + library + " | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'"));
  for (std::string name; lines >> name;) {
    INFO(name);
    bool expected = false;
    for (const char *system : {"libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"})
      expected |= name == system;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    expected = true;
#endif
#endif
    CHECK(expected);
  }
}

TEST_CASE("libstator is small") {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  STATOR_SKIP("sanitizers make code several times larger");
#endif
#endif
  std::string stripped = stator::test::temporaryPath("stripped.so");
  outputOf("strip -o " + stripped + " " + library);
  CHECK(std::filesystem::file_size(stripped) <= 2u << 20);
}
