//===- EvaluateCall.cpp - calls of operators, functions and methods ----------===//
//
// The text has no overload names: `torch.add` is the sum of numbers, of lists,
// of strings or of tensors. Operators on anything but tensors are builtins
// (Builtins.h), which are asked first; the rest are PyTorch's operators.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Import/Torch/Script/Evaluator.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::script {

/// Operations that one import may put into its graphs.
static constexpr uint64_t maxOperations = 200'000;

bool Evaluator::evaluateArguments(Expr &expr, Values &arguments, std::vector<KeywordArgument> &keywords) {
  arguments.reserve(expr.items.size() - 1);
  for (Expr *item : expr.items.drop_front())
    arguments.push_back(evaluate(*item));
  for (const Keyword &keyword : expr.keywords)
    keywords.push_back({keyword.name.str(), evaluate(*keyword.value)});
  offset = expr.offset;
  return !failed();
}

Value Evaluator::evaluateCall(Expr &expr) {
  Expr &callee = *expr.items[0];
  offset = expr.offset;
  if ((callee.kind == ExprKind::Name || callee.kind == ExprKind::Attribute) && isGlobal(callee))
    return callee.kind == ExprKind::Name ? callWord(expr, callee.text) : callGlobal(expr, callee.dotted);
  Values arguments;
  std::vector<KeywordArgument> keywords;
  if (callee.kind == ExprKind::Attribute) {
    Value object = evaluate(*callee.items[0]);
    if (!evaluateArguments(expr, arguments, keywords))
      return Value::poison();
    return callMethod(object, callee.text, std::move(arguments), keywords);
  }
  Value function = evaluate(callee);
  if (!evaluateArguments(expr, arguments, keywords))
    return Value::poison();
  return callFunctionValue(function, std::move(arguments), keywords);
}

Value Evaluator::callGlobal(Expr &expr, llvm::StringRef name) {
  Values arguments;
  std::vector<KeywordArgument> keywords;
  llvm::StringRef op = name;
  if (op.consume_front("torch.") || op.consume_front("ops.aten.")) {
    if (!evaluateArguments(expr, arguments, keywords))
      return Value::poison();
    return callOp(op, std::move(arguments), std::move(keywords));
  }
  if (op.consume_front("ops.")) {
    if (!evaluateArguments(expr, arguments, keywords))
      return Value::poison();
    auto [space, member] = op.split('.');
    return callOp(space == "prim" ? op.str() : (space + "::" + member).str(), std::move(arguments), std::move(keywords));
  }
  // T.__new__(T)
  auto [owner, member] = name.rsplit('.');
  if (member == "__new__" && name.starts_with("__torch__.")) {
    if (owner.starts_with("__torch__.torch.classes."))
      return unsupported("`" + owner.drop_front(10).str() + "` is a compiled class that the archive does not contain");
    std::optional<Value> value = definitionValue(owner);
    auto *type = value ? objectIn<ClassObject>(*value) : nullptr;
    if (!type)
      return failed() ? Value::poison()
                      : fail(StatusCode::InvalidFile, "class `" + owner.take_front(200).str() + "` is not in the archive's code");
    return Value(std::shared_ptr<Object>(std::make_shared<Instance>(type->definition, "", nullptr)));
  }
  if (name.starts_with("__torch__.")) {
    std::optional<Value> value = definitionValue(name);
    if (!evaluateArguments(expr, arguments, keywords))
      return Value::poison();
    if (value)
      return callFunctionValue(*value, std::move(arguments), keywords);
    // A method of a class by its full name, or of an enum's member.
    std::optional<Value> object = definitionValue(owner);
    if (object && objectIn<ClassObject>(*object))
      if (const Function *method = objectIn<ClassObject>(*object)->definition->method(member))
        return call(*const_cast<Function *>(method), std::move(arguments), keywords);
    if (failed())
      return Value::poison();
    return fail(StatusCode::InvalidFile, "`" + name.take_front(200).str() + "` is not in the archive's code");
  }
  // CONSTANTS.c0.tolist() and the like.
  Value object = evaluate(*expr.items[0]->items[0]);
  if (!evaluateArguments(expr, arguments, keywords))
    return Value::poison();
  return callMethod(object, member, std::move(arguments), keywords);
}

