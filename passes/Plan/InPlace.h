//===- InPlace.h - where a kernel's result may take over an operand's bytes ===//
//
// Shared by plan-assign-memory, which uses the permission, and plan-verify,
// which must not take its use for an error.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_INPLACE_H
#define STATOR_PASSES_PLAN_INPLACE_H

#include "passes/Plan/ArenaPacking.h"
#include "passes/Plan/BufferLiveness.h"

namespace stator::plan {

/// Pairs of buffer numbers (operand, result) of whole arena buffers of equal size, where the operand dies and the result is born at
/// `kernel`, which reads the operand only where it is about to write. Each buffer is in at most one pair.
llvm::SmallVector<std::pair<size_t, size_t>> inPlaceCandidates(KernelOp kernel, const BufferLiveness &liveness);

/// The range of every symbol that the sizes and offsets of `method` use.
SymbolRanges symbolRangesOf(MethodOp method);

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_INPLACE_H
