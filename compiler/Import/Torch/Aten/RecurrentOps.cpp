// LSTM, GRU and plain recurrent layers and cells. The graph's layers are ONNX's: gates in another order, directions stacked in the weights,
// time before batch. Layers stay in that layout from one to the next; only the ends of the stack are transposed.
#include "compiler/Import/Torch/Aten/Compute.h"

#include <algorithm>

namespace stator::torch {

using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

namespace {

enum class Cell { Lstm, Gru, Tanh, Relu };

/// PyTorch's gates in the order of ONNX: i f g o -> i o f g (ONNX calls g c), r z n -> z r n.
Ints gateOrder(Cell cell) {
  switch (cell) {
  case Cell::Lstm:
    return {0, 3, 1, 2};
  case Cell::Gru:
    return {1, 0, 2};
  default:
    return {0};
  }
}

/// Axis 0 holds the gates one after the other.
Tensor reordered(const Tensor &x, Cell cell) {
  Ints order = gateOrder(cell);
  if (order.size() == 1)
    return x;
  Tensors gates = fn::splitEven(x, static_cast<int64_t>(order.size()), 0), result;
  for (int64_t gate : order)
    result.push_back(gates[gate]);
  return fn::concat(result, 0);
}

/// Where the arguments of the `input` overloads stand; the states are a list for LSTM and one tensor for the others.
struct Layers {
  Tensor x, h, c;
  Tensors parameters;
  bool hasBiases, isBidirectional, isBatchFirst;
  bool isProjected = false; // LSTM with proj_size: one more weight behind the others
  int64_t count;
};

std::optional<Layers> layersOf(OpCall &call, Cell cell) {
  Layers layers;
  layers.x = call.tensor(0);
  if (cell == Cell::Lstm) {
    Tensors states = call.tensors(1);
    if (call.ok() && states.size() != 2)
      return call.invalid(std::to_string(states.size()) + " initial states, expected 2"), std::nullopt;
    if (call.ok()) {
      layers.h = states[0];
      layers.c = states[1];
    }
  } else {
    layers.h = call.tensor(1);
  }
  layers.parameters = call.tensors(2);
  layers.hasBiases = call.flag(3);
  layers.count = call.integer(4);
  double dropout = call.number(5);
  bool isTraining = call.flag(6);
  layers.isBidirectional = call.flag(7);
  layers.isBatchFirst = call.flag(8);
  if (!call.ok())
    return std::nullopt;
  if (dropout > 0 && isTraining && layers.count > 1)
    return call.unsupported("dropout between layers in training mode draws random numbers; call model.eval() before exporting"),
           std::nullopt;
  if (layers.x.rank() != 3 || layers.h.rank() != 3 || (layers.c && layers.c.rank() != 3))
    return call.invalid("the input and the initial states must have rank 3"), std::nullopt;
  size_t perLayer = layers.hasBiases ? 4 : 2, directions = layers.isBidirectional ? 2 : 1;
  size_t expected = static_cast<size_t>(std::max<int64_t>(layers.count, 0)) * directions * perLayer;
  size_t projected = expected / perLayer * (perLayer + 1);
  layers.isProjected = cell == Cell::Lstm && layers.parameters.size() == projected;
  if (layers.count < 1 || (layers.parameters.size() != expected && !layers.isProjected))
    return call.invalid(std::to_string(layers.parameters.size()) + " weights, expected " + std::to_string(expected)), std::nullopt;
  return layers;
}

/// Rows first .. first + count of the states.
Tensor statesOf(const Tensor &states, int64_t first, int64_t count) {
  return states ? fn::slice(states, Dims{first}, Dims{first + count}, {0}) : states;
}

/// The weights of one direction of a layer.
struct Weights {
  Tensor w, r, projection;
};

/// With a projection the state that gates see is h = P m, where m is an LSTM's usual state. So R P takes the place of R, and the initial
/// state, which no m need give, comes in beside the first input: [x, h at the start of each direction, else 0] with [W, R] as weights.
Tensor withoutProjection(OpCall &call, const Tensor &x, const Tensor &initialH, std::vector<Weights> &directions) {
  Tensors inputs{x};
  Dim steps = x.dim(0);
  for (size_t direction = 0; direction < directions.size() && call.ok(); ++direction) {
    Tensor h = fn::slice(initialH, Dims{direction}, Dims{direction + 1}, {0});
    Tensor place = fn::iota(call.builder(), ElementType::I64, {steps, 1, 1}, 0);
    Tensor first = call.builder().fromDim(direction == 0 ? Dim(0) : steps - Dim(1));
    inputs.push_back(fn::where(fn::eq(place, first), h, fn::scalarLike(h, 0)));
  }
  for (size_t direction = 0; direction < directions.size() && call.ok(); ++direction) {
    Weights &own = directions[direction];
    Tensors columns{own.w};
    for (size_t other = 0; other < directions.size(); ++other)
      columns.push_back(other == direction ? own.r : fn::full(call.builder(), own.r.type(), own.r.dims(), 0));
    own.w = fn::concat(columns, 1);
    own.r = fn::matmul(own.r, own.projection);
  }
  return call.ok() ? fn::concat(inputs, 2) : x;
}

/// Each direction's part of `x` [.., D, B, H], whose axis D is given, through its projection.
Tensor projectedStates(const Tensor &x, const std::vector<Weights> &directions, int64_t axis) {
  Tensors parts;
  for (size_t direction = 0; direction < directions.size(); ++direction)
    parts.push_back(fn::linear(fn::slice(x, Dims{direction}, Dims{direction + 1}, {axis}), directions[direction].projection, {}));
  return fn::concat(parts, axis);
}

Value runLayers(OpCall &call, Cell cell) {
  std::optional<Layers> layers = layersOf(call, cell);
  if (!layers)
    return Value::poison();
  int64_t directions = layers->isBidirectional ? 2 : 1, perLayer = (layers->hasBiases ? 4 : 2) + layers->isProjected;
  Tensor x = layers->isBatchFirst ? fn::transpose(layers->x, {1, 0, 2}) : layers->x;
  for (const Tensor *state : {&layers->h, &layers->c})
    if (*state)
      call.builder().constrainEqual(state->dim(0), Dim(layers->count * directions), "the initial states of a recurrent layer");
  int64_t gates = static_cast<int64_t>(gateOrder(cell).size());
  Tensors finalH, finalC;
  for (int64_t layer = 0; layer < layers->count && call.ok(); ++layer) {
    fn::RecurrentInputs inputs;
    std::vector<Weights> weights;
    Tensors w, r, biases;
    for (int64_t direction = 0; direction < directions && call.ok(); ++direction) {
      const Tensor *own = &layers->parameters[static_cast<size_t>((layer * directions + direction) * perLayer)];
      Tensor projection = layers->isProjected ? own[perLayer - 1] : Tensor();
      Dim width = projection ? projection.dim(-1) : own[1].dim(-1);
      for (int64_t i = 0; i < (layers->hasBiases ? 4 : 2); ++i)
        call.builder().constrainEqual(own[i].dim(0), Dim(gates) * width, "the rows of a recurrent layer's weights");
      call.builder().constrainEqual(layers->h.dim(2), own[1].dim(-1), "the width of an initial state");
      if (layers->c)
        call.builder().constrainEqual(layers->c.dim(2), width, "the width of an initial state");
      weights.push_back({reordered(own[0], cell), reordered(own[1], cell), projection});
      if (layers->hasBiases)
        biases.push_back(fn::concat({reordered(own[2], cell), reordered(own[3], cell)}, 0));
    }
    if (!call.ok())
      return Value::poison();
    inputs.initialH = statesOf(layers->h, layer * directions, directions);
    inputs.initialC = statesOf(layers->c, layer * directions, directions);
    inputs.x = x;
    if (layers->isProjected) {
      inputs.x = withoutProjection(call, x, inputs.initialH, weights);
      inputs.initialH = {};
    }
    for (const Weights &own : weights) {
      w.push_back(own.w);
      r.push_back(own.r);
    }
    inputs.w = fn::stack(w, 0);
    inputs.r = fn::stack(r, 0);
    if (layers->hasBiases)
      inputs.bias = fn::stack(biases, 0);
    fn::RecurrentOptions options;
    options.direction = layers->isBidirectional ? fn::Direction::Bidirectional : fn::Direction::Forward;
    options.linearBeforeReset = true;
    options.relu = cell == Cell::Relu;
    fn::RecurrentOutputs outputs = cell == Cell::Lstm  ? fn::lstm(inputs, options)
                                   : cell == Cell::Gru ? fn::gru(inputs, options)
                                                       : fn::rnn(inputs, options);
    if (!call.ok())
      return Value::poison();
    if (layers->isProjected) {
      outputs.y = projectedStates(outputs.y, weights, 1);
      outputs.h = projectedStates(outputs.h, weights, 0);
    }
    finalH.push_back(outputs.h);
    if (outputs.c)
      finalC.push_back(outputs.c);
    if (!call.ok())
      return Value::poison();
    // [T, D, B, H]: the directions' features become one axis.
    Dims d = outputs.y.dims();
    Tensor y = directions == 1 ? outputs.y : fn::transpose(outputs.y, {0, 2, 1, 3});
    x = fn::reshape(y, Dims{d[0], d[2], d[1] * d[3]});
  }
  if (layers->isBatchFirst && call.ok())
    x = fn::transpose(x, {1, 0, 2});
  if (!call.ok())
    return Value::poison();
  Values results{call.result(x), call.result(fn::concat(finalH, 0))};
  if (cell == Cell::Lstm)
    results.push_back(call.result(fn::concat(finalC, 0)));
  return Value::tuple(std::move(results));
}

template <Cell cell>
Value layers(OpCall &call) {
  return runLayers(call, cell);
}

Value packed(OpCall &call) {
  return call.unsupported("packed sequences are not supported; pass padded tensors to the layer, without pack_padded_sequence");
}

/// x @ w^T + b; b may be None.
Tensor projected(OpCall &call, size_t x, size_t w, size_t b) { return fn::linear(call.tensor(x), call.tensor(w), call.tensor(b)); }

Value lstmCell(OpCall &call) {
  Tensors states = call.tensors(1);
  if (call.ok() && states.size() != 2)
    return call.invalid(std::to_string(states.size()) + " initial states, expected 2");
  Tensor x = projected(call, 0, 2, 4);
  if (!call.ok())
    return Value::poison();
  Tensor gates = fn::add(x, fn::linear(states[0], call.tensor(3), call.tensor(5)));
  Tensors parts = call.ok() ? fn::splitEven(gates, 4, -1) : Tensors();
  if (!call.ok())
    return Value::poison();
  Tensor c = fn::add(fn::mul(fn::sigmoid(parts[1]), states[1]), fn::mul(fn::sigmoid(parts[0]), fn::tanh(parts[2])));
  Tensor h = fn::mul(fn::sigmoid(parts[3]), fn::tanh(c));
  return Value::tuple({call.result(h), call.result(c)});
}

Value gruCell(OpCall &call) {
  Tensor h = call.tensor(1), x = projected(call, 0, 2, 4), hidden = projected(call, 1, 3, 5);
  if (!call.ok())
    return Value::poison();
  Tensors own = fn::splitEven(x, 3, -1), other = fn::splitEven(hidden, 3, -1);
  if (!call.ok())
    return Value::poison();
  Tensor reset = fn::sigmoid(fn::add(own[0], other[0])), update = fn::sigmoid(fn::add(own[1], other[1]));
  Tensor candidate = fn::tanh(fn::add(own[2], fn::mul(reset, other[2])));
  return call.result(fn::add(candidate, fn::mul(update, fn::sub(h, candidate))));
}

template <bool isRelu>
Value rnnCell(OpCall &call) {
  Tensor sum = fn::add(projected(call, 0, 2, 4), projected(call, 1, 3, 5));
  return call.result(isRelu ? fn::relu(sum) : fn::tanh(sum));
}

} // namespace

#define LAYERS "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
#define CELL "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"

std::span<const OpEntry> recurrentOps() {
  static constexpr OpEntry entries[] = {
      {"lstm.input(Tensor input, Tensor[] hx, " LAYERS ", bool batch_first) -> (Tensor, Tensor, Tensor)", layers<Cell::Lstm>},
      {"gru.input(Tensor input, Tensor hx, " LAYERS ", bool batch_first) -> (Tensor, Tensor)", layers<Cell::Gru>},
      {"rnn_tanh.input(Tensor input, Tensor hx, " LAYERS ", bool batch_first) -> (Tensor, Tensor)", layers<Cell::Tanh>},
      {"rnn_relu.input(Tensor input, Tensor hx, " LAYERS ", bool batch_first) -> (Tensor, Tensor)", layers<Cell::Relu>},
      {"lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, " LAYERS ") -> (Tensor, Tensor, Tensor)", packed},
      {"gru.data(Tensor data, Tensor batch_sizes, Tensor hx, " LAYERS ") -> (Tensor, Tensor)", packed},
      {"rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, " LAYERS ") -> (Tensor, Tensor)", packed},
      {"rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, " LAYERS ") -> (Tensor, Tensor)", packed},
      {"_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)", packed},
      {"_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) -> (Tensor, "
       "Tensor)",
       packed},
      {"lstm_cell(Tensor input, Tensor[] hx, " CELL ") -> (Tensor, Tensor)", lstmCell},
      {"gru_cell(Tensor input, Tensor hx, " CELL ") -> Tensor", gruCell},
      {"rnn_tanh_cell(Tensor input, Tensor hx, " CELL ") -> Tensor", rnnCell<false>},
      {"rnn_relu_cell(Tensor input, Tensor hx, " CELL ") -> Tensor", rnnCell<true>},
  };
  return entries;
}

} // namespace stator::torch
