// DEPS: stator::tools::bench::harness
// Matrix products against a loop in double: shapes around the edges of tiles, symbolic sizes, other element types, strided sides.
#include "test/unit/passes/Kernel/ContractionTesting.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

struct MatmulCase {
  int64_t batch, m, k, n;
  bool isPacked = true, hasSymbolicRows = false, hasSymbolicDepth = false, hasSymbolicColumns = false;
};

/// Expected values of a [batch, m, k] x [batch, k, n].
template <typename T>
std::vector<double> multiply(const MatmulCase &c, const std::vector<T> &a, const std::vector<T> &w, bool sharedRight = false) {
  std::vector<double> result(c.batch * c.m * c.n);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < c.k; ++k)
          sum += double(a[(b * c.m + i) * c.k + k]) * double(w[((sharedRight ? 0 : b) * c.k + k) * c.n + j]);
        result[(b * c.m + i) * c.n + j] = sum;
      }
  return result;
}

/// A product [m, k] x [k, n] (or with a leading batch axis), without an epilogue.
std::string matmulText(const std::string &name, const MatmulCase &c, const std::string &type, std::vector<int64_t> &sizes) {
  sizes.clear();
  auto dim = [&](int64_t value, bool isSymbolic) {
    if (!isSymbolic)
      return std::to_string(value);
    sizes.push_back(value);
    return "s" + std::to_string(sizes.size() - 1);
  };
  std::string m = dim(c.m, c.hasSymbolicRows), k = dim(c.k, c.hasSymbolicDepth), n = dim(c.n, c.hasSymbolicColumns);
  std::vector<std::string> lhs = {m, k}, rhs = {k, n}, result = {m, n};
  if (c.isPacked)
    rhs = {std::to_string(panelsOf(c.n)), k, "16"};
  std::string batch, axis = "0", lhsContract = "1";
  if (c.batch != 1) {
    for (auto *dims : {&lhs, &rhs, &result})
      dims->insert(dims->begin(), std::to_string(c.batch));
    batch = ": 0";
    axis = "1";
    lhsContract = "2";
  }
  std::string a = tensorText(lhs, type), w = tensorText(rhs, type), y = tensorText(result, type);
  return "func.func @" + name + "(%a: " + a + ", %w: " + w + ") -> " + y + " {\n  %0 = graph.dot_general %a, %w {lhs_batch = array<i64" +
         batch + ">, rhs_batch = array<i64" + batch + ">, lhs_contract = array<i64: " + lhsContract +
         ">, rhs_contract = array<i64: " + axis + ">" + (c.isPacked ? ", rhs_packed = " + std::to_string(c.n) + " : i64" : "") + "} : (" +
         a + ", " + w + ") -> " + y + "\n  return %0 : " + y + "\n}\n";
}

template <typename T>
void checkCases(const std::vector<MatmulCase> &cases, const std::string &type, double tolerance = 1e-5) {
  std::string text;
  std::vector<Call> calls;
  for (size_t i = 0; i < cases.size(); ++i) {
    const MatmulCase &c = cases[i];
    Call call;
    call.kernel = "k_" + std::to_string(i);
    call.resultType = type;
    text += matmulText(call.kernel, c, type, call.sizes);
    auto a = randomValues<T>(c.batch * c.m * c.k, i), w = randomValues<T>(c.batch * c.k * c.n, 1000 + i);
    call.operands = {Buffer::of(a), Buffer::of(c.isPacked ? packPanels(w, c.batch, c.k, c.n) : w)};
    call.expected = {multiply(c, a, w)};
    calls.push_back(call);
  }
  checkKernels(text, calls, tolerance);
}

} // namespace

TEST_CASE("matmul: packed weights, static sizes around tile edges") {
  std::vector<MatmulCase> cases;
  for (int64_t m : {1, 2, 3, 5, 7, 8, 13, 14, 15, 29})
    cases.push_back({1, m, 19, 37});
  for (int64_t n : {1, 4, 15, 16, 17, 31, 32, 33, 64, 130})
    cases.push_back({1, 6, 8, n});
  for (int64_t k : {1, 2, 3, 4, 5, 16, 65})
    cases.push_back({1, 14, k, 32});
  cases.push_back({3, 15, 9, 40});
  checkCases<float>(cases, "f32");
}

TEST_CASE("matmul: tiles of two heights, of each width, and of deep products") {
  std::vector<MatmulCase> cases;
  // A rest of one to three rows is spread over the other tiles.
  for (int64_t m : {9, 10, 12, 17, 25, 33, 49, 65, 73})
    cases.push_back({1, m, 21, 100});
  for (int64_t n : {47, 48, 49, 80, 96, 97, 112, 144, 161})
    cases.push_back({1, 26, 11, n});
  // Panels that are too long for three of them; rows that are a multiple of 4096 bytes apart.
  cases.push_back({1, 27, 2500, 70});
  cases.push_back({1, 27, 1024, 70});
  cases.push_back({2, 19, 1024, 50});
  checkCases<float>(cases, "f32");
}

