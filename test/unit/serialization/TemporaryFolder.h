// A folder for the files of one test, removed with its content at the end.
#ifndef STATOR_TEST_UNIT_SERIALIZATION_TEMPORARYFOLDER_H
#define STATOR_TEST_UNIT_SERIALIZATION_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace stator::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stator-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string path(const std::string &name = "") const { return name.empty() ? folder : folder + "/" + name; }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
  }

private:
  std::string folder;
};

inline std::string readBytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }

} // namespace stator::test

#endif // STATOR_TEST_UNIT_SERIALIZATION_TEMPORARYFOLDER_H
