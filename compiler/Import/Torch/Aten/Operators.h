// The table of operators: PyTorch's aten and the few others that its exporters write, each a schema and a function on Values. Families
// of operators live in files of their own; this joins them. In-place forms are derived: `relu_` is `relu`, whose result is written into
// the first argument, which is returned.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_OPERATORS_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_OPERATORS_H

#include "compiler/Import/Torch/Aten/Context.h"
#include "compiler/Import/Torch/Aten/Schema.h"

#include <span>

namespace stator::torch {

class OpCall;
/// Several results are a tuple; no result is None.
using OpHandler = Value (*)(OpCall &);

struct OpEntry {
  std::string_view schema;
  OpHandler handler;
};

struct Operator {
  Schema schema;
  OpHandler handler = nullptr;
  /// The handler computes; the result goes into the first argument.
  bool isInPlace = false;
};

/// By full name: "add.Tensor", "add_.Tensor", "relu", "relu.default"; null when there is none.
const Operator *findOperator(std::string_view fullName);
/// All overloads of "add" or "add_", in the order of the table.
std::vector<const Operator *> findOverloads(std::string_view name);
/// Every operator, sorted by full name, without the derived ones; for documentation.
std::vector<const Operator *> allOperators();

/// Runs one operator; `arguments` are as bindArguments gives them. A poisoned argument gives poison. An error is taken from the Builder
/// and returned, so that the caller may report it and go on.
Result<Value> callOperator(Context &context, const Operator &op, Values arguments);
/// Finds the overload that fits and runs it. Unsupported when the name is unknown or no overload fits.
Result<Value> callByName(Context &context, std::string_view name, const Values &positional, const std::vector<KeywordArgument> &keywords);

// The families.
std::span<const OpEntry> arithmeticOps();   // add, mul, div, pow, remainder, addcmul, lerp, atan2
std::span<const OpEntry> comparisonOps();   // eq .. ge, logical, bitwise, shifts, where, clamp, min/max of two
std::span<const OpEntry> unaryOps();        // abs .. trunc, isnan
std::span<const OpEntry> specialOps();      // erfc, erfinv, lgamma, digamma
std::span<const OpEntry> activationOps();   // relu .. softmax, dropout
std::span<const OpEntry> reductionOps();    // sum, mean, var, amax, argmax, any, norm
std::span<const OpEntry> sortOps();         // cumsum, cummax, sort, topk, median, quantile
std::span<const OpEntry> contractionOps();  // linear, matmul, bmm, addmm, einsum
std::span<const OpEntry> distanceOps();     // cdist, cosine_similarity, cov, cross
std::span<const OpEntry> convolutionOps();  // conv2d, conv_transpose2d, _convolution
std::span<const OpEntry> windowOps();       // max_pool2d, avg_pool2d
std::span<const OpEntry> adaptivePoolOps(); // adaptive_avg_pool2d
std::span<const OpEntry> resampleOps();     // upsample_*, grid_sampler
std::span<const OpEntry> patchOps();        // pad, pixel_shuffle, unfold, im2col, col2im
std::span<const OpEntry> normalisationOps();
std::span<const OpEntry> recurrentOps();      // lstm, gru, rnn and their cells
std::span<const OpEntry> attentionOps();      // scaled_dot_product_attention and its backends
std::span<const OpEntry> fusedAttentionOps(); // _native_multi_head_attention, _transformer_encoder_layer_fwd
std::span<const OpEntry> viewOps();           // view, reshape, transpose, expand, as_strided
std::span<const OpEntry> selectOps();         // slice, select, split and their *_scatter forms
std::span<const OpEntry> memoryOps();         // clone, contiguous, detach, copy_, fill_, resize_
std::span<const OpEntry> reshapeOps();        // cat, stack, roll, flip, repeat, tile
std::span<const OpEntry> matrixOps();         // tril, diag, diag_embed, eye, trace
std::span<const OpEntry> indexingOps();       // index, index_put, gather, take, masked_fill
std::span<const OpEntry> scatterOps();        // scatter, scatter_reduce, index_add, index_copy
std::span<const OpEntry> lookupOps();         // embedding, embedding_bag, one_hot, searchsorted, isin, nonzero
std::span<const OpEntry> creationOps();       // zeros, full_like, tensor; random numbers, which are refused
std::span<const OpEntry> rangeOps();          // arange, linspace, hann_window
std::span<const OpEntry> conversionOps();     // to, type_as, _to_copy, result_type
std::span<const OpEntry> metadataOps();       // size, dim, numel, item
std::span<const OpEntry> quantisedOps();      // quantized_decomposed::*
std::span<const OpEntry> lossOps();
std::span<const OpEntry> backwardOps();      // threshold_backward, _softmax_backward_data
std::span<const OpEntry> layerBackwardOps(); // convolution_backward, native_layer_norm_backward

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_OPERATORS_H
