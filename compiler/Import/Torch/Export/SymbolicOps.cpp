//===- SymbolicOps.cpp - Python's arithmetic on sizes and numbers ----------===//

#include "compiler/Import/Torch/Export/SymbolicOps.h"
#include "compiler/Trace/BuilderImpl.h"

#include <cmath>

namespace stator::torch::exported {

namespace fn = trace::fn;

namespace {

/// A number as one of three: a size (an expression over symbols), a known float, or data.
struct Number {
  std::optional<trace::Dim> size;
  std::optional<double> real;
  trace::Tensor data; // made when the others do not do
  bool isFloat = false;
};

Result<Number> numberOf(Context &context, const Value &value) {
  Number number;
  if (!value.isScalar())
    return invalidFile("an operand is " + value.typeName() + ", expected a number");
  number.isFloat = value.isFloat();
  if (value.isData()) {
    number.data = context.scalarTensor(value);
    if (value.isBool())
      number.data = fn::cast(number.data, ElementType::I64);
    return number;
  }
  if (value.isInt())
    number.size = value.asInt().dim;
  else if (value.isBool())
    number.size = trace::Dim(int64_t(value.asBool().known));
  if (std::optional<double> known = value.knownNumber())
    number.real = *known;
  return number;
}

/// As a rank-0 tensor of f64 or i64.
trace::Tensor tensorOf(Context &context, const Number &number, bool asFloat) {
  trace::Tensor tensor = number.data   ? number.data
                         : number.size ? context.builder().fromDim(*number.size)
                                       : context.builder().scalar(ElementType::F64, number.real.value_or(0));
  return fn::cast(tensor, asFloat ? ElementType::F64 : ElementType::I64);
}

/// What an operator does on each of the three.
struct Arithmetic {
  std::optional<trace::Dim> (*onSizes)(const trace::Dim &, const trace::Dim &);
  double (*onReals)(double, double);
  trace::Tensor (*onData)(const trace::Tensor &, const trace::Tensor &);
  bool isAlwaysFloat = false;
};

Result<Value> apply(Context &context, const Values &arguments, const Arithmetic &op) {
  if (arguments.size() != 2)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 2");
  STATOR_TRY(a, numberOf(context, arguments[0]));
  STATOR_TRY(b, numberOf(context, arguments[1]));
  bool isFloat = op.isAlwaysFloat || a.isFloat || b.isFloat;
  if (!isFloat && a.size && b.size)
    if (std::optional<trace::Dim> size = op.onSizes(*a.size, *b.size)) {
      if (!size->isConstant() && !size->expr().isValid())
        return invalidFile("a size cannot be computed: " + size->expr().status().message());
      return Value::integer(*size);
    }
  if (isFloat && a.real && b.real)
    return Value::real(op.onReals(*a.real, *b.real));
  trace::Tensor result = op.onData(tensorOf(context, a, isFloat), tensorOf(context, b, isFloat));
  return isFloat ? Value::dataReal(result) : Value::dataInteger(result);
}

double pythonFloorMod(double a, double b) { return a - b * std::floor(a / b); }

Result<Value> add(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &a, auto &b) { return std::optional(a + b); }, [](double a, double b) { return a + b; },
                [](auto &a, auto &b) { return fn::add(a, b); }});
}
Result<Value> sub(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &a, auto &b) { return std::optional(a - b); }, [](double a, double b) { return a - b; },
                [](auto &a, auto &b) { return fn::sub(a, b); }});
}
Result<Value> mul(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &a, auto &b) { return std::optional(a * b); }, [](double a, double b) { return a * b; },
                [](auto &a, auto &b) { return fn::mul(a, b); }});
}
Result<Value> floordiv(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &a, auto &b) { return std::optional(floorDiv(a, b)); }, [](double a, double b) { return std::floor(a / b); },
                [](auto &a, auto &b) { return fn::floorDiv(a, b); }});
}
Result<Value> modulo(Context &context, const Values &arguments) {
  return apply(
      context, arguments,
      {[](auto &a, auto &b) { return std::optional(mod(a, b)); }, pythonFloorMod, [](auto &a, auto &b) { return fn::modulo(a, b); }});
}
Result<Value> truediv(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &, auto &) { return std::optional<trace::Dim>(); }, [](double a, double b) { return a / b; },
                [](auto &a, auto &b) { return fn::trueDiv(a, b); }, /*isAlwaysFloat=*/true});
}
Result<Value> maximum(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &a, auto &b) { return std::optional(max(a, b)); }, [](double a, double b) { return std::fmax(a, b); },
                [](auto &a, auto &b) { return fn::maximum(a, b); }});
}
Result<Value> minimum(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {[](auto &a, auto &b) { return std::optional(min(a, b)); }, [](double a, double b) { return std::fmin(a, b); },
                [](auto &a, auto &b) { return fn::minimum(a, b); }});
}

