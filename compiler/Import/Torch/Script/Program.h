//===- Program.h - classes and functions of an archive, by name --------------===//
//
// Source files are read when something in them is first needed: the class
// `__torch__.a.b.C` lies in code/__torch__/a/b.py, next to others. Files refer
// to each other by such names only, there are no imports.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PROGRAM_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PROGRAM_H

#include "compiler/Import/Torch/Script/Parser.h"
#include "stator/Result.h"

#include <functional>
#include <memory>

namespace stator::torch::script {

enum class TypeKind : uint8_t {
  Tensor,
  Int,
  Float,
  Bool,
  String,
  Complex,
  Device,
  None,
  Any,
  Number,
  Optional,
  List,
  Dict,
  Tuple,
  Union,
  Future,
  Class,
  Unknown
};

/// A type annotation.
struct Type {
  TypeKind kind = TypeKind::Any;
  std::vector<Type> arguments;
  const ClassDef *definition = nullptr; ///< Class
  std::string text;                     ///< As a person would write it.

  bool is(TypeKind other) const { return kind == other; }
};

struct Definition {
  ClassDef *type = nullptr;
  Function *function = nullptr;
  explicit operator bool() const { return type || function; }
};

class Program {
public:
  /// Gives the text of the record "code/__torch__/a/b.py", or NotFound.
  using Reader = std::function<Result<std::string>(const std::string &record)>;

  explicit Program(Reader reader) : reader(std::move(reader)) {}
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// The class or function `__torch__.a.b.C`; neither when there is none. An error when its file cannot be parsed.
  Result<Definition> find(llvm::StringRef qualifiedName);
  /// The same, but not finding a class is an error.
  Result<ClassDef *> findClass(llvm::StringRef qualifiedName);

  /// What an expression in the place of a type means. Unknown names are types of kind Unknown, not errors.
  Result<Type> type(const Expr *expr);

  Arena &arena() { return memory; }

private:
  struct File {
    SourceFile source;
    llvm::StringMap<Definition> definitions;
    bool exists = false;
    Status status;
  };
  File &load(llvm::StringRef module);
  Result<Type> type(const Expr *expr, unsigned depth);

  Reader reader;
  Arena memory;
  llvm::StringMap<std::unique_ptr<File>> files;
  uint64_t textBytes = 0;
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_PROGRAM_H
