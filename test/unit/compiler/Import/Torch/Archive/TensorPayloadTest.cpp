// DEPS: stator::compiler::Import::Torch::Archive
// Tensors of archives: where their bytes are, and every reason to refuse one.
#include "compiler/Import/Torch/Archive/TensorPayload.h"
#include "test/unit/compiler/Import/Torch/Archive/ArchiveSample.h"

#include <cstring>

using namespace stator;
using namespace stator::test;
using namespace stator::torch;

static constexpr int64_t kByte = 0, kLong = 4, kFloat = 6, kBool = 11;

/// An archive of one record, data/0, in a file.
struct Stored {
  TemporaryFolder folder;
  std::shared_ptr<Archive> archive;
  PayloadReader reader;

  explicit Stored(const std::string &content, bool isDeflated = false) : archive(make(folder, content, isDeflated)), reader(*archive) {}
  static std::shared_ptr<Archive> make(const TemporaryFolder &folder, const std::string &content, bool isDeflated) {
    std::vector<SampleRecord> records = scriptRecords(pickle::whole(")"));
    records.push_back({"m/data/0", content, isDeflated});
    writeBytes(folder.path("m.pt"), archiveFile(records));
    return *Archive::open(folder.path("m.pt"));
  }
  Result<TensorPayload> view(int64_t type, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides, int64_t offset = 0) {
    return reader.read("data", "0", {type, sizes, strides, offset});
  }
  std::string error(int64_t type, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides, int64_t offset = 0) {
    return view(type, sizes, strides, offset).status().message();
  }
};

