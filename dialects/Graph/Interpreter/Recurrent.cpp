// Recurrent layers, step by step and element by element. A cell function computes one step of one sequence; the walk over directions,
// sequences and steps is common.
#include "dialects/Graph/Interpreter/Unpack.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

namespace {

/// The operands that all layers have, as doubles, with the sizes read off them.
struct Layer {
  int64_t steps, batch, inputs, hidden, directions, gates;
  std::vector<double> input, w, r, bias, initial;
  std::vector<int64_t> lengths;
  RecurrentDirection direction;

  /// Row `gate, h` of x W^T, of h R^T, and of the two halves of the bias.
  double fromInput(int64_t d, int64_t row, const double *x) const { return dot(&w[(d * gates * hidden + row) * inputs], x, inputs); }
  double fromState(int64_t d, int64_t row, const double *h) const { return dot(&r[(d * gates * hidden + row) * hidden], h, hidden); }
  double inputBias(int64_t d, int64_t row) const { return bias.empty() ? 0 : bias[d * 2 * gates * hidden + row]; }
  double stateBias(int64_t d, int64_t row) const { return bias.empty() ? 0 : bias[(d * 2 + 1) * gates * hidden + row]; }
  /// All of it: the argument of a gate's activation.
  double gate(int64_t d, int64_t number, int64_t j, const double *x, const double *h) const {
    int64_t row = number * hidden + j;
    return fromInput(d, row, x) + fromState(d, row, h) + inputBias(d, row) + stateBias(d, row);
  }

private:
  static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += a[i] * b[i];
    return sum;
  }
};

} // namespace

template <typename OpTy>
static Layer readLayer(OpTy op, OpCall &call, int64_t gates) {
  Layer layer;
  const TensorValue &input = call.in(0), &y = call.out(0);
  layer.steps = input.shape[0];
  layer.batch = input.shape[1];
  layer.inputs = input.shape[2];
  layer.hidden = y.shape[3];
  layer.directions = y.shape[1];
  layer.gates = gates;
  layer.direction = op.getDirection();
  layer.input = input.reals();
  layer.w = op.getWeightsPacked() ? unpackRecurrent(call.in(1), layer.hidden).reals() : call.in(1).reals();
  layer.r = op.getWeightsPacked() ? unpackRecurrent(call.in(2), layer.hidden).reals() : call.in(2).reals();
  if (const TensorValue *bias = call.find(op.getBias()))
    layer.bias = bias->reals();
  if (const TensorValue *initial = call.find(op.getInitialH()))
    layer.initial = initial->reals();
  layer.lengths.assign(layer.batch, layer.steps);
  if (const TensorValue *lengths = call.find(op.getSequenceLengths()))
    for (int64_t b = 0; b < layer.batch; ++b)
      layer.lengths[b] = std::clamp<int64_t>(lengths->integer(b), 0, layer.steps);
  return layer;
}

/// Runs `cell(d, b, x, h)`, which updates h, over all steps; stores y and the final h.
template <typename Cell>
static LogicalResult walk(const Layer &layer, OpCall &call, Cell cell) {
  int64_t hidden = layer.hidden;
  if (failed(call.spend({layer.steps, layer.batch, layer.directions, layer.gates * hidden, layer.inputs + hidden})))
    return failure();
  for (int64_t d = 0; d < layer.directions; ++d)
    for (int64_t b = 0; b < layer.batch; ++b) {
      std::vector<double> h(hidden);
      for (int64_t j = 0; j < hidden && !layer.initial.empty(); ++j)
        h[j] = layer.initial[(d * layer.batch + b) * hidden + j];
      bool backward = layer.direction == RecurrentDirection::Reverse || d == 1;
      for (int64_t i = 0; i < layer.lengths[b]; ++i) {
        int64_t step = backward ? layer.lengths[b] - 1 - i : i;
        cell(d, b, layer.input.data() + (step * layer.batch + b) * layer.inputs, h);
        for (int64_t j = 0; j < hidden; ++j)
          call.out(0).setReal(((step * layer.directions + d) * layer.batch + b) * hidden + j, h[j]);
      }
      for (int64_t j = 0; j < hidden; ++j)
        call.out(1).setReal((d * layer.batch + b) * hidden + j, h[j]);
    }
  return success();
}

