// The inside of a DimExpr, shared by the files that implement it: a sum of terms, each a coefficient times a sorted list of atoms.
// Terms are sorted by graded lexicographic order (higher degree first, then by the atoms' texts, the constant last), which is also the
// order in which they are printed and the monomial order of the exact division.
#ifndef STATOR_SERIALIZATION_BASE_DIMPOLYNOMIAL_H
#define STATOR_SERIALIZATION_BASE_DIMPOLYNOMIAL_H

#include "serialization/Base/DimExpr.h"

namespace stator {

enum class DimAtomKind { Symbol, FloorDiv, CeilDiv, Mod, Min, Max };

struct DimAtom {
  DimAtomKind kind;
  std::string name;               ///< Of a symbol, without quotes.
  std::vector<DimExpr> arguments; ///< Two; two or more for min and max.
  std::string text;               ///< As printed; atoms are compared by it.
  unsigned weight = 1;            ///< Nodes of the expression tree.
  unsigned depth = 1;             ///< Nesting.
  DimInterval range;              ///< With every symbol non-negative.
};
using DimAtomPtr = std::shared_ptr<const DimAtom>;

struct DimTerm {
  int64_t coefficient = 0;
  std::vector<DimAtomPtr> factors; ///< Sorted by text; a square is listed twice.
};

struct DimPolynomial {
  std::vector<DimTerm> terms;
  unsigned weight = 0;
  unsigned depth = 0;
  std::string invalidReason; ///< Empty for a valid expression.
};

/// Budgets beyond which an expression becomes invalid; real models stay far below.
constexpr unsigned kMaxDimWeight = 1024;
constexpr unsigned kMaxDimDepth = 64;
constexpr unsigned kMaxDimDegree = 64;

struct DimExprAccess {
  static const DimPolynomial *polynomial(const DimExpr &e) { return e.polynomial.get(); }
  static DimExpr wrap(std::shared_ptr<const DimPolynomial> polynomial) {
    DimExpr e;
    e.polynomial = std::move(polynomial);
    return e;
  }
};

/// The terms of a valid expression, the constant included; none for 0.
std::vector<DimTerm> termsOf(const DimExpr &e);
/// Sorts, merges and drops what cancels.
DimExpr fromTerms(std::vector<DimTerm> terms);
/// The expression that is one atom. Arguments are already simplified; one that is invalid makes the result invalid.
DimExpr fromAtom(DimAtomKind kind, std::vector<DimExpr> arguments);
/// The atom, if the expression is exactly one atom.
DimAtomPtr asAtom(const DimExpr &e);
/// Below zero when `a` is printed before `b`.
int compareMonomials(const std::vector<DimAtomPtr> &a, const std::vector<DimAtomPtr> &b);
/// a / b as monomials, if b divides a.
std::optional<std::vector<DimAtomPtr>> divideMonomials(const std::vector<DimAtomPtr> &a, const std::vector<DimAtomPtr> &b);
/// Bounds of an atom from those of its arguments.
DimInterval boundsOfAtom(const DimAtom &atom, const std::map<std::string, DimInterval> *ranges);
DimInterval boundsOf(const DimExpr &e, const std::map<std::string, DimInterval> *ranges);
const char *functionName(DimAtomKind kind);
std::string symbolText(std::string_view name);

/// Rounding division and remainder for b != 0; empty on overflow (the most negative number by -1).
std::optional<int64_t> floorDivide(int64_t a, int64_t b);
std::optional<int64_t> ceilDivide(int64_t a, int64_t b);
std::optional<int64_t> floorModulo(int64_t a, int64_t b);

} // namespace stator

#endif // STATOR_SERIALIZATION_BASE_DIMPOLYNOMIAL_H
