//===- ConstantMatchers.h - reading numbers out of a graph -----------------===//

#ifndef STATOR_PASSES_GRAPH_CONSTANTMATCHERS_H
#define STATOR_PASSES_GRAPH_CONSTANTMATCHERS_H

#include "dialects/Graph/GraphOps.h"

#include <optional>

namespace stator::graph {

/// The number that every element of `value` has: a splat constant, also behind a broadcast or a reshape.
std::optional<double> splatValue(mlir::Value value);

/// Whether every element is `expected` up to the rounding of the element type.
bool isSplatOf(mlir::Value value, double expected);

/// `value` as op(x, c) or op(c, x) with a splat c; the other operand and the number.
template <typename OpT>
std::optional<std::pair<mlir::Value, double>> matchWithNumber(mlir::Value value) {
  auto op = value.getDefiningOp<OpT>();
  if (!op)
    return std::nullopt;
  if (auto number = splatValue(op.getRhs()))
    return std::pair(op.getLhs(), *number);
  if (auto number = splatValue(op.getLhs()))
    return std::pair(op.getRhs(), *number);
  return std::nullopt;
}

/// Looks through a broadcast that repeats a reduced axis; null if `value` is something else.
mlir::Value beforeBroadcast(mlir::Value value);

} // namespace stator::graph

#endif // STATOR_PASSES_GRAPH_CONSTANTMATCHERS_H
