// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Whatever it is called with, the functional layer gives a valid graph or an error with a sentence; never a crash, and never a graph
// that the dialect refuses.
#include "test/unit/compiler/Trace/RandomCalls.h"
#include "test/unit/compiler/Trace/TraceCase.h"

#include <cstdlib>

using namespace stator;
using namespace stator::trace;
using namespace random_calls;

TEST_CASE("any call gives a valid graph or an error") {
  // STATOR_RANDOM_CALLS=1000000 looks further, and takes minutes.
  const char *wanted = std::getenv("STATOR_RANDOM_CALLS");
  unsigned valid = 0, count = wanted ? static_cast<unsigned>(std::atol(wanted)) : 8000;
  for (unsigned seed = 0; seed < count; ++seed) {
    Random random(seed);
    Builder b;
    b.symbol("s", 0, 50);
    b.symbol("t", 1, 50);
    Tensor both = b.input("both", ElementType::F32, {Dim::symbol("s"), Dim::symbol("t")});
    Tensors pool{both};
    for (int i = 0; i < 4; ++i)
      pool.push_back(anything(b, random));
    for (int64_t i = random.number(1, 3); i > 0 && b.ok(); --i)
      pool.push_back(call(b, random, pool));
    if (b.ok() && pool.back()) {
      b.output("y", pool.back());
      Status status = b.finish();
      INFO("seed " << seed << ": " << status.message() << "\n" << b.str());
      // Operations made before a size was learnt may contradict it.
      bool isContradiction = status.message().find("sizes contradict each other") == 0;
      REQUIRE((status.ok() || isContradiction));
      ++valid;
    }
    INFO("seed " << seed << ": " << b.status().message());
    REQUIRE(b.status().code() != StatusCode::Internal);
    REQUIRE(b.ok() == b.status().message().empty());
  }
  CHECK(valid * 20 > count);
}