static LogicalResult lstm(LstmOp op, OpCall &call) {
  Layer layer = readLayer(op, call, 4);
  int64_t hidden = layer.hidden;
  std::vector<double> c(layer.directions * layer.batch * hidden), peephole(layer.directions * 3 * hidden);
  if (const TensorValue *initial = call.find(op.getInitialC()))
    c = initial->reals();
  if (const TensorValue *weights = call.find(op.getPeephole()))
    peephole = weights->reals();
  auto cell = [&](int64_t d, int64_t b, const double *x, std::vector<double> &h) {
    // Gates in the order i, o, f, c; peephole weights i, o, f.
    std::vector<double> before = h;
    const double *p = peephole.data() + d * 3 * hidden;
    for (int64_t j = 0; j < hidden; ++j) {
      double &state = c[(d * layer.batch + b) * hidden + j];
      double i = sigmoid(layer.gate(d, 0, j, x, before.data()) + p[j] * state);
      double f = sigmoid(layer.gate(d, 2, j, x, before.data()) + p[2 * hidden + j] * state);
      double g = std::tanh(layer.gate(d, 3, j, x, before.data()));
      state = f * state + i * g;
      double o = sigmoid(layer.gate(d, 1, j, x, before.data()) + p[hidden + j] * state);
      h[j] = o * std::tanh(state);
    }
  };
  if (failed(walk(layer, call, cell)))
    return failure();
  call.out(2).setReals(c);
  return success();
}

static LogicalResult gru(GruOp op, OpCall &call) {
  Layer layer = readLayer(op, call, 3);
  int64_t hidden = layer.hidden;
  auto cell = [&](int64_t d, int64_t, const double *x, std::vector<double> &h) {
    // Gates in the order z, r, h.
    std::vector<double> before = h, reset(hidden), gated(hidden);
    for (int64_t j = 0; j < hidden; ++j) {
      reset[j] = sigmoid(layer.gate(d, 1, j, x, before.data()));
      gated[j] = reset[j] * before[j];
    }
    for (int64_t j = 0; j < hidden; ++j) {
      int64_t row = 2 * hidden + j;
      double z = sigmoid(layer.gate(d, 0, j, x, before.data()));
      double fromState = op.getLinearBeforeReset() ? reset[j] * (layer.fromState(d, row, before.data()) + layer.stateBias(d, row))
                                                   : layer.fromState(d, row, gated.data()) + layer.stateBias(d, row);
      double n = std::tanh(layer.fromInput(d, row, x) + layer.inputBias(d, row) + fromState);
      h[j] = (1 - z) * n + z * before[j];
    }
  };
  return walk(layer, call, cell);
}

static LogicalResult rnn(RnnOp op, OpCall &call) {
  Layer layer = readLayer(op, call, 1);
  auto cell = [&](int64_t d, int64_t, const double *x, std::vector<double> &h) {
    std::vector<double> before = h;
    for (int64_t j = 0; j < layer.hidden; ++j) {
      double value = layer.gate(d, 0, j, x, before.data());
      if (op.getActivation() == RnnActivation::Tanh)
        h[j] = std::tanh(value);
      else
        h[j] = value > 0 || std::isnan(value) ? value : 0;
    }
  };
  return walk(layer, call, cell);
}

ArrayRef<InterpreterEntry> recurrentInterpreters() {
  static const InterpreterEntry entries[] = {entry<LstmOp, lstm>(), entry<GruOp, gru>(), entry<RnnOp, rnn>()};
  return entries;
}

} // namespace stator::graph
