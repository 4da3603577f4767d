//===- Program.cpp - classes and functions of an archive, by name ------------===//

#include "compiler/Import/Torch/Script/Program.h"

#include "llvm/ADT/StringSwitch.h"

namespace stator::torch::script {

/// All source text that one import parses.
static constexpr uint64_t maxTextBytes = uint64_t(256) << 20;

Program::File &Program::load(llvm::StringRef module) {
  std::unique_ptr<File> &slot = files[module];
  if (slot)
    return *slot;
  slot = std::make_unique<File>();
  File &file = *slot;
  std::string record = "code/" + module.str();
  std::replace(record.begin() + 5, record.end(), '.', '/');
  record += ".py";
  Result<std::string> text = reader(record);
  if (!text.ok()) {
    if (text.status().code() != StatusCode::NotFound)
      file.status = text.status();
    return file;
  }
  file.exists = true;
  file.source.path = record;
  file.source.text = std::move(*text);
  textBytes += file.source.text.size();
  if (textBytes > maxTextBytes) {
    file.status = resourceExhausted(record + ": the program has more than " + std::to_string(maxTextBytes >> 20) + " MiB of source text");
    return file;
  }
  ParsedFile parsed;
  file.status = parseFile(file.source, module, memory, parsed);
  if (!file.status.ok())
    return file;
  auto add = [&](llvm::StringRef name, Definition definition, uint32_t offset) {
    if (!file.definitions.try_emplace(name, definition).second && file.status.ok())
      file.status = invalidFile(file.source.place(offset) + ": `" + name.str() + "` is defined twice in the file");
  };
  for (ClassDef *type : parsed.classes)
    add(type->name(), {type, nullptr}, type->offset);
  for (Function *function : parsed.functions)
    add(function->name, {nullptr, function}, function->offset);
  return file;
}

Result<Definition> Program::find(llvm::StringRef qualifiedName) {
  auto [module, name] = qualifiedName.rsplit('.');
  if (name.empty() || qualifiedName.size() > 4096)
    return Definition();
  File &file = load(module);
  STATOR_RETURN_IF_ERROR(file.status);
  auto found = file.definitions.find(name);
  return found == file.definitions.end() ? Definition() : found->second;
}

Result<ClassDef *> Program::findClass(llvm::StringRef qualifiedName) {
  STATOR_TRY(definition, find(qualifiedName));
  if (!definition.type)
    return invalidFile("class `" + qualifiedName.take_front(200).str() + "` is not in the archive's code");
  return definition.type;
}

Result<Type> Program::type(const Expr *expr) { return type(expr, 0); }

Result<Type> Program::type(const Expr *expr, unsigned depth) {
  Type result;
  if (!expr) {
    result.kind = TypeKind::Tensor; // what an annotation that is not there means in TorchScript
    result.text = "Tensor";
    return result;
  }
  const Expr *head = expr->kind == ExprKind::Subscript ? expr->items[0] : expr;
  if (head->kind == ExprKind::None) {
    result.kind = TypeKind::None;
    result.text = "None";
    return result;
  }
  llvm::StringRef name = head->dotted;
  if (name.starts_with("__torch__.")) {
    STATOR_TRY(definition, find(name));
    result.kind = definition.type ? TypeKind::Class : TypeKind::Unknown;
    result.definition = definition.type;
    result.text = name.rsplit('.').second.str();
    if (!definition.type)
      result.text = name.str();
    return result;
  }
  result.kind = llvm::StringSwitch<TypeKind>(name)
                    .Case("Tensor", TypeKind::Tensor)
                    .Case("int", TypeKind::Int)
                    .Case("float", TypeKind::Float)
                    .Case("bool", TypeKind::Bool)
                    .Case("str", TypeKind::String)
                    .Case("complex", TypeKind::Complex)
                    .Cases("Device", "torch.device", TypeKind::Device)
                    .Case("NoneType", TypeKind::None)
                    .Case("Any", TypeKind::Any)
                    .Cases("number", "Scalar", TypeKind::Number)
                    .Case("Optional", TypeKind::Optional)
                    .Case("List", TypeKind::List)
                    .Case("Dict", TypeKind::Dict)
                    .Case("Tuple", TypeKind::Tuple)
                    .Case("Union", TypeKind::Union)
                    .Cases("Future", "Await", TypeKind::Future)
                    .Default(TypeKind::Unknown);
  result.text = name.empty() ? "?" : name.str();
  if (expr->kind != ExprKind::Subscript) {
    // These say nothing without their arguments, which everybody takes for granted.
    if (result.is(TypeKind::Optional) || result.is(TypeKind::List) || result.is(TypeKind::Dict))
      result.kind = TypeKind::Unknown;
    return result;
  }
  if (name == "Final" && expr->items.size() == 2)
    return type(expr->items[1], depth + 1);
  result.text += "[";
  for (size_t i = 1; i < expr->items.size(); ++i) {
    const Expr *item = expr->items[i];
    // Tuple[()] is the empty tuple.
    if (item && item->kind == ExprKind::Tuple && item->items.empty())
      continue;
    STATOR_TRY(argument, type(item, depth + 1));
    result.text += (result.arguments.empty() ? "" : ", ") + argument.text;
    result.arguments.push_back(std::move(argument));
  }
  result.text += "]";
  size_t expected = result.kind == TypeKind::Dict                                      ? 2
                    : result.kind == TypeKind::Tuple || result.kind == TypeKind::Union ? result.arguments.size()
                                                                                       : 1;
  if (result.arguments.size() != expected)
    result.kind = TypeKind::Unknown;
  return result;
}

} // namespace stator::torch::script
