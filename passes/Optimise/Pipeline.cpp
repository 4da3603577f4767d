//===- Pipeline.cpp - the optimise stage in order --------------------------===//

#include "passes/Optimise/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace stator::optimise {

void buildOptimisePipeline(mlir::OpPassManager &passes, const OptimiseOptions &options) {
  using mlir::func::FuncOp;
  if (options.optimisations.isOn("causal-masks"))
    passes.addNestedPass<FuncOp>(createCausalMasksPass());
  // Composites first: what they decompose into takes part in everything after.
  passes.addNestedPass<FuncOp>(createDecomposePass());
  passes.addNestedPass<FuncOp>(createNormaliseContractionsPass());
  passes.addNestedPass<FuncOp>(createChannelsLastPass());
  passes.addNestedPass<FuncOp>(createSinkTransposesPass());
  if (options.optimisations.isOn("pool-first"))
    passes.addNestedPass<FuncOp>(createPoolFirstPass());
  passes.addNestedPass<FuncOp>(mlir::createCanonicalizerPass());
  passes.addNestedPass<FuncOp>(mlir::createCSEPass());
  // Slices of the joined products are only free where attention looks through them.
  if (options.optimisations.isOn("merge-matmuls") && options.optimisations.isOn("attention-views"))
    passes.addPass(createMergeMatmulsPass());
  // From here on layouts are final, so weights can be packed for the kernels that read them.
  if (options.library != "onednn" && options.optimisations.isOn("winograd"))
    passes.addPass(createChooseAlgorithmsPass());
  ChooseKernelsPassOptions choose;
  choose.library = options.library;
  choose.level = options.level;
  passes.addNestedPass<FuncOp>(createChooseKernelsPass(choose));
  passes.addPass(createPackParametersPass());
  if (options.optimisations.isOn("attention-views"))
    passes.addNestedPass<FuncOp>(createFormAttentionPass());
  if (options.optimisations.isOn("mobile-blocks"))
    passes.addNestedPass<FuncOp>(createFormBlocksPass());
  FormFusionsPassOptions fusions;
  fusions.pitchedViews = options.optimisations.isOn("pitched-views");
  passes.addNestedPass<FuncOp>(createFormFusionsPass(fusions));
  passes.addNestedPass<FuncOp>(createVerifyFusedPass());
}

} // namespace stator::optimise
