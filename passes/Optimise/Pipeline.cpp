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
  if (options.optimisations.isOn("phase-convolutions")) {
    passes.addPass(createPhaseConvolutionsPass());
    passes.addNestedPass<FuncOp>(createSinkTransposesPass());
    passes.addNestedPass<FuncOp>(mlir::createCanonicalizerPass());
  }
  // Slices of the joined products are only free where attention looks through them.
  if (options.optimisations.isOn("merge-matmuls") && options.optimisations.isOn("attention-views"))
    passes.addPass(createMergeMatmulsPass());
  // From here on layouts are final, so weights can be packed for the kernels that read them.
  if (options.library != "onednn" && options.optimisations.isOn("winograd")) {
    ChooseAlgorithmsPassOptions algorithms;
    algorithms.weightsBudget = options.weightsBudget;
    passes.addPass(createChooseAlgorithmsPass(algorithms));
  }
  ChooseKernelsPassOptions choose;
  choose.library = options.library;
  choose.level = options.level;
  passes.addNestedPass<FuncOp>(createChooseKernelsPass(choose));
  PackParametersPassOptions pack;
  pack.strassen = options.optimisations.isOn("strassen");
  passes.addPass(createPackParametersPass(pack));
  if (options.optimisations.isOn("attention-views"))
    passes.addNestedPass<FuncOp>(createFormAttentionPass());
  if (options.optimisations.isOn("mobile-blocks"))
    passes.addNestedPass<FuncOp>(createFormBlocksPass());
  if (options.optimisations.isOn("gates"))
    passes.addNestedPass<FuncOp>(createFormGatesPass());
  FormFusionsPassOptions fusions;
  fusions.pitchedViews = options.optimisations.isOn("pitched-views");
  passes.addNestedPass<FuncOp>(createFormFusionsPass(fusions));
  passes.addNestedPass<FuncOp>(createVerifyFusedPass());
}

} // namespace stator::optimise
