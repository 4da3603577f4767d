//===- VerifyGraph.cpp - what the stages after graph may rely on -----------===//

#include "dialects/Graph/GraphOps.h"
#include "passes/Graph/MethodContract.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_VERIFYGRAPHPASS
#include "passes/Graph/Passes.h.inc"

namespace {

/// An op without effects whose results nobody uses: canonicalisation would have removed it.
bool isDead(Operation *op) { return op->getNumResults() && op->use_empty() && isMemoryEffectFree(op); }

struct VerifyGraphPass : impl::VerifyGraphPassBase<VerifyGraphPass> {
  using VerifyGraphPassBase::VerifyGraphPassBase;

  void runOnOperation() override {
    if (failed(verifyMethods(getOperation())))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (isDead(op)) {
        op->emitOpError() << "has no use and no effect; the graph stage should have removed it";
        return WalkResult::interrupt();
      }
      auto parameter = dyn_cast<ParameterOp>(op);
      RecipeAttr recipe = parameter ? parameter.getRecipeAttr() : RecipeAttr();
      if (!recipe)
        return WalkResult::advance();
      for (FlatSymbolRefAttr source : recipe.getSources()) {
        auto from = symbols.lookup<ParameterOp>(source.getValue());
        if (from && !from.getIsMutable())
          continue;
        op->emitOpError() << "is made from `" << source.getValue() << "`, which "
                          << (from ? "is mutable: a derived parameter would not follow it" : "is not a parameter");
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
