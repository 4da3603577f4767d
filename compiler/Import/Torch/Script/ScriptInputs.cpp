//===- ScriptInputs.cpp - what a method is called with ------------------------===//

#include "compiler/Import/Torch/Script/ScriptInputs.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::script {

/// Types in types; a class cannot contain itself, but names can be long.
static constexpr unsigned maxDepth = 32;

static bool startsWithPath(const std::string &name, const std::string &prefix) {
  return name.size() > prefix.size() && name[prefix.size()] == '.' && name.starts_with(prefix);
}

bool ScriptInputs::isGiven(const std::string &name) const {
  return llvm::any_of(options.inputs, [&](const compiler::InputSpec &spec) { return spec.name == name; });
}

bool ScriptInputs::isBelow(const std::string &name) const {
  return llvm::any_of(options.inputs, [&](const compiler::InputSpec &spec) { return startsWithPath(spec.name, name); }) ||
         llvm::any_of(options.constants, [&](const compiler::ConstantSpec &spec) { return startsWithPath(spec.name, name); });
}

/// The next parts of the names below `name`, each once, in the order of the options.
std::vector<std::string> ScriptInputs::keysBelow(const std::string &name, bool isLeaf) const {
  std::vector<std::string> keys;
  auto note = [&](const std::string &other) {
    if (!startsWithPath(other, name))
      return;
    std::string key = other.substr(name.size() + 1);
    if (!isLeaf)
      key = key.substr(0, key.find('.'));
    if (!llvm::is_contained(keys, key))
      keys.push_back(key);
  };
  for (const compiler::InputSpec &spec : options.inputs)
    note(spec.name);
  for (const compiler::ConstantSpec &spec : options.constants)
    note(spec.name);
  return keys;
}

static bool holdsTensor(const Type &type) {
  return type.is(TypeKind::Tensor) || llvm::any_of(type.arguments, holdsTensor) ||
         (type.is(TypeKind::Class) && type.definition->kind == ClassKind::NamedTuple);
}

/// What to type for the tensors in a value, if lists and dicts have one element.
static std::string exampleOf(const std::string &name, const Type &type) {
  if (type.is(TypeKind::List))
    return exampleOf(name + ".0", type.arguments[0]);
  if (type.is(TypeKind::Dict))
    return exampleOf(name + ".KEY", type.arguments[1]);
  if (type.is(TypeKind::Optional))
    return exampleOf(name, type.arguments[0]);
  if (!type.is(TypeKind::Tuple))
    return "--input=" + name + "=1x3x224x224xf32";
  std::string text;
  for (size_t i = 0; i < type.arguments.size(); ++i)
    text += (i ? " " : "") + exampleOf(name + "." + std::to_string(i), type.arguments[i]);
  return text;
}

void ScriptInputs::missing(const std::string &name, const Type &type) {
  if (!missingNames.insert(name).second)
    return;
  std::string text = "`" + name + "` (" + type.text + "): ";
  const Type *inner = &type;
  if (type.is(TypeKind::Optional)) {
    text += "--const " + name + "=None, or ";
    inner = &type.arguments[0];
  }
  if (inner->is(TypeKind::Tensor))
    text += "--input=" + name + "=1x3x224x224xf32 (its shape and element type) or --input=" + name + "=@" + name + ".npy (those of a file)";
  else if (inner->is(TypeKind::List) && holdsTensor(*inner))
    text += exampleOf(name, *inner) + " and so on, one for each element, or --const=" + name + "=[] for none";
  else if (inner->is(TypeKind::Dict) && holdsTensor(*inner))
    text += exampleOf(name, *inner) + ", one for each key";
  else if (inner->is(TypeKind::Int))
    text += "--const " + name + "=3";
  else if (inner->is(TypeKind::Float))
    text += "--const " + name + "=0.5";
  else if (inner->is(TypeKind::Bool))
    text += "--const " + name + "=True";
  else if (inner->is(TypeKind::String))
    text += "--const " + name + "=text";
  else if (inner->is(TypeKind::List))
    text += "--const " + name + "=[1,2]";
  else if (inner->is(TypeKind::Tuple))
    text += "--const " + name + "=(1,2)";
  else if (inner->is(TypeKind::Dict))
    text += "--const " + name + "={\"key\":1}";
  else
    text += "--const " + name + "=VALUE";
  missingOnes.emplace_back(llvm::find(names, name) - names.begin(), std::move(text));
}

