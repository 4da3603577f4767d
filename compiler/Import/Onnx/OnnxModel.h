//===- OnnxModel.h - an ONNX file as views into its bytes ------------------===//
//
// The structs mirror onnx.proto as far as an importer needs it. Strings and raw
// data are views into the mapped file, so a model of many gigabytes costs only
// its node list. The field numbers come from the ONNX specification
// (onnx/onnx.proto, IR versions 3 to 13).
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_ONNXMODEL_H
#define STATOR_COMPILER_IMPORT_ONNX_ONNXMODEL_H

#include "stator/ElementType.h"
#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator::onnx {

/// TensorProto.DataType, the ones with a name of their own here.
enum class DataType : int32_t {
  Undefined = 0, Float = 1, Uint8 = 2, Int8 = 3, Uint16 = 4, Int16 = 5, Int32 = 6, Int64 = 7, String = 8, Bool = 9, Float16 = 10,
  Double = 11, Uint32 = 12, Uint64 = 13, Complex64 = 14, Complex128 = 15, BFloat16 = 16
};

/// "float16", "uint64", ...; "data type 99" for an unknown number.
std::string nameOf(int32_t dataType);
/// The element type of a tensor, or Unsupported with the type's name.
Result<ElementType> elementTypeOf(int32_t dataType);

struct Tensor {
  std::string_view name;
  int32_t dataType = 0;
  std::vector<int64_t> dims;
  std::optional<std::span<const std::byte>> rawData;
  std::vector<float> floatData;
  std::vector<int32_t> int32Data;
  std::vector<int64_t> int64Data;
  std::vector<double> doubleData;
  std::vector<uint64_t> uint64Data;
  bool hasStrings = false;
  bool isExternal = false;
  std::vector<std::pair<std::string_view, std::string_view>> externalData;
};

struct Graph;

enum class AttributeType { Undefined = 0, Float = 1, Int = 2, String = 3, Tensor = 4, Graph = 5, Floats = 6, Ints = 7, Strings = 8,
                           Tensors = 9, Graphs = 10, SparseTensor = 11, SparseTensors = 12, TypeProto = 13, TypeProtos = 14 };

struct Attribute {
  std::string_view name;
  AttributeType type = AttributeType::Undefined;
  /// Inside a function body: the attribute of the calling node that gives the value.
  std::string_view reference;
  float floatValue = 0;
  int64_t intValue = 0;
  std::string_view stringValue;
  std::optional<Tensor> tensor;
  std::shared_ptr<Graph> graph;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct Node {
  std::string_view name, opType, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;

  const Attribute *find(std::string_view attribute) const;
};

/// One size: a number, a name, or unknown.
struct Dimension {
  std::optional<int64_t> value;
  std::string_view parameter;
};

struct ValueInfo {
  std::string_view name;
  /// "tensor", "sequence", "optional", "map", "sparse tensor" or empty.
  std::string_view kind;
  int32_t elementType = 0;
  bool hasShape = false;
  std::vector<Dimension> shape;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<std::string_view> sparseInitializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct OperatorSet {
  std::string_view domain;
  int64_t version = 0;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Attribute> attributeDefaults;
  std::vector<Node> nodes;
  std::vector<OperatorSet> operatorSets;
};

struct Model {
  int64_t irVersion = 0;
  std::string_view producerName, producerVersion;
  std::vector<OperatorSet> operatorSets;
  std::vector<Function> functions;
  Graph graph;
};

/// Parses a whole file. Views point into `bytes`. Fails with InvalidFile on anything that is not a well-formed message, on nesting beyond
/// 64 graphs or 256 messages, and when the file has no graph.
Result<Model> parseModel(std::span<const std::byte> bytes);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_ONNXMODEL_H
