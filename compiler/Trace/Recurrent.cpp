// Recurrent layers: the dialect has ONNX's shapes, so what is left is the batch-first layout, types, and equal sizes.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace::fn {

namespace {

struct Layer {
  Tensor x, w, r, bias, lengths, h, c, peephole;
};

/// The operands in time-major layout and one element type; nothing after an error.
std::optional<Layer> prepare(const Call &call, const RecurrentInputs &inputs, const RecurrentOptions &options) {
  if (!call || !call.rank("the input", inputs.x, 3) || !call.rank("the weight", inputs.w, 3) ||
      !call.rank("the recurrent weight", inputs.r, 3))
    return std::nullopt;
  ElementType type = inputs.x.type();
  auto state = [&](const Tensor &tensor) {
    Tensor converted = tensor ? cast(tensor, type) : tensor;
    return converted && options.batchFirst ? transpose(converted, {1, 0, 2}) : converted;
  };
  Layer layer;
  layer.x = options.batchFirst ? transpose(inputs.x, {1, 0, 2}) : inputs.x;
  layer.w = cast(inputs.w, type);
  layer.r = cast(inputs.r, type);
  layer.bias = inputs.bias ? cast(inputs.bias, type) : Tensor();
  layer.peephole = inputs.peephole ? cast(inputs.peephole, type) : Tensor();
  for (const Tensor &tensor : {inputs.initialH, inputs.initialC})
    if (tensor && !call.rank("an initial state", tensor, 3))
      return std::nullopt;
  layer.h = state(inputs.initialH);
  layer.c = state(inputs.initialC);
  if (!call || !requireEqualSizes(*call, call.name(), layer.x, 2, layer.w, 2))
    return std::nullopt;
  for (Tensor *tensor : {&layer.h, &layer.c})
    if (*tensor && !requireEqualSizes(*call, call.name(), layer.x, 1, *tensor, 1))
      return std::nullopt;
  if (inputs.sequenceLengths) {
    layer.lengths = cast(inputs.sequenceLengths, inputs.sequenceLengths.type() == ElementType::I64 ? ElementType::I64 : ElementType::I32);
    if (!call.rank("the list of sequence lengths", layer.lengths, 1) ||
        !requireEqualSizes(*call, call.name(), layer.x, 1, layer.lengths, 0))
      return std::nullopt;
  }
  return call ? std::optional<Layer>(layer) : std::nullopt;
}

Attributes directionOf(BuilderImpl &b, Direction direction) {
  static_assert(static_cast<int>(Direction::Bidirectional) == static_cast<int>(graph::RecurrentDirection::Bidirectional));
  Attributes attributes(b);
  attributes.attr("direction", graph::RecurrentDirectionAttr::get(b.context(), static_cast<graph::RecurrentDirection>(direction)));
  return attributes;
}

RecurrentOutputs finish(llvm::ArrayRef<Tensor> results, const RecurrentOptions &options) {
  RecurrentOutputs outputs{results[0], results[1], results.size() > 2 ? results[2] : Tensor()};
  if (!options.batchFirst)
    return outputs;
  outputs.y = transpose(outputs.y, {2, 0, 1, 3});
  outputs.h = transpose(outputs.h, {1, 0, 2});
  if (outputs.c)
    outputs.c = transpose(outputs.c, {1, 0, 2});
  return outputs;
}

} // namespace

RecurrentOutputs lstm(const RecurrentInputs &inputs, const RecurrentOptions &options) {
  Call call("lstm", {inputs.x, inputs.w, inputs.r},
            {inputs.bias, inputs.sequenceLengths, inputs.initialH, inputs.initialC, inputs.peephole});
  std::optional<Layer> layer = prepare(call, inputs, options);
  if (!layer)
    return {call.failed(), call.failed(), call.failed()};
  return finish(emitAll(*call, "graph.lstm",
                        {layer->x, layer->w, layer->r, layer->bias, layer->h, layer->c, layer->peephole, layer->lengths},
                        directionOf(*call, options.direction), 3),
                options);
}

RecurrentOutputs gru(const RecurrentInputs &inputs, const RecurrentOptions &options) {
  Call call("gru", {inputs.x, inputs.w, inputs.r}, {inputs.bias, inputs.sequenceLengths, inputs.initialH});
  std::optional<Layer> layer = prepare(call, inputs, options);
  if (!layer)
    return {call.failed(), call.failed(), {}};
  return finish(emitAll(*call, "graph.gru", {layer->x, layer->w, layer->r, layer->bias, layer->h, layer->lengths},
                        directionOf(*call, options.direction).flag("linear_before_reset", options.linearBeforeReset), 2),
                options);
}

RecurrentOutputs rnn(const RecurrentInputs &inputs, const RecurrentOptions &options) {
  Call call("rnn", {inputs.x, inputs.w, inputs.r}, {inputs.bias, inputs.sequenceLengths, inputs.initialH});
  std::optional<Layer> layer = prepare(call, inputs, options);
  if (!layer)
    return {call.failed(), call.failed(), {}};
  auto activation = options.relu ? graph::RnnActivation::Relu : graph::RnnActivation::Tanh;
  return finish(
      emitAll(*call, "graph.rnn", {layer->x, layer->w, layer->r, layer->bias, layer->h, layer->lengths},
              directionOf(*call, options.direction).attr("activation", graph::RnnActivationAttr::get(call->context(), activation)), 2),
      options);
}

} // namespace stator::trace::fn
