//===- Ast.h - the text of a TorchScript archive, parsed --------------------===//
//
// TorchScript archives hold their program as text in a small subset of Python:
// it was printed from SSA form, so it has no lambdas, comprehensions, breaks or
// exceptions, only assignments, calls, `if`, `while`, `for` and `return`. Types
// have the form of expressions (`List[int]`) and are kept as such.
//
// Nodes are plain data in an arena that the Program (Program.h) owns; names are
// views of the file's text. A local name of a function is also a number, its
// slot, so that the evaluator keeps variables in a vector.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_AST_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_AST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stator::torch::script {

/// One file of source text, such as `code/__torch__/torch/nn/functional.py`.
struct SourceFile {
  std::string path;
  std::string text;
  /// Offsets of the lines, made when a place is first asked for: locations are needed for every operation of a model.
  mutable std::vector<uint32_t> lineStarts;

  /// Counted from one.
  uint32_t lineNumber(uint32_t offset) const;
  /// "code/__torch__.py:12:5", counted from one.
  std::string place(uint32_t offset) const;
  /// "code/__torch__.py:12: torch.foo(x)": the line without its indentation, cut at 160 characters.
  std::string line(uint32_t offset) const;
};

enum class ExprKind : uint8_t { Name, Attribute, Int, Float, String, True, False, None, List, Tuple, Dict, Subscript, Slice, Call };

struct Expr;

struct Keyword {
  llvm::StringRef name;
  Expr *value = nullptr;
};

struct Expr {
  ExprKind kind = ExprKind::None;
  /// One more than that of the highest item: what recursion over the tree costs.
  uint16_t height = 1;
  uint32_t offset = 0;
  int32_t slot = -1; ///< Name, inside of a function.
  /// Name and String: themselves; Attribute: the member's name.
  llvm::StringRef text;
  /// Name and Attribute: the whole of `torch.nn.add` where only names and dots lead here, else empty.
  llvm::StringRef dotted;
  union {
    int64_t integer = 0;
    double number;
  };
  /// Attribute: the object. Subscript: the object, then the indices. Slice: start, stop and step, null where absent. Call: what is called,
  /// then the arguments. List, Tuple: elements. Dict: keys and values in turn.
  llvm::ArrayRef<Expr *> items;
  llvm::ArrayRef<Keyword> keywords;
  /// What a dotted name stands for, looked up when it is first evaluated.
  const void *resolved = nullptr;
};

enum class StmtKind : uint8_t { Assign, Expression, Return, If, While, For, With, Closure, Pass };

struct Stmt {
  StmtKind kind = StmtKind::Pass;
  /// Assign: `a, b, = value` takes the elements of the value apart, even if there is one target only.
  bool isUnpacking = false;
  uint32_t offset = 0;
  uint32_t end = 0;
  llvm::ArrayRef<Expr *> targets; ///< Assign; For: one name; With: one name or none; Closure: its name.
  Expr *annotation = nullptr;     ///< Assign: `name : Type = value`.
  Expr *value = nullptr; ///< What is assigned, evaluated, returned; the condition; what a loop runs over; may be null for Return and for
                         ///< declarations.
  llvm::ArrayRef<Stmt *> body, orElse;
  /// If, While, For: the slots that something inside assigns, in ascending order.
  llvm::ArrayRef<int32_t> assigned;
};

struct Parameter {
  llvm::StringRef name;
  int32_t slot = -1;
  Expr *type = nullptr;         // null for an untyped one
  Expr *defaultValue = nullptr; // null when there is none
};

struct Function {
  const SourceFile *file = nullptr;
  llvm::StringRef name;
  uint32_t offset = 0;
  std::vector<Parameter> parameters;
  Expr *returnType = nullptr;
  llvm::ArrayRef<Stmt *> body;
  std::vector<llvm::StringRef> slotNames;
  /// By slot: the offset behind which its value is not read any more.
  std::vector<uint32_t> lastRead;
};

enum class ClassKind : uint8_t { Module, Plain, NamedTuple, Enum, Interface };

struct Field {
  std::string name;
  Expr *type = nullptr;
  /// Final constants, members of an Enum, defaults of a NamedTuple.
  Expr *value = nullptr;
};

struct ClassDef {
  ClassKind kind = ClassKind::Plain;
  const SourceFile *file = nullptr;
  /// `__torch__.a.b.C`.
  std::string qualifiedName;
  uint32_t offset = 0;
  std::vector<Field> fields;
  llvm::StringMap<size_t> fieldIndex;
  std::vector<std::string> parameters, buffers, preHooks, hooks;
  llvm::StringMap<Function *> methods;
  /// In the order of the file.
  std::vector<Function *> methodOrder;

  const Field *field(llvm::StringRef name) const {
    auto found = fieldIndex.find(name);
    return found == fieldIndex.end() ? nullptr : &fields[found->second];
  }
  const Function *method(llvm::StringRef name) const { return methods.lookup(name); }
  llvm::StringRef name() const { return llvm::StringRef(qualifiedName).rsplit('.').second; }
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_AST_H
