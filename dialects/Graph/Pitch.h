//===- Pitch.h - tensors whose rows lie apart from each other --------------===//
//
// A concatenation needs no copies if its parts are computed where they belong.
// With channels last, such a part is not one run of bytes: each pixel's channels
// are a row inside of the pixel of the whole. Neither is a slice of channels.
// Everything that the plan places this way has one form: the elements of a row
// are dense, and rows follow each other at a constant distance. That is a pitch;
// a tensor without one is dense and row-major.
//
// A kernel learns the pitches of its operands and results from an attribute of
// its function, so that addresses stay constants of the code.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_GRAPH_PITCH_H
#define STATOR_DIALECTS_GRAPH_PITCH_H

#include "serialization/Base/DimExpr.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace stator::graph {

struct Pitch {
  /// Elements of one row, and from the start of one row to the start of the next.
  int64_t row, distance;
  bool operator==(const Pitch &) const = default;
};

/// Attribute of a kernel function: for each pitched buffer its number (operands first, then results), row and distance.
inline constexpr llvm::StringLiteral kPitchesAttrName = "stator.pitches";

/// The pitch of a kernel's buffer; none if it is dense.
std::optional<Pitch> pitchOfBuffer(mlir::func::FuncOp kernel, unsigned buffer);

/// Strides of the dims, in elements.
llvm::SmallVector<DimExpr> stridesOf(llvm::ArrayRef<DimExpr> dims, const std::optional<Pitch> &pitch = {});

/// Whether rows of `pitch` are whole trailing dims of a tensor of these dims.
bool hasRowsOf(llvm::ArrayRef<DimExpr> dims, const Pitch &pitch);

struct Layout {
  std::optional<Pitch> pitch;
};
/// The layout with these strides if it is dense or has a pitch.
std::optional<Layout> layoutOf(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<DimExpr> strides);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_PITCH_H