TEST_CASE("matmul: one kernel for any number of rows") {
  MatmulCase c{1, 0, 33, 40};
  c.hasSymbolicRows = true;
  std::vector<Call> calls;
  std::string text;
  for (int64_t m : {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 14, 15, 16, 27, 28, 31, 57}) {
    c.m = m;
    Call call;
    call.kernel = "k";
    text = matmulText("k", c, "f32", call.sizes);
    auto a = randomValues(m * c.k, 7), w = randomValues(c.k * c.n, 8);
    call.operands = {Buffer::of(a), Buffer::of(packPanels(w, 1, c.k, c.n))};
    call.expected = {multiply(c, a, w)};
    calls.push_back(call);
  }
  checkKernels(text, calls);
}

TEST_CASE("matmul: plain right-hand side, symbolic depth and columns") {
  MatmulCase c{2, 0, 0, 0, false, true, true, true};
  std::vector<Call> calls;
  std::string text;
  for (auto [m, k, n] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {1, 1, 1}, {1, 40, 70}, {2, 7, 33}, {5, 0, 6}, {0, 4, 4}, {13, 20, 16}, {17, 33, 31}, {9, 8, 129}, {4, 5, 0}}) {
    c.m = m;
    c.k = k;
    c.n = n;
    Call call;
    call.kernel = "k";
    text = matmulText("k", c, "f32", call.sizes);
    auto a = randomValues(2 * m * k, 7), w = randomValues(2 * k * n, 8);
    call.operands = {Buffer::of(a), Buffer::of(w)};
    call.expected = {multiply(c, a, w)};
    calls.push_back(call);
  }
  checkKernels(text, calls);
}

TEST_CASE("matmul: other element types") {
  std::vector<MatmulCase> cases = {{1, 1, 20, 40}, {1, 13, 9, 35}, {2, 4, 5, 16, false}, {1, 30, 7, 17, false}};
  checkCases<double>(cases, "f64", 1e-12);
  checkCases<int32_t>(cases, "i32", 0);
  checkCases<int64_t>(cases, "i64", 0);
}

TEST_CASE("matmul: half precision is accumulated in f32") {
  for (std::string type : {"f16", "bf16"}) {
    std::string text;
    std::vector<Call> calls;
    for (const MatmulCase &c : std::vector<MatmulCase>{{1, 1, 200, 40}, {1, 13, 9, 35}, {2, 4, 70, 16, false}, {1, 30, 7, 17, false}}) {
      Call call;
      call.kernel = "k_" + std::to_string(calls.size());
      call.resultType = type;
      text += matmulText(call.kernel, c, type, call.sizes);
      auto a = randomValues(c.batch * c.m * c.k, 1), w = randomValues(c.batch * c.k * c.n, 2);
      auto halves = toHalves(w, type);
      call.operands = {Buffer::of(toHalves(a, type)), Buffer::of(c.isPacked ? packPanels(halves, c.batch, c.k, c.n) : halves)};
      call.expected = {multiply(c, a, w)};
      calls.push_back(call);
    }
    // Half a unit in the last place of the result.
    checkKernels(text, calls, type == "f16" ? 5e-4 : 4e-3);
  }
}

TEST_CASE("matmul: heads are read where they lie and keys may be transposed") {
  // q [B, T, H, D] times k [B, S, H, D] over D gives [B, H, T, S]; then times v [B, S, H, D] over S gives [B, H, T, D].
  const int64_t B = 2, T = 5, H = 3, D = 8, S = 21;
  auto q = randomValues(B * T * H * D, 1), k = randomValues(B * S * H * D, 2), p = randomValues(B * H * T * S, 3);
  std::string text = R"(
func.func @scores(%q: tensor<2x5x3x8xf32>, %k: tensor<2x21x3x8xf32>) -> tensor<2x3x5x21xf32> {
  %0 = graph.dot_general %q, %k {lhs_batch = array<i64: 0, 2>, rhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>,
    rhs_contract = array<i64: 3>} : (tensor<2x5x3x8xf32>, tensor<2x21x3x8xf32>) -> tensor<2x3x5x21xf32>
  return %0 : tensor<2x3x5x21xf32>
}
func.func @values(%p: tensor<2x3x5x21xf32>, %v: tensor<2x21x3x8xf32>) -> tensor<2x3x5x8xf32> {
  %0 = graph.dot_general %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>,
    rhs_contract = array<i64: 1>} : (tensor<2x3x5x21xf32>, tensor<2x21x3x8xf32>) -> tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}
)";
  std::vector<double> scores(B * H * T * S), values(B * H * T * D);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < H; ++h)
      for (int64_t t = 0; t < T; ++t) {
        for (int64_t s = 0; s < S; ++s)
          for (int64_t d = 0; d < D; ++d)
            scores[((b * H + h) * T + t) * S + s] += double(q[((b * T + t) * H + h) * D + d]) * k[((b * S + s) * H + h) * D + d];
        for (int64_t d = 0; d < D; ++d)
          for (int64_t s = 0; s < S; ++s)
            values[((b * H + h) * T + t) * D + d] += double(p[((b * H + h) * T + t) * S + s]) * k[((b * S + s) * H + h) * D + d];
      }
  checkKernels(text, {{"scores", {}, {Buffer::of(q), Buffer::of(k)}, {scores}}, {"values", {}, {Buffer::of(p), Buffer::of(k)}, {values}}});
}

