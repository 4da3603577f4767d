//===- ExportSummary.cpp - what is in a torch.export archive ---------------===//

#include "compiler/Import/Torch/Aten/Operators.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Export/ExportImport.h"
#include "compiler/Import/Torch/Export/Programs.h"
#include "compiler/Import/Torch/Export/SymbolicOps.h"

namespace stator::torch {

using namespace exported;
using compiler::ModelSummary;

static std::string typeName(int64_t scalarType) {
  std::optional<ElementType> type = elementTypeOf(scalarType);
  return type ? std::string(stator::name(*type)) : scalarTypeName(scalarType);
}

static std::string typeOf(const TensorMeta &meta) {
  std::vector<std::string> dims;
  for (const DimExpr &size : meta.sizes)
    dims.push_back(size.isValid() ? size.str() : "?");
  return compiler::typeText(typeName(meta.scalarType), dims);
}

/// "int", "float" of what is no tensor.
static std::string scalarText(const Argument &argument) {
  std::string_view tag = argument.tag;
  return tag == "as_sym_int" || tag == "as_int"       ? "int"
         : tag == "as_sym_float" || tag == "as_float" ? "float"
         : tag == "as_sym_bool" || tag == "as_bool"   ? "bool"
         : tag == "as_string"                         ? "str"
         : argument.kind == ArgumentKind::None        ? "None"
                                                      : std::string(tag);
}

static ModelSummary::Method methodOf(const ExportedMethod &method) {
  ModelSummary::Method result;
  result.name = method.name;
  size_t next = 0;
  for (size_t i = 0; i < method.program.inputs.size(); ++i) {
    const InputSpec &spec = method.program.inputs[i];
    ModelSummary::Value value;
    if (next < method.inputs.size() && method.inputs[next].position == i) {
      const UserInput &input = method.inputs[next++];
      value.name = input.name;
      value.type = input.meta ? typeOf(*input.meta) : scalarText(spec.argument);
    } else if (spec.kind == InputSpec::Kind::ConstantInput) {
      value.name = std::string(spec.name);
      value.type = scalarText(spec.argument);
      value.isConstant = true;
      value.value = spec.argument.kind == ArgumentKind::String  ? "\"" + spec.argument.text + "\""
                    : spec.argument.kind == ArgumentKind::Int   ? std::to_string(spec.argument.integer)
                    : spec.argument.kind == ArgumentKind::Bool  ? std::string(spec.argument.integer ? "True" : "False")
                    : spec.argument.kind == ArgumentKind::Float ? std::to_string(spec.argument.real)
                                                                : std::string("None");
    } else {
      continue;
    }
    result.inputs.push_back(std::move(value));
  }
  next = 0;
  for (const OutputSpec &spec : method.program.outputs) {
    ModelSummary::Value value;
    if (spec.kind == OutputSpec::Kind::UserOutput)
      value.name = method.outputNames[next++];
    else if (spec.kind == OutputSpec::Kind::LossOutput)
      value.name = "loss";
    else if (spec.kind == OutputSpec::Kind::GradientToParameter)
      value.name = "grads." + std::string(spec.target);
    else if (spec.kind == OutputSpec::Kind::UserInputMutation)
      value.name = std::string(spec.target) + ".after";
    else
      continue;
    auto meta = method.program.graph.tensors.find(spec.argument.text);
    value.type = meta != method.program.graph.tensors.end() ? typeOf(meta->second) : scalarText(spec.argument);
    result.outputs.push_back(std::move(value));
  }
  return result;
}

static bool isSupported(std::string_view name) {
  constexpr std::string_view aten = "aten.", higherOrder = "higher_order.";
  constexpr std::string_view graphs[] = {"cond",
                                         "while_loop",
                                         "scan",
                                         "map_impl",
                                         "map",
                                         "wrap_with_autocast",
                                         "wrap_with_set_grad_enabled",
                                         "wrap",
                                         "invoke_subgraph",
                                         "hints_wrapper",
                                         "wrap_activation_checkpoint",
                                         "tag_activation_checkpoint",
                                         "strict_mode"};
  if (findSymbolicOp(name))
    return true;
  if (name.starts_with(higherOrder))
    return std::find(std::begin(graphs), std::end(graphs), name.substr(higherOrder.size())) != std::end(graphs);
  std::string full(name);
  if (name.starts_with(aten))
    full = name.substr(aten.size());
  else if (size_t dot = full.find('.'); dot != std::string::npos)
    full.replace(dot, 1, "::");
  constexpr std::string_view facts[] = {"_assert_scalar", "_assert_async", "_assert_tensor_metadata", "sym_"};
  for (std::string_view fact : facts)
    if (full.starts_with(fact))
      return true;
  return findOperator(full) != nullptr;
}

Result<ModelSummary> summariseExport(const std::string &path) {
  Result<std::shared_ptr<Archive>> archive = Archive::open(path);
  if (!archive.ok())
    return archive.status().withContext(path);
  Result<std::vector<ExportedMethod>> methods = readPrograms(**archive, {});
  if (!methods.ok())
    return methods.status().withContext(path);
  ModelSummary summary;
  summary.kind = "torch.export";
  const Program &first = methods->front().program;
  summary.version = std::to_string(first.schemaMajor) + "." + std::to_string(first.schemaMinor);
  summary.producer = "PyTorch " + std::string(first.torchVersion);
  std::map<std::string, unsigned> counts;
  std::set<const void *> seen;
  for (ExportedMethod &method : *methods) {
    summary.methods.push_back(methodOf(method));
    countOperators(method.program.graph, counts);
    for (const Weights::Entry &entry : method.weights->entries()) {
      // Tied weights count once.
      Result<TensorPayload> payload =
          entry.isReadable ? method.weights->load(entry.name, entry.isConstant) : Result<TensorPayload>(unsupported("pickled"));
      uint64_t bytes = payload.ok() ? uint64_t(payload->elements) * byteSize(payload->type) : 0;
      if (payload.ok() && payload->storageId() && !seen.insert(payload->storageId()).second)
        continue;
      compiler::addTensor(entry.isParameter ? summary.parameters : summary.buffers, entry.name, typeName(entry.scalarType), entry.sizes,
                          bytes);
      if (!entry.isReadable)
        summary.notes.push_back("weight `" + entry.name + "` is a pickled Python object, which is not read");
    }
    bool isTraining =
        std::find(method.program.verifiers.begin(), method.program.verifiers.end(), "TRAINING") != method.program.verifiers.end();
    summary.notes.push_back("`" + method.name + "` is " +
                            (isTraining ? "as exported, before any decomposition" : "decomposed to functional operators"));
    for (const RangeConstraint &range : method.program.ranges)
      summary.notes.push_back("size `" + std::string(range.expression) + "` of `" + method.name + "` is " + std::to_string(range.min) +
                              ".." + (range.max ? std::to_string(*range.max) : std::string("unbounded")));
  }
  for (const auto &[name, count] : counts)
    summary.operators.push_back({name, count, isSupported(name)});
  return summary;
}

} // namespace stator::torch
