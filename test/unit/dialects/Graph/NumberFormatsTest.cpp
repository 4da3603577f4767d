// DEPS: stator::dialects::Graph
// The 16-bit floats against LLVM's software floats, for every bit pattern and around every tie.
#include "test/unit/Catch.h"

#include "dialects/Graph/NumberFormats.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace stator;
using namespace stator::graph;

static uint16_t viaLlvm(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool lossy = false;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

template <typename Encode, typename Decode>
static void checkFormat(Encode encode, Decode decode, const llvm::fltSemantics &semantics) {
  int failures = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double value = decode(uint16_t(bits));
    if (std::isnan(value)) {
      failures += !std::isnan(decode(encode(value)));
      continue;
    }
    failures += encode(value) != bits;
    double next = decode(uint16_t(bits + 1));
    if (!std::isfinite(next) || (bits & 0x7fff) == 0x7fff || !std::isfinite(value))
      continue;
    // The tie between neighbours, and just beside it.
    double tie = (value + next) / 2;
    for (double probe : {tie, std::nextafter(tie, value), std::nextafter(tie, next)})
      failures += encode(probe) != viaLlvm(probe, semantics);
  }
  CHECK(failures == 0);
  for (double value : {65519.9, 65520.0, 1e30, 1e39, 3.4e38, -1e300, 1e-8, 2.98e-8, 2.9802322387695312e-08, 1e-300, 9.2e-41, 4.6e-41, 0.1})
    CHECK(encode(value) == viaLlvm(value, semantics));
  CHECK(encode(INFINITY) == viaLlvm(INFINITY, semantics));
  CHECK(encode(-0.0) == 0x8000);
}

TEST_CASE("f16 rounds as IEEE 754 says", "[numbers]") { checkFormat(encodeF16, decodeF16, llvm::APFloat::IEEEhalf()); }
TEST_CASE("bf16 rounds as IEEE 754 says", "[numbers]") { checkFormat(encodeBF16, decodeBF16, llvm::APFloat::BFloat()); }

TEST_CASE("integers round once on their way to a narrow float", "[numbers]") {
  // One above a tie of bf16, at a size where a double cannot hold it: rounding twice would give the even neighbour below.
  int64_t base = int64_t(1) << 61, tie = base + (base >> 8);
  for (int64_t value : {tie - 1, tie, tie + 1, -(tie + 1), base, int64_t(0), int64_t(-1), INT64_MAX, INT64_MIN}) {
    llvm::APFloat exact(llvm::APFloat::BFloat());
    exact.convertFromAPInt(llvm::APInt(64, uint64_t(value), true), true, llvm::APFloat::rmNearestTiesToEven);
    uint16_t bits = 0;
    storeInteger(ElementType::BF16, &bits, value);
    CHECK(bits == exact.bitcastToAPInt().getZExtValue());
  }
  float single = 0;
  storeInteger(ElementType::F32, &single, (int64_t(1) << 24) + 1);
  CHECK(single == 16777216.0f);
}
