//===- ScriptSummary.cpp - what is in a TorchScript file -----------------------===//

#include "compiler/Import/Torch/Aten/Operators.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Import/Torch/Script/ScriptFile.h"
#include "compiler/Import/Torch/Script/ScriptImport.h"

namespace stator::torch {

using namespace script;

namespace {

/// Walks the text of the functions that a method leads to, as far as names tell without running anything.
class OperatorCounter {
public:
  explicit OperatorCounter(Program &program) : program(program) {}
  std::map<std::string, unsigned> counts;

  void visit(const ClassDef *type) {
    if (type && seen.insert(type).second)
      for (const Function *method : type->methodOrder)
        visit(*method);
  }
  void visit(const Function &function) {
    if (seen.insert(&function).second)
      visit(function.body);
  }

private:
  void visit(llvm::ArrayRef<Stmt *> body) {
    for (const Stmt *stmt : body) {
      if (stmt->value)
        visit(*stmt->value);
      visit(stmt->body);
      visit(stmt->orElse);
    }
  }
  void visit(const Expr &expr) {
    if (expr.dotted.starts_with("__torch__.")) {
      Result<Definition> found = program.find(expr.dotted);
      if (found.ok() && found->function)
        visit(*found->function);
      return;
    }
    if (expr.kind == ExprKind::Call) {
      llvm::StringRef name = expr.items[0]->dotted;
      if (name.consume_front("torch.") || name.consume_front("ops."))
        ++counts[name.str()];
    }
    for (const Expr *item : expr.items)
      if (item)
        visit(*item);
    for (const Keyword &keyword : expr.keywords)
      visit(*keyword.value);
  }

