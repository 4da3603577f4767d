//===- GraphImporter.cpp - walking the nodes of graphs and functions -------===//
//
// Nodes come in topological order; each is looked up by domain and name, first
// among the model's own functions, which may replace a standard op, then among
// the handlers. A node without a counterpart is noted, its outputs become
// unknown, and the walk goes on, so that one run reports everything.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/GraphImporter.h"

#include <algorithm>

namespace stator::onnx {

/// Functions may call functions; real files do so three or four levels deep.
static constexpr size_t maxFunctionDepth = 64;

static std::string_view normalised(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

static std::string qualified(const Node &node) {
  std::string_view domain = normalised(node.domain);
  return domain.empty() ? std::string(node.opType) : std::string(domain) + "." + std::string(node.opType);
}

/// What a person calls the node: its name, else its first output.
static std::string titleOf(const Node &node) {
  std::string title(node.name);
  if (title.empty())
    for (std::string_view output : node.outputs)
      if (title.empty())
        title = output;
  return title + " (" + qualified(node) + ")";
}

static std::string describe(const trace::Tensor &tensor) {
  std::string text = std::string(name(tensor.type())) + "[";
  for (size_t i = 0; i < tensor.dims().size(); ++i)
    text += (i ? ", " : "") + tensor.dims()[i].str();
  return text + "]";
}

GraphImporter::GraphImporter(trace::Builder &builder, const Model &model, TensorLoader &loader, compiler::ImportedModel &result)
    : traceBuilder(builder), model(model), loader(loader), result(result) {
  for (const OperatorSet &set : model.operatorSets)
    mainOpsets[normalised(set.domain)] = set.version;
  for (const Function &function : model.functions)
    functions[{normalised(function.domain), function.name, function.overload}] = &function;
}

void GraphImporter::checkOpsets() {
  auto found = mainOpsets.find("");
  if (found == mainOpsets.end()) {
    // Only a model made of its own functions can do without.
    if (functions.empty())
      traceBuilder.fail(StatusCode::InvalidFile, "the model does not say which opset it uses (no opset_import of the default domain)");
    return;
  }
  result.info.emplace_back("opset", std::to_string(found->second));
  if (found->second < minimumOpset || found->second > maximumOpset)
    traceBuilder.fail(StatusCode::Unsupported, "the model uses opset " + std::to_string(found->second) + ", expected " +
                                                   std::to_string(minimumOpset) + " to " + std::to_string(maximumOpset));
}

void GraphImporter::importMain(const compiler::ImportOptions &options) {
  checkOpsets();
  for (const compiler::SymbolSpec &symbol : options.symbols) {
    // A size that is fixed is a number everywhere, and the kernels are compiled for it.
    if (symbol.min == symbol.max)
      fixedSizes[symbol.name] = symbol.min;
    else
      traceBuilder.symbol(symbol.name, symbol.min, symbol.max);
  }
  if (!traceBuilder.ok())
    return;
  declareInitializers(model.graph, mainScope);
  declareInputs(options);
  traceBuilder.setLocation("");
  for (const compiler::SymbolSpec &symbol : options.symbols)
    if (!sizeNames.count(symbol.name))
      traceBuilder.fail(StatusCode::InvalidArgument, "no size of the inputs is named `" + symbol.name + "`");
  if (!traceBuilder.ok())
    return;
  insideNodes = true;
  importNodes(model.graph.nodes, {&mainScope, &mainOpsets, nullptr});
  std::map<std::string, unsigned> used;
  for (const ValueInfo &output : model.graph.outputs) {
    if (!traceBuilder.ok())
      return;
    traceBuilder.setLocation(std::string(output.name) + " (output)");
    trace::Tensor value;
    if (!lookUp(output.name, mainScope, value))
      continue;
    // A file may list a value twice; the second gets a name of its own.
    unsigned repeat = used[std::string(output.name)]++;
    traceBuilder.output(std::string(output.name) + (repeat ? "." + std::to_string(repeat) : ""), value);
  }
  if (model.graph.outputs.empty())
    traceBuilder.fail(StatusCode::InvalidFile, "the graph has no outputs");
  for (auto &[op, count] : operatorCounts)
    result.operators.emplace_back(op, count);
}

void GraphImporter::declareInitializers(const Graph &graph, Scope &scope) {
  for (const Tensor &tensor : graph.initializers) {
    if (tensor.name.empty())
      traceBuilder.fail(StatusCode::InvalidFile, "an initializer has no name");
    else if (!scope.pending.emplace(tensor.name, &tensor).second)
      traceBuilder.fail(StatusCode::InvalidFile, "two initializers are called `" + std::string(tensor.name) + "`");
  }
  if (!graph.sparseInitializers.empty())
    traceBuilder.fail(StatusCode::Unsupported, "initializer `" + std::string(graph.sparseInitializers.front()) + "` is sparse");
}

bool GraphImporter::lookUp(std::string_view name, Scope &scope, trace::Tensor &value) {
  for (Scope *current = &scope; current; current = current->outer) {
    auto found = current->values.find(name);
    if (found != current->values.end()) {
      value = found->second;
      return true;
    }
    auto pending = current->pending.find(name);
    if (pending != current->pending.end()) {
      value = current->values[name] = loader.load(*pending->second, name);
      return true;
    }
    if (current->unknown.count(name))
      return false;
  }
  traceBuilder.fail(StatusCode::InvalidFile, "value `" + std::string(name) + "` is used but nothing before produces it");
  return false;
}

std::vector<trace::Tensor> GraphImporter::collectInputs(const Node &node, Scope &scope, bool &known) {
  std::vector<trace::Tensor> inputs;
  for (std::string_view name : node.inputs) {
    trace::Tensor value;
    if (!name.empty() && !lookUp(name, scope, value))
      known = false;
    inputs.push_back(value);
  }
  return inputs;
}

void GraphImporter::define(const Node &node, Scope &scope, const std::vector<trace::Tensor> &values) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    std::string_view name = node.outputs[i];
    if (name.empty())
      continue;
    if (scope.values.count(name) || scope.pending.count(name)) {
      traceBuilder.fail(StatusCode::InvalidFile, "value `" + std::string(name) + "` is produced twice");
      return;
    }
    if (i < values.size() && values[i])
      scope.values[name] = values[i];
    else
      scope.unknown.insert(name);
  }
}

