//===- Pipeline.cpp - the optimise stage in order --------------------------===//

#include "passes/Optimise/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace stator::optimise {

void buildOptimisePipeline(mlir::OpPassManager &passes, const OptimiseOptions &options) {
  using mlir::func::FuncOp;
  // Composites first: what they decompose into takes part in everything after.
  passes.addNestedPass<FuncOp>(createDecomposePass());
  passes.addNestedPass<FuncOp>(createNormaliseContractionsPass());
  passes.addNestedPass<FuncOp>(createChannelsLastPass());
  passes.addNestedPass<FuncOp>(createSinkTransposesPass());
  passes.addNestedPass<FuncOp>(mlir::createCanonicalizerPass());
  passes.addNestedPass<FuncOp>(mlir::createCSEPass());
  // From here on layouts are final, so weights can be packed for the kernels that read them.
  ChooseKernelsPassOptions choose;
  choose.library = options.library;
  passes.addNestedPass<FuncOp>(createChooseKernelsPass(choose));
  passes.addPass(createPackParametersPass());
  passes.addNestedPass<FuncOp>(createFormFusionsPass());
  passes.addNestedPass<FuncOp>(createVerifyFusedPass());
}

} // namespace stator::optimise
