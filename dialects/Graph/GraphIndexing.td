// Reading and writing at positions that are data. An index below zero counts from the end of its axis; one that is still out of range
// is clamped to the nearest element by the gathers, and an update at such a place is dropped by the scatters: no input data can make a
// kernel touch foreign memory.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHINDEXING_TD
#define STATOR_DIALECTS_GRAPH_GRAPHINDEXING_TD

include "dialects/Graph/GraphBase.td"

def Graph_GatherOp : Graph_InferredOp<"gather"> {
  let summary = "whole slices picked by index";
  let description = [{
    `result[a.., i.., b..] = input[a.., indices[i..], b..]`, the index standing at `axis`: the shape is the input's with that axis
    replaced by the shape of the indices, as `numpy.take`. Negative indices count from the end; out of range is clamped.

    Example: `%y = graph.gather %x, %i {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GatherElementsOp : Graph_InferredOp<"gather_elements"> {
  let summary = "single elements picked along an axis";
  let description = [{
    `result[.., i, ..] = input[.., indices[.., i, ..], ..]`, the index standing at `axis`: the shape is that of the indices, whose rank
    is the input's and whose other sizes do not exceed it. (ONNX `GatherElements`, `torch.gather`.) Negative indices count from the
    end; out of range is clamped.

    Example: `%y = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GatherNdOp : Graph_InferredOp<"gather_nd"> {
  let summary = "slices picked by index tuples";
  let description = [{
    The last axis of the indices holds tuples of constant length `k` that address axes `batch_dims .. batch_dims + k` of the input; the
    first `batch_dims` axes of both are the same and run together. The shape is that of the indices without the last axis, followed by
    the rest of the input's. (ONNX `GatherND`.) Negative indices count from the end; out of range is clamped.

    Example: `%y = graph.gather_nd %x, %i : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Graph_Tensor:$result);
}

class Graph_ScatterOp<string mnemonic> : Graph_InferredOp<mnemonic> {
  let results = (outs Graph_Tensor:$result);
}

def Graph_ScatterElementsOp : Graph_ScatterOp<"scatter_elements"> {
  let summary = "single elements written along an axis";
  let description = [{
    A copy of the input in which, for every position of the updates in row-major order, the element at `[.., indices[.., i, ..], ..]`
    (the index at `axis`) is replaced by the update or combined with it by `reduction`. With `none` the last update of a place wins.
    Indices and updates have one shape. (ONNX `ScatterElements`.) Negative indices count from the end; out of range is dropped.

    Example: `%y = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, Graph_Tensor:$updates, I64Attr:$axis,
                   DefaultValuedAttr<Graph_ScatterReductionAttr, "::stator::graph::ScatterReduction::None">:$reduction);
}

def Graph_ScatterNdOp : Graph_ScatterOp<"scatter_nd"> {
  let summary = "slices written at index tuples";
  let description = [{
    A copy of the input in which, for every tuple (the last axis of the indices, of constant length `k`) in row-major order, the slice
    that it addresses is replaced by the update or combined with it by `reduction`. With `none` the last update of a place wins. The
    updates have the shape of the indices without the last axis, followed by axes `k ..` of the input. (ONNX `ScatterND`.) Negative
    indices count from the end; a tuple with an index out of range is dropped.

    Example: `%y = graph.scatter_nd %x, %i, %u : (tensor<4x5xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<4x5xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_IndexTensor:$indices, Graph_Tensor:$updates,
                   DefaultValuedAttr<Graph_ScatterReductionAttr, "::stator::graph::ScatterReduction::None">:$reduction);
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHINDEXING_TD
