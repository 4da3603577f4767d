//===- PlanBase.td - the plan dialect, its type and its enum --------------===//
//
// Everything that the other .td files of this folder share.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_PLANBASE_TD
#define STATOR_DIALECTS_PLAN_PLANBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::stator::plan";
  let summary = "What the runtime executes: buffers and the instructions over them";
  let description = [{
    The plan dialect sits between the optimised `graph` and the artifact. On entry a method is a `func.func` over tensors whose
    computation lies in `graph.fusion` regions; on exit it is a `plan.method`: a list of buffer declarations followed by a list
    of instructions, in the order in which the runtime executes them.

    There are two levels. At the *tensor level* (`plan.call`, `plan.library_call`) a fusion has been moved into a kernel
    function or named as a call of a library, and values are still tensors. At the *buffer level* (everything else) values are
    `!plan.buffer`, each instruction says what it reads and what it writes, and nothing is implied by data flow: order is the
    order of the text.

    What holds at the end of the stage (checked by `plan-verify`): no tensor-level operation is left; every arena buffer has an
    offset; no two buffers whose lives overlap share bytes; every buffer is written before it is read; operand and result types
    of every kernel equal those of the function that it calls once the symbols are replaced.

    Sizes and offsets are expressions of the method's symbols, written as text in canonical form (`"64*N*T + 2"`).
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::stator::graph::GraphDialect"];
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of bytes that instructions read and write";
  let description = [{
    A handle: the element type, the dimensions and the place of the bytes stand at the `plan.buffer` or `plan.view` that defines it.
  }];
}

def Plan_BufferKind : I32EnumAttr<"BufferKind", "where the bytes of a buffer come from", [
    I32EnumAttrCase<"arena", 1>,
    I32EnumAttrCase<"input", 2>,
    I32EnumAttrCase<"output", 3>,
    I32EnumAttrCase<"parameter", 4>,
    I32EnumAttrCase<"state", 5>]> {
  let cppNamespace = "::stator::plan";
}

// Attributes of the graph dialect, named by their C++ classes.
class Plan_GraphAttr<string cppName, string text>
    : Attr<CPred<"::llvm::isa<::stator::graph::" # cppName # ">($_self)">, text> {
  let storageType = "::stator::graph::" # cppName;
  let returnType = "::stator::graph::" # cppName;
  let convertFromStorage = "$_self";
}
def Plan_DimsAttr : Plan_GraphAttr<"DimsAttr", "list of size expressions">;

#endif // STATOR_DIALECTS_PLAN_PLANBASE_TD
