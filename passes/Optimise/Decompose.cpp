//===- Decompose.cpp - composites that no kernel takes ---------------------===//

#include "dialects/Graph/GraphOps.h"
#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/Passes.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

/// Row kernels compute normalisations over the last axes; GELU is one function to every element-wise kernel.
bool hasKernel(Operation *op) {
  if (isa<graph::GeluOp>(op))
    return true;
  if (auto attention = dyn_cast<graph::AttentionOp>(op)) {
    // The kernel keeps a block of queries in registers, so the head sizes are numbers.
    auto lastOf = [](Value value) { return graph::dimsOf(cast<RankedTensorType>(value.getType())).back(); };
    return lastOf(attention.getQuery()).isConstant() && lastOf(attention.getValue()).isConstant();
  }
  return !isa<graph::BatchNormOp>(op) && isRowAnchor(op);
}

struct DecomposePass : impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() override {
    // What a composite decomposes into may itself hold composites (attention holds a softmax), so repeat until nothing is left to do.
    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<graph::GraphComposite> composites;
      getOperation().walk([&](graph::GraphComposite composite) {
        if (!hasKernel(composite))
          composites.push_back(composite);
      });
      for (graph::GraphComposite composite : composites) {
        OpBuilder builder(composite);
        FailureOr<SmallVector<Value>> values = composite.decompose(builder);
        if (failed(values))
          return signalPassFailure();
        composite->replaceAllUsesWith(*values);
        composite->erase();
        changed = true;
      }
    }
  }
};

} // namespace
} // namespace stator::optimise
