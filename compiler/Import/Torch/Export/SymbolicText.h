//===- SymbolicText.h - sizes written as expressions of sympy --------------===//
//
// torch.export writes a symbolic size as sympy's srepr, a Python expression
// that upstream evaluates. Here it is read by a grammar of its own, which knows
// the functions that sizes are made of and refuses everything else; no text
// of the file is ever executed. A second, smaller grammar reads the printed
// form ("2*s44", "s15 + 1") that range constraints have as keys.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICTEXT_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICTEXT_H

#include "serialization/Base/DimExpr.h"

#include <string_view>

namespace stator::torch::exported {

/// What an expression stands for. Only integers are computed with; numbers and conditions are just checked to be well formed, because
/// the graph computes them again with nodes.
struct SymbolicValue {
  enum class Kind { Integer, Number, Condition } kind = Kind::Integer;
  /// Of an integer; of a number, if it is known as a quotient of integers, its numerator.
  DimExpr value;
  DimExpr divisor = DimExpr(1);
  /// Whether `value` and `divisor` say what it is.
  bool isKnown = true;
};

/// Reads srepr: Symbol Integer Rational Float Add Mul Pow FloorDiv Mod Min Max and their kin, relations, And Or Not, and a bare name as
/// old files have it. InvalidFile names what is not in the grammar.
Result<SymbolicValue> parseSrepr(std::string_view text);

/// Reads what str() of an expression gives, and what DimExpr cannot: "(s0//2)", "Max(1, s0)", "s0**2".
Result<DimExpr> parsePrinted(std::string_view text);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_SYMBOLICTEXT_H
