// scaled_dot_product_attention and its backend variants in decomposed graphs. All become graph.attention, which never stores the scores,
// unless the weights are asked for.
#include "compiler/Import/Torch/Aten/Attention.h"
#include "compiler/Import/Torch/Aten/Contraction.h"

#include "compiler/Trace/BuilderImpl.h"

#include <cmath>
#include <limits>

namespace stator::torch {

using trace::BuilderImpl;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

namespace {

/// Each key head as often as it serves a query head, next to itself.
Tensor repeatHeads(const Tensor &x, const Dim &times) {
  int64_t axis = x.rank() - 3;
  Dims joined = x.dims(), spread = x.dims();
  spread.insert(spread.begin() + axis + 1, times);
  joined[axis] = joined[axis] * times;
  return fn::reshape(fn::broadcastTo(fn::unsqueeze(x, {axis + 1}), spread), joined);
}

/// Whether all rows and heads see one row of the mask.
bool hasOneRow(const Tensor &mask) {
  return !mask || ((mask.rank() < 2 || mask.dim(-2) == Dim(1)) && (mask.rank() < 3 || mask.dim(-3) == Dim(1)));
}

/// Leading axes broadcast as in a matrix product.
void alignBatch(OpCall &call, Attention &a) {
  BuilderImpl &b = BuilderImpl::of(call.builder());
  std::vector<DimExpr> batch;
  for (const Tensor *x : {&a.query, &a.key, &a.value}) {
    size_t rank = static_cast<size_t>(x->rank() - 2);
    if (rank > batch.size())
      batch.insert(batch.begin(), rank - batch.size(), DimExpr(1));
    for (size_t i = 0; i < rank; ++i) {
      DimExpr &dim = batch[batch.size() - rank + i];
      dim = b.broadcastDim(dim, x->dim(static_cast<int64_t>(i)).expr(), "attention");
    }
  }
  for (Tensor *x : {&a.query, &a.key, &a.value}) {
    Dims dims(batch.begin(), batch.end());
    dims.push_back(x->dim(-2));
    dims.push_back(x->dim(-1));
    if (call.ok() && dims != x->dims())
      *x = fn::broadcastTo(*x, dims);
  }
}

} // namespace

Tensor fittingMask(OpCall &call, const Attention &a) {
  if (!a.mask || !call.ok())
    return a.mask;
  Dims scores = a.query.dims(), dims = a.mask.dims();
  scores.back() = a.key.dim(-2);
  if (dims.size() > scores.size()) {
    call.invalid("the mask has rank " + std::to_string(dims.size()) + ", expected at most " + std::to_string(scores.size()));
    return a.mask;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim &wanted = scores[scores.size() - dims.size() + i];
    if (dims[i] == Dim(1) || dims[i] == wanted)
      continue;
    call.builder().constrainEqual(dims[i], wanted, "the mask of attention");
    dims[i] = wanted;
  }
  return call.ok() ? fn::reshape(a.mask, dims) : a.mask;
}

double scaleOf(OpCall &call, const Attention &a) {
  if (a.scale)
    return *a.scale;
  Dim width = a.query.dim(-1);
  if (!width.isConstant() || width.constant() < 1)
    call.unsupported("a head of width " + width.str() + ", expected a number; pass `scale`");
  return width.isConstant() && width.constant() > 0 ? 1 / std::sqrt(static_cast<double>(width.constant())) : 1;
}

Tensor scores(OpCall &call, const Attention &a) {
  double half = std::sqrt(scaleOf(call, a));
  Ints swap = axisRange(0, a.key.rank());
  std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
  Tensor products = fn::matmul(times(widened(a.query), half), fn::transpose(times(widened(a.key), half), swap));
  Tensor lowest = fn::scalarLike(products, -std::numeric_limits<double>::infinity());
  if (a.mask)
    products =
        a.mask.type() == ElementType::I1 ? fn::where(a.mask, products, lowest) : fn::add(products, fn::cast(a.mask, products.type()));
  if (a.isCausal && call.ok()) {
    Tensor row = fn::iota(call.builder(), ElementType::I64, {products.dim(-2), 1}, 0);
    Tensor column = fn::iota(call.builder(), ElementType::I64, {1, products.dim(-1)}, 1);
    products = fn::where(fn::le(column, row), products, lowest);
  }
  return products;
}

Tensor attend(OpCall &call, Attention &a) {
  if (!call.ok())
    return a.query;
  for (const Tensor &x : {a.query, a.key, a.value})
    if (x.rank() < 2)
      return call.invalid("a tensor of rank " + std::to_string(x.rank()) + ", expected at least 2"), a.query;
  // The scale is an attribute; one that depends on a size goes into the queries.
  if (Dim width = a.query.dim(-1); !a.scale && !width.isConstant()) {
    Tensor root = fn::rsqrt(fn::cast(call.builder().fromDim(width), ElementType::F32));
    a.query = fn::cast(fn::mul(widened(a.query), fn::cast(root, wideTypeOf(a.query.type()))), a.query.type());
    a.scale = 1.0;
  }
  double scale = scaleOf(call, a);
  if (a.sharesKeys && a.query.rank() >= 3 && a.key.rank() == a.query.rank() && a.key.dim(-3) != a.query.dim(-3)) {
    Dim heads = a.query.dim(-3), shared = a.key.dim(-3);
    if (!heads.isConstant() || !shared.isConstant() || shared.constant() < 1 || heads.constant() % shared.constant() != 0)
      return call.invalid(heads.str() + " query heads for " + shared.str() + " key heads, expected a multiple"), a.query;
    Dim share = floorDiv(heads, shared);
    if (!a.isCausal && hasOneRow(a.mask) && a.value.dim(-3) == shared && call.ok()) {
      // Heads that share keys become more rows of one head, so that keys are not copied.
      Dims own = a.query.dims(), folded = own, result = own;
      size_t axis = own.size() - 3;
      folded[axis] = shared;
      folded[axis + 1] = share * own[axis + 1];
      result.back() = a.value.dim(-1);
      Attention one{fn::reshape(a.query, folded), a.key, a.value, a.mask};
      alignBatch(call, one);
      return call.ok() ? fn::reshape(fn::attention(one.query, one.key, one.value, fittingMask(call, one), scale), result) : a.query;
    }
    a.key = repeatHeads(a.key, share);
    a.value = repeatHeads(a.value, floorDiv(heads, a.value.dim(-3)));
  }
  alignBatch(call, a);
  a.mask = fittingMask(call, a);
  return call.ok() ? fn::attention(a.query, a.key, a.value, a.mask, scale, a.isCausal) : a.query;
}

namespace {

bool refusesDropout(OpCall &call, size_t index) {
  if (call.number(index) > 0)
    call.unsupported("dropout of attention weights draws random numbers; call model.eval(), and pass dropout_p=0 when not training");
  return !call.ok();
}

/// Arguments 0..2 and a mask.
Attention attentionOf(OpCall &call, std::optional<size_t> mask) {
  Attention a{contractionOperand(call, 0), contractionOperand(call, 1), contractionOperand(call, 2), {}};
  if (mask)
    a.mask = call.tensor(*mask);
  return a;
}

std::optional<double> scaleArgument(OpCall &call, size_t index) {
  return call.isNone(index) ? std::nullopt : std::optional<double>(call.number(index));
}

/// (query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa)
Value scaledDotProduct(OpCall &call) {
  Attention a = attentionOf(call, 3);
  a.isCausal = call.flag(5);
  a.scale = scaleArgument(call, 6);
  a.sharesKeys = call.flag(7);
  if (refusesDropout(call, 4))
    return Value::poison();
  return call.result(attend(call, a));
}

/// The output and the logarithm of the softmax's sum, which is dropped again where nothing reads it.
Value withLogSum(OpCall &call, Attention a, size_t results) {
  Tensor output = attend(call, a);
  Tensor sums = call.ok() ? fn::reduce(scores(call, a), fn::Reduction::LogSumExp, {-1}, false) : output;
  if (!call.ok())
    return Value::poison();
  Values values(results);
  values[0] = call.result(output);
  values[1] = call.result(sums);
  return Value::tuple(std::move(values));
}

/// (query, key, value, dropout_p, is_causal, *, attn_mask, scale)
Value flashOnCpu(OpCall &call) {
  Attention a = attentionOf(call, 5);
  a.isCausal = call.flag(4);
  a.scale = scaleArgument(call, 6);
  return refusesDropout(call, 3) ? Value::poison() : withLogSum(call, a, 2);
}
/// (query, key, value, dropout_p, is_causal, return_debug_mask, *, scale)
Value flash(OpCall &call) {
  Attention a = attentionOf(call, {});
  a.isCausal = call.flag(4);
  a.scale = scaleArgument(call, 6);
  return refusesDropout(call, 3) ? Value::poison() : withLogSum(call, a, 9);
}
/// (query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, *, scale)
Value efficient(OpCall &call) {
  Attention a = attentionOf(call, 3);
  a.isCausal = call.flag(6);
  a.scale = scaleArgument(call, 7);
  return refusesDropout(call, 5) ? Value::poison() : withLogSum(call, a, 4);
}
/// The same with return_debug_mask before the scale, and nine results.
Value cudnn(OpCall &call) {
  Attention a = attentionOf(call, 3);
  a.isCausal = call.flag(6);
  a.scale = scaleArgument(call, 8);
  return refusesDropout(call, 5) ? Value::poison() : withLogSum(call, a, 9);
}

/// The output and the weights.
Value withWeights(OpCall &call, Attention a) {
  Tensor output = attend(call, a);
  if (!call.ok())
    return Value::poison();
  Tensor weights = fn::cast(fn::softmax(scores(call, a), -1), output.type());
  return Value::tuple({call.result(output), call.result(weights)});
}
/// (query, key, value, attn_mask, dropout_p, is_causal, dropout_mask, *, scale, enable_gqa)
Value mathematical(OpCall &call) {
  Attention a = attentionOf(call, 3);
  a.isCausal = call.flag(5);
  a.scale = scaleArgument(call, 7);
  a.sharesKeys = call.flag(8);
  return refusesDropout(call, 4) ? Value::poison() : withWeights(call, a);
}
/// The form of torch 1.13: (query, key, value, attn_mask, dropout_p, need_attn_weights, is_causal)
Value scaledDotProductOld(OpCall &call) {
  Attention a = attentionOf(call, 3);
  a.isCausal = call.flag(6);
  return refusesDropout(call, 4) ? Value::poison() : withWeights(call, a);
}

} // namespace

#define QKV "Tensor query, Tensor key, Tensor value, "

std::span<const OpEntry> attentionOps() {
  static constexpr OpEntry entries[] = {
      {"scaled_dot_product_attention(" QKV "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
       "bool enable_gqa=False) -> Tensor",
       scaledDotProduct},
      {"_scaled_dot_product_attention(" QKV "Tensor? attn_mask=None, float dropout_p=0.0, bool need_attn_weights=False, "
       "bool is_causal=False) -> (Tensor, Tensor)",
       scaledDotProductOld},
      {"_scaled_dot_product_attention_math(" QKV "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, "
       "Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
       mathematical},
      {"_scaled_dot_product_flash_attention_for_cpu(" QKV "float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, "
       "float? scale=None) -> (Tensor output, Tensor logsumexp)",
       flashOnCpu},
      {"_scaled_dot_product_flash_attention(" QKV "float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, "
       "float? scale=None) -> (Tensor output, Tensor logsumexp)",
       flash},
      {"_scaled_dot_product_efficient_attention(" QKV "Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, "
       "bool is_causal=False, *, float? scale=None) -> (Tensor output, Tensor log_sumexp)",
       efficient},
      {"_scaled_dot_product_cudnn_attention(" QKV "Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, "
       "bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp)",
       cudnn},
  };
  return entries;
}

} // namespace stator::torch
