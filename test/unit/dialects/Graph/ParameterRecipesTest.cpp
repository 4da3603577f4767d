// DEPS: stator::dialects::Graph::Interpreter
// Derived parameters: each recipe against its definition, read whole, in pieces and with strides.
#include "test/unit/dialects/Graph/InterpretOp.h"

#include "dialects/Graph/ParameterRecipes.h"
#include "dialects/Graph/ParameterStore.h"

#include <numeric>

using namespace mlir;
using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

namespace {

/// A module of parameters whose sources are given as tensors, in the order of their numbers.
class Parameters {
public:
  Parameters(const std::string &text, const Tensors &sources) : program(text) {
    for (const TensorValue &source : sources)
      parametersOf(&program.context).addOwned(source.data);
  }

  ParameterOp find(StringRef name) { return program.module->lookupSymbol<ParameterOp>(name); }

  TensorValue read(StringRef name) {
    ParameterOp parameter = find(name);
    REQUIRE(parameter);
    RankedTensorType type = parameter.tensorType();
    TensorValue value(elementTypeOf(type.getElementType()), type.getShape());
    INFO(program.diagnostics);
    REQUIRE(succeeded(materialize(parameter, symbols, bytesOf(value))));
    checkPieces(name, value);
    return value;
  }

  void checkError(StringRef name, const std::string &text) {
    CHECK(failed(openParameter(find(name), symbols)));
    CHECK_THAT(program.diagnostics, Catch::Matchers::Contains(text));
  }

  static MutableArrayRef<char> bytesOf(TensorValue &value) {
    return MutableArrayRef<char>(reinterpret_cast<char *>(value.data.data()), value.data.size());
  }

  Program program;
  SymbolTableCollection symbols;

private:
  /// Streaming, and reading with every stride from every start, give the same elements.
  void checkPieces(StringRef name, const TensorValue &whole) {
    std::vector<char> streamed;
    REQUIRE(succeeded(stream(
        find(name), symbols,
        [&](ArrayRef<char> piece) {
          CHECK(piece.size() <= 12);
          streamed.insert(streamed.end(), piece.begin(), piece.end());
          return success();
        },
        12)));
    CHECK(std::equal(streamed.begin(), streamed.end(), reinterpret_cast<const char *>(whole.data.data()),
                     reinterpret_cast<const char *>(whole.data.data()) + whole.data.size()));

    std::unique_ptr<ParameterReader> reader = std::move(*openParameter(find(name), symbols));
    int64_t count = reader->elementCount(), failures = 0;
    for (int64_t stride : {1, 2, 3, 7, 16, 50})
      for (int64_t first = 0; first < std::min<int64_t>(count, 20); ++first) {
        int64_t n = (count - first + stride - 1) / stride;
        TensorValue part(whole.type, {n});
        reader->read(first, stride, n, bytesOf(part).data());
        for (int64_t i = 0; i < n; ++i)
          failures += std::memcmp(part.element(i), whole.element(first + i * stride), whole.elementBytes()) != 0;
      }
    CHECK(failures == 0);
  }
};

TensorValue counting(ElementType type, const Shape &shape) {
  TensorValue value(type, shape);
  for (int64_t i = 0, n = value.count(); i < n; ++i)
    value.setInteger(i, i + 1);
  return value;
}

/// `op` of the source, by the interpreter.
TensorValue apply(const std::string &op, const std::string &attributes, const Tensors &operands, const TensorValue &like) {
  Program program(methodOf(op, attributes, operands, {like}));
  auto results = program.run(operands);
  REQUIRE(succeeded(results));
  return (*results)[0];
}

} // namespace

