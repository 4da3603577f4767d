// Element-wise arithmetic on known elements. A result that would not be certain for all values of the symbols is "not known"; then
// the operation goes into the graph like any other. Division treats sizes as positive: a symbolic divisor is taken not to be 0.
#include "compiler/Trace/FunctionSupport.h"

#include <cmath>
#include <numeric>

namespace stator::trace {

namespace {

constexpr int64_t kMaxDivisor = int64_t(1) << 40;

bool isNonNegative(BuilderImpl &b, const DimExpr &expr) { return b.bounds(expr).lo.value_or(-1) >= 0; }

/// A float: a number when constant, else a reduced fraction.
std::optional<Element> fraction(ElementType type, DimExpr numerator, int64_t divisor) {
  if (divisor == 0 || divisor > kMaxDivisor || !numerator.isValid())
    return std::nullopt;
  if (divisor < 0) {
    divisor = -divisor;
    numerator = DimExpr(0) - numerator;
  }
  if (std::optional<int64_t> value = numerator.constant())
    return Element::number(roundTo(type, static_cast<double>(*value) / static_cast<double>(divisor)));
  if (std::optional<DimExpr> quotient = numerator.exactDiv(DimExpr(divisor)))
    return Element(*quotient);
  while (divisor % 2 == 0) {
    std::optional<DimExpr> half = numerator.exactDiv(DimExpr(2));
    if (!half)
      break;
    numerator = *half;
    divisor /= 2;
  }
  return Element(numerator, divisor);
}

std::optional<Element> integerResult(ElementType type, const DimExpr &value) {
  if (!value.isValid())
    return std::nullopt;
  if (std::optional<int64_t> constant = value.constant(); constant && !fits(type, *constant))
    return std::nullopt;
  return Element(value);
}

std::optional<int64_t> integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0 || exponent > 64)
    return std::nullopt;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      return std::nullopt;
  return result;
}

std::optional<Element> integerBinary(BuilderImpl &b, llvm::StringRef op, ElementType type, const DimExpr &x, const DimExpr &y) {
  std::optional<int64_t> cx = x.constant(), cy = y.constant();
  if (op == "add")
    return integerResult(type, x + y);
  if (op == "sub")
    return integerResult(type, x - y);
  if (op == "mul")
    return integerResult(type, x * y);
  if (op == "maximum")
    return integerResult(type, b.max(x, y));
  if (op == "minimum")
    return integerResult(type, b.min(x, y));
  if (op == "div" || op == "floor_div" || op == "remainder" || op == "modulo") {
    if (cy && *cy == 0)
      return Element(DimExpr(0));
    bool isQuotient = op == "div" || op == "floor_div";
    // Where both are not negative, truncation and floor are the same.
    bool isSafe = (op == "floor_div" || op == "modulo") && cy && *cy > 0;
    isSafe = isSafe || (isNonNegative(b, y) && (isNonNegative(b, x) || (!cx && b.assumeNonNegative(x, kMaxAssumedSize))));
    if (isSafe)
      return integerResult(type, isQuotient ? x.floorDiv(y) : x.mod(y));
    if (!cx || !cy || *cy == -1)
      return std::nullopt;
    int64_t quotient = *cx / *cy, rest = *cx % *cy;
    if ((op == "floor_div" || op == "modulo") && rest != 0 && (rest < 0) != (*cy < 0)) {
      --quotient;
      rest += *cy;
    }
    return integerResult(type, DimExpr(isQuotient ? quotient : rest));
  }
  if (op == "pow" && cy) {
    if (cx) {
      std::optional<int64_t> power = integerPower(*cx, *cy);
      return power ? integerResult(type, DimExpr(*power)) : std::nullopt;
    }
    if (*cy < 0 || *cy > 4)
      return std::nullopt;
    DimExpr power(1);
    for (int64_t i = 0; i < *cy; ++i)
      power *= x;
    return integerResult(type, power);
  }
  if (!cx || !cy)
    return std::nullopt;
  if (op == "and")
    return Element(DimExpr(*cx & *cy));
  if (op == "or")
    return Element(DimExpr(*cx | *cy));
  if (op == "xor")
    return Element(DimExpr(*cx ^ *cy));
  return std::nullopt;
}

std::optional<double> floatBinary(llvm::StringRef op, double x, double y) {
  if (op == "add")
    return x + y;
  if (op == "sub")
    return x - y;
  if (op == "mul")
    return x * y;
  if (op == "div")
    return x / y;
  if (op == "pow")
    return std::pow(x, y);
  if (op == "maximum" || op == "minimum") {
    if (std::isnan(x) || std::isnan(y))
      return std::nan("");
    return op == "maximum" ? std::max(x, y) : std::min(x, y);
  }
  return std::nullopt;
}

