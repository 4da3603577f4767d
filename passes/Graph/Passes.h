//===- Passes.h - the graph stage ------------------------------------------===//
//
// Accepts what VerifyImported passed; leaves a simplified graph in which
// whatever can be known at compile time is known.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_GRAPH_PASSES_H
#define STATOR_PASSES_GRAPH_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace stator::graph {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Graph/Passes.h.inc"

/// Adds the whole stage, verifier included, to a pass manager on the module.
void buildGraphPipeline(mlir::OpPassManager &passes);

} // namespace stator::graph

#endif // STATOR_PASSES_GRAPH_PASSES_H
