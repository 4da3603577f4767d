// DEPS: stator::compiler::Trace
#include "test/unit/Catch.h"

#include "compiler/Trace/BuilderImpl.h"
#include "stator/Trace.h"

using namespace stator;
using namespace stator::trace;

namespace {

std::string shape(const Tensor &x) {
  std::string text = name(x.type());
  for (const Dim &dim : x.dims())
    text += " " + dim.str();
  return text;
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

int64_t countOf(const std::string &text, const std::string &part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("a symbol that meets a number is replaced everywhere") {
  Builder b;
  Dim n = b.symbol("N", 1, 100), t = b.symbol("T", 1, 512);
  Tensor x = b.input("x", ElementType::F32, {n, t});
  Tensor early = fn::relu(x);
  Tensor table = b.input("table", ElementType::F32, {64});
  Tensor y = x + table;
  REQUIRE(b.ok());
  CHECK(shape(y) == "f32 N 64");
  CHECK(shape(early) == "f32 N 64");
  CHECK(b.symbol("T") == Dim(64));
  b.output("y", y);
  b.output("early", early);
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "graph.symbols = [#graph.symbol<\"N\", 1, 100>]"));
  CHECK_FALSE(has(b.str(), "\"T\""));
}

TEST_CASE("two symbols that meet become the one declared first") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {b.symbol("N", 1, 100), 4});
  Tensor y = b.input("y", ElementType::F32, {b.symbol("M", 8, 200), 4});
  Tensor z = x * y;
  CHECK(shape(z) == "f32 N 4");
  b.output("z", z);
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "#graph.symbol<\"N\", 8, 100>"));
  CHECK_FALSE(has(b.str(), "\"M\""));
}

TEST_CASE("linear sizes are solved for their symbol") {
  Builder b;
  Dim h = b.symbol("h", 1, 1000);
  Tensor x = b.input("x", ElementType::F32, {h});
  Tensor y = fn::concat({x, x}, 0) + b.input("y", ElementType::F32, {64});
  CHECK(shape(y) == "f32 64");
  CHECK(shape(x) == "f32 32");
}

TEST_CASE("no value of a symbol makes 2h odd") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {b.symbol("h")});
  fn::concat({x, x}, 0) + b.input("y", ElementType::F32, {63});
  CHECK(has(b.status().message(), "`2*h` and `63` are equal for no `h`"));
}

TEST_CASE("a slice of a table narrows the range of the length") {
  Builder b;
  Dim t = b.symbol("T", 1, 512);
  Tensor x = b.input("x", ElementType::F32, {2, t, 8});
  Tensor table = b.input("table", ElementType::F32, {64, 8});
  Tensor rows =
      fn::slice(table, fn::range(b.scalarInt(ElementType::I64, 0), b.scalarInt(ElementType::I64, 1), b.scalarInt(ElementType::I64, 1)),
                fn::shapeOf(x, 1, 2), {}, {});
  CHECK(shape(rows) == "f32 min(T, 64) 8");
  Tensor y = x + rows;
  REQUIRE(b.ok());
  CHECK(shape(y) == "f32 2 T 8");
  CHECK(shape(rows) == "f32 T 8");
  b.output("y", y);
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "#graph.symbol<\"T\", 1, 64>"));
  CHECK_FALSE(has(b.str(), "guards"));
}

TEST_CASE("what cannot be solved becomes a guard") {
  Builder b;
  Dim h = b.symbol("h"), w = b.symbol("w");
  Tensor x = b.input("x", ElementType::F32, {h}), y = b.input("y", ElementType::F32, {w});
  auto every = [](const Tensor &tensor, int64_t step) { return fn::slice(tensor, Dims{0}, Dims{tensor.dim(0)}, {0}, {step}); };
  Tensor z = every(x, 2) + every(y, 3);
  REQUIRE(b.ok());
  z = z * every(y, 3); // known by now
  b.output("z", z);
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "graph.guards = [[\"floordiv(h + 1, 2)\", \"floordiv(w + 2, 3)\"]]"));
}

TEST_CASE("impossible sizes name both sides and the place") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {3, 4}), y = b.input("y", ElementType::F32, {3, 5});
  b.setLocation("blocks.0/Add");
  x + y;
  CHECK(b.status().code() == StatusCode::InvalidArgument);
  CHECK(b.status().message() == "`blocks.0/Add`: `add`: sizes differ: `4` and `5`");
  // The first error stays; later calls do nothing.
  fn::matmul(x, x);
  CHECK(b.status().message() == "`blocks.0/Add`: `add`: sizes differ: `4` and `5`");
}

TEST_CASE("a range excludes a size") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {b.symbol("N", 1, 8)}), y = b.input("y", ElementType::F32, {16});
  x + y;
  CHECK(has(b.status().message(), "`N` (1..8) and `16`"));
}

