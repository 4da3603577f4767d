// DEPS: stator::serialization::ArtifactWriter
// The format, pinned: the writer still makes test/golden/<version>/identity.stator byte for byte, the reader still reads it, and the
// hexdump in docs/format.md shows this very file. When the format changes on purpose, STATOR_UPDATE_GOLDEN=1 rewrites the file.
#include "serialization/Artifact/Dump.h"
#include "serialization/ArtifactWriter/ArtifactWriter.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/SampleManifest.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include <cctype>
#include <cstdlib>
#include <sstream>

using namespace stator;
using namespace stator::serialization;
using namespace stator::test;

static std::string goldenPath(const std::string &name) {
  return STATOR_SOURCE_DIR "/test/golden/" + std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor) + "/" + name;
}

/// forward(x: f32[N]) -> (y: f32[N], two: f32[2]): copies the input, and a parameter. It needs no kernels, so that it runs anywhere.
static Status writeIdentity(const std::string &path) {
  Manifest manifest;
  manifest.producer = "stator 0.1.0";
  Method &method = manifest.methods.emplace_back();
  method.name = "forward";
  method.symbols = {{"N", 1, 16, 0, 0}};
  auto e = [&](const char *text) { return expression(method, text); };
  uint32_t n = e("N"), two = e("2"), zero = e("0"), bytesOfN = e("4*N"), eight = e("8");
  method.inputs = {{"x", ElementType::F32, {n}}};
  method.outputs = {{"y", ElementType::F32, {n}}, {"two", ElementType::F32, {two}}};

  Plan &plan = manifest.plans.emplace_back();
  plan.arenaSize = plan.scratchSize = zero;
  plan.buffers = {{BufferKind::Input, 0, ElementType::F32, {n}, bytesOfN, zero, {}},
                  {BufferKind::Output, 0, ElementType::F32, {n}, bytesOfN, zero, {}},
                  {BufferKind::Parameter, 0, ElementType::F32, {two}, eight, zero, {}},
                  {BufferKind::Output, 1, ElementType::F32, {two}, eight, zero, {}}};
  auto copy = [&](const char *name, uint32_t from, uint32_t to, uint32_t size) {
    Instruction instruction;
    instruction.kind = InstructionKind::Copy;
    instruction.name = name;
    instruction.source = from;
    instruction.destination = to;
    instruction.sourceOffset = instruction.destinationOffset = zero;
    instruction.copySize = size;
    plan.instructions.push_back(instruction);
  };
  copy("identity", 0, 1, bytesOfN);
  copy("constant", 2, 3, eight);

  ArtifactWriter writer;
  Parameter parameter;
  parameter.name = "w";
  parameter.dims = {2};
  static const float values[] = {1.0f, -2.0f};
  STATOR_RETURN_IF_ERROR(writer.addParameter(parameter, std::as_bytes(std::span(values))).status());
  return writer.write(path, manifest);
}

TEST_CASE("the golden artifact is still what the writer makes") {
  TemporaryFolder folder;
  REQUIRE(writeIdentity(folder.path("identity.stator")).ok());
  if (std::getenv("STATOR_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(goldenPath(""));
    REQUIRE(writeIdentity(goldenPath("identity.stator")).ok());
    REQUIRE(std::filesystem::exists(goldenPath("identity.stator")));
  }
  bool isSame = readBytes(folder.path("identity.stator")) == readBytes(goldenPath("identity.stator"));
  CHECK(isSame);
}

TEST_CASE("the golden artifact is still read") {
  Result<ArtifactReader> reader = ArtifactReader::open(goldenPath("identity.stator"));
  INFO(reader.status().message());
  REQUIRE(reader.ok());
  CHECK(reader->verify().ok());
  std::string text = dumpText(*reader);
  CHECK(text.find("0  copy  copy  identity  x -> y") != std::string::npos);
}

/// "00000040  10 01 1a 0c  note": offset, up to sixteen bytes, then two spaces and anything.
TEST_CASE("the hexdump in the description of the format shows the golden artifact") {
  std::string file = readBytes(goldenPath("identity.stator"));
  std::istringstream document(readBytes(STATOR_SOURCE_DIR "/docs/format.md"));
  size_t compared = 0;
  for (std::string line; std::getline(document, line);) {
    if (line.size() < 12 || line.substr(8, 2) != "  " || line.find_first_not_of("0123456789abcdef") != 8)
      continue;
    size_t offset = std::stoul(line.substr(0, 8), nullptr, 16);
    for (size_t at = 10; at + 1 < line.size() && std::isxdigit(static_cast<unsigned char>(line[at])); at += 3, ++offset) {
      INFO(line);
      REQUIRE(offset < file.size());
      CHECK(std::stoul(line.substr(at, 2), nullptr, 16) == static_cast<unsigned char>(file[offset]));
      ++compared;
      if (line.substr(at + 2, 2) == "  ")
        break;
    }
  }
  CHECK(compared > 400);
}