  Program &program;
  std::set<const void *> seen;
};

/// Source text of a default value.
std::string sourceOf(const Expr *expr) {
  if (!expr)
    return {};
  switch (expr->kind) {
  case ExprKind::None:
    return "None";
  case ExprKind::True:
    return "True";
  case ExprKind::False:
    return "False";
  case ExprKind::Int:
    return std::to_string(expr->integer);
  case ExprKind::Float:
    return textOf(Value::real(expr->number));
  case ExprKind::String:
    return "\"" + expr->text.str() + "\"";
  case ExprKind::List: {
    std::string text = "[";
    for (const Expr *item : expr->items)
      text += (text.size() > 1 ? ", " : "") + sourceOf(item);
    return text + "]";
  }
  default:
    return "...";
  }
}

/// The values that a type stands for, as the artifact will name them.
void addValues(Program &program, const std::string &name, const Type &type, bool isOutput, bool isRoot,
               std::vector<compiler::ModelSummary::Value> &values) {
  if (type.is(TypeKind::Tuple)) {
    for (size_t i = 0; i < type.arguments.size(); ++i)
      addValues(program, name + "." + std::to_string(i), type.arguments[i], isOutput, false, values);
    return;
  }
  if (type.is(TypeKind::Class) && type.definition->kind == ClassKind::NamedTuple && values.size() < 1000) {
    for (const Field &field : type.definition->fields)
      if (Result<Type> fieldType = program.type(field.type); fieldType.ok())
        addValues(program, isOutput && isRoot ? field.name : name + "." + field.name, *fieldType, isOutput, false, values);
    return;
  }
  compiler::ModelSummary::Value value;
  value.name = name;
  value.type = type.text;
  if (!isOutput) {
    value.needsShape = type.is(TypeKind::Tensor);
    value.isConstant = !value.needsShape;
  }
  values.push_back(std::move(value));
}

void countTensors(const ClassDef *type, const PickleValue &object, ModuleSource &source, Program &program, std::set<const void *> &seen,
                  compiler::ModelSummary &summary, std::set<const ParameterInfo *> &parameters, unsigned depth) {
  if (!object.is(PickleKind::Object) || !object.content() || !seen.insert(&object).second || depth > 256)
    return;
  for (const PickleEntry &entry : object.content()->entries()) {
    if (const PickledTensor *tensor = entry.second->tensor()) {
      if (type && llvm::is_contained(type->parameters, entry.first->text().str()))
        parameters.insert(&source.parameterOf(*tensor, /*isConstant=*/false));
    } else if (entry.second->is(PickleKind::Object)) {
      Result<Definition> inner = program.find(entry.second->text());
      countTensors(inner.ok() ? inner->type : nullptr, *entry.second, source, program, seen, summary, parameters, depth + 1);
    }
  }
}

} // namespace

Result<compiler::ModelSummary> summariseScript(const std::string &path) {
  Result<std::unique_ptr<ScriptFile>> opened = ScriptFile::open(path);
  if (!opened.ok())
    return opened.status().withContext(path);
  ScriptFile &file = **opened;
  Program &program = file.program();
  compiler::ModelSummary summary;
  summary.kind = "TorchScript";
  summary.version = std::to_string(file.version());
  for (Function *function : file.rootClass()->methodOrder) {
    // Hooks and helpers too: every method can be an entry.
    compiler::ModelSummary::Method method;
    method.name = function->name.str();
    for (size_t i = 1; i < function->parameters.size(); ++i) {
      const Parameter &parameter = function->parameters[i];
      Result<Type> type = program.type(parameter.type);
      if (!type.ok())
        return type.status().withContext(path);
      if (parameter.defaultValue) {
        compiler::ModelSummary::Value value;
        value.name = parameter.name.str();
        value.type = type->text;
        value.isConstant = true;
        value.value = sourceOf(parameter.defaultValue);
        method.inputs.push_back(std::move(value));
      } else {
        addValues(program, parameter.name.str(), *type, /*isOutput=*/false, true, method.inputs);
      }
    }
    if (function->returnType) {
      Result<Type> type = program.type(function->returnType);
      if (!type.ok())
        return type.status().withContext(path);
      addValues(program, "output", *type, /*isOutput=*/true, true, method.outputs);
    }
    summary.methods.push_back(std::move(method));
  }

  OperatorCounter counter(program);
  std::set<const void *> seen;
  std::vector<const PickleValue *> pending{&file.source().root()};
  while (!pending.empty()) {
    const PickleValue *object = pending.back();
    pending.pop_back();
    if (!seen.insert(object).second)
      continue;
    if (object->is(PickleKind::Object)) {
      Result<Definition> type = program.find(object->text());
      if (!type.ok())
        return type.status().withContext(path);
      counter.visit(type->type);
      if (object->content())
        for (const PickleEntry &entry : object->content()->entries())
          pending.push_back(entry.second);
    }
  }
  for (const auto &[name, count] : counter.counts) {
    std::string builtin = llvm::StringRef(name).starts_with("aten.") ? name.substr(5) : name;
    bool isSupported = hasBuiltin(builtin) || !findOverloads(builtin).empty();
    summary.operators.push_back({name, count, isSupported});
  }

  std::set<const ParameterInfo *> parameters;
  seen.clear();
  countTensors(file.rootClass(), file.source().root(), file.source(), program, seen, summary, parameters, 0);
  uint64_t constants = 0;
  for (ParameterInfo *info : file.source().parameters()) {
    const PickledTensor &tensor = *info->tensor;
    std::optional<ElementType> type = elementTypeOf(tensor.scalarType);
    uint64_t bytes = uint64_t(std::max<int64_t>(scalarTypeBytes(tensor.scalarType), 0));
    for (int64_t size : tensor.sizes)
      if (__builtin_mul_overflow(bytes, uint64_t(std::max<int64_t>(size, 0)), &bytes))
        bytes = 0;
    bool isConstant = std::string_view(info->folder) == "constants";
    constants += isConstant;
    compiler::addTensor(isConstant || parameters.count(info) ? summary.parameters : summary.buffers, info->name,
                        type ? std::string(name(*type)) : scalarTypeName(tensor.scalarType),
                        std::span<const int64_t>(tensor.sizes.data(), tensor.sizes.size()), bytes);
  }
  if (constants)
    summary.notes.push_back(std::to_string(constants) + " of the parameters are constants of the code: the module was frozen.");
  return summary;
}

} // namespace stator::torch