Result<InputNode> ScriptInputs::plan(const std::string &name, const Type &type, Expr *defaultValue, unsigned depth) {
  InputNode node;
  node.name = name;
  node.type = type;
  node.defaultValue = defaultValue;
  names.push_back(name);
  if (depth > maxDepth)
    return unsupported("input `" + name + "` is nested too deeply");
  for (const compiler::ConstantSpec &spec : options.constants)
    if (spec.name == name) {
      usedConstants.insert(&spec);
      node.kind = InputNode::Kind::Constant;
      node.constant = &spec;
      return node;
    }
  const Type *inner = &type;
  bool isBare = type.is(TypeKind::Tensor);
  while (inner->is(TypeKind::Optional))
    inner = &inner->arguments[0];
  bool isWanted = isGiven(name) || isBelow(name);
  bool isNumber = inner->is(TypeKind::Int) || inner->is(TypeKind::Float) || inner->is(TypeKind::Bool);
  if (inner->is(TypeKind::Tensor) && (isWanted || (isBare && !defaultValue))) {
    node.kind = InputNode::Kind::Tensor;
    node.type = *inner;
    return node;
  }
  if (isNumber && isGiven(name)) {
    node.kind = InputNode::Kind::Scalar;
    node.type = *inner;
    return node;
  }
  bool isStructure = inner->is(TypeKind::List) || inner->is(TypeKind::Tuple) || inner->is(TypeKind::Dict) ||
                     (inner->is(TypeKind::Class) && inner->definition->kind == ClassKind::NamedTuple);
  // Tuples and named tuples without anything else are taken apart to say what is missing in them.
  bool isFixed = (inner->is(TypeKind::Tuple) || inner->is(TypeKind::Class)) && inner == &type && holdsTensor(*inner);
  if (isStructure && (isWanted || (isFixed && !defaultValue))) {
    node.type = *inner;
    STATOR_RETURN_IF_ERROR(planChildren(node, depth));
    return node;
  }
  if (!defaultValue)
    missing(name, type);
  return node;
}

Status ScriptInputs::planChildren(InputNode &node, unsigned depth) {
  auto add = [&](const std::string &key, const Type &type) -> Status {
    STATOR_TRY(child, plan(node.name + "." + key, type, nullptr, depth + 1));
    node.children.push_back(std::move(child));
    node.keys.push_back(key);
    return okStatus();
  };
  const Type type = node.type;
  switch (type.kind) {
  case TypeKind::Tuple:
    node.kind = InputNode::Kind::Tuple;
    for (size_t i = 0; i < type.arguments.size(); ++i)
      STATOR_RETURN_IF_ERROR(add(std::to_string(i), type.arguments[i]));
    return okStatus();
  case TypeKind::Class:
    node.kind = InputNode::Kind::NamedTuple;
    for (const Field &field : type.definition->fields) {
      STATOR_TRY(fieldType, program.type(field.type));
      STATOR_RETURN_IF_ERROR(add(field.name, fieldType));
    }
    return okStatus();
  case TypeKind::List: {
    node.kind = InputNode::Kind::List;
    std::vector<std::string> keys = keysBelow(node.name, /*isLeaf=*/false);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!llvm::is_contained(keys, std::to_string(i)))
        return invalidArgument("input `" + node.name + "` is a list, whose elements are `" + node.name + ".0`, `" + node.name +
                               ".1` and so on without a gap; `" + node.name + "." + std::to_string(i) + "` is missing");
      STATOR_RETURN_IF_ERROR(add(std::to_string(i), type.arguments[0]));
    }
    return okStatus();
  }
  default:
    node.kind = InputNode::Kind::Dict;
    const Type &value = type.arguments[1];
    bool isLeaf = !value.is(TypeKind::List) && !value.is(TypeKind::Dict) && !value.is(TypeKind::Tuple) && !value.is(TypeKind::Class);
    for (const std::string &key : keysBelow(node.name, isLeaf))
      STATOR_RETURN_IF_ERROR(add(key, value));
    return okStatus();
  }
}