std::optional<Element> fractionBinary(BuilderImpl &b, llvm::StringRef op, ElementType type, const Element &x, const Element &y) {
  const DimExpr &nx = x.numerator(), &ny = y.numerator();
  int64_t dx = x.divisor(), dy = y.divisor(), divisor = 0;
  if (__builtin_mul_overflow(dx, dy, &divisor))
    return std::nullopt;
  if (op == "add")
    return fraction(type, nx * DimExpr(dy) + ny * DimExpr(dx), divisor);
  if (op == "sub")
    return fraction(type, nx * DimExpr(dy) - ny * DimExpr(dx), divisor);
  if (op == "mul")
    return fraction(type, nx * ny, divisor);
  if (op == "div") {
    if (std::optional<int64_t> value = ny.constant()) {
      if (__builtin_mul_overflow(dx, *value, &divisor))
        return std::nullopt;
      return fraction(type, nx * DimExpr(dy), divisor);
    }
    std::optional<DimExpr> quotient = (nx * DimExpr(dy)).exactDiv(ny);
    return quotient ? fraction(type, *quotient, dx) : std::nullopt;
  }
  if ((op == "maximum" || op == "minimum") && dx == dy)
    return fraction(type, op == "maximum" ? b.max(nx, ny) : b.min(nx, ny), dx);
  return std::nullopt;
}

std::optional<bool> holds(graph::CompareDirection direction, std::optional<bool> isLess, std::optional<bool> isGreater,
                          std::optional<bool> isEqual) {
  auto negate = [](std::optional<bool> value) { return value ? std::optional<bool>(!*value) : std::nullopt; };
  switch (direction) {
  case graph::CompareDirection::Eq:
    return isEqual;
  case graph::CompareDirection::Ne:
    return negate(isEqual);
  case graph::CompareDirection::Lt:
    return isLess;
  case graph::CompareDirection::Ge:
    return negate(isLess);
  case graph::CompareDirection::Gt:
    return isGreater;
  case graph::CompareDirection::Le:
    return negate(isGreater);
  }
  return std::nullopt;
}

} // namespace

std::optional<Element> knownUnary(BuilderImpl &b, llvm::StringRef op, ElementType type, const Element &x) {
  if (!isFloat(type)) {
    const DimExpr &value = x.numerator();
    std::optional<int64_t> constant = value.constant();
    if (op == "neg")
      return integerResult(type, DimExpr(0) - value);
    if (op == "not" && type == ElementType::I1 && constant)
      return Element(DimExpr(*constant == 0));
    if (op == "abs" && isNonNegative(b, value))
      return x;
    if (op == "abs" && constant)
      return integerResult(type, DimExpr(0) - value);
    if (op == "sign" && constant)
      return Element(DimExpr((*constant > 0) - (*constant < 0)));
    if (op == "sign" && b.bounds(value).lo.value_or(0) > 0)
      return Element(DimExpr(1));
    if (op == "relu")
      return integerResult(type, b.max(value, DimExpr(0)));
    return std::nullopt;
  }
  if (std::optional<double> value = x.constant()) {
    std::optional<double> result;
    if (op == "neg")
      result = -*value;
    else if (op == "abs")
      result = std::fabs(*value);
    else if (op == "floor")
      result = std::floor(*value);
    else if (op == "ceil")
      result = std::ceil(*value);
    else if (op == "round_even")
      result = std::nearbyint(*value);
    else if (op == "sqrt")
      result = std::sqrt(*value);
    else if (op == "relu") // NaN stays.
      result = *value < 0 ? 0 : *value;
    return result ? std::optional<Element>(Element::number(roundTo(type, *result))) : std::nullopt;
  }
  if (op == "neg")
    return Element(DimExpr(0) - x.numerator(), x.divisor());
  if (op == "floor")
    return Element(x.numerator().floorDiv(DimExpr(x.divisor())));
  if (op == "ceil")
    return Element(x.numerator().ceilDiv(DimExpr(x.divisor())));
  if ((op == "round_even" && x.divisor() == 1) || (op == "abs" && isNonNegative(b, x.numerator())))
    return x;
  return std::nullopt;
}

std::optional<Element> knownBinary(BuilderImpl &b, llvm::StringRef op, ElementType type, const Element &x, const Element &y) {
  if (!isFloat(type))
    return integerBinary(b, op, type, x.numerator(), y.numerator());
  std::optional<double> cx = x.constant(), cy = y.constant();
  if (cx && cy) {
    std::optional<double> result = floatBinary(op, *cx, *cy);
    return result ? std::optional<Element>(Element::number(roundTo(type, *result))) : std::nullopt;
  }
  std::optional<Element> fx = x.asFraction(), fy = y.asFraction();
  return fx && fy ? fractionBinary(b, op, type, *fx, *fy) : std::nullopt;
}

std::optional<bool> knownCompare(BuilderImpl &b, graph::CompareDirection direction, const Element &x, const Element &y) {
  if (x.isNumber() || y.isNumber()) {
    std::optional<double> cx = x.constant(), cy = y.constant();
    if (cx && cy) {
      if (std::isnan(*cx) || std::isnan(*cy))
        return direction == graph::CompareDirection::Ne;
      return holds(direction, *cx<*cy, *cx> * cy, *cx == *cy);
    }
  }
  std::optional<Element> fx = x.asFraction(), fy = y.asFraction();
  if (!fx || !fy)
    return std::nullopt;
  DimExpr left = fx->numerator() * DimExpr(fy->divisor()), right = fy->numerator() * DimExpr(fx->divisor());
  if (!left.isValid() || !right.isValid())
    return std::nullopt;
  return holds(direction, b.isLess(left, right), b.isLess(right, left), b.isEqual(left, right));
}

} // namespace stator::trace
