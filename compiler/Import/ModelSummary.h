//===- ModelSummary.h - what is in a model file ----------------------------===//
//
// What `stator inspect MODEL` prints of a file that is not compiled yet: read
// from the file as it is, without an import, so that it also works for models
// that Stator does not support. Importers fill it in, tools print it.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_MODELSUMMARY_H
#define STATOR_COMPILER_IMPORT_MODELSUMMARY_H

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stator::compiler {

struct ModelSummary {
  /// "TorchScript", "torch.export" or "ONNX".
  std::string kind;
  /// Of the format, as people call it: "5", "8.20", "IR 8, opset 17".
  std::string version;
  /// "PyTorch 2.15.0", "pytorch 1.13.1"; may be empty.
  std::string producer;

  struct Value {
    /// As it will be called in the artifact: "x", "cfg.m", "output.0".
    std::string name;
    /// "f32[batch, 3, 224, 224]", "f32[?, 3]", "Tensor" where the file says no more; else the source's type: "int", "List[int]".
    std::string type;
    /// Compiling needs an --input for it: the file does not say its shape.
    bool needsShape = false;
    /// Compiling needs a --const for it, or knows the value already, which is then in `value`.
    bool isConstant = false;
    /// The default or fixed value, as source text; may be empty.
    std::string value;
  };
  struct Method {
    std::string name;
    std::vector<Value> inputs, outputs;
  };
  std::vector<Method> methods;

  struct Tensor {
    std::string name;
    std::string type; ///< "f32[64, 3, 7, 7]".
    uint64_t bytes = 0;
  };
  struct TensorGroup {
    struct Total {
      uint64_t count = 0, bytes = 0;
    };
    Total total;
    /// By the name of the element type.
    std::map<std::string, Total> byType;
    /// At most kLargest, the largest first.
    std::vector<Tensor> largest;
  };
  TensorGroup parameters, buffers;

  struct Operator {
    /// As the front-end's table calls it: "Conv", "aten.add.Tensor", "add".
    std::string name;
    unsigned count = 0;
    bool isSupported = true;
  };
  /// Sorted by name.
  std::vector<Operator> operators;

  /// What a user should know before compiling, one sentence each: "2 buffers are written by `forward`: ...".
  std::vector<std::string> notes;
};

inline constexpr size_t kLargestTensors = 8;

/// "f32[64, 3]"; sizes come as text because they may be names.
std::string typeText(const std::string &elementType, std::span<const std::string> dims);
std::string typeText(const std::string &elementType, std::span<const int64_t> dims);

/// Counts a tensor in. Tied ones are counted once by who calls.
void addTensor(ModelSummary::TensorGroup &group, const std::string &name, const std::string &elementType, std::span<const int64_t> dims,
               uint64_t bytes);

} // namespace stator::compiler

#endif // STATOR_COMPILER_IMPORT_MODELSUMMARY_H
