// Weights as they were before packing; the layouts are in dialects/Target/PackedLayouts.h.
#ifndef STATOR_DIALECTS_GRAPH_INTERPRETER_UNPACK_H
#define STATOR_DIALECTS_GRAPH_INTERPRETER_UNPACK_H

#include "dialects/Graph/Interpreter/OpCall.h"

namespace stator::graph {

/// `[B.., panels, K, 16] -> [B.., K, columns]`.
TensorValue unpackMatmul(const TensorValue &packed, int64_t columns);
/// Panels (rank 4) or depthwise taps (rank 2) to `[O, I/groups, spatial..]`.
TensorValue unpackFilter(const TensorValue &packed, llvm::ArrayRef<int64_t> shape, int64_t groups);
/// A filter transformed for Winograd tiles of `tile` to `[O, I, 3, 3]`, up to rounding.
TensorValue unpackWinograd(const TensorValue &packed, llvm::ArrayRef<int64_t> shape, int64_t tile);
/// `[D, G, panels, X, 16] -> [D, G * hidden, X]`.
TensorValue unpackRecurrent(const TensorValue &packed, int64_t hidden);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INTERPRETER_UNPACK_H
