//===- ParserImpl.h - the parser's state -------------------------------------===//
//
// Recursive descent with one token of look-ahead. Recursion is limited, and so
// is the height of the trees that loops build (`a.b.c.d`), because others walk
// them recursively. The first error ends the parse: nothing after it would be
// worth more than the error itself.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PARSERIMPL_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PARSERIMPL_H

#include "compiler/Import/Torch/Script/Lexer.h"
#include "compiler/Import/Torch/Script/Parser.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace stator::torch::script {

class ParserImpl {
public:
  ParserImpl(const SourceFile &file, llvm::StringRef module, Arena &arena, ParsedFile &result)
      : file(file), module(module), arena(arena), result(result), lexer(file) {
    advance();
  }

  Status parseFile();
  Status parseLoneExpression(Expr *&expr);

private:
  // Tokens.
  bool failed() const { return !lexer.status().ok(); }
  void fail(const std::string &expected);
  void failAt(uint32_t offset, const std::string &message) { lexer.fail(offset, message); }
  void advance();
  bool accept(llvm::StringRef symbol);
  bool acceptWord(llvm::StringRef word);
  void expect(llvm::StringRef symbol);
  void expectLineEnd();
  llvm::StringRef name(const char *what);

  // Expressions (ParseExpression.cpp). Null after an error.
  Expr *make(ExprKind kind, uint32_t offset);
  Expr *withItems(Expr *expr, llvm::ArrayRef<Expr *> items);
  Expr *expression();
  Expr *primary();
  Expr *postfix(Expr *base);
  Expr *call(Expr *callee);
  Expr *subscript(Expr *object);
  Expr *bracketed();
  Expr *dict();
  Expr *number(bool isNegative);
  Expr *negative();
  /// `a, b` without brackets; one expression alone is itself unless a comma follows.
  Expr *expressionList();
  int32_t slotOf(llvm::StringRef name);

  // Statements (ParseStatement.cpp).
  llvm::ArrayRef<Stmt *> block();
  llvm::ArrayRef<Stmt *> statements();
  Stmt *statement();
  Stmt *makeStmt(StmtKind kind, uint32_t offset);
  Stmt *simpleStatement();
  Stmt *ifStatement(uint32_t offset);
  Stmt *whileStatement(uint32_t offset);
  Stmt *forStatement(uint32_t offset);
  Stmt *withStatement(uint32_t offset);
  Stmt *closure(uint32_t offset);
  void noteReads(Expr *expr);
  void noteAssigned(Stmt *stmt, llvm::ArrayRef<Stmt *> body, llvm::SmallVectorImpl<int32_t> &slots);
  void finishLoop(Stmt *stmt);

  // Definitions (Parser.cpp).
  Function *function();
  void parameters(Function &function);
  void classDefinition();
  void classMember(ClassDef &definition);

  /// Counts a level of recursion while it lives.
  class Level {
  public:
    explicit Level(ParserImpl &parser) : parser(parser) { ++parser.depth; }
    ~Level() { --parser.depth; }
    bool tooDeep();

  private:
    ParserImpl &parser;
  };

  const SourceFile &file;
  llvm::StringRef module;
  Arena &arena;
  ParsedFile &result;
  Lexer lexer;
  Token token;
  uint32_t previousEnd = 0;
  unsigned depth = 0;
  Function *current = nullptr;
  llvm::DenseMap<llvm::StringRef, int32_t> slots;
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PARSERIMPL_H
