//===- GraphImporter.cpp - walking the nodes of an exported graph ----------===//

#include "compiler/Import/Torch/Export/GraphImporter.h"
#include "compiler/Import/Torch/Aten/Operators.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Import/Torch/Export/SymbolicOps.h"
#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>

namespace stator::torch::exported {

static bool holdsPoison(const Value &value) {
  if (value.isPoison())
    return true;
  const Values *items = value.items();
  return items && std::any_of(items->begin(), items->end(), holdsPoison);
}

Values GraphImporter::run(const Graph &graph, const Values &arguments) {
  Scope scope{{}, graph};
  for (size_t i = 0; i < graph.inputs.size() && i < arguments.size(); ++i)
    if (graph.inputs[i].kind == ArgumentKind::Reference)
      scope.values[graph.inputs[i].text] = arguments[i];
  ++depth;
  for (const Node &node : graph.nodes) {
    if (!report.countNode())
      break;
    importNode(node, scope);
  }
  --depth;
  if (report.isFull())
    return Values(graph.outputs.size(), Value::poison());
  Values results;
  for (const Argument &output : graph.outputs) {
    Result<Value> value = valueOf(output, scope);
    if (!value.ok())
      report.add("output `" + shown(output.text) + "`", value.status());
    results.push_back(value.ok() ? *value : Value::poison());
  }
  return results;
}

Result<Value> GraphImporter::valueOf(const Argument &argument, Scope &scope) {
  switch (argument.kind) {
  case ArgumentKind::None:
    return Value::none();
  case ArgumentKind::Reference: {
    auto found = scope.values.find(argument.text);
    if (found == scope.values.end())
      return invalidFile("value `" + shown(argument.text) + "` is used but nothing before produces it");
    auto doubt = scope.doubtful.find(argument.text);
    if (doubt != scope.doubtful.end()) {
      raise(doubt->second);
      scope.doubtful.erase(doubt); // Once is enough.
    }
    return found->second;
  }
  case ArgumentKind::Int:
  case ArgumentKind::ScalarType:
  case ArgumentKind::MemoryFormat:
  case ArgumentKind::Layout:
    return Value::integer(argument.integer);
  case ArgumentKind::Float:
    return Value::real(argument.real);
  case ArgumentKind::Bool:
    return Value::boolean(argument.integer != 0);
  case ArgumentKind::String:
    return Value::string(argument.text);
  case ArgumentKind::Device:
    return Value(DeviceValue{argument.text});
  case ArgumentKind::List: {
    Values items;
    for (const Argument &item : argument.items) {
      STATOR_TRY(value, valueOf(item, scope));
      items.push_back(std::move(value));
    }
    return Value::list(std::move(items));
  }
  case ArgumentKind::Dict: {
    std::vector<std::pair<Value, Value>> items;
    for (size_t i = 0; i < argument.items.size(); ++i) {
      STATOR_TRY(value, valueOf(argument.items[i], scope));
      items.emplace_back(Value::string(std::string(argument.keys[i])), std::move(value));
    }
    return Value::dict(std::move(items));
  }
  case ArgumentKind::Graph:
    return invalidFile("a graph is given where a value is expected");
  case ArgumentKind::Unsupported:
    return unsupported("arguments of the kind `" + shown(argument.tag) + "` are not supported");
  }
  return Value::none();
}

void GraphImporter::importNode(const Node &node, Scope &scope) {
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  impl.setLocation(llvm::StringRef(node.title()));
  Result<Values> results = dispatch(node, scope);
  // What was computed here without the table leaves its error in the builder.
  Status status = impl.ok() ? results.status() : impl.takeError();
  impl.setLocation(llvm::StringRef(node.title()));
  if (status.ok())
    return define(node, *results, scope);
  report.add(node, status);
  define(node, {Value::poison()}, scope);
}

Status GraphImporter::unknownTarget(std::string_view target) const {
  if (target.starts_with("torch._functorch."))
    return unsupported("is a part of torch.vmap that an export leaves as it is; call run_decompositions() on the exported program before "
                       "saving it");
  bool isTraining = std::find(program.verifiers.begin(), program.verifiers.end(), "TRAINING") != program.verifiers.end();
  return unsupported(std::string("no such operator is supported") +
                     (isTraining && target.starts_with("torch.ops.aten.")
                          ? "; run_decompositions() on the exported program before saving it may replace it by others"
                          : ""));
}

Result<Values> GraphImporter::dispatch(const Node &node, Scope &scope) {
  std::string_view target = node.target;
  constexpr std::string_view ops = "torch.ops.", higherOrder = "torch.ops.higher_order.", aten = "torch.ops.aten.";
  if (target.starts_with(higherOrder))
    return callHigherOrder(node, target.substr(higherOrder.size()), scope);
  if (target.starts_with(aten))
    return callAten(node, target.substr(aten.size()), scope);
  if (target.starts_with(ops)) {
    // "quantized_decomposed.quantize_per_tensor.default": the first part is a namespace.
    std::string name(target.substr(ops.size()));
    size_t dot = name.find('.');
    if (dot != std::string::npos)
      name.replace(dot, 1, "::");
    return callAten(node, name, scope);
  }
  SymbolicOp op = findSymbolicOp(target);
  if (!op)
    return unknownTarget(target);
  Values arguments;
  for (const NamedArgument &input : node.inputs) {
    STATOR_TRY(value, valueOf(input.value, scope));
    if (value.isPoison())
      return Values{Value::poison()};
    arguments.push_back(std::move(value));
  }
  STATOR_TRY(result, op(context, arguments));
  return Values{std::move(result)};
}

/// Operators on sizes and checks, which are no computation on tensors. Nothing: not one of them.
static std::optional<Result<Value>> metaOperator(Context &context, std::string_view name, const Values &arguments) {
  std::string_view base = name.substr(0, name.find('.'));
  // Facts that the exporter relied on. Sizes are checked when the model runs; the others hold for every input for which it is defined.
  if (base == "_assert_scalar" || base == "_assert_async" || base == "_assert_tensor_metadata" || base == "sym_constrain_range" ||
      base == "sym_constrain_range_for_size")
    return Result<Value>(Value::none());
  bool isSize = base == "sym_size", isStride = base == "sym_stride";
  if (!isSize && !isStride && base != "sym_numel" && base != "sym_storage_offset")
    return std::nullopt;
  if (arguments.empty() || !arguments[0].isTensor())
    return Result<Value>(invalidFile("the first argument is no tensor"));
  const TensorRef &tensor = arguments[0].asTensor();
  trace::Dims dims = context.dims(tensor);
  if (base == "sym_numel") {
    trace::Dim count = 1;
    for (const trace::Dim &dim : dims)
      count = count * dim;
    return Result<Value>(Value::integer(count));
  }
  if (base == "sym_storage_offset")
    return Result<Value>(Value::integer(tensor->offset()));
  const trace::Dims &list = isSize ? dims : context.strides(tensor);
  if (arguments.size() < 2) {
    Values items;
    for (const trace::Dim &dim : list)
      items.push_back(Value::integer(dim));
    return Result<Value>(Value::list(std::move(items)));
  }
  std::optional<int64_t> axis = arguments[1].knownInt();
  int64_t rank = int64_t(list.size());
  if (!axis || *axis < -rank || *axis >= rank)
    return Result<Value>(invalidFile("an axis is " + (axis ? std::to_string(*axis) : std::string("no number")) + ", the tensor has rank " +
                                     std::to_string(rank)));
  return Result<Value>(Value::integer(list[size_t(*axis < 0 ? *axis + rank : *axis)]));
}

Result<Values> GraphImporter::callAten(const Node &node, std::string_view fullName, Scope &scope) {
  Values positional;
  std::vector<KeywordArgument> keywords;
  Values all;
  bool poisoned = false;
  for (const NamedArgument &input : node.inputs) {
    Result<Value> value = valueOf(input.value, scope);
    if (!value.ok())
      return value.status().withContext("argument `" + shown(input.name) + "`");
    poisoned |= holdsPoison(*value);
    all.push_back(*value);
  }
  if (!poisoned)
    if (std::optional<Result<Value>> meta = metaOperator(context, fullName, all)) {
      if (!meta->ok())
        return meta->status();
      return Values{**meta};
    }
  const Operator *op = findOperator(fullName);
  // What a refused weight or node leads to is no other problem where the operator only unwraps it or states facts about it.
  bool isFollower = fullName.starts_with("_assert") || fullName.starts_with("sym_") || fullName.starts_with("export::");
  if (!op && !(poisoned && isFollower))
    return unknownTarget(node.target);
  // Its own support can be judged, what it computes cannot.
  if (poisoned)
    return Values{Value::poison()};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    std::string_view name = node.inputs[i].name;
    // Parameters have been renamed in the course of time; then the position counts.
    if (name.empty() || !op->schema.find(name)) {
      if (positional.size() == i)
        positional.push_back(all[i]);
      else if (i < op->schema.parameters.size())
        keywords.push_back({op->schema.parameters[i].name, all[i]});
    } else {
      keywords.push_back({std::string(name), all[i]});
    }
  }
  Result<Values> bound = bindArguments(op->schema, positional, keywords, Conversions::None);
  if (!bound.ok())
    bound = bindArguments(op->schema, positional, keywords, Conversions::Allowed);
  if (!bound.ok())
    return bound.status();
  STATOR_TRY(result, callOperator(context, *op, std::move(*bound)));
  if (result.isPoison() || node.outputs.size() == 1)
    return Values{std::move(result)};
  return result.items() ? *result.items() : Values{std::move(result)};
}

