//===- AttentionMasks.h - what an attention mask says ----------------------===//

#ifndef STATOR_PASSES_GRAPH_ATTENTIONMASKS_H
#define STATOR_PASSES_GRAPH_ATTENTIONMASKS_H

#include "dialects/Graph/GraphOps.h"

#include "mlir/IR/PatternMatch.h"

namespace stator::graph {

/// The mask before it was repeated, with the rank of the scores and sizes of 1 where it was. A mask of floats that is 0 or minus infinity
/// becomes one of `i1`.
mlir::Value compactMask(mlir::Value mask, mlir::RankedTensorType scores, mlir::PatternRewriter &rewriter);

} // namespace stator::graph

#endif // STATOR_PASSES_GRAPH_ATTENTIONMASKS_H
