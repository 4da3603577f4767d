//===- LibraryCalls.h - the routines of libraries that a plan may call -----===//
//
// One table of facts that three places share: plan-outline-kernels turns a
// fusion region into such a call, codegen/Artifact stores it, and the
// runtime's plug-in executes it.
//
// oneDNN (library "onednn"), element type f32:
//
// routine       buffers in -> out                     sizes           options (integers and lists of integers)
// "matmul"      lhs, rhs, (bias), (post-op operands)  B, M, N, K      transpose_rhs 0|1, bias 0|1, relu 0|1, rhs_batched 0|1,
//               -> result                                             (post_ops)
//               lhs is [B, M, K]; rhs is [B, K, N], or [B, N, K] when transpose_rhs; without rhs_batched rhs has no B and
//               serves every batch; bias is [N]; result is [B, M, N]. All dense.
// "convolution" input, filter, (bias),                input dims,     strides, pad_low, pad_high, dilations (one per spatial axis),
//               (post-op operands) -> result          filter dims,    groups, channels_last 0|1, bias 0|1, relu 0|1, (post_ops)
//                                                     result dims
//               filter is [O, I / groups, spatial...] whatever the layout of the input; bias is [O].
//
// post_ops is a list of groups of four integers, applied in order after bias and relu: {PostOp, extent of the operand, and two
// parameters, here 0}.
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

/// Numbers of `post_ops`; runtime/Kernels/LibraryAbi.h has the same, which a test compares.
enum class PostOp : int64_t { Relu = 1, GeluErf = 2, GeluTanh = 3, Add = 4, Mul = 5, Sigmoid = 7, Tanh = 9 };
enum class PostOpExtent : int64_t { Scalar = 0, PerChannel = 1, Full = 2 };

/// What a contraction of the library does to its result before it is written. Grows operation by operation, in the order in which the
/// library applies them; works on operations inside of a region and on candidates for one.
class LibraryEpilogue {
public:
  explicit LibraryEpilogue(mlir::Operation *contraction);

  /// Takes `op` if it is the only reader of result() and the library can do it next. (Broadcasts of operands are not asked for: they
  /// belong to the operation that reads them.)
  bool admit(mlir::Operation *op);

  mlir::Value result() const { return current; }
  mlir::Value bias() const { return biasVector; }
  bool relu() const { return hasRelu; }
  llvm::ArrayRef<int64_t> postOps() const { return words; }
  llvm::ArrayRef<mlir::Value> postOpOperands() const { return operands; }

private:
  bool admitBinary(PostOp kind, mlir::Value other);
  void append(PostOp kind, PostOpExtent extent = PostOpExtent::Scalar);

  mlir::Value current, biasVector;
  int64_t channelAxis = 0;
  bool hasRelu = false;
  llvm::SmallVector<int64_t> words;
  llvm::SmallVector<mlir::Value> operands;
};

/// A library call that computes what a fusion region computes.
struct LibraryCallDescription {
  llvm::StringRef routine;
  mlir::DictionaryAttr options;
  llvm::SmallVector<DimExpr> sizes;
  /// In the order in which the routine takes them: arguments of the region, and constants in it.
  llvm::SmallVector<mlir::Value> operands;
};

/// The multiplications and additions of a call's contraction, two per product.
DimExpr operationsOf(LibraryOp call);

/// The call of `library` for `fusion`, or the reason why there is none.
llvm::Expected<LibraryCallDescription> describeLibraryCall(graph::FusionOp fusion, llvm::StringRef library);

} // namespace stator::plan

#endif // STATOR_DIALECTS_PLAN_LIBRARYCALLS_H
