// DEPS: stator::tools::bench::harness
// Recurrent layers against the formulas in double: all cells, directions, optional operands, lengths, packed and plain weights, both
// ways of sharing the work.
#include "test/unit/passes/Kernel/ContractionTesting.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

struct LayerCase {
  std::string op; // lstm, gru, rnn
  int64_t T, B, I, H;
  std::string direction = "forward";
  bool hasBias = true, hasState = false, hasPeephole = false, hasLengths = false, isPacked = false, isLinear = false, isSymbolic = false;
  bool wantsY = true;

  int64_t D() const { return direction == "bidirectional" ? 2 : 1; }
  int64_t G() const { return op == "lstm" ? 4 : op == "gru" ? 3 : 1; }
};

struct Layer {
  std::vector<float> x, w, r, bias, h0, c0, peephole;
  std::vector<int32_t> lengths;
  std::vector<double> y, h, c;
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

Layer makeLayer(const LayerCase &k, unsigned seed) {
  Layer l;
  const int64_t D = k.D(), G = k.G(), H = k.H, I = k.I, B = k.B, T = k.T;
  l.x = randomValues(T * B * I, seed);
  l.w = randomValues(D * G * H * I, seed + 1);
  l.r = randomValues(D * G * H * H, seed + 2);
  for (float &value : l.r) // Small enough that rounding does not grow from step to step.
    value /= 4;
  l.bias.assign(D * 2 * G * H, 0);
  if (k.hasBias)
    l.bias = randomValues(D * 2 * G * H, seed + 3);
  l.h0.assign(D * B * H, 0);
  l.c0.assign(D * B * H, 0);
  if (k.hasState) {
    l.h0 = randomValues(D * B * H, seed + 4);
    l.c0 = randomValues(D * B * H, seed + 5);
  }
  l.peephole.assign(D * 3 * H, 0);
  if (k.hasPeephole)
    l.peephole = randomValues(D * 3 * H, seed + 6);
  for (int64_t b = 0; b < B; ++b)
    l.lengths.push_back(k.hasLengths ? int32_t((b * 3 + T - 1) % (T + 1)) : int32_t(T));

  l.y.assign(T * D * B * H, 0);
  l.h.assign(l.h0.begin(), l.h0.end());
  l.c.assign(l.c0.begin(), l.c0.end());
  for (int64_t d = 0; d < D; ++d)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t s = 0; s < l.lengths[b]; ++s) {
        const int64_t t = d == 1 || k.direction == "reverse" ? l.lengths[b] - 1 - s : s;
        double *h = &l.h[(d * B + b) * H], *c = &l.c[(d * B + b) * H];
        std::vector<double> input(G * H), state(G * H), reset(H), next(H);
        for (int64_t g = 0; g < G * H; ++g) {
          input[g] = l.bias[d * 2 * G * H + g];
          state[g] = l.bias[(d * 2 + 1) * G * H + g];
          for (int64_t i = 0; i < I; ++i)
            input[g] += double(l.w[(d * G * H + g) * I + i]) * l.x[(t * B + b) * I + i];
          for (int64_t i = 0; i < H; ++i)
            state[g] += double(l.r[(d * G * H + g) * H + i]) * h[i];
        }
        for (int64_t u = 0; u < H; ++u) {
          if (k.op == "lstm") {
            const float *p = &l.peephole[d * 3 * H];
            double in = sigmoid(input[u] + state[u] + p[u] * c[u]);
            double forget = sigmoid(input[2 * H + u] + state[2 * H + u] + p[2 * H + u] * c[u]);
            c[u] = forget * c[u] + in * std::tanh(input[3 * H + u] + state[3 * H + u]);
            double out = sigmoid(input[H + u] + state[H + u] + p[H + u] * c[u]);
            next[u] = out * std::tanh(c[u]);
          } else if (k.op == "rnn") {
            next[u] = std::tanh(input[u] + state[u]);
          } else {
            reset[u] = sigmoid(input[H + u] + state[H + u]);
          }
        }
        if (k.op == "gru")
          for (int64_t u = 0; u < H; ++u) {
            double z = sigmoid(input[u] + state[u]), sum = reset[u] * state[2 * H + u];
            if (!k.isLinear) {
              sum = l.bias[(d * 2 + 1) * G * H + 2 * H + u];
              for (int64_t i = 0; i < H; ++i)
                sum += double(l.r[(d * G * H + 2 * H + u) * H + i]) * reset[i] * h[i];
            }
            next[u] = (1 - z) * std::tanh(input[2 * H + u] + sum) + z * h[u];
          }
        for (int64_t u = 0; u < H; ++u) {
          h[u] = next[u];
          l.y[((t * D + d) * B + b) * H + u] = next[u];
        }
      }
  return l;
}

