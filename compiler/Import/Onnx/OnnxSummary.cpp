//===- OnnxSummary.cpp - what is in an ONNX file ---------------------------===//
//
// Weights are initializers or, as some exporters write them, Constant nodes;
// both count, in subgraphs and functions too. So does every node, under the
// name that the importer reports it by.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/OnnxSummary.h"
#include "compiler/Import/Onnx/OnnxImport.h"
#include "compiler/Import/Onnx/OnnxModel.h"
#include "compiler/Import/Onnx/OpContext.h"
#include "serialization/Base/MappedFile.h"

#include <algorithm>
#include <set>

namespace stator::onnx {

namespace {

class Summariser {
public:
  Summariser(const Model &model, compiler::ModelSummary &summary) : model(model), summary(summary) {
    for (const Function &function : model.functions)
      functions.insert({normalised(function.domain), function.name});
  }

  void run();

private:
  static std::string_view normalised(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }
  void addNodes(const std::vector<Node> &nodes);
  void addGraph(const Graph &graph);
  void addWeight(const Tensor &tensor, std::string_view name);
  compiler::ModelSummary::Value describe(const ValueInfo &value, bool isInput);

  const Model &model;
  compiler::ModelSummary &summary;
  std::set<std::pair<std::string_view, std::string_view>> functions;
  std::map<std::string, compiler::ModelSummary::Operator> operators;
};

} // namespace

/// Bits of one element; 0 when an element has no fixed size.
static unsigned bitsOf(int32_t dataType) {
  switch (dataType) {
  case 2:
  case 3:
  case 9:
  case 17:
  case 18:
  case 19:
  case 20:
  case 24:
    return 8;
  case 4:
  case 5:
  case 10:
  case 16:
    return 16;
  case 1:
  case 6:
  case 12:
    return 32;
  case 7:
  case 11:
  case 13:
  case 14:
    return 64;
  case 15:
    return 128;
  case 21:
  case 22:
  case 23:
    return 4;
  case 25:
  case 26:
    return 2;
  }
  return 0;
}

/// "f32" where Stator has the type, else ONNX's name.
static std::string typeName(int32_t dataType) {
  Result<ElementType> type = elementTypeOf(dataType);
  return type.ok() ? name(*type) : nameOf(dataType);
}

void Summariser::addWeight(const Tensor &tensor, std::string_view name) {
  // A file may say anything here; what overflows is no size.
  uint64_t count = 1;
  for (int64_t dim : tensor.dims)
    if (dim < 0 || __builtin_mul_overflow(count, uint64_t(dim), &count))
      count = 0;
  uint64_t bits = 0;
  if (__builtin_mul_overflow(count, uint64_t(bitsOf(tensor.dataType)), &bits))
    bits = 0;
  compiler::addTensor(summary.parameters, std::string(name), typeName(tensor.dataType), tensor.dims, (bits + 7) / 8);
}

void Summariser::addNodes(const std::vector<Node> &nodes) {
  for (const Node &node : nodes) {
    std::string_view domain = normalised(node.domain);
    std::string op = domain.empty() ? std::string(node.opType) : std::string(domain) + "." + std::string(node.opType);
    compiler::ModelSummary::Operator &entry = operators[op];
    entry.name = op;
    ++entry.count;
    entry.isSupported = functions.count({domain, node.opType}) || findOpHandler(node.domain, node.opType);
    bool isConstant = domain.empty() && node.opType == "Constant" && !node.outputs.empty();
    for (const Attribute &attribute : node.attributes) {
      if (attribute.tensor && isConstant)
        addWeight(*attribute.tensor, node.outputs.front());
      if (attribute.graph)
        addGraph(*attribute.graph);
    }
  }
}

void Summariser::addGraph(const Graph &graph) {
  for (const Tensor &tensor : graph.initializers)
    addWeight(tensor, tensor.name);
  addNodes(graph.nodes);
}

compiler::ModelSummary::Value Summariser::describe(const ValueInfo &value, bool isInput) {
  compiler::ModelSummary::Value described;
  described.name = std::string(value.name);
  if (value.kind != "tensor") {
    described.type = value.kind.empty() ? "unknown" : std::string(value.kind);
    return described;
  }
  std::string type = typeName(value.elementType);
  described.needsShape = isInput && !value.hasShape;
  if (!value.hasShape) {
    described.type = type + " of unknown rank";
    return described;
  }
  std::vector<std::string> dims;
  for (const Dimension &dim : value.shape) {
    if (dim.value && *dim.value >= 0)
      dims.push_back(std::to_string(*dim.value));
    else
      dims.push_back(dim.parameter.empty() ? "?" : std::string(dim.parameter));
  }
  described.type = compiler::typeText(type, dims);
  return described;
}

void Summariser::run() {
  summary.kind = "ONNX";
  summary.version = "IR " + std::to_string(model.irVersion);
  for (const OperatorSet &set : model.operatorSets) {
    std::string_view domain = normalised(set.domain);
    summary.version += ", " + (domain.empty() ? "" : std::string(domain) + " ") + "opset " + std::to_string(set.version);
    if (domain.empty() && (set.version < minimumOpset || set.version > maximumOpset))
      summary.notes.push_back("opset " + std::to_string(set.version) + " is not supported, expected " + std::to_string(minimumOpset) +
                              " to " + std::to_string(maximumOpset));
  }
  summary.producer = std::string(model.producerName);
  if (!model.producerVersion.empty())
    summary.producer += " " + std::string(model.producerVersion);

  compiler::ModelSummary::Method method;
  method.name = "forward";
  std::set<std::string_view> withDefault;
  for (const Tensor &tensor : model.graph.initializers)
    withDefault.insert(tensor.name);
  for (const ValueInfo &input : model.graph.inputs)
    if (!withDefault.count(input.name)) // Its value is a default: no input to us.
      method.inputs.push_back(describe(input, /*isInput=*/true));
  for (const ValueInfo &output : model.graph.outputs)
    method.outputs.push_back(describe(output, /*isInput=*/false));
  summary.methods.push_back(std::move(method));

  addGraph(model.graph);
  for (const Function &function : model.functions)
    addNodes(function.nodes);
  for (auto &entry : operators)
    summary.operators.push_back(std::move(entry.second));
  size_t external =
      std::count_if(model.graph.initializers.begin(), model.graph.initializers.end(), [](const Tensor &t) { return t.isExternal; });
  if (external)
    summary.notes.push_back(std::to_string(external) + (external == 1 ? " weight is" : " weights are") +
                            " in other files beside the model");
}

Result<compiler::ModelSummary> summariseOnnx(const std::string &path) {
  STATOR_TRY(file, MappedFile::open(path));
  Result<Model> model = parseModel(file->bytes());
  if (!model.ok())
    return model.status().withContext(path);
  compiler::ModelSummary summary;
  Summariser(*model, summary).run();
  return summary;
}

} // namespace stator::onnx
