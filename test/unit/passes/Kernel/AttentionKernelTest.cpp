// DEPS: stator::tools::bench::harness
// Attention against the formula in double: sizes around tiles, masks of every form, causal, symbolic lengths.
#include "test/unit/passes/Kernel/ContractionTesting.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

struct AttentionCase {
  int64_t B, H, L, S, E, V;
  bool isCausal = false;
  /// Dims of the mask ([B, H, L, S], each that size or 1); empty without one.
  std::vector<int64_t> mask;
  bool isBool = false, isSymbolic = false;
  int64_t offset = 0;
  bool isGuarded = false;
};

void checkAttention(const std::vector<AttentionCase> &cases) {
  std::string text;
  std::vector<Call> calls;
  for (size_t n = 0; n < cases.size(); ++n) {
    const AttentionCase &c = cases[n];
    const int64_t heads = c.B * c.H;
    auto q = randomValues(heads * c.L * c.E, 5 * n), k = randomValues(heads * c.S * c.E, 5 * n + 1),
         v = randomValues(heads * c.S * c.V, 5 * n + 2), mask = randomValues(c.mask.empty() ? 0 : product(c.mask), 5 * n + 3);
    std::vector<uint8_t> bits;
    for (float value : mask)
      bits.push_back(value > -0.5f);
    const double scale = 0.375;
    std::vector<double> expected(heads * c.L * c.V);
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t l = 0; l < c.L; ++l) {
        std::vector<double> scores(c.S, -INFINITY);
        double largest = -INFINITY, sum = 0;
        for (int64_t s = 0; s < c.S; ++s) {
          if (c.isCausal && s > l + c.offset)
            continue;
          double score = 0;
          for (int64_t e = 0; e < c.E; ++e)
            score += double(q[(head * c.L + l) * c.E + e]) * k[(head * c.S + s) * c.E + e];
          score *= scale;
          if (!c.mask.empty()) {
            std::vector<int64_t> at = {head / c.H, head % c.H, l, s};
            int64_t place = 0;
            for (size_t d = 0; d < 4; ++d)
              place = place * c.mask[d] + (c.mask[d] == 1 ? 0 : at[d]);
            if (c.isBool)
              score = bits[place] ? score : -INFINITY;
            else
              score += mask[place];
          }
          scores[s] = score;
          largest = std::max(largest, score);
        }
        for (double &score : scores)
          sum += score = std::exp(score - largest);
        if (c.isGuarded && !(sum > 0)) {
          std::fill(scores.begin(), scores.end(), 0.0);
          sum = 1;
        }
        for (int64_t j = 0; j < c.V; ++j)
          for (int64_t s = 0; s < c.S; ++s)
            expected[(head * c.L + l) * c.V + j] += scores[s] / sum * v[(head * c.S + s) * c.V + j];
      }

    Call call;
    call.kernel = "k_" + std::to_string(n);
    auto number = [](int64_t value) { return std::to_string(value); };
    std::string L = number(c.L), S = number(c.S);
    if (c.isSymbolic) {
      L = "s0";
      S = "s1";
      call.sizes = {c.L, c.S};
    }
    std::string qt = tensorText({number(c.B), number(c.H), L, number(c.E)}, "f32"),
                kt = tensorText({number(c.B), number(c.H), S, number(c.E)}, "f32"),
                vt = tensorText({number(c.B), number(c.H), S, number(c.V)}, "f32"),
                yt = tensorText({number(c.B), number(c.H), L, number(c.V)}, "f32"), mt;
    call.operands = {Buffer::of(q), Buffer::of(k), Buffer::of(v)};
    if (!c.mask.empty()) {
      mt = tensorText({number(c.mask[0]), number(c.mask[1]), c.mask[2] == 1 ? "1" : L, c.mask[3] == 1 ? "1" : S}, c.isBool ? "i1" : "f32");
      call.operands.push_back(c.isBool ? Buffer::of(bits) : Buffer::of(mask));
    }
    text += "func.func @" + call.kernel + "(%q: " + qt + ", %k: " + kt + ", %v: " + vt + (mt.empty() ? "" : ", %m: " + mt) + ") -> " + yt +
            " {\n  %0 = graph.attention %q, %k, %v" + (mt.empty() ? "" : ", %m") +
            " {scale = 0.375 : f64, causal = " + (c.isCausal ? "true" : "false") +
            (c.offset ? ", causal_offset = #graph.dims<[\"" + std::to_string(c.offset) + "\"]>" : "") +
            (c.isGuarded ? ", empty_rows_zero = true" : "") + "} : (" + qt + ", " + kt + ", " + vt +
            (mt.empty() ? "" : ", " + mt) + ") -> " + yt + "\n  return %0 : " + yt + "\n}\n";
    call.expected = {expected};
    calls.push_back(call);
  }
  checkKernels(text, calls, 1e-5);
}

} // namespace

TEST_CASE("attention: sizes around tiles") {
  checkAttention({
      {1, 1, 1, 1, 4, 4},
      {2, 3, 17, 17, 16, 16},
      {1, 2, 14, 33, 20, 40},
      {1, 1, 29, 64, 64, 64},
      {1, 2, 5, 7, 3, 5},
      {1, 1, 3, 129, 8, 17},
  });
}

TEST_CASE("attention: masks") {
  checkAttention({
      {2, 2, 9, 21, 8, 8, false, {2, 2, 9, 21}},
      {2, 2, 9, 21, 8, 8, false, {2, 1, 1, 21}, true},
      {2, 2, 9, 21, 8, 8, false, {1, 1, 9, 1}},
      {1, 2, 30, 30, 8, 8, true},
      {1, 2, 13, 30, 8, 8, true, {1, 2, 13, 30}},
  });
}

TEST_CASE("attention: symbolic lengths") {
  std::vector<AttentionCase> cases;
  for (auto [l, s] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 50}, {2, 3}, {15, 15}, {40, 17}, {0, 4}}) {
    cases.push_back({2, 2, l, s, 16, 24, false, {}, false, true});
    cases.push_back({1, 2, l, s, 16, 24, true, {}, false, true});
  }
  checkAttention(cases);
}

TEST_CASE("attention: keys in pieces") {
  checkAttention({
      {1, 1, 30, 1500, 64, 64},
      {1, 2, 20, 900, 64, 80, false, {1, 1, 1, 900}, true},
      {1, 1, 40, 1000, 80, 24, false, {1, 1, 40, 1000}},
      {1, 1, 1300, 1300, 32, 32, true},
      {1, 1, 600, 1200, 64, 64, true, {}, false, true, 600},
      {1, 2, 15, 1100, 32, 64, false, {1, 2, 15, 1100}, false, true},
  });
}

TEST_CASE("attention: causal after a cache") {
  checkAttention({
      {1, 2, 1, 33, 32, 32, true, {}, false, false, 32},
      {1, 2, 3, 20, 64, 64, true, {}, false, false, 17},
      {2, 1, 30, 50, 80, 80, true, {}, false, false, 20},
      {2, 1, 30, 50, 80, 80, true, {}, false, true, 20},
      {1, 1, 20, 30, 16, 16, true, {}, false, false, 40},
  });
}

TEST_CASE("attention: rows that may attend to nothing") {
  // Masks of one key, most of which say no, and rows of such.
  checkAttention({
      {4, 4, 3, 1, 8, 8, false, {4, 4, 3, 1}, true, false, 0, true},
      {4, 4, 20, 2, 8, 8, false, {4, 1, 20, 2}, true, false, 0, true},
      {4, 4, 20, 2, 8, 20, false, {1, 4, 20, 1}, true, true, 0, true},
  });
}
