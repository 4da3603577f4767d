//===- VerifyKernel.cpp - the contract of finished kernels -----------------===//

#include "passes/Kernel/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace stator::kernel {

#define GEN_PASS_DEF_VERIFYKERNELPASS
#include "passes/Kernel/Passes.h.inc"

static LogicalResult verifyBody(LLVM::LLVMFuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    if (op == function || !op->getDialect() || !isa<LLVM::LLVMDialect>(op->getDialect())) {
      if (op == function)
        return WalkResult::advance();
      op->emitOpError() << "is left in kernel `" << function.getName() << "`, which should be in the LLVM dialect";
      return WalkResult::interrupt();
    }
    if (isa<LLVM::AllocaOp>(op)) {
      op->emitOpError() << "allocates in kernel `" << function.getName() << "`";
      return WalkResult::interrupt();
    }
    if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCallee()) {
      op->emitOpError() << "calls `" << *call.getCallee() << "` in kernel `" << function.getName() << "`, which may call the barrier only";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct VerifyKernelPass : impl::VerifyKernelPassBase<VerifyKernelPass> {
  using VerifyKernelPassBase::VerifyKernelPassBase;

  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      if (isa<LLVM::GlobalOp>(op))
        continue;
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      if (!function) {
        op.emitOpError() << "is left in the module of kernels, which should hold functions of the LLVM dialect";
        return signalPassFailure();
      }
      Type pointer = LLVM::LLVMPointerType::get(&getContext());
      Type expected = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer, pointer});
      if (function.getFunctionType() != expected) {
        function.emitOpError() << "has type " << function.getFunctionType() << ", a kernel has " << expected;
        return signalPassFailure();
      }
      if (failed(verifyBody(function)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace stator::kernel
