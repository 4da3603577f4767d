// Size expressions taken apart. A DimExpr is opaque by design; its postfix code is the documented way to look inside, and is all
// that tracing needs: to rebuild an expression with better rules for min and max, and to see its outermost operation.
#ifndef STATOR_COMPILER_TRACE_POSTFIX_H
#define STATOR_COMPILER_TRACE_POSTFIX_H

#include "serialization/Base/DimExpr.h"

#include <functional>
#include <optional>

namespace stator::trace {

/// a `op` b.
DimExpr apply(DimOpcode op, const DimExpr &a, const DimExpr &b);

/// Evaluates the expression bottom up, with `combine` for each operation. An expression beyond the size budget stays as it is.
DimExpr rebuild(const DimExpr &expr, const std::function<DimExpr(DimOpcode, const DimExpr &, const DimExpr &)> &combine);

struct PostfixNode {
  DimOpcode op;
  DimExpr left, right;
};
/// The outermost operation, none for numbers and symbols.
std::optional<PostfixNode> topOperation(const DimExpr &expr);

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_POSTFIX_H
