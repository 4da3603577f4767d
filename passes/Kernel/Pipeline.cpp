//===- Pipeline.cpp - the kernel stage in order ----------------------------===//

#include "passes/Kernel/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace stator::kernel {

void buildKernelPipeline(OpPassManager &passes, const KernelOptions &options) {
  passes.addPass(createGraphToLinalgPass());
  passes.addPass(createCollapseDimsPass());
  ContractionsPassOptions contractions;
  contractions.vectorBits = options.vectorBits;
  contractions.vectorRegisters = options.vectorRegisters;
  passes.addPass(createContractionsPass(contractions));
  VectorisePassOptions vectorise;
  vectorise.vectorBits = options.vectorBits;
  vectorise.vectorRegisters = options.vectorRegisters;
  passes.addPass(createVectorisePass(vectorise));
  // From here on there are no tensors: loops, vectors and pointers.
  passes.addPass(createExpandMathPass());
  passes.addPass(createCSEPass());
  passes.addPass(createToLLVMPass());
  passes.addPass(createVerifyKernelPass());
}

LogicalResult lowerKernels(ModuleOp kernels, const KernelOptions &options) {
  PassManager passes(kernels.getContext());
  buildKernelPipeline(passes, options);
  return passes.run(kernels);
}

} // namespace stator::kernel
