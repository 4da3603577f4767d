//===- Pipeline.cpp - the graph stage in order -----------------------------===//

#include "passes/Graph/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace stator::graph {

void buildGraphPipeline(mlir::OpPassManager &passes) {
  using mlir::func::FuncOp;
  passes.addNestedPass<FuncOp>(mlir::createCanonicalizerPass());
  passes.addPass(createFoldConstantsPass());
  passes.addNestedPass<FuncOp>(mlir::createCSEPass());
  // Patterns are looked for after folding, when their constants are plain to see, and before batch norm and transposes of weights
  // change what stands around them.
  passes.addNestedPass<FuncOp>(createRecogniseCompositesPass());
  passes.addNestedPass<FuncOp>(createRecogniseAttentionPass());
  passes.addPass(createFoldParameterTransformsPass());
  passes.addPass(createFoldBatchNormPass());
  passes.addNestedPass<FuncOp>(mlir::createCanonicalizerPass());
  passes.addNestedPass<FuncOp>(mlir::createCSEPass());
  passes.addPass(createVerifyGraphPass());
}

} // namespace stator::graph