TEST_CASE("symbolic sizes do not broadcast") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {b.symbol("N", 1, 8), 1}), y = b.input("y", ElementType::F32, {1, b.symbol("M", 1, 8)});
  CHECK(shape(x + y) == "f32 N M");
  CHECK(shape(x + b.input("z", ElementType::F32, {4, 1})) == "f32 4 1");
  CHECK(shape(y) == "f32 1 M");
}

TEST_CASE("shape arithmetic leaves no operations") {
  // The way in which torch writes x.view(x.shape[0], x.shape[1], 4, -1).
  Builder b;
  Dim n = b.symbol("N", 1, 64), t = b.symbol("T", 1, 128);
  Tensor x = b.input("x", ElementType::F32, {n, t, 32});
  auto size = [&](int64_t axis) { return fn::unsqueeze(fn::gather(fn::shapeOf(x), b.scalarInt(ElementType::I64, axis), 0), {0}); };
  Tensor width = fn::div(fn::gather(fn::shapeOf(x), b.scalarInt(ElementType::I64, 2)), b.scalarInt(ElementType::I64, 4));
  Tensor target = fn::concat(
      {size(0), size(1), b.vector(Ints{4}), fn::unsqueeze(fn::cast(fn::cast(width, ElementType::F32), ElementType::I64), {0})}, 0);
  Tensor y = fn::reshape(x, target);
  CHECK(shape(y) == "f32 N T 4 8");
  Tensor z = fn::transpose(y, {0, 2, 1, 3});
  b.output("z", z);
  REQUIRE(b.finish().ok());
  CHECK(countOf(b.str(), "= graph.") == 2);
}

TEST_CASE("expand with -1 picks sizes by comparing and selecting") {
  Builder b;
  Dim n = b.symbol("N");
  Tensor x = b.input("x", ElementType::F32, {1, 1, 8});
  Tensor sizes = fn::concat({b.fromDims({n}), b.vector(Ints{-1, -1})}, 0);
  Tensor ones = fn::constantOfShape(fn::shapeOf(sizes), b.scalarInt(ElementType::I64, 1));
  Tensor y = fn::expand(x, fn::where(fn::eq(sizes, fn::mul(ones, b.vector(Ints{-1}))), ones, sizes));
  CHECK(shape(y) == "f32 N 1 8");
}

TEST_CASE("sizes computed in floats are exact") {
  Builder b;
  Dim h = b.symbol("h", 1, 4096);
  Tensor x = b.input("x", ElementType::F32, {1, 3, h, 10});
  Tensor height = fn::cast(fn::gather(fn::shapeOf(x), b.scalarInt(ElementType::I64, 2)), ElementType::F32);
  Tensor half = fn::cast(fn::floor(fn::mul(height, b.scalar(ElementType::F32, 0.5))), ElementType::I64);
  CHECK(half.knownIntegers()->front().str() == "floordiv(h, 2)");
  Tensor twice = fn::cast(fn::mul(height, b.scalar(ElementType::F32, 2)), ElementType::I64);
  CHECK(twice.knownIntegers()->front().str() == "2*h");
  Tensor scales = b.vector(std::vector<float>{1, 1, 2, 1.5});
  fn::ResizeOptions options;
  options.coordinate = fn::ResizeCoordinate::Asymmetric;
  CHECK(shape(fn::resize(x, scales, {}, options)) == "f32 1 3 2*h 15");
}

TEST_CASE("a shape used as data is materialised once it is needed") {
  Builder b;
  Dim n = b.symbol("N");
  Tensor x = b.input("x", ElementType::F32, {n, 2});
  Tensor y = x * fn::cast(b.fromDim(n), ElementType::F32);
  b.output("y", y);
  b.output("shape", fn::shapeOf(x));
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "graph.dim_values"));
}

TEST_CASE("ranges and contents that are too large are refused") {
  Builder b;
  SECTION("tile") {
    Tensor x = b.input("x", ElementType::F32, {4});
    fn::tile(x, Dims{int64_t(1) << 60});
    CHECK(b.status().code() == StatusCode::ResourceExhausted);
  }
  SECTION("tile of a known value") {
    fn::tile(b.vector(Ints{1, 2}), Dims{int64_t(1) << 60});
    CHECK_FALSE(b.ok());
  }
  SECTION("range") {
    fn::range(b.scalarInt(ElementType::I64, 0), b.scalarInt(ElementType::I64, int64_t(1) << 62), b.scalarInt(ElementType::I64, 1));
    CHECK_FALSE(b.ok());
  }
  SECTION("constant of shape") {
    fn::constantOfShape(b.vector(Ints{1 << 20, 1 << 20, 1 << 20}), {});
    CHECK(b.status().code() == StatusCode::ResourceExhausted);
  }
  SECTION("expand") {
    fn::expand(b.input("x", ElementType::F32, {1}), b.vector(Ints{int64_t(1) << 40, int64_t(1) << 40}));
    CHECK(b.status().code() == StatusCode::ResourceExhausted);
  }
  SECTION("negative") {
    fn::constantOfShape(b.vector(Ints{2, -3}), {});
    CHECK_FALSE(b.ok());
  }
  SECTION("pad") {
    fn::pad(b.input("x", ElementType::F32, {4}), Dims{-3}, Dims{-3});
    CHECK_FALSE(b.ok());
  }
}