/// What is written as a bare word: parts of the language, and conversions.
Value Evaluator::callWord(Expr &expr, llvm::StringRef name) {
  size_t count = expr.items.size() - 1;
  auto argument = [&](size_t i) -> Expr & { return *expr.items[i + 1]; };
  auto needs = [&](size_t wanted) {
    if (count == wanted)
      return true;
    fail(StatusCode::InvalidFile, "`" + name.str() + "` takes " + std::to_string(wanted) + " arguments, got " + std::to_string(count));
    return false;
  };
  if (name == "annotate" || name == "unchecked_cast") {
    if (!needs(2))
      return Value::poison();
    Value value = evaluate(argument(1));
    if (!value.isTensor())
      return value;
    // `annotate(number, t)`: where traces take a tensor for a number.
    TypeKind kind = typeOf(&argument(0))->kind;
    offset = expr.offset;
    return kind == TypeKind::Number  ? itemOf(*this, context.read(value.asTensor()))
           : kind == TypeKind::Int   ? toInt(*this, value)
           : kind == TypeKind::Float ? toFloat(*this, value)
           : kind == TypeKind::Bool  ? toBool(*this, value)
                                     : value;
  }
  if (name == "uninitialized")
    return Value::uninitialized();
  if (name == "isinstance") {
    if (!needs(2))
      return Value::poison();
    Value value = evaluate(argument(0));
    if (value.isPoison())
      return value;
    Expr &types = argument(1);
    llvm::ArrayRef<Expr *> list = types.kind == ExprKind::Tuple || types.kind == ExprKind::List ? types.items : expr.items.slice(2, 1);
    for (Expr *type : list)
      if (isInstance(value, *typeOf(type)))
        return Value::boolean(true);
    return Value::boolean(false);
  }
  if (name == "getattr") {
    if (!needs(2))
      return Value::poison();
    Value object = evaluate(argument(0));
    if (argument(1).kind != ExprKind::String)
      return fail(StatusCode::InvalidFile, "the name of an attribute is not a string");
    offset = expr.offset;
    return failed() ? Value::poison() : attribute(object, argument(1).text);
  }
  Values arguments;
  std::vector<KeywordArgument> keywords;
  if (name == "fork") {
    if (!evaluateArguments(expr, arguments, keywords) || arguments.empty())
      return fail(StatusCode::InvalidFile, "`fork` needs a function");
    Value function = arguments.front();
    if (auto *closure = objectIn<ClosureObject>(function)) {
      // It runs here and now, on the variables of this function.
      Value outer = std::exchange(frame->result, Value::none());
      run(closure->definition->body);
      return failed() ? Value::poison() : std::exchange(frame->result, outer);
    }
    arguments.erase(arguments.begin());
    return callFunctionValue(function, std::move(arguments), keywords);
  }
  if (!evaluateArguments(expr, arguments, keywords))
    return Value::poison();
  return callOp("word." + name.str(), std::move(arguments), std::move(keywords));
}

bool Evaluator::isInstance(const Value &value, const Type &type) {
  auto all = [&](const Values &items, const Type &item) {
    return llvm::all_of(items, [&](const Value &value) { return isInstance(value, item); });
  };
  switch (type.kind) {
  case TypeKind::Tensor:
    return value.isTensor();
  case TypeKind::Int:
    return value.isInt();
  case TypeKind::Float:
    return value.isFloat();
  case TypeKind::Bool:
    return value.isBool();
  case TypeKind::Number:
    return value.isInt() || value.isFloat();
  case TypeKind::String:
    return value.isString();
  case TypeKind::Device:
    return value.isDevice();
  case TypeKind::None:
    return value.isNone();
  case TypeKind::Any:
    return true;
  case TypeKind::Optional:
    return value.isNone() || isInstance(value, type.arguments[0]);
  case TypeKind::Union:
    return llvm::any_of(type.arguments, [&](const Type &item) { return isInstance(value, item); });
  case TypeKind::List:
    return value.isList() && all(value.asList().items, type.arguments[0]);
  case TypeKind::Tuple: {
    if (!value.isTuple() || value.asTuple().items.size() != type.arguments.size())
      return false;
    for (size_t i = 0; i < type.arguments.size(); ++i)
      if (!isInstance(value.asTuple().items[i], type.arguments[i]))
        return false;
    return true;
  }
  case TypeKind::Dict:
    return value.isDict() && llvm::all_of(value.asDict().items, [&](const auto &entry) {
             return isInstance(entry.first, type.arguments[0]) && isInstance(entry.second, type.arguments[1]);
           });
  case TypeKind::Class:
    if (auto *instance = objectIn<Instance>(value))
      return instance->definition == type.definition;
    if (auto *member = objectIn<EnumMember>(value))
      return member->definition == type.definition;
    return value.isTuple() && !value.asTuple().fields.empty() && value.asTuple().typeName == type.definition->name();
  case TypeKind::Future:
    return !type.arguments.empty() && isInstance(value, type.arguments[0]);
  case TypeKind::Complex:
  case TypeKind::Unknown:
    return false;
  }
  return false;
}

