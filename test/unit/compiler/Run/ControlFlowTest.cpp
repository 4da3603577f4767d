// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// Control flow from the tracing API to kernels: what front-ends of PyTorch and ONNX models write, at every CPU level.
#include "unit/compiler/Run/CompiledModel.h"

namespace stator::test {

using serialization::InstructionKind;
using trace::Builder;
using trace::Dim;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;
namespace fn = stator::trace::fn;

namespace {

constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::I64,
                                  ElementType::I32, ElementType::I16, ElementType::I8,  ElementType::U8,   ElementType::I1};

Tensor weight(Builder &b, const std::string &name, const std::vector<int64_t> &shape, int64_t seed = 1, double scale = 0.2) {
  std::vector<double> values = noise(ElementType::F32, shape, seed).reals();
  for (double &value : values)
    value *= scale;
  TensorValue tensor = TensorValue::of(ElementType::F32, shape, values);
  return b.parameter(name, ElementType::F32, shape, tensor.data.data(), tensor.data.size());
}

Tensor step(const Tensor &x) { return x.type() == ElementType::I1 ? fn::logicalNot(x) : fn::add(x, fn::scalarLike(x, 1)); }

/// for (i = 0; i < n; ++i) values = body(i, values)
Tensors repeat(Builder &b, const Tensor &n, Tensors values, const std::function<Tensors(const Tensor &, const Tensors &)> &body) {
  values.insert(values.begin(), b.scalarInt(ElementType::I64, 0));
  Tensors results = fn::whileLoop(
      values, [&](const Tensors &v) { return fn::lt(v[0], n); },
      [&](const Tensors &v) {
        Tensors next = body(v[0], Tensors(v.begin() + 1, v.end()));
        next.insert(next.begin(), v[0] + b.scalarInt(ElementType::I64, 1));
        return next;
      });
  if (!results.empty())
    results.erase(results.begin());
  return results;
}

TensorValue steps(int64_t n) { return number(ElementType::I64, double(n)); }

} // namespace

TEST_CASE("branches and loops over every element type") {
  for (ElementType type : kTypes) {
    INFO(name(type));
    Builder b;
    Tensor c = b.input("c", ElementType::I1, {}), n = b.input("n", ElementType::I64, {});
    Tensor x = b.input("x", type, {2, 7}), scalar = b.input("scalar", type, {});
    Tensors chosen = fn::ifThenElse(c, [&] { return Tensors{step(x), scalar}; }, [&] { return Tensors{x, step(scalar)}; });
    b.output("chosen", chosen[0]);
    b.output("chosen scalar", chosen[1]);
    Tensors looped = repeat(b, n, {x, scalar}, [&](const Tensor &, const Tensors &v) { return Tensors{step(v[0]), step(v[1])}; });
    b.output("looped", looped[0]);
    b.output("looped scalar", looped[1]);
    Tensors swapped = repeat(b, n, {x, chosen[0], chosen[0]}, [&](const Tensor &, const Tensors &v) { return Tensors{v[1], v[2], v[0]}; });
    b.output("a", swapped[0]);
    b.output("b", swapped[1]);
    b.output("c", swapped[2]);
    REQUIRE(b.finish().ok());
    CompiledModel model(b);
    for (int64_t count : {0, 1, 2, 5})
      model.run("forward", {number(ElementType::I1, count % 2), steps(count), noise(type, {2, 7}, count), number(type, 1)});
  }
}

TEST_CASE("branches that pass on inputs, constants, parameters and each other's results") {
  Builder b;
  Tensor c = b.input("c", ElementType::I1, {}), x = b.input("x", ElementType::F32, {8, 8});
  Tensor w = weight(b, "w", {40, 40}), zeros = fn::full(b, ElementType::F32, {8, 8}, 0);
  Tensor y = fn::relu(x);
  Tensors first = fn::ifThenElse(
      c, [&] { return Tensors{x, zeros, w, y}; },
      [&] { return Tensors{y, y, fn::neg(w), b.constant(ElementType::F32, {8, 8}, std::vector<float>(64, 2).data(), 256)}; });
  Tensors second =
      fn::ifThenElse(fn::logicalNot(c), [&] { return Tensors{first[0], first[0]}; }, [&] { return Tensors{first[1], first[3]}; });
  for (size_t i = 0; i < 4; ++i)
    b.output("first" + std::to_string(i), first[i]);
  b.output("second0", second[0]);
  b.output("second1", second[1]);
  b.output("y", y);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t c1 : {0, 1})
    model.run("forward", {number(ElementType::I1, c1), noise(ElementType::F32, {8, 8})});
}

