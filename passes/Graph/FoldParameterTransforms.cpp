//===- FoldParameterTransforms.cpp - transforms of weights as recipes ------===//
//
// Folding through the interpreter would hold a whole weight in memory, and a
// weight may be larger than memory. A recipe names the transform instead and
// is streamed when the artifact is written.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "passes/Graph/EraseDead.h"
#include "passes/Graph/Passes.h"

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_FOLDPARAMETERTRANSFORMSPASS
#include "passes/Graph/Passes.h.inc"

namespace {

struct FoldParameterTransformsPass : impl::FoldParameterTransformsPassBase<FoldParameterTransformsPass> {
  using FoldParameterTransformsPassBase::FoldParameterTransformsPassBase;

  void runOnOperation() override {
    DerivedParameters parameters(getOperation());
    // In program order, so that a chain of transforms folds from its start.
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<TransposeOp, ReshapeOp, ConvertOp, ReverseOp>(op))
        return;
      ParameterOp source = parameters.frozen(op->getOperand(0));
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (!source || !type.hasStaticShape())
        return;
      Value folded = DerivedParameters::read(derive(op, source, type, parameters), op);
      op->getResult(0).replaceAllUsesWith(folded);
      ++numFolded;
    });
    eraseDead(getOperation());
    parameters.removeUnused();
  }

private:
  static ParameterOp derive(Operation *op, ParameterOp source, RankedTensorType type, DerivedParameters &parameters) {
    Builder builder(op->getContext());
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return parameters.derive(source, "transpose", builder.getNamedAttr("perm", transpose.getPermutationAttr()), type);
    if (auto reverse = dyn_cast<ReverseOp>(op)) {
      SmallVector<int64_t> sizes(type.getShape()), starts(sizes.size(), 0), strides(sizes.size(), 1);
      for (int64_t axis : reverse.getAxes()) {
        starts[axis] = std::max<int64_t>(sizes[axis] - 1, 0);
        strides[axis] = -1;
      }
      SmallVector<NamedAttribute> options{builder.getNamedAttr("sizes", builder.getDenseI64ArrayAttr(sizes)),
                                          builder.getNamedAttr("starts", builder.getDenseI64ArrayAttr(starts)),
                                          builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr(strides))};
      return parameters.derive(source, "slice", options, type);
    }
    if (isa<ReshapeOp>(op))
      return parameters.derive(source, "reshape", builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(type.getShape())), type);
    return parameters.derive(source, "convert", builder.getNamedAttr("type", TypeAttr::get(type.getElementType())), type);
  }
};

} // namespace
} // namespace stator::graph
