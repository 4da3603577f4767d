// DEPS: stator::codegen::Cache
// Entries of the compile cache: what is stored comes back, what is damaged does not, what is old goes first.
#include "unit/Catch.h"

#include "codegen/Cache/CompileCache.h"
#include "codegen/Cache/CompilerIdentity.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace stator;
using namespace stator::codegen;
using serialization::Hash128;
using stator::test::TemporaryFolder;

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLarge = uint64_t(1) << 40;

Hash128 keyOf(const std::string &text) { return serialization::hashOf(std::as_bytes(std::span(text))); }

std::vector<char> bytesOf(const std::string &text) { return {text.begin(), text.end()}; }

std::vector<fs::path> entriesIn(const fs::path &folder) {
  std::vector<fs::path> paths;
  if (fs::exists(folder))
    for (const auto &file : fs::recursive_directory_iterator(folder))
      if (file.is_regular_file())
        paths.push_back(file.path());
  return paths;
}

} // namespace

TEST_CASE("what is stored under a key is found under it") {
  TemporaryFolder folder;
  std::string path = folder.path("cache");
  CompileCache writer(path, kLarge, nullptr);
  CHECK(!writer.find(keyOf("a")));
  writer.store(keyOf("a"), bytesOf("content of a"));
  writer.store(keyOf("empty"), {});
  CHECK(writer.find(keyOf("a")) == bytesOf("content of a"));

  CompileCache reader(path, kLarge, nullptr);
  CHECK(reader.find(keyOf("a")) == bytesOf("content of a"));
  CHECK(reader.find(keyOf("empty")) == std::vector<char>());
  CHECK(!reader.find(keyOf("b")));
  CHECK((reader.statistics().hits == 2 && reader.statistics().misses == 1 && reader.statistics().damaged == 0));
}

TEST_CASE("a damaged entry is removed and not found") {
  TemporaryFolder folder;
  std::string path = folder.path("cache");
  CompileCache cache(path, kLarge, nullptr);
  cache.store(keyOf("a"), bytesOf("some bytes"));
  fs::path entry = entriesIn(path).front();
  auto size = fs::file_size(entry);
  // Every byte matters, of the header as of the content.
  for (uint64_t at = 0; at < size; ++at) {
    {
      std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      char byte = static_cast<char>(file.get());
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 0x10));
    }
    INFO("byte " << at);
    CHECK(!cache.find(keyOf("a")));
    CHECK(!fs::exists(entry));
    cache.store(keyOf("a"), bytesOf("some bytes"));
  }
  for (uint64_t length : {size - 1, size - 10, uint64_t(20), uint64_t(0)}) {
    fs::resize_file(entry, length);
    CHECK(!cache.find(keyOf("a")));
    cache.store(keyOf("a"), bytesOf("some bytes"));
  }
  std::ofstream(entry, std::ios::app) << "more";
  CHECK(!cache.find(keyOf("a")));
  CHECK(cache.statistics().damaged == size + 5);
}

TEST_CASE("an entry under another key's name is not taken") {
  TemporaryFolder folder;
  std::string path = folder.path("cache");
  CompileCache cache(path, kLarge, nullptr);
  cache.store(keyOf("a"), bytesOf("of a"));
  fs::path ofA = entriesIn(path).front();
  cache.store(keyOf("b"), bytesOf("of b"));
  for (const fs::path &entry : entriesIn(path))
    if (entry != ofA)
      fs::copy_file(ofA, entry, fs::copy_options::overwrite_existing);
  CHECK(!cache.find(keyOf("b")));
  CHECK(cache.find(keyOf("a")) == bytesOf("of a"));
}

TEST_CASE("what has not been used for the longest time goes first") {
  TemporaryFolder folder;
  std::string path = folder.path("cache");
  std::vector<char> content(1000, 'x');
  CompileCache cache(path, 5500, nullptr);
  for (int i = 0; i < 5; ++i)
    cache.store(keyOf(std::to_string(i)), content);
  cache.trim();
  CHECK(entriesIn(path).size() == 5);
  // All are a day old but for the one that is used now.
  for (const fs::path &entry : entriesIn(path))
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(24));
  CHECK(cache.find(keyOf("0")));
  cache.store(keyOf("new"), content);
  cache.trim();
  CHECK(entriesIn(path).size() == 4);
  CHECK(cache.statistics().evicted == 2);
  CHECK(cache.find(keyOf("0")));
  CHECK(cache.find(keyOf("new")));
}

TEST_CASE("only what died writers have left long ago is swept away") {
  TemporaryFolder folder;
  std::string path = folder.path("cache");
  CompileCache cache(path, kLarge, nullptr);
  cache.store(keyOf("a"), bytesOf("a"));
  fs::path entry = entriesIn(path).front();
  std::string dead = entry.string() + ".partial-1-0", alive = entry.string() + ".partial-2-0", foreign = path + "/readme.txt";
  for (const std::string &file : {dead, alive, foreign})
    std::ofstream(file) << "x";
  for (const std::string &file : {dead, foreign})
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.trim();
  CHECK(!fs::exists(dead));
  CHECK(fs::exists(alive));
  CHECK(fs::exists(foreign));
  CHECK(fs::exists(entry));
}

TEST_CASE("a folder that cannot be made is one warning") {
  TemporaryFolder folder;
  std::string file = folder.path("file");
  std::ofstream(file) << "no folder";
  std::vector<std::string> warnings;
  CompileCache cache(file + "/cache", kLarge, [&](const std::string &message) { warnings.push_back(message); });
  CHECK(!cache.find(keyOf("a")));
  cache.store(keyOf("a"), bytesOf("a"));
  cache.store(keyOf("b"), bytesOf("b"));
  cache.trim();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("nothing is stored") != std::string::npos);
}

TEST_CASE("caches on one folder do not disturb each other") {
  TemporaryFolder folder;
  std::string path = folder.path("cache");
  std::vector<unsigned> wrong(4);
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < wrong.size(); ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 50; ++round) {
        // So small that it evicts all the time.
        CompileCache cache(path, 3000, nullptr);
        for (int i = 0; i < 8; ++i) {
          std::string text(300, static_cast<char>('a' + i));
          auto found = cache.find(keyOf(text));
          wrong[thread] += found && *found != bytesOf(text);
          cache.store(keyOf(text), bytesOf(text));
        }
        cache.trim();
        wrong[thread] += cache.statistics().damaged;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == std::vector<unsigned>(wrong.size()));
}

TEST_CASE("the compiler has an identity") {
  CHECK(compilerIdentity().find("LLVM ") != std::string::npos);
  CHECK(compilerIdentity().size() > 20);
}
