// DEPS: stator::serialization::Artifact stator::serialization::ArtifactWriter
// Whole artifacts: what is written is read back; every kind of damage is an error that names the file and the place.
#include "serialization/Artifact/ArtifactReader.h"
#include "serialization/Artifact/Dump.h"
#include "serialization/Artifact/Hash.h"
#include "serialization/ArtifactWriter/ManifestEncoder.h"
#include "serialization/Zip/ZipWriter.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/SampleArtifact.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace stator;
using namespace stator::serialization;
using namespace stator::test;

static std::string openError(const std::string &path) {
  Result<ArtifactReader> reader = ArtifactReader::open(path);
  REQUIRE_FALSE(reader.ok());
  std::string prefix = "`" + path + "`: ";
  std::string message = reader.status().message();
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

TEST_CASE("an artifact is read back as written") {
  TemporaryFolder folder;
  std::string path = folder.path("sample.stator");
  REQUIRE(writeSampleArtifact(path).ok());
  Result<ArtifactReader> reader = ArtifactReader::open(path);
  INFO(reader.status().message());
  REQUIRE(reader.ok());
  const Manifest &manifest = reader->manifest();
  CHECK(manifest.methods[0].name == "forward");
  CHECK(manifest.parameters[2].offset == manifest.parameters[0].offset); // Equal bytes, stored once.
  CHECK(manifest.parameters[1].offset == 64);
  CHECK(reader->parameterBytes(0).size() == 32);
  CHECK(reader->parameterBytes(0)[5] == std::byte(5));
  CHECK(reader->kernelBytes(1)[0] == std::byte('2'));
  CHECK((*reader->entry("meta/note"))[0] == std::byte('h'));
  CHECK(reader->entry("meta/none").status().message() == "`" + path + "` has no entry `meta/none`");
  CHECK(reader->verify().ok());
  CHECK(reader->entries()[0].name == "manifest.pb");
  CHECK(reader->entries()[0].dataOffset == 64);
  CHECK(reader->entries()[1].name == "weights/blob0");
  CHECK(reader->entries()[1].dataOffset % 4096 == 0);
  for (const ZipEntry &entry : reader->entries())
    CHECK(entry.dataOffset % 64 == 0);
}

TEST_CASE("an artifact outlives the reader that opened it") {
  TemporaryFolder folder;
  std::string path = folder.path("sample.stator");
  REQUIRE(writeSampleArtifact(path).ok());
  std::shared_ptr<MappedFile> file;
  std::span<const std::byte> bytes;
  {
    ArtifactReader reader = *ArtifactReader::open(path);
    ArtifactReader moved = std::move(reader);
    file = moved.file();
    bytes = moved.parameterBytes(0);
  }
  CHECK(bytes[31] == std::byte(31));
}

TEST_CASE("what is no artifact is refused") {
  TemporaryFolder folder;
  std::string path = folder.path("file");
  CHECK(ArtifactReader::open(path).status().message() == "cannot open `" + path + "`: No such file or directory");
  writeBytes(path, "");
  CHECK(openError(path) == "the file is empty");
  writeBytes(path, "hello");
  CHECK(openError(path) == "not a zip file, or its end is missing");
  writeBytes(path, std::string(100000, 'P'));
  CHECK(openError(path) == "not a zip file, or its end is missing");

  auto writeZip = [&](const std::string &name, const std::string &comment, unsigned alignment = 64) {
    std::unique_ptr<ZipWriter> zip = *ZipWriter::create(path);
    REQUIRE(zip->addEntry(name, bytesOf("x"), alignment).ok());
    REQUIRE(zip->finish(comment).ok());
  };
  writeZip("data.pkl", "");
  CHECK(openError(path) == "not an artifact: the first entry is not `manifest.pb`");
  writeZip("manifest.pb", "");
  CHECK(openError(path) == "not an artifact: the zip comment holds no hash of the manifest");
  writeZip("manifest.pb", kCommentPrefix + std::string(32, '0'));
  CHECK(openError(path) == "the manifest is damaged: its hash differs from that in the zip comment");
  writeZip("manifest.pb", "", 2);
  CHECK(openError(path) == "entry `manifest.pb` starts at byte 48, not a multiple of 64");
  std::unique_ptr<ZipWriter> zip = *ZipWriter::create(path);
  REQUIRE(zip->addDeflatedEntry("manifest.pb", bytesOf("x")).ok());
  REQUIRE(zip->finish("").ok());
  CHECK(openError(path) == "entry `manifest.pb` is compressed, artifacts hold stored entries only");
  REQUIRE(writeSampleArtifact(path).ok());
  writeBytes(path, std::string(64, '#') + readBytes(path));
  CHECK(openError(path) == "zip directory is not where its end record says: bytes are missing or were put in front");

  // The same with all offsets put right.
  std::string shifted = readBytes(path);
  auto add64 = [&](size_t at) {
    uint32_t number;
    std::memcpy(&number, shifted.data() + at, 4);
    number += 64;
    std::memcpy(shifted.data() + at, &number, 4);
  };
  for (size_t at = shifted.find("PK\1\2"); at != std::string::npos; at = shifted.find("PK\1\2", at + 1))
    add64(at + 42);
  add64(shifted.find("PK\5\6") + 16);
  writeBytes(path, shifted);
  CHECK(openError(path) == "not an artifact: there are bytes before the first entry");
}

/// An artifact around a manifest that the writer itself would refuse.
static void writeRaw(const std::string &path, const std::string &manifest, const std::string &weights = std::string(512, 'w')) {
  std::unique_ptr<ZipWriter> zip = *ZipWriter::create(path);
  REQUIRE(zip->addEntry("manifest.pb", bytesOf(manifest), 64).ok());
  REQUIRE(zip->addEntry("weights/blob0", bytesOf(weights), 4096).ok());
  REQUIRE(zip->addEntry("kernels/x86-64-v3/kernels.so", bytesOf("3"), 64).ok());
  REQUIRE(zip->addEntry("kernels/x86-64-v2/kernels.so", bytesOf("2"), 64).ok());
  REQUIRE(zip->finish(kCommentPrefix + hexOf(hashOf(bytesOf(manifest)))).ok());
}

TEST_CASE("a manifest that does not fit its file is refused") {
  TemporaryFolder folder;
  std::string path = folder.path("file.stator");
  Manifest manifest = completeSampleManifest();
  writeRaw(path, encodeManifest(manifest));
  CHECK(ArtifactReader::open(path).ok());

  manifest.formatMinor = 2;
  writeRaw(path, encodeManifest(manifest));
  CHECK(openError(path) == "artifact of format 0.2, this build reads format 0.1; compile the model again");
  CHECK(ArtifactReader::open(path).status().code() == StatusCode::Unsupported);

  manifest = completeSampleManifest();
  manifest.methods[0].plan = 5;
  writeRaw(path, encodeManifest(manifest));
  CHECK(openError(path) == "manifest: methods[0] `forward`: plan 5, there are 1");

  manifest = completeSampleManifest();
  manifest.parameters[1].entry = "weights/blob1";
  writeRaw(path, encodeManifest(manifest));
  CHECK(openError(path) == "parameter `bias` is in `weights/blob1`, which is not in the file");

  manifest = completeSampleManifest();
  writeRaw(path, encodeManifest(manifest), std::string(198, 'w'));
  CHECK(openError(path) == "parameter `counter` ends at byte 200 of `weights/blob0`, which has 198");

  manifest.variants[0].entry = "kernels/other.so";
  writeRaw(path, encodeManifest(manifest));
  CHECK(openError(path) == "variant `x86-64-v3` is in `kernels/other.so`, which is not in the file");

  writeRaw(path, "\x22\x7f");
  CHECK(openError(path) == "manifest is malformed: end of buffer exception");
  writeRaw(path, std::string((64u << 20) + 1, '\0'));
  CHECK(openError(path) == "the manifest has 67108865 bytes, at most 67108864 are accepted");
}

TEST_CASE("verify finds damage in weights and kernels, open does not read them") {
  TemporaryFolder folder;
  std::string path = folder.path("file.stator");
  REQUIRE(writeSampleArtifact(path).ok());
  std::string bytes = readBytes(path);
  ArtifactReader reader = *ArtifactReader::open(path);
  size_t weights = reader.entries()[1].dataOffset, kernels = reader.entries()[2].dataOffset;

  std::string changed = bytes;
  changed[weights + 64] ^= 1;
  writeBytes(path, changed);
  CHECK(ArtifactReader::open(path)->verify().message() == "`" + path + "`: parameter `bias` is damaged: its hash differs");
  changed = bytes;
  changed[kernels] ^= 1;
  writeBytes(path, changed);
  CHECK(ArtifactReader::open(path)->verify().message() ==
        "`" + path + "`: zip entry `kernels/x86-64-v3/kernels.so`: its checksum is wrong");
}

TEST_CASE("cut and changed artifacts never crash, and damage outside of the bulk data is noticed") {
  TemporaryFolder folder;
  std::string path = folder.path("file.stator");
  REQUIRE(writeSampleArtifact(path).ok());
  const std::string bytes = readBytes(path);
  ArtifactReader intact = *ArtifactReader::open(path);
  size_t manifestBegin = intact.entries()[0].dataOffset, manifestEnd = manifestBegin + intact.entries()[0].size;

  // One file is changed in place and put right again: ten thousand new files would take their time.
  std::string changedPath = folder.path("changed.stator");
  writeBytes(changedPath, bytes);
  auto opens = [&] {
    Result<ArtifactReader> reader = ArtifactReader::open(changedPath);
    if (!reader.ok()) {
      CHECK(reader.status().message().find(changedPath) != std::string::npos);
      return false;
    }
    // What opens can be shown and read to its last byte.
    (void)dumpText(*reader).size();
    (void)dumpJson(*reader).size();
    (void)reader->verify().ok();
    return true;
  };
  int descriptor = ::open(changedPath.c_str(), O_WRONLY);
  REQUIRE(descriptor >= 0);
  for (size_t i = 0; i < bytes.size(); i += (i > manifestEnd + 64 && i + 2000 < bytes.size()) ? 31 : 1) {
    for (int mask : {0x01, 0x80, 0xff}) {
      char changed = static_cast<char>(bytes[i] ^ mask);
      REQUIRE(pwrite(descriptor, &changed, 1, static_cast<off_t>(i)) == 1);
      bool opened = opens();
      if (i >= manifestBegin && i < manifestEnd)
        CHECK_FALSE(opened);
    }
    REQUIRE(pwrite(descriptor, &bytes[i], 1, static_cast<off_t>(i)) == 1);
  }
  CHECK(opens());
  // Every cut within the structures, and some within the padding.
  for (size_t length = bytes.size() - 1; length != 0; length -= (length > manifestEnd + 97 && length + 2000 < bytes.size()) ? 97 : 1) {
    REQUIRE(ftruncate(descriptor, static_cast<off_t>(length)) == 0);
    CHECK_FALSE(opens());
  }
  close(descriptor);
}
