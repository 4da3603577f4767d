//===- ScriptFile.cpp - an opened TorchScript archive -------------------------===//

#include "compiler/Import/Torch/Script/ScriptFile.h"

namespace stator::torch::script {

static Program::Reader readerOf(std::shared_ptr<Archive> archive) {
  return [archive](const std::string &name) -> Result<std::string> {
    const Record *record = archive->find(name);
    if (!record)
      return notFound("has no record `" + name + "`");
    STATOR_TRY(text, archive->text(*record));
    return std::string(text);
  };
}

ScriptFile::ScriptFile(std::shared_ptr<Archive> archive, const std::string &path)
    : archive(archive), code(readerOf(archive)), objects(archive, path) {}

Result<std::unique_ptr<ScriptFile>> ScriptFile::open(const std::string &path) {
  STATOR_TRY(archive, Archive::open(path));
  if (archive->kind() != ArchiveKind::TorchScript)
    return invalidFile(std::string("is a file of ") + name(archive->kind()) + ", expected TorchScript");
  std::unique_ptr<ScriptFile> file(new ScriptFile(archive, path));
  if (file->version() < minimumVersion || file->version() > maximumVersion)
    return unsupported("is of version " + std::to_string(file->version()) + " of the format, expected " + std::to_string(minimumVersion) +
                       " to " + std::to_string(maximumVersion));
  STATOR_RETURN_IF_ERROR(file->objects.open());
  STATOR_TRY(root, file->code.findClass(file->objects.root().text()));
  file->root = root;
  return file;
}

} // namespace stator::torch::script