Status ScriptInputs::add(const std::string &method, const Function &function) {
  Method made{method, &function, {}};
  for (size_t i = 1; i < function.parameters.size(); ++i) {
    const Parameter &parameter = function.parameters[i];
    STATOR_TRY(type, program.type(parameter.type));
    STATOR_TRY(node, plan(parameter.name.str(), type, parameter.defaultValue, 0));
    made.nodes.push_back(std::move(node));
  }
  methods.push_back(std::move(made));
  return okStatus();
}

void ScriptInputs::collectTensors(InputNode &node, std::vector<InputNode *> &tensors) {
  if (node.kind == InputNode::Kind::Tensor || node.kind == InputNode::Kind::Scalar)
    tensors.push_back(&node);
  for (InputNode &child : node.children)
    collectTensors(child, tensors);
}

/// Shapes without a name are for the tensors that a method needs. If there are more of them, they are for optional ones too.
void ScriptInputs::promoteOptionals() {
  if (methods.empty())
    return;
  std::vector<InputNode *> tensors;
  for (InputNode &node : methods.front().nodes)
    collectTensors(node, tensors);
  size_t needed = llvm::count_if(tensors, [&](InputNode *node) { return !isGiven(node->name); });
  size_t unnamed = llvm::count_if(options.inputs, [](const compiler::InputSpec &spec) { return spec.name.empty(); });
  for (InputNode &node : methods.front().nodes) {
    if (needed >= unnamed)
      return;
    bool isOptional =
        node.kind == InputNode::Kind::Default && node.type.is(TypeKind::Optional) && node.type.arguments[0].is(TypeKind::Tensor);
    if (!isOptional)
      continue;
    node.kind = InputNode::Kind::Tensor;
    node.type = Type(node.type.arguments[0]);
    llvm::erase_if(missingOnes, [&](const auto &entry) { return names[entry.first] == node.name; });
    ++needed;
  }
}

std::string ScriptInputs::missingText() {
  std::string text = "the file does not say all about the model's inputs; give";
  llvm::sort(missingOnes); // in the order of the parameters
  for (const auto &[place, line] : missingOnes)
    text += "\n  " + line;
  return text;
}

Status ScriptInputs::assign() {
  promoteOptionals();
  std::vector<compiler::MethodInputs> inputs;
  std::vector<std::vector<InputNode *>> tensors;
  for (Method &method : methods) {
    tensors.emplace_back();
    for (InputNode &node : method.nodes)
      collectTensors(node, tensors.back());
    inputs.push_back({method.name, {}});
    for (InputNode *node : tensors.back())
      inputs.back().tensors.push_back(node->name);
  }
  for (const compiler::ConstantSpec &spec : options.constants)
    if (!usedConstants.count(&spec)) {
      std::vector<std::string> known;
      for (const std::string &name : names)
        if (!llvm::is_contained(known, name))
          known.push_back(name);
      return notFound("there is no input `" + spec.name + "`; the inputs are " + compiler::quotedList(known));
    }
  Result<std::vector<std::vector<const compiler::InputSpec *>>> assigned = compiler::assignInputSpecs(options, inputs);
  if (!assigned.ok())
    return missingOnes.empty() ? assigned.status() : invalidArgument(std::string(assigned.status().message()) + "; " + missingText());
  const auto &specs = *assigned;
  for (size_t m = 0; m < methods.size(); ++m)
    for (size_t i = 0; i < tensors[m].size(); ++i) {
      InputNode &node = *tensors[m][i];
      node.spec = specs[m][i];
      if (!node.spec) {
        missing(node.name, node.type);
        continue;
      }
      if (!node.spec->type)
        return invalidArgument("input `" + node.name + "`: the element type is missing, as in --input=" + node.name + "=" +
                               (node.spec->text.empty() ? "1x3" : node.spec->text.substr(node.spec->text.find('=') + 1)) + "xf32");
      if (node.kind == InputNode::Kind::Scalar && !node.spec->dims.empty())
        return invalidArgument("input `" + node.name + "` is " + node.type.text +
                               " in the model; as an input of the compiled model it has no dimensions");
      for (const compiler::DimSpec &dim : node.spec->dims)
        if (dim.kind == compiler::DimSpec::Kind::Symbol)
          sizeNames.insert(dim.symbol);
    }
  if (!missingOnes.empty())
    return invalidArgument(missingText());
  for (const compiler::SymbolSpec &symbol : options.symbols)
    if (!sizeNames.count(symbol.name))
      return notFound("no size of the inputs is named `" + symbol.name + "`; the sizes are " +
                      compiler::quotedList(std::vector<std::string>(sizeNames.begin(), sizeNames.end())));
  return okStatus();
}

