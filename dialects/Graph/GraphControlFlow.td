// Control flow that depends on data. What does not is resolved while tracing.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHCONTROLFLOW_TD
#define STATOR_DIALECTS_GRAPH_GRAPHCONTROLFLOW_TD

include "dialects/Graph/GraphBase.td"

def Graph_IfOp : Graph_Op<"if", [SingleBlock, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "one of two regions";
  let description = [{
    Runs the first region when the rank-0 condition is true, else the second. Both end in a `graph.yield` of the result types, and may
    use values from outside.

    Example:
    ```mlir
    %y = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
      graph.yield %a : tensor<4xf32>
    } else {
      graph.yield %b : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition attr-dict `:` functional-type(operands, results) $thenRegion `else` $elseRegion
  }];
  let hasCanonicalizer = 1;
  let hasRegionVerifier = 1;
}

def Graph_WhileOp : Graph_Op<"while", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a loop with values that it carries";
  let description = [{
    The values start as `inits`. As long as the condition region, given the values, yields true (rank-0 `i1`), the body region, given the
    values, yields the next ones. Types do not change from step to step. Both regions may use values from outside.

    Example:
    ```mlir
    %y = graph.while %i : (tensor<i64>) -> tensor<i64> {
    ^bb0(%v: tensor<i64>):
      %c = graph.compare %v, %n {direction = #graph.compare_direction<lt>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
      graph.yield %c : tensor<i1>
    } do {
    ^bb0(%v: tensor<i64>):
      %w = graph.add %v, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
      graph.yield %w : tensor<i64>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inits);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results) $condition `do` $body
  }];
  let hasCanonicalizer = 1;
  let hasRegionVerifier = 1;
}

def Graph_FusionOp : Graph_Op<"fusion", [SingleBlock, IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "operations that run as one kernel";
  let description = [{
    The region's arguments are the operands; it ends in a `graph.yield` of the results. Nothing from outside is used; parameters come in
    as operands. The attributes say what the region is and who computes it:

    - `family`: `map`, `rows`, `reduce`, `matmul`, `conv`, `depthwise`, `pool`, `data`, `recurrent`, `attention`, `sort`, `scan`,
      `inverted_residual` or `gate`, which decides what may stand in the region (passes/Optimise)
    - `kernel`: `own`, or the name of a library, `onednn`
    - `reason`: why that kernel was chosen, for people

    Example:
    ```mlir
    %y = graph.fusion %a, %b {family = "map", kernel = "own", reason = "element-wise chain"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %z: tensor<4xf32>):
      %s = graph.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %r = graph.relu %s : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %r : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$family, DefaultValuedStrAttr<StrAttr, "own">:$kernel,
                   DefaultValuedStrAttr<StrAttr, "">:$reason);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ParentOneOf<["IfOp", "WhileOp", "FusionOp"]>]> {
  let summary = "the values that a region gives to its op";
  let description = [{
    Ends every region of `graph.if`, `graph.while` and `graph.fusion`.

    Example: `graph.yield %x, %y : tensor<4xf32>, tensor<i1>`
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHCONTROLFLOW_TD
