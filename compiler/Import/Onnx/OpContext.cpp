//===- OpContext.cpp - one ONNX node as its handler sees it ----------------===//

#include "compiler/Import/Onnx/OpContext.h"
#include "compiler/Import/Onnx/GraphImporter.h"

#include <algorithm>

namespace stator::onnx {

namespace {

/// An attribute that became an input: before opset `since`, input `index` of `op` is attribute `attribute`.
struct MovedAttribute {
  std::string_view op, attribute;
  size_t index;
  int64_t since;
};

constexpr MovedAttribute movedAttributes[] = {
    {"Clip", "min", 1, 11},          {"Clip", "max", 2, 11},           {"Pad", "pads", 1, 11},           {"Pad", "value", 2, 11},
    {"Squeeze", "axes", 1, 13},      {"Unsqueeze", "axes", 1, 13},     {"Split", "split", 1, 13},        {"Slice", "starts", 1, 10},
    {"Slice", "ends", 2, 10},        {"Slice", "axes", 3, 10},         {"TopK", "k", 1, 10},             {"Upsample", "scales", 1, 9},
    {"ReduceSum", "axes", 1, 13},    {"ReduceL1", "axes", 1, 18},      {"ReduceL2", "axes", 1, 18},      {"ReduceLogSum", "axes", 1, 18},
    {"ReduceMax", "axes", 1, 18},    {"ReduceMean", "axes", 1, 18},    {"ReduceMin", "axes", 1, 18},     {"ReduceProd", "axes", 1, 18},
    {"ReduceLogSumExp", "axes", 1, 18}, {"ReduceSumSquare", "axes", 1, 18}, {"Dropout", "ratio", 1, 12},
};

} // namespace

OpContext::OpContext(GraphImporter &importer, const Node &node, int64_t opset, std::vector<trace::Tensor> inputs,
                     const AttributeScope *callerAttributes)
    : graphImporter(importer), protoNode(node), opsetVersion(opset), inputs(std::move(inputs)), results(node.outputs.size()),
      callerAttributes(callerAttributes) {}

trace::Builder &OpContext::builder() { return graphImporter.builder(); }

trace::Tensor OpContext::movedAttribute(size_t index) {
  for (const MovedAttribute &moved : movedAttributes) {
    if (moved.op != protoNode.opType || moved.index != index || opsetVersion >= moved.since)
      continue;
    const Attribute *attribute = find(moved.attribute);
    if (!attribute)
      return {};
    switch (attribute->type) {
    case AttributeType::Ints: return builder().vector(attribute->ints);
    case AttributeType::Int: return builder().vector(trace::Ints{attribute->intValue});
    case AttributeType::Floats: return builder().vector(attribute->floats);
    // A float attribute stands for a scalar of the first input's type.
    case AttributeType::Float: return trace::fn::scalarLike(input(0), attribute->floatValue);
    default: fail("attribute `" + std::string(moved.attribute) + "` has the wrong type"); return {};
    }
  }
  return {};
}

trace::Tensor OpContext::optional(size_t index) {
  if (index < inputs.size() && inputs[index])
    return inputs[index];
  return movedAttribute(index);
}

trace::Tensor OpContext::input(size_t index) {
  trace::Tensor value = index < inputs.size() && inputs[index] ? inputs[index] : movedAttribute(index);
  if (!value)
    fail("input " + std::to_string(index) + " is missing");
  return value;
}

const Attribute *OpContext::find(std::string_view name) {
  const Attribute *attribute = protoNode.find(name);
  if (!attribute || attribute->reference.empty())
    return attribute;
  if (!callerAttributes)
    return nullptr;
  auto found = callerAttributes->find(attribute->reference);
  return found == callerAttributes->end() ? nullptr : found->second;
}

const Attribute *OpContext::typed(std::string_view name, AttributeType type, std::string_view typeName) {
  const Attribute *attribute = find(name);
  if (!attribute)
    return nullptr;
  // Files of IR versions before 2 leave the type out; the field that is set tells then.
  if (attribute->type == type || attribute->type == AttributeType::Undefined)
    return attribute;
  fail("attribute `" + std::string(name) + "` is not " + std::string(typeName));
  return nullptr;
}

int64_t OpContext::integer(std::string_view name, int64_t defaultValue) {
  const Attribute *attribute = typed(name, AttributeType::Int, "an integer");
  return attribute ? attribute->intValue : defaultValue;
}

double OpContext::number(std::string_view name, double defaultValue) {
  const Attribute *attribute = typed(name, AttributeType::Float, "a number");
  return attribute ? attribute->floatValue : defaultValue;
}

std::string_view OpContext::text(std::string_view name, std::string_view defaultValue) {
  const Attribute *attribute = typed(name, AttributeType::String, "a string");
  return attribute ? attribute->stringValue : defaultValue;
}

std::optional<trace::Ints> OpContext::integers(std::string_view name) {
  const Attribute *attribute = typed(name, AttributeType::Ints, "a list of integers");
  return attribute ? std::optional(attribute->ints) : std::nullopt;
}

std::optional<std::vector<float>> OpContext::numbers(std::string_view name) {
  const Attribute *attribute = typed(name, AttributeType::Floats, "a list of numbers");
  return attribute ? std::optional(attribute->floats) : std::nullopt;
}

std::optional<std::vector<std::string_view>> OpContext::texts(std::string_view name) {
  const Attribute *attribute = typed(name, AttributeType::Strings, "a list of strings");
  return attribute ? std::optional(attribute->strings) : std::nullopt;
}

const Graph *OpContext::graph(std::string_view name) {
  const Attribute *attribute = typed(name, AttributeType::Graph, "a graph");
  if (!attribute || !attribute->graph)
    fail("attribute `" + std::string(name) + "` is missing, expected a graph");
  return attribute ? attribute->graph.get() : nullptr;
}

const Tensor *OpContext::tensor(std::string_view name) {
  const Attribute *attribute = typed(name, AttributeType::Tensor, "a tensor");
  return attribute && attribute->tensor ? &*attribute->tensor : nullptr;
}

void OpContext::output(trace::Tensor value, size_t index) {
  if (index < results.size())
    results[index] = value;
}

void OpContext::fail(std::string_view message) { builder().fail(StatusCode::InvalidFile, message); }

void OpContext::unsupported(std::string_view message) { builder().fail(StatusCode::Unsupported, message); }

using Handlers = std::map<std::string_view, OpHandler>;

static const Handlers &standardHandlers() {
  static const Handlers handlers = [] {
    Handlers all;
    for (auto family : {elementwiseOps(), activationOps(), shapeOps(), indexingOps(), windowOps(), reductionOps(), normalisationOps(),
                        recurrentOps(), controlFlowOps(), attentionOps(), lossOps(), sampleOps(), quantisedOps()})
      for (const OpEntry &entry : family)
        all.emplace(entry.name, entry.handler);
    return all;
  }();
  return handlers;
}

static const Handlers &microsoftHandlers() {
  static const Handlers handlers = [] {
    Handlers all;
    for (const OpEntry &entry : microsoftOps())
      all.emplace(entry.name, entry.handler);
    return all;
  }();
  return handlers;
}

OpHandler findOpHandler(std::string_view domain, std::string_view opType) {
  bool isStandard = domain.empty() || domain == "ai.onnx";
  if (!isStandard && domain != "com.microsoft")
    return nullptr;
  const Handlers &handlers = isStandard ? standardHandlers() : microsoftHandlers();
  auto found = handlers.find(opType);
  return found == handlers.end() ? nullptr : found->second;
}

std::vector<std::string> allOperators() {
  std::vector<std::string> names;
  for (const auto &entry : standardHandlers())
    names.emplace_back(entry.first);
  for (const auto &entry : microsoftHandlers())
    names.push_back("com.microsoft." + std::string(entry.first));
  return names;
}

std::optional<ElementType> elementTypeAttribute(OpContext &op, std::string_view name) {
  if (!op.has(name))
    return std::nullopt;
  Result<ElementType> type = elementTypeOf(int32_t(op.integer(name, 0)));
  if (!type.ok()) {
    op.builder().fail(type.status().code(), "attribute `" + std::string(name) + "`: " + type.status().message());
    return ElementType::F32;
  }
  return *type;
}

WindowAttributes windowAttributes(OpContext &op) {
  WindowAttributes window;
  window.kernel = op.integers("kernel_shape").value_or(trace::Ints());
  window.strides = op.integers("strides").value_or(trace::Ints());
  window.dilations = op.integers("dilations").value_or(trace::Ints());
  trace::Ints pads = op.integers("pads").value_or(trace::Ints());
  if (pads.size() % 2)
    op.fail("attribute `pads` has " + std::to_string(pads.size()) + " entries, expected two per spatial axis");
  window.padLow.assign(pads.begin(), pads.begin() + pads.size() / 2);
  window.padHigh.assign(pads.begin() + pads.size() / 2, pads.begin() + pads.size() / 2 * 2);
  std::string_view autoPad = op.text("auto_pad", "NOTSET");
  using trace::fn::AutoPad;
  if (autoPad == "NOTSET" || autoPad.empty())
    window.autoPad = AutoPad::Explicit;
  else if (autoPad == "VALID")
    window.autoPad = AutoPad::Valid;
  else if (autoPad == "SAME_UPPER")
    window.autoPad = AutoPad::SameUpper;
  else if (autoPad == "SAME_LOWER")
    window.autoPad = AutoPad::SameLower;
  else
    op.fail("attribute `auto_pad` is `" + std::string(autoPad) + "`, expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return window;
}

} // namespace stator::onnx
