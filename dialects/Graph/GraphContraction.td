// Sums of products: where nearly all of the arithmetic is.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHCONTRACTION_TD
#define STATOR_DIALECTS_GRAPH_GRAPHCONTRACTION_TD

include "dialects/Graph/GraphBase.td"

def Graph_DotGeneralOp : Graph_InferredOp<"dot_general"> {
  let summary = "sum of products over chosen axes";
  let description = [{
    Axes `lhs_batch` and `rhs_batch` run together; axes `lhs_contract` and `rhs_contract` are multiplied and summed. Each list of one side
    pairs with that of the other, and the sizes agree. Result axes: batch, then the remaining ones of `lhs`, then those of `rhs`, each
    in their order; the element type is the operands'. (StableHLO's `dot_general`.) Floats narrower than f32 are accumulated in f32;
    integers wrap.

    `rhs_packed = N` says that `rhs` is stored in panels: a parameter of shape `[B.., ceil(N/16), K, 16]` made by the recipe `pack_matmul`
    from `[B.., K, N]`; or, without batch axes, of shape `[7, N/32, K/2, 16]` by `pack_strassen` from `[K, N]`, which asks for Strassen's
    algorithm. The axis lists stay those of the unpacked form: `rhs_batch` is `0, 1, ..` and `rhs_contract` the one axis after.

    Example: `%z = graph.dot_general %x, %y {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>,
    rhs_contract = array<i64: 1>} : (tensor<8x2x3xf32>, tensor<8x3x4xf32>) -> tensor<8x2x4xf32>`
  }];
  let arguments = (ins Graph_NumberTensor:$lhs, Graph_NumberTensor:$rhs, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                   DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract, OptionalAttr<I64Attr>:$rhs_packed);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ConvolutionOp : Graph_InferredOp<"convolution"> {
  let summary = "convolution (cross-correlation) over any number of spatial axes";
  let description = [{
    `result[n, o, x..] = sum over c, k.. of input[n, g*Cg + c, x*stride + k*dilation - pad_low ..] * filter[o, c, k..]` with `g` the group
    of `o` and zeros outside of the input. The filter is always `[O, I/groups, spatial..]`; `layout` places the channels of input and
    result: `[N, C, spatial..]` or `[N, spatial.., C]`. Spatial size: `floordiv(n + pad_low + pad_high - (k-1)*dilation - 1, stride) + 1`.
    All lists have one entry per spatial axis. Padding may be negative. `groups` divides both channel counts. Floats narrower than f32
    are accumulated in f32. A transposed convolution is a `graph.pad` with interior, then this op with the filter reversed and its
    channel axes exchanged.

    `filter_packed` says that the filter is a parameter packed by the recipe `pack_conv`, `[groups][ceil(O/groups/16)][kh*kw*I/groups][16]`,
    or, with rank 2, by `pack_depthwise`, `[kh*kw][C]`; `filter_shape` then gives the shape before packing.

    `winograd = m` asks for the algorithm F(m x m, 3x3), m = 2 or 4, for a filter of 3x3 taps without stride, dilation and groups; a packed
    filter is then one of `pack_winograd`, `[ceil(O/16)][(m+2)*(m+2)][I][16]`.

    Example: `%y = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>`
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_NumberTensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low,
                   DenseI64ArrayAttr:$pad_high, DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups,
                   DefaultValuedAttr<Graph_TensorLayoutAttr, "::stator::graph::TensorLayout::ChannelsFirst">:$layout,
                   UnitAttr:$filter_packed, OptionalAttr<DenseI64ArrayAttr>:$filter_shape, OptionalAttr<I64Attr>:$winograd);
  let results = (outs Graph_Tensor:$result);
  let extraClassDeclaration = [{
    /// `[O, I/groups, spatial..]`, whether the filter is packed or not.
    ::llvm::SmallVector<int64_t> filterShape();
    /// The number of spatial axes.
    int64_t spatialRank();
  }];
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHCONTRACTION_TD
