//===- Passes.h - the optimise stage ---------------------------------------===//
//
// Accepts a method that VerifyGraph passed; leaves fusion regions, each with a
// kernel family and a choice between an own kernel and a library.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_OPTIMISE_PASSES_H
#define STATOR_PASSES_OPTIMISE_PASSES_H

#include "dialects/Target/Optimisations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace stator::optimise {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Optimise/Passes.h.inc"

struct OptimiseOptions {
  /// "none", "onednn" or "auto".
  std::string library = "auto";
  /// The most demanding CPU level that is compiled for: its measured costs decide between own kernels and the library.
  std::string level = "x86-64-v4";
  Optimisations optimisations;
  /// Bytes that packed weights may have in all; -1: any number.
  int64_t weightsBudget = -1;
};

/// Adds the whole stage, verifier included, to a pass manager on the module.
void buildOptimisePipeline(mlir::OpPassManager &passes, const OptimiseOptions &options);

} // namespace stator::optimise

#endif // STATOR_PASSES_OPTIMISE_PASSES_H
