//===- PlanInstructions.td - calls on tensors, instructions on buffers -----===//
//
// The executable half of the dialect. The two tensor-level operations live
// only inside the plan stage, between outlining and building.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_PLANINSTRUCTIONS_TD
#define STATOR_DIALECTS_PLAN_PLANINSTRUCTIONS_TD

include "dialects/Plan/PlanBase.td"

//===-- Tensor level -----------------------------------------------------===//

def Plan_CallOp : Plan_Op<"call", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a kernel function on tensors";
  let description = [{
    Takes the place of a `graph.fusion` whose region has become the function `kernel` in the module `@kernels`. `sizes` are the
    values of that function's own symbols, in order. `in_place` lists the operands that the kernel reads only at the position
    that it is about to write, so that a result of the same size may take over their bytes.
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel,
    Variadic<AnyRankedTensor>:$inputs,
    Plan_DimsAttr:$sizes,
    StrAttr:$family,
    StrAttr:$label,
    OptionalAttr<StrAttr>:$reason,
    OptionalAttr<DenseI64ArrayAttr>:$in_place
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

def Plan_LibraryCallOp : Plan_Op<"library_call", [Pure]> {
  let summary = "Calls a routine of a library on tensors";
  let description = [{
    `options` are the routine's own integers and lists of integers, `sizes` the expressions that it needs for its dimensions; the
    table in `dialects/Plan/LibraryCalls.h` says which for each routine.
  }];
  let arguments = (ins
    StrAttr:$library,
    StrAttr:$routine,
    Variadic<AnyRankedTensor>:$inputs,
    DictionaryAttr:$options,
    Plan_DimsAttr:$sizes,
    StrAttr:$family,
    StrAttr:$label,
    OptionalAttr<StrAttr>:$reason
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$library $routine `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

//===-- Buffer level -----------------------------------------------------===//

class Plan_Instruction<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, traits>;

def Plan_KernelOp : Plan_Instruction<"kernel", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel: all workers call the function once";
  let description = [{
    The function's operands are `inputs` in order, its results are written to `outputs`. `sizes` are the values of its local
    symbols. `in_place` as in `plan.call`.

    ```mlir
    plan.kernel @kernels::@map_1f0c33aa(%x, %w) -> (%y) {family = "map", label = "add", sizes = #graph.dims<["N"]>}
    ```
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel,
    Variadic<Plan_BufferType>:$inputs,
    Variadic<Plan_BufferType>:$outputs,
    Plan_DimsAttr:$sizes,
    StrAttr:$family,
    StrAttr:$label,
    OptionalAttr<StrAttr>:$reason,
    OptionalAttr<DenseI64ArrayAttr>:$in_place
  );
  let assemblyFormat = "$kernel `(` $inputs `)` `->` `(` $outputs `)` attr-dict";
}

def Plan_LibraryOp : Plan_Instruction<"library", [AttrSizedOperandSegments]> {
  let summary = "Runs a routine of a library";
  let description = [{
    The buffer form of `plan.library_call`.

    ```mlir
    plan.library "onednn" "matmul"(%x, %w) -> (%y)
        {family = "matmul", label = "fc1", options = {}, sizes = #graph.dims<["1", "N", "10", "64"]>}
    ```
  }];
  let arguments = (ins
    StrAttr:$library,
    StrAttr:$routine,
    Variadic<Plan_BufferType>:$inputs,
    Variadic<Plan_BufferType>:$outputs,
    DictionaryAttr:$options,
    Plan_DimsAttr:$sizes,
    StrAttr:$family,
    StrAttr:$label,
    OptionalAttr<StrAttr>:$reason
  );
  let assemblyFormat = "$library $routine `(` $inputs `)` `->` `(` $outputs `)` attr-dict";
}

def Plan_CopyOp : Plan_Instruction<"copy"> {
  let summary = "Copies the bytes of one buffer to another of the same size";
  let description = [{
    The two never overlap. Parts of a buffer are copied through views.

    ```mlir
    plan.copy %a to %b {label = "concat"}
    ```
  }];
  let arguments = (ins Plan_BufferType:$source, Plan_BufferType:$destination, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$source `to` $destination attr-dict";
  let hasVerifier = 1;
}

def Plan_ShapeOp : Plan_Instruction<"shape"> {
  let summary = "Writes sizes into a buffer of integers";
  let description = [{
    `values` are evaluated for the shapes of this run and written in order; the buffer's element type is i64 or i32.

    ```mlir
    plan.shape %s {values = #graph.dims<["N", "64*T"]>}
    ```
  }];
  let arguments = (ins Plan_BufferType:$destination, Plan_DimsAttr:$values, OptionalAttr<StrAttr>:$label);
  let assemblyFormat = "$destination attr-dict";
  let hasVerifier = 1;
}

def Plan_IfOp : Plan_Instruction<"if", [NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "Runs one of two lists of instructions";
  let description = [{
    `condition` is a buffer of one `i1`, read before either branch starts. What a branch leaves behind it writes into buffers that
    are declared outside.

    ```mlir
    plan.if %c {
      plan.copy %a to %r
    } else {
      plan.copy %b to %r
    }
    ```
  }];
  let arguments = (ins Plan_BufferType:$condition);
  let regions = (region SizedRegion<1>:$onTrue, SizedRegion<1>:$onFalse);
  let assemblyFormat = "$condition $onTrue `else` $onFalse attr-dict";
  let hasVerifier = 1;
}

def Plan_LoopOp : Plan_Instruction<"loop", [NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "Repeats a list of instructions while a buffer holds true";
  let description = [{
    Runs `before`, reads `condition` (a buffer of one `i1`), stops when it is false, else runs `body` and begins again. Carried
    values live in buffers that are declared outside and that the end of `body` writes.

    ```mlir
    plan.loop %c {
      plan.kernel @kernels::@map_5d20c9aa(%i) -> (%c) {family = "map", label = "less", sizes = #graph.dims<[]>}
    } do {
      plan.copy %next to %i
    }
    ```
  }];
  let arguments = (ins Plan_BufferType:$condition);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$body);
  let assemblyFormat = "$condition $before `do` $body attr-dict";
  let hasVerifier = 1;
}

#endif // STATOR_DIALECTS_PLAN_PLANINSTRUCTIONS_TD
