// The readers from which recipes are built; see ParameterRecipes.h for what a reader promises.
#ifndef STATOR_DIALECTS_GRAPH_PARAMETERREADERS_H
#define STATOR_DIALECTS_GRAPH_PARAMETERREADERS_H

#include "dialects/Graph/ParameterRecipes.h"

#include <functional>

namespace stator::graph {

/// Where a row of the result, a run along its last axis, lies in the source: `count` elements, `stride` apart, from `first` on. The
/// elements of the row past `count` are zero.
struct SourceRow {
  int64_t first, stride, count;
};

/// The bytes in the parameter store, after a check that they lie inside of their source.
mlir::FailureOr<std::unique_ptr<ParameterReader>> openStored(ParameterOp parameter);

std::unique_ptr<ParameterReader> openReshaped(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source);
std::unique_ptr<ParameterReader> openRows(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source,
                                          std::function<SourceRow(int64_t row)> rowOf);
/// Element `[i, j, ..]` is element `offset + i*strides[0] + j*strides[1] + ..` of the source.
std::unique_ptr<ParameterReader> openStrided(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source, int64_t offset,
                                             llvm::ArrayRef<int64_t> strides);
std::unique_ptr<ParameterReader> openConverted(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source);
/// Element `n` times element `n / inner` (modulo its size) of `scale`, a vector that is read here.
std::unique_ptr<ParameterReader> openScaled(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source,
                                            const ParameterReader &scale, int64_t inner);

/// Runs of `firstRow` elements of one source and `secondRow` of the other, in turn.
std::unique_ptr<ParameterReader> openJoined(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> first,
                                            std::unique_ptr<ParameterReader> second, int64_t firstRow, int64_t secondRow);

/// Filters `[O, I, 3, 3]` transformed and packed for Winograd tiles of `tile`, see `winogradPanelsLayout`.
std::unique_ptr<ParameterReader> openWinograd(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source, int64_t tile);

/// A matrix `[K, N]`, or `[N, K]` if it is transposed, as sums of quadrants, see `strassenPanelsLayout`.
std::unique_ptr<ParameterReader> openStrassen(mlir::RankedTensorType type, std::unique_ptr<ParameterReader> source, bool isTransposed);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_PARAMETERREADERS_H
