// Operations that move elements without computing with them, and those that make tensors from nothing.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHSHAPE_TD
#define STATOR_DIALECTS_GRAPH_GRAPHSHAPE_TD

include "dialects/Graph/GraphBase.td"

def Graph_ReshapeOp : Graph_TypedOp<"reshape"> {
  let summary = "the same elements in another shape";
  let description = [{
    Row-major order is kept. The numbers of elements are equal; where the sizes are symbolic and their products cannot be compared, the
    method carries a guard, and an interpreter or a run with unequal numbers is an error.

    Example: `%y = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_TransposeOp : Graph_InferredOp<"transpose"> {
  let summary = "permutation of the axes";
  let description = [{
    Axis `i` of the result is axis `permutation[i]` of the input, as `numpy.transpose`.

    Example: `%y = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_BroadcastOp : Graph_TypedOp<"broadcast"> {
  let summary = "repetition along new axes and axes of size 1";
  let description = [{
    Axis `i` of the input becomes axis `dimensions[i]` of the result; `dimensions` increases strictly. Axis `i` of the input has the
    size of that axis or 1; along the other axes of the result the input is repeated. (StableHLO's `broadcast_in_dim`.)

    Example: `%y = graph.broadcast %x {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_SliceOp : Graph_TypedOp<"slice"> {
  let summary = "every n-th element between two positions of each axis";
  let description = [{
    `result[i, j, ...] = input[starts[0] + i * strides[0], starts[1] + j * strides[1], ...]`. The result type gives the sizes. Strides
    are positive; a backward slice is a `graph.reverse` of a forward one. Reading outside of the input is an error: where it can be
    told from constants the verifier says so.

    Example: `%y = graph.slice %x {starts = #graph.dims<["1", "0"]>, strides = array<i64: 1, 2>} : (tensor<4x6xf32>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_DimsAttr:$starts, DenseI64ArrayAttr:$strides);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_ReverseOp : Graph_InferredOp<"reverse"> {
  let summary = "reversal of axes";
  let description = [{
    The order of the elements along each axis in `axes` (increasing, each once) is turned round, as `numpy.flip`.

    Example: `%y = graph.reverse %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_PadOp : Graph_InferredOp<"pad"> {
  let summary = "a border around a tensor, and gaps in it";
  let description = [{
    Along each axis: first `interior[i]` elements are put between neighbours, then `low[i]` before the first and `high[i]` after the
    last. A size `d` becomes `low + d + (d - 1) * interior + high`.

    - `constant`: new elements are `value`, a rank-0 tensor. Here `low` and `high` may be negative, which cuts elements off.
    - `edge`: the nearest element of the input; `reflect`: mirrored at the first and last element, which are not repeated (amounts stay
      below the size); `wrap`: as if the input repeated. With these, `interior` is 0, amounts are not negative, and `value` is unused.

    An axis with interior padding has at least one element.

    Example: `%y = graph.pad %x, %zero {low = #graph.dims<["0", "1"]>, high = #graph.dims<["0", "1"]>, interior = array<i64: 0, 0>} :
    (tensor<2x3xf32>, tensor<f32>) -> tensor<2x5xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$value, Graph_DimsAttr:$low, Graph_DimsAttr:$high,
                   DenseI64ArrayAttr:$interior, DefaultValuedAttr<Graph_PadModeAttr, "::stator::graph::PadMode::Constant">:$mode);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_InferredOp<"concat"> {
  let summary = "tensors put one after the other along an axis";
  let description = [{
    At least one operand; they agree in everything but the size of `axis`, which is the sum in the result.

    Example: `%z = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>`
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_TypedOp<"iota"> {
  let summary = "positions along an axis";
  let description = [{
    Each element is its own index along `axis`, converted to the element type. Not for `i1`. Triangular masks are comparisons of two.

    Example: `%y = graph.iota {axis = 1 : i64} : () -> tensor<2x3xi32>` gives `[[0, 1, 2], [0, 1, 2]]`
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_DimValuesOp : Graph_InferredOp<"dim_values"> {
  let summary = "sizes as data";
  let description = [{
    The values of size expressions as a 1-D `i64` tensor, or with `scalar`, of a single one as a rank-0 tensor. Shape arithmetic is done
    on expressions when the graph is made; this op is for shapes that are computed with as numbers.

    Example: `%y = graph.dim_values {values = #graph.dims<["N", "64"]>} : () -> tensor<2xi64>`
  }];
  let arguments = (ins Graph_DimsAttr:$values, UnitAttr:$scalar);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_ResizeOp : Graph_TypedOp<"resize"> {
  let summary = "interpolation to another size";
  let description = [{
    ONNX `Resize`, every axis included, without the region-of-interest form. Along each axis position `x` of the result reads the input
    near `u(x)`, with `n` and `m` the sizes of input and result and `s` the scale, `scales[i]` where given (as the model's file does),
    else `m / n`:

    - `half_pixel`: `(x + 0.5) / s - 0.5`; `pytorch_half_pixel`: the same, but 0 when `m` is 1
    - `asymmetric`: `x / s`; `align_corners`: `x * (n - 1) / (m - 1)`, 0 when `m` is 1
    - `half_pixel_symmetric`: `n/2 * (1 - m/(s*n)) + (x + 0.5) / s - 0.5`

    `nearest` takes the element at `u` rounded as `nearest_mode` says; `linear` and `cubic` (Keys' kernel with `a = cubic_coeff`) blend
    2 and 4 neighbours per axis. Positions outside are clamped to the border; with `exclude_outside` they get no weight and the others
    are scaled to sum to 1. `antialias` widens the kernel of `linear` and `cubic` by `1 / s` where `s < 1`. An axis of equal sizes and
    scale 1 is left as it is.

    Example: `%y = graph.resize %x {mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>,
    nearest_mode = #graph.resize_nearest<floor>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>`
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_ResizeModeAttr:$mode, Graph_ResizeCoordinateAttr:$coordinate,
                   DefaultValuedAttr<Graph_ResizeNearestAttr, "::stator::graph::ResizeNearest::RoundPreferFloor">:$nearest_mode,
                   OptionalAttr<DenseF64ArrayAttr>:$scales, DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff,
                   Graph_Flag<"false">:$exclude_outside, Graph_Flag<"false">:$antialias);
  let results = (outs Graph_Tensor:$result);
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHSHAPE_TD