TEST_CASE("matmul: bias, residual, per-row scale and activation in the epilogue") {
  // relu(x w + bias) * scale + residual over rows [batch, time].
  const int64_t B = 3, T = 7, K = 12, N = 37;
  auto x = randomValues(B * T * K, 1), w = randomValues(K * N, 2), bias = randomValues(N, 3), scale = randomValues(T, 4),
       residual = randomValues(B * T * N, 5);
  std::string text = R"(
#xt = #graph.dims<["s0", "s1", "12"]>
#yt = #graph.dims<["s0", "s1", "37"]>
#st = #graph.dims<["s1"]>
func.func @k(%x: tensor<?x?x12xf32, #xt>, %w: tensor<3x12x16xf32>, %bias: tensor<37xf32>, %scale: tensor<?xf32, #st>,
             %residual: tensor<?x?x37xf32, #yt>) -> (tensor<?x?x37xf32, #yt>, tensor<?x?x37xf32, #yt>) {
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>,
    rhs_contract = array<i64: 0>, rhs_packed = 37 : i64} : (tensor<?x?x12xf32, #xt>, tensor<3x12x16xf32>) -> tensor<?x?x37xf32, #yt>
  %1 = graph.broadcast %bias {dimensions = array<i64: 2>} : (tensor<37xf32>) -> tensor<?x?x37xf32, #yt>
  %2 = graph.add %0, %1 : (tensor<?x?x37xf32, #yt>, tensor<?x?x37xf32, #yt>) -> tensor<?x?x37xf32, #yt>
  %3 = graph.relu %2 : (tensor<?x?x37xf32, #yt>) -> tensor<?x?x37xf32, #yt>
  %4 = graph.broadcast %scale {dimensions = array<i64: 1>} : (tensor<?xf32, #st>) -> tensor<?x?x37xf32, #yt>
  %5 = graph.mul %3, %4 : (tensor<?x?x37xf32, #yt>, tensor<?x?x37xf32, #yt>) -> tensor<?x?x37xf32, #yt>
  %6 = graph.add %5, %residual : (tensor<?x?x37xf32, #yt>, tensor<?x?x37xf32, #yt>) -> tensor<?x?x37xf32, #yt>
  return %6, %3 : tensor<?x?x37xf32, #yt>, tensor<?x?x37xf32, #yt>
}
)";
  MatmulCase c{1, B * T, K, N};
  std::vector<double> raw = multiply(c, x, w), full, activated;
  for (int64_t i = 0; i < B * T; ++i)
    for (int64_t j = 0; j < N; ++j) {
      double value = std::max(raw[i * N + j] + bias[j], 0.0);
      activated.push_back(value);
      full.push_back(value * scale[i % T] + residual[i * N + j]);
    }
  checkKernels(text, {{"k",
                       {B, T},
                       {Buffer::of(x), Buffer::of(packPanels(w, 1, K, N)), Buffer::of(bias), Buffer::of(scale), Buffer::of(residual)},
                       {full, activated}}});
}

TEST_CASE("matmul: a long epilogue goes through the row loop") {
  const int64_t M = 29, K = 10, N = 50;
  auto x = randomValues(M * K, 1), w = randomValues(K * N, 2);
  std::string text = R"(
func.func @k(%x: tensor<29x10xf32>, %w: tensor<4x10x16xf32>) -> tensor<29x50xf32> {
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
    rhs_contract = array<i64: 0>, rhs_packed = 50 : i64} : (tensor<29x10xf32>, tensor<4x10x16xf32>) -> tensor<29x50xf32>
  %1 = graph.erf %0 : (tensor<29x50xf32>) -> tensor<29x50xf32>
  %2 = graph.tanh %1 : (tensor<29x50xf32>) -> tensor<29x50xf32>
  return %2 : tensor<29x50xf32>
}
)";
  std::vector<double> expected = multiply(MatmulCase{1, M, K, N}, x, w);
  for (double &value : expected)
    value = std::tanh(std::erf(value));
  checkKernels(text, {{"k", {}, {Buffer::of(x), Buffer::of(packPanels(w, 1, K, N))}, {expected}}});
}
