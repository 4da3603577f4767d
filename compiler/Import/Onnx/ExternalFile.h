//===- ExternalFile.h - files that a model refers to -----------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_EXTERNALFILE_H
#define STATOR_COMPILER_IMPORT_ONNX_EXTERNALFILE_H

#include "serialization/Base/MappedFile.h"
#include "stator/Result.h"

#include <memory>
#include <string>

namespace stator::onnx {

/// Maps the file that `location`, a path inside the model's folder, names. A model comes from anywhere, so it may only reach files of its
/// own folder: absolute paths, `..`, backslashes, NUL and symbolic links that lead outside are refused.
/// A hard link to a file elsewhere cannot be told from a file and is read.
Result<std::shared_ptr<MappedFile>> openBesideModel(const std::string &modelPath, const std::string &location);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_EXTERNALFILE_H
