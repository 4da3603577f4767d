//===- PitchedAccess.h - concatenations and slices that need no copies -----===//
//
// Which concatenations and slices the plan may turn into pitched views
// (dialects/Graph/Pitch.h), and which kernels can read or write through one.
// The optimise stage asks the first question and marks the op; the plan stage
// asks the second for each producer and consumer, and copies where the answer is
// no. Both look at graph operations: kernels are not emitted yet.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_PITCHEDACCESS_H
#define STATOR_DIALECTS_PLAN_PITCHEDACCESS_H

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Pitch.h"

namespace stator::plan {

/// Attribute of a concat or slice outside of every fusion whose bytes are not one run: its parts are placed by pitch.
inline constexpr llvm::StringLiteral kPitchedAttrName = "plan.pitched";

/// Whether the parts can be rows at a constant distance, long enough that reading them apart costs nothing.
bool mayBePitched(graph::ConcatOp concat);
bool mayBePitched(graph::SliceOp slice);

/// How the rows of a part lie that was cut from `whole` (or put into it) along `axis`.
std::optional<graph::Pitch> pitchOfPart(mlir::RankedTensorType part, mlir::RankedTensorType whole, int64_t axis);
/// The axis along which a slice cuts, if there is only one.
std::optional<int64_t> cutAxis(graph::SliceOp slice);

/// Whether the kernel with this body (of a fusion, or of a kernel function) can read that argument where it has this pitch.
bool mayReadPitched(mlir::Block &body, unsigned argument, const graph::Pitch &pitch);
/// Whether it can write that result to rows that lie apart.
bool mayWritePitched(mlir::Block &body, unsigned result);

} // namespace stator::plan

#endif // STATOR_DIALECTS_PLAN_PITCHEDACCESS_H
