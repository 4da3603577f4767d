// The fused layers of nn.MultiheadAttention and nn.TransformerEncoderLayer, which traces made without gradients hold. The weights of
// queries, keys and values are stacked in one.
#include "compiler/Import/Torch/Aten/Attention.h"

#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch {

using trace::BuilderImpl;
using trace::Dim;
using trace::Dims;
using trace::Tensor;
using trace::Tensors;

namespace {

struct MultiHead {
  Tensor query, key, value;
  Tensor inWeight, inBias, outWeight, outBias;
  int64_t width, heads;
  Tensor mask; // not zero: masked out
  std::optional<int64_t> maskType;
  bool needsWeights = false, averagesWeights = true;
};

Tensor splitHeads(const Tensor &x, int64_t heads, const Dim &width) {
  Dims d = x.dims();
  return fn::transpose(fn::reshape(x, Dims{d[0], d[1], heads, floorDiv(width, heads)}), {0, 2, 1, 3});
}

/// The three projections [batch, length, width] of the inputs, which are one tensor or up to three.
Tensors projections(const MultiHead &m) {
  if (BuilderImpl::same(m.query, m.key) && BuilderImpl::same(m.key, m.value))
    return fn::splitEven(fn::linear(m.query, m.inWeight, m.inBias), 3, -1);
  Tensors weights = fn::splitEven(m.inWeight, 3, 0), biases = fn::splitEven(m.inBias, 3, 0);
  return {fn::linear(m.query, weights[0], biases[0]), fn::linear(m.key, weights[1], biases[1]), fn::linear(m.value, weights[2], biases[2])};
}

/// Masks of layers say what is hidden: type 0 by position [L, S], 1 by key [batch, S], 2 or none for all scores.
Tensor shownBy(OpCall &call, const MultiHead &m) {
  if (!m.mask)
    return {};
  Tensor shown = fn::logicalNot(fn::cast(m.mask, ElementType::I1));
  Dims d = shown.dims();
  if (m.maskType == 1 && d.size() == 2)
    return fn::reshape(shown, Dims{d[0], 1, 1, d[1]});
  if (d.size() == 2)
    return fn::reshape(shown, Dims{1, 1, d[0], d[1]});
  if (d.size() != 4)
    call.unsupported("a mask of rank " + std::to_string(d.size()) + ", expected 2 or 4");
  return shown;
}

/// The output [batch, length, width], and the weights where they are needed.
std::pair<Tensor, Tensor> multiHead(OpCall &call, const MultiHead &m) {
  if (!call.ok())
    return {};
  if (m.query.rank() != 3 || m.heads < 1 || m.width % m.heads != 0) {
    call.invalid("a query of rank " + std::to_string(m.query.rank()) + " and width " + std::to_string(m.width) + " with " +
                 std::to_string(m.heads) + " heads");
    return {};
  }
  call.builder().constrainEqual(m.inWeight.dim(0), Dim(3 * m.width), "the stacked weights of attention");
  Tensors parts = projections(m);
  if (!call.ok())
    return {};
  Attention a{splitHeads(parts[0], m.heads, m.width), splitHeads(parts[1], m.heads, m.width), splitHeads(parts[2], m.heads, m.width),
              shownBy(call, m)};
  Dims d = m.query.dims();
  Tensor weights, output;
  if (m.needsWeights && call.ok()) {
    a.mask = fittingMask(call, a);
    weights = call.ok() ? fn::cast(fn::softmax(scores(call, a), -1), a.query.type()) : Tensor();
    output = fn::matmul(weights, a.value);
    if (m.averagesWeights)
      weights = fn::reduce(weights, fn::Reduction::Mean, {1}, false);
  } else {
    output = attend(call, a);
  }
  if (!call.ok())
    return {};
  Tensor joined = fn::reshape(fn::transpose(output, {0, 2, 1, 3}), Dims{d[0], d[1], Dim(m.width)});
  return {fn::linear(joined, m.outWeight, m.outBias), weights};
}

std::optional<int64_t> maskTypeOf(OpCall &call, size_t index) {
  return call.isNone(index) ? std::nullopt : std::optional<int64_t>(call.integer(index));
}

/// (query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, need_weights, average_attn_weights,
/// mask_type)
Value nativeMultiHead(OpCall &call) {
  MultiHead m{call.tensor(0),  call.tensor(1),  call.tensor(2), call.tensor(5),       call.tensor(6), call.tensor(7), call.tensor(8),
              call.integer(3), call.integer(4), call.tensor(9), maskTypeOf(call, 12), call.flag(10),  call.flag(11)};
  auto [output, weights] = multiHead(call, m);
  if (!call.ok())
    return Value::poison();
  return Value::tuple({call.result(output), weights ? call.result(weights) : Value::none()});
}

/// (src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1,
/// norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type)
Value encoderLayer(OpCall &call) {
  Tensor x = call.tensor(0), isFilled = call.context().nestedMask(call.ref(0));
  bool usesGelu = call.flag(7), normFirst = call.flag(8);
  double epsilon = call.number(9);
  auto norm = [&](const Tensor &y, size_t weight) { return fn::layerNorm(y, call.tensor(weight), call.tensor(weight + 1), -1, epsilon); };
  Tensor input = normFirst ? norm(x, 10) : x;
  MultiHead m{input,          input,           input,           call.tensor(3),  call.tensor(4),      call.tensor(5),
              call.tensor(6), call.integer(1), call.integer(2), call.tensor(18), maskTypeOf(call, 19)};
  if (isFilled && m.mask)
    return call.unsupported("a mask beside a nested tensor");
  if (isFilled) {
    m.mask = fn::logicalNot(isFilled);
    m.maskType = 1;
  }
  Tensor attended = multiHead(call, m).first;
  if (!call.ok())
    return Value::poison();
  x = fn::add(x, attended);
  if (!normFirst)
    x = norm(x, 10);
  Tensor hidden = fn::linear(normFirst ? norm(x, 12) : x, call.tensor(14), call.tensor(15));
  hidden = usesGelu ? fn::gelu(hidden) : fn::relu(hidden);
  x = fn::add(x, fn::linear(hidden, call.tensor(16), call.tensor(17)));
  Value result = call.result(normFirst ? x : norm(x, 12));
  if (isFilled && result.isTensor())
    call.context().markNested(result.asTensor(), isFilled);
  return result;
}

/// (qkv, qkv_bias, num_heads): queries scaled, keys and values, each [batch, heads, length, width].
Value transformBias(OpCall &call) {
  Tensor qkv = fn::add(call.tensor(0), call.tensor(1));
  int64_t heads = call.integer(2);
  if (!call.ok() || heads < 1 || qkv.rank() != 3)
    return call.invalid("expected a tensor of rank 3 and at least one head");
  Tensors parts = fn::splitEven(qkv, 3, -1);
  for (Tensor &part : parts)
    part = call.ok() ? splitHeads(part, heads, part.dim(-1)) : part;
  if (!call.ok())
    return Value::poison();
  Attention a{parts[0], parts[1], parts[2], {}};
  return Value::tuple({call.result(times(parts[0], scaleOf(call, a))), call.result(parts[1]), call.result(parts[2])});
}

// Nested tensors, with which nn.TransformerEncoder leaves out padding: the padded tensor goes on, and what is padding is remembered.

Value nestedFromMask(OpCall &call) {
  Tensor x = call.tensor(0), mask = call.tensor(1);
  if (!call.ok())
    return Value::poison();
  if (mask.rank() != 2 || x.rank() < 2)
    return call.invalid("a mask of rank " + std::to_string(mask.rank()) + ", expected 2");
  Value result = call.result(x);
  call.context().markNested(result.asTensor(), fn::cast(mask, ElementType::I1));
  return result;
}

Value isLeftAligned(OpCall &call) {
  call.context().warn("padding masks are taken to have all padding at the end");
  return Value::boolean(true);
}

Value padded(OpCall &call) {
  TensorRef self = call.ref(0);
  Tensor x = call.tensor(0), isFilled = call.context().nestedMask(self);
  double padding = call.number(1);
  if (!call.ok())
    return Value::poison();
  if (!isFilled)
    return call.unsupported("nested tensors are supported only where nn.TransformerEncoder makes them of a padding mask");
  // PyTorch cuts off what is padding in all sequences; the length must be known here, so it stays.
  call.context().warn("sequences that come out of a nested tensor have the length that they had before, even if all end earlier");
  Dims aligned = isFilled.dims();
  aligned.resize(static_cast<size_t>(x.rank()), Dim(1));
  return call.result(fn::where(fn::reshape(isFilled, aligned), x, fn::scalarLike(x, padding)));
}

} // namespace

#define FUSED_IN "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "

std::span<const OpEntry> fusedAttentionOps() {
  static constexpr OpEntry entries[] = {
      {"_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, " FUSED_IN
       "Tensor? mask=None, bool need_weights=True, "
       "bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
       nativeMultiHead},
      {"_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, " FUSED_IN "bool use_gelu, bool norm_first, float eps, "
       "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, "
       "Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
       encoderLayer},
      {"_transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, Tensor)", transformBias},
      {"_nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True) -> Tensor", nestedFromMask},
      {"_nested_tensor_from_mask_left_aligned(Tensor t, Tensor mask) -> bool", isLeftAligned},
      {"to_padded_tensor(Tensor self, float padding, int[]? output_size=None) -> Tensor", padded},
  };
  return entries;
}

} // namespace stator::torch
