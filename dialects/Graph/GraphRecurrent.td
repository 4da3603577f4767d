// Recurrent layers over a sequence `[T, B, I]`, with ONNX's shapes and gate orders. D is 2 for `bidirectional`, else 1. Each keeps its
// state in one kernel; optional operands are told apart by `operandSegmentSizes`. With `weights_packed`, w and r are parameters packed by
// the recipe `pack_recurrent`, `[D, G, ceil(H/16), I or H, 16]` for G gates.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHRECURRENT_TD
#define STATOR_DIALECTS_GRAPH_GRAPHRECURRENT_TD

include "dialects/Graph/GraphBase.td"

class Graph_RecurrentOp<string mnemonic> : Graph_InferredOp<mnemonic, [AttrSizedOperandSegments]> {
  let extraClassDeclaration = [{
    /// 2 when the sequence is read both ways.
    int64_t directions() { return getDirection() == RecurrentDirection::Bidirectional ? 2 : 1; }
  }];
}

def Graph_LstmOp : Graph_RecurrentOp<"lstm"> {
  let summary = "long short-term memory";
  let description = [{
    Operands: input `[T, B, I]`, w `[D, 4H, I]`, r `[D, 4H, H]`, bias `[D, 8H]` (of w, then of r), initial_h and initial_c `[D, B, H]`
    (zeros where absent), peephole `[D, 3H]` (i, o, f), sequence_lengths `[B]`. Gates in the order i, o, f, c:

    `i = sigmoid(x Wi + h Ri + bi + Pi*c)`, `f = sigmoid(x Wf + h Rf + bf + Pf*c)`, `g = tanh(x Wc + h Rc + bc)`, `c' = f*c + i*g`,
    `o = sigmoid(x Wo + h Ro + bo + Po*c')`, `h' = o * tanh(c')` (Hochreiter and Schmidhuber, 1997; ONNX `LSTM`).

    Results: y `[T, D, B, H]` with every h, then the last h and c, `[D, B, H]`. Past its length a sequence gives zeros in y and keeps its
    state; `reverse` starts at its last step.

    Example: `%y, %h, %c = graph.lstm %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>} :
    (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)`
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$w, Graph_FloatTensor:$r, Optional<Graph_FloatTensor>:$bias,
                   Optional<Graph_FloatTensor>:$initial_h, Optional<Graph_FloatTensor>:$initial_c,
                   Optional<Graph_FloatTensor>:$peephole, Optional<Graph_IndexTensor>:$sequence_lengths,
                   DefaultValuedAttr<Graph_RecurrentDirectionAttr, "::stator::graph::RecurrentDirection::Forward">:$direction,
                   UnitAttr:$weights_packed);
  let results = (outs Graph_Tensor:$y, Graph_Tensor:$h, Graph_Tensor:$c);
}

def Graph_GruOp : Graph_RecurrentOp<"gru"> {
  let summary = "gated recurrent unit";
  let description = [{
    Operands: input `[T, B, I]`, w `[D, 3H, I]`, r `[D, 3H, H]`, bias `[D, 6H]` (of w, then of r), initial_h `[D, B, H]`,
    sequence_lengths `[B]`. Gates in the order z, r, h:

    `z = sigmoid(x Wz + h Rz + bz)`, `r = sigmoid(x Wr + h Rr + br)`, `n = tanh(x Wh + bWh + (r*h) Rh + bRh)`, or with
    `linear_before_reset` `n = tanh(x Wh + bWh + r * (h Rh + bRh))`, `h' = (1 - z) * n + z * h` (Cho et al., 2014; ONNX `GRU`).

    Results: y `[T, D, B, H]` with every h, then the last h, `[D, B, H]`. Lengths and direction as for `graph.lstm`.

    Example: `%y, %h = graph.gru %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} :
    (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)`
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$w, Graph_FloatTensor:$r, Optional<Graph_FloatTensor>:$bias,
                   Optional<Graph_FloatTensor>:$initial_h, Optional<Graph_IndexTensor>:$sequence_lengths,
                   DefaultValuedAttr<Graph_RecurrentDirectionAttr, "::stator::graph::RecurrentDirection::Forward">:$direction,
                   Graph_Flag<"false">:$linear_before_reset, UnitAttr:$weights_packed);
  let results = (outs Graph_Tensor:$y, Graph_Tensor:$h);
}

def Graph_RnnOp : Graph_RecurrentOp<"rnn"> {
  let summary = "plain recurrent layer";
  let description = [{
    Operands: input `[T, B, I]`, w `[D, H, I]`, r `[D, H, H]`, bias `[D, 2H]` (of w, then of r), initial_h `[D, B, H]`, sequence_lengths
    `[B]`. `h' = activation(x W + h R + b)` (Elman, 1990; ONNX `RNN`).

    Results: y `[T, D, B, H]` with every h, then the last h, `[D, B, H]`. Lengths and direction as for `graph.lstm`.

    Example: `%y, %h = graph.rnn %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} :
    (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)`
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$w, Graph_FloatTensor:$r, Optional<Graph_FloatTensor>:$bias,
                   Optional<Graph_FloatTensor>:$initial_h, Optional<Graph_IndexTensor>:$sequence_lengths,
                   DefaultValuedAttr<Graph_RecurrentDirectionAttr, "::stator::graph::RecurrentDirection::Forward">:$direction,
                   DefaultValuedAttr<Graph_RnnActivationAttr, "::stator::graph::RnnActivation::Tanh">:$activation,
                   UnitAttr:$weights_packed);
  let results = (outs Graph_Tensor:$y, Graph_Tensor:$h);
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHRECURRENT_TD
