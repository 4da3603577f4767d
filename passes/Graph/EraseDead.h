//===- EraseDead.h - removing what a rewrite has left without use ----------===//

#ifndef STATOR_PASSES_GRAPH_ERASEDEAD_H
#define STATOR_PASSES_GRAPH_ERASEDEAD_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace stator::graph {

/// Erases all ops below `root` that have no use and no effect, and those that only they used.
inline void eraseDead(mlir::Operation *root) {
  llvm::SmallVector<mlir::Operation *> ops;
  root->walk([&](mlir::Operation *op) { ops.push_back(op); });
  // Users come after what they use, so one walk backwards finds everything.
  for (mlir::Operation *op : llvm::reverse(ops))
    if (op != root && mlir::isOpTriviallyDead(op))
      op->erase();
}

} // namespace stator::graph

#endif // STATOR_PASSES_GRAPH_ERASEDEAD_H
