//===- BuiltinNumbers.cpp - arithmetic on int, float and bool -----------------===//

#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Trace/BuilderImpl.h"

#include <cmath>
#include <numeric>

namespace stator::torch::script {

namespace fn = trace::fn;

namespace {

bool isNumber(const Value &value) { return value.isInt() || value.isFloat(); }
/// A number without data or sizes in it.
bool isPlain(const Value &value) { return value.isFloat() ? !value.isData() : value.knownInt().has_value(); }

trace::Tensor realTensor(Evaluator &evaluator, const Value &value) {
  trace::Tensor tensor = evaluator.tensors().scalarTensor(value);
  return tensor.type() == ElementType::F64 ? tensor : fn::cast(tensor, ElementType::F64);
}

/// Python's: rounds down, and the remainder has the sign of the divisor.
int64_t floorDiv(int64_t a, int64_t b) {
  int64_t quotient = b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
  return quotient - (b != -1 && a % b != 0 && ((a < 0) != (b < 0)));
}
int64_t floorMod(int64_t a, int64_t b) { return b == -1 ? 0 : a - int64_t(uint64_t(floorDiv(a, b)) * uint64_t(b)); }
double floorMod(double a, double b) {
  double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

enum class Op { Add, Sub, Mul, Div, FloorDiv, Mod, Fmod, Pow };

std::optional<int64_t> onIntegers(Op op, int64_t a, int64_t b) {
  switch (op) {
  case Op::Add:
    return int64_t(uint64_t(a) + uint64_t(b));
  case Op::Sub:
    return int64_t(uint64_t(a) - uint64_t(b));
  case Op::Mul:
    return int64_t(uint64_t(a) * uint64_t(b));
  case Op::FloorDiv:
    return floorDiv(a, b);
  case Op::Mod:
    return floorMod(a, b);
  default:
    return std::nullopt;
  }
}

double onReals(Op op, double a, double b) {
  switch (op) {
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return a / b;
  case Op::FloorDiv:
    return std::floor(a / b);
  case Op::Mod:
    return floorMod(a, b);
  case Op::Fmod:
    return std::fmod(a, b);
  case Op::Pow:
    return std::pow(a, b);
  }
  return 0;
}

std::optional<trace::Dim> onSizes(Op op, const trace::Dim &a, const trace::Dim &b) {
  switch (op) {
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::FloorDiv:
    return b.isConstant() && b.constant() > 0 ? std::optional<trace::Dim>(floorDiv(a, b)) : std::nullopt;
  case Op::Mod:
    return b.isConstant() && b.constant() > 0 ? std::optional<trace::Dim>(mod(a, b)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

trace::Tensor onTensors(Op op, const trace::Tensor &a, const trace::Tensor &b) {
  switch (op) {
  case Op::Add:
    return fn::add(a, b);
  case Op::Sub:
    return fn::sub(a, b);
  case Op::Mul:
    return fn::mul(a, b);
  case Op::Div:
    return fn::trueDiv(a, b);
  case Op::FloorDiv:
    return fn::floorDiv(a, b);
  case Op::Mod:
    return fn::modulo(a, b);
  case Op::Fmod:
    return fn::remainder(a, b);
  case Op::Pow:
    return fn::pow(a, b);
  }
  return {};
}

Value compute(Evaluator &evaluator, Op op, const Value &a, const Value &b) {
  bool isReal = a.isFloat() || b.isFloat() || op == Op::Div || op == Op::Fmod || op == Op::Pow;
  bool divides = op == Op::Div || op == Op::FloorDiv || op == Op::Mod || op == Op::Fmod;
  if (divides && isPlain(b) && b.knownNumber() == 0.0)
    return evaluator.raise("ZeroDivisionError: division by zero");
  if (isPlain(a) && isPlain(b)) {
    if (isReal)
      return Value::real(onReals(op, *a.knownNumber(), *b.knownNumber()));
    return Value::integer(*onIntegers(op, *a.knownInt(), *b.knownInt()));
  }
  if (!isReal && !a.isData() && !b.isData())
    if (std::optional<trace::Dim> dim = onSizes(op, a.asInt().dim, b.asInt().dim))
      return Value::integer(*dim);
  Context &context = evaluator.tensors();
  if (isReal)
    return itemOf(evaluator, onTensors(op, realTensor(evaluator, a), realTensor(evaluator, b)));
  return itemOf(evaluator, onTensors(op, context.scalarTensor(a), context.scalarTensor(b)));
}

template <Op op>
std::optional<Value> arithmetic(BuiltinCall &call) {
  if (call.size() != 2 || !call.keywords.empty() || !isNumber(call[0]) || !isNumber(call[1]))
    return std::nullopt;
  return compute(call.evaluator, op, call[0], call[1]);
}

/// `a + b` of numbers, strings, lists and tuples.
std::optional<Value> add(BuiltinCall &call) {
  if (call.size() == 2 && call[0].isString() && call[1].isString()) {
    if (call[0].asString().size() + call[1].asString().size() > (1u << 24))
      return call.evaluator.fail(StatusCode::ResourceExhausted, "a string grows beyond 16 MiB");
    return Value::string(call[0].asString() + call[1].asString());
  }
  bool areLists = call.size() == 2 && ((call[0].isList() && call[1].isList()) || (call[0].isTuple() && call[1].isTuple()));
  if (areLists) {
    Values items = *call[0].items();
    const Values &more = *call[1].items();
    if (items.size() + more.size() > maxElements)
      return call.evaluator.fail(StatusCode::ResourceExhausted, "a list grows beyond 500000 elements");
    items.insert(items.end(), more.begin(), more.end());
    return call[0].isList() ? Value::list(std::move(items)) : Value::tuple(std::move(items));
  }
  return arithmetic<Op::Add>(call);
}

/// `a * b` of numbers, and of a list and a number.
std::optional<Value> mul(BuiltinCall &call) {
  bool isRepeat = call.size() == 2 && ((call[0].isList() && call[1].isInt()) || (call[0].isInt() && call[1].isList()) ||
                                       (call[0].isString() && call[1].isInt()));
  if (!isRepeat)
    return arithmetic<Op::Mul>(call);
  const Value &sequence = call[0].isInt() ? call[1] : call[0];
  std::optional<int64_t> count = call.integer(call[0].isInt() ? call[0] : call[1], "the number of repetitions");
  if (!count)
    return Value::poison();
  uint64_t size = sequence.isString() ? sequence.asString().size() : sequence.asList().items.size();
  if (*count > 0 && size > (sequence.isString() ? 1u << 22 : maxElements) / uint64_t(*count))
    return call.evaluator.fail(StatusCode::ResourceExhausted, "a list grows beyond 500000 elements");
  Values items;
  std::string text;
  for (int64_t i = 0; i < *count; ++i) {
    if (sequence.isString())
      text += sequence.asString();
    else
      items.insert(items.end(), sequence.asList().items.begin(), sequence.asList().items.end());
  }
  return sequence.isString() ? Value::string(std::move(text)) : Value::list(std::move(items));
}

/// A function of one number, from floats to floats.
template <double (*function)(double), trace::Tensor (*onTensor)(const trace::Tensor &)>
std::optional<Value> unary(BuiltinCall &call) {
  if (call.size() != 1 || !isNumber(call[0]))
    return std::nullopt;
  if (isPlain(call[0]))
    return Value::real(function(*call[0].knownNumber()));
  return itemOf(call.evaluator, onTensor(realTensor(call.evaluator, call[0])));
}

/// floor and ceil: from floats to ints.
template <double (*function)(double), trace::Tensor (*onTensor)(const trace::Tensor &)>
std::optional<Value> rounded(BuiltinCall &call) {
  if (call.size() != 1 || !isNumber(call[0]))
    return std::nullopt;
  if (call[0].isInt())
    return call[0];
  if (!call[0].isData())
    return toInt(call.evaluator, Value::real(function(call[0].asFloat().number)));
  return itemOf(call.evaluator, fn::cast(onTensor(realTensor(call.evaluator, call[0])), ElementType::I64));
}

std::optional<Value> neg(BuiltinCall &call) {
  if (call.size() != 1 || !isNumber(call[0]))
    return std::nullopt;
  if (call[0].isFloat() && !call[0].isData())
    return Value::real(-call[0].asFloat().number);
  return compute(call.evaluator, Op::Sub, Value::integer(0), call[0]);
}

std::optional<Value> abs(BuiltinCall &call) {
  if (call.size() != 1 || !isNumber(call[0]))
    return std::nullopt;
  if (std::optional<int64_t> number = call[0].knownInt())
    return Value::integer(*number < 0 ? int64_t(0 - uint64_t(*number)) : *number);
  if (call[0].isFloat() && !call[0].isData())
    return Value::real(std::fabs(call[0].asFloat().number));
  return itemOf(call.evaluator, fn::abs(call.evaluator.tensors().scalarTensor(call[0])));
}

std::optional<Value> round(BuiltinCall &call) {
  if (call.size() != 1 || !isNumber(call[0]))
    return std::nullopt;
  if (call[0].isInt())
    return call[0];
  if (!call[0].isData())
    return Value::real(std::nearbyint(call[0].asFloat().number));
  return itemOf(call.evaluator, fn::roundEven(realTensor(call.evaluator, call[0])));
}

/// min and max of two numbers, or of a list of them.
template <bool isMax>
std::optional<Value> extreme(BuiltinCall &call) {
  if (call.size() == 1 && call[0].isList()) {
    const Values &items = call[0].asList().items;
    if (items.empty())
      return call.evaluator.raise(isMax ? "max() of an empty list" : "min() of an empty list");
    Value best = items[0];
    for (size_t i = 1; i < items.size(); ++i) {
      Values pair{best, items[i]};
      BuiltinCall inner{call.evaluator, call.name, pair, call.keywords};
      std::optional<Value> next = extreme<isMax>(inner);
      if (!next)
        return std::nullopt;
      best = *next;
    }
    return best;
  }
  if (call.size() == 2 && call[0].isList() && call[1].isList()) {
    Value less = isLess(call.evaluator, call[0], call[1]);
    if (less.knownBool())
      return call[*less.knownBool() != isMax ? 0 : 1];
    return std::nullopt;
  }
  if (call.size() != 2 || !call[0].isScalar() || !call[1].isScalar())
    return std::nullopt;
  const Value &a = call[0], &b = call[1];
  if (a.isInt() && b.isInt() && !a.isData() && !b.isData()) {
    trace::BuilderImpl &impl = call.evaluator.tensors().builder().impl();
    return Value::integer(
        trace::Dim(isMax ? impl.max(a.asInt().dim.expr(), b.asInt().dim.expr()) : impl.min(a.asInt().dim.expr(), b.asInt().dim.expr())));
  }
  Value less = isLess(call.evaluator, a, b);
  if (std::optional<bool> known = less.knownBool())
    return *known != isMax ? a : b;
  if (less.isPoison())
    return less;
  bool isReal = a.isFloat() || b.isFloat();
  trace::Tensor x = isReal ? realTensor(call.evaluator, a) : call.evaluator.tensors().scalarTensor(a);
  trace::Tensor y = isReal ? realTensor(call.evaluator, b) : call.evaluator.tensors().scalarTensor(b);
  return itemOf(call.evaluator, isMax ? fn::maximum(x, y) : fn::minimum(x, y));
}

enum class Bits { And, Or, Xor, Left, Right };

/// Bit operations on ints, logical ones on bools.
template <Bits op>
std::optional<Value> bits(BuiltinCall &call) {
  if (call.size() != 2)
    return std::nullopt;
  const Value &a = call[0], &b = call[1];
  Context &context = call.evaluator.tensors();
  if (a.isBool() && b.isBool() && op <= Bits::Xor) {
    std::optional<bool> x = a.knownBool(), y = b.knownBool();
    if (x && y)
      return Value::boolean(op == Bits::And ? *x && *y : op == Bits::Or ? *x || *y : *x != *y);
    if ((x || y) && op != Bits::Xor) {
      bool known = x ? *x : *y;
      const Value &other = x ? b : a;
      return known == (op == Bits::Or) ? Value::boolean(known) : other;
    }
    trace::Tensor left = context.scalarTensor(a), right = context.scalarTensor(b);
    Value result = itemOf(call.evaluator, op == Bits::And  ? fn::logicalAnd(left, right)
                                          : op == Bits::Or ? fn::logicalOr(left, right)
                                                           : fn::logicalXor(left, right));
    if (result.isBool() && result.isData() && op != Bits::Xor)
      call.evaluator.noteCombination(a.asBool(), b.asBool(), result.asBool(), op == Bits::And);
    return result;
  }
  if (!a.isInt() || !b.isInt())
    return std::nullopt;
  std::optional<int64_t> x = a.knownInt(), y = b.knownInt();
  if (x && y) {
    if (op >= Bits::Left && (*y < 0 || *y > 63))
      return call.evaluator.raise("a shift by " + std::to_string(*y));
    return Value::integer(op == Bits::And    ? *x & *y
                          : op == Bits::Or   ? *x | *y
                          : op == Bits::Xor  ? *x ^ *y
                          : op == Bits::Left ? int64_t(uint64_t(*x) << *y)
                                             : *x >> *y);
  }
  trace::Tensor left = context.scalarTensor(a), right = context.scalarTensor(b);
  return itemOf(call.evaluator, op == Bits::And    ? fn::bitwiseAnd(left, right)
                                : op == Bits::Or   ? fn::bitwiseOr(left, right)
                                : op == Bits::Xor  ? fn::bitwiseXor(left, right)
                                : op == Bits::Left ? fn::shiftLeft(left, right)
                                                   : fn::shiftRight(left, right));
}

std::optional<Value> divmod(BuiltinCall &call) {
  if (call.size() != 2 || !isNumber(call[0]) || !isNumber(call[1]))
    return std::nullopt;
  Value quotient = compute(call.evaluator, Op::FloorDiv, call[0], call[1]);
  return Value::tuple({quotient, compute(call.evaluator, Op::Mod, call[0], call[1])});
}

std::optional<Value> gcd(BuiltinCall &call) {
  if (call.size() != 2 || !call[0].knownInt() || !call[1].knownInt())
    return std::nullopt;
  auto magnitude = [](int64_t number) { return number < 0 ? 0 - uint64_t(number) : uint64_t(number); };
  return Value::integer(int64_t(std::gcd(magnitude(*call[0].knownInt()), magnitude(*call[1].knownInt()))));
}

/// Predicates and functions of known floats.
template <bool (*function)(double)>
std::optional<Value> predicate(BuiltinCall &call) {
  if (call.size() != 1 || !isNumber(call[0]) || !isPlain(call[0]))
    return std::nullopt;
  return Value::boolean(function(*call[0].knownNumber()));
}
template <double (*function)(double, double)>
std::optional<Value> binaryReal(BuiltinCall &call) {
  if (call.size() != 2 || !isNumber(call[0]) || !isNumber(call[1]) || !isPlain(call[0]) || !isPlain(call[1]))
    return std::nullopt;
  return Value::real(function(*call[0].knownNumber(), *call[1].knownNumber()));
}
bool isNan(double x) { return std::isnan(x); }
bool isInf(double x) { return std::isinf(x); }
bool isFinite(double x) { return std::isfinite(x); }
trace::Tensor log2Of(const trace::Tensor &x) { return fn::div(fn::log(x), fn::scalarLike(x, std::log(2.0))); }
trace::Tensor log10Of(const trace::Tensor &x) { return fn::div(fn::log(x), fn::scalarLike(x, std::log(10.0))); }
double radians(double x) { return x * M_PI / 180; }
double degrees(double x) { return x * 180 / M_PI; }
trace::Tensor radiansOf(const trace::Tensor &x) { return fn::mul(x, fn::scalarLike(x, M_PI / 180)); }
trace::Tensor degreesOf(const trace::Tensor &x) { return fn::mul(x, fn::scalarLike(x, 180 / M_PI)); }

} // namespace

llvm::ArrayRef<BuiltinEntry> numberBuiltins() {
  static const BuiltinEntry entries[] = {
      {"add", add},
      {"sub", arithmetic<Op::Sub>},
      {"mul", mul},
      {"div", arithmetic<Op::Div>},
      {"floordiv", arithmetic<Op::FloorDiv>},
      {"remainder", arithmetic<Op::Mod>},
      {"fmod", arithmetic<Op::Fmod>},
      {"pow", arithmetic<Op::Pow>},
      {"neg", neg},
      {"abs", abs},
      {"prim.abs", abs},
      {"round", round},
      {"floor", rounded<std::floor, fn::floor>},
      {"ceil", rounded<std::ceil, fn::ceil>},
      {"trunc", rounded<std::trunc, fn::trunc>},
      {"sqrt", unary<std::sqrt, fn::sqrt>},
      {"exp", unary<std::exp, fn::exp>},
      {"expm1", unary<std::expm1, fn::expm1>},
      {"log", unary<std::log, fn::log>},
      {"log1p", unary<std::log1p, fn::log1p>},
      {"log2", unary<std::log2, log2Of>},
      {"log10", unary<std::log10, log10Of>},
      {"sin", unary<std::sin, fn::sin>},
      {"cos", unary<std::cos, fn::cos>},
      {"tan", unary<std::tan, fn::tan>},
      {"asin", unary<std::asin, fn::asin>},
      {"acos", unary<std::acos, fn::acos>},
      {"atan", unary<std::atan, fn::atan>},
      {"sinh", unary<std::sinh, fn::sinh>},
      {"cosh", unary<std::cosh, fn::cosh>},
      {"tanh", unary<std::tanh, fn::tanh>},
      {"radians", unary<radians, radiansOf>},
      {"degrees", unary<degrees, degreesOf>},
      {"atan2", binaryReal<std::atan2>},
      {"copysign", binaryReal<std::copysign>},
      {"isnan", predicate<isNan>},
      {"isinf", predicate<isInf>},
      {"isfinite", predicate<isFinite>},
      {"divmod", divmod},
      {"gcd", gcd},
      {"prim.min", extreme<false>},
      {"prim.max", extreme<true>},
      {"__and__", bits<Bits::And>},
      {"__or__", bits<Bits::Or>},
      {"__xor__", bits<Bits::Xor>},
      {"__lshift__", bits<Bits::Left>},
      {"__rshift__", bits<Bits::Right>},
  };
  return entries;
}

} // namespace stator::torch::script
