//===- ScriptInputs.h - what a method is called with --------------------------===//
//
// A TorchScript file says the types of a method's parameters, not the shapes of
// tensors. Nested ones are taken apart: the tensor `x` in the dict `cfg` is the
// input `cfg.x`. Tensors get their shapes by --input; everything else is a
// constant of the compiled model, given by --const or the method's default.
// Numbers may be inputs too, when --input asks for that. All that is missing is
// reported at once, with what to type.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTINPUTS_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTINPUTS_H

#include "compiler/Import/InputSpecs.h"
#include "compiler/Import/Torch/Script/Evaluator.h"

namespace stator::torch::script {

/// A parameter or a part of one.
struct InputNode {
  enum class Kind {
    Tensor,   ///< An input of the compiled model.
    Scalar,   ///< An int, float or bool that is an input of rank 0.
    Constant, ///< Given by --const.
    Default,  ///< The method's default value.
    List,
    Tuple,
    Dict,
    NamedTuple,
  } kind = Kind::Default;
  std::string name;
  Type type;
  /// Of the parameter itself; null where there is none.
  Expr *defaultValue = nullptr;
  const compiler::ConstantSpec *constant = nullptr;
  const compiler::InputSpec *spec = nullptr;
  std::vector<InputNode> children;
  /// Dict, NamedTuple: one per child.
  std::vector<std::string> keys;
};

class ScriptInputs {
public:
  ScriptInputs(const compiler::ImportOptions &options, Program &program) : options(options), program(program) {}

  /// Adds a method; `function`'s first parameter is the module.
  Status add(const std::string &method, const Function &function);
  /// Matches the options to the inputs of all methods. The error lists what is missing.
  Status assign();

  /// The arguments of method number `index`, declaring its inputs in the graph.
  Result<Values> arguments(size_t index, Evaluator &evaluator, Context &context);
  /// What was declared for that: the name and the tensor of each input.
  std::vector<std::pair<std::string, TensorRef>> declared;

private:
  struct Method {
    std::string name;
    const Function *function = nullptr;
    std::vector<InputNode> nodes;
  };
  Result<InputNode> plan(const std::string &name, const Type &type, Expr *defaultValue, unsigned depth);
  Status planChildren(InputNode &node, unsigned depth);
  bool isGiven(const std::string &name) const;
  bool isBelow(const std::string &name) const;
  std::vector<std::string> keysBelow(const std::string &name, bool isLeaf) const;
  void promoteOptionals();
  void missing(const std::string &name, const Type &type);
  /// All that is missing, with what to type.
  std::string missingText();
  void collectTensors(InputNode &node, std::vector<InputNode *> &tensors);
  Result<Value> make(InputNode &node, Evaluator &evaluator, Context &context, const SourceFile &file);
  Result<Value> makeTensor(InputNode &node, Context &context);
  Result<Value> makeConstant(InputNode &node, Evaluator &evaluator, Context &context);
  Result<Value> constantTensor(const InputNode &node, Context &context);
  trace::Dim dimOf(const compiler::DimSpec &spec, const std::string &fallback, trace::Builder &builder);

  const compiler::ImportOptions &options;
  Program &program;
  std::vector<Method> methods;
  std::vector<std::string> names;
  std::vector<std::pair<size_t, std::string>> missingOnes;
  std::set<std::string> missingNames;
  std::set<const compiler::ConstantSpec *> usedConstants;
  std::set<std::string> sizeNames;
};

/// A value that a user writes, `[1, 2]` or `"text"`, as the type wants it.
Result<Value> valueFromText(const std::string &text, const Type &type, Program &program);

/// The names and values of what is returned, in the order of the artifact's outputs; None and strings are left out and named.
struct NamedOutput {
  std::string name;
  Value value;
};
void flattenOutputs(const Value &value, std::vector<NamedOutput> &outputs, std::vector<std::string> &leftOut);

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_SCRIPTINPUTS_H