/// What a tensor is, for messages: "f32[2, N]".
static std::string describe(const std::string &type, const std::vector<std::string> &sizes) {
  std::string text = type + "[";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + sizes[i];
  return text + "]";
}

std::optional<GraphImporter::Doubt> GraphImporter::compare(const Node &node, const TensorMeta &meta, const TensorRef &tensor) {
  trace::Dims dims = context.dims(tensor);
  bool hasType = scalarTypeOf(tensor->type()) == meta.scalarType, hasShape = dims.size() == meta.sizes.size();
  for (size_t i = 0; hasShape && i < dims.size(); ++i)
    hasShape = !dims[i].isConstant() || !meta.sizes[i].constant() || meta.sizes[i].isConstant(dims[i].constant());
  if (hasType && hasShape)
    return std::nullopt;
  std::vector<std::string> here, there;
  for (const trace::Dim &dim : dims)
    here.push_back(dim.str());
  for (const DimExpr &dim : meta.sizes)
    there.push_back(dim.isValid() ? dim.str() : "?");
  std::optional<ElementType> type = elementTypeOf(meta.scalarType);
  return Doubt{&node,
               "computes " + describe(stator::name(tensor->type()), here) + " where the program has " +
                   describe(type ? stator::name(*type) : scalarTypeName(meta.scalarType), there),
               !hasType};
}

