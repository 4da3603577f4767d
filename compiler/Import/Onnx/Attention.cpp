//===- Attention.cpp - what the attention ops of all domains have in common ===//
//
// Where the layer is plain it becomes graph.attention, which never stores the
// scores; a soft cap, or scores as a result, need them written out. Heads that
// share keys are folded into the query's length where the mask allows it, so
// that keys and values are not copied.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/Attention.h"

#include <cmath>
#include <limits>

namespace stator::onnx {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Tensor;

namespace {

constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

/// Each key head as often as it serves a query head, next to itself.
Tensor repeatHeads(const Tensor &x, const Dim &times) {
  Dims d = x.dims();
  Tensor spread = fn::broadcastTo(fn::unsqueeze(x, {2}), {d[0], d[1], times, d[2], d[3]});
  return fn::reshape(spread, Dims{d[0], d[1] * times, d[2], d[3]});
}

/// A mask that ends early goes on with "not".
Tensor padMask(const Tensor &mask, const Dim &length) {
  Dim missing = length - mask.dim(-1);
  if (!missing.isConstant() || missing.constant() <= 0 || mask.dim(-1) == Dim(1))
    return mask;
  Dims low(mask.rank(), Dim(0)), high(mask.rank(), Dim(0));
  high.back() = missing;
  return fn::pad(mask, low, high, fn::PadMode::Constant, fn::scalarLike(mask, mask.type() == ElementType::I1 ? 0 : minusInfinity));
}

Tensor causalMask(trace::Builder &builder, const Dim &queries, const Dim &keys, const Dim &offset) {
  Tensor rows = fn::iota(builder, ElementType::I64, {queries, 1}, 0), columns = fn::iota(builder, ElementType::I64, {1, keys}, 1);
  return fn::le(columns, fn::add(rows, builder.fromDim(offset)));
}

/// Both masks as one.
Tensor joinMasks(const Tensor &mask, const Tensor &allowed) {
  if (!mask || !allowed)
    return mask ? mask : allowed;
  return mask.type() == ElementType::I1 ? fn::logicalAnd(mask, allowed) : fn::where(allowed, mask, fn::scalarLike(mask, minusInfinity));
}

Tensor applyMask(const Tensor &scores, const Tensor &mask) {
  if (!mask)
    return scores;
  return mask.type() == ElementType::I1 ? fn::where(mask, scores, fn::scalarLike(scores, minusInfinity))
                                        : fn::add(scores, fn::cast(mask, scores.type()));
}

/// Whether all heads that share keys, and all their rows, see one row of the mask.
bool hasOneRow(const Tensor &mask) {
  return !mask || ((mask.rank() < 2 || mask.dim(-2) == Dim(1)) && (mask.rank() < 3 || mask.dim(-3) == Dim(1)));
}

AttentionResult writtenOut(const AttentionLayer &layer, const Tensor &mask) {
  using Scores = AttentionLayer::Scores;
  AttentionResult result;
  double scale = std::sqrt(*layer.scale);
  Tensor query = fn::mul(layer.query, fn::scalarLike(layer.query, scale)), key = fn::mul(layer.key, fn::scalarLike(layer.key, scale));
  Tensor scores = fn::matmul(query, fn::transpose(key, {0, 1, 3, 2}));
  if (layer.wanted == Scores::Products)
    result.scores = scores;
  if (layer.softcap != 0) {
    Tensor cap = fn::scalarLike(scores, layer.softcap);
    scores = fn::mul(fn::tanh(fn::div(scores, cap)), cap);
  }
  if (layer.wanted == Scores::Capped)
    result.scores = scores;
  scores = applyMask(scores, mask);
  if (layer.wanted == Scores::Masked)
    result.scores = scores;
  Tensor probabilities = fn::softmax(layer.softmaxType ? fn::cast(scores, *layer.softmaxType) : scores, -1);
  probabilities = fn::cast(probabilities, layer.query.type());
  if (layer.wanted == Scores::Probabilities)
    result.scores = probabilities;
  result.output = fn::matmul(probabilities, layer.value);
  return result;
}

} // namespace

Tensor splitHeads(const Tensor &x, int64_t heads) {
  if (!x || x.rank() != 3 || heads < 1) {
    if (x && x.builder()->ok())
      x.builder()->fail(StatusCode::InvalidFile, "an input of rank " + std::to_string(x.rank()) + " with " + std::to_string(heads) +
                                                     " heads, expected rank 3 and at least one head");
    return x;
  }
  Dims d = x.dims();
  if (d[2].isConstant() && d[2].constant() % heads != 0)
    x.builder()->fail(StatusCode::InvalidFile, "an input of width " + d[2].str() + " with " + std::to_string(heads) + " heads");
  return fn::transpose(fn::reshape(x, Dims{d[0], d[1], heads, floorDiv(d[2], heads)}), {0, 2, 1, 3});
}

Tensor joinHeads(const Tensor &x) {
  if (!x || x.rank() != 4)
    return x;
  Dims d = x.dims();
  return fn::reshape(fn::transpose(x, {0, 2, 1, 3}), Dims{d[0], d[2], d[1] * d[3]});
}

Tensor positionsBelow(const Tensor &lengths, const Dim &length) {
  if (!lengths || lengths.rank() < 1)
    return lengths;
  Tensor positions = fn::iota(*lengths.builder(), ElementType::I64, {1, 1, 1, length}, 3);
  return fn::lt(positions, fn::reshape(fn::cast(lengths, ElementType::I64), Dims{lengths.elements(), 1, 1, 1}));
}

AttentionResult attend(trace::Builder &builder, AttentionLayer layer) {
  AttentionResult nothing{layer.query, layer.query};
  if (!builder.ok())
    return nothing;
  for (const Tensor &x : {layer.query, layer.key, layer.value})
    if (x.rank() != 4) {
      builder.fail(StatusCode::InvalidFile, "an input has rank " + std::to_string(x.rank()) + ", expected 3 or 4");
      return nothing;
    }
  Dim heads = layer.query.dim(1), shared = layer.key.dim(1), queries = layer.query.dim(2), keys = layer.key.dim(2);
  if (!heads.isConstant() || !shared.isConstant() || shared.constant() < 1 || heads.constant() % shared.constant() != 0) {
    builder.fail(StatusCode::InvalidFile, heads.str() + " query heads for " + shared.str() + " key heads, expected a multiple");
    return nothing;
  }
  if (!layer.scale) {
    if (!layer.query.dim(3).isConstant() || layer.query.dim(3).constant() < 1) {
      builder.fail(StatusCode::Unsupported, "a head of width " + layer.query.dim(3).str() + ", expected a number");
      return nothing;
    }
    layer.scale = 1 / std::sqrt(double(layer.query.dim(3).constant()));
  }
  bool isPlain = layer.softcap == 0 && layer.wanted == AttentionLayer::Scores::None && !layer.softmaxType;
  Tensor mask = layer.mask ? padMask(layer.mask, keys) : Tensor();
  mask = joinMasks(mask, layer.allowed);
  // The last of the queries sees everything: with one query there is nothing to mask.
  bool seesAll = queries == Dim(1) && keys == layer.offset + Dim(1);
  bool isTopLeft = layer.offset == Dim(0);
  if (layer.isCausal && !seesAll && (!isPlain || !isTopLeft))
    mask = joinMasks(mask, causalMask(builder, queries, keys, layer.offset));
  bool causalFlag = layer.isCausal && !seesAll && isPlain && isTopLeft;

  if (heads != shared) {
    Dim times = floorDiv(heads, shared);
    if (isPlain && !causalFlag && hasOneRow(mask)) {
      Dims d = layer.query.dims();
      Tensor folded = fn::reshape(layer.query, Dims{d[0], shared, times * d[2], d[3]});
      Tensor output = fn::attention(folded, layer.key, layer.value, mask, layer.scale);
      return {fn::reshape(output, Dims{d[0], heads, d[2], layer.value.dim(3)}), {}};
    }
    layer.key = repeatHeads(layer.key, times);
    layer.value = repeatHeads(layer.value, times);
  }
  if (!isPlain)
    return writtenOut(layer, mask);
  return {fn::attention(layer.query, layer.key, layer.value, mask, layer.scale, causalFlag), {}};
}

} // namespace stator::onnx
