// What tracing knows about the elements of a tensor. Integer elements are expressions over the symbols. Float elements are numbers,
// or exact fractions `expr / divisor` of a size, because models compute sizes in floats too (floor(height * 0.5)). Such a fraction is
// computed exactly, not rounded as the float would be; sizes are below 2^31, where this cannot change a size by more than rounding
// in the model itself would.
#ifndef STATOR_COMPILER_TRACE_CONTENTS_H
#define STATOR_COMPILER_TRACE_CONTENTS_H

#include "serialization/Base/DimExpr.h"
#include "stator/ElementType.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace stator::trace {

/// Tensors with more elements are never tracked.
constexpr int64_t kMaxKnownElements = 256;
/// A quotient of `h - 7` makes h at least 7; with larger numbers a negative quotient is taken to be meant.
constexpr int64_t kMaxAssumedSize = 64;

class Element {
public:
  Element(DimExpr expr = 0, int64_t divisor = 1) : expr_(std::move(expr)), divisor_(divisor) {}
  static Element number(double value) {
    Element element;
    element.isNumber_ = true;
    element.number_ = value;
    return element;
  }

  /// A float that is a plain number.
  bool isNumber() const { return isNumber_; }
  /// The expression, if this is one without a divisor.
  const DimExpr *expr() const { return !isNumber_ && divisor_ == 1 ? &expr_ : nullptr; }
  const DimExpr &numerator() const { return expr_; }
  int64_t divisor() const { return divisor_; }
  /// The integer, if it is constant and integral.
  std::optional<int64_t> integer() const;
  /// The number, if it is constant.
  std::optional<double> constant() const;
  /// The same value as a fraction: numbers that are multiples of 2^-20 qualify.
  std::optional<Element> asFraction() const;

private:
  DimExpr expr_;
  int64_t divisor_ = 1;
  double number_ = 0;
  bool isNumber_ = false;
};

using Contents = std::vector<Element>;

/// `element` brought to `type`, by the rules of graph.convert. Nothing when the result is not known or not representable.
/// `isNonNegative` tells whether a size expression never is below zero.
std::optional<Element> convertElement(const Element &element, ElementType from, ElementType to,
                                      llvm::function_ref<bool(const DimExpr &)> isNonNegative);
/// A plain number as an element of a tensor of `type`: rounded for floats, truncated for integers.
Element elementOf(ElementType type, double value);
/// Whether the integer fits into `type`.
bool fits(ElementType type, int64_t value);
/// Rounds to what `type` can hold (f32 and f64; other types keep the value).
double roundTo(ElementType type, double value);

/// Reads `count` elements of little-endian `bytes`, which are long enough.
Contents readContents(ElementType type, const char *bytes, int64_t count);
/// Writes constant contents as bytes; false when some element is not constant.
bool writeContents(ElementType type, const Contents &contents, std::vector<char> &bytes);

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_CONTENTS_H