/// [D, G * H, X] -> [D][ceil(H/16)][X][G][16].
std::vector<float> packGates(const std::vector<float> &source, int64_t D, int64_t G, int64_t H, int64_t X) {
  std::vector<float> packed(D * G * panelsOf(H) * X * 16);
  for (int64_t d = 0; d < D; ++d)
    for (int64_t g = 0; g < G; ++g)
      for (int64_t u = 0; u < H; ++u)
        for (int64_t i = 0; i < X; ++i)
          packed[(((d * panelsOf(H) + u / 16) * X + i) * G + g) * 16 + u % 16] = source[((d * G + g) * H + u) * X + i];
  return packed;
}

void checkLayers(const std::vector<LayerCase> &cases) {
  std::string text;
  std::vector<Call> calls;
  for (size_t n = 0; n < cases.size(); ++n) {
    const LayerCase &k = cases[n];
    Layer l = makeLayer(k, 20 * n);
    Call call;
    call.kernel = "k_" + std::to_string(n);
    std::string steps = std::to_string(k.T), batch = std::to_string(k.B);
    if (k.isSymbolic) {
      steps = "s0";
      batch = "s1";
      call.sizes = {k.T, k.B};
    }
    auto number = [](int64_t value) { return std::to_string(value); };
    std::string arguments, types, operands, segments;
    auto operand = [&](bool isPresent, const std::vector<std::string> &dims, const std::string &type, Buffer buffer) {
      segments += segments.empty() ? "" : ", ";
      segments += isPresent ? "1" : "0";
      if (!isPresent)
        return;
      std::string name = "%a" + number(call.operands.size()), tensor = tensorText(dims, type);
      arguments += (arguments.empty() ? "" : ", ") + name + ": " + tensor;
      operands += (operands.empty() ? "" : ", ") + name;
      types += (types.empty() ? "" : ", ") + tensor;
      call.operands.push_back(std::move(buffer));
    };
    std::string D = number(k.D()), H = number(k.H);
    operand(true, {steps, batch, number(k.I)}, "f32", Buffer::of(l.x));
    auto weights = [&](const std::vector<float> &values, int64_t columns) {
      if (k.isPacked)
        operand(true, {D, number(panelsOf(k.H)), number(columns), number(k.G()), "16"}, "f32",
                Buffer::of(packGates(values, k.D(), k.G(), k.H, columns)));
      else
        operand(true, {D, number(k.G() * k.H), number(columns)}, "f32", Buffer::of(values));
    };
    weights(l.w, k.I);
    weights(l.r, k.H);
    operand(k.hasBias, {D, number(2 * k.G() * k.H)}, "f32", Buffer::of(l.bias));
    operand(k.hasState, {D, batch, H}, "f32", Buffer::of(l.h0));
    if (k.op == "lstm") {
      operand(k.hasState, {D, batch, H}, "f32", Buffer::of(l.c0));
      operand(k.hasPeephole, {D, number(3 * k.H)}, "f32", Buffer::of(l.peephole));
    }
    operand(k.hasLengths, {batch}, "i32", Buffer::of(l.lengths));
    std::string y = tensorText({steps, D, batch, H}, "f32"), h = tensorText({D, batch, H}, "f32");
    bool isLstm = k.op == "lstm";
    std::string results = y + ", " + h + (isLstm ? ", " + h : "");
    std::string returned = (k.wantsY ? "%0#0, %0#1" : "%0#1") + std::string(isLstm ? ", %0#2" : "");
    std::string returnedTypes = k.wantsY ? results : results.substr(y.size() + 2);
    text += "func.func @" + call.kernel + "(" + arguments + ") -> (" + returnedTypes + ") {\n  %0:" + (isLstm ? "3" : "2") + " = graph." + k.op +
            " " + operands + " {operandSegmentSizes = array<i32: " + segments + ">, direction = #graph.recurrent_direction<" + k.direction +
            ">" + (k.isPacked ? ", weights_packed" : "") + (k.isLinear ? ", linear_before_reset = true" : "") + "} : (" + types + ") -> (" +
            results + ")\n  return " + returned + " : " + returnedTypes + "\n}\n";
    if (k.wantsY)
      call.expected.push_back(l.y);
    call.expected.push_back(l.h);
    if (isLstm)
      call.expected.push_back(l.c);
    calls.push_back(call);
  }
  checkKernels(text, calls, 1e-5);
}

} // namespace

