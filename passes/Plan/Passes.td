//===- Passes.td - the passes of the plan stage ----------------------------===//
//
// In pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_PASSES_TD
#define STATOR_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanOutlineKernelsPass : Pass<"plan-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Moves fusion regions into kernel functions";
  let description = [{
    Every `graph.fusion` with `kernel = "own"` becomes a `plan.call` of a function in the module `@kernels`; one with the name of a
    library becomes a `plan.library_call`. Inside a kernel function, the method's symbols are renamed to `s0`, `s1`, ... in order
    of first appearance, so that equal work on different sizes is the same function; functions with equal bodies are shared. The
    name is `k_<number>_<hash of the body>`: the same input gives the same names.

    ```mlir
    %y = graph.fusion (%x) ... {family = "map", kernel = "own"}          // before
    %y = plan.call @kernels::@map_1f0c33aa(%x) {sizes = #graph.dims<["N"]>, ...}  // after
    ```
  }];
  let dependentDialects = ["::stator::plan::PlanDialect", "::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"numCalls", "calls", "fusions that call a kernel function">,
    Statistic<"numKernels", "kernels", "different kernel functions">,
    Statistic<"numLibraryCalls", "library-calls", "fusions that call a library">
  ];
}

def PlanBuildPass : Pass<"plan-build", "::mlir::ModuleOp"> {
  let summary = "Turns each method on tensors into instructions over buffers";
  let description = [{
    Replaces every traced `func.func` by a `plan.method`. Each tensor gets a buffer or becomes a view of one: reshapes always,
    slices and concatenations where the bytes are contiguous (`dialects/Plan/Views.h`); the producer of a part of a concatenation,
    of a result of the method, and of the next value of a state or of what a loop carries, writes in place when nothing else has a claim
    on its buffer and the old value is not read any more, else the bytes are copied: to states last, so that everything has read them.
    Constants become parameters. Buffers have no place in the arena yet.
  }];
  let dependentDialects = ["::stator::plan::PlanDialect"];
  let statistics = [
    Statistic<"numCopies", "copies", "copies that remain">,
    Statistic<"numViews", "views", "tensors that share another tensor's bytes">
  ];
}

def PlanAssignMemoryPass : Pass<"plan-assign-memory", "::stator::plan::MethodOp"> {
  let summary = "Gives every arena buffer an offset";
  let description = [{
    Lives are intervals of instruction numbers; a buffer that a loop shares with its surroundings lives through the whole loop.
    A result of a kernel takes over the bytes of an operand that dies there if the kernel allows it (`in_place`) and the sizes are
    equal. Buffers are then packed: those whose sizes are the same expression up to a constant factor compete for one region (all
    static ones are such a class), largest first, each at the best-fitting gap between the neighbours that it meets in life. Classes
    share nothing; when that is worse at nominal sizes than giving out slots (whose size is the largest of their members'), slots
    are used for the whole method.
  }];
  let options = [Option<"inPlace", "in-place", "bool", "true", "let results take over bytes of operands">];
}

def PlanVerifyPass : Pass<"plan-verify", "::mlir::ModuleOp"> {
  let summary = "Checks what holds at the end of the plan stage";
  let description = [{
    No traced function or tensor-level call is left; every arena buffer has an offset; no two buffers whose lives overlap share
    bytes, except where a kernel works in place (checked at the smallest, the nominal and uneven sizes of the symbols); every
    buffer is written before it is read, every output is written, and no input or parameter is; buffers of parameters and state fit
    the parameter that they name; the types of each kernel's operands and results are those of its function.
  }];
}

#endif // STATOR_PASSES_PLAN_PASSES_TD
