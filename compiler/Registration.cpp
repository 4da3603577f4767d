//===- Registration.cpp - all dialects and passes of the compiler ----------===//
//
// One line per folder of passes/.
//
//===----------------------------------------------------------------------===//

#include "compiler/Registration.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Plan/PlanOps.h"
#include "passes/Graph/Passes.h"
#include "passes/Kernel/Passes.h"
#include "passes/Optimise/Passes.h"
#include "passes/Plan/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

void stator::compiler::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, plan::PlanDialect, mlir::func::FuncDialect>();
}

void stator::compiler::registerPasses() {
  graph::registerGraphPasses();
  optimise::registerOptimisePasses();
  plan::registerPlanPasses();
  kernel::registerKernelPasses();
}
