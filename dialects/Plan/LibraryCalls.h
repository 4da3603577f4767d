//===- LibraryCalls.h - the routines of libraries that a plan may call -----===//
//
// One table of facts that three places share: plan-outline-kernels turns a
// fusion region into such a call, codegen/Artifact stores it, and the
// runtime's plug-in executes it.
//
// oneDNN (library "onednn"), element type f32:
//
// routine       buffers in -> out                     sizes           options (integers and lists of integers)
// "matmul"      lhs, rhs, (bias) -> result            B, M, N, K      transpose_rhs 0|1, bias 0|1, relu 0|1, rhs_batched 0|1
//               lhs is [B, M, K]; rhs is [B, K, N], or [B, N, K] when transpose_rhs; without rhs_batched rhs has no B and
//               serves every batch; bias is [N]; result is [B, M, N]. All dense.
// "convolution" input, filter, (bias) -> result       input dims,     strides, pad_low, pad_high, dilations (one per spatial axis),
//                                                     filter dims,    groups, channels_last 0|1, bias 0|1, relu 0|1
//                                                     result dims
//               filter is [O, I / groups, spatial...] whatever the layout of the input; bias is [O].
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_LIBRARYCALLS_H
#define STATOR_DIALECTS_PLAN_LIBRARYCALLS_H

#include "dialects/Plan/PlanOps.h"

#include "llvm/Support/Error.h"

namespace stator::plan {

inline constexpr llvm::StringLiteral kOneDnn = "onednn";
inline constexpr llvm::StringLiteral kMatmulRoutine = "matmul";
inline constexpr llvm::StringLiteral kConvolutionRoutine = "convolution";

/// A library call that computes what a fusion region computes.
struct LibraryCallDescription {
  llvm::StringRef routine;
  mlir::DictionaryAttr options;
  llvm::SmallVector<DimExpr> sizes;
  /// Positions of the region's arguments, in the order in which the routine takes them.
  llvm::SmallVector<unsigned> operands;
};

/// The call of `library` for `fusion`, or the reason why there is none.
llvm::Expected<LibraryCallDescription> describeLibraryCall(graph::FusionOp fusion, llvm::StringRef library);

} // namespace stator::plan

#endif // STATOR_DIALECTS_PLAN_LIBRARYCALLS_H
