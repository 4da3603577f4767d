// DEPS: stator::serialization::Artifact stator::serialization::ArtifactWriter
// The manifest's bytes: a round trip through libprotobuf and protozero, damage with its place, and bytes changed at random.
#include "serialization/Artifact/Validator.h"
#include "serialization/ArtifactWriter/ManifestEncoder.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/SampleManifest.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include <protozero/pbf_writer.hpp>
#include <random>

using namespace stator;
using namespace stator::serialization;
using stator::test::bytesOf;
using stator::test::completeSampleManifest;

using Writer = protozero::pbf_writer;

/// Bytes of a message.
template <typename Function>
static std::string message(Function fill) {
  std::string bytes;
  Writer writer(bytes);
  fill(writer);
  return bytes;
}

/// The error for a manifest of this version that has `content` inside of the messages with the numbers of `path`.
static std::string malformedAt(std::vector<uint32_t> path, std::string content) {
  while (!path.empty()) {
    content = message([&](Writer &w) { w.add_message(path.back(), content); });
    path.pop_back();
  }
  std::string bytes = message([&](Writer &w) { w.add_uint32(2, kFormatMinor); }) + content;
  return parseManifest(bytesOf(bytes)).status().message();
}

TEST_CASE("a manifest survives writing and reading") {
  Manifest manifest = completeSampleManifest();
  manifest.parameters[0].hash[15] = 0xab;
  std::string bytes = encodeManifest(manifest);
  Result<Manifest> reread = parseManifest(bytesOf(bytes));
  REQUIRE(reread.ok());
  CHECK(validateManifest(*reread).ok());
  CHECK(encodeManifest(*reread) == bytes);
  CHECK(reread->parameters[0].hash[15] == 0xab);
  CHECK(reread->methods[0].symbols[0].max == 64);
  CHECK(reread->plans[0].instructions[1].attributes[1].numbers == std::vector<double>{0.5, 2.0});
  CHECK(reread->plans[0].instructions[5].second[0].copySize == manifest.plans[0].instructions[2].copySize);
  CHECK(reread->plans[0].buffers[8].viewOf == 0u);
  CHECK_FALSE(reread->plans[0].buffers[7].viewOf);
}

TEST_CASE("another format version is refused with both named") {
  Manifest manifest = completeSampleManifest();
  manifest.formatMinor = 7;
  Result<Manifest> other = parseManifest(bytesOf(encodeManifest(manifest)));
  CHECK(other.status().message() == "artifact of format 0.7, this build reads format 0.1; compile the model again");
  CHECK(other.status().code() == StatusCode::Unsupported);
  manifest.formatMajor = 1;
  CHECK(parseManifest(bytesOf(encodeManifest(manifest))).status().message() ==
        "artifact of format 1.7, this build reads format 0.1; compile the model again");
  CHECK(parseManifest({}).status().message() == "artifact of format 0.0, this build reads format 0.1; compile the model again");
}

