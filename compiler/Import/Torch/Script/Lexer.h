//===- Lexer.h - tokens of TorchScript source -------------------------------===//
//
// Lines and indentation count, as in Python, except inside of brackets. The
// text comes from a file that nobody vouches for: it must be UTF-8, nesting is
// limited, and every error names file, line and column.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_LEXER_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_LEXER_H

#include "compiler/Import/Torch/Script/Ast.h"
#include "stator/Status.h"

namespace stator::torch::script {

enum class TokenKind : uint8_t { Name, Int, Float, String, Symbol, Newline, Indent, Dedent, End, Error };

struct Token {
  TokenKind kind = TokenKind::End;
  uint32_t offset = 0;
  /// As written; a string with its quotes.
  llvm::StringRef text;

  bool is(llvm::StringRef symbol) const { return kind == TokenKind::Symbol && text == symbol; }
  bool isWord(llvm::StringRef word) const { return kind == TokenKind::Name && text == word; }
};

class Lexer {
public:
  explicit Lexer(const SourceFile &file);

  /// After an error: Error tokens for ever.
  Token next();
  /// The first error; ok when there was none.
  const Status &status() const { return error; }
  /// Records an error at a place of the file unless there was one already.
  void fail(uint32_t offset, const std::string &message);

private:
  Token make(TokenKind kind, size_t start);
  Token startOfLine();
  Token number();
  Token string();

  const SourceFile &file;
  llvm::StringRef text;
  size_t position = 0;
  bool atLineStart = true;
  bool isAtEnd = false;
  unsigned brackets = 0;
  std::vector<unsigned> indents{0};
  unsigned pendingDedents = 0;
  Status error;
};

/// What the text of a string token stands for; false for an escape that is not one.
bool unquote(llvm::StringRef token, std::string &value);

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_LEXER_H
