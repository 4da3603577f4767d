// DEPS: stator::serialization::Zip
// Zip files: what the writer makes, what the reader refuses. Hostile files are made by changing a good one, field by field.
#include "serialization/Zip/ZipReader.h"
#include "serialization/Zip/ZipWriter.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include <cstring>
#include <functional>

using namespace stator;
using namespace stator::serialization;
using namespace stator::test;

static std::string makeZip(const std::function<void(ZipWriter &)> &fill, const std::string &comment = "") {
  TemporaryFolder folder;
  std::unique_ptr<ZipWriter> zip = *ZipWriter::create(folder.path("z"));
  fill(*zip);
  REQUIRE(zip->finish(comment).ok());
  CHECK(folder.fileCount() == 1);
  return readBytes(folder.path("z"));
}

static std::string twoEntries() {
  return makeZip([](ZipWriter &zip) {
    REQUIRE(zip.addEntry("first", bytesOf("hello"), 64).ok());
    REQUIRE(zip.addEntry("secnd", bytesOf("world!"), 64).ok());
  });
}

static std::string replaced(std::string bytes, const std::string &from, const std::string &to) {
  REQUIRE(from.size() == to.size());
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size()))
    bytes.replace(at, from.size(), to);
  return bytes;
}

/// The position of the n-th header of this kind: "\1\2" for the directory, "\3\4" for local headers.
static size_t header(const std::string &bytes, const char *kind, unsigned n) {
  size_t at = bytes.find(std::string("PK") + kind);
  while (n-- != 0)
    at = bytes.find(std::string("PK") + kind, at + 1);
  return at;
}

static std::string withNumber(std::string bytes, size_t at, uint32_t number, unsigned width) {
  for (unsigned i = 0; i != width; ++i)
    bytes[at + i] = static_cast<char>(number >> (8 * i));
  return bytes;
}

static std::string error(const std::string &bytes) {
  Result<ZipReader> zip = ZipReader::open(bytesOf(bytes));
  return zip.status().message();
}

TEST_CASE("a zip is read back, aligned, in order") {
  std::string bytes = makeZip(
      [](ZipWriter &zip) {
        REQUIRE(zip.addEntry("a", bytesOf("alpha"), 64).ok());
        REQUIRE(zip.beginEntry("b/c", 8192, 4096).ok());
        REQUIRE(zip.write(bytesOf(std::string(5000, 'b'))).ok());
        REQUIRE(zip.write(bytesOf(std::string(3192, 'c'))).ok());
        REQUIRE(zip.endEntry().ok());
        REQUIRE(zip.addEntry("empty", {}, 1).ok());
        REQUIRE(zip.addDeflatedEntry("packed", bytesOf(std::string(100000, 'p'))).ok());
      },
      "the comment");
  ZipReader zip = *ZipReader::open(bytesOf(bytes));
  REQUIRE(zip.entries().size() == 4);
  CHECK(zip.comment() == "the comment");
  CHECK(zip.entries()[0].name == "a");
  CHECK(zip.entries()[0].headerOffset == 0);
  CHECK(zip.entries()[0].dataOffset == 64);
  CHECK(zip.entries()[1].dataOffset == 4096);
  CHECK(zip.storedBytes(zip.entries()[1])[8191] == std::byte('c'));
  CHECK(zip.entries()[2].size == 0);
  CHECK(zip.find("packed") == &zip.entries()[3]);
  CHECK(zip.find("none") == nullptr);
  CHECK(zip.entries()[3].storedSize < 1000);
  std::vector<std::byte> packed = *zip.read(zip.entries()[3], 100000);
  CHECK(packed == std::vector<std::byte>(100000, std::byte('p')));
  CHECK((*zip.read(zip.entries()[0], 100)).size() == 5);
  CHECK(zip.read(zip.entries()[3], 99999).status().message() == "zip entry `packed` has 100000 bytes, at most 99999 are accepted");
  CHECK(zip.checkCrc(zip.entries()[1]).ok());
}

TEST_CASE("the system's unzip reads and tests our zips") {
  if (std::system("unzip -v > /dev/null 2>&1") != 0)
    STATOR_SKIP("unzip is not installed");
  TemporaryFolder folder;
  writeBytes(folder.path("z.zip"), twoEntries());
  CHECK(std::system(("unzip -tqq " + folder.path("z.zip")).c_str()) == 0);
}