TEST_CASE("a malformed manifest is refused with its place") {
  std::string cut("\x10", 1);
  auto number = [](uint32_t field, uint64_t value) { return message([&](Writer &w) { w.add_uint64(field, value); }); };
  auto text = [](uint32_t field, const std::string &value) { return message([&](Writer &w) { w.add_string(field, value); }); };
  CHECK(malformedAt({}, std::string("\x22\x7f", 2)) == "manifest is malformed: end of buffer exception");
  CHECK(malformedAt({4}, cut) == "manifest is malformed at methods[0]: end of buffer exception");
  CHECK(malformedAt({4, 2}, cut) == "manifest is malformed at methods[0].symbols[0]: end of buffer exception");
  CHECK(malformedAt({4}, number(7, uint64_t(1) << 32)) == "manifest is malformed at methods[0]: the number 4294967296 exceeds 32 bits");
  CHECK(malformedAt({4, 4}, number(2, 11)) == "manifest is malformed at methods[0].inputs[0]: element type 11 is not known");
  CHECK(malformedAt({4, 4}, text(1, "x")) == "manifest is malformed at methods[0].inputs[0]: no element type");
  CHECK(malformedAt({5, 1}, number(1, 6)) == "manifest is malformed at plans[0].buffers[0]: buffer kind 6 is not known");
  CHECK(malformedAt({5, 1}, number(3, 1)) == "manifest is malformed at plans[0].buffers[0]: no buffer kind");
  CHECK(malformedAt({5, 2}, text(1, "x")) ==
        "manifest is malformed at plans[0].instructions[0]: an instruction of no kind that this version knows");
  CHECK(malformedAt({5, 2}, text(4, "") + text(6, "")) == "manifest is malformed at plans[0].instructions[0]: an instruction of two kinds");
  CHECK(malformedAt({5, 2, 4}, cut) == "manifest is malformed at plans[0].instructions[0].kernel: end of buffer exception");
  CHECK(malformedAt({8}, text(8, "short")) == "manifest is malformed at parameters[0]: a hash of 5 bytes, expected 16");
  CHECK(malformedAt({8}, number(2, 1)) == "manifest is malformed at parameters[0]: no hash");
}

TEST_CASE("nesting and number of objects are bounded") {
  std::vector<uint32_t> path{5, 2};
  for (int depth = 0; depth != 68; ++depth)
    path.insert(path.end(), {8, 2});
  CHECK(malformedAt(path, "").find("instructions are nested more than 64 deep") != std::string::npos);
  std::string many = message([](Writer &w) {
    for (int i = 0; i != (1 << 19) + 1; ++i)
      w.add_string(9, "");
  });
  CHECK(malformedAt({}, many) == "manifest is malformed: more than 524288 objects");
}

TEST_CASE("unknown fields are skipped") {
  std::string bytes = encodeManifest(completeSampleManifest());
  std::string extended = bytes + message([](Writer &writer) {
                           writer.add_string(900, "from a later version");
                           writer.add_fixed64(901, 1);
                           writer.add_string(1, "a known number with another wire type");
                         });
  Result<Manifest> manifest = parseManifest(bytesOf(extended));
  REQUIRE(manifest.ok());
  CHECK(encodeManifest(*manifest) == bytes);
}

TEST_CASE("changed bytes of a manifest never crash the parser or the validator") {
  std::string bytes = encodeManifest(completeSampleManifest());
  size_t accepted = 0;
  auto tryBytes = [&](const std::string &changed) {
    Result<Manifest> manifest = parseManifest(bytesOf(changed));
    if (!manifest.ok()) {
      CHECK_FALSE(manifest.status().message().empty());
      return;
    }
    if (!validateManifest(*manifest).ok())
      return;
    // What passes can be followed: all code evaluates or says why not.
    ++accepted;
    for (const Method &method : manifest->methods)
      for (const Expression &expression : method.expressions)
        (void)evaluatePostfix(expression.code, std::vector<int64_t>(method.symbols.size(), 3)).ok();
  };
  for (size_t length = 0; length != bytes.size(); ++length)
    tryBytes(bytes.substr(0, length));
  for (size_t i = 0; i != bytes.size(); ++i)
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff, bytes[i] ^ 1, bytes[i] ^ 0x10}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      tryBytes(changed);
    }
  std::mt19937 random(7);
  for (int round = 0; round != 3000; ++round) {
    std::string changed = bytes;
    for (unsigned i = 0; i != 1 + round % 6u; ++i)
      changed[random() % changed.size()] = static_cast<char>(random());
    size_t from = random() % changed.size(), to = random() % changed.size();
    if (round % 3 == 0)
      changed.erase(std::min(from, to), random() % 9);
    if (round % 3 == 1)
      changed.insert(from, bytes.substr(to, random() % 40));
    tryBytes(changed);
  }
  CHECK(accepted > 0);
}
