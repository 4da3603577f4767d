// Pieces that type inference and verifiers of several families share. All take an optional location: with one, they say what is wrong.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHTYPEINFERENCE_H
#define STATOR_DIALECTS_GRAPH_GRAPHTYPEINFERENCE_H

#include "dialects/Graph/GraphOps.h"

namespace stator::graph {

using MaybeLocation = std::optional<mlir::Location>;
using InferredTypes = llvm::SmallVectorImpl<mlir::Type>;

/// Emits "'op' op message" when there is a location; always fails.
template <typename... Args> mlir::LogicalResult inferenceError(MaybeLocation location, llvm::StringRef op, Args &&...args) {
  return mlir::emitOptionalError(location, "'", op, "' op ", std::forward<Args>(args)...);
}

inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }

/// All operands have one type, which is the result's.
mlir::LogicalResult inferSameType(MaybeLocation location, llvm::StringRef op, mlir::ValueRange operands, InferredTypes &types);
/// All operands have one type; the result has its shape and elements i1.
mlir::LogicalResult inferBool(MaybeLocation location, llvm::StringRef op, mlir::ValueRange operands, InferredTypes &types);

/// Appends the type of these sizes; an error when a size overflows or is below zero.
mlir::LogicalResult inferTensor(MaybeLocation location, llvm::StringRef op, llvm::ArrayRef<DimExpr> dims, mlir::Type element,
                                InferredTypes &types);

/// `axis` is in 0 .. rank - 1.
mlir::LogicalResult checkAxis(MaybeLocation location, llvm::StringRef op, llvm::StringRef name, int64_t axis, int64_t rank);
/// `axes` are in 0 .. rank - 1 and increase.
mlir::LogicalResult checkIncreasingAxes(MaybeLocation location, llvm::StringRef op, llvm::StringRef name, llvm::ArrayRef<int64_t> axes,
                                        int64_t rank);
/// `axes` are in 0 .. rank - 1, each at most once.
mlir::LogicalResult checkDistinctAxes(MaybeLocation location, llvm::StringRef op, llvm::StringRef name, llvm::ArrayRef<int64_t> axes,
                                      int64_t rank);
/// A list has one entry per axis.
mlir::LogicalResult checkLength(MaybeLocation location, llvm::StringRef op, llvm::StringRef name, int64_t length, int64_t expected);
/// `what` has exactly this shape.
mlir::LogicalResult checkShape(MaybeLocation location, llvm::StringRef op, llvm::StringRef what, mlir::RankedTensorType type,
                               llvm::ArrayRef<DimExpr> expected);
/// `what` has exactly these elements.
mlir::LogicalResult checkElement(MaybeLocation location, llvm::StringRef op, llvm::StringRef what, mlir::RankedTensorType type,
                                 mlir::Type expected);

/// The largest stride, padding or dilation: no model has one near it, and sums and products of a few of them fit in 64 bits.
inline constexpr int64_t kMaxAmount = int64_t(1) << 40;

/// The attributes of a sliding window, one entry per spatial axis.
struct WindowAttributes {
  llvm::ArrayRef<int64_t> kernel, strides, padLow, padHigh, dilations;
};
/// The spatial sizes of convolutions and pools: `floordiv(n + low + high - (k-1)*dilation - 1, stride) + 1`. `spatial` holds the input's
/// sizes and is overwritten.
mlir::LogicalResult inferWindow(MaybeLocation location, llvm::StringRef op, const WindowAttributes &window,
                                llvm::SmallVectorImpl<DimExpr> &spatial);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_GRAPHTYPEINFERENCE_H
