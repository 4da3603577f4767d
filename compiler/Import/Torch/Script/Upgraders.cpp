//===- Upgraders.cpp - operators whose meaning has changed ---------------------===//
//
// The version of a TorchScript file says what its operators mean: a file is
// written with the least version that has all of them as they are used. What
// changed, and in which version (torch/csrc/jit/operator_upgraders):
//   4   div of integers became true division; before, it truncated
//   5   full infers integers and booleans from its value; before, floats
//   8, 9 linspace, logspace need the number of steps; before, 100
//   10  gelu has an argument `approximate`, whose default is what it did before
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Aten/OpCall.h"
#include "compiler/Import/Torch/Script/Builtins.h"

namespace stator::torch::script {

static bool isInteger(const Value &value) { return value.isInt() || (value.isTensor() && isIntegerType(value.asTensor()->type())); }

void upgrade(Evaluator &evaluator, const std::string &name, Values &arguments, std::vector<KeywordArgument> &keywords) {
  int64_t version = evaluator.fileVersion();
  auto isNamed = [&](const char *keyword) {
    return llvm::any_of(keywords, [&](const KeywordArgument &argument) { return argument.name == keyword; });
  };
  if (version < 4 && (name == "div" || name == "div_") && arguments.size() == 2 && isInteger(arguments[0]) && isInteger(arguments[1]) &&
      !isNamed("rounding_mode"))
    keywords.push_back({"rounding_mode", Value::string("trunc")});
  else if (version < 5 && name == "full" && arguments.size() == 2 && !isNamed("dtype") && (arguments[1].isInt() || arguments[1].isBool()))
    arguments[1] = toFloat(evaluator, arguments[1]);
  else if (version < 8 && name == "linspace" && (arguments.size() == 2 || (arguments.size() == 3 && arguments[2].isNone())))
    arguments.resize(2), arguments.push_back(Value::integer(100));
  else if (version < 9 && name == "logspace" && (arguments.size() == 2 || (arguments.size() == 3 && arguments[2].isNone())))
    arguments.resize(2), arguments.push_back(Value::integer(100));
}

} // namespace stator::torch::script
