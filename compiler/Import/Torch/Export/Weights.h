//===- Weights.h - parameters, buffers and constants of a program ----------===//
//
// Three generations of files keep them in three ways: raw records with a
// directory in JSON (2.9 and later), one pickle for all weights and one for all
// constants inside of the archive (2.8), and the same under fixed names
// (up to 2.7). Here they are one table by name. Bytes are located only when a
// weight is asked for, because programs list weights that they never use.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_WEIGHTS_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_WEIGHTS_H

#include "compiler/Import/Torch/Archive/TensorPayload.h"
#include "compiler/Import/Torch/Export/Program.h"

#include <functional>

namespace stator::torch::exported {

class Weights {
public:
  /// Reads the directories of `program`; `archive` must outlive the result.
  static Result<std::unique_ptr<Weights>> open(const Archive &archive, const std::string &program);
  ~Weights();

  /// One weight, for summaries. Sizes are as the file has them, unchecked.
  struct Entry {
    std::string name;
    bool isConstant = false; ///< Among the constants: lifted tensors and buffers that are not persistent.
    bool isParameter = false;
    bool isReadable = true; ///< Not pickled as a Python object.
    int64_t scalarType = -1;
    std::vector<int64_t> sizes;
  };
  std::vector<Entry> entries() const;

  /// The tensor of that name; constants are looked up among the constants first. Messages name the weight.
  Result<TensorPayload> load(std::string_view name, bool isConstant);

private:
  struct Directory;
  Weights();
  Result<std::unique_ptr<Directory>> openDirectory(const Archive &archive, const std::string &program, bool isConstant);
  const Archive *archive = nullptr;
  std::unique_ptr<PayloadReader> reader;
  std::unique_ptr<Directory> weights, constants;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_WEIGHTS_H
