//===- Builtins.h - operators on what is not a tensor ------------------------===//
//
// Numbers, strings, lists, tuples, dicts, and what can be asked of tensors at
// compile time. Names are as the text has them, without `torch.`; operators of
// prim have `prim.` in front, bare words (`int(x)`) `word.`.
//
// Numbers may depend on data or on sizes that are known only at run time. Then
// they are tensors of rank 0, and arithmetic on them goes into the graph, unless
// the tracing API can express the result with sizes.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_BUILTINS_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_BUILTINS_H

#include "compiler/Import/Torch/Script/Evaluator.h"

namespace stator::torch::script {

/// Of a list. Real programs stay far below; what doubles a list in a loop gets here soon and has taken little memory.
inline constexpr size_t maxElements = 500'000;

struct BuiltinCall {
  Evaluator &evaluator;
  llvm::StringRef name;
  Values &arguments;
  std::vector<KeywordArgument> &keywords;

  size_t size() const { return arguments.size(); }
  const Value &operator[](size_t index) const { return arguments[index]; }
  /// An argument by position or name; None when it is not given.
  Value given(size_t index, std::string_view keyword) const;
  /// A number that has to be known; nothing after an error.
  std::optional<int64_t> integer(const Value &value, const char *what) const;
};

/// Nothing: these arguments are none of this function's business, and an operator on tensors may be meant.
using Builtin = std::optional<Value> (*)(BuiltinCall &);
struct BuiltinEntry {
  const char *name;
  Builtin function;
  /// Looks at poisoned arguments itself.
  bool takesPoison = false;
};

/// Runs the builtin of that name; nothing when there is none for these arguments.
std::optional<Value> callBuiltin(BuiltinCall &call);
/// Whether there is a builtin of that name at all.
bool hasBuiltin(llvm::StringRef name);
/// Whether an operator changes its first argument, a list or a dict.
bool isContainerMutation(llvm::StringRef name);

// The families.
llvm::ArrayRef<BuiltinEntry> numberBuiltins();
llvm::ArrayRef<BuiltinEntry> conversionBuiltins();
llvm::ArrayRef<BuiltinEntry> dictBuiltins();
llvm::ArrayRef<BuiltinEntry> comparisonBuiltins();
llvm::ArrayRef<BuiltinEntry> containerBuiltins();
llvm::ArrayRef<BuiltinEntry> stringBuiltins();
llvm::ArrayRef<BuiltinEntry> primBuiltins();

/// `a == b` of any values, `a < b` of numbers and strings; data where it depends on that.
Value areEqual(Evaluator &evaluator, const Value &a, const Value &b);
Value isLess(Evaluator &evaluator, const Value &a, const Value &b);
Value negated(Evaluator &evaluator, const Value &condition);
/// A number as int, float or bool.
Value toInt(Evaluator &evaluator, const Value &value);
Value toFloat(Evaluator &evaluator, const Value &value);
Value toBool(Evaluator &evaluator, const Value &value);
/// The value of a rank-0 tensor, known where the tracing API knows it.
Value itemOf(Evaluator &evaluator, const trace::Tensor &tensor);

/// Notes that an operator changes its first argument, a list or a dict: what comes with the archive keeps its state, see ModuleState.
void noteMutation(BuiltinCall &call);

void setItem(DictObject &dict, const Value &key, const Value &value);
/// Null when the key is not there.
const Value *findItem(const DictObject &dict, const Value &key);
/// As Python's str() shows it. Numbers that are not known carry a mark, without which shownText() gives the text.
std::string textOf(const Value &value, bool quoteStrings = false);
std::string shownText(std::string text);

/// Rewrites a call of an operator whose meaning has changed since the file was written (the file's version says so).
void upgrade(Evaluator &evaluator, const std::string &name, Values &arguments, std::vector<KeywordArgument> &keywords);

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_BUILTINS_H