/// What a size without a range may be: not 0, since models say `x[:, -1:]` and mean one element. Who wants empty inputs gives the range.
static constexpr int64_t leastSize = 1, greatestSize = 2147483647;

trace::Dim ScriptInputs::dimOf(const compiler::DimSpec &spec, const std::string &fallback, trace::Builder &builder) {
  if (spec.kind == compiler::DimSpec::Kind::Number)
    return spec.number;
  if (spec.kind == compiler::DimSpec::Kind::FromModel)
    return builder.symbol(fallback, spec.min.value_or(leastSize), spec.max.value_or(greatestSize));
  const compiler::SymbolSpec *symbol = compiler::findSymbol(options, spec.symbol);
  if (!symbol)
    return builder.symbol(spec.symbol, leastSize, greatestSize);
  return symbol->min == symbol->max ? trace::Dim(symbol->min) : builder.symbol(spec.symbol, symbol->min, symbol->max);
}

Result<Value> ScriptInputs::makeTensor(InputNode &node, Context &context) {
  trace::Builder &builder = context.builder();
  trace::Dims dims;
  for (size_t i = 0; i < node.spec->dims.size(); ++i)
    dims.push_back(dimOf(node.spec->dims[i], node.name + "_" + std::to_string(i), builder));
  trace::Tensor tensor = builder.input(node.name, *node.spec->type, dims);
  if (!builder.ok())
    return builder.impl().takeError();
  if (node.kind == InputNode::Kind::Scalar) {
    bool isInt = node.type.is(TypeKind::Int), isBool = node.type.is(TypeKind::Bool);
    ElementType wanted = isInt ? ElementType::I64 : isBool ? ElementType::I1 : ElementType::F64;
    trace::Tensor number = tensor.type() == wanted ? tensor : trace::fn::cast(tensor, wanted);
    return isInt ? Value::dataInteger(number) : isBool ? Value::dataBoolean(number) : Value::dataReal(number);
  }
  TensorRef made = context.make(tensor, node.name);
  declared.emplace_back(node.name, made);
  return Value::tensor(made);
}

Result<Value> ScriptInputs::make(InputNode &node, Evaluator &evaluator, Context &context, const SourceFile &file) {
  switch (node.kind) {
  case InputNode::Kind::Tensor:
  case InputNode::Kind::Scalar:
    return makeTensor(node, context);
  case InputNode::Kind::Constant:
    return makeConstant(node, evaluator, context);
  case InputNode::Kind::Default:
    return node.defaultValue ? Result<Value>(evaluator.constant(*node.defaultValue, file)) : Result<Value>(Value::none());
  default:
    break;
  }
  Values items;
  for (InputNode &child : node.children) {
    STATOR_TRY(item, make(child, evaluator, context, file));
    items.push_back(std::move(item));
  }
  if (node.kind == InputNode::Kind::List)
    return Value::list(std::move(items));
  if (node.kind == InputNode::Kind::Tuple)
    return Value::tuple(std::move(items));
  if (node.kind == InputNode::Kind::NamedTuple)
    return Value::namedTuple(std::move(items), node.keys, node.type.definition->name().str());
  Value dict = Value::dict();
  for (size_t i = 0; i < items.size(); ++i) {
    STATOR_TRY(key, valueFromText(node.keys[i], node.type.arguments[0], program));
    dict.asDict().items.emplace_back(std::move(key), std::move(items[i]));
  }
  return dict;
}

Result<Values> ScriptInputs::arguments(size_t index, Evaluator &evaluator, Context &context) {
  declared.clear();
  Values values;
  for (InputNode &node : methods[index].nodes) {
    Result<Value> value = make(node, evaluator, context, *methods[index].function->file);
    if (!value.ok())
      return value.status();
    values.push_back(std::move(*value));
  }
  return values;
}

} // namespace stator::torch::script
