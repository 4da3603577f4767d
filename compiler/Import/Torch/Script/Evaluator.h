//===- Evaluator.h - running a method at compile time ------------------------===//
//
// A scripted model is a program: it asks for ranks and sizes, checks its
// arguments, loops over its layers. Nearly all of that depends on constants and
// shapes only. So the evaluator runs the method's text on Values: what is known
// is computed at once and leaves no trace, operations on tensors are traced into
// the graph, and only what depends on the elements of tensors becomes an `if` or
// a `while` there (EvaluateControl.cpp).
//
// An operator that is not supported is noted, gives poison, and evaluation goes
// on, so that one run reports all of them. Any other error ends it.
//
// The text may be hostile: recursion, calls, iterations and statements all have
// budgets.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_EVALUATOR_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_EVALUATOR_H

#include "compiler/Import/ImportedModel.h"
#include "compiler/Import/Torch/Aten/Operators.h"
#include "compiler/Import/Torch/Script/ModuleState.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>

namespace stator::torch::script {

/// What an import finds out along the way, over all methods.
struct Report {
  std::vector<compiler::UnsupportedPart> unsupported;
  std::vector<compiler::ImportWarning> warnings;
  std::map<std::string, unsigned> operators;
  std::set<std::string> seen;
  // Spent of the budgets.
  uint64_t statements = 0, calls = 0, operations = 0;
};

/// A fact about sizes that a bool of unknown value stands for: `a == b`, or `a <= b`.
struct SizeFact {
  enum class Kind { Equal, AtMost } kind = Kind::Equal;
  trace::Dim a, b;
};

class Evaluator {
public:
  Evaluator(Program &program, ModuleState &state, Context &context, Report &report, int64_t version)
      : program(program), state(state), context(context), report(report), version(version) {}

  /// Runs a function to its end. `receiver` is what messages and locations call the module.
  Value call(Function &function, Values arguments, const std::vector<KeywordArgument> &keywords);
  /// An expression outside of functions: a default value, a constant.
  Value constant(Expr &expr, const SourceFile &file);

  bool failed() const { return !error.ok() || raised; }
  const Status &status() const { return error; }
  const Type *typeOf(Expr *expr);

  // For builtins.

  Context &tensors() { return context; }
  ModuleState &module() { return state; }
  Program &code() { return program; }
  /// Of the file: what its operators mean depends on it.
  int64_t fileVersion() const { return version; }
  /// Ends the evaluation, with the place in front.
  Value fail(StatusCode code, const std::string &message);
  Value invalid(const std::string &message) { return fail(StatusCode::InvalidArgument, message); }
  /// Notes what is not supported at the current place; gives poison.
  Value unsupported(const std::string &reason);
  void warn(const std::string &message);
  /// `raise`: ends the evaluation, or the branch that may not be taken.
  Value raise(const std::string &message);
  Value callFunctionValue(const Value &function, Values arguments, const std::vector<KeywordArgument> &keywords);
  Value callMethod(const Value &object, llvm::StringRef name, Values arguments, const std::vector<KeywordArgument> &keywords);
  Value attribute(const Value &object, llvm::StringRef name);
  /// Takes an error of the graph, if there is one, as this evaluation's; true if there was.
  bool takeError();
  std::string withoutLocation(const std::string &message) const;
  /// What is known about a bool that is data, and noting it.
  void noteFact(const BoolValue &condition, SizeFact fact, bool isNegated);
  void noteNegation(const BoolValue &condition, const BoolValue &negated);
  void noteCombination(const BoolValue &a, const BoolValue &b, const BoolValue &both, bool isAnd);
  std::string currentPlace() const;

  bool isGradEnabled = true;

private:
  enum class Flow { Next, Return, Stop };

  struct Frame {
    Function *function = nullptr;
    const SourceFile *file = nullptr;
    std::vector<std::optional<Value>> slots;
    std::string modulePath;
    const Object *receiver = nullptr;
    Value result;
  };

  // Statements (Evaluator.cpp).
  Flow run(llvm::ArrayRef<Stmt *> body);
  Flow run(Stmt &stmt);
  Flow assign(Stmt &stmt);
  void store(Expr &target, Value value);
  /// What a statement does whose condition cannot decide: an error has been reported, or is reported here. Nothing for a bool.
  std::optional<Flow> flowWithout(const Value &condition, Stmt &stmt, const char *keyword);
  Flow runIf(Stmt &stmt);
  Flow runWhile(Stmt &stmt);
  Flow runFor(Stmt &stmt);
  Flow runWith(Stmt &stmt);
  bool bindArguments(Frame &frame, Function &function, Values &arguments, const std::vector<KeywordArgument> &keywords);
  /// Whether a loop that began after `before` operations has become at most `limit` of them.
  bool unrollsWithin(uint64_t before, uint64_t limit);
  bool spend(uint64_t &spent, uint64_t limit, const char *what);

  // Control flow that depends on data (EvaluateControl.cpp).
  Flow dynamicIf(Stmt &stmt, const BoolValue &condition);
  Flow dynamicWhile(Stmt &stmt, const Value *tripCount);
  bool resolveByRaise(Stmt &stmt, const BoolValue &condition, llvm::ArrayRef<Stmt *> &taken);
  bool assume(const BoolValue &condition, bool wanted);
  bool shortCircuit(Stmt &stmt, const BoolValue &condition);
  std::vector<int32_t> mergedSlots(Stmt &stmt);
  std::vector<Value> containersChangedBy(Stmt &stmt);
  void poisonAssigned(Stmt &stmt);

  // Expressions (EvaluateExpression.cpp).
  Value evaluate(Expr &expr);
  Value evaluateName(Expr &expr);
  Value evaluateAttribute(Expr &expr);
  Value evaluateSubscript(Expr &expr);
  Value evaluateDict(Expr &expr);
  Values evaluateItems(llvm::ArrayRef<Expr *> items);
  /// Whether names and dots lead to something outside of the function: `torch.add`, `__torch__.f`, `CONSTANTS.c0`.
  bool isGlobal(const Expr &expr) const;
  Value evaluateGlobal(Expr &expr);
  std::optional<Value> definitionValue(llvm::StringRef name);

  // Calls (EvaluateCall.cpp).
  Value evaluateCall(Expr &expr);
  Value callGlobal(Expr &expr, llvm::StringRef name);
  Value callWord(Expr &expr, llvm::StringRef name);
  Value callOp(llvm::StringRef name, Values arguments, std::vector<KeywordArgument> keywords);
  bool checkLateTensors(const Values &arguments);
  Value construct(ClassDef &definition, Values arguments, const std::vector<KeywordArgument> &keywords);
  bool evaluateArguments(Expr &expr, Values &arguments, std::vector<KeywordArgument> &keywords);
  std::optional<Value> callBuiltin(llvm::StringRef name, Values arguments);
  bool isInstance(const Value &value, const Type &type);
  /// Tells the graph where in the model its next operations come from.
  void setLocation();

  Program &program;
  ModuleState &state;
  Context &context;
  Report &report;
  int64_t version;
  Status error;
  bool raised = false;
  std::string raisedMessage;
  unsigned depth = 0;
  unsigned dynamicDepth = 0;
  Frame *frame = nullptr;
  uint32_t offset = 0; // of what is evaluated
  std::vector<std::pair<const Function *, const Object *>> active;
  std::map<const Expr *, Type> types;
  std::map<const trace::TensorNode *, std::pair<std::vector<SizeFact>, bool>> facts;
  llvm::StringMap<std::optional<Value>> definitionValues;
};

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_EVALUATOR_H
