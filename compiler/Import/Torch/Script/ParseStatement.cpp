//===- ParseStatement.cpp - statements of TorchScript source -----------------===//
//
// While parsing, two facts are noted that the evaluator needs to turn an `if`
// or a loop into an operation of a graph: which names it assigns, and up to
// where in the function each name is read.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/ParserImpl.h"

namespace stator::torch::script {

Stmt *ParserImpl::makeStmt(StmtKind kind, uint32_t offset) {
  ++arena.nodes;
  Stmt *stmt = new (arena.memory.Allocate<Stmt>()) Stmt();
  stmt->kind = kind;
  stmt->offset = offset;
  return stmt;
}

void ParserImpl::expectLineEnd() {
  if (token.kind == TokenKind::Newline)
    advance();
  else if (token.kind != TokenKind::End)
    fail("the end of the line");
}

/// The statements of an indented block, behind the `:` that opens it.
llvm::ArrayRef<Stmt *> ParserImpl::block() {
  expect(":");
  expectLineEnd();
  if (failed())
    return {};
  if (token.kind != TokenKind::Indent) {
    fail("an indented block");
    return {};
  }
  advance();
  return statements();
}

llvm::ArrayRef<Stmt *> ParserImpl::statements() {
  llvm::SmallVector<Stmt *, 16> list;
  while (!failed() && token.kind != TokenKind::Dedent && token.kind != TokenKind::End) {
    if (token.kind == TokenKind::Newline) {
      advance();
      continue;
    }
    if (Stmt *stmt = statement())
      list.push_back(stmt);
  }
  if (token.kind == TokenKind::Dedent)
    advance();
  return arena.copy(llvm::ArrayRef<Stmt *>(list));
}

Stmt *ParserImpl::statement() {
  if (token.kind == TokenKind::Indent) {
    fail("a statement of the same block");
    return nullptr;
  }
  uint32_t offset = token.offset;
  Stmt *stmt = nullptr;
  if (acceptWord("if"))
    stmt = ifStatement(offset);
  else if (acceptWord("while"))
    stmt = whileStatement(offset);
  else if (acceptWord("for"))
    stmt = forStatement(offset);
  else if (acceptWord("with"))
    stmt = withStatement(offset);
  else if (current && acceptWord("def"))
    stmt = closure(offset);
  else
    stmt = simpleStatement();
  if (!stmt || failed())
    return nullptr;
  stmt->end = previousEnd;
  if (stmt->kind == StmtKind::While || stmt->kind == StmtKind::For)
    finishLoop(stmt);
  return stmt;
}

Stmt *ParserImpl::simpleStatement() {
  uint32_t offset = token.offset;
  if (acceptWord("pass")) {
    expectLineEnd();
    return makeStmt(StmtKind::Pass, offset);
  }
  if (acceptWord("return")) {
    Stmt *stmt = makeStmt(StmtKind::Return, offset);
    if (token.kind != TokenKind::Newline && token.kind != TokenKind::End)
      stmt->value = expressionList();
    noteReads(stmt->value);
    expectLineEnd();
    return stmt;
  }
  Expr *left = expressionList();
  if (failed())
    return nullptr;
  Stmt *stmt = makeStmt(StmtKind::Expression, offset);
  if (accept(":"))
    stmt->annotation = expression();
  if (!accept("=")) {
    if (stmt->annotation) {
      stmt->kind = StmtKind::Assign; // a declaration; only classes have these
      stmt->targets = arena.copy(llvm::ArrayRef<Expr *>(left));
    } else {
      stmt->value = left;
      noteReads(left);
    }
    expectLineEnd();
    return stmt;
  }
  stmt->kind = StmtKind::Assign;
  stmt->value = expressionList();
  if (failed())
    return nullptr;
  stmt->isUnpacking = left->kind == ExprKind::Tuple;
  stmt->targets = stmt->isUnpacking ? left->items : arena.copy(llvm::ArrayRef<Expr *>(left));
  noteReads(stmt->value);
  for (Expr *target : stmt->targets) {
    if (target->kind == ExprKind::Attribute || (target->kind == ExprKind::Subscript && !current))
      noteReads(target->items[0]);
    else if (target->kind != ExprKind::Name)
      failAt(target->offset, "nothing can be assigned to this expression");
  }
  expectLineEnd();
  return stmt;
}

Stmt *ParserImpl::ifStatement(uint32_t offset) {
  Level level(*this);
  if (level.tooDeep())
    return nullptr;
  Stmt *stmt = makeStmt(StmtKind::If, offset);
  stmt->value = expression();
  noteReads(stmt->value);
  stmt->body = block();
  if (!failed() && token.isWord("elif")) {
    uint32_t nested = token.offset;
    advance();
    Stmt *inner = ifStatement(nested);
    if (!inner || failed())
      return nullptr;
    inner->end = previousEnd;
    stmt->orElse = arena.copy(llvm::ArrayRef<Stmt *>(inner));
  } else if (!failed() && acceptWord("else")) {
    stmt->orElse = block();
  }
  llvm::SmallVector<int32_t, 16> names;
  noteAssigned(stmt, stmt->body, names);
  noteAssigned(stmt, stmt->orElse, names);
  return stmt;
}

Stmt *ParserImpl::whileStatement(uint32_t offset) {
  Level level(*this);
  if (level.tooDeep())
    return nullptr;
  Stmt *stmt = makeStmt(StmtKind::While, offset);
  stmt->value = expression();
  noteReads(stmt->value);
  stmt->body = block();
  llvm::SmallVector<int32_t, 16> names;
  noteAssigned(stmt, stmt->body, names);
  return stmt;
}

Stmt *ParserImpl::forStatement(uint32_t offset) {
  Level level(*this);
  if (level.tooDeep())
    return nullptr;
  Stmt *stmt = makeStmt(StmtKind::For, offset);
  Expr *target = token.kind == TokenKind::Name ? primary() : nullptr;
  if (!target || target->kind != ExprKind::Name) {
    fail("the name of the loop's variable");
    return nullptr;
  }
  stmt->targets = arena.copy(llvm::ArrayRef<Expr *>(target));
  if (!acceptWord("in"))
    fail("`in`");
  stmt->value = expression();
  noteReads(stmt->value);
  stmt->body = block();
  llvm::SmallVector<int32_t, 16> names;
  names.push_back(target->slot);
  noteAssigned(stmt, stmt->body, names);
  return stmt;
}

Stmt *ParserImpl::withStatement(uint32_t offset) {
  Level level(*this);
  if (level.tooDeep())
    return nullptr;
  Stmt *stmt = makeStmt(StmtKind::With, offset);
  stmt->value = expression();
  noteReads(stmt->value);
  llvm::SmallVector<int32_t, 16> names;
  if (!failed() && acceptWord("as")) {
    Expr *target = token.kind == TokenKind::Name ? primary() : nullptr;
    if (!target || target->kind != ExprKind::Name) {
      fail("a name behind `as`");
      return nullptr;
    }
    stmt->targets = arena.copy(llvm::ArrayRef<Expr *>(target));
    names.push_back(target->slot);
  }
  stmt->body = block();
  noteAssigned(stmt, stmt->body, names);
  return stmt;
}

/// A function in a function, which is what `fork` runs: it sees the variables around it and has no parameters.
Stmt *ParserImpl::closure(uint32_t offset) {
  Level level(*this);
  if (level.tooDeep())
    return nullptr;
  Stmt *stmt = makeStmt(StmtKind::Closure, offset);
  Expr *target = token.kind == TokenKind::Name ? primary() : nullptr;
  if (!target || target->kind != ExprKind::Name) {
    fail("the name of a function");
    return nullptr;
  }
  stmt->targets = arena.copy(llvm::ArrayRef<Expr *>(target));
  expect("(");
  expect(")");
  if (accept("->"))
    expression();
  stmt->body = block();
  llvm::SmallVector<int32_t, 16> names;
  names.push_back(target->slot);
  noteAssigned(stmt, stmt->body, names);
  return stmt;
}

void ParserImpl::noteReads(Expr *expr) {
  if (!expr || !current)
    return;
  if (expr->kind == ExprKind::Name && expr->slot >= 0)
    current->lastRead[expr->slot] = std::max(current->lastRead[expr->slot], expr->offset);
  for (Expr *item : expr->items)
    noteReads(item);
  for (const Keyword &keyword : expr->keywords)
    noteReads(keyword.value);
}

void ParserImpl::noteAssigned(Stmt *stmt, llvm::ArrayRef<Stmt *> body, llvm::SmallVectorImpl<int32_t> &names) {
  for (Stmt *inner : body) {
    if (inner->kind == StmtKind::Assign)
      for (Expr *target : inner->targets)
        if (target->kind == ExprKind::Name)
          names.push_back(target->slot);
    names.append(inner->assigned.begin(), inner->assigned.end());
  }
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  stmt->assigned = arena.copy(llvm::ArrayRef<int32_t>(names));
}

/// A name that a loop reads is needed in its next iteration too, wherever in the body it is read.
void ParserImpl::finishLoop(Stmt *stmt) {
  for (int32_t slot : stmt->assigned)
    if (current && slot >= 0 && current->lastRead[slot] >= stmt->offset)
      current->lastRead[slot] = std::max(current->lastRead[slot], stmt->end);
}

} // namespace stator::torch::script
