// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// The same random calls traced in two ways give the same values: with elements that tracing knows and with inputs, and with symbolic
// sizes and with numbers.
#include "test/unit/compiler/Trace/RandomCalls.h"
#include "test/unit/compiler/Trace/TraceCase.h"

#include <cstdlib>

using namespace stator;
using namespace stator::trace;
using namespace random_calls;

namespace {

/// Small numbers, of every sign.
graph::TensorValue valueOf(const std::string &name, ElementType type, const Ints &dims) {
  graph::TensorValue value(type, dims);
  int64_t salt = static_cast<int64_t>(std::hash<std::string>()(name) % 1000);
  for (int64_t i = 0; i < value.count(); ++i) {
    int64_t number = (i * 7919 + salt * 31) % 11 - 4;
    if (isFloat(type))
      value.setReal(i, static_cast<double>(number) * 0.5);
    else
      value.setInteger(i, type == ElementType::I1 ? number > 0 : type == ElementType::U8 ? number + 4 : number);
  }
  return value;
}

/// One way to trace what a seed says.
struct Traced {
  Builder b;
  std::vector<graph::TensorValue> inputs;
  bool isValid = false;

  Traced(unsigned seed, Dim s, Dim t, const Ints &values, bool knowsElements) {
    Random random(seed);
    random.s = s;
    random.t = t;
    if (!s.isConstant()) {
      b.symbol("s", 0, 50);
      b.symbol("t", 1, 50);
    }
    random.input = [&](Builder &builder, const std::string &name, ElementType type, const Dims &dims) {
      Ints sizes;
      for (const Dim &dim : dims)
        sizes.push_back(dim == Dim::symbol("s") ? values[0] : dim == Dim::symbol("t") ? values[1] : dim.constant());
      graph::TensorValue value = valueOf(name, type, sizes);
      if (knowsElements)
        return builder.constant(type, sizes, value.data.data(), value.data.size());
      inputs.push_back(value);
      return builder.input(name, type, dims);
    };
    Tensors pool{random.input(b, "both", ElementType::F32, {s, t})};
    for (int i = 0; i < 4; ++i)
      pool.push_back(anything(b, random));
    for (int64_t i = random.number(1, 3); i > 0 && b.ok(); --i)
      pool.push_back(call(b, random, pool));
    if (!b.ok() || !pool.back())
      return;
    b.output("y", pool.back());
    isValid = b.finish().ok();
  }

  mlir::FailureOr<llvm::SmallVector<graph::TensorValue>> run() {
    DiagnosticCapture capture(b.impl().context());
    graph::InterpretOptions options;
    options.maxBytes = 1 << 22;
    options.maxWork = 1 << 22;
    return graph::interpret(b.impl().method(), inputs, options);
  }
};

/// True when there was something to compare.
bool compare(Traced &x, Traced &y, unsigned seed) {
  if (!x.isValid || !y.isValid)
    return false;
  auto left = x.run(), right = y.run();
  if (mlir::failed(left) || mlir::failed(right))
    return false;
  const graph::TensorValue &a = (*left)[0], &b = (*right)[0];
  INFO("seed " << seed << "\n" << x.b.str() << y.b.str());
  REQUIRE(a.type == b.type);
  REQUIRE(a.shape == b.shape);
  for (int64_t i = 0; i < a.count(); ++i) {
    INFO("element " << i << ": " << a.real(i) << " and " << b.real(i));
    bool isSame = isFloat(a.type) ? a.real(i) == b.real(i) || (std::isnan(a.real(i)) && std::isnan(b.real(i))) ||
                                        std::fabs(a.real(i) - b.real(i)) <= 1e-3 * (1 + std::fabs(b.real(i)))
                                  : a.integer(i) == b.integer(i);
    REQUIRE(isSame);
  }
  return true;
}

unsigned seeds() {
  // STATOR_RANDOM_CALLS=1000000 looks further, and takes minutes.
  const char *wanted = std::getenv("STATOR_RANDOM_CALLS");
  return wanted ? static_cast<unsigned>(std::atol(wanted)) : 3000;
}

} // namespace

TEST_CASE("known elements compute what the graph computes") {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < seeds(); ++seed) {
    Traced known(seed, 2, 3, {2, 3}, true), unknown(seed, 2, 3, {2, 3}, false);
    compared += compare(known, unknown, seed);
  }
  CHECK(compared * 20 > seeds());
}

TEST_CASE("symbols compute what numbers compute") {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < seeds(); ++seed) {
    // Not 1: that size means something else, to broadcasts and to squeeze. Not 0: a size that divides is taken to be positive.
    Ints sizes{2 + seed % 4, 2 + seed / 4 % 4};
    Traced symbolic(seed, Dim::symbol("s"), Dim::symbol("t"), sizes, false), numeric(seed, sizes[0], sizes[1], sizes, false);
    compared += compare(symbolic, numeric, seed);
  }
  CHECK(compared * 20 > seeds());
}
