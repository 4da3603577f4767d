//===- EvaluateExpression.cpp - names, attributes, literals ------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Import/Torch/Script/Evaluator.h"

namespace stator::torch::script {

static constexpr unsigned maxDepth = 1500;

Value Evaluator::evaluate(Expr &expr) {
  if (failed())
    return Value::poison();
  if (++depth > maxDepth)
    fail(StatusCode::ResourceExhausted, "expressions and calls are nested too deeply");
  Value value;
  switch (expr.kind) {
  case ExprKind::Name:
    value = evaluateName(expr);
    break;
  case ExprKind::Attribute:
    value = evaluateAttribute(expr);
    break;
  case ExprKind::Int:
    value = Value::integer(expr.integer);
    break;
  case ExprKind::Float:
    value = Value::real(expr.number);
    break;
  case ExprKind::String:
    value = Value::string(expr.text.str());
    break;
  case ExprKind::True:
    value = Value::boolean(true);
    break;
  case ExprKind::False:
    value = Value::boolean(false);
    break;
  case ExprKind::None:
    break;
  case ExprKind::List:
    value = Value::list(evaluateItems(expr.items));
    break;
  case ExprKind::Tuple:
    value = Value::tuple(evaluateItems(expr.items));
    break;
  case ExprKind::Dict:
    value = evaluateDict(expr);
    break;
  case ExprKind::Subscript:
    value = evaluateSubscript(expr);
    break;
  case ExprKind::Slice:
    value = fail(StatusCode::InvalidFile, "a slice stands outside of `[]`");
    break;
  case ExprKind::Call:
    value = evaluateCall(expr);
    break;
  }
  --depth;
  return failed() ? Value::poison() : value;
}

Values Evaluator::evaluateItems(llvm::ArrayRef<Expr *> items) {
  Values values;
  values.reserve(items.size());
  for (Expr *item : items)
    values.push_back(evaluate(*item));
  return values;
}

Value Evaluator::evaluateDict(Expr &expr) {
  Value dict = Value::dict();
  for (size_t i = 0; i + 1 < expr.items.size() && !failed(); i += 2) {
    Value key = evaluate(*expr.items[i]);
    Value item = evaluate(*expr.items[i + 1]);
    if (key.isPoison())
      return key;
    setItem(dict.asDict(), key, item);
  }
  return dict;
}

Value Evaluator::evaluateName(Expr &expr) {
  if (expr.slot >= 0 && size_t(expr.slot) < frame->slots.size() && frame->slots[expr.slot])
    return *frame->slots[expr.slot];
  offset = expr.offset;
  return fail(StatusCode::InvalidFile, "`" + expr.text.str() + "` has no value here");
}

bool Evaluator::isGlobal(const Expr &expr) const {
  if (expr.dotted.empty())
    return false;
  const Expr *root = &expr;
  while (root->kind == ExprKind::Attribute)
    root = root->items[0];
  return root->slot < 0 || size_t(root->slot) >= frame->slots.size() || !frame->slots[root->slot];
}

Value Evaluator::evaluateAttribute(Expr &expr) {
  if (isGlobal(expr))
    return evaluateGlobal(expr);
  Value object = evaluate(*expr.items[0]);
  if (failed() || object.isPoison() || object.isUninitialized())
    return Value::poison();
  offset = expr.offset;
  return attribute(object, expr.text);
}

Value Evaluator::attribute(const Value &object, llvm::StringRef name) {
  if (object.isPoison())
    return object;
  if (auto *instance = objectIn<Instance>(object)) {
    Result<Attribute *> found = state.find(*instance, name.str());
    Result<Value> value = !found.ok() ? Result<Value>(found.status())
                          : *found    ? state.read(*instance, name.str(), **found)
                                      : Result<Value>(Value::none());
    takeError();
    if (!value.ok()) {
      if (value.status().code() == StatusCode::Unsupported)
        return unsupported(value.status().message());
      return fail(value.status().code(), value.status().message());
    }
    if (*found)
      return *value;
    const Field *field = instance->definition->field(name);
    if (field && field->value)
      return constant(*field->value, *instance->definition->file);
    return invalid("`" + instance->typeName() + "` has no attribute `" + name.str() + "`");
  }
  if (auto *member = objectIn<EnumMember>(object)) {
    if (name == "value")
      return member->value;
    if (name == "name")
      return Value::string(member->name);
  }
  if (object.isTuple()) {
    const TupleObject &tuple = object.asTuple();
    for (size_t i = 0; i < tuple.fields.size(); ++i)
      if (tuple.fields[i] == name)
        return tuple.items[i];
  }
  // Properties of tensors and devices are written as operators, but other tools may write them so.
  if (object.isTensor() || object.isDevice())
    return callOp("prim." + name.str(), {object}, {});
  return invalid("a value of type " + object.typeName() + " has no attribute `" + name.str() + "`");
}

/// What `__torch__.a.b` names: a class, a function, a member of an enum.
std::optional<Value> Evaluator::definitionValue(llvm::StringRef name) {
  auto known = definitionValues.find(name);
  if (known != definitionValues.end())
    return known->second;
  Result<Definition> found = program.find(name);
  if (!found.ok()) {
    if (error.ok())
      error = found.status();
    return Value::poison();
  }
  std::optional<Value> value;
  if (found->function)
    value = Value(std::shared_ptr<Object>(std::make_shared<FunctionObject>(found->function)));
  else if (found->type)
    value = Value(std::shared_ptr<Object>(std::make_shared<ClassObject>(found->type)));
  if (!value) {
    auto [type, member] = name.rsplit('.');
    Result<Definition> outer = program.find(type);
    if (!outer.ok()) {
      if (error.ok())
        error = outer.status();
      return Value::poison();
    }
    const Field *field = outer->type && outer->type->kind == ClassKind::Enum ? outer->type->field(member) : nullptr;
    if (field && field->value)
      value = state.enumMember(outer->type, member.str(), constant(*field->value, *outer->type->file));
  }
  if (failed())
    return Value::poison();
  definitionValues[name] = value;
  return value;
}

Value Evaluator::evaluateGlobal(Expr &expr) {
  offset = expr.offset;
  llvm::StringRef name = expr.dotted;
  uint64_t index = 0;
  if (name.consume_front("CONSTANTS.c") && !name.getAsInteger(10, index)) {
    Result<Value> value = state.constant(index);
    if (!value.ok())
      return value.status().code() == StatusCode::Unsupported ? unsupported(value.status().message())
                                                              : fail(value.status().code(), value.status().message());
    takeError();
    return *value;
  }
  name = expr.dotted;
  if (name.starts_with("__torch__.")) {
    if (std::optional<Value> value = definitionValue(name))
      return *value;
    // An attribute of what the name before the last dot stands for.
    if (expr.items[0]->kind == ExprKind::Attribute)
      if (std::optional<Value> object = definitionValue(expr.items[0]->dotted); object && !objectIn<ClassObject>(*object))
        return attribute(*object, expr.text);
    return fail(StatusCode::InvalidFile, "`" + name.take_front(200).str() + "` is not in the archive's code");
  }
  return fail(StatusCode::InvalidFile, "`" + name.take_front(200).str() + "` has no meaning here");
}

Value Evaluator::evaluateSubscript(Expr &expr) {
  Value object = evaluate(*expr.items[0]);
  if (expr.items.size() != 2 || !expr.items[1])
    return fail(StatusCode::InvalidFile, "a subscript has one index");
  Expr &index = *expr.items[1];
  if (index.kind == ExprKind::Slice) {
    Values arguments{object};
    for (Expr *part : index.items)
      arguments.push_back(part ? evaluate(*part) : Value::none());
    offset = expr.offset;
    return callOp("slice", std::move(arguments), {});
  }
  Value key = evaluate(index);
  if (failed())
    return Value::poison();
  offset = expr.offset;
  return callOp("__getitem__", {object, key}, {});
}

} // namespace stator::torch::script