std::optional<trace::Dim> sizePower(const trace::Dim &base, const trace::Dim &exponent) {
  constexpr int64_t most = 16;
  if (!exponent.isConstant() || exponent.constant() < 0 || exponent.constant() > most)
    return std::nullopt;
  trace::Dim result = 1;
  for (int64_t i = 0; i < exponent.constant(); ++i)
    result = result * base;
  return result;
}
Result<Value> power(Context &context, const Values &arguments) {
  return apply(context, arguments,
               {sizePower, [](double a, double b) { return std::pow(a, b); }, [](auto &a, auto &b) { return fn::pow(a, b); }});
}

Result<Value> sumOfList(Context &context, const Values &arguments) {
  if (arguments.size() != 1 || !arguments[0].items())
    return invalidFile("expected one list");
  Value total = Value::integer(int64_t(0));
  for (const Value &item : *arguments[0].items()) {
    STATOR_TRY(next, add(context, {total, item}));
    total = std::move(next);
  }
  return total;
}

enum class Relation { Equal, Less, LessOrEqual };

Result<Value> negated(const Value &value) {
  if (value.asBool().data)
    return Value::dataBoolean(fn::logicalNot(value.asBool().data));
  return Value::boolean(!value.asBool().known);
}

Result<Value> compare(Context &context, const Values &arguments, Relation relation) {
  if (arguments.size() != 2)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 2");
  if (relation == Relation::Equal && !(arguments[0].isScalar() && arguments[1].isScalar()))
    if (std::optional<bool> isEqual = equalValues(arguments[0], arguments[1]))
      return Value::boolean(*isEqual);
  STATOR_TRY(a, numberOf(context, arguments[0]));
  STATOR_TRY(b, numberOf(context, arguments[1]));
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  if (a.real && b.real)
    return Value::boolean(relation == Relation::Equal  ? *a.real == *b.real
                          : relation == Relation::Less ? *a.real < *b.real
                                                       : *a.real <= *b.real);
  if (a.size && b.size) {
    DimExpr left = a.size->expr(), right = b.size->expr();
    std::optional<bool> known = relation == Relation::Equal  ? impl.isEqual(left, right)
                                : relation == Relation::Less ? impl.isLess(left, right)
                                                             : impl.isLess(right, left);
    if (known)
      return Value::boolean(relation == Relation::LessOrEqual ? !*known : *known);
  }
  bool isFloat = a.isFloat || b.isFloat;
  trace::Tensor left = tensorOf(context, a, isFloat), right = tensorOf(context, b, isFloat);
  return Value::dataBoolean(relation == Relation::Equal  ? fn::eq(left, right)
                            : relation == Relation::Less ? fn::lt(left, right)
                                                         : fn::le(left, right));
}

Result<Value> equal(Context &context, const Values &arguments) { return compare(context, arguments, Relation::Equal); }
Result<Value> notEqual(Context &context, const Values &arguments) {
  STATOR_TRY(isEqual, compare(context, arguments, Relation::Equal));
  return negated(isEqual);
}
Result<Value> less(Context &context, const Values &arguments) { return compare(context, arguments, Relation::Less); }
Result<Value> lessOrEqual(Context &context, const Values &arguments) { return compare(context, arguments, Relation::LessOrEqual); }
Result<Value> greater(Context &context, const Values &arguments) {
  return arguments.size() == 2 ? compare(context, {arguments[1], arguments[0]}, Relation::Less)
                               : compare(context, arguments, Relation::Less);
}
Result<Value> greaterOrEqual(Context &context, const Values &arguments) {
  return arguments.size() == 2 ? compare(context, {arguments[1], arguments[0]}, Relation::LessOrEqual)
                               : compare(context, arguments, Relation::LessOrEqual);
}

/// A condition; numbers are true when they are not 0.
Result<Value> truth(Context &context, const Value &value) {
  if (value.isBool())
    return value;
  if (value.isTensor()) {
    Value item = context.item(context.read(value.asTensor()));
    return item.isTensor() || !item.isScalar() ? Result<Value>(item) : truth(context, item);
  }
  return notEqual(context, {value, Value::integer(int64_t(0))});
}

Result<Value> logicalNot(Context &context, const Values &arguments) {
  if (arguments.size() != 1)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 1");
  STATOR_TRY(value, truth(context, arguments[0]));
  return value.isBool() ? negated(value) : Result<Value>(value);
}

/// `and` and `or` of conditions; `decisive` is the value that decides alone.
Result<Value> connective(Context &context, const Values &arguments, bool decisive) {
  if (arguments.size() != 2)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 2");
  STATOR_TRY(a, truth(context, arguments[0]));
  STATOR_TRY(b, truth(context, arguments[1]));
  if (!a.isBool() || !b.isBool())
    return Value::poison();
  if (a.knownBool() == decisive || b.knownBool() == decisive)
    return Value::boolean(decisive);
  if (a.knownBool())
    return b;
  if (b.knownBool())
    return a;
  trace::Tensor left = a.asBool().data, right = b.asBool().data;
  return Value::dataBoolean(decisive ? fn::logicalOr(left, right) : fn::logicalAnd(left, right));
}
Result<Value> logicalAnd(Context &context, const Values &arguments) { return connective(context, arguments, false); }
Result<Value> logicalOr(Context &context, const Values &arguments) { return connective(context, arguments, true); }

