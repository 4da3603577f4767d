// Symbolic sizes. The size of a tensor's axis is an integer expression over named symbols ("batch", "tokens"); shape inference, memory
// planning and the checks at run time all compute with it, and two sizes count as equal exactly when their canonical texts are.
// A DimExpr is therefore kept in canonical form at all times: a polynomial with int64 coefficients over *atoms*, where an atom is a
// symbol or a floordiv, ceildiv, mod, min or max of DimExprs. Rewrites hold for all non-negative values of the symbols for which the
// original expression is defined (no division by zero). Equal texts mean equal values; the converse is best effort.
//
// Values are immutable and cheap to copy; threads may share them. Nothing here fails by aborting: what cannot be represented (overflow
// of a coefficient, division by the constant 0, an expression beyond the size budget) is an *invalid* expression, which stays invalid
// through every operation and says why.
#ifndef STATOR_SERIALIZATION_BASE_DIMEXPR_H
#define STATOR_SERIALIZATION_BASE_DIMEXPR_H

#include "stator/Result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator {

struct DimPolynomial;

/// Values between `lo` and `hi`, both included; a missing end is unbounded.
struct DimInterval {
  std::optional<int64_t> lo;
  std::optional<int64_t> hi;
};

class DimExpr {
public:
  DimExpr(int64_t value = 0) : value(value) {}
  /// Any non-empty name; one that is not an identifier is quoted in texts.
  static DimExpr symbol(std::string_view name);
  static DimExpr invalid(std::string reason);
  /// Reads what str() writes, and any other expression of + - * ( ) floordiv ceildiv mod min max. Texts of more than 64 KiB, or nested
  /// more than 64 deep, are refused.
  static Result<DimExpr> parse(std::string_view text);

  bool isValid() const;
  /// ok, or InvalidArgument with the reason.
  Status status() const;
  bool isConstant() const { return !polynomial; }
  bool isConstant(int64_t expected) const { return !polynomial && value == expected; }
  /// The value, if it is one number.
  std::optional<int64_t> constant() const { return polynomial ? std::nullopt : std::optional<int64_t>(value); }
  /// The name, if it is just one symbol.
  std::optional<std::string> asSymbol() const;
  /// Every symbol in it, sorted, each once.
  std::vector<std::string> symbols() const;

  friend DimExpr operator+(const DimExpr &a, const DimExpr &b);
  friend DimExpr operator-(const DimExpr &a, const DimExpr &b);
  friend DimExpr operator*(const DimExpr &a, const DimExpr &b);
  DimExpr operator-() const { return DimExpr(0) - *this; }
  DimExpr &operator+=(const DimExpr &other) { return *this = *this + other; }
  DimExpr &operator-=(const DimExpr &other) { return *this = *this - other; }
  DimExpr &operator*=(const DimExpr &other) { return *this = *this * other; }

  /// Rounds towards minus infinity; `(64*N*T).floorDiv(16*T)` is `4*N`.
  DimExpr floorDiv(const DimExpr &divisor) const;
  /// Rounds towards plus infinity.
  DimExpr ceilDiv(const DimExpr &divisor) const;
  /// `a - b * floordiv(a, b)`: has the sign of the divisor.
  DimExpr mod(const DimExpr &divisor) const;
  DimExpr min(const DimExpr &other) const;
  DimExpr max(const DimExpr &other) const;
  /// The polynomial q with q * divisor == *this, if there is one.
  std::optional<DimExpr> exactDiv(const DimExpr &divisor) const;

  /// Replaces symbols; those not in the map stay.
  DimExpr substitute(const std::map<std::string, DimExpr> &values) const;
  /// OutOfRange on overflow and on division by zero, InvalidArgument when a symbol has no value.
  Result<int64_t> evaluate(const std::map<std::string, int64_t> &values) const;
  /// Sound, not tight. A symbol without an entry ranges over all non-negative numbers.
  DimInterval bounds(const std::map<std::string, DimInterval> &ranges = {}) const;
  /// True when bounds() shows it.
  bool isNonNegative() const;

  /// Canonical: "64*N*T + 2", "floordiv(h + 1, 2)", "min(T, 64)".
  std::string str() const;
  size_t hash() const;
  friend bool operator==(const DimExpr &a, const DimExpr &b);
  /// A total order for containers and deterministic output: constants first, by value, then by text.
  friend bool operator<(const DimExpr &a, const DimExpr &b);

private:
  friend struct DimExprAccess;
  int64_t value = 0;
  std::shared_ptr<const DimPolynomial> polynomial; // Null for a constant.
};

/// Postfix code of an expression, as the artifact stores it: operators, two of which are followed by a number.
enum class DimOpcode : int64_t { Const = 0, Symbol = 1, Add = 2, Sub = 3, Mul = 4, FloorDiv = 5, CeilDiv = 6, Mod = 7, Min = 8, Max = 9 };
/// The most values that a postfix code may hold at once. Code from compile() stays below it.
constexpr unsigned kMaxPostfixDepth = 256;

/// Code that reads symbol `name` as number `symbolIndex.at(name)`. InvalidArgument for an invalid expression or a missing symbol.
Result<std::vector<int64_t>> compile(const DimExpr &expr, const std::map<std::string, uint32_t> &symbolIndex);
/// OutOfRange on overflow and on division by zero; InvalidArgument for code that checkPostfix() would refuse. Allocates nothing unless
/// it fails.
Result<int64_t> evaluatePostfix(std::span<const int64_t> code, std::span<const int64_t> symbols);
/// Whether `code` is well formed over `numSymbols` symbols: known operators, complete operands, bounded depth, one result.
Status checkPostfix(std::span<const int64_t> code, size_t numSymbols);
/// The expression that `code` computes, for display. `code` has passed checkPostfix().
DimExpr decompile(std::span<const int64_t> code, std::span<const std::string> symbolNames);

} // namespace stator

template <>
struct std::hash<stator::DimExpr> {
  size_t operator()(const stator::DimExpr &expr) const { return expr.hash(); }
};

#endif // STATOR_SERIALIZATION_BASE_DIMEXPR_H
