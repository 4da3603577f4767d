//===- EmitKernels.cpp - kernel functions become loops ---------------------===//
//
// The two passes that replace a function on tensors by a kernel: contractions
// first, which take their epilogues with them, then everything else.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ContractionKernel.h"
#include "passes/Kernel/DataKernels.h"
#include "passes/Kernel/Passes.h"
#include "passes/Kernel/Vectoriser.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace stator::kernel {

#define GEN_PASS_DEF_CONTRACTIONSPASS
#define GEN_PASS_DEF_VECTORISEPASS
#include "passes/Kernel/Passes.h.inc"

/// Functions that have not become kernels yet.
static SmallVector<func::FuncOp> functionsOnTensors(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration() && function.getNumResults() > 0)
      functions.push_back(function);
  return functions;
}

static KernelOptions makeOptions(unsigned vectorBits, unsigned vectorRegisters) {
  KernelOptions options;
  options.vectorBits = vectorBits;
  options.vectorRegisters = vectorRegisters;
  return options;
}

namespace {

struct ContractionsPass : impl::ContractionsPassBase<ContractionsPass> {
  using ContractionsPassBase::ContractionsPassBase;

  void runOnOperation() override {
    KernelOptions options = makeOptions(vectorBits, vectorRegisters);
    for (func::FuncOp function : functionsOnTensors(getOperation()))
      if (contractionOf(function) && failed(emitContraction(function, options)))
        return signalPassFailure();
  }
};

struct VectorisePass : impl::VectorisePassBase<VectorisePass> {
  using VectorisePassBase::VectorisePassBase;

  void runOnOperation() override {
    KernelOptions options = makeOptions(vectorBits, vectorRegisters);
    for (func::FuncOp function : functionsOnTensors(getOperation())) {
      if (isDataKernel(function)) {
        emitDataKernel(function, options);
        continue;
      }
      if (failed(checkOps(function)))
        return signalPassFailure();
      Vectoriser(function, options).run();
    }
  }

  /// Everything else in these functions must be linalg.
  LogicalResult checkOps(func::FuncOp function) {
    for (Operation &op : function.getBody().front()) {
      if (isa<linalg::GenericOp, linalg::FillOp, arith::ConstantOp, ub::PoisonOp, func::ReturnOp>(op) ||
          op.getName().getStringRef() == "graph.dim_values")
        continue;
      return op.emitOpError() << "has no kernel in combination with the other ops of `" << function.getName() << "`";
    }
    return success();
  }
};

} // namespace
} // namespace stator::kernel