TEST_CASE("moves equal the operations that they are named after", "[recipes]") {
  TensorValue w = counting(ElementType::F32, {3, 4, 5});
  Parameters parameters(R"(
    graph.parameter @w : tensor<3x4x5xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @transposed : tensor<5x3x4xf32> {recipe = #graph.recipe<"transpose", [@w], {perm = array<i64: 2, 0, 1>}>}
    graph.parameter @reshaped : tensor<12x5xf32> {recipe = #graph.recipe<"reshape", [@w], {shape = array<i64: 12, 5>}>}
    graph.parameter @sliced : tensor<2x2x2xf32> {recipe = #graph.recipe<"slice", [@w],
      {starts = array<i64: 1, 0, 1>, sizes = array<i64: 2, 2, 2>, strides = array<i64: 1, 3, 2>}>}
    graph.parameter @both : tensor<2x2x2xf32> {recipe = #graph.recipe<"transpose", [@sliced], {perm = array<i64: 1, 2, 0>}>})",
                        {w});
  checkTensor(parameters.read("w"), w, "stored");
  checkTensor(parameters.read("transposed"), apply("transpose", "permutation = array<i64: 2, 0, 1>", {w}, TensorValue(w.type, {5, 3, 4})),
              "");
  checkTensor(parameters.read("reshaped"), apply("reshape", "", {w}, TensorValue(w.type, {12, 5})), "");
  TensorValue sliced =
      apply("slice", "starts = #graph.dims<[\"1\", \"0\", \"1\"]>, strides = array<i64: 1, 3, 2>", {w}, TensorValue(w.type, {2, 2, 2}));
  checkTensor(parameters.read("sliced"), sliced, "");
  checkTensor(parameters.read("both"), apply("transpose", "permutation = array<i64: 1, 2, 0>", {sliced}, sliced), "");
}

TEST_CASE("parameters side by side", "[recipes]") {
  std::vector<double> numbers(30);
  std::iota(numbers.begin(), numbers.end(), 0);
  TensorValue v = f32({2, 3, 2}, std::vector<double>(numbers.begin(), numbers.begin() + 12)),
              w = f32({2, 3, 3}, std::vector<double>(numbers.begin() + 12, numbers.end())), first = f32({2}, {1, 2}), last = f32({3}, {3, 4, 5});
  Parameters parameters(R"(
    graph.parameter @v : tensor<2x3x2xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @w : tensor<2x3x3xf32> {source = 1 : i32, offset = 0 : i64}
    graph.parameter @first : tensor<2xf32> {source = 2 : i32, offset = 0 : i64}
    graph.parameter @last : tensor<3xf32> {source = 3 : i32, offset = 0 : i64}
    graph.parameter @inner : tensor<2x3x5xf32> {recipe = #graph.recipe<"concat", [@v, @w], {axis = 2 : i64}>}
    graph.parameter @outer : tensor<4x3x5xf32> {recipe = #graph.recipe<"concat", [@inner, @inner], {axis = 0 : i64}>}
    graph.parameter @vector : tensor<5xf32> {recipe = #graph.recipe<"concat", [@first, @last], {axis = 0 : i64}>})",
                        {v, w, first, last});
  TensorValue inner = apply("concat", "axis = 2 : i64", {v, w}, TensorValue(v.type, {2, 3, 5}));
  checkTensor(parameters.read("inner"), inner, "");
  checkTensor(parameters.read("outer"), apply("concat", "axis = 0 : i64", {inner, inner}, TensorValue(v.type, {4, 3, 5})), "");
  checkTensor(parameters.read("vector"), f32({5}, {1, 2, 3, 4, 5}), "");
}

TEST_CASE("conversions and scales round as the operations do", "[recipes]") {
  TensorValue w = f32({2, 3}, {0.1, -1.0004883, 300, 1e-8, 65520, 7}), scale = f32({3}, {3, 0.1, -2});
  Parameters parameters(R"(
    graph.parameter @w : tensor<2x3xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @s : tensor<3xf32> {source = 1 : i32, offset = 0 : i64}
    graph.parameter @half : tensor<2x3xf16> {recipe = #graph.recipe<"convert", [@w], {type = f16}>}
    graph.parameter @byte : tensor<2x3xi8> {recipe = #graph.recipe<"convert", [@w], {type = i8}>}
    graph.parameter @scaled : tensor<2x3xf32> {recipe = #graph.recipe<"mul_channel", [@w, @s], {axis = 1 : i64}>})",
                        {w, scale});
  checkTensor(parameters.read("half"), apply("convert", "", {w}, TensorValue(ElementType::F16, {2, 3})), "");
  checkTensor(parameters.read("byte"), i8({2, 3}, {0, -1, 127, 0, 127, 7}), "");
  TensorValue spread = apply("broadcast", "dimensions = array<i64: 1>", {scale}, w);
  checkTensor(parameters.read("scaled"), apply("mul", "", {w, spread}, w), "");
}

TEST_CASE("matrices in panels", "[recipes]") {
  const int64_t depth = 3, columns = 18;
  TensorValue w = counting(ElementType::F32, {2, depth, columns}), t(w.type, {2, columns, depth}), expected(w.type, {2, 2, depth, 16});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n) {
        t.copyElement((b * columns + n) * depth + k, w, (b * depth + k) * columns + n);
        expected.copyElement(((b * 2 + n / 16) * depth + k) * 16 + n % 16, w, (b * depth + k) * columns + n);
      }
  Parameters parameters(R"(
    graph.parameter @w : tensor<2x3x18xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @t : tensor<2x18x3xf32> {source = 1 : i32, offset = 0 : i64}
    graph.parameter @pw : tensor<2x2x3x16xf32> {recipe = #graph.recipe<"pack_matmul", [@w], {}>}
    graph.parameter @pt : tensor<2x2x3x16xf32> {recipe = #graph.recipe<"pack_matmul", [@t], {transposed}>})",
                        {w, t});
  checkTensor(parameters.read("pw"), expected, "plain");
  checkTensor(parameters.read("pt"), expected, "transposed");
}

TEST_CASE("sums of quadrants of a matrix", "[recipes]") {
  const int64_t depth = 6, columns = 64;
  TensorValue w = counting(ElementType::F32, {depth, columns}), t(ElementType::F32, {columns, depth}), expected(ElementType::F32, {7, 2, 3, 16});
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n)
      t.copyElement(n * depth + k, w, k * columns + n);
  for (int64_t k = 0; k < depth / 2; ++k)
    for (int64_t n = 0; n < columns / 2; ++n) {
      auto quadrant = [&](int64_t i, int64_t j) { return w.real((i * depth / 2 + k) * columns + j * columns / 2 + n); };
      double a = quadrant(0, 0), b = quadrant(0, 1), c = quadrant(1, 0), d = quadrant(1, 1);
      const double sums[7] = {a + d, a, b - d, c - a, d, a + b, c + d};
      for (int64_t p = 0; p < 7; ++p)
        expected.setReal(((p * 2 + n / 16) * 3 + k) * 16 + n % 16, sums[p]);
    }
  Parameters parameters(R"(
    graph.parameter @w : tensor<6x64xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @t : tensor<64x6xf32> {source = 1 : i32, offset = 0 : i64}
    graph.parameter @pw : tensor<7x2x3x16xf32> {recipe = #graph.recipe<"pack_strassen", [@w], {}>}
    graph.parameter @pt : tensor<7x2x3x16xf32> {recipe = #graph.recipe<"pack_strassen", [@t], {transposed}>})",
                        {w, t});
  checkTensor(parameters.read("pw"), expected, "plain");
  checkTensor(parameters.read("pt"), expected, "transposed");
}

TEST_CASE("filters in panels, through a chain of recipes", "[recipes]") {
  // Two groups of 17 outputs, 2 inputs, 2x3 taps: the last panel of each group holds one output.
  const int64_t groups = 2, outputs = 17, inputs = 2, taps = 6;
  TensorValue w = counting(ElementType::F16, {groups * outputs, inputs, 2, 3});
  TensorValue scale = f32({34}, std::vector<double>(34, 0.5)), expected(ElementType::F32, {groups, 2, taps * inputs, 16});
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t c = 0; c < inputs; ++c)
        for (int64_t tap = 0; tap < taps; ++tap)
          expected.setReal(((g * 2 + o / 16) * taps * inputs + tap * inputs + c) * 16 + o % 16,
                           0.5 * w.real(((g * outputs + o) * inputs + c) * taps + tap));
  Parameters parameters(R"(
    graph.parameter @w : tensor<34x2x2x3xf16> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @s : tensor<34xf32> {source = 1 : i32, offset = 0 : i64}
    graph.parameter @wide : tensor<34x2x2x3xf32> {recipe = #graph.recipe<"convert", [@w], {type = f32}>}
    graph.parameter @scaled : tensor<34x2x2x3xf32> {recipe = #graph.recipe<"mul_channel", [@wide, @s], {axis = 0 : i64}>}
    graph.parameter @packed : tensor<2x2x12x16xf32> {recipe = #graph.recipe<"pack_conv", [@scaled], {groups = 2 : i64}>})",
                        {w, scale});
  checkTensor(parameters.read("packed"), expected, "packed");
}

TEST_CASE("filters transformed for Winograd tiles", "[recipes]") {
  // G of the points 0, 1, -1 and 0, 5/8, -5/8, 3/2, -3/2, each with infinity.
  const double g2[4][3] = {{-1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  const double n0 = 225.0 / 256, na = -2975.0 / 2048, nb = 1071.0 / 128;
  const double g4[6][3] = {{1 / n0, 0, 0},
                           {1 / na, 0.625 / na, 0.390625 / na},
                           {1 / na, -0.625 / na, 0.390625 / na},
                           {1 / nb, 1.5 / nb, 2.25 / nb},
                           {1 / nb, -1.5 / nb, 2.25 / nb},
                           {0, 0, 1}};
  const int64_t outputs = 18, channels = 3;
  TensorValue w = counting(ElementType::F32, {outputs, channels, 3, 3});
  auto expect = [&](int64_t n, auto &g) {
    TensorValue expected(ElementType::F32, {2, n * n, channels, 16});
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t e = 0; e < n * n; ++e) {
          double sum = 0;
          for (int64_t t = 0; t < 9; ++t)
            sum += g[e / n][t / 3] * g[e % n][t % 3] * w.real((o * channels + c) * 9 + t);
          expected.setReal(((o / 16 * n * n + e) * channels + c) * 16 + o % 16, sum);
        }
    return expected;
  };
  Parameters parameters(R"(
    graph.parameter @w : tensor<18x3x3x3xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @p2 : tensor<2x16x3x16xf32> {recipe = #graph.recipe<"pack_winograd", [@w], {tile = 2 : i64}>}
    graph.parameter @p4 : tensor<2x36x3x16xf32> {recipe = #graph.recipe<"pack_winograd", [@w], {tile = 4 : i64}>})",
                        {w});
  // Sums of products in another order may differ in the last bit.
  for (auto [name, expected] : {std::pair("p2", expect(4, g2)), std::pair("p4", expect(6, g4))}) {
    TensorValue actual = parameters.read(name);
    REQUIRE(actual.shape == expected.shape);
    for (int64_t i = 0; i < expected.count(); ++i)
      REQUIRE(std::abs(actual.real(i) - expected.real(i)) <= 1e-6 * (1 + std::abs(expected.real(i))));
  }
}

TEST_CASE("depthwise and recurrent weights", "[recipes]") {
  TensorValue w = counting(ElementType::F32, {5, 1, 2, 2}), taps(w.type, {4, 5});
  for (int64_t c = 0; c < 5; ++c)
    for (int64_t t = 0; t < 4; ++t)
      taps.copyElement(t * 5 + c, w, c * 4 + t);
  const int64_t gates = 3, hidden = 18, columns = 2;
  TensorValue r = counting(ElementType::F32, {2, gates * hidden, columns}), panels(r.type, {2, 2, columns, gates, 16});
  for (int64_t d = 0; d < 2; ++d)
    for (int64_t g = 0; g < gates; ++g)
      for (int64_t h = 0; h < hidden; ++h)
        for (int64_t x = 0; x < columns; ++x)
          panels.copyElement((((d * 2 + h / 16) * columns + x) * gates + g) * 16 + h % 16, r,
                             (d * gates * hidden + g * hidden + h) * columns + x);
  Parameters parameters(R"(
    graph.parameter @w : tensor<5x1x2x2xf32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @r : tensor<2x54x2xf32> {source = 1 : i32, offset = 0 : i64}
    graph.parameter @pw : tensor<4x5xf32> {recipe = #graph.recipe<"pack_depthwise", [@w], {}>}
    graph.parameter @pr : tensor<2x2x2x3x16xf32> {recipe = #graph.recipe<"pack_recurrent", [@r], {gates = 3 : i64}>})",
                        {w, r});
  checkTensor(parameters.read("pw"), taps, "depthwise");
  checkTensor(parameters.read("pr"), panels, "recurrent");
}

TEST_CASE("strides describe views of stored bytes", "[recipes]") {
  Parameters parameters(R"(
    graph.parameter @t : tensor<3x2xi32> {source = 0 : i32, offset = 4 : i64, strides = array<i64: 1, 3>}
    graph.parameter @splat : tensor<4xi32> {source = 0 : i32, offset = 8 : i64, strides = array<i64: 0>}
    graph.parameter @scalar : tensor<i32> {source = 0 : i32, offset = 24 : i64, strides = array<i64>}
    graph.parameter @empty : tensor<0x5xi32> {source = 0 : i32, offset = 28 : i64, strides = array<i64: 1000000, 1>})",
                        {counting(ElementType::I32, {7})});
  checkTensor(parameters.read("t"), i32({3, 2}, {2, 5, 3, 6, 4, 7}), "transposed");
  checkTensor(parameters.read("splat"), i32({4}, {3, 3, 3, 3}), "splat");
  checkTensor(parameters.read("scalar"), i32({}, {7}), "scalar");
  checkTensor(parameters.read("empty"), i32({0, 5}, {}), "empty");
  CHECK(!storedBytes(parameters.find("t")));
}

TEST_CASE("bytes outside of their source are refused", "[recipes]") {
  Parameters parameters(R"(
    graph.parameter @late : tensor<2xi32> {source = 0 : i32, offset = 24 : i64}
    graph.parameter @far : tensor<2xi32> {source = 0 : i32, offset = 9223372036854775807 : i64}
    graph.parameter @wide : tensor<2xi32> {source = 0 : i32, offset = 0 : i64, strides = array<i64: 7>}
    graph.parameter @wider : tensor<3xi32> {source = 0 : i32, offset = 0 : i64, strides = array<i64: 9223372036854775807>}
    graph.parameter @unknown : tensor<2xi32> {source = 5 : i32, offset = 0 : i64}
    graph.parameter @good : tensor<7xi32> {source = 0 : i32, offset = 0 : i64}
    graph.parameter @made : tensor<2x1xi32> {recipe = #graph.recipe<"reshape", [@late], {shape = array<i64: 2, 1>}>})",
                        {counting(ElementType::I32, {7})});
  parameters.checkError("late", "lies outside of its source of 28 bytes: 8 bytes from offset 24 on");
  parameters.checkError("far", "from offset 9223372036854775807 on");
  parameters.checkError("wide", "32 bytes from offset 0 on");
  parameters.checkError("wider", "lies outside of its source");
  parameters.checkError("unknown", "has its bytes in source 5, which is not loaded");
  parameters.checkError("made", "lies outside of its source of 28 bytes");
  CHECK(!storedBytes(parameters.find("late")));
  CHECK(storedBytes(parameters.find("good"))->size() == 28);
  char few[4];
  CHECK(failed(materialize(parameters.find("good"), parameters.symbols, few)));
  CHECK_THAT(parameters.program.diagnostics, Catch::Matchers::Contains("has 28 bytes, wanted are 4"));
}

TEST_CASE("recipes that go in circles end", "[recipes]") {
  Parameters parameters(R"(
    graph.parameter @a : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@b], {shape = array<i64: 4>}>}
    graph.parameter @b : tensor<4xf32> {recipe = #graph.recipe<"reshape", [@a], {shape = array<i64: 4>}>})",
                        {});
  parameters.checkError("a", "is made by a chain of more than 64 recipes");
}

TEST_CASE("the store gives out numbers", "[recipes]") {
  ParameterStore store;
  CHECK(store.count() == 0);
  CHECK(store.addOwned(std::vector<std::byte>(3, std::byte(7))) == 0);
  CHECK(store.addOwned({}) == 1);
  CHECK(store.count() == 2);
  CHECK(store.bytes(0).size() == 3);
  CHECK(store.bytes(0)[1] == std::byte(7));
  CHECK(store.find(1)->empty());
  CHECK(!store.find(2));
  CHECK(!store.find(-1));
  CHECK(store.bytes(9).empty());
  CHECK(store.path(0).empty());
  auto file = MappedFile::open(STATOR_SOURCE_DIR "/CMakeLists.txt");
  REQUIRE(file.ok());
  CHECK(store.addMapped(*file, "CMakeLists.txt") == 2);
  CHECK(store.addMapped(*file, "again") == 2);
  CHECK(store.path(2) == "CMakeLists.txt");
  CHECK(store.bytes(2).size() == (*file)->bytes().size());
}
