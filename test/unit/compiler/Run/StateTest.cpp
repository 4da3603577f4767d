// DEPS: stator::compiler stator::stator stator::dialects::Graph::Interpreter stator::serialization::Artifact
// State from the tracing API to the session: what methods leave behind, in which order, and with how many copies.
#include "unit/compiler/Run/CompiledModel.h"

#include "dialects/Graph/ParameterStore.h"

namespace stator::test {

using serialization::InstructionKind;
using trace::Builder;
using trace::Dim;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;
namespace fn = stator::trace::fn;

namespace {

Tensor stateOf(Builder &b, const std::string &name, const TensorValue &value) {
  return b.state(name, value.type, Ints(value.shape.begin(), value.shape.end()), value.data.data(), value.data.size());
}

Tensor parameterOf(Builder &b, const std::string &name, const TensorValue &value) {
  return b.parameter(name, value.type, Ints(value.shape.begin(), value.shape.end()), value.data.data(), value.data.size());
}

} // namespace

TEST_CASE("a counter counts calls") {
  Builder b;
  Tensor count = stateOf(b, "count", number(ElementType::I64, 0));
  b.setState(count, count + b.scalarInt(ElementType::I64, 1));
  b.output("before", count);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 3; ++call)
    CHECK(model.run("forward", {})[0].integer(0) == call);
  for (Session &session : model.sessions) {
    REQUIRE(session.resetState().ok());
    CHECK(*session.state("count")->data<int64_t>() == 0);
  }
  model.state.clear();
  CHECK(model.run("forward", {})[0].integer(0) == 0);
}

TEST_CASE("states of every element type") {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::I64, ElementType::I32,
                           ElementType::I16, ElementType::I8, ElementType::U8, ElementType::I1}) {
    INFO(name(type));
    Builder b;
    Tensor x = b.input("x", type, {3, 5});
    Tensor s = stateOf(b, "s", noise(type, {3, 5}, 3)), last = stateOf(b, "last", noise(type, {3, 5}, 4));
    b.setState(s, type == ElementType::I1 ? fn::logicalXor(s, x) : fn::maximum(s, fn::sub(x, last)));
    b.setState(last, x);
    b.output("old", s);
    b.output("sum", type == ElementType::I1 ? fn::logicalOr(s, x) : s + x);
    REQUIRE(b.finish().ok());
    CompiledModel model(b);
    for (int64_t call = 0; call < 3; ++call)
      model.run("forward", {noise(type, {3, 5}, 10 + call)});
  }
}

TEST_CASE("states exchange their values") {
  Builder b;
  Tensor a = stateOf(b, "a", noise(ElementType::F32, {40}, 1)), c = stateOf(b, "c", noise(ElementType::F32, {40}, 2));
  Tensor d = stateOf(b, "d", noise(ElementType::F32, {40}, 3));
  b.setState(a, c);
  b.setState(c, d);
  b.setState(d, a);
  b.output("a", a);
  b.output("sum", a + c);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 4; ++call)
    model.run("forward", {});
}

TEST_CASE("an element-wise update happens where the state lies") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {100});
  Tensor mean = stateOf(b, "mean", noise(ElementType::F32, {100}));
  b.setState(mean, mean * b.scalar(ElementType::F32, 0.9) + x * b.scalar(ElementType::F32, 0.1));
  b.output("y", x - mean);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  CHECK(model.count("forward", InstructionKind::Copy) == 0);
  for (int64_t call = 0; call < 3; ++call)
    model.run("forward", {noise(ElementType::F32, {100}, call)});
}

TEST_CASE("an update waits for readers of the old value that come later") {
  Builder b;
  Tensor s = stateOf(b, "s", noise(ElementType::F32, {8, 8}));
  Tensor next = fn::matmul(s, s);
  b.setState(s, next);
  b.output("both", fn::concat({fn::softmax(next), fn::transpose(s)}, 1));
  b.output("old", s);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 3; ++call)
    model.run("forward", {});
}

