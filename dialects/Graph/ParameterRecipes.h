// Derived parameters: how their bytes follow from others. A transform of weights (transposing, packing, scaling by a folded batch norm)
// is recorded as a recipe and carried out when the artifact is written, streaming from the mapped source: the weights are never copied
// into the IR, and the extra memory is a few kilobytes per recipe whatever the size.
//
// kind            sources       options                       type of the result
// transpose       w             perm: array<i64>              axes permuted, as `graph.transpose`
// reshape         w             shape: array<i64>             the same elements
// slice           w             starts, sizes, strides: array<i64>   as `graph.slice`; a negative stride goes down
// concat          v, w          axis: i64                     w behind v, as `graph.concat`
// convert         w             type: a type                  other elements, as `graph.convert`
// mul_channel     w, scale      axis: i64                     each slice along `axis` times its entry of the vector `scale`
// pack_matmul     w [B.., K, N] transposed: unit (then [B.., N, K])   [B.., ceil(N/16), K, 16]
// pack_strassen   w [K, N]      transposed: unit (then [N, K])   [7, N/32, K/2, 16], sums of quadrants
// pack_conv       w [O, C, k..] groups: i64                   [groups, ceil(O/groups/16), taps * C, 16]
// pack_winograd   w [O, C, 3, 3] tile: i64 (m)                [ceil(O/16), (m+2)^2, C, 16], transformed
// pack_depthwise  w [C, 1, k..]                               [taps, C]
// pack_recurrent  w [D, G*H, X] gates: i64 (G)                [D, G, ceil(H/16), X, 16]
//
// Element by element, the packed layouts are in dialects/Target/PackedLayouts.h. DerivedParameters.h adds such parameters to a module.
#ifndef STATOR_DIALECTS_GRAPH_PARAMETERRECIPES_H
#define STATOR_DIALECTS_GRAPH_PARAMETERRECIPES_H

#include "dialects/Graph/GraphOps.h"

namespace stator::graph {

/// The type that a recipe gives, or a diagnostic at `loc`.
mlir::FailureOr<mlir::RankedTensorType> inferRecipeType(RecipeAttr recipe, llvm::ArrayRef<mlir::RankedTensorType> sources,
                                                        mlir::Location loc);

/// Random access to the elements of a parameter, computed on demand. Valid as long as the context and the parameter ops. Reading cannot
/// fail: everything was checked when it was opened. Threads may read at once.
class ParameterReader {
public:
  explicit ParameterReader(mlir::RankedTensorType type);
  virtual ~ParameterReader() = default;

  mlir::RankedTensorType type() const { return tensorType; }
  int64_t elementCount() const { return count; }
  unsigned elementBytes() const { return bytes; }

  /// Writes `n` elements, those with row-major numbers `first`, `first + stride`, ..., all of which exist.
  virtual void read(int64_t first, int64_t stride, int64_t n, char *out) const = 0;

private:
  mlir::RankedTensorType tensorType;
  int64_t count;
  unsigned bytes;
};

/// Opens a parameter. A diagnostic and failure when its bytes are not in the store or lie outside of their source.
mlir::FailureOr<std::unique_ptr<ParameterReader>> openParameter(ParameterOp parameter, mlir::SymbolTableCollection &symbols);

/// All bytes of a parameter: dense, row-major. `out` has exactly its byte size.
mlir::LogicalResult materialize(ParameterOp parameter, mlir::SymbolTableCollection &symbols, llvm::MutableArrayRef<char> out);

/// Gives the bytes to `sink` in order, in pieces of at most `chunkBytes`.
mlir::LogicalResult stream(ParameterOp parameter, mlir::SymbolTableCollection &symbols,
                           llvm::function_ref<mlir::LogicalResult(llvm::ArrayRef<char>)> sink, int64_t chunkBytes = 1 << 16);

/// The bytes where they lie, when the parameter is dense and has no recipe; else nothing.
std::optional<llvm::ArrayRef<char>> storedBytes(ParameterOp parameter);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_PARAMETERRECIPES_H
