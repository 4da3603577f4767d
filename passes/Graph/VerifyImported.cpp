//===- VerifyImported.cpp - what importers promise -------------------------===//

#include "dialects/Graph/GraphOps.h"
#include "passes/Graph/MethodContract.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_VERIFYIMPORTEDPASS
#include "passes/Graph/Passes.h.inc"

namespace {

struct VerifyImportedPass : impl::VerifyImportedPassBase<VerifyImportedPass> {
  using VerifyImportedPassBase::VerifyImportedPassBase;

  void runOnOperation() override {
    if (failed(verifyMethods(getOperation())))
      return signalPassFailure();
    WalkResult result = getOperation().walk([](Operation *op) {
      if (isa<FusionOp>(op)) {
        op->emitOpError() << "is made by the optimise stage and cannot be imported";
        return WalkResult::interrupt();
      }
      auto parameter = dyn_cast<ParameterOp>(op);
      if (parameter && parameter.getLayout()) {
        op->emitOpError() << "has the kernel layout `" << *parameter.getLayout() << "`, expected plain row-major weights";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::graph