TEST_CASE("a key-value cache is updated in place") {
  Builder b;
  Tensor q = b.input("q", ElementType::F32, {1, 2, 1, 16}), k = b.input("k", ElementType::F32, {1, 2, 16});
  Tensor v = b.input("v", ElementType::F32, {1, 2, 16});
  Tensor position = stateOf(b, "position", number(ElementType::I64, 0));
  Tensor keys = stateOf(b, "keys", TensorValue(ElementType::F32, {32, 2, 16}));
  Tensor values = stateOf(b, "values", TensorValue(ElementType::F32, {32, 2, 16}));
  Tensor where = fn::reshape(position, trace::Dims{1, 1});
  Tensor newKeys = fn::scatterND(keys, where, k), newValues = fn::scatterND(values, where, v);
  b.setState(keys, newKeys);
  b.setState(values, newValues);
  b.setState(position, position + b.scalarInt(ElementType::I64, 1));
  auto heads = [](const Tensor &cache) { return fn::unsqueeze(fn::transpose(cache, {1, 0, 2}), {0}); };
  Tensor allowed = fn::le(fn::iota(b, ElementType::I64, {1, 1, 1, 32}, 3), position);
  b.output("y", fn::attention(q, heads(newKeys), heads(newValues), allowed));
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  CHECK(model.count("forward", InstructionKind::Copy) == 0);
  for (int64_t call = 0; call < 5; ++call)
    model.run("forward", {noise(ElementType::F32, {1, 2, 1, 16}, call), noise(ElementType::F32, {1, 2, 16}, 20 + call),
                          noise(ElementType::F32, {1, 2, 16}, 40 + call)});
}

TEST_CASE("inputs of any size change a state of fixed size") {
  Builder b;
  Dim n = b.symbol("N", 1, 64);
  Tensor x = b.input("x", ElementType::F32, {n, 12});
  Tensor total = stateOf(b, "total", TensorValue(ElementType::F32, {12})), rows = stateOf(b, "rows", number(ElementType::I64, 0));
  b.setState(total, total + fn::reduce(x, fn::Reduction::Sum, {0}, false));
  b.setState(rows, rows + b.fromDim(n));
  b.output("y", x - total);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t size : {3, 1, 64, 3})
    model.run("forward", {noise(ElementType::F32, {size, 12}, size)});
}

TEST_CASE("several methods share parameters and state") {
  Builder b("step");
  Tensor x = b.input("x", ElementType::F32, {4, 64});
  Tensor w = parameterOf(b, "w", noise(ElementType::F32, {64, 64}));
  Tensor hidden = stateOf(b, "hidden", noise(ElementType::F32, {4, 64}));
  Tensor next = fn::tanh(fn::matmul(x + hidden, w));
  b.setState(hidden, next);
  b.output("y", next);
  REQUIRE(b.finish().ok());
  {
    Builder set(b, "set");
    set.setState(set.shared("hidden"), set.input("h", ElementType::F32, {4, 64}));
    REQUIRE(set.finish().ok());
    Builder clear(b, "clear");
    clear.setState(clear.shared("hidden"), fn::full(clear, ElementType::F32, {4, 64}, 0));
    REQUIRE(clear.finish().ok());
    Builder get(b, "get");
    get.output("h", get.shared("hidden"));
    get.output("projected", fn::matmul(get.shared("hidden"), get.shared("w")));
    REQUIRE(get.finish().ok());
  }
  CompiledModel model(b);
  // The weight is there once, packed for all.
  CHECK(model.manifest().parameters.size() <= 3);
  TensorValue x1 = noise(ElementType::F32, {4, 64}, 5);
  model.run("get", {});
  model.run("step", {x1});
  model.run("get", {});
  model.run("set", {x1});
  model.run("step", {x1});
  std::string file = (std::filesystem::temp_directory_path() / ("stator-state-" + std::to_string(getpid()) + ".npz")).string();
  for (Session &session : model.sessions)
    REQUIRE(session.saveState(file).ok());
  auto saved = model.state;
  model.run("clear", {});
  CHECK(model.run("get", {})[0].real(7) == 0);
  for (Session &session : model.sessions)
    REQUIRE(session.loadState(file).ok());
  model.state = saved;
  model.run("get", {});
  model.run("step", {x1});
  std::filesystem::remove(file);
}