TEST_CASE("an empty zip has no entries") {
  std::string bytes = makeZip([](ZipWriter &) {});
  CHECK(ZipReader::open(bytesOf(bytes))->entries().empty());
}

TEST_CASE("zip entries with unsafe names are refused") {
  std::string bytes = twoEntries();
  CHECK(error(replaced(bytes, "secnd", "first")) == "zip entry `first`: the name is there twice");
  CHECK(error(replaced(bytes, "secnd", "../se")) == "zip entry `../se`: the name leaves its folder");
  CHECK(error(replaced(bytes, "secnd", "ab/..")) == "zip entry `ab/..`: the name leaves its folder");
  CHECK(error(replaced(bytes, "secnd", "a/..b")) == "");
  CHECK(error(replaced(bytes, "secnd", "/secn")) == "zip entry `/secn`: the name is not a relative path");
  CHECK(error(replaced(bytes, "secnd", "s\\cnd")) == "zip entry `s\\cnd`: the name is not a relative path");
  CHECK(error(replaced(bytes, "secnd", std::string("se\0nd", 5))) == "zip entry `se?nd`: the name is not a relative path");
}

TEST_CASE("zip entries that contradict themselves are refused") {
  const std::string bytes = twoEntries();
  size_t directory = header(bytes, "\1\2", 1), local = header(bytes, "\3\4", 1);
  CHECK(error(withNumber(bytes, directory + 8, 1, 2)) == "zip entry `secnd`: it is encrypted");
  CHECK(error(withNumber(bytes, directory + 10, 12, 2)) == "zip entry `secnd`: compression method 12, expected stored or deflated");
  CHECK(error(withNumber(bytes, directory + 20, 5, 4)) == "zip entry `secnd`: it is stored, but with two different sizes");
  CHECK(error(withNumber(bytes, directory + 42, 1, 4)) == "zip entry `secnd`: its local header is damaged or differs from the directory");
  CHECK(error(withNumber(bytes, local + 14, 1, 4)) == "zip entry `secnd`: its local header is damaged or differs from the directory");
  CHECK(error(withNumber(bytes, local + 22, 9, 4)) == "zip entry `secnd`: its local header is damaged or differs from the directory");
  CHECK(error(withNumber(withNumber(bytes, directory + 28, 0, 2), directory + 30, 5, 2)) == "zip entry 1 has no name");
  CHECK(error(withNumber(bytes, directory + 24, 0xffffffff, 4)) == "zip entry `secnd`: its 64-bit sizes are missing");
  CHECK(error(withNumber(bytes, directory, 0, 4)) == "zip directory is damaged at entry 1");
  CHECK(error(withNumber(bytes, directory + 32, 1, 2)) == "zip directory is damaged at entry 1");

  // Both headers agree that the entry is huge, or that it begins within the other one.
  std::string huge = withNumber(withNumber(bytes, directory + 20, 5000, 4), directory + 24, 5000, 4);
  huge = withNumber(withNumber(huge, local + 18, 5000, 4), local + 22, 5000, 4);
  CHECK(error(huge) == "zip entry `secnd`: bytes 128 + 5000 reach into the directory at 134");
  std::string big = withNumber(withNumber(bytes, header(bytes, "\1\2", 0) + 20, 66, 4), header(bytes, "\1\2", 0) + 24, 66, 4);
  big = withNumber(withNumber(big, 18, 66, 4), 22, 66, 4);
  CHECK(error(big) == "zip entry `secnd`: it overlaps `first`");
}

