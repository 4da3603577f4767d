//===- StridedViews.h - tensors as parts of others, through strides --------===//
//
// A transpose, a slice, most reshapes and a concatenation only say where
// elements are to be found. A kernel that reads through strides needs none of
// them carried out. This computes, for a value at the end of a chain of such
// ops, where its elements lie in the value at the start; the optimiser asks how
// much of a chain a kernel can take over, the kernel where to read.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_GRAPH_STRIDEDVIEWS_H
#define STATOR_DIALECTS_GRAPH_STRIDEDVIEWS_H

#include "dialects/Graph/GraphOps.h"
#include "serialization/Base/DimExpr.h"

#include <optional>

namespace stator::graph {

/// Element (i, j, ...) is element offset + i * strides[0] + j * strides[1] + ... of `base`, which is dense and row-major.
struct StridedView {
  mlir::Value base;
  DimExpr offset;
  llvm::SmallVector<DimExpr> sizes, strides;

  static StridedView dense(mlir::Value value);
};

/// `view` with other sizes and the same elements in the same order, if strides can express that.
std::optional<StridedView> reshaped(const StridedView &view, llvm::ArrayRef<DimExpr> sizes);

/// A value as one view, or as several that follow each other along one axis.
struct StridedParts {
  llvm::SmallVector<StridedView> parts;
  int64_t axis = 0;
  /// The ops that are looked through, the ones nearest to the value first.
  llvm::SmallVector<mlir::Operation *> through;
};

/// Looks through at most `limit` ops for which `admit` holds: transposes, slices, reshapes, and concatenations of at most `maxParts` parts.
StridedParts viewOf(mlir::Value value, unsigned limit, unsigned maxParts, llvm::function_ref<bool(mlir::Operation *)> admit);

/// Where the elements of `value` are to be written so that `final`, which a chain of transposes and reshapes makes of it, is dense. Null
/// when strides cannot express that.
std::optional<StridedView> viewInto(mlir::Value value, mlir::Value final);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_STRIDEDVIEWS_H