static std::string floats(int count) {
  std::string bytes;
  for (int i = 0; i != count; ++i) {
    float value = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  return bytes;
}

static std::vector<float> values(const TensorPayload &payload) {
  std::vector<char> bytes = payload.gather();
  std::vector<float> result(bytes.size() / sizeof(float));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST_CASE("views of a storage", "[payload]") {
  Stored stored(floats(12));
  TensorPayload whole = *stored.view(kFloat, {3, 4}, {4, 1});
  CHECK(whole.type == ElementType::F32);
  CHECK(whole.elements == 12);
  CHECK(whole.isContiguous());
  CHECK(whole.bytes().size() == 48);
  CHECK(whole.fileOffset == stored.archive->fileOffset(*stored.archive->find("data/0")));
  TensorPayload part = *stored.view(kFloat, {2, 3}, {1, 4}, 1);
  CHECK_FALSE(part.isContiguous());
  CHECK(part.storageId() == whole.storageId());
  CHECK(*part.fileOffset == *whole.fileOffset + 4);
  CHECK(part.bytes().size() == 40);
  CHECK(values(part) == std::vector<float>{1, 5, 9, 2, 6, 10});
  CHECK(values(*stored.view(kFloat, {2, 2}, {0, 1}, 3)) == std::vector<float>{3, 4, 3, 4});
  CHECK(values(*stored.view(kFloat, {}, {}, 11)) == std::vector<float>{11});
  // Strides of axes of size 1 mean nothing.
  CHECK(stored.view(kFloat, {1, 12}, {7, 1})->isContiguous());
  // No elements, nothing to check.
  TensorPayload none = *stored.view(kFloat, {0, 5}, {5, 1}, 100);
  CHECK(none.bytes().empty());
  CHECK(none.gather().empty());
  CHECK(none.isContiguous());
}

TEST_CASE("unpacked storages have no place in the file", "[payload]") {
  Stored stored(floats(100), /*isDeflated=*/true);
  TensorPayload payload = *stored.view(kFloat, {100}, {1});
  CHECK_FALSE(payload.fileOffset);
  CHECK(values(payload)[99] == 99);
}

TEST_CASE("booleans are mended", "[payload]") {
  Stored good(std::string("\0\1\1", 3)), odd(std::string("\0\2\xff", 3));
  CHECK(good.view(kBool, {3}, {1})->fileOffset);
  TensorPayload payload = *odd.view(kBool, {2}, {1}, 1);
  CHECK_FALSE(payload.fileOffset);
  CHECK(payload.gather() == std::vector<char>{1, 1});
  CHECK(odd.view(kBool, {3}, {1})->storageId() == payload.storageId());
}

TEST_CASE("views that the file does not hold", "[payload]") {
  Stored stored(floats(4));
  CHECK(stored.error(kFloat, {-1}, {1}) == "has the negative size -1");
  CHECK(stored.error(kFloat, {2}, {-1}) == "has the negative stride -1");
  CHECK(stored.error(kFloat, {2}, {1}, -1) == "has the negative offset -1");
  CHECK(stored.error(kFloat, {2, 2}, {1}) == "has 2 sizes but 1 strides");
  CHECK(stored.error(kFloat, {4}, {2}) == "has the sizes [4], strides [2] and offset 0, which reach beyond the 4 elements of its data");
  CHECK(stored.error(kLong, {4}, {1}) == "has the sizes [4], strides [1] and offset 0, which reach beyond the 2 elements of its data");
  CHECK(stored.error(kFloat, {1}, {1}, int64_t(1) << 40) ==
        "has the sizes [1], strides [1] and offset 1099511627776, which reach beyond the 4 elements of its data");
  const int64_t huge = int64_t(1) << 62;
  CHECK_THAT(stored.error(kFloat, {5, 5}, {huge, huge}), Catch::EndsWith("which reach beyond the 4 elements of its data"));
  CHECK(stored.error(kFloat, {huge, huge}, {0, 0}) ==
        "has the sizes [4611686018427387904, 4611686018427387904], which are more than 2^48 elements");
  CHECK(stored.error(kFloat, {0, huge, huge}, {0, 0, 0}) ==
        "has the sizes [0, 4611686018427387904, 4611686018427387904], which are more than 2^48 elements");
  CHECK(stored.error(9, {1}, {1}) == "has elements of type torch.complex64, which is not supported");
  CHECK(stored.error(99, {1}, {1}) == "has elements of type element type number 99, which is not supported");
  std::vector<int64_t> ones(65, 1);
  CHECK(stored.error(kFloat, ones, ones) == "has 65 dimensions, at most 64 are supported");
}

TEST_CASE("overlapping views have a budget", "[payload]") {
  Stored stored(floats(4));
  CHECK(stored.error(kFloat, {1 << 20, 1 << 20}, {0, 0}) ==
        "has the sizes [1048576, 1048576] on 4 elements of data: overlapping views expand to more than 256 MiB");
  // All of them together.
  const int64_t half = int64_t(1) << 25;
  CHECK(stored.view(kFloat, {half}, {0}).ok());
  CHECK(stored.view(kFloat, {half}, {0}).ok());
  CHECK_FALSE(stored.view(kFloat, {half}, {0}).ok());
}

TEST_CASE("names of records stay inside of their folder", "[payload]") {
  Stored stored(floats(4));
  auto error = [&](std::string_view name) { return stored.reader.read("data", name, {kFloat, {1}, {1}, 0}).status().message(); };
  const std::string expected = ", expected the name of a record in the archive's folder `data`";
  CHECK(error("../x") == "has its data in `../x`" + expected);
  CHECK(error("/etc/passwd") == "has its data in `/etc/passwd`" + expected);
  CHECK(error("..") == "has its data in `..`" + expected);
  CHECK(error("") == "has its data in ``" + expected);
  CHECK(error("a\\b") == "has its data in `a\\b`" + expected);
  CHECK(error(std::string_view("a\0b", 3)) == "has its data in `a?b`" + expected);
  CHECK(error("7") == "has no record `data/7`");
}

TEST_CASE("tensors of pickles", "[payload]") {
  Stored stored(floats(4));
  auto read = [&](const std::string &storage) {
    std::string bytes = pickle::whole(pickle::tensor(storage, 0, {2}, {1}));
    PickleTree tree = *unpickle(bytesOf(bytes), "data.pkl");
    return stored.reader.read(*tree.root().tensor(), "data");
  };
  CHECK(values(*read(pickle::storage("FloatStorage", "0", 4))) == std::vector<float>{0, 1});
  CHECK(read(pickle::storage("FloatStorage", "0", 5)).status().message() ==
        "has 16 bytes of data in record `data/0`, expected 5 elements of 4 bytes");
  CHECK(read(pickle::storage("LongStorage", "0", 2)).ok());
  CHECK(read(pickle::storage("FloatStorage", "1", 4)).status().message() == "has no record `data/1`");
  CHECK(read(pickle::storage("ComplexFloatStorage", "0", 2)).status().message() ==
        "has elements of type torch.complex64, which is not supported");
  // An empty storage needs no record.
  std::string bytes = pickle::whole(pickle::tensor(pickle::storage("FloatStorage", "9", 0), 0, {0, 3}, {3, 1}));
  PickleTree tree = *unpickle(bytesOf(bytes), "data.pkl");
  TensorPayload payload = *stored.reader.read(*tree.root().tensor(), "data");
  CHECK(payload.elements == 0);
  CHECK(payload.storageId() == nullptr);
}

TEST_CASE("names of storage classes", "[payload]") {
  CHECK(scalarTypeOfStorage("ByteStorage") == kByte);
  CHECK(scalarTypeOfStorage("BFloat16Storage") == 15);
  CHECK(scalarTypeOfStorage("QInt8Storage") == 12);
  CHECK_FALSE(scalarTypeOfStorage("UntypedStorage"));
  CHECK(*elementCount({2, 3}) == 6);
}
