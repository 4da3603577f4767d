// Small torch archives and pickles, written by hand.
#ifndef STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_ARCHIVE_ARCHIVESAMPLE_H
#define STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_ARCHIVE_ARCHIVESAMPLE_H

#include "compiler/Import/Torch/Archive/Archive.h"
#include "serialization/Zip/ZipWriter.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/TemporaryFolder.h"

namespace stator::test {

struct SampleRecord {
  std::string name, content;
  bool isDeflated = false;
};

inline std::string archiveFile(const std::vector<SampleRecord> &records) {
  TemporaryFolder folder;
  std::unique_ptr<serialization::ZipWriter> zip = *serialization::ZipWriter::create(folder.path("z"));
  for (const SampleRecord &record : records)
    REQUIRE((record.isDeflated ? zip->addDeflatedEntry(record.name, bytesOf(record.content))
                               : zip->addEntry(record.name, bytesOf(record.content), 64))
                .ok());
  REQUIRE(zip->finish("").ok());
  return readBytes(folder.path("z"));
}

inline Result<std::shared_ptr<torch::Archive>> openBytes(const std::string &file, bool isNested = false) {
  std::span<const std::byte> bytes = bytesOf(file);
  return torch::Archive::fromBytes(std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()), isNested);
}

/// "" when it opens.
inline std::string openError(const std::string &file) { return openBytes(file).status().message(); }

namespace pickle {

inline std::string number(uint64_t value, unsigned width) {
  std::string bytes;
  for (unsigned i = 0; i != width; ++i)
    bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
inline std::string text(const std::string &value) { return "X" + number(value.size(), 4) + value; }
inline std::string integer(int32_t value) { return "J" + number(static_cast<uint32_t>(value), 4); }
inline std::string global(const std::string &module, const std::string &name) { return "c" + module + "\n" + name + "\n"; }
inline std::string whole(const std::string &body) { return "\x80\x02" + body + "."; }
inline std::string tuple(const std::vector<int32_t> &values) {
  std::string body = "(";
  for (int32_t value : values)
    body += integer(value);
  return body + "t";
}
inline std::string storage(const std::string &className, const std::string &key, int32_t count) {
  return "(" + text("storage") + global("torch", className) + text(key) + text("cpu") + integer(count) + "tQ";
}
inline std::string tensor(const std::string &storage, int32_t offset, const std::vector<int32_t> &sizes,
                          const std::vector<int32_t> &strides) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage + integer(offset) + tuple(sizes) + tuple(strides) + "\x89" +
         global("collections", "OrderedDict") + ")RtR";
}

} // namespace pickle

/// The records of a TorchScript file whose data.pkl is `data`.
inline std::vector<SampleRecord> scriptRecords(const std::string &data) {
  return {{"m/data.pkl", data}, {"m/constants.pkl", pickle::whole(")")}, {"m/version", "3\n"}};
}

} // namespace stator::test

#endif // STATOR_TEST_UNIT_COMPILER_IMPORT_TORCH_ARCHIVE_ARCHIVESAMPLE_H
