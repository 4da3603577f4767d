// Many elements into one, along axes; and sorting.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHREDUCTION_TD
#define STATOR_DIALECTS_GRAPH_GRAPHREDUCTION_TD

include "dialects/Graph/GraphBase.td"

def Graph_ReduceOp : Graph_InferredOp<"reduce"> {
  let summary = "sum, product, extremum or quantifier over axes";
  let description = [{
    Combines all elements along `axes` (increasing, each once, possibly none). The axes disappear, or with `keep_dims` have size 1.
    `any` and `all` take `i1`, the others everything else. Integers wrap. `max` and `min` propagate NaN. Nothing at all gives 0, 1, the
    lowest and the highest value (infinities for floats), false and true. Floats narrower than f32 are accumulated in f32 and rounded
    once; the order of a sum is not fixed. A mean is a sum and a division.

    Example: `%y = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_ReduceKindAttr:$kind, DenseI64ArrayAttr:$axes, Graph_Flag<"false">:$keep_dims);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_ArgReduceOp : Graph_InferredOp<"arg_reduce"> {
  let summary = "position of the extremum along an axis";
  let description = [{
    The index (i64) of the largest or smallest element along `axis`, which disappears, or with `keep_dims` has size 1. Of equal ones the
    first, with `select_last` the last. NaN counts as the extremum of either kind. The axis has at least one element.

    Example: `%y = graph.arg_reduce %x {kind = #graph.arg_reduce_kind<max>, axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>`
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_ArgReduceKindAttr:$kind, I64Attr:$axis, Graph_Flag<"false">:$keep_dims,
                   Graph_Flag<"false">:$select_last);
  let results = (outs Graph_Tensor:$result);
}

def Graph_CumulativeOp : Graph_InferredOp<"cumulative"> {
  let summary = "running sum, product or maximum along an axis";
  let description = [{
    Element `i` combines elements `0 .. i` of the axis; with `exclusive` elements `0 .. i-1`, so that the first is what nothing gives (0,
    1, the lowest value); with `reverse` from the other end. `max` propagates NaN. Integers wrap.

    Example: `%y = graph.cumulative %x {kind = #graph.cumulative_kind<sum>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_CumulativeKindAttr:$kind, I64Attr:$axis, Graph_Flag<"false">:$exclusive,
                   Graph_Flag<"false">:$reverse);
  let results = (outs Graph_Tensor:$result);
}

def Graph_TopKOp : Graph_InferredOp<"top_k"> {
  let summary = "the k largest or smallest elements along an axis";
  let description = [{
    Values and their indices (i64), `k` of each along `axis`, best first. `k` is a list of one size, at most that of the axis; with `k`
    equal to it this is a stable sort. Of equal elements the one with the lower index comes first. NaN counts as larger than any number.
    Without `sorted` the same elements may come in any order.

    Example: `%v, %i = graph.top_k %x {k = #graph.dims<["2"]>, axis = 0 : i64} : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi64>)`
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_DimsAttr:$k, I64Attr:$axis, Graph_Flag<"true">:$largest,
                   Graph_Flag<"true">:$sorted);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHREDUCTION_TD