TEST_CASE("a zip without its end, or with a wrong count, is refused") {
  const std::string bytes = twoEntries();
  CHECK(error("") == "not a zip file, or its end is missing");
  CHECK(error("PK") == "not a zip file, or its end is missing");
  CHECK(error(bytes.substr(0, bytes.size() - 30)) == "not a zip file, or its end is missing");
  size_t end = header(bytes, "\5\6", 0);
  auto withCount = [&](uint32_t count) { return withNumber(withNumber(bytes, end + 8, count, 2), end + 10, count, 2); };
  CHECK(error(withCount(9)) == "zip directory is damaged: 9 entries in 102 bytes");
  CHECK(error(withCount(1)) == "zip directory is damaged: 51 bytes after its last entry");
  CHECK(error(withNumber(bytes, end + 10, 1, 2)) == "zip directory is damaged, or that of a zip in several parts");
  std::string moved = "zip directory is not where its end record says: bytes are missing or were put in front";
  CHECK(error(withNumber(bytes, end + 16, 0x7fffffff, 4)) == moved);
  CHECK(error("#" + bytes) == moved);
  std::string locator = withNumber(std::string(20, '\0'), 0, 0x07064b50, 4);
  CHECK(error(bytes.substr(0, end) + locator + bytes.substr(end)) == "zip directory is damaged: its 64-bit end record is missing");

  size_t directory = header(bytes, "\1\2", 0);
  // With a 64-bit end record, as PyTorch writes it into every file, both have to say the same.
  std::string end64 = withNumber(std::string(56, '\0'), 0, 0x06064b50, 4);
  end64 = withNumber(end64, 24, 2, 4);
  end64 = withNumber(end64, 32, 2, 4);
  end64 = withNumber(end64, 40, end - directory, 4);
  end64 = withNumber(end64, 48, directory, 4);
  std::string both = bytes.substr(0, end) + end64 + withNumber(locator, 8, end, 4) + bytes.substr(end);
  CHECK(error(both).empty());
  size_t end32 = both.size() - (bytes.size() - end);
  CHECK(error(withNumber(both, end32 + 16, 0xffffffff, 4)).empty());
  for (size_t at : {10, 12, 16})
    CHECK(error(withNumber(both, end32 + at, 7, 2)) == "zip directory is damaged: its two end records contradict each other");
}

TEST_CASE("damaged and lying deflated entries are refused") {
  const std::string bytes = makeZip(
      [](ZipWriter &zip) { REQUIRE(zip.addDeflatedEntry("packed", bytesOf(std::string(1000, 'p') + std::string(1000, 'q'))).ok()); });
  size_t directory = header(bytes, "\1\2", 0);
  auto readError = [](const std::string &changed) {
    Result<ZipReader> zip = ZipReader::open(bytesOf(changed));
    INFO(zip.status().message());
    REQUIRE(zip.ok());
    return zip->read(zip->entries()[0], uint64_t(1) << 40).status().message();
  };
  CHECK(readError(bytes) == "");
  std::string damaged = "zip entry `packed`: its compressed bytes are damaged";
  std::string changed = bytes;
  changed[40] ^= 0x55;
  CHECK(readError(changed) == damaged);
  auto withSize = [&](uint32_t size) { return withNumber(withNumber(bytes, directory + 24, size, 4), 22, size, 4); };
  CHECK(readError(withSize(1999)) == damaged);
  CHECK(readError(withSize(2001)) == damaged);
  CHECK(readError(withSize(0)) == damaged);
  CHECK(readError(withSize(0xfffffff0)).starts_with("zip entry `packed`: it claims to unpack "));
  CHECK(readError(withNumber(withNumber(bytes, directory + 16, 1, 4), 14, 1, 4)) == damaged);
}

TEST_CASE("changed and cut zips never crash the reader") {
  const std::string bytes = makeZip(
      [](ZipWriter &zip) {
        REQUIRE(zip.addEntry("first", bytesOf("hello"), 64).ok());
        REQUIRE(zip.addDeflatedEntry("packed", bytesOf(std::string(300, 'p'))).ok());
      },
      "comment");
  auto use = [](const std::string &changed) {
    Result<ZipReader> zip = ZipReader::open(bytesOf(changed));
    if (!zip.ok())
      return;
    for (const ZipEntry &entry : zip->entries())
      (void)zip->read(entry, 1 << 20).ok();
  };
  for (size_t i = 0; i != bytes.size(); ++i) {
    use(bytes.substr(0, i));
    use(bytes.substr(i));
    for (int value = 0; value != 256; ++value) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      use(changed);
    }
  }
}

TEST_CASE("a misused zip writer says so") {
  TemporaryFolder folder;
  std::unique_ptr<ZipWriter> zip = *ZipWriter::create(folder.path("z"));
  CHECK(zip->beginEntry("", 1, 64).message() == "zip entry `` has no usable name or alignment");
  CHECK(zip->beginEntry("a", 1, 48).message() == "zip entry `a` has no usable name or alignment");
  REQUIRE(zip->beginEntry("a", 2, 64).ok());
  CHECK(zip->beginEntry("b", 1, 64).message() == "zip entry `b` begins before the previous one ends");
  REQUIRE(zip->write(bytesOf("x")).ok());
  CHECK(zip->endEntry().message() == "zip entry `a` got 1 bytes, expected 2");
  zip.reset();
  CHECK(folder.fileCount() == 0);
}