TEST_CASE("weights that lie strided in their file, frozen and as state") {
  Builder b;
  trace::BuilderImpl &impl = b.impl();
  TensorValue bytes = noise(ElementType::F32, {70, 70});
  int source = graph::parametersOf(impl.context()).addOwned(bytes.data);
  TensorValue flags = noise(ElementType::I1, {3000});
  for (std::byte &flag : flags.data)
    flag = std::byte(flag == std::byte(0) ? 0 : 7);
  int flagSource = graph::parametersOf(impl.context()).addOwned(flags.data);
  Tensor x = b.input("x", ElementType::F32, {4, 64}), image = b.input("image", ElementType::F32, {1, 16, 6, 6});
  Tensor transposed = impl.mappedParameter("transposed", ElementType::F32, {64, 40}, source, 8, {1, 70});
  Tensor repeated = impl.mappedParameter("repeated", ElementType::F32, {64, 64}, source, 0, {0, 2});
  Tensor filter = impl.mappedParameter("filter", ElementType::F32, {16, 16, 3, 3}, source, 4, {9, 160, 3, 1});
  Tensor state = impl.mappedParameter("state", ElementType::F32, {64, 64}, source, 16, {2, 64}, /*isMutable=*/true);
  Tensor mask = impl.mappedParameter("mask", ElementType::I1, {1000, 2}, flagSource, 1, {1, 900}, /*isMutable=*/true);
  Tensor y = fn::matmul(fn::matmul(x, repeated), transposed);
  b.output("y", y);
  b.output("z", fn::conv(image, filter, {}));
  b.output("count", fn::reduce(fn::cast(mask, ElementType::I64), fn::Reduction::Sum, {}, false));
  b.setState(state, state + fn::matmul(fn::transpose(x), x));
  b.setState(mask, fn::logicalNot(mask));
  REQUIRE(b.finish().ok());
  CompiledModel model(b, 1e-4);
  for (int64_t call = 0; call < 3; ++call)
    model.run("forward", {noise(ElementType::F32, {4, 64}, call), noise(ElementType::F32, {1, 16, 6, 6}, call)});
}

TEST_CASE("weights that change are not packed or folded") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {2, 16}), image = b.input("image", ElementType::F32, {1, 8, 9, 9});
  Tensor w = stateOf(b, "w", noise(ElementType::F32, {16, 24}, 1)), filter = stateOf(b, "filter", noise(ElementType::F32, {8, 8, 3, 3}, 2));
  Tensor deep = stateOf(b, "deep", noise(ElementType::F32, {8, 1, 3, 3}, 3));
  Tensor mean = stateOf(b, "mean", TensorValue(ElementType::F32, {8})),
         ones = stateOf(b, "ones", TensorValue::of(ElementType::F32, {8}, std::vector<double>(8, 1)));
  fn::ConvOptions grouped;
  grouped.groups = 8;
  Tensor convolved = fn::conv(fn::conv(image, filter, {}), deep, {}, grouped);
  Tensor normal = fn::batchNorm(convolved, ones, mean, mean, ones);
  b.output("y", fn::matmul(x, fn::transpose(fn::transpose(w))));
  b.output("z", fn::relu(normal));
  b.setState(w, w * b.scalar(ElementType::F32, 0.5));
  b.setState(filter, fn::neg(filter));
  b.setState(deep, fn::reverse(deep, {2}));
  b.setState(mean, fn::reduce(convolved, fn::Reduction::Mean, {0, 2, 3}, false));
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 3; ++call)
    model.run("forward", {noise(ElementType::F32, {2, 16}, call), noise(ElementType::F32, {1, 8, 9, 9}, call)});
}

TEST_CASE("states change under a condition and in a loop") {
  Builder b;
  Tensor go = b.input("go", ElementType::I1, {}), n = b.input("n", ElementType::I64, {});
  Tensor s = stateOf(b, "s", noise(ElementType::F32, {6, 6})), t = stateOf(b, "t", noise(ElementType::F32, {6, 6}, 2));
  Tensor kept = fn::ifThenElse(go, [&] { return Tensors{fn::sin(s)}; }, [&] { return Tensors{s}; })[0];
  b.setState(s, kept);
  Tensors looped = fn::whileLoop(
      {b.scalarInt(ElementType::I64, 0), t}, [&](const Tensors &v) { return fn::lt(v[0], n); },
      [&](const Tensors &v) { return Tensors{v[0] + b.scalarInt(ElementType::I64, 1), fn::cos(v[1]) + b.scalar(ElementType::F32, 0.5)}; });
  b.setState(t, looped[1]);
  b.output("steps", looped[0]);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  CHECK(model.count("forward", InstructionKind::Copy) <= 2);
  for (int64_t call = 0; call < 4; ++call)
    model.run("forward", {number(ElementType::I1, call % 2), number(ElementType::I64, call)});
}

