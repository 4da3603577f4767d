//===- ScriptConstants.cpp - values of inputs that are constants ---------------===//
//
// A value is written as in Python: 3, -0.5, True, None, "text", [1, 2], (4, 0.5),
// {"a": 1}. Where the model wants a string, text without quotes will do. The same
// parser reads it that reads the model.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Import/Torch/Script/ScriptInputs.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::script {

/// A literal as a value, whatever the type.
static bool literal(const Expr &expr, Value &value) {
  auto all = [](llvm::ArrayRef<Expr *> items, Values &values) {
    for (const Expr *item : items) {
      values.emplace_back();
      if (!item || !literal(*item, values.back()))
        return false;
    }
    return true;
  };
  Values items;
  switch (expr.kind) {
  case ExprKind::Int:
    value = Value::integer(expr.integer);
    return true;
  case ExprKind::Float:
    value = Value::real(expr.number);
    return true;
  case ExprKind::String:
    value = Value::string(expr.text.str());
    return true;
  case ExprKind::True:
  case ExprKind::False:
    value = Value::boolean(expr.kind == ExprKind::True);
    return true;
  case ExprKind::Name:
    // As other tools and other options write them.
    if (expr.text != "true" && expr.text != "false")
      return false;
    value = Value::boolean(expr.text == "true");
    return true;
  case ExprKind::None:
    value = Value::none();
    return true;
  case ExprKind::List:
    if (!all(expr.items, items))
      return false;
    value = Value::list(std::move(items));
    return true;
  case ExprKind::Tuple:
    if (!all(expr.items, items))
      return false;
    value = Value::tuple(std::move(items));
    return true;
  case ExprKind::Dict:
    if (!all(expr.items, items))
      return false;
    value = Value::dict();
    for (size_t i = 0; i + 1 < items.size(); i += 2)
      setItem(value.asDict(), items[i], items[i + 1]);
    return true;
  default:
    return false;
  }
}

/// The value as the type wants it; false when it is of another.
static bool adapt(Value &value, const Type &type) {
  auto each = [](const Values &from, Values &to, auto typeAt) {
    for (size_t i = 0; i < from.size(); ++i) {
      to.push_back(from[i]);
      if (!adapt(to.back(), typeAt(i)))
        return false;
    }
    return true;
  };
  Values items;
  switch (type.kind) {
  case TypeKind::Int:
    return value.isInt();
  case TypeKind::Float:
    if (value.isInt())
      value = Value::real(*value.knownNumber());
    return value.isFloat();
  case TypeKind::Bool:
    if (value.knownInt() == 0 || value.knownInt() == 1)
      value = Value::boolean(*value.knownInt() == 1);
    return value.isBool();
  case TypeKind::String:
    return value.isString();
  case TypeKind::Number:
    return value.isScalar();
  case TypeKind::None:
    return value.isNone();
  case TypeKind::Optional:
    return value.isNone() || adapt(value, type.arguments[0]);
  case TypeKind::List:
    // One element alone stands for the list of it, as in `--const size=3`.
    if (!value.items())
      value = Value::list({value});
    if (!each(*value.items(), items, [&](size_t) -> const Type & { return type.arguments[0]; }))
      return false;
    value = Value::list(std::move(items));
    return true;
  case TypeKind::Tuple:
    if (!value.items() || value.items()->size() != type.arguments.size() ||
        !each(*value.items(), items, [&](size_t i) -> const Type & { return type.arguments[i]; }))
      return false;
    value = Value::tuple(std::move(items));
    return true;
  case TypeKind::Dict:
    if (!value.isDict())
      return false;
    for (auto &[key, item] : value.asDict().items)
      if (!adapt(key, type.arguments[0]) || !adapt(item, type.arguments[1]))
        return false;
    return true;
  case TypeKind::Any:
    return true;
  case TypeKind::Union:
    return llvm::any_of(type.arguments, [&](const Type &option) {
      Value copy = value;
      if (!adapt(copy, option))
        return false;
      value = copy;
      return true;
    });
  case TypeKind::Device:
    value = Value(DeviceValue{"cpu"});
    return true;
  default:
    return false;
  }
}

static bool wantsString(const Type &type) {
  return type.is(TypeKind::String) || type.is(TypeKind::Device) || (type.is(TypeKind::Optional) && wantsString(type.arguments[0]));
}