TEST_CASE("a border that cuts supposes a size that is long enough") {
  Builder b;
  b.output("y", fn::pad(b.input("x", ElementType::F32, {Dim::symbol("N")}), Dims{-1}, Dims{-2}));
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "#graph.symbol<\"N\", 3, "));
}

TEST_CASE("an input whose symbol no axis shows is an error") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {Dim::symbol("N") * Dim(2)});
  b.output("x", x);
  CHECK(has(b.finish().message(), "symbol `N` is not the size of any axis"));
}

TEST_CASE("a size learnt late may contradict an operation") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {b.symbol("N", 1, 100)});
  b.setLocation("best");
  Tensor best = fn::topK(x, 4, 0).first;
  b.setLocation("sum");
  Tensor sum = x + b.input("y", ElementType::F32, {3});
  b.output("best", best);
  b.output("sum", sum);
  CHECK(b.finish().code() == StatusCode::InvalidArgument);
  CHECK(has(b.status().message(), "sizes contradict each other: `best`: 'graph.top_k' op"));
}

TEST_CASE("sizes that models believe to be positive are made so") {
  Builder b;
  Dim t = b.symbol("T"), h = b.symbol("h");
  Tensor x = b.input("x", ElementType::F32, {t, h});
  auto size = [&](int64_t axis) { return fn::shapeOf(x, axis, axis + 1); };
  SECTION("a bound that is T - 1") {
    Tensor last = fn::slice(x, fn::sub(size(0), b.vector(Ints{1})), size(0), {}, {});
    REQUIRE(b.ok());
    CHECK(shape(last) == "f32 1 h");
    b.output("last", last);
    REQUIRE(b.finish().ok());
    CHECK(has(b.str(), "#graph.symbol<\"T\", 1, 2147483647>"));
  }
  SECTION("a truncated quotient of h - 7") {
    Tensor half = fn::div(fn::add(b.vector(Ints{-7}), size(1)), b.vector(Ints{2}));
    CHECK(half.knownIntegers()->front().str() == "floordiv(h + 1, 2) - 4");
    CHECK(b.impl().bounds(h.expr()).lo == 7);
  }
  SECTION("a quotient that is meant to be negative") {
    Tensor half = fn::div(fn::add(b.vector(Ints{-700}), size(1)), b.vector(Ints{2}));
    CHECK_FALSE(half.knownIntegers().has_value());
    CHECK(b.ok());
  }
  SECTION("several symbols") {
    Tensor last = fn::sub(fn::mul(size(0), size(1)), b.vector(Ints{1}));
    CHECK(fn::div(last, b.vector(Ints{2})).knownIntegers()->front().str() == "floordiv(T*h + 1, 2) - 1");
  }
}

TEST_CASE("shape arithmetic costs linear time") {
  // As many nodes as the exports of windowed attention have; each block is what torch writes for one view().
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {b.symbol("N", 1, 64), b.symbol("T", 1, 128), 32});
  constexpr int64_t kBlocks = 5000;
  for (int64_t i = 0; i < kBlocks; ++i) {
    b.setLocation("block" + std::to_string(i));
    Tensor shape = fn::shapeOf(x), n = fn::gather(shape, b.scalarInt(ElementType::I64, 0)),
           t = fn::gather(shape, b.scalarInt(ElementType::I64, 1));
    Tensor target = fn::concat({fn::unsqueeze(fn::mul(n, t), {0}), b.vector(Ints{-1})}, 0);
    Tensor back = fn::concat({fn::unsqueeze(n, {0}), fn::unsqueeze(t, {0}), b.vector(Ints{32})}, 0);
    x = fn::reshape(fn::relu(fn::reshape(x, target)), back);
  }
  b.output("x", x);
  REQUIRE(b.finish().ok());
  CHECK(shape(x) == "f32 N T 32");
  CHECK(countOf(b.str(), "= graph.relu") == kBlocks);
}

TEST_CASE("sizes that would be negative raise the least values of symbols") {
  Builder b;
  Dim n = b.symbol("N", 0, 100);
  Tensor x = b.input("x", ElementType::F32, {n, 2});
  Tensor windows = fn::iota(b, ElementType::I64, {n - 3}, 0);
  b.output("y", fn::gather(x, windows));
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "graph.symbols = [#graph.symbol<\"N\", 3, 100>]"));
}
