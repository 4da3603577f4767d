//===- ExternalFile.cpp - files that a model refers to ---------------------===//

#include "compiler/Import/Onnx/ExternalFile.h"

#include <filesystem>

namespace stator::onnx {

namespace fs = std::filesystem;

/// Whether `path` is `folder` or below it; both canonical.
static bool isBelow(const fs::path &path, const fs::path &folder) {
  auto part = path.begin();
  for (const fs::path &expected : folder)
    if (part == path.end() || *part++ != expected)
      return false;
  return true;
}

Result<std::shared_ptr<MappedFile>> openBesideModel(const std::string &modelPath, const std::string &location) {
  auto refuse = [&](const std::string &why) {
    std::string shown;
    for (char c : location)
      shown += c >= 32 && c < 127 ? std::string(1, c) : std::string("?");
    return invalidFile("has the external data location `" + shown + "`, which " + why);
  };
  if (location.empty())
    return refuse("is empty");
  if (location.find('\0') != std::string::npos)
    return refuse("has a NUL byte");
  if (location.find('\\') != std::string::npos)
    return refuse("has a backslash, expected `/` between folders");
  fs::path relative(location);
  if (relative.is_absolute())
    return refuse("is an absolute path, expected a file in the model's folder");
  for (const fs::path &part : relative)
    if (part == "..")
      return refuse("leads out of the model's folder");

  std::error_code error;
  fs::path parent = fs::path(modelPath).parent_path();
  fs::path folder = fs::canonical(parent.empty() ? fs::path(".") : parent, error);
  if (error)
    return refuse("cannot be looked up: " + error.message());
  fs::path path = fs::canonical(folder / relative, error);
  if (error)
    return refuse("cannot be opened: " + error.message());
  // A symbolic link may point anywhere; what counts is where the file is in the end.
  if (!isBelow(path, folder))
    return refuse("leads out of the model's folder");
  if (!fs::is_regular_file(path, error))
    return refuse("is not a regular file");
  return MappedFile::open(path.string());
}

} // namespace stator::onnx