Result<Value> valueFromText(const std::string &text, const Type &type, Program &program) {
  Arena &arena = program.arena();
  auto *file = new (arena.memory.Allocate<SourceFile>()) SourceFile{"value", arena.strings.save(text).str(), {}};
  Expr *expr = nullptr;
  Value value;
  bool isLiteral = parseExpression(*file, arena, expr).ok() && expr && literal(*expr, value);
  file->~SourceFile();
  if (isLiteral && adapt(value, type))
    return value;
  if (wantsString(type)) {
    value = Value::string(text);
    adapt(value, type);
    return value;
  }
  return invalidArgument("is " + type.text + " in the model, which `" + text + "` is not");
}

Result<Value> ScriptInputs::constantTensor(const InputNode &node, Context &context) {
  const compiler::ConstantSpec &spec = *node.constant;
  trace::BuilderImpl &impl = context.builder().impl();
  trace::Tensor tensor;
  if (spec.array) {
    tensor = impl.ownedParameter(node.name, spec.array->type, spec.array->dims, spec.array->bytes, /*isMutable=*/false);
  } else {
    Type any;
    STATOR_TRY(value, valueFromText(spec.text, any, program));
    std::vector<double> numbers;
    bool isFloat = false, isBool = true;
    const Values one{value}, &items = value.items() ? *value.items() : one;
    for (const Value &item : items) {
      if (!item.knownNumber())
        return invalidArgument("is a Tensor in the model: give numbers, or an array as @FILE.npy");
      numbers.push_back(*item.knownNumber());
      isFloat |= item.isFloat();
      isBool &= item.isBool();
    }
    ElementType type = isFloat ? ElementType::F32 : isBool && !numbers.empty() ? ElementType::I1 : ElementType::I64;
    trace::Contents contents;
    for (double number : numbers)
      contents.push_back(trace::elementOf(type, number));
    std::vector<char> bytes;
    trace::writeContents(type, contents, bytes);
    std::vector<int64_t> dims;
    if (value.items())
      dims.push_back(int64_t(numbers.size()));
    tensor = impl.ownedParameter(node.name, type, dims, bytes, /*isMutable=*/false);
  }
  if (!impl.ok())
    return impl.takeError();
  return Value::tensor(context.make(tensor, node.name));
}

static bool isTensorType(const Type &type) {
  return type.is(TypeKind::Tensor) || (type.is(TypeKind::Optional) && isTensorType(type.arguments[0]));
}

Result<Value> ScriptInputs::makeConstant(InputNode &node, Evaluator &evaluator, Context &context) {
  const std::string place = "input `" + node.name + "`";
  bool isNone = node.constant->text == "None" && node.type.is(TypeKind::Optional);
  Result<Value> value = isNone                    ? Result<Value>(Value::none())
                        : isTensorType(node.type) ? constantTensor(node, context)
                        : node.constant->array    ? Result<Value>(invalidArgument("is " + node.type.text + " in the model, not a tensor"))
                                                  : valueFromText(node.constant->text, node.type, program);
  return value.ok() ? value : Result<Value>(value.status().withContext(place));
}

static void flatten(const Value &value, const std::string &name, bool isRoot, std::vector<NamedOutput> &outputs,
                    std::vector<std::string> &leftOut) {
  auto join = [&](const std::string &key, bool keepRoot) { return isRoot && !keepRoot ? key : name + "." + key; };
  if (value.isTensor() || value.isScalar()) {
    outputs.push_back({name, value});
  } else if (value.isTuple()) {
    const TupleObject &tuple = value.asTuple();
    for (size_t i = 0; i < tuple.items.size(); ++i)
      flatten(tuple.items[i], tuple.fields.empty() ? join(std::to_string(i), true) : join(tuple.fields[i], false), false, outputs, leftOut);
  } else if (value.isList()) {
    for (size_t i = 0; i < value.asList().items.size(); ++i)
      flatten(value.asList().items[i], join(std::to_string(i), true), false, outputs, leftOut);
  } else if (value.isDict()) {
    for (const auto &[key, item] : value.asDict().items)
      flatten(item, join(textOf(key), false), false, outputs, leftOut);
  } else if (!value.isPoison()) {
    leftOut.push_back(name + " (" + value.typeName() + ")");
  }
}

void flattenOutputs(const Value &value, std::vector<NamedOutput> &outputs, std::vector<std::string> &leftOut) {
  flatten(value, "output", true, outputs, leftOut);
}

} // namespace stator::torch::script
