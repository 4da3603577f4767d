//===- Passes.h - the passes of the plan stage -----------------------------===//
//
// From fusion regions to instructions over planned memory. Passes.td says what
// each pass does; this header only declares them.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_PASSES_H
#define STATOR_PASSES_PLAN_PASSES_H

#include "dialects/Plan/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace stator::plan {

#define GEN_PASS_DECL
#include "passes/Plan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Plan/Passes.h.inc"

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_PASSES_H