void GraphImporter::reportUnsupported(const Node &node, int64_t opset, const std::vector<trace::Tensor> &inputs, const std::string &reason) {
  std::string operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands += (i ? ", " : "") + (inputs[i] ? describe(inputs[i]) : node.inputs[i].empty() ? std::string("(none)") : std::string("?"));
  // The node's title has its operator.
  result.unsupported.push_back({"node `" + titleOf(node) + "`, opset " + std::to_string(opset),
                                reason + (operands.empty() ? "" : "; operands " + operands)});
}

void GraphImporter::importNodes(const std::vector<Node> &nodes, const Frame &frame) {
  frames.push_back(frame);
  for (const Node &node : nodes) {
    if (!traceBuilder.ok())
      break;
    importNode(node, frame);
  }
  frames.pop_back();
}

void GraphImporter::importNode(const Node &node, const Frame &frame) {
  traceBuilder.setLocation(titleOf(node));
  ++operatorCounts[qualified(node)];
  std::string_view domain = normalised(node.domain);
  auto opset = frame.opsets->find(domain);
  int64_t version = opset == frame.opsets->end() ? 0 : opset->second;

  bool known = true;
  std::vector<trace::Tensor> inputs = collectInputs(node, *frame.scope, known);
  if (!traceBuilder.ok())
    return;

  auto function = functions.find({domain, node.opType, node.overload});
  OpHandler handler = function == functions.end() ? findOpHandler(node.domain, node.opType) : nullptr;
  if (function == functions.end() && !handler) {
    reportUnsupported(node, version, inputs, "no such op is supported");
    return define(node, *frame.scope, {});
  }
  // Its own support can be judged, what it computes cannot.
  if (!known)
    return define(node, *frame.scope, {});
  if (function != functions.end())
    return callFunction(*function->second, node, frame);
  if (version == 0) {
    traceBuilder.fail(StatusCode::InvalidFile, "uses the domain `" + std::string(node.domain) + "`, whose opset the model does not import");
    return;
  }
  OpContext context(*this, node, version, std::move(inputs), frame.attributes);
  handler(context);
  if (traceBuilder.ok())
    define(node, *frame.scope, context.outputs());
}

