//===- Parser.h - from source text to classes and functions -----------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PARSER_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PARSER_H

#include "compiler/Import/Torch/Script/Ast.h"
#include "stator/Status.h"

#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

#include <deque>

namespace stator::torch::script {

/// Where nodes live, for all files of a program together, and how many there may be.
struct Arena {
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver strings{memory};
  std::deque<Function> functions;
  std::deque<ClassDef> classes;
  uint64_t nodes = 0;
  /// A large real model has a tenth of this.
  static constexpr uint64_t maxNodes = 4'000'000;

  template <typename T>
  llvm::ArrayRef<T> copy(llvm::ArrayRef<T> values) {
    return values.copy(memory);
  }
};

struct ParsedFile {
  std::vector<ClassDef *> classes;
  std::vector<Function *> functions;
};

/// Parses a whole file, which must outlive the arena's nodes. `module` is the qualified name that its contents have in front,
/// such as `__torch__.torch.nn`.
Status parseFile(const SourceFile &file, llvm::StringRef module, Arena &arena, ParsedFile &result);

/// Parses one expression, such as a default value that a user gives; names in it have no slots.
Status parseExpression(const SourceFile &file, Arena &arena, Expr *&result);

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PARSER_H
