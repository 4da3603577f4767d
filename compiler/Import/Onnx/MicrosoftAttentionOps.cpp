//===- MicrosoftAttentionOps.cpp - transformer ops of com.microsoft --------===//

#include "compiler/Import/Onnx/Attention.h"
#include "compiler/Import/Onnx/MicrosoftOps.h"

namespace stator::onnx {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using Value = trace::Tensor;

namespace {

/// What a padding mask adds to the scores: [B, S] of 1 and 0, or the B lengths.
Value paddingMask(OpContext &op, const Value &mask, const Value &query, const Dim &keys) {
  if (!mask || !op.builder().ok())
    return {};
  Value isThere;
  if (mask.rank() == 2) {
    if (mask.dim(1).isConstant() && keys.isConstant() && mask.dim(1) != keys) {
      op.fail("a padding mask of length " + mask.dim(1).str() + " for " + keys.str() + " keys");
      return {};
    }
    isThere = fn::reshape(fn::ne(mask, fn::scalarLike(mask, 0)), Dims{mask.dim(0), 1, 1, mask.dim(1)});
  } else if (mask.rank() == 1 && mask.dim(0) == query.dim(0)) {
    isThere = positionsBelow(mask, keys);
  } else {
    op.unsupported("a padding mask of rank " + std::to_string(mask.rank()) + " is not supported, expected [batch, length] or [batch]");
    return {};
  }
  return fn::where(isThere, fn::scalarLike(query, 0), fn::scalarLike(query, op.number("mask_filter_value", -10000)));
}

AttentionLayer layerOf(OpContext &op) {
  AttentionLayer layer;
  layer.isCausal = op.flag("unidirectional");
  if (op.number("scale", 0) != 0)
    layer.scale = op.number("scale", 0);
  return layer;
}

/// One product gives query, key and value side by side.
void attention(OpContext &op) {
  Value x = op.input(0), weights = op.input(1);
  if (op.optional(4) || op.optional(6))
    return op.unsupported("a key cache is not supported");
  if (op.flag("do_rotary") || op.has("qkv_hidden_sizes"))
    return op.unsupported("rotary embedding and widths of their own for query, key and value are not supported");
  int64_t heads = op.integer("num_heads", 0);
  trace::Tensors parts = fn::splitEven(plus(fn::matmul(x, weights), op.optional(2)), 3, -1);
  if (!op.builder().ok() || parts.size() != 3)
    return;
  AttentionLayer layer = layerOf(op);
  layer.query = splitHeads(parts[0], heads);
  layer.key = splitHeads(parts[1], heads);
  layer.value = splitHeads(parts[2], heads);
  if (!op.builder().ok())
    return;
  // A mask of length 1 is a placeholder for none.
  Value mask = op.optional(3);
  if (!mask || mask.rank() != 2 || mask.dim(1) != Dim(1))
    layer.mask = paddingMask(op, mask, layer.query, layer.key.dim(2));
  if (Value bias = op.optional(5))
    layer.mask = layer.mask ? fn::add(layer.mask, bias) : bias;
  AttentionResult result = attend(op.builder(), layer);
  op.output(joinHeads(result.output), 0);
  op.output(fn::stack({layer.key, layer.value}, 0), 1);
}

void multiHeadAttention(OpContext &op) {
  Value query = op.input(0), key = op.optional(1), value = op.optional(2), bias = op.optional(3);
  if (!op.builder().ok())
    return;
  if (query.rank() != 3 || !key || !value)
    return op.unsupported("query, key and value packed into one tensor are not supported");
  if (op.optional(8) || op.optional(9))
    return op.unsupported("a key cache with room for later keys is not supported");
  if (op.wantsOutput(3))
    return op.unsupported("the scores as an output are not supported");
  if (bias && bias.rank() == 1) {
    trace::Tensors parts = fn::split(bias, Dims{query.dim(2), bias.dim(0) - query.dim(2) - value.dim(-1), value.dim(-1)}, 0);
    if (!op.builder().ok() || parts.size() != 3 || key.rank() != 3 || value.rank() != 3)
      return op.unsupported("a bias with keys of rank " + std::to_string(key.rank()) + " is not supported");
    query = fn::add(query, parts[0]);
    key = fn::add(key, parts[1]);
    value = fn::add(value, parts[2]);
  }
  int64_t heads = op.integer("num_heads", 0);
  AttentionLayer layer = layerOf(op);
  layer.query = splitHeads(query, heads);
  // Keys of another sequence may come with their heads apart.
  layer.key = key.rank() == 4 ? key : splitHeads(key, heads);
  layer.value = value.rank() == 4 ? value : splitHeads(value, heads);
  if (!op.builder().ok())
    return;
  if (Value pastKey = op.optional(6), pastValue = op.optional(7); pastKey && pastValue && pastKey.rank() == 4) {
    layer.offset = pastKey.dim(2);
    layer.key = fn::concat({pastKey, layer.key}, 2);
    layer.value = fn::concat({pastValue, layer.value}, 2);
  }
  if (!op.builder().ok())
    return;
  if (layer.isCausal && layer.key.dim(2) != layer.offset + layer.query.dim(2))
    return op.unsupported("`unidirectional` with keys of another sequence is not supported");
  layer.mask = paddingMask(op, op.optional(4), layer.query, layer.key.dim(2));
  if (Value added = op.optional(5))
    layer.mask = layer.mask ? fn::add(layer.mask, added) : added;
  AttentionResult result = attend(op.builder(), layer);
  op.output(joinHeads(result.output), 0);
  op.output(layer.key, 1);
  op.output(layer.value, 2);
}

/// Unlike the standard op: positions come second, and one number is where the sequence begins.
void rotaryEmbedding(OpContext &op) {
  Value x = op.input(0), positions = op.input(1), cosine = op.input(2), sine = op.input(3);
  if (!op.builder().ok())
    return;
  if (op.number("scale", 1) != 1 || op.flag("is_packed_batching"))
    return op.unsupported("a scale and packed batches are not supported");
  int64_t rotated = op.integer("rotary_embedding_dim", 0), heads = op.integer("num_heads", 0);
  bool isFlat = x.rank() == 3;
  if (isFlat && heads == 0) {
    // The cache says how wide a head is.
    Dim width = rotated ? Dim(0) : cosine.dim(-1) * Dim(2), all = x.dim(2);
    if (!width.isConstant() || !all.isConstant() || width.constant() == 0)
      return op.fail("attribute `num_heads` is missing");
    heads = all.constant() / width.constant();
  }
  Value split = isFlat ? splitHeads(x, heads) : x;
  if (!op.builder().ok())
    return;
  if (positions.rank() < 2) {
    Value steps = fn::iota(op.builder(), ElementType::I64, {1, split.dim(2)}, 1);
    positions = fn::add(steps, fn::reshape(positions, Dims{1, 1}));
  }
  Value rotation = fn::rotaryEmbedding(split, fn::gather(cosine, positions, 0), fn::gather(sine, positions, 0), rotated, op.flag("interleaved"));
  op.output(isFlat ? joinHeads(rotation) : rotation);
}

/// The sum of word, position and segment embeddings, normalised.
void embedLayerNormalization(OpContext &op) {
  Value ids = op.input(0), segments = op.optional(1), mask = op.optional(7), positions = op.optional(8);
  Value sum = fn::gather(op.input(2), ids, 0), table = op.input(3);
  if (!op.builder().ok())
    return;
  if (ids.rank() != 2)
    return op.fail("input 0 has rank " + std::to_string(ids.rank()) + ", expected 2");
  sum = fn::add(sum, positions ? fn::gather(table, positions, 0) : fn::slice(table, Dims{0}, Dims{ids.dim(1)}, {0}));
  if (segments)
    sum = fn::add(sum, fn::gather(op.input(4), segments, 0));
  else if (Value segmentTable = op.optional(4))
    sum = fn::add(sum, fn::slice(segmentTable, Dims{0}, Dims{1}, {0})); // All are of segment 0.
  op.output(fn::layerNorm(sum, op.input(5), op.input(6), -1, op.number("epsilon", 1e-12)), 0);
  if (mask) // The number of ones, whatever else is in it.
    mask = fn::cast(fn::eq(mask, fn::scalarLike(mask, 1)), ElementType::I32);
  if (op.wantsOutput(1))
    op.output(mask ? fn::reduce(mask, fn::Reduction::Sum, trace::Ints{1}, false)
                   : fn::full(op.builder(), ElementType::I32, {ids.dim(0)}, 0),
              1);
  op.output(sum, 2);
}

} // namespace

std::span<const OpEntry> microsoftAttentionOps() {
  static constexpr OpEntry entries[] = {{"Attention", attention},
                                        {"MultiHeadAttention", multiHeadAttention},
                                        {"RotaryEmbedding", rotaryEmbedding},
                                        {"EmbedLayerNormalization", embedLayerNormalization}};
  return entries;
}

} // namespace stator::onnx