TEST_CASE("contractions, convolutions, attention and recurrent layers inside of a loop") {
  std::string library = GENERATE("none", "onednn");
  Builder b;
  Dim batch = b.symbol("B", 1, 8);
  Tensor n = b.input("n", ElementType::I64, {}), x = b.input("x", ElementType::F32, {batch, 32});
  Tensor image = b.input("image", ElementType::F32, {batch, 4, 8, 8}), sequence = b.input("sequence", ElementType::F32, {5, batch, 16});
  Tensor w1 = weight(b, "w1", {64, 32}), w2 = weight(b, "w2", {32, 64}, 2), bias = weight(b, "bias", {64}, 3);
  Tensor filter = weight(b, "filter", {4, 4, 3, 3}, 4), deep = weight(b, "deep", {4, 1, 3, 3}, 5);
  Tensor gamma = weight(b, "gamma", {32}, 6, 1), beta = weight(b, "beta", {32}, 7);
  Tensor lw = weight(b, "lw", {1, 64, 16}, 8), lr = weight(b, "lr", {1, 64, 16}, 9), lb = weight(b, "lb", {1, 128}, 10);
  Tensors looped = repeat(b, n, {x, image, sequence}, [&](const Tensor &, const Tensors &v) {
    Tensor hidden = fn::gelu(fn::linear(v[0], w1, bias));
    Tensor row = fn::layerNorm(v[0] + fn::linear(hidden, w2, {}), gamma, beta);
    fn::ConvOptions same, grouped;
    same.autoPad = grouped.autoPad = fn::AutoPad::SameUpper;
    grouped.groups = 4;
    Tensor convolved = fn::relu(fn::conv(fn::conv(v[1], filter, {}, same), deep, {}, grouped)) + v[1];
    fn::RecurrentInputs inputs;
    inputs.x = v[2];
    inputs.w = lw;
    inputs.r = lr;
    inputs.bias = lb;
    Tensor y = fn::squeeze(fn::lstm(inputs).y, {1});
    Tensor heads = fn::transpose(fn::reshape(y, trace::Dims{5, batch, 2, 8}), {1, 2, 0, 3});
    Tensor attended = fn::attention(heads, heads, heads, {});
    Tensor back = fn::reshape(fn::transpose(attended, {2, 0, 1, 3}), trace::Dims{5, batch, 16});
    return Tensors{row, convolved, back};
  });
  b.output("x", looped[0]);
  b.output("image", looped[1]);
  b.output("sequence", looped[2]);
  REQUIRE(b.finish().ok());
  CompiledModel model(b, 2e-4, library);
  // Weights are packed and convolutions take what follows them, as outside of a loop.
  if (library == "none")
    CHECK(model.count("forward", InstructionKind::Kernel) <= 24);
  for (int64_t count : {0, 1, 3})
    model.run("forward", {steps(count), noise(ElementType::F32, {count + 1, 32}), noise(ElementType::F32, {count + 1, 4, 8, 8}, 2),
                          noise(ElementType::F32, {5, count + 1, 16}, 3)});
}

TEST_CASE("nested control flow with values from all levels outside") {
  Builder b;
  Dim rows = b.symbol("R", 1, 16);
  Tensor n = b.input("n", ElementType::I64, {}), limit = b.input("limit", ElementType::F32, {}),
         x = b.input("x", ElementType::F32, {rows, 6});
  Tensor scaled = x * b.scalar(ElementType::F32, 0.5);
  Tensor result = repeat(b, n, {x, fn::full(b, {rows, 6}, b.scalar(ElementType::F32, 1))}, [&](const Tensor &i, const Tensors &v) {
    Tensor shifted = v[0] + scaled;
    Tensor isLarge = fn::gt(fn::reduce(fn::abs(shifted), fn::Reduction::Max, {}, false), limit);
    Tensors inner = fn::ifThenElse(
        isLarge,
        [&] {
          Tensor even = fn::eq(fn::modulo(i, b.scalarInt(ElementType::I64, 2)), b.scalarInt(ElementType::I64, 0));
          return fn::ifThenElse(even, [&] { return Tensors{fn::tanh(shifted), v[1]}; }, [&] { return Tensors{scaled, v[0]}; });
        },
        [&] {
          return repeat(b, i, {shifted, v[1]}, [&](const Tensor &j, const Tensors &u) {
            return Tensors{u[0] + fn::cast(j, ElementType::F32) * x, fn::maximum(u[1], u[0])};
          });
        });
    return Tensors{inner[0], inner[1]};
  })[0];
  b.output("y", result);
  REQUIRE(b.finish().ok());
  CompiledModel model(b, 1e-4);
  for (int64_t count : {0, 1, 4})
    for (double bound : {0.0, 3.0, 1e9})
      model.run("forward", {steps(count), number(ElementType::F32, bound), noise(ElementType::F32, {count * 3 + 1, 6}, count)});
}

