// DEPS: stator::serialization::ArtifactWriter
// What the writer promises: the same bytes each time, equal weights once, memory that does not grow, a file that is complete or absent.
#include "serialization/ArtifactWriter/ArtifactWriter.h"

#include "serialization/Artifact/ArtifactReader.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/SampleArtifact.h"

#include <cstring>
#include <sys/resource.h>

using namespace stator;
using namespace stator::serialization;
using namespace stator::test;

TEST_CASE("the same calls give the same bytes") {
  TemporaryFolder folder;
  REQUIRE(writeSampleArtifact(folder.path("a")).ok());
  REQUIRE(writeSampleArtifact(folder.path("b")).ok());
  CHECK(readBytes(folder.path("a")) == readBytes(folder.path("b")));
  CHECK(folder.fileCount() == 2);
}

static Parameter parameterOf(const std::string &name, uint64_t count) {
  Parameter parameter;
  parameter.name = name;
  parameter.dims = {count};
  return parameter;
}

TEST_CASE("parameters stream in parts and equal ones are stored once") {
  TemporaryFolder folder;
  ArtifactWriter writer;
  std::vector<float> ones(1000, 1.0f), twos(1000, 2.0f);
  unsigned calls = 0;
  auto inParts = [&](const ByteSink &sink) {
    ++calls;
    for (size_t i = 0; i != ones.size(); i += 100)
      STATOR_RETURN_IF_ERROR(sink(std::as_bytes(std::span(ones).subspan(i, 100))));
    return okStatus();
  };
  CHECK(*writer.addParameter(parameterOf("a", 1000), inParts) == 0);
  CHECK(*writer.addParameter(parameterOf("b", 1000), std::as_bytes(std::span(twos))) == 1);
  CHECK(*writer.addParameter(parameterOf("c", 1000), std::as_bytes(std::span(ones))) == 2);
  CHECK(*writer.addParameter(parameterOf("empty", 0), std::span<const std::byte>()) == 3);
  CHECK(writer.parameters()[1].offset == 4032);
  CHECK(writer.parameters()[2].offset == 0);
  REQUIRE(writer.write(folder.path("m.stator"), Manifest()).ok());
  CHECK(calls == 2);
  ArtifactReader reader = *ArtifactReader::open(folder.path("m.stator"));
  CHECK(reader.verify().ok());
  CHECK(reader.parameterBytes(2).data() == reader.parameterBytes(0).data());
  CHECK(std::memcmp(reader.parameterBytes(1).data(), twos.data(), 4000) == 0);
  CHECK(reader.parameterBytes(3).empty());
}

TEST_CASE("a producer's failures and lies are reported") {
  TemporaryFolder folder;
  ArtifactWriter writer;
  CHECK(writer.addParameter(parameterOf("w", 2), [](const ByteSink &) { return notFound("the file is gone"); }).status().message() ==
        "parameter `w`: the file is gone");
  std::vector<float> values(3);
  CHECK(writer.addParameter(parameterOf("w", 2), std::as_bytes(std::span(values))).status().message() ==
        "parameter `w` produced 12 bytes, its type takes 8");
  CHECK(writer.addParameter(parameterOf("w", UINT64_MAX), std::as_bytes(std::span(values))).status().message() ==
        "parameter `w` exceeds 64 bits in size");

  auto writeWith = [&](std::vector<std::vector<float>> answers) {
    ArtifactWriter second;
    size_t call = 0;
    auto producer = [&](const ByteSink &sink) { return sink(std::as_bytes(std::span(answers[call++]))); };
    REQUIRE(second.addParameter(parameterOf("w", 2), producer).ok());
    return second.write(folder.path("m.stator"), Manifest()).message();
  };
  CHECK(writeWith({{1, 2}, {1, 3}}) == "parameter `w` produced other bytes than the first time");
  CHECK(writeWith({{1, 2}, {1}}) == "parameter `w` produced other bytes than the first time");
  CHECK(writeWith({{1, 2}, {1, 2, 3}}) == "parameter `w`: it produced more bytes than the first time");
  CHECK(folder.fileCount() == 0);
}

TEST_CASE("an invalid manifest is the compiler's bug and writes nothing") {
  TemporaryFolder folder;
  Manifest manifest = sampleManifest();
  manifest.methods[0].plan = 4;
  ArtifactWriter writer;
  writer.addVariant("x86-64-v2", 1, {});
  Status status = writer.write(folder.path("m.stator"), manifest);
  CHECK(status.message() == "the artifact would not be valid: manifest: methods[0] `forward`: plan 4, there are 1");
  CHECK(status.code() == StatusCode::Internal);
  CHECK(folder.fileCount() == 0);
}

TEST_CASE("names that are not UTF-8 are escaped") {
  TemporaryFolder folder;
  ArtifactWriter writer;
  REQUIRE(writer.addParameter(parameterOf("\xff\xfe \xc3\xa9", 0), std::span<const std::byte>()).ok());
  REQUIRE(writer.write(folder.path("m.stator"), Manifest()).ok());
  CHECK(ArtifactReader::open(folder.path("m.stator"))->manifest().parameters[0].name == "\\xff\\xfe \xc3\xa9");
}

TEST_CASE("an artifact replaces the old one only when it is complete") {
  TemporaryFolder folder;
  std::string path = folder.path("m.stator");
  writeBytes(path, "old");
  std::vector<float> values(1 << 20);
  ArtifactWriter writer;
  REQUIRE(writer.addParameter(parameterOf("w", values.size()), std::as_bytes(std::span(values))).ok());
  rlimit before, small;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  small = before;
  small.rlim_cur = 1 << 20;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  Status status = writer.write(path, Manifest());
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(status.message() == "cannot write `" + path + "`: File too large");
  CHECK(status.code() == StatusCode::ResourceExhausted);
  CHECK(readBytes(path) == "old");
  CHECK(folder.fileCount() == 1);
  CHECK(writer.write(path, Manifest()).ok());
  CHECK(ArtifactReader::open(path).ok());
}

// Takes 4.5 GB of disk: run it by name.
TEST_CASE("weights beyond 4 GB make a zip64 file that is read back", "[.large]") {
  TemporaryFolder folder;
  ArtifactWriter writer;
  std::vector<std::byte> part(64 << 20);
  Parameter parameter = parameterOf("w", uint64_t(72) * part.size() / 4);
  auto producer = [&](const ByteSink &sink) {
    for (int i = 0; i != 72; ++i) {
      part[0] = std::byte(i);
      STATOR_RETURN_IF_ERROR(sink(part));
    }
    return okStatus();
  };
  REQUIRE(writer.addParameter(parameter, producer).ok());
  writer.addVariant("x86-64-v2", 1, {std::byte(7)});
  REQUIRE(writer.write(folder.path("m.stator"), Manifest()).ok());
  Result<ArtifactReader> reader = ArtifactReader::open(folder.path("m.stator"));
  INFO(reader.status().message());
  REQUIRE(reader.ok());
  CHECK(reader->parameterBytes(0).size() == size_t(72) * part.size());
  CHECK(reader->parameterBytes(0)[size_t(71) * part.size()] == std::byte(71));
  CHECK(reader->kernelBytes(0)[0] == std::byte(7));
  CHECK(reader->verify().ok());
}
