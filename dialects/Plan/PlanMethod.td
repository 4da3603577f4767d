//===- PlanMethod.td - methods and the buffers they declare ----------------===//
//
// The declarative half of the dialect: nothing here is executed.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_PLANMETHOD_TD
#define STATOR_DIALECTS_PLAN_PLANMETHOD_TD

include "dialects/Plan/PlanBase.td"

def Plan_MethodOp : Plan_Op<"method", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "A method of the module as the runtime executes it";
  let description = [{
    Declares buffers (`plan.buffer`, `plan.view`), then lists instructions. `symbols` are the named sizes with their ranges, as on
    the traced function; `guards` are pairs of expressions that must be equal when the method is called. After
    `plan-assign-memory`, `arena_size` is the size in bytes of the one arena that the method needs, and `live_peak` the largest
    sum of the bytes that are live at one instruction, both for static sizes or, for the latter, at the nominal sizes that the
    planner used; the difference between them is what packing lost.

    ```mlir
    plan.method @forward attributes {symbols = [#graph.symbol<"N", 1, 64>]} {
      %x = plan.buffer input[0] "x" : tensor<?x64xf32, #graph.dims<["N", "64"]>>
      %y = plan.buffer output[0] "y" : tensor<?x64xf32, #graph.dims<["N", "64"]>>
      plan.kernel @kernels::@map_1f0c33aa(%x) -> (%y) {family = "map", label = "relu", sizes = #graph.dims<["N"]>}
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<ArrayAttr>:$symbols,
    OptionalAttr<ArrayAttr>:$guards,
    OptionalAttr<StrAttr>:$arena_size,
    OptionalAttr<I64Attr>:$live_peak
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
}

def Plan_BufferOp : Plan_Op<"buffer"> {
  let summary = "Declares bytes: in the arena, or an input, output, parameter or state";
  let description = [{
    `tensor_type` gives element type and dimensions; buffers are dense and row-major, so that the size in bytes follows from it. The
    `index` of an input or output is its position in the method's signature and `name` what users call it; a parameter or state
    buffer names its `graph.parameter` by `parameter`. Arena buffers get their `offset` from `plan-assign-memory`; it is a
    multiple of 64.

    ```mlir
    %0 = plan.buffer parameter @fc1.weight : tensor<64x10xf32>
    %1 = plan.buffer arena : tensor<?x10xf32, #graph.dims<["N", "10"]>> {offset = "0"}
    ```
  }];
  let arguments = (ins
    Plan_BufferKind:$kind,
    OptionalAttr<I64Attr>:$index,
    OptionalAttr<StrAttr>:$name,
    OptionalAttr<FlatSymbolRefAttr>:$parameter,
    TypeAttrOf<AnyRankedTensor>:$tensor_type,
    OptionalAttr<StrAttr>:$offset
  );
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "$kind (`[` $index^ `]`)? ($name^)? ($parameter^)? `:` $tensor_type attr-dict";
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_Op<"view"> {
  let summary = "Another reading of bytes that belong to a declared buffer";
  let description = [{
    `offset` is relative to the start of `base`, in bytes; a view that only reshapes has offset "0". The base is never a view. With
    `pitch = [row, distance]` (in elements) the view is not dense: its rows of that many elements follow each other at that distance.
    Only kernels that were made for that pitch may use it (`stator.pitches`).

    ```mlir
    %2 = plan.view %1 at "128" : tensor<1x32xf32>
    ```
  }];
  let arguments = (ins Plan_BufferType:$base, StrAttr:$offset, TypeAttrOf<AnyRankedTensor>:$tensor_type,
                   OptionalAttr<DenseI64ArrayAttr>:$pitch);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "$base `at` $offset `:` $tensor_type attr-dict";
  let hasVerifier = 1;
}

#endif // STATOR_DIALECTS_PLAN_PLANMETHOD_TD
