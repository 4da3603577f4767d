//===- Attention.h - what the attention ops of all domains have in common --===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_ATTENTION_H
#define STATOR_COMPILER_IMPORT_ONNX_ATTENTION_H

#include "stator/Trace.h"

namespace stator::onnx {

/// One attention layer over heads. query [B, H, L, E], key [B, G, S, E], value [B, G, S, V], where G divides H: each key head serves
/// H / G neighbouring query heads.
struct AttentionLayer {
  trace::Tensor query, key, value;
  /// Added to the scores, or i1 for what may be attended to; broadcasts to [B, H, L, S], its last axis may end early (the rest may not be
  /// attended to).
  trace::Tensor mask;
  /// i1, a second mask; absent: everything.
  trace::Tensor allowed;
  /// Query i sees keys 0 .. i + offset.
  bool isCausal = false;
  trace::Dim offset = 0;
  std::optional<double> scale;
  /// Scores become softcap * tanh(scores / softcap); 0: they stay.
  double softcap = 0;
  std::optional<ElementType> softmaxType;

  /// Which of the scores are wanted as a result of their own.
  enum class Scores { None, Products, Capped, Masked, Probabilities } wanted = Scores::None;
};

struct AttentionResult {
  trace::Tensor output; // [B, H, L, V]
  trace::Tensor scores; // [B, H, L, S], if wanted
};

AttentionResult attend(trace::Builder &builder, AttentionLayer layer);

/// [B, T, heads * width] as [B, heads, T, width], and back.
trace::Tensor splitHeads(const trace::Tensor &x, int64_t heads);
trace::Tensor joinHeads(const trace::Tensor &x);

/// i1 [B, 1, 1, length]: the positions below each of `lengths`.
trace::Tensor positionsBelow(const trace::Tensor &lengths, const trace::Dim &length);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_ATTENTION_H
