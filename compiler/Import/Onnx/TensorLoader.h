//===- TensorLoader.h - from TensorProto to tensors of the graph -----------===//
//
// Raw and external data stay where they are: the parameter refers to the mapped
// file. Typed fields are decoded. Every size is checked before a byte is read.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_TENSORLOADER_H
#define STATOR_COMPILER_IMPORT_ONNX_TENSORLOADER_H

#include "compiler/Import/Onnx/OnnxModel.h"
#include "serialization/Base/MappedFile.h"
#include "stator/Trace.h"

#include <map>

namespace stator::onnx {

class TensorLoader {
public:
  /// `modelFile` is the mapped model, whose views the tensors hold.
  TensorLoader(trace::Builder &builder, std::shared_ptr<MappedFile> modelFile, std::string modelPath);

  /// The tensor as a constant or parameter called `name`. Errors go to the builder.
  trace::Tensor load(const Tensor &tensor, std::string_view name);

private:
  /// Where bytes lie: source number of the ParameterStore and offset in it.
  struct Place {
    int32_t source = 0;
    uint64_t offset = 0;
    std::span<const std::byte> bytes;
  };
  Result<Place> locate(const Tensor &tensor, uint64_t expectedBytes);
  Result<Place> locateExternal(const Tensor &tensor, uint64_t expectedBytes);
  Result<std::vector<char>> decode(const Tensor &tensor, ElementType type, uint64_t elements);
  Result<std::shared_ptr<MappedFile>> openExternal(const std::string &location);

  trace::Builder &builder;
  std::shared_ptr<MappedFile> modelFile;
  std::string modelPath;
  std::map<std::string, std::shared_ptr<MappedFile>> externalFiles;
};

/// The number of elements of `dims`, or why there is none (a negative size, an overflow).
Result<uint64_t> elementCount(const std::vector<int64_t> &dims);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_TENSORLOADER_H
