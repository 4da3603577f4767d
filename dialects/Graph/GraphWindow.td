// Windows that slide over spatial axes without weights.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHWINDOW_TD
#define STATOR_DIALECTS_GRAPH_GRAPHWINDOW_TD

include "dialects/Graph/GraphBase.td"

def Graph_PoolOp : Graph_InferredOp<"pool"> {
  let summary = "maximum or average of a sliding window";
  let description = [{
    Over the spatial axes of `[N, C, spatial..]` or `[N, spatial.., C]`, with sizes as for `graph.convolution`. All lists have one entry
    per spatial axis.

    - `max`: of the elements of the window that lie in the input, the largest; NaN propagates. A window without any gives the lowest
      value (minus infinity for floats). Floats and integers.
    - `average` (floats): their sum divided by how many there are, or with `count_include_pad` by how many positions of the window lie
      in the input or its padding. A front-end's ceil mode adds `ceil_extra[i]` to `pad_high[i]`; positions in that part never count.
      A window that counts nothing gives 0.

    Example: `%y = graph.pool %x {kind = #graph.pool_kind<max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>`
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_PoolKindAttr:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, DenseI64ArrayAttr:$dilations,
                   Graph_Flag<"false">:$count_include_pad, OptionalAttr<DenseI64ArrayAttr>:$ceil_extra,
                   DefaultValuedAttr<Graph_TensorLayoutAttr, "::stator::graph::TensorLayout::ChannelsFirst">:$layout);
  let results = (outs Graph_Tensor:$result);
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHWINDOW_TD