TEST_CASE("recurrent: lstm") {
  checkLayers({
      {"lstm", 5, 2, 3, 4},
      {"lstm", 14, 1, 20, 16, "reverse", true, true, false, false, true},
      {"lstm", 7, 9, 5, 37, "bidirectional", true, true, true, true, true},
      {"lstm", 30, 3, 8, 32, "bidirectional", false, false, false, true},
      {"lstm", 6, 4, 9, 20, "reverse", true, true, false, true},
  });
}

TEST_CASE("recurrent: gru and rnn") {
  checkLayers({
      {"gru", 5, 2, 3, 4},
      {"gru", 13, 7, 6, 33, "bidirectional", true, true, false, true, true},
      {"gru", 13, 7, 6, 33, "bidirectional", true, true, false, true, true, true},
      {"gru", 25, 1, 12, 16, "reverse", false, false, false, false, false, true},
      {"rnn", 9, 3, 5, 21, "bidirectional", true, true, false, true},
      {"rnn", 26, 2, 16, 32, "reverse", false},
  });
}

TEST_CASE("recurrent: large layers share units between workers") {
  checkLayers({
      {"lstm", 15, 2, 10, 144, "bidirectional", true, true, false, true, true},
      {"gru", 15, 2, 10, 160, "forward", true, true, false, false, true},
      {"gru", 4, 2, 10, 160, "reverse", true, true, false, true, true, true},
      {"rnn", 15, 4, 10, 200, "forward"},
  });
}

TEST_CASE("recurrent: symbolic steps and batch") {
  std::vector<LayerCase> cases;
  for (auto [steps, batch] : std::vector<std::pair<int64_t, int64_t>>{{0, 2}, {1, 1}, {12, 1}, {13, 8}, {3, 0}, {29, 6}})
    for (std::string op : {"lstm", "gru"}) {
      LayerCase layer{op, steps, batch, 6, 20, "bidirectional", true, true, false, true, true};
      layer.isSymbolic = true;
      cases.push_back(layer);
    }
  checkLayers(cases);
}

TEST_CASE("recurrent: layers whose y nobody wants pass h from step to step in the result") {
  std::vector<LayerCase> cases;
  for (std::string op : {"lstm", "gru", "rnn"})
    for (bool isLinear : {false, true})
      for (auto [batch, hidden] : std::vector<std::pair<int64_t, int64_t>>{{1, 20}, {3, 40}, {2, 144}, {9, 200}})
        for (bool isSymbolic : {false, true}) {
          LayerCase layer{op, 7, batch, 6, hidden, "bidirectional", true, true, false, true, true, isLinear && op == "gru", isSymbolic};
          layer.wantsY = false;
          if (op == "gru" || !isLinear)
            cases.push_back(layer);
        }
  checkLayers(cases);
}

TEST_CASE("recurrent: every batch size has tiles") {
  std::vector<LayerCase> cases;
  for (int64_t batch : {1, 2, 5, 8, 10, 14, 15, 17, 29})
    for (bool isSymbolic : {false, true})
      for (std::string op : {"lstm", "gru", "rnn"})
        cases.push_back({op, 3, batch, 5, 35, "forward", true, true, false, false, true, op == "gru", isSymbolic});
  checkLayers(cases);
}
