//===- OpContext.h - one ONNX node as its handler sees it ------------------===//
//
// A handler asks for inputs and attributes and sets outputs. Attributes that
// became inputs in later opsets are presented as inputs whatever the model's
// opset is (one table, in OpContext.cpp), so a handler knows only the newest
// form.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_OPCONTEXT_H
#define STATOR_COMPILER_IMPORT_ONNX_OPCONTEXT_H

#include "compiler/Import/Onnx/OnnxModel.h"
#include "stator/Trace.h"

#include <functional>

namespace stator::onnx {

class GraphImporter;

/// Attributes given by the call of a function, which its body refers to by name.
using AttributeScope = std::map<std::string_view, const Attribute *>;

class OpContext {
public:
  OpContext(GraphImporter &importer, const Node &node, int64_t opset, std::vector<trace::Tensor> inputs, const AttributeScope *callerAttributes);

  const Node &node() const { return protoNode; }
  int64_t opset() const { return opsetVersion; }
  trace::Builder &builder();
  GraphImporter &importer() { return graphImporter; }

  // Inputs in the newest form; absent when omitted.
  size_t numInputs() const { return inputs.size(); }
  trace::Tensor optional(size_t index);
  /// An error when omitted.
  trace::Tensor input(size_t index);
  const std::vector<trace::Tensor> &allInputs() const { return inputs; }

  // Attributes; the default when absent. A wrong type is an error.
  bool has(std::string_view name) { return find(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t defaultValue);
  double number(std::string_view name, double defaultValue);
  bool flag(std::string_view name, bool defaultValue = false) { return integer(name, defaultValue) != 0; }
  std::string_view text(std::string_view name, std::string_view defaultValue);
  std::optional<trace::Ints> integers(std::string_view name);
  std::optional<std::vector<float>> numbers(std::string_view name);
  std::optional<std::vector<std::string_view>> texts(std::string_view name);
  const Graph *graph(std::string_view name);
  const Tensor *tensor(std::string_view name);
  const Attribute *find(std::string_view name);

  // Outputs.
  size_t numOutputs() const { return protoNode.outputs.size(); }
  bool wantsOutput(size_t index) const { return index < protoNode.outputs.size() && !protoNode.outputs[index].empty(); }
  void output(trace::Tensor value, size_t index = 0);
  const std::vector<trace::Tensor> &outputs() const { return results; }

  // Errors, with the node's name in front.
  void fail(std::string_view message);
  void unsupported(std::string_view message);

private:
  trace::Tensor movedAttribute(size_t index);
  const Attribute *typed(std::string_view name, AttributeType type, std::string_view typeName);

  GraphImporter &graphImporter;
  const Node &protoNode;
  int64_t opsetVersion;
  std::vector<trace::Tensor> inputs, results;
  const AttributeScope *callerAttributes;
};

using OpHandler = void (*)(OpContext &);

/// The handler of an op of the default domain or of com.microsoft, or null.
OpHandler findOpHandler(std::string_view domain, std::string_view opType);
/// All of them, sorted: "Conv", then "com.microsoft.FusedConv"; for documentation.
std::vector<std::string> allOperators();

/// Names and handlers of one family; the families are joined by findOpHandler.
struct OpEntry {
  std::string_view name;
  OpHandler handler;
};
std::span<const OpEntry> elementwiseOps();
std::span<const OpEntry> activationOps();
std::span<const OpEntry> shapeOps();
std::span<const OpEntry> indexingOps();
std::span<const OpEntry> windowOps();
std::span<const OpEntry> reductionOps();
std::span<const OpEntry> normalisationOps();
std::span<const OpEntry> recurrentOps();
std::span<const OpEntry> controlFlowOps();
std::span<const OpEntry> attentionOps();
std::span<const OpEntry> lossOps();
std::span<const OpEntry> sampleOps();
std::span<const OpEntry> quantisedOps();
/// Of the domain com.microsoft: what ONNX Runtime's optimiser and exporters for it write.
std::span<const OpEntry> microsoftOps();

/// The element type of an attribute that holds a TensorProto.DataType.
std::optional<ElementType> elementTypeAttribute(OpContext &op, std::string_view name);

/// Conv and pool attributes: kernel_shape, strides, pads, dilations, auto_pad, ceil_mode.
struct WindowAttributes {
  trace::Ints kernel, strides, padLow, padHigh, dilations;
  trace::fn::AutoPad autoPad = trace::fn::AutoPad::Explicit;
};
WindowAttributes windowAttributes(OpContext &op);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_OPCONTEXT_H