void GraphImporter::callFunction(const Function &function, const Node &node, const Frame &frame) {
  FunctionKey key{normalised(function.domain), function.name, function.overload};
  if (std::find(activeFunctions.begin(), activeFunctions.end(), key) != activeFunctions.end() || activeFunctions.size() >= maxFunctionDepth) {
    traceBuilder.fail(StatusCode::InvalidFile, "function `" + std::string(function.name) + "` calls itself");
    return;
  }
  Scope body;
  for (size_t i = 0; i < function.inputs.size() && i < node.inputs.size(); ++i)
    if (!node.inputs[i].empty() && !lookUp(node.inputs[i], *frame.scope, body.values[function.inputs[i]]))
      return;
  // Attributes: what the caller gives, else the function's defaults. A caller inside a function may pass on a reference.
  AttributeScope attributes;
  for (const Attribute &attribute : function.attributeDefaults)
    attributes[attribute.name] = &attribute;
  for (const Attribute &attribute : node.attributes) {
    if (attribute.reference.empty())
      attributes[attribute.name] = &attribute;
    else if (frame.attributes && frame.attributes->count(attribute.reference))
      attributes[attribute.name] = frame.attributes->at(attribute.reference);
  }
  std::map<std::string_view, int64_t> opsets;
  for (const OperatorSet &set : function.operatorSets)
    opsets[normalised(set.domain)] = set.version;

  activeFunctions.push_back(key);
  importNodes(function.nodes, {&body, &opsets, &attributes});
  activeFunctions.pop_back();
  std::vector<trace::Tensor> outputs;
  for (size_t i = 0; i < function.outputs.size() && i < node.outputs.size() && traceBuilder.ok(); ++i) {
    trace::Tensor value;
    lookUp(function.outputs[i], body, value);
    outputs.push_back(value);
  }
  if (traceBuilder.ok())
    define(node, *frame.scope, outputs);
}

trace::Tensors GraphImporter::importSubgraph(const Graph &graph, const trace::Tensors &arguments) {
  Frame outer = frames.back();
  Scope scope;
  scope.outer = outer.scope;
  if (graph.inputs.size() != arguments.size())
    traceBuilder.fail(StatusCode::InvalidFile, "its subgraph `" + std::string(graph.name) + "` takes " + std::to_string(graph.inputs.size()) +
                                                   " inputs, expected " + std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size() && i < graph.inputs.size(); ++i)
    scope.values[graph.inputs[i].name] = arguments[i];
  declareInitializers(graph, scope);
  std::string location = traceBuilder.location();
  importNodes(graph.nodes, {&scope, outer.opsets, outer.attributes});
  trace::Tensors outputs;
  for (const ValueInfo &output : graph.outputs) {
    trace::Tensor value;
    if (traceBuilder.ok() && !lookUp(output.name, scope, value) && traceBuilder.ok())
      traceBuilder.fail(StatusCode::Unsupported, "subgraph output `" + std::string(output.name) + "` depends on an op that is not supported");
    outputs.push_back(value);
  }
  if (traceBuilder.ok())
    traceBuilder.setLocation(location);
  return outputs;
}

} // namespace stator::onnx