TEST_CASE("a flag says whether there was a call before") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {6}), seen = stateOf(b, "seen", number(ElementType::I1, 0));
  Tensor mean = stateOf(b, "mean", TensorValue(ElementType::F32, {6}));
  Tensor next = fn::ifThenElse(seen, [&] { return Tensors{(mean + x) * b.scalar(ElementType::F32, 0.5)}; }, [&] { return Tensors{x}; })[0];
  b.setState(mean, next);
  b.setState(seen, b.scalarInt(ElementType::I1, 1));
  b.output("mean", next);
  b.output("seen", seen);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 3; ++call)
    CHECK(model.run("forward", {noise(ElementType::F32, {6}, call)})[1].integer(0) == (call > 0));
}

TEST_CASE("states without elements, and methods that only pass on") {
  Builder b;
  Tensor none = stateOf(b, "none", TensorValue(ElementType::F32, {2, 0, 3})), one = stateOf(b, "one", noise(ElementType::F64, {1, 1}));
  Tensor x = b.input("x", ElementType::F64, {});
  b.setState(none, fn::neg(none));
  b.setState(one, fn::reshape(x, trace::Dims{1, 1}));
  b.output("none", none);
  b.output("one", fn::reshape(one, trace::Dims{}));
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 3; ++call)
    model.run("forward", {number(ElementType::F64, double(call))});
}

TEST_CASE("one value is left in two states") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {50}), first = stateOf(b, "first", noise(ElementType::F32, {50}));
  Tensor second = stateOf(b, "second", noise(ElementType::F32, {50}, 2));
  Tensor next = fn::tanh(first + x);
  b.setState(first, next);
  b.setState(second, next);
  b.output("next", next);
  b.output("difference", next - second);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 3; ++call)
    model.run("forward", {noise(ElementType::F32, {50}, call)});
}

TEST_CASE("a recurrent layer that is called step by step") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {1, 2, 24});
  Tensor h = stateOf(b, "h", TensorValue(ElementType::F32, {1, 2, 32})), c = stateOf(b, "c", TensorValue(ElementType::F32, {1, 2, 32}));
  fn::RecurrentInputs inputs;
  inputs.x = x;
  inputs.w = parameterOf(b, "w", noise(ElementType::F32, {1, 128, 24}));
  inputs.r = parameterOf(b, "r", noise(ElementType::F32, {1, 128, 32}, 2));
  inputs.initialH = h;
  inputs.initialC = c;
  fn::RecurrentOutputs outputs = fn::lstm(inputs);
  b.setState(h, outputs.h);
  b.setState(c, outputs.c);
  b.output("y", outputs.y);
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  bool isPacked = false;
  for (const serialization::Parameter &parameter : model.manifest().parameters)
    isPacked |= !parameter.layout.empty();
  CHECK(isPacked);
  for (int64_t call = 0; call < 4; ++call)
    model.run("forward", {noise(ElementType::F32, {1, 2, 24}, call)});
}

TEST_CASE("a ring buffer: slices, shifts and a state that is also an output") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {1, 5});
  Tensor ring = stateOf(b, "ring", noise(ElementType::F32, {4, 5}));
  Tensor next = fn::concat({fn::slice(ring, {1}, {4}, {0}), x}, 0);
  b.setState(ring, next);
  b.output("all", next);
  b.output("mean", fn::reduce(next, fn::Reduction::Mean, {0}));
  REQUIRE(b.finish().ok());
  CompiledModel model(b);
  for (int64_t call = 0; call < 5; ++call)
    model.run("forward", {noise(ElementType::F32, {1, 5}, call)});
}

} // namespace stator::test
