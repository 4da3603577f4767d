// DEPS: stator::serialization::Base
// Status, Result, element types and mapped files: the vocabulary of every boundary.
#include "serialization/Base/MappedFile.h"
#include "stator/ElementType.h"
#include "test/unit/Catch.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace stator;

static Result<int> half(int value) {
  if (value % 2 != 0)
    return invalidArgument(std::to_string(value) + " is odd");
  return value / 2;
}

static Result<int> quarter(int value) {
  STATOR_TRY(first, half(value));
  STATOR_TRY(second, half(first));
  return second;
}

static Status check(int value) {
  STATOR_RETURN_IF_ERROR(quarter(value).status());
  return okStatus();
}

TEST_CASE("a Result holds a value or a reason") {
  CHECK(*quarter(8) == 2);
  CHECK(quarter(6).status().message() == "3 is odd");
  CHECK(quarter(6).status().code() == StatusCode::InvalidArgument);
  CHECK(check(8).ok());
  CHECK(check(7).message() == "7 is odd");
  CHECK(quarter(6).valueOr(-1) == -1);
  CHECK(Result<int>(Status()).status().code() == StatusCode::Internal);
  CHECK(notFound("it").withContext("`m.stator`").message() == "`m.stator`: it");
  CHECK(Status().withContext("place").ok());
  CHECK(std::string(name(StatusCode::ResourceExhausted)) == "resource exhausted");
}

TEST_CASE("element types have names and sizes that round trip") {
  for (ElementType type : kAllElementTypes) {
    CHECK(parseElementType(name(type)) == type);
    CHECK(byteSize(type) >= 1);
    CHECK(isElementType(static_cast<uint64_t>(type)));
  }
  CHECK(parseElementType("u8") == ElementType::U8);
  CHECK(parseElementType("bool") == ElementType::I1);
  CHECK_FALSE(parseElementType("f8"));
  CHECK_FALSE(isElementType(0));
  CHECK_FALSE(isElementType(11));
  CHECK(isFloat(ElementType::BF16));
  CHECK_FALSE(isFloat(ElementType::I8));
}

TEST_CASE("a mapped file shows the file's bytes") {
  char folder[] = "/tmp/stator-mapped-XXXXXX";
  REQUIRE(mkdtemp(folder));
  std::string path = std::string(folder) + "/file";
  std::ofstream(path) << "hello";
  {
    Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
    REQUIRE(file.ok());
    CHECK((*file)->bytes().size() == 5);
    CHECK((*file)->bytes()[4] == std::byte('o'));
    CHECK((*file)->path() == path);
  }
  std::ofstream(path, std::ios::trunc).flush();
  Result<std::shared_ptr<MappedFile>> empty = MappedFile::open(path);
  REQUIRE(empty.ok());
  CHECK((*empty)->bytes().empty());

  CHECK(MappedFile::open(path + "x").status().message() == "cannot open `" + path + "x`: No such file or directory");
  CHECK(MappedFile::open(path + "x").status().code() == StatusCode::NotFound);
  CHECK(MappedFile::open(folder).status().message() == std::string("`") + folder + "` is not a regular file");
  std::string fifo = std::string(folder) + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(MappedFile::open(fifo).status().message() == "`" + fifo + "` is not a regular file");
  unlink(fifo.c_str());
  unlink(path.c_str());
  rmdir(folder);
}
