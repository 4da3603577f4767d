//===- GraphImporter.h - walking the nodes of graphs and functions ---------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_GRAPHIMPORTER_H
#define STATOR_COMPILER_IMPORT_ONNX_GRAPHIMPORTER_H

#include "compiler/Import/Onnx/OnnxImport.h"
#include "compiler/Import/Onnx/OpContext.h"
#include "compiler/Import/Onnx/TensorLoader.h"

#include <set>

namespace stator::onnx {

/// Names visible in one graph or function body. A subgraph also sees the scopes around it; a function body does not.
struct Scope {
  Scope *outer = nullptr;
  std::map<std::string_view, trace::Tensor> values;
  /// Initializers that nothing has asked for yet.
  std::map<std::string_view, const Tensor *> pending;
  /// Outputs of nodes that could not be imported, and of nodes that depend on them.
  std::set<std::string_view> unknown;
};

class GraphImporter {
public:
  GraphImporter(trace::Builder &builder, const Model &model, TensorLoader &loader, compiler::ImportedModel &result);

  trace::Builder &builder() { return traceBuilder; }
  TensorLoader &tensors() { return loader; }

  /// Imports the main graph: inputs, nodes, outputs.
  void importMain(const compiler::ImportOptions &options);

  /// Imports a subgraph of the node that is being imported; `arguments` stand for its inputs. Returns its outputs.
  trace::Tensors importSubgraph(const Graph &graph, const trace::Tensors &arguments);

  /// Whether nodes are being, or have been, imported: an error then is about the model, not about the options.
  bool isInsideNodes() const { return insideNodes; }

private:
  struct FunctionKey {
    std::string_view domain, name, overload;
    auto operator<=>(const FunctionKey &) const = default;
  };
  struct Frame {
    Scope *scope;
    const std::map<std::string_view, int64_t> *opsets;
    const AttributeScope *attributes;
  };

  void checkOpsets();
  void declareInputs(const compiler::ImportOptions &options);
  void declareInput(const ValueInfo &input, const compiler::InputSpec *spec);
  void declareConstants(const compiler::ImportOptions &options);
  trace::Tensor constantInput(const ValueInfo &input, const compiler::ConstantSpec &spec);
  const ValueInfo *findInput(const std::string &name);
  std::optional<ElementType> inputType(const ValueInfo &input);
  trace::Dim namedSize(const std::string &name);
  void renameSizes(const ValueInfo &input, const compiler::InputSpec &spec);
  trace::Dims inputDims(const ValueInfo &input, const compiler::InputSpec *spec);
  void importNodes(const std::vector<Node> &nodes, const Frame &frame);
  void importNode(const Node &node, const Frame &frame);
  void callFunction(const Function &function, const Node &node, const Frame &frame);
  /// False when `name` depends on a node that could not be imported.
  bool lookUp(std::string_view name, Scope &scope, trace::Tensor &value);
  void declareInitializers(const Graph &graph, Scope &scope);
  void define(const Node &node, Scope &scope, const std::vector<trace::Tensor> &values);
  void reportUnsupported(const Node &node, int64_t opset, const std::vector<trace::Tensor> &inputs, const std::string &reason);
  std::vector<trace::Tensor> collectInputs(const Node &node, Scope &scope, bool &known);

  trace::Builder &traceBuilder;
  const Model &model;
  TensorLoader &loader;
  compiler::ImportedModel &result;
  std::map<std::string_view, int64_t> mainOpsets;
  std::map<FunctionKey, const Function *> functions;
  std::vector<FunctionKey> activeFunctions;
  Scope mainScope;
  std::vector<Frame> frames;
  std::map<std::string, unsigned> operatorCounts;
  /// Names that sizes of inputs have.
  std::set<std::string> sizeNames;
  /// Those that the user gives a value.
  std::map<std::string, int64_t> fixedSizes;
  /// Named sizes of the model that the shape of an input replaces.
  std::map<std::string, trace::Dim> renamedSizes;
  bool insideNodes = false;
};

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_GRAPHIMPORTER_H
