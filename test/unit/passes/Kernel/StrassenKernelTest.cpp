// DEPS: stator::tools::bench::harness
// Products by Strassen's algorithm against sums in double: whole and partial blocks of rows, tiles of both widths, epilogues, error.
#include "test/unit/passes/Kernel/ContractionTesting.h"

#include "dialects/Target/Strassen.h"

using namespace stator;
using namespace stator::kernel::testing;

namespace {

std::vector<float> packSums(const std::vector<float> &w, int64_t k, int64_t n) {
  const int64_t depth = k / 2, columns = n / 2;
  std::vector<float> sums(strassen::products * depth * columns);
  for (int64_t p = 0; p < strassen::products; ++p)
    for (int64_t i = 0; i < depth; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int q = 0; q < 4; ++q)
          sum += strassen::right[p][q] * double(w[(q / 2 * depth + i) * n + q % 2 * columns + j]);
        sums[(p * depth + i) * columns + j] = float(sum);
      }
  return packPanels(sums, strassen::products, depth, columns);
}

/// relu(x w + bias) where `hasEpilogue`.
Call makeCall(std::string &text, int64_t m, int64_t k, int64_t n, bool hasEpilogue) {
  Call call;
  call.kernel = "k_" + std::to_string(m) + "_" + std::to_string(k) + "_" + std::to_string(n);
  auto x = randomValues(m * k, m), w = randomValues(k * n, n), bias = randomValues(n, 3);
  std::string xt = tensorText({std::to_string(m), std::to_string(k)}, "f32"), yt = tensorText({std::to_string(m), std::to_string(n)}, "f32");
  std::string wt = tensorText({"7", std::to_string(n / 32), std::to_string(k / 2), "16"}, "f32"), bt = tensorText({std::to_string(n)}, "f32");
  text += "func.func @" + call.kernel + "(%x: " + xt + ", %w: " + wt + (hasEpilogue ? ", %bias: " + bt : "") + ") -> " + yt +
          " {\n  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = "
          "array<i64: 0>, rhs_packed = " +
          std::to_string(n) + " : i64} : (" + xt + ", " + wt + ") -> " + yt + "\n";
  if (hasEpilogue)
    text += "  %1 = graph.broadcast %bias {dimensions = array<i64: 1>} : (" + bt + ") -> " + yt + "\n  %2 = graph.add %0, %1 : (" + yt + ", " +
            yt + ") -> " + yt + "\n  %3 = graph.relu %2 : (" + yt + ") -> " + yt + "\n  return %3 : " + yt + "\n}\n";
  else
    text += "  return %0 : " + yt + "\n}\n";
  std::vector<double> expected(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = hasEpilogue ? bias[j] : 0;
      for (int64_t c = 0; c < k; ++c)
        sum += double(x[i * k + c]) * w[c * n + j];
      expected[i * n + j] = hasEpilogue ? std::max(sum, 0.0) : sum;
    }
  call.operands = {Buffer::of(x), Buffer::of(packSums(w, k, n))};
  if (hasEpilogue)
    call.operands.push_back(Buffer::of(bias));
  call.expected = {expected};
  return call;
}

} // namespace

TEST_CASE("strassen: blocks of rows and tiles of columns") {
  std::string text;
  std::vector<Call> calls;
  // One block and several; halves that are whole tiles and ones that are not; fewer rows than a tile.
  for (int64_t m : {1, 5, 17, 128, 161, 197})
    calls.push_back(makeCall(text, m, 32, 96, m % 2));
  for (auto [k, n] : std::vector<std::pair<int64_t, int64_t>>{{32, 64}, {64, 128}, {96, 192}, {160, 256}})
    calls.push_back(makeCall(text, 33, k, n, true));
  checkKernels(text, calls);
}

TEST_CASE("strassen: error of a product of the size that it is for") {
  std::string text;
  std::vector<Call> calls = {makeCall(text, 128, 768, 384, false)};
  // Near zero the difference may be 1e-6 of the largest element; elsewhere the allowance grows with the element.
  double largest = 0;
  for (double value : calls[0].expected[0])
    largest = std::max(largest, std::abs(value));
  checkKernels(text, calls, 1e-6 * largest);
}
