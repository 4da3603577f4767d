//===- ScriptFile.h - an opened TorchScript archive ---------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTFILE_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTFILE_H

#include "compiler/Import/Torch/Script/ModuleSource.h"

namespace stator::torch::script {

/// The archive, the module in it, and its code.
class ScriptFile {
public:
  /// Versions of TorchScript files that are read.
  static constexpr int64_t minimumVersion = 1, maximumVersion = 10, defaultVersion = 3;

  static Result<std::unique_ptr<ScriptFile>> open(const std::string &path);

  /// A file without a version record is taken to be of the oldest version that is still written.
  int64_t version() const { return archive->version().value_or(defaultVersion); }
  ModuleSource &source() { return objects; }
  Program &program() { return code; }
  const ClassDef *rootClass() const { return root; }

private:
  ScriptFile(std::shared_ptr<Archive> archive, const std::string &path);

  std::shared_ptr<Archive> archive;
  Program code;
  ModuleSource objects;
  const ClassDef *root = nullptr;
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTFILE_H
