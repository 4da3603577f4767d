//===- Passes.h - the kernel stage -----------------------------------------===//
//
// Accepts a module of kernel functions on tensors, as plan-outline-kernels
// makes them; leaves the same functions in the LLVM dialect, ready for code
// generation. The stage runs once per CPU level, on a copy of the module.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_PASSES_H
#define STATOR_PASSES_KERNEL_PASSES_H

#include "passes/Kernel/KernelOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace stator::kernel {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Kernel/Passes.h.inc"

/// Adds the whole stage, verifier included, to a pass manager on the module of kernels.
void buildKernelPipeline(mlir::OpPassManager &passes, const KernelOptions &options);

/// Runs the stage on `kernels`. Errors are diagnostics at the op that has no kernel.
mlir::LogicalResult lowerKernels(mlir::ModuleOp kernels, const KernelOptions &options);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_PASSES_H