TEST_CASE("a search until the data says stop") {
  // Newton's method in f64, as scripted models write it with Python floats.
  Builder b;
  Tensor x = b.input("x", ElementType::F64, {});
  Tensors found = fn::whileLoop(
      {x, b.scalarInt(ElementType::I64, 0)},
      [&](const Tensors &v) {
        Tensor far = fn::gt(fn::abs(v[0] * v[0] - x), b.scalar(ElementType::F64, 1e-12));
        return fn::logicalAnd(far, fn::lt(v[1], b.scalarInt(ElementType::I64, 50)));
      },
      [&](const Tensors &v) {
        Tensor next = (v[0] + x / v[0]) * b.scalar(ElementType::F64, 0.5);
        return Tensors{next, v[1] + b.scalarInt(ElementType::I64, 1)};
      });
  b.output("root", found[0]);
  b.output("steps", found[1]);
  REQUIRE(b.finish().ok());
  CompiledModel model(b, 1e-12);
  for (double value : {1.0, 2.0, 1e6})
    CHECK(std::abs(model.run("forward", {number(ElementType::F64, value)})[0].real(0) - std::sqrt(value)) < 1e-6);
}

TEST_CASE("greedy decoding in the graph: a loop that gathers, scores and scatters") {
  Builder b;
  Tensor n = b.input("n", ElementType::I64, {}), start = b.input("start", ElementType::I64, {});
  Tensor table = weight(b, "table", {50, 32}), out = weight(b, "out", {50, 32}, 2);
  Tensor tokens = fn::full(b, ElementType::I64, {16}, 0);
  Tensors done = repeat(b, n, {tokens, start, fn::full(b, ElementType::F32, {16, 32}, 0)}, [&](const Tensor &i, const Tensors &v) {
    Tensor hidden = fn::gather(table, v[1]);
    Tensor where = fn::reshape(i, trace::Dims{1, 1});
    Tensor cache = fn::scatterND(v[2], where, fn::unsqueeze(hidden, {0}));
    Tensor logits = fn::linear(fn::unsqueeze(fn::reduce(cache, fn::Reduction::Sum, {0}, false), {0}), out, {});
    Tensor next = fn::reshape(fn::argMax(logits, -1, false), trace::Dims{});
    return Tensors{fn::scatterND(v[0], where, fn::unsqueeze(next, {0})), next, cache};
  });
  b.output("tokens", done[0]);
  b.output("cache", done[2]);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t count : {0, 1, 16})
    model.run("forward", {steps(count), steps(count % 7)});
}

TEST_CASE("conditions of one element, and conditions that are constant after folding") {
  Builder b;
  Tensor flags = b.input("flags", ElementType::I32, {1, 1}), x = b.input("x", ElementType::F32, {3});
  Tensor big = weight(b, "big", {2000});
  Tensor known = fn::gt(fn::reduce(fn::square(big), fn::Reduction::Sum, {}, false), b.scalar(ElementType::F32, 0));
  b.output("y", fn::ifThenElse(flags, [&] { return Tensors{fn::exp(x)}; }, [&] { return Tensors{x}; })[0]);
  b.output("z", fn::ifThenElse(known, [&] { return Tensors{fn::sin(x)}; }, [&] { return Tensors{fn::cos(x)}; })[0]);
  Tensors never =
      fn::whileLoop({x}, [&](const Tensors &) { return fn::logicalNot(known); }, [&](const Tensors &v) { return Tensors{fn::exp(v[0])}; });
  b.output("never", never[0]);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t flag : {0, 1})
    model.run("forward", {TensorValue::of(ElementType::I32, {1, 1}, {double(flag)}), noise(ElementType::F32, {3})});
}

TEST_CASE("loops whose results nobody uses, and results used twice") {
  Builder b;
  Tensor n = b.input("n", ElementType::I64, {}), x = b.input("x", ElementType::F32, {5, 5});
  Tensors looped =
      repeat(b, n, {x, x, x}, [&](const Tensor &, const Tensors &v) { return Tensors{fn::sin(v[0]), fn::matmul(v[1], v[1]), v[0]}; });
  b.output("a", looped[0]);
  b.output("again", looped[0]);
  b.output("x", x);
  b.output("previous", fn::reshape(looped[2], trace::Dims{25}));
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t count : {0, 1, 2})
    model.run("forward", {steps(count), noise(ElementType::F32, {5, 5})});
}

} // namespace stator::test
