//===- VerifyFused.cpp - the contract between optimise and plan ------------===//

#include "passes/Optimise/FusionFamilies.h"
#include "passes/Optimise/Passes.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_VERIFYFUSEDPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

constexpr StringLiteral families[] = {"map",  "rows", "reduce", "matmul", "conv",      "depthwise",
                                      "pool", "data", "scan",   "sort",   "recurrent", "attention", "inverted_residual", "gate"};

LogicalResult verifyFusion(graph::FusionOp fusion) {
  if (!llvm::is_contained(families, fusion.getFamily()))
    return fusion.emitOpError() << "has the unknown family `" << fusion.getFamily() << "`";
  bool wantsContraction = llvm::is_contained({"matmul", "conv", "depthwise"}, fusion.getFamily());
  unsigned contractions = 0;
  Operation *first = nullptr;
  fusion.getBody().walk([&](Operation *op) {
    if (isContraction(op) && !contractions++)
      first = op;
  });
  if (fusion.getFamily() == "inverted_residual" || fusion.getFamily() == "gate") {
    bool isGate = fusion.getFamily() == "gate";
    if (contractions != 2 && (isGate || contractions != 3))
      return fusion.emitOpError() << "of family `" << fusion.getFamily() << "` has " << contractions << " contractions, expected 2"
                                  << (isGate ? "" : " or 3");
    return success();
  }
  if (contractions != (wantsContraction ? 1 : 0)) {
    InFlightDiagnostic error = fusion.emitOpError() << "of family `" << fusion.getFamily() << "` has " << contractions
                                                    << " contractions, expected " << (wantsContraction ? 1 : 0);
    if (first)
      error.attachNote(first->getLoc()) << "first contraction here";
    return error;
  }
  if (fusion.getKernel() != "own" && !wantsContraction)
    return fusion.emitOpError() << "of family `" << fusion.getFamily() << "` cannot be a call of `" << fusion.getKernel() << "`";
  return success();
}

struct VerifyFusedPass : impl::VerifyFusedPassBase<VerifyFusedPass> {
  using VerifyFusedPassBase::VerifyFusedPassBase;

  void runOnOperation() override {
    bool failed = false;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation())
        return WalkResult::advance();
      if (auto fusion = dyn_cast<graph::FusionOp>(op)) {
        failed |= verifyFusion(fusion).failed();
        return WalkResult::skip();
      }
      if (!runsWithoutKernel(op)) {
        op->emitOpError() << "is outside of every fusion region and has no kernel";
        failed = true;
      }
      return WalkResult::advance();
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace stator::optimise
