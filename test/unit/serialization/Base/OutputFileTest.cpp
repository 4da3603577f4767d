// DEPS: stator::serialization::Base
// Output files and JSON reports: what tools leave behind.
#include "serialization/Base/OutputFile.h"
#include "serialization/Base/JsonWriter.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace stator;
using namespace stator::test;

TEST_CASE("an output file appears with commit and replaces the old one") {
  TemporaryFolder folder;
  std::string path = folder.path("out");
  writeBytes(path, "old");
  {
    std::unique_ptr<OutputFile> file = *OutputFile::create(path);
    REQUIRE(file->write("new content", 11).ok());
    CHECK(readBytes(path) == "old");
    CHECK(folder.fileCount() == 2);
    CHECK(file->position() == 11);
    REQUIRE(file->seek(4).ok());
    REQUIRE(file->write("C", 1).ok());
    REQUIRE(file->seek(11).ok());
    REQUIRE(file->write(std::string(3 << 20, '!').data(), 3 << 20).ok());
    CHECK(file->size() == 11 + (3 << 20));
    REQUIRE(file->commit().ok());
    CHECK(file->commit().message() == "`" + path + "` has been written already");
  }
  CHECK(readBytes(path) == "new Content" + std::string(3 << 20, '!'));
  CHECK(folder.fileCount() == 1);
}

TEST_CASE("an output file that is given up leaves nothing") {
  TemporaryFolder folder;
  writeBytes(folder.path("out"), "old");
  REQUIRE((*OutputFile::create(folder.path("out")))->write("x", 1).ok());
  CHECK(readBytes(folder.path("out")) == "old");
  CHECK(folder.fileCount() == 1);
}

TEST_CASE("an output file that cannot be made says why") {
  TemporaryFolder folder;
  auto error = [](const std::string &path) {
    Result<std::unique_ptr<OutputFile>> file = OutputFile::create(path);
    REQUIRE_FALSE(file.ok());
    return file.status();
  };
  CHECK(error(folder.path("none/out")).message() == "cannot write `" + folder.path("none/out") + "`: No such file or directory");
  CHECK(error(folder.path("none/out")).code() == StatusCode::NotFound);
  CHECK(error("/dev/null").message() == "cannot write `/dev/null`: it is not a regular file");
  CHECK(error(folder.path()).message() == "cannot write `" + folder.path() + "`: it is not a regular file");
  writeBytes(folder.path("file"), "");
  CHECK(error(folder.path("file/out")).message() == "cannot write `" + folder.path("file/out") + "`: Not a directory");
}

TEST_CASE("an output file follows a link instead of replacing it") {
  TemporaryFolder folder;
  writeBytes(folder.path("target"), "old");
  REQUIRE(symlink("target", folder.path("link").c_str()) == 0);
  std::unique_ptr<OutputFile> file = *OutputFile::create(folder.path("link"));
  REQUIRE(file->write("new", 3).ok());
  REQUIRE(file->commit().ok());
  CHECK(readBytes(folder.path("target")) == "new");
  CHECK(std::filesystem::is_symlink(folder.path("link")));
}

TEST_CASE("the limit on file sizes is an error, not a signal") {
  TemporaryFolder folder;
  rlimit before, small;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  small = before;
  small.rlim_cur = 4096;
  std::unique_ptr<OutputFile> file = *OutputFile::create(folder.path("out"));
  REQUIRE(file->write(std::string(10000, 'x').data(), 10000).ok());
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  Status status = file->commit();
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(status.message() == "cannot write `" + folder.path("out") + "`: File too large");
  CHECK(status.code() == StatusCode::ResourceExhausted);
  CHECK(file->write("x", 1).message() == status.message());
  sigset_t pending;
  REQUIRE(sigpending(&pending) == 0);
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
  file.reset();
  CHECK(folder.fileCount() == 0);
}

TEST_CASE("JSON reports are ordered, escaped and valid for any bytes") {
  JsonWriter json;
  json.beginObject();
  json.field("name", std::string("a\"b\\c\n\x7f"));
  json.field("utf8", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  json.field("broken", "\xff \xc3 \xed\xa0\x80 \xc0\xaf");
  json.field("count", 18446744073709551615ull);
  json.field("negative", -5);
  json.field("ratio", 0.1);
  json.field("nothing", std::numeric_limits<double>::quiet_NaN());
  json.field("yes", true);
  json.key("list");
  json.beginArray();
  json.value(1);
  json.beginObject();
  json.endObject();
  json.beginArray();
  json.endArray();
  json.null();
  json.endArray();
  json.endObject();
  CHECK(json.text() == R"({
  "name": "a\"b\\c\u000a\u007f",
  "utf8": "é € 😀",
  "broken": "\ufffd \ufffd \ufffd\ufffd\ufffd \ufffd\ufffd",
  "count": 18446744073709551615,
  "negative": -5,
  "ratio": 0.1,
  "nothing": null,
  "yes": true,
  "list": [
    1,
    {},
    [],
    null
  ]
}
)");
}
