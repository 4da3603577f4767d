//===- Views.h - which graph operations only rename bytes ------------------===//
//
// A few shape operations need no code: the result is a part of the operand's
// bytes, or the operands are parts of the result's. plan-build makes them views;
// passes/Optimise asks here which ones it may leave outside of a fusion. Parts
// that are one run of bytes always are; others if they were marked
// (PitchedAccess.h).
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_VIEWS_H
#define STATOR_DIALECTS_PLAN_VIEWS_H

#include "dialects/Graph/GraphOps.h"
#include "serialization/Base/DimExpr.h"

#include <optional>

namespace stator::plan {

/// Bytes between the start of the operand and the start of the slice if the slice is contiguous: all strides are 1, and at most one
/// axis is cut, before which every axis of the result has size 1.
std::optional<DimExpr> contiguousSliceOffset(graph::SliceOp slice);
inline bool isContiguousSlice(graph::SliceOp slice) { return contiguousSliceOffset(slice).has_value(); }

/// Whether each operand's bytes are one run of the result's: every axis before the concatenated one has size 1.
bool isContiguousConcat(graph::ConcatOp concat);

/// Whether plan-build turns `op` into views (or copies of whole operands), without a kernel.
bool isView(mlir::Operation *op);

} // namespace stator::plan

#endif // STATOR_DIALECTS_PLAN_VIEWS_H
