// Normalisations, softmax, GELU and attention: composites that `decompose()` writes with simpler operations.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHNORMALISATION_TD
#define STATOR_DIALECTS_GRAPH_GRAPHNORMALISATION_TD

include "dialects/Graph/GraphBase.td"

class Graph_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Graph_InferredOp<mnemonic, [DeclareOpInterfaceMethods<GraphComposite>] # traits>;

def Graph_BatchNormOp : Graph_CompositeOp<"batch_norm"> {
  let summary = "batch normalisation with fixed statistics";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias` (Ioffe and Szegedy, 2015, in inference). The four vectors have the size of `axis`.

    Example: `%y = graph.batch_norm %x, %s, %b, %m, %v {axis = 1 : i64, epsilon = 1.0e-5 : f64} :
    (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias, Graph_FloatTensor:$mean,
                   Graph_FloatTensor:$variance, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Graph_Tensor:$result);
}

def Graph_LayerNormOp : Graph_CompositeOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "layer normalisation";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias` with mean and (biased) variance over axes `axis ..` (Ba, Kiros, Hinton, 2016).
    Scale and bias, where given, have the shape of those axes. Statistics of floats narrower than f32 are computed in f32.

    Example: `%y = graph.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} :
    (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<4x64xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$input, Optional<Graph_FloatTensor>:$scale, Optional<Graph_FloatTensor>:$bias, I64Attr:$axis,
                   F64Attr:$epsilon);
  let results = (outs Graph_Tensor:$result);
}

def Graph_RmsNormOp : Graph_CompositeOp<"rms_norm"> {
  let summary = "root-mean-square normalisation";
  let description = [{
    `x / sqrt(mean(x^2) + epsilon) * scale` with the mean over axes `axis ..` (Zhang and Sennrich, 2019). The scale, where given, has the
    shape of those axes. Statistics of floats narrower than f32 are computed in f32.

    Example: `%y = graph.rms_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$input, Optional<Graph_FloatTensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Graph_Tensor:$result);
}

def Graph_SoftmaxOp : Graph_CompositeOp<"softmax"> {
  let summary = "softmax along an axis";
  let description = [{
    `e^(x - m) / sum of e^(x - m)` with `m` the maximum along `axis`. A slice of nothing but minus infinities gives NaN.

    Example: `%y = graph.softmax %x {axis = 1 : i64} : (tensor<2x10xf32>) -> tensor<2x10xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_LogSoftmaxOp : Graph_CompositeOp<"log_softmax"> {
  let summary = "logarithm of the softmax along an axis";
  let description = [{
    `x - m - ln(sum of e^(x - m))` with `m` the maximum along `axis`.

    Example: `%y = graph.log_softmax %x {axis = 1 : i64} : (tensor<2x10xf32>) -> tensor<2x10xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GeluOp : Graph_CompositeOp<"gelu", [Graph_Elementwise]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `none`: `x/2 * (1 + erf(x / sqrt(2)))`; `tanh`: `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))` (Hendrycks and Gimpel, 2016).

    Example: `%y = graph.gelu %x : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$input,
                   DefaultValuedAttr<Graph_GeluApproximationAttr, "::stator::graph::GeluApproximation::None">:$approximate);
  let results = (outs Graph_Tensor:$result);
}

def Graph_AttentionOp : Graph_CompositeOp<"attention"> {
  let summary = "scaled dot-product attention";
  let description = [{
    `softmax(query * key^T * scale + mask) * value` (Vaswani et al., 2017), with query `[B.., L, E]`, key `[B.., S, E]`, value `[B.., S, V]`
    and equal leading axes; the result is `[B.., L, V]`. The mask has the rank of the query and broadcasts to `[B.., L, S]` (each size
    equal or 1): floats are added, `i1` says what may be attended to. With `causal`, position `i` attends to positions
    `0 .. i + causal_offset` only; the offset, 0 where it is absent, is one size, such as the length of a cache. A row that may attend
    to nothing gives NaN, or with `empty_rows_zero` weights of 0, as do rows with a NaN among their scores. Scores of floats narrower
    than f32 are computed in f32.

    Example: `%y = graph.attention %q, %k, %v {scale = 0.125 : f64} :
    (tensor<2x8x16x64xf32>, tensor<2x8x16x64xf32>, tensor<2x8x16x64xf32>) -> tensor<2x8x16x64xf32>`
  }];
  let arguments = (ins Graph_FloatTensor:$query, Graph_FloatTensor:$key, Graph_FloatTensor:$value, Optional<Graph_Tensor>:$mask,
                   F64Attr:$scale, Graph_Flag<"false">:$causal, OptionalAttr<Graph_DimsAttr>:$causal_offset,
                   Graph_Flag<"false">:$empty_rows_zero);
  let results = (outs Graph_Tensor:$result);
  let extraClassDeclaration = [{
    /// The causal offset, 0 where it is absent.
    ::stator::DimExpr causalOffset();
  }];
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHNORMALISATION_TD
