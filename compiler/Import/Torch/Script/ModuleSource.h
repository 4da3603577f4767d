//===- ModuleSource.h - the objects of an archive ----------------------------===//
//
// What one import knows of data.pkl and constants.pkl, whatever methods it
// traces and however often: where each tensor lies, what it is called, and
// which attributes keep their values from call to call.
//
// Tensors of one memory, offset and shape are one parameter: LSTM keeps every
// weight twice, tied embeddings are two attributes. Different views of one
// memory are parameters of their own; the bytes are mapped, so that nothing is
// copied.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_MODULESOURCE_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_MODULESOURCE_H

#include "compiler/Import/Torch/Archive/TensorPayload.h"
#include "compiler/Import/Torch/Script/Program.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>

namespace stator::torch::script {

/// A tensor of the archive.
struct ParameterInfo {
  /// The path of the first attribute that holds it, "layer1.0.conv1.weight", or "CONSTANTS.c3".
  std::string name;
  const PickledTensor *tensor = nullptr;
  const char *folder = "data";
  /// How many attributes hold it directly.
  unsigned holders = 0;
  /// Of the module under construction: what its parameter is called; empty while it has none, and for constants.
  std::string symbol;
  std::optional<TensorPayload> payload;
  bool isBuffer = false;
};

/// What tracing has shown to change, which has to be known before tracing: contents that never change are folded.
struct StatePlan {
  /// Names of tensors that methods write.
  std::set<std::string> mutableTensors;
  /// Attributes, by path, that methods set and that later calls read.
  std::set<std::string> cells;
  /// Tensors that are empty in the archive and that some call gives a shape, which they keep.
  struct Shape {
    ElementType type = ElementType::F32;
    std::vector<int64_t> dims;
    bool operator==(const Shape &) const = default;
  };
  std::map<std::string, Shape> lateShapes;
  /// Of cells with state of their own: its name, once it is made.
  std::map<std::string, std::string> cellSymbols;
};

class ModuleSource {
public:
  ModuleSource(std::shared_ptr<Archive> archive, std::string path)
      : archive(std::move(archive)), path(std::move(path)), payloads(*this->archive) {}

  /// Reads the pickles and gives every tensor its name.
  Status open();

  const PickleValue &root() const { return data->root(); }
  /// CONSTANTS.cN; null when there is none.
  const PickleValue *constant(uint64_t index) const;
  /// Of an object below root(): its path, empty for the root itself.
  std::string pathOf(const PickleValue *object) const { return objectPaths.lookup(object); }

  ParameterInfo &parameterOf(const PickledTensor &tensor, bool isConstant);
  /// The checked place of its bytes.
  Result<const TensorPayload *> payloadOf(ParameterInfo &info);
  const Archive &file() const { return *archive; }
  const std::string &filePath() const { return path; }
  /// All tensors of data.pkl and constants.pkl, in the order of their names.
  std::vector<ParameterInfo *> parameters();

  /// Forgets which parameters were made: a new module is begun.
  void beginModule();

  StatePlan plan;

private:
  void nameObjects(const PickleValue &object, const std::string &prefix);
  void nameTensors(const PickleValue &value, const std::string &prefix);

  std::shared_ptr<Archive> archive;
  std::string path;
  PayloadReader payloads;
  std::optional<PickleTree> data, constants;
  llvm::DenseMap<const PickleValue *, std::string> objectPaths;
  std::set<const PickleValue *> visited;
  std::map<std::string, ParameterInfo> infos;
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_MODULESOURCE_H
