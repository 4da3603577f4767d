//===- Parser.cpp - from source text to classes and functions ---------------===//

#include "compiler/Import/Torch/Script/ParserImpl.h"

namespace stator::torch::script {

static constexpr size_t maxParameters = 4096;

Status ParserImpl::parseFile() {
  while (!failed() && token.kind != TokenKind::End) {
    if (token.kind == TokenKind::Newline)
      advance();
    else if (token.isWord("class"))
      classDefinition();
    else if (token.isWord("def"))
      result.functions.push_back(function());
    else
      fail("`class` or `def`");
  }
  return lexer.status();
}

Function *ParserImpl::function() {
  arena.functions.emplace_back();
  Function *made = &arena.functions.back();
  made->file = &file;
  made->offset = token.offset;
  advance();
  made->name = name("the name of a function");
  Function *outer = std::exchange(current, made);
  slots.clear();
  parameters(*made);
  if (accept("->"))
    made->returnType = expression();
  made->body = block();
  current = outer;
  return made;
}

void ParserImpl::parameters(Function &function) {
  expect("(");
  while (!failed() && !token.is(")")) {
    Parameter parameter;
    uint32_t offset = token.offset;
    parameter.name = name("the name of a parameter");
    parameter.slot = slotOf(parameter.name);
    if (accept(":"))
      parameter.type = expression();
    if (accept("="))
      parameter.defaultValue = expression();
    for (const Parameter &other : function.parameters)
      if (other.slot == parameter.slot)
        failAt(offset, "two parameters are called `" + parameter.name.str() + "`");
    function.parameters.push_back(parameter);
    if (function.parameters.size() > maxParameters)
      failAt(offset, "a function has more than " + std::to_string(maxParameters) + " parameters");
    if (!accept(","))
      break;
  }
  expect(")");
}

void ParserImpl::classDefinition() {
  arena.classes.emplace_back();
  ClassDef &definition = arena.classes.back();
  definition.file = &file;
  definition.offset = token.offset;
  advance();
  llvm::StringRef own = name("the name of a class");
  definition.qualifiedName = (module + "." + own).str();
  if (accept("(")) {
    llvm::StringRef base = name("the kind of the class");
    if (base == "Module")
      definition.kind = ClassKind::Module;
    else if (base == "NamedTuple")
      definition.kind = ClassKind::NamedTuple;
    else if (base == "Enum")
      definition.kind = ClassKind::Enum;
    else if (base == "Interface" || base == "ModuleInterface")
      definition.kind = ClassKind::Interface;
    else if (!failed())
      failAt(definition.offset, "a class is a Module, NamedTuple, Enum, Interface or ModuleInterface, not a `" + base.str() + "`");
    expect(")");
  }
  expect(":");
  expectLineEnd();
  if (!failed() && token.kind != TokenKind::Indent)
    fail("an indented block");
  advance();
  while (!failed() && token.kind != TokenKind::Dedent && token.kind != TokenKind::End)
    classMember(definition);
  if (token.kind == TokenKind::Dedent)
    advance();
  result.classes.push_back(&definition);
}

void ParserImpl::classMember(ClassDef &definition) {
  if (token.kind == TokenKind::Newline)
    return advance();
  if (token.isWord("def")) {
    Function *method = function();
    if (failed())
      return;
    if (!definition.methods.try_emplace(method->name, method).second)
      return failAt(method->offset, "two methods of the class are called `" + method->name.str() + "`");
    definition.methodOrder.push_back(method);
    return;
  }
  Stmt *stmt = simpleStatement();
  if (!stmt || failed() || stmt->kind == StmtKind::Pass)
    return;
  if (stmt->kind != StmtKind::Assign || stmt->isUnpacking)
    return failAt(stmt->offset, "a class holds attributes and methods only");
  Expr *target = stmt->targets[0];
  Field field;
  if (target->kind == ExprKind::Subscript) {
    // __annotations__["0"] = Type: an attribute whose name is no identifier.
    bool isAnnotation = target->items[0]->text == "__annotations__" && target->items.size() == 2 && target->items[1] &&
                        target->items[1]->kind == ExprKind::String;
    if (!isAnnotation)
      return failAt(stmt->offset, "a class holds attributes and methods only");
    field.name = target->items[1]->text.str();
    field.type = stmt->value;
  } else if (target->kind != ExprKind::Name) {
    return failAt(stmt->offset, "a class holds attributes and methods only");
  } else {
    field.name = target->text.str();
    field.type = stmt->annotation;
    field.value = stmt->value;
    llvm::StringRef special = target->text;
    std::vector<std::string> *list = special == "__parameters__"          ? &definition.parameters
                                     : special == "__buffers__"           ? &definition.buffers
                                     : special == "__forward_pre_hooks__" ? &definition.preHooks
                                     : special == "__forward_hooks__"     ? &definition.hooks
                                                                          : nullptr;
    if (special == "__annotations__")
      return;
    if (list) {
      if (!field.value || field.value->kind != ExprKind::List)
        return failAt(stmt->offset, "`" + field.name + "` is a list of names");
      for (Expr *item : field.value->items) {
        if (item->kind != ExprKind::String)
          return failAt(item->offset, "`" + field.name + "` is a list of names");
        list->push_back(item->text.str());
      }
      return;
    }
  }
  if (definition.field(field.name))
    return failAt(stmt->offset, "two attributes of the class are called `" + field.name + "`");
  // `Final[int] = 3` is a constant; the type of others may be a Final without a value.
  if (field.type && field.type->kind == ExprKind::Subscript && field.type->items[0]->text == "Final" && field.type->items.size() == 2)
    field.type = field.type->items[1];
  definition.fieldIndex[field.name] = definition.fields.size();
  definition.fields.push_back(std::move(field));
}

Status parseFile(const SourceFile &file, llvm::StringRef module, Arena &arena, ParsedFile &result) {
  return ParserImpl(file, module, arena, result).parseFile();
}

Status parseExpression(const SourceFile &file, Arena &arena, Expr *&result) {
  ParsedFile none;
  return ParserImpl(file, "", arena, none).parseLoneExpression(result);
}

} // namespace stator::torch::script
