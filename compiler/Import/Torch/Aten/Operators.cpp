// The joined table of operators, with the derived in-place forms, and the call of one.
#include "compiler/Import/Torch/Aten/Operators.h"

#include "compiler/Import/Torch/Aten/OpCall.h"
#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>
#include <deque>
#include <map>

namespace stator::torch {

namespace {

using Overloads = std::vector<const Operator *>;

class Table {
public:
  Table() {
    for (std::span<const OpEntry> family :
         {arithmeticOps(), comparisonOps(), unaryOps(), specialOps(), activationOps(), reductionOps(), sortOps(), contractionOps(),
          distanceOps(), convolutionOps(), windowOps(), adaptivePoolOps(), resampleOps(), patchOps(), normalisationOps(), recurrentOps(), attentionOps(), fusedAttentionOps(), viewOps(), selectOps(), memoryOps(),
          reshapeOps(), matrixOps(), indexingOps(), scatterOps(), lookupOps(), creationOps(), rangeOps(), conversionOps(), metadataOps(),
          quantisedOps(), lossOps(), backwardOps(), layerBackwardOps()})
      for (const OpEntry &entry : family) {
        operators.push_back({parseSchema(entry.schema), entry.handler, false});
        byName[operators.back().schema.name].push_back(&operators.back());
      }
    ownCount = operators.size();
    deriveInPlaceForms();
  }

  const Overloads *find(std::string_view name) const {
    auto found = byName.find(name);
    return found == byName.end() ? nullptr : &found->second;
  }

  Overloads own() const {
    Overloads all;
    for (size_t i = 0; i < ownCount; ++i)
      all.push_back(&operators[i]);
    std::sort(all.begin(), all.end(), [](const Operator *a, const Operator *b) { return a->schema.fullName() < b->schema.fullName(); });
    return all;
  }

private:
  /// `relu_` for `relu`, `__iand__` for `__and__`, wherever the first parameter is a tensor.
  void deriveInPlaceForms() {
    for (size_t i = 0; i < ownCount; ++i) {
      const Schema &schema = operators[i].schema;
      bool isDunder = schema.name.starts_with("__") && schema.name.ends_with("__");
      if (schema.name.ends_with("_") && !isDunder)
        continue;
      if (schema.parameters.empty() || schema.parameters[0].kind != ParameterKind::Tensor || schema.parameters[0].isList)
        continue;
      std::string name = isDunder ? "__i" + schema.name.substr(2) : schema.name + "_";
      auto isSame = [&](const Operator *op) { return op->schema.overload == schema.overload; };
      Overloads &overloads = byName[name];
      if (std::any_of(overloads.begin(), overloads.end(), isSame))
        continue;
      operators.push_back({schema, operators[i].handler, true});
      operators.back().schema.name = name;
      overloads.push_back(&operators.back());
    }
  }

  std::deque<Operator> operators; // stable addresses
  std::map<std::string, Overloads, std::less<>> byName;
  size_t ownCount = 0;
};

const Table &table() {
  static const Table instance;
  return instance;
}

bool holdsPoison(const Value &value) {
  if (value.isPoison())
    return true;
  const Values *items = value.items();
  return items && std::any_of(items->begin(), items->end(), holdsPoison);
}

std::string typeNames(const Values &positional, const std::vector<KeywordArgument> &keywords) {
  std::string text;
  for (const Value &value : positional)
    text += (text.empty() ? "" : ", ") + value.typeName();
  for (const KeywordArgument &keyword : keywords)
    text += (text.empty() ? "" : ", ") + keyword.name + "=" + keyword.value.typeName();
  return text;
}

} // namespace

const Operator *findOperator(std::string_view fullName) {
  // An overload's name has no colon; a name has no dot.
  size_t dot = fullName.rfind('.');
  std::string_view name = fullName.substr(0, dot);
  std::string_view overload = dot == std::string_view::npos ? std::string_view() : fullName.substr(dot + 1);
  if (overload == "default")
    overload = {};
  if (const Overloads *overloads = table().find(name))
    for (const Operator *op : *overloads)
      if (op->schema.overload == overload)
        return op;
  return nullptr;
}

std::vector<const Operator *> findOverloads(std::string_view name) {
  const Overloads *overloads = table().find(name);
  return overloads ? *overloads : Overloads();
}

std::vector<const Operator *> allOperators() { return table().own(); }

Result<Value> callOperator(Context &context, const Operator &op, Values arguments) {
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  if (std::any_of(arguments.begin(), arguments.end(), holdsPoison))
    return Value::poison();
  OpCall call(context, op, arguments);
  Value result = op.handler(call);
  if (op.isInPlace && impl.ok()) {
    TensorRef self = call.ref(0);
    if (!result.isTensor())
      context.unsupported("`" + op.schema.fullName() + "`: has no in-place form");
    else if (trace::Tensor value = context.read(result.asTensor()); !trace::BuilderImpl::same(value, context.read(self)))
      context.write(self, value);
    result = arguments[0];
  }
  if (!impl.ok())
    return impl.takeError();
  return result;
}

/// `out=` of an operator with one result: computed as without it, then written there.
static Result<Value> callIntoOut(Context &context, std::string_view name, const Values &positional, std::vector<KeywordArgument> keywords) {
  auto isOut = [](const KeywordArgument &keyword) { return keyword.name == "out" && keyword.value.isTensor(); };
  Value out = std::find_if(keywords.begin(), keywords.end(), isOut)->value;
  std::erase_if(keywords, isOut);
  Result<Value> result = callByName(context, name, positional, keywords);
  if (!result.ok() || result->isPoison())
    return result;
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  if (!result->isTensor())
    return unsupported("`" + std::string(name) + "`: `out` is supported for one result only");
  trace::Tensor value = context.read(result->asTensor());
  if (impl.ok() && context.dims(result->asTensor()) == context.dims(out.asTensor()))
    context.write(out.asTensor(), value);
  else if (impl.ok() && !context.become(out.asTensor(), context.make(trace::fn::cast(value, out.asTensor()->type()))))
    context.unsupported("`" + std::string(name) + "`: `out` has other sizes than the result, and views of it exist");
  if (!impl.ok())
    return impl.takeError();
  return out;
}

Result<Value> callByName(Context &context, std::string_view name, const Values &positional, const std::vector<KeywordArgument> &keywords) {
  const Overloads *overloads = table().find(name);
  if (!overloads || overloads->empty())
    return unsupported("`" + std::string(name) + "` is not supported");
  Status last;
  for (Conversions conversions : {Conversions::None, Conversions::Allowed})
    for (const Operator *op : *overloads) {
      Result<Values> bound = bindArguments(op->schema, positional, keywords, conversions);
      if (bound.ok())
        return callOperator(context, *op, std::move(*bound));
      last = bound.status();
    }
  if (std::any_of(keywords.begin(), keywords.end(), [](const auto &keyword) { return keyword.name == "out" && keyword.value.isTensor(); }))
    return callIntoOut(context, name, positional, keywords);
  if (overloads->size() == 1)
    return unsupported(last.message());
  std::string known;
  for (const Operator *op : *overloads)
    known += "\n  " + op->schema.text;
  return unsupported("`" + std::string(name) + "` is not supported for (" + typeNames(positional, keywords) + "), only as" + known);
}

} // namespace stator::torch