/// A wrong type would go unnoticed into the results. A wrong shape may be the file's own mistake: some releases describe the states of
/// recurrent layers wrongly, and run them well.
void GraphImporter::raise(const Doubt &doubt) {
  constexpr unsigned most = 5; // What follows from a wrong shape is wrong too.
  if (doubt.isOfType)
    report.add(*doubt.node, unsupported(doubt.difference));
  else if (shownDoubts++ < most)
    context.warn(placeOf(*doubt.node) + ": " + doubt.difference);
}

void GraphImporter::define(const Node &node, const Values &results, Scope &scope) {
  bool isPoison = results.size() == 1 && results[0].isPoison();
  // What went through floating point is data to the functions here, while the file may know it as an expression.
  auto known = [&](const Argument &output, const Value &value) {
    auto size = value.isInt() && value.isData() ? scope.graph.sizes.find(output.text) : scope.graph.sizes.end();
    if (size == scope.graph.sizes.end())
      return value;
    Result<trace::Dim> dim = sizes.translate(size->second);
    return dim.ok() ? Value::integer(*dim) : value;
  };
  auto bind = [&](const Argument &output, const Value &value) {
    if (output.kind != ArgumentKind::Reference)
      return;
    // The exporter knew types and shapes by running the program: a difference is a mistake here, or a file that lies.
    auto meta = value.isTensor() ? scope.graph.tensors.find(output.text) : scope.graph.tensors.end();
    if (meta != scope.graph.tensors.end())
      if (std::optional<Doubt> doubt = compare(node, meta->second, value.asTensor()))
        scope.doubtful[output.text] = std::move(*doubt);
    if (!scope.values.emplace(output.text, known(output, value)).second)
      report.add(node, invalidFile("value `" + shown(output.text) + "` is produced twice"));
  };
  // A list output takes as many values as it has names; torch 2.6 also writes the single result of a sub-graph in that form.
  size_t next = 0;
  Values flat;
  for (const Value &value : results)
    flat.push_back(value);
  if (node.outputs.size() == 1 && node.outputs[0].kind == ArgumentKind::List && results.size() == 1 && results[0].items())
    flat = *results[0].items();
  std::vector<const Argument *> names;
  for (const Argument &output : node.outputs) {
    if (output.kind == ArgumentKind::List && node.outputs.size() == 1)
      for (const Argument &item : output.items)
        names.push_back(&item);
    else
      names.push_back(&output);
  }
  if (!isPoison && !names.empty() && names.size() != flat.size()) {
    report.add(node,
               invalidFile("gives " + std::to_string(flat.size()) + " values, but the program names " + std::to_string(names.size())));
    isPoison = true;
  }
  for (const Argument *output : names) {
    Value value = isPoison ? Value::poison() : flat[next++];
    if (output->kind == ArgumentKind::List) {
      const Values *items = value.items();
      for (size_t i = 0; i < output->items.size(); ++i)
        bind(output->items[i], !isPoison && items && i < items->size() ? (*items)[i] : Value::poison());
    } else {
      bind(*output, value);
    }
  }
}

} // namespace stator::torch::exported
