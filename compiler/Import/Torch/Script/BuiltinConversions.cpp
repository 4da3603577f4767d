//===- BuiltinConversions.cpp - numbers from numbers, tensors and text --------===//

#include "compiler/Import/Torch/Script/Builtins.h"

#include <cmath>

namespace stator::torch::script {

namespace fn = trace::fn;

Value itemOf(Evaluator &evaluator, const trace::Tensor &tensor) {
  if (!tensor || !evaluator.tensors().builder().ok())
    return Value::poison();
  return evaluator.tensors().item(tensor);
}

static Value numberOf(Evaluator &evaluator, const Value &value) {
  if (!value.isTensor())
    return value;
  return itemOf(evaluator, evaluator.tensors().read(value.asTensor()));
}

Value toInt(Evaluator &evaluator, const Value &given) {
  Value value = numberOf(evaluator, given);
  if (value.isInt() || value.isPoison())
    return value;
  if (value.isBool() && !value.isData())
    return Value::integer(value.asBool().known);
  if (value.isFloat() && !value.isData()) {
    double number = std::trunc(value.asFloat().number);
    if (!(std::fabs(number) < 9.3e18))
      return evaluator.raise("int() of " + textOf(value));
    return Value::integer(int64_t(number));
  }
  if (!value.isScalar())
    return evaluator.invalid("a value of type " + value.typeName() + " is no int");
  return itemOf(evaluator, fn::cast(evaluator.tensors().scalarTensor(value), ElementType::I64));
}

Value toFloat(Evaluator &evaluator, const Value &given) {
  Value value = numberOf(evaluator, given);
  if (value.isFloat() || value.isPoison())
    return value;
  if (value.isBool() && !value.isData())
    return Value::real(value.asBool().known);
  if (std::optional<int64_t> number = value.knownInt())
    return Value::real(double(*number));
  if (!value.isScalar())
    return evaluator.invalid("a value of type " + value.typeName() + " is no float");
  return itemOf(evaluator, fn::cast(evaluator.tensors().scalarTensor(value), ElementType::F64));
}

Value toBool(Evaluator &evaluator, const Value &given) {
  if (given.isString())
    return Value::boolean(!given.asString().empty());
  if (given.items())
    return Value::boolean(!given.items()->empty());
  Value value = numberOf(evaluator, given);
  if (value.isBool() || value.isPoison())
    return value;
  if (value.isFloat() && !value.isData())
    return Value::boolean(value.asFloat().number != 0);
  if (value.isInt())
    return negated(evaluator, areEqual(evaluator, value, Value::integer(0)));
  if (!value.isScalar())
    return evaluator.invalid("a value of type " + value.typeName() + " is no bool");
  return itemOf(evaluator, fn::cast(evaluator.tensors().scalarTensor(value), ElementType::I1));
}

namespace {

std::optional<Value> convertInt(BuiltinCall &call) {
  if (call.size() != 1)
    return std::nullopt;
  if (call[0].isString()) {
    int64_t number = 0;
    if (llvm::StringRef(call[0].asString()).trim().getAsInteger(10, number))
      return call.evaluator.raise("int() of '" + call[0].asString() + "'");
    return Value::integer(number);
  }
  return toInt(call.evaluator, call[0]);
}
std::optional<Value> convertFloat(BuiltinCall &call) {
  if (call.size() != 1)
    return std::nullopt;
  if (call[0].isString()) {
    std::string text = llvm::StringRef(call[0].asString()).trim().lower();
    char *end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end)
      return call.evaluator.raise("float() of '" + call[0].asString() + "'");
    return Value::real(number);
  }
  return toFloat(call.evaluator, call[0]);
}
std::optional<Value> convertBool(BuiltinCall &call) {
  if (call.size() != 1)
    return std::nullopt;
  return toBool(call.evaluator, call[0]);
}
/// A tensor as the number that it holds.
std::optional<Value> scalarImplicit(BuiltinCall &call) {
  if (call.size() != 1)
    return std::nullopt;
  if (!call[0].isTensor())
    return call[0];
  return itemOf(call.evaluator, call.evaluator.tensors().read(call[0].asTensor()));
}

} // namespace

llvm::ArrayRef<BuiltinEntry> conversionBuiltins() {
  static const BuiltinEntry entries[] = {
      {"word.int", convertInt},    {"word.float", convertFloat},    {"word.bool", convertBool},
      {"Int", convertInt},         {"Float", convertFloat},         {"Bool", convertBool},
      {"IntImplicit", convertInt}, {"FloatImplicit", convertFloat}, {"ScalarImplicit", scalarImplicit},
  };
  return entries;
}

} // namespace stator::torch::script