Value Evaluator::construct(ClassDef &definition, Values arguments, const std::vector<KeywordArgument> &keywords) {
  if (definition.kind == ClassKind::NamedTuple) {
    std::vector<std::string> names;
    Values items;
    for (const Field &field : definition.fields) {
      size_t index = names.size();
      names.push_back(field.name);
      auto keyword = llvm::find_if(keywords, [&](const KeywordArgument &given) { return given.name == field.name; });
      if (index < arguments.size())
        items.push_back(arguments[index]);
      else if (keyword != keywords.end())
        items.push_back(keyword->value);
      else if (field.value)
        items.push_back(constant(*field.value, *definition.file));
      else
        return invalid("`" + definition.name().str() + "` needs a value for `" + field.name + "`");
    }
    if (arguments.size() > names.size())
      return invalid("`" + definition.name().str() + "` has " + std::to_string(names.size()) + " fields, got " +
                     std::to_string(arguments.size()) + " values");
    return Value::namedTuple(std::move(items), std::move(names), definition.name().str());
  }
  if (definition.kind == ClassKind::Enum && arguments.size() == 1) {
    for (const Field &field : definition.fields)
      if (field.value && equalValues(constant(*field.value, *definition.file), arguments[0]) == true)
        return state.enumMember(&definition, field.name, arguments[0]);
    return invalid("`" + definition.name().str() + "` has no member with that value");
  }
  Value object(std::shared_ptr<Object>(std::make_shared<Instance>(&definition, "", nullptr)));
  callMethod(object, "__init__", std::move(arguments), keywords);
  return object;
}

Value Evaluator::callFunctionValue(const Value &function, Values arguments, const std::vector<KeywordArgument> &keywords) {
  if (failed() || function.isPoison())
    return Value::poison();
  if (auto *object = objectIn<FunctionObject>(function))
    return call(*object->function, std::move(arguments), keywords);
  if (auto *object = objectIn<ClassObject>(function))
    return construct(*object->definition, std::move(arguments), keywords);
  if (objectIn<Instance>(function))
    return callMethod(function, "forward", std::move(arguments), keywords);
  return invalid("a value of type " + function.typeName() + " cannot be called");
}

Value Evaluator::callMethod(const Value &object, llvm::StringRef name, Values arguments, const std::vector<KeywordArgument> &keywords) {
  if (failed() || object.isPoison())
    return Value::poison();
  arguments.insert(arguments.begin(), object);
  if (auto *instance = objectIn<Instance>(object)) {
    // The method of the object's own class, also where the text knows only an interface.
    const Function *method = instance->definition->method(name);
    if (!method)
      return fail(StatusCode::InvalidFile, "class `" + instance->typeName() + "` has no method `" + name.str() + "`");
    return call(*const_cast<Function *>(method), std::move(arguments), keywords);
  }
  // x.tolist()
  return callOp(name == "tolist" ? "prim.tolist" : name, std::move(arguments), keywords);
}

void Evaluator::setLocation() {
  std::string place = frame->file->path + ":" + std::to_string(frame->file->lineNumber(offset));
  context.builder().setLocation(frame->modulePath.empty() ? place : frame->modulePath + " (" + place + ")");
}

/// Whether the tensors among the arguments are not empty, as far as that can be said.
bool Evaluator::checkLateTensors(const Values &arguments) {
  for (const Value &value : arguments) {
    if (value.items() && !checkLateTensors(*value.items()))
      return false;
    if (!value.isTensor())
      continue;
    std::string warning;
    Status status = state.useOf(value.asTensor(), warning);
    if (!status.ok())
      return unsupported(status.message()), false;
    if (!warning.empty())
      warn(warning);
  }
  return true;
}

Value Evaluator::callOp(llvm::StringRef name, Values arguments, std::vector<KeywordArgument> keywords) {
  if (failed())
    return Value::poison();
  BuiltinCall builtin{*this, name, arguments, keywords};
  if (std::optional<Value> value = script::callBuiltin(builtin)) {
    takeError();
    return failed() ? Value::poison() : *value;
  }
  if (name.consume_front("word."))
    return unsupported("`" + name.str() + "` is not a function that TorchScript has");
  // Properties of numbers that traces have as tensors.
  if (name == "prim.abs" || name == "prim.min" || name == "prim.max")
    name = name.drop_front(5);
  if (name.starts_with("prim."))
    return unsupported("operator `" + (llvm::Twine("ops.") + name).str() + "` is not supported");
  if (!spend(report.operations, maxOperations, "operations on tensors"))
    return Value::poison();
  ++report.operators[name.str()];
  bool hasPoison = llvm::any_of(arguments, [](const Value &value) { return value.isPoison(); }) ||
                   llvm::any_of(keywords, [](const KeywordArgument &keyword) { return keyword.value.isPoison(); });
  if (hasPoison) // What nobody knows is told all the same.
    return findOverloads(std::string_view(name)).empty() ? unsupported("`" + name.str() + "` is not supported") : Value::poison();
  if (!checkLateTensors(arguments))
    return Value::poison();
  upgrade(*this, name.str(), arguments, keywords);
  setLocation();
  Result<Value> result = callByName(context, std::string_view(name), arguments, keywords);
  if (result.ok()) {
    takeError();
    return failed() ? Value::poison() : *result;
  }
  std::string message = withoutLocation(result.status().message());
  if (result.status().code() == StatusCode::Unsupported)
    return unsupported(message);
  return fail(result.status().code(), message);
}

} // namespace stator::torch::script