Result<Value> choice(Context &context, const Values &arguments) {
  if (arguments.size() != 3)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 3");
  STATOR_TRY(condition, truth(context, arguments[0]));
  if (!condition.isBool())
    return condition;
  if (std::optional<bool> known = condition.knownBool())
    return arguments[*known ? 1 : 2];
  STATOR_TRY(a, numberOf(context, arguments[1]));
  STATOR_TRY(b, numberOf(context, arguments[2]));
  bool isFloat = a.isFloat || b.isFloat;
  trace::Tensor chosen = fn::where(condition.asBool().data, tensorOf(context, a, isFloat), tensorOf(context, b, isFloat));
  return isFloat ? Value::dataReal(chosen) : Value::dataInteger(chosen);
}

Result<Value> toFloat(Context &context, const Values &arguments) {
  if (arguments.size() != 1)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 1");
  STATOR_TRY(number, numberOf(context, arguments[0]));
  return number.real ? Value::real(*number.real) : Value::dataReal(tensorOf(context, number, true));
}

/// A float made an integer by `onReal` or, as data, by `onData`; integers stay.
Result<Value> toInteger(Context &context, const Values &arguments, double (*onReal)(double),
                        trace::Tensor (*onData)(const trace::Tensor &)) {
  if (arguments.size() != 1)
    return invalidFile("has " + std::to_string(arguments.size()) + " arguments, expected 1");
  STATOR_TRY(number, numberOf(context, arguments[0]));
  if (!number.isFloat)
    return number.size ? Value::integer(*number.size) : Value::dataInteger(number.data);
  if (!number.real)
    return Value::dataInteger(fn::cast(onData(number.data), ElementType::I64));
  double value = onReal(*number.real);
  if (!(std::abs(value) < 9.2e18))
    return invalidFile("the number " + std::to_string(value) + " is no integer");
  return Value::integer(int64_t(value));
}
Result<Value> truncate(Context &context, const Values &arguments) { return toInteger(context, arguments, std::trunc, fn::trunc); }
Result<Value> roundDown(Context &context, const Values &arguments) { return toInteger(context, arguments, std::floor, fn::floor); }
Result<Value> roundUp(Context &context, const Values &arguments) { return toInteger(context, arguments, std::ceil, fn::ceil); }
Result<Value> roundNearest(Context &context, const Values &arguments) {
  return toInteger(context, arguments, [](double value) { return std::nearbyint(value); }, fn::roundEven);
}

Result<Value> negate(Context &context, const Values &arguments) {
  return arguments.size() == 1 ? sub(context, {Value::integer(int64_t(0)), arguments[0]}) : sub(context, arguments);
}
Result<Value> same(Context &context, const Values &arguments) {
  return arguments.size() == 1 ? Result<Value>(arguments[0]) : Result<Value>(invalidFile("expected one argument"));
}
Result<Value> absolute(Context &context, const Values &arguments) {
  STATOR_TRY(opposite, negate(context, arguments));
  return maximum(context, {arguments[0], opposite});
}

Result<Value> squareRoot(Context &context, const Values &arguments) {
  STATOR_TRY(number, toFloat(context, arguments));
  if (std::optional<double> known = number.knownNumber())
    return Value::real(std::sqrt(*known));
  return Value::dataReal(fn::sqrt(number.asFloat().data));
}

struct Entry {
  std::string_view target;
  SymbolicOp op;
};

constexpr Entry entries[] = {
    {"_operator.add", add},           {"_operator.sub", sub},         {"_operator.mul", mul},         {"_operator.floordiv", floordiv},
    {"_operator.mod", modulo},        {"_operator.truediv", truediv}, {"_operator.pow", power},       {"_operator.neg", negate},
    {"_operator.pos", same},          {"_operator.abs", absolute},    {"_operator.eq", equal},        {"_operator.ne", notEqual},
    {"_operator.lt", less},           {"_operator.le", lessOrEqual},  {"_operator.gt", greater},      {"_operator.ge", greaterOrEqual},
    {"_operator.and_", logicalAnd},   {"_operator.or_", logicalOr},   {"_operator.not_", logicalNot}, {"torch.sym_max", maximum},
    {"torch.sym_min", minimum},       {"torch.sym_sum", sumOfList},   {"torch.sym_float", toFloat},   {"torch.sym_int", truncate},
    {"torch.sym_not", logicalNot},    {"torch.sym_ite", choice},      {"torch.sym_sqrt", squareRoot}, {"torch._sym_sqrt", squareRoot},
    {"math.trunc", truncate},         {"math.floor", roundDown},      {"math.ceil", roundUp},         {"math.sqrt", squareRoot},
    {"builtins.round", roundNearest}, {"builtins.max", maximum},      {"builtins.min", minimum},
};

} // namespace

SymbolicOp findSymbolicOp(std::string_view target) {
  for (const Entry &entry : entries)
    if (entry.target == target)
      return entry.op;
  return nullptr;
}

} // namespace stator::torch::exported
