//===- Work.h - how much a kernel computes and touches ---------------------===//
//
// To say whether a step is fast one needs to know what it had to do. Both
// figures are nominal: they come from the operations and their types, not from
// how a kernel goes about them, so that two ways to compute the same thing can
// be compared. A Winograd convolution counts the multiplications of the direct
// one, padding counts like data, and each byte counts once however often it is
// read. The plan's artifact stores them for each step, as expressions of the
// method's symbols.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_GRAPH_WORK_H
#define STATOR_DIALECTS_GRAPH_WORK_H

#include "serialization/Base/DimExpr.h"

#include "mlir/IR/Region.h"

namespace stator::graph {

struct Work {
  /// A multiplication with its addition is two; a function such as exp is one, and so is a comparison. Moving data is none.
  DimExpr operations;
  /// Operands and results. Of an operand that is only gathered or sliced from, what is taken.
  DimExpr bytes;
};

/// Of one call of a kernel or a fusion, given by its body. Sizes that cannot be expressed make an invalid expression.
Work workOf(mlir::Region &body);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_WORK_H
