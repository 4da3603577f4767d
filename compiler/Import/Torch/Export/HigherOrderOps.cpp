//===- HigherOrderOps.cpp - operators with sub-graphs ----------------------===//
//
// `cond` and `while_loop` become the control flow of the graph where they
// depend on data. `scan` and `map_impl` go along the first axis: over a short
// known length they are unrolled, else they become a loop with a counter that
// collects into tensors of their final size. The wrappers that only switch a
// mode (gradients, autocast) are inlined.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Aten/Control.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Export/GraphImporter.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>

namespace stator::torch::exported {

namespace fn = trace::fn;

/// Longer scans stay loops: unrolling them would make the graph too large.
static constexpr int64_t maxUnrolledSteps = 64;
/// Far beyond any real program, and short of what the stack holds.
static constexpr unsigned maxGraphDepth = 32;

static bool isPoisoned(const Values &values) {
  return std::any_of(values.begin(), values.end(), [](const Value &value) { return value.isPoison(); });
}

static Values joined(Values a, const Values &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Result<Values> GraphImporter::callHigherOrder(const Node &node, std::string_view name, Scope &scope) {
  if (depth > maxGraphDepth)
    return unsupported("graphs are nested more than " + std::to_string(maxGraphDepth) + " deep");
  if (name == "cond")
    return cond(node, scope);
  if (name == "while_loop")
    return whileLoop(node, scope);
  if (name == "scan")
    return scan(node, scope, /*hasCarry=*/true);
  if (name == "map_impl" || name == "map")
    return scan(node, scope, /*hasCarry=*/false);
  if (name == "wrap_with_autocast")
    return autocast(node, scope);
  if (name == "wrap_with_set_grad_enabled")
    return inlined(node, 1, scope);
  if (name == "wrap" || name == "invoke_subgraph" || name == "hints_wrapper" || name == "wrap_activation_checkpoint" ||
      name == "tag_activation_checkpoint" || name == "strict_mode")
    return inlined(node, 0, scope);
  return unsupported("no such higher-order operator is supported");
}

Result<const Graph *> GraphImporter::graphArgument(const Node &node, size_t index) {
  if (index >= node.inputs.size() || node.inputs[index].value.kind != ArgumentKind::Graph)
    return invalidFile("argument " + std::to_string(index) + " is no graph");
  return node.inputs[index].value.graph.get();
}

Result<Values> GraphImporter::listArgument(const Node &node, size_t index, Scope &scope) {
  if (index >= node.inputs.size())
    return Values();
  STATOR_TRY(value, valueOf(node.inputs[index].value, scope));
  if (!value.items())
    return invalidFile("argument " + std::to_string(index) + " is " + value.typeName() + ", expected a list");
  return *value.items();
}

/// A condition as torch.cond takes it: a boolean, or a tensor with one element.
static Value conditionOf(Context &context, const Value &value) {
  Value item = value.isTensor() ? context.item(context.read(value.asTensor())) : value;
  if (item.isBool() || item.isPoison() || !context.builder().ok())
    return item;
  if (std::optional<double> known = item.knownNumber())
    return Value::boolean(*known != 0);
  if (!item.isScalar())
    return context.invalid("the condition is " + item.typeName() + ", expected a boolean");
  return Value::dataBoolean(fn::cast(context.scalarTensor(item), ElementType::I1));
}

Result<Values> GraphImporter::cond(const Node &node, Scope &scope) {
  if (node.inputs.empty())
    return invalidFile("has no condition");
  STATOR_TRY(predicate, valueOf(node.inputs[0].value, scope));
  STATOR_TRY(onTrue, graphArgument(node, 1));
  STATOR_TRY(onFalse, graphArgument(node, 2));
  STATOR_TRY(operands, listArgument(node, 3, scope));
  Value condition = predicate.isPoison() ? predicate : conditionOf(context, predicate);
  if (!condition.isBool() || isPoisoned(operands)) {
    // Nothing can come of it, but what the branches need can still be found out.
    run(*onTrue, operands);
    run(*onFalse, operands);
    return Values{Value::poison()};
  }
  bool isBroken = false;
  auto branch = [&](const Graph *graph) {
    Values results = run(*graph, operands);
    isBroken |= isPoisoned(results);
    return results;
  };
  Values results = dynamicIf(context, condition.asBool(), [&] { return branch(onTrue); }, [&] { return branch(onFalse); });
  return isBroken ? Values{Value::poison()} : results;
}

Result<Values> GraphImporter::whileLoop(const Node &node, Scope &scope) {
  STATOR_TRY(condition, graphArgument(node, 0));
  STATOR_TRY(body, graphArgument(node, 1));
  STATOR_TRY(carried, listArgument(node, 2, scope));
  STATOR_TRY(additional, listArgument(node, 3, scope));
  if (isPoisoned(carried) || isPoisoned(additional)) {
    run(*condition, joined(carried, additional));
    run(*body, joined(carried, additional));
    return Values{Value::poison()};
  }
  bool isBroken = false;
  Values results = dynamicWhile(
      context, carried,
      [&](const Values &values) {
        Values tests = run(*condition, joined(values, additional));
        isBroken |= tests.empty() || isPoisoned(tests);
        return isBroken ? Value::poison() : conditionOf(context, tests[0]);
      },
      [&](const Values &values) {
        Values next = run(*body, joined(values, additional));
        isBroken |= isPoisoned(next);
        return next;
      });
  return isBroken ? Values{Value::poison()} : results;
}

/// Element `step` along the first axis.
static Value sliceOf(Context &context, const Value &tensor, const trace::Tensor &step) {
  return Value::tensor(context.make(fn::gather(context.read(tensor.asTensor()), step, 0)));
}

Result<Values> GraphImporter::scan(const Node &node, Scope &scope, bool hasCarry) {
  STATOR_TRY(body, graphArgument(node, 0));
  Values carry;
  size_t next = 1;
  if (hasCarry) {
    STATOR_TRY(initial, listArgument(node, next++, scope));
    carry = std::move(initial);
  }
  STATOR_TRY(xs, listArgument(node, next++, scope));
  STATOR_TRY(additional, listArgument(node, next++, scope));
  bool isBroken = isPoisoned(carry) || isPoisoned(xs) || isPoisoned(additional);
  auto step = [&](const Values &state, const Values &slices) {
    Values results = run(*body, joined(joined(state, slices), additional));
    isBroken |= isPoisoned(results);
    return results;
  };
  if (isBroken) {
    step(carry, xs);
    return Values{Value::poison()};
  }
  if (xs.empty() || !xs[0].isTensor() || xs[0].asTensor()->rank() == 0)
    return unsupported("a scan over nothing is not supported");
  trace::Builder &builder = context.builder();
  trace::Dim length = context.dims(xs[0].asTensor())[0];
  size_t states = carry.size(), outputs = body->outputs.size();
  if (outputs < states)
    return invalidFile("its graph has " + std::to_string(outputs) + " outputs for " + std::to_string(states) + " carried values");

  auto slicesAt = [&](const trace::Tensor &index) {
    Values slices;
    for (const Value &x : xs)
      slices.push_back(sliceOf(context, x, index));
    return slices;
  };

  if (length.isConstant() && length.constant() >= 1 && length.constant() <= maxUnrolledSteps) {
    std::vector<trace::Tensors> collected(outputs - states);
    for (int64_t i = 0; i < length.constant() && builder.ok() && !isBroken; ++i) {
      Values results = step(carry, slicesAt(builder.scalarInt(ElementType::I64, i)));
      for (size_t y = states; y < outputs && builder.ok() && !isBroken; ++y)
        collected[y - states].push_back(results[y].isTensor() ? context.read(results[y].asTensor()) : context.scalarTensor(results[y]));
      carry.assign(results.begin(), results.begin() + int64_t(states));
    }
    if (isBroken || !builder.ok())
      return Values{Value::poison()};
    for (const trace::Tensors &column : collected)
      carry.push_back(Value::tensor(context.make(fn::stack(column, 0))));
    return carry;
  }

  // A loop: the state is the counter, the carried values, and the results so far, whose sizes the file knows.
  Values state{Value::dataInteger(builder.scalarInt(ElementType::I64, 0))};
  state.insert(state.end(), carry.begin(), carry.end());
  for (size_t y = states; y < outputs; ++y) {
    auto meta = body->tensors.find(body->outputs[y].text);
    std::optional<ElementType> type = meta == body->tensors.end() ? std::nullopt : elementTypeOf(meta->second.scalarType);
    if (!type)
      return unsupported("the element type of a collected value is not supported");
    trace::Dims dims{length};
    for (const DimExpr &size : meta->second.sizes) {
      STATOR_TRY(dim, sizes.translate(size));
      dims.push_back(dim);
    }
    state.push_back(Value::tensor(context.make(fn::full(builder, *type, dims, 0))));
  }
  Values results = dynamicWhile(
      context, state, [&](const Values &values) { return Value::dataBoolean(fn::lt(values[0].asInt().data, builder.fromDim(length))); },
      [&](const Values &values) {
        trace::Tensor index = values[0].asInt().data;
        Values following{Value::dataInteger(fn::add(index, builder.scalarInt(ElementType::I64, 1)))};
        Values computed = step(Values(values.begin() + 1, values.begin() + 1 + int64_t(states)), slicesAt(index));
        for (size_t i = 0; i < computed.size() && !isBroken && builder.ok(); ++i) {
          if (i < states) {
            following.push_back(computed[i]);
            continue;
          }
          trace::Tensor value = computed[i].isTensor() ? context.read(computed[i].asTensor()) : context.scalarTensor(computed[i]);
          trace::Tensor target = context.read(values[1 + i].asTensor());
          trace::Tensor updated = fn::scatterND(target, fn::reshape(index, trace::Dims{1, 1}), fn::unsqueeze(value, {0}));
          following.push_back(Value::tensor(context.make(updated)));
        }
        return following;
      });
  if (isBroken || !builder.ok() || results.empty())
    return Values{Value::poison()};
  results.erase(results.begin());
  return results;
}

/// Runs a sub-graph in place; the graph's arguments follow it, and what is no argument of it is left out.
Result<Values> GraphImporter::inlined(const Node &node, size_t graphIndex, Scope &scope) {
  STATOR_TRY(graph, graphArgument(node, graphIndex));
  Values operands;
  for (size_t i = graphIndex + 1; i < node.inputs.size(); ++i) {
    const Argument &argument = node.inputs[i].value;
    STATOR_TRY(value, valueOf(argument, scope));
    // invoke_subgraph has its name in the second place, hints_wrapper has dicts of hints at the end.
    if (argument.kind == ArgumentKind::String || argument.kind == ArgumentKind::Dict)
      continue;
    if (argument.kind == ArgumentKind::List)
      operands.insert(operands.end(), value.items()->begin(), value.items()->end());
    else
      operands.push_back(std::move(value));
  }
  if (operands.size() < graph->inputs.size())
    return invalidFile("gives " + std::to_string(operands.size()) + " values to a graph with " + std::to_string(graph->inputs.size()) +
                       " inputs");
  return run(*graph, operands);
}

Result<Values> GraphImporter::autocast(const Node &node, Scope &scope) {
  // (device type, type or None, enabled, cache enabled or None, graph, operands...)
  if (node.inputs.size() < 5)
    return invalidFile("has " + std::to_string(node.inputs.size()) + " arguments, expected at least 5");
  std::optional<ElementType> type = ElementType::BF16; // what the CPU casts to unless told otherwise
  const Argument &wanted = node.inputs[1].value;
  if (wanted.kind == ArgumentKind::ScalarType)
    type = elementTypeOf(wanted.integer);
  else if (node.inputs[0].value.text == "cuda")
    type = ElementType::F16;
  if (!type)
    return unsupported("autocast to " + scalarTypeName(wanted.integer) + " is not supported");
  std::optional<ElementType> outer = context.autocast;
  context.autocast = node.inputs[2].value.integer != 0 ? type : std::nullopt;
  Result<Values> results = inlined(node, 4, scope);
  context.autocast = outer;
  return results;
}

} // namespace stator::torch::exported
