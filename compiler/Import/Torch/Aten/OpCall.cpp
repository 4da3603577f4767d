// The arguments of a call in the form that handlers want.
#include "compiler/Import/Torch/Aten/OpCall.h"

#include "compiler/Import/Torch/Aten/ScalarTypes.h"

#include <algorithm>

namespace stator::torch {

/// A tensor in the place of a number is its only element.
static Value numberOf(Context &context, const Value &value) {
  return value.isTensor() ? context.item(context.read(value.asTensor())) : value;
}

static const char *const kDataDependent = " depends on the values of a tensor; it must be known when the model is compiled";

TensorRef OpCall::ref(size_t index) {
  const Value &value = arguments_[index];
  if (value.isTensor())
    return value.asTensor();
  return value.isNone() ? nullptr : context_.wrapNumber(value);
}

trace::Tensor OpCall::tensor(size_t index) {
  TensorRef tensor = ref(index);
  return tensor ? context_.read(tensor) : trace::Tensor();
}

std::vector<TensorRef> OpCall::refs(size_t index) {
  std::vector<TensorRef> refs;
  if (const Values *items = arguments_[index].items())
    for (const Value &item : *items)
      refs.push_back(item.isTensor() ? item.asTensor() : item.isNone() ? nullptr : context_.wrapNumber(item));
  return refs;
}

trace::Tensors OpCall::tensors(size_t index) {
  trace::Tensors tensors;
  for (const TensorRef &ref : refs(index))
    tensors.push_back(ref ? context_.read(ref) : trace::Tensor());
  return tensors;
}

static trace::Dim dimOf(OpCall &call, const Value &given, const std::string &what) {
  Value value = numberOf(call.context(), given);
  if (value.isInt() && !value.isData())
    return value.asInt().dim;
  if (std::optional<bool> flag = value.knownBool())
    return *flag;
  if (std::optional<double> number = value.knownNumber(); number && *number == static_cast<double>(static_cast<int64_t>(*number)))
    return static_cast<int64_t>(*number);
  if (value.isData())
    call.unsupported(what + kDataDependent);
  else if (!value.isPoison())
    call.invalid(what + " is " + value.typeName() + ", expected an int");
  return 0;
}

static int64_t integerOf(OpCall &call, const Value &given, const std::string &what) {
  trace::Dim dim = dimOf(call, given, what);
  if (!dim.isConstant())
    call.unsupported(what + " is the size " + dim.str() + ", which is not known when the model is compiled");
  return dim.isConstant() ? dim.constant() : 0;
}

static double numberIn(OpCall &call, const Value &given, const std::string &what) {
  Value value = numberOf(call.context(), given);
  if (std::optional<double> number = value.knownNumber())
    return *number;
  if (value.isData())
    call.unsupported(what + kDataDependent);
  else if (value.isInt())
    call.unsupported(what + " is the size " + value.asInt().dim.str() + ", which is not known when the model is compiled");
  else if (!value.isPoison())
    call.invalid(what + " is " + value.typeName() + ", expected a number");
  return 0;
}

static std::string argumentName(OpCall &call, size_t index) { return "argument `" + call.schema().parameters[index].name + "`"; }

int64_t OpCall::integer(size_t index) { return integerOf(*this, arguments_[index], argumentName(*this, index)); }
trace::Dim OpCall::dim(size_t index) { return dimOf(*this, arguments_[index], argumentName(*this, index)); }
double OpCall::number(size_t index) { return numberIn(*this, arguments_[index], argumentName(*this, index)); }

bool OpCall::flag(size_t index) {
  Value value = numberOf(context_, arguments_[index]);
  if (std::optional<double> number = value.knownNumber())
    return *number != 0;
  if (value.isData())
    unsupported(argumentName(*this, index) + kDataDependent);
  else if (!value.isNone())
    invalid(argumentName(*this, index) + " is " + value.typeName() + ", expected a bool");
  return false;
}

std::string OpCall::text(size_t index) {
  const Value &value = arguments_[index];
  if (value.isString())
    return value.asString();
  if (value.isDevice())
    return value.asDevice().name;
  if (!value.isNone())
    invalid(argumentName(*this, index) + " is " + value.typeName() + ", expected a string");
  return {};
}

trace::Dims OpCall::dims(size_t index) {
  trace::Dims dims;
  const Value &value = arguments_[index];
  if (const Values *items = value.items()) {
    for (const Value &item : *items)
      dims.push_back(dimOf(*this, item, argumentName(*this, index)));
  } else if (!value.isNone()) {
    dims.push_back(dim(index));
  }
  return dims;
}

trace::Ints OpCall::integers(size_t index) {
  trace::Ints integers;
  const Value &value = arguments_[index];
  if (const Values *items = value.items()) {
    for (const Value &item : *items)
      integers.push_back(integerOf(*this, item, argumentName(*this, index)));
  } else if (!value.isNone()) {
    integers.push_back(integer(index));
  }
  return integers;
}

std::vector<double> OpCall::numbers(size_t index) {
  std::vector<double> numbers;
  const Value &value = arguments_[index];
  if (const Values *items = value.items()) {
    for (const Value &item : *items)
      numbers.push_back(numberIn(*this, item, argumentName(*this, index)));
  } else if (!value.isNone()) {
    numbers.push_back(number(index));
  }
  return numbers;
}

std::optional<ElementType> OpCall::dtype(size_t index) {
  if (isNone(index))
    return std::nullopt;
  int64_t scalarType = integer(index);
  std::optional<ElementType> type = elementTypeOf(scalarType);
  if (!type)
    unsupported("tensors of " + scalarTypeName(scalarType) + " are not supported");
  return type;
}

std::optional<int64_t> normaliseAxis(int64_t axis, int64_t rank) {
  int64_t span = std::max<int64_t>(rank, 1);
  if (axis < -span || axis >= span)
    return std::nullopt;
  return axis < 0 ? axis + span : axis;
}

int64_t OpCall::axis(size_t index, int64_t rank) {
  int64_t given = integer(index);
  std::optional<int64_t> axis = normaliseAxis(given, rank);
  if (!axis)
    invalid(argumentName(*this, index) + " is " + std::to_string(given) + " for a tensor of rank " + std::to_string(rank));
  return axis.value_or(0);
}

trace::Ints OpCall::axes(size_t index, int64_t rank) {
  trace::Ints axes;
  for (int64_t given : integers(index)) {
    std::optional<int64_t> axis = normaliseAxis(given, rank);
    if (!axis) {
      invalid(argumentName(*this, index) + " has " + std::to_string(given) + " for a tensor of rank " + std::to_string(rank));
      return {};
    }
    if (rank > 0)
      axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    invalid(argumentName(*this, index) + " names a dimension twice");
  if (axes.empty())
    for (int64_t axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
  return axes;
}

Value OpCall::result(const trace::Tensor &value) {
  return ok() && value ? Value::tensor(context_.make(value)) : Value::poison();
}

Value OpCall::results(const trace::Tensors &values) {
  Values items;
  for (const trace::Tensor &value : values)
    items.push_back(result(value));
  return Value::tuple(std::move(items));
}

Value OpCall::unsupported(std::string_view message) { return context_.unsupported("`" + schema().fullName() + "`: " + std::string(message)); }
Value OpCall::invalid(std::string_view message) { return context_.invalid("`" + schema().fullName() + "`: " + std::string(message)); }

} // namespace stator::torch
