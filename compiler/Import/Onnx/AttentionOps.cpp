//===- AttentionOps.cpp - ONNX attention, rotary embedding, key cache ------===//

#include "compiler/Import/Onnx/Attention.h"
#include "compiler/Import/Onnx/OpContext.h"

namespace stator::onnx {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using Value = trace::Tensor;

namespace {

/// What is added to the cache comes after what is there.
Value withPast(const Value &past, const Value &x) { return past ? fn::concat({past, x}, 2) : x; }

void attention(OpContext &op) {
  AttentionLayer layer;
  layer.query = op.input(0);
  layer.key = op.input(1);
  layer.value = op.input(2);
  if (!op.builder().ok())
    return;
  bool isFlat = layer.query.rank() == 3;
  if (isFlat) {
    int64_t heads = op.integer("q_num_heads", 0), keyHeads = op.integer("kv_num_heads", 0);
    layer.query = splitHeads(layer.query, heads);
    layer.key = splitHeads(layer.key, keyHeads);
    layer.value = splitHeads(layer.value, keyHeads);
  }
  layer.mask = op.optional(3);
  Value pastKey = op.optional(4), pastValue = op.optional(5);
  if (!op.builder().ok())
    return;
  if (pastKey && pastKey.rank() == 4)
    layer.offset = pastKey.dim(2);
  layer.key = withPast(pastKey, layer.key);
  layer.value = withPast(pastValue, layer.value);
  if (!op.builder().ok())
    return;
  if (Value lengths = op.optional(6))
    layer.allowed = positionsBelow(lengths, layer.key.dim(2));
  layer.isCausal = op.flag("is_causal");
  if (op.has("scale"))
    layer.scale = op.number("scale", 1);
  layer.softcap = op.number("softcap", 0);
  layer.softmaxType = elementTypeAttribute(op, "softmax_precision");
  if (layer.softmaxType == layer.query.type())
    layer.softmaxType = std::nullopt;
  if (op.wantsOutput(3)) {
    using Scores = AttentionLayer::Scores;
    constexpr Scores modes[] = {Scores::Products, Scores::Capped, Scores::Masked, Scores::Probabilities};
    int64_t mode = op.integer("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3)
      return op.fail("attribute `qk_matmul_output_mode` is " + std::to_string(mode) + ", expected 0 to 3");
    layer.wanted = modes[mode];
  }
  AttentionResult result = attend(op.builder(), layer);
  op.output(isFlat ? joinHeads(result.output) : result.output, 0);
  op.output(layer.key, 1);
  op.output(layer.value, 2);
  op.output(result.scores, 3);
}

void rotaryEmbedding(OpContext &op) {
  Value x = op.input(0), cosine = op.input(1), sine = op.input(2), positions = op.optional(3);
  if (!op.builder().ok())
    return;
  bool isFlat = x.rank() == 3;
  Value heads = isFlat ? splitHeads(x, op.integer("num_heads", 0)) : x;
  if (positions) {
    cosine = fn::gather(cosine, positions, 0);
    sine = fn::gather(sine, positions, 0);
  }
  Value rotated = fn::rotaryEmbedding(heads, cosine, sine, op.integer("rotary_embedding_dim", 0), op.flag("interleaved"));
  op.output(isFlat ? joinHeads(rotated) : rotated);
}

/// Writes `update` into a cache at a position of its own for each sample.
void tensorScatter(OpContext &op) {
  Value cache = op.input(0), update = op.input(1), starts = op.optional(2);
  if (!op.builder().ok())
    return;
  std::string_view mode = op.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return op.fail("attribute `mode` is `" + std::string(mode) + "`, expected linear or circular");
  int64_t axis = op.integer("axis", -2), rank = cache.rank();
  axis += axis < 0 ? rank : 0;
  if (axis < 1 || axis >= rank || update.rank() != rank)
    return op.fail("axis " + std::to_string(axis) + " of tensors of rank " + std::to_string(rank) + " and " + std::to_string(update.rank()));
  Value index = fn::iota(op.builder(), ElementType::I64, update.dims(), axis);
  if (starts) {
    Dims perSample(rank, Dim(1));
    perSample[0] = starts.elements();
    index = fn::add(index, fn::reshape(fn::cast(starts, ElementType::I64), perSample));
  }
  if (mode == "circular")
    index = fn::modulo(index, op.builder().fromDim(cache.dim(axis)));
  op.output(fn::scatterElements(cache, index, update, axis));
}

} // namespace

std::span<const OpEntry> attentionOps() {
  static constexpr OpEntry entries[] = {{"Attention", attention}, {"RotaryEmbedding", rotaryEmbedding}, {"TensorScatter", tensorScatter}};
  return entries;
}

} // namespace stator::onnx
