// DEPS: stator::compiler::Import::Torch::Aten stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Trace/TraceCase.h"

#include "compiler/Import/Torch/Aten/Control.h"

using namespace stator;
using namespace stator::torch;
namespace fn = stator::trace::fn;

namespace {

/// A row of a matrix, as `x[row]` is.
TensorRef row(Context &context, const TensorRef &x, int64_t row) {
  ViewStep step;
  step.read = [row](const trace::Tensor &base) { return fn::squeeze(fn::slice(base, {row}, {row + 1}), {0}); };
  step.write = [row](const trace::Tensor &base, const trace::Tensor &part) {
    trace::Tensors rows;
    for (int64_t i = 0; i < base.dim(0).constant(); ++i)
      rows.push_back(i == row ? fn::unsqueeze(part, {0}) : fn::slice(base, {i}, {i + 1}));
    return fn::concat(rows, 0);
  };
  return context.view(x, step, {trace::Dim(1)}, row * 2);
}

struct ControlCase : Case {
  Context context{b};
  Value condition(double value) { return context.item(input(ElementType::I1, {}, {value})); }
};

} // namespace

TEST_CASE("a write through a view is seen through all others") {
  ControlCase c;
  TensorRef x = c.context.make(c.input(ElementType::F32, {2, 2}, {1, 2, 3, 4}));
  TensorRef first = row(c.context, x, 0), again = row(c.context, x, 0), second = row(c.context, x, 1);
  c.context.write(first, fn::add(c.context.read(first), c.context.read(second)));
  CHECK(x->storage()->isWritten);
  c.context.write(second, c.b.scalar(ElementType::F64, 9)); // Cast and broadcast.
  c.expect(fn::concat({fn::reshape(c.context.read(x), trace::Dims{4}), c.context.read(again)}, 0), {6}, {4, 6, 9, 9, 4, 6});
}

TEST_CASE("branches on data merge what they give") {
  for (double taken : {1.0, 0.0}) {
    ControlCase c;
    Value condition = c.condition(taken);
    TensorRef x = c.context.make(c.input(ElementType::F32, {2}, {1, 2}));
    Values merged = dynamicIf(
        c.context, condition.asBool(),
        [&] {
          return Values{Value::tensor(x), Value::integer(3), Value::integer(7), Value::list({Value::real(1.5), Value::none()}),
                        Value::uninitialized()};
        },
        [&] {
          TensorRef doubled = c.context.make(fn::add(c.context.read(x), c.context.read(x)));
          return Values{Value::tensor(doubled), Value::integer(4), Value::integer(7), Value::list({Value::real(2.5), Value::none()}),
                        Value::tensor(doubled)};
        });
    INFO(c.b.status().message());
    REQUIRE(merged.size() == 5);
    CHECK(merged[1].isData());
    CHECK(merged[2].knownInt() == 7);
    CHECK(merged[3].asList().items[1].isNone());
    CHECK(merged[4].isTensor());
    trace::Tensor numbers =
        fn::reshape(fn::add(c.context.scalarTensor(merged[1]), c.context.scalarTensor(merged[3].asList().items[0])), trace::Dims{1});
    trace::Tensor all = fn::concat({fn::cast(c.context.read(merged[0].asTensor()), ElementType::F64), numbers}, 0);
    c.expect(all, {3}, taken ? std::vector<double>{1, 2, 4.5} : std::vector<double>{2, 4, 6.5});
  }
}

TEST_CASE("a known condition takes its branch") {
  ControlCase c;
  Values values = dynamicIf(
      c.context, Value::boolean(true).asBool(), [] { return Values{Value::string("yes")}; }, [] { return Values{Value::string("no")}; });
  CHECK(values.front().asString() == "yes");
}

TEST_CASE("memory that one branch writes is a result") {
  for (double taken : {1.0, 0.0}) {
    ControlCase c;
    Value condition = c.condition(taken);
    TensorRef x = c.context.make(c.input(ElementType::F32, {2, 2}, {1, 2, 3, 4}));
    TensorRef second = row(c.context, x, 1);
    dynamicIf(
        c.context, condition.asBool(),
        [&] {
          c.context.write(second, fn::neg(c.context.read(second)));
          c.context.write(second, fn::mul(c.context.read(second), c.context.read(row(c.context, x, 0))));
          return Values();
        },
        [&] {
          (void)c.context.read(row(c.context, x, 0)); // What is read in a branch is not kept for outside.
          return Values();
        });
    c.expect(fn::concat({fn::reshape(c.context.read(x), trace::Dims{4}), c.context.read(second)}, 0), {6},
             taken ? std::vector<double>{1, 2, -3, -8, -3, -8} : std::vector<double>{1, 2, 3, 4, 3, 4});
  }
}

TEST_CASE("nested branches hand writes outwards") {
  ControlCase c;
  Value outer = c.condition(1), inner = c.condition(0);
  TensorRef x = c.context.make(c.input(ElementType::F32, {1}, {1}));
  auto add = [&](double value) { c.context.write(x, fn::add(c.context.read(x), c.b.scalar(ElementType::F32, value))); };
  dynamicIf(
      c.context, outer.asBool(),
      [&] {
        add(1);
        dynamicIf(
            c.context, inner.asBool(),
            [&] {
              add(10);
              return Values();
            },
            [&] {
              add(100);
              return Values();
            });
        add(1000);
        return Values();
      },
      [] { return Values(); });
  c.expect(c.context.read(x), {1}, {1102});
}

TEST_CASE("loops on data carry values and memory") {
  ControlCase c;
  TensorRef limit = c.context.make(c.input(ElementType::I64, {}, {3}));
  TensorRef x = c.context.make(c.input(ElementType::F32, {2, 2}, {1, 2, 3, 4}));
  TensorRef first = row(c.context, x, 0);
  Values initial{Value::integer(0), Value::tuple({Value::none(), Value::real(0.5)})};
  Values last = dynamicWhile(
      c.context, initial,
      [&](const Values &values) { return c.context.item(fn::lt(c.context.scalarTensor(values[0]), c.context.read(limit))); },
      [&](const Values &values) {
        c.context.write(first, fn::add(c.context.read(first), c.context.read(row(c.context, x, 1))));
        trace::Tensor next = fn::add(c.context.scalarTensor(values[0]), c.b.scalarInt(ElementType::I64, 1));
        return Values{c.context.item(next), Value::tuple({Value::none(), values[1].asTuple().items[1]})};
      });
  INFO(c.b.status().message());
  REQUIRE(last.size() == 2);
  trace::Tensor count = fn::reshape(fn::cast(c.context.scalarTensor(last[0]), ElementType::F32), trace::Dims{1});
  c.expect(fn::concat({fn::reshape(c.context.read(x), trace::Dims{4}), count}, 0), {5}, {10, 14, 3, 4, 3});
}

TEST_CASE("what control flow cannot merge is an error") {
  ControlCase c;
  Value condition = c.condition(1);
  SECTION("a string") {
    dynamicIf(c.context, condition.asBool(), [] { return Values{Value::string("a")}; }, [] { return Values{Value::string("b")}; });
    CHECK(c.b.status().message().find("a value is str or str, depending on data") != std::string::npos);
  }
  SECTION("None or a number") {
    dynamicIf(c.context, condition.asBool(), [] { return Values{Value::none()}; }, [] { return Values{Value::integer(1)}; });
    CHECK(c.b.status().message().find("a value is None or int, depending on data") != std::string::npos);
  }
  SECTION("lists of two lengths") {
    dynamicIf(
        c.context, condition.asBool(), [] { return Values{Value::list({})}; }, [] { return Values{Value::list({Value::integer(1)})}; });
    CHECK(c.b.status().message().find("a list has 0 or 1 elements, depending on data") != std::string::npos);
  }
  SECTION("a list that grows in a loop") {
    dynamicWhile(
        c.context, {Value::list({})}, [&](const Values &) { return condition; },
        [](const Values &) { return Values{Value::list({Value::integer(1)})}; });
    CHECK(c.b.status().message().find("it must keep its form") != std::string::npos);
  }
}

TEST_CASE("memory that variables share only on one path must not be written and read") {
  bool isLoop = GENERATE(false, true);
  ControlCase c;
  Value condition = c.condition(1);
  TensorRef x = c.context.make(c.input(ElementType::F32, {2}, {1, 2}));
  auto negated = [&] { return Values{Value::tensor(c.context.make(fn::neg(c.context.read(x))))}; };
  auto shared = [&] { return Values{Value::tensor(c.context.alias(x))}; };
  Values merged =
      isLoop ? dynamicWhile(
                   c.context, {Value::tensor(x)}, [&](const Values &) { return condition; }, [&](const Values &) { return negated(); })
             : dynamicIf(c.context, condition.asBool(), shared, negated);
  INFO(c.b.status().message());
  REQUIRE(merged.size() == 1);
  TensorRef result = merged.front().asTensor();
  trace::Tensor five = c.b.scalar(ElementType::F32, 5);
  std::string message = "may share its memory, depending on data, with one that was written";
  SECTION("what is not read again does not matter") {
    c.context.write(result, five);
    CHECK(c.context.read(result));
    CHECK(c.b.ok());
  }
  SECTION("the other is read") {
    c.context.write(result, five);
    (void)c.context.read(x);
    CHECK(c.b.status().message().find(message) != std::string::npos);
  }
  SECTION("the variable is read") {
    c.context.write(x, five);
    (void)c.context.read(result);
    CHECK(c.b.status().message().find(message) != std::string::npos);
  }
}

TEST_CASE("a loop passes on what is out of date as long as nobody looks at it") {
  // items = [x[0]]; while ...: x.add_(1); items = [x[0]] (in a list that is changed in place)
  ControlCase c;
  Value condition = c.condition(0);
  TensorRef x = c.context.make(c.input(ElementType::F32, {2, 2}, {1, 2, 3, 4}));
  Value items = Value::list({Value::tensor(row(c.context, x, 0))});
  bool isRead = GENERATE(false, true);
  Values after = dynamicWhile(
      c.context, {items}, [&](const Values &) { return condition; },
      [&](const Values &values) {
        c.context.write(x, fn::add(c.context.read(x), c.b.scalar(ElementType::F32, 1)));
        if (isRead)
          (void)c.context.read(values[0].asList().items[0].asTensor());
        items.asList().items = {Value::tensor(row(c.context, x, 0))};
        return Values{items};
      });
  INFO(c.b.status().message());
  CHECK(c.b.ok() == !isRead);
  if (c.b.ok())
    c.expect(fn::reshape(c.context.read(x), trace::Dims{4}), {4}, {1, 2, 3, 4});
}

TEST_CASE("a write on one path does not concern the other") {
  // if p: (if q: b = x else: b = -x) else: x.add_(1); b = -x
  ControlCase c;
  Value outer = c.condition(1), inner = c.condition(1);
  TensorRef x = c.context.make(c.input(ElementType::F32, {2}, {1, 2}));
  auto negated = [&] { return Values{Value::tensor(c.context.make(fn::neg(c.context.read(x))))}; };
  Values merged = dynamicIf(
      c.context, outer.asBool(),
      [&] { return dynamicIf(c.context, inner.asBool(), [&] { return Values{Value::tensor(c.context.alias(x))}; }, negated); },
      [&] {
        c.context.write(x, fn::add(c.context.read(x), c.b.scalar(ElementType::F32, 1)));
        return negated();
      });
  INFO(c.b.status().message());
  REQUIRE(merged.size() == 1);
  c.expect(c.context.read(merged.front().asTensor()), {2}, {1, 2});
}

TEST_CASE("a loop that gives a variable a tensor from outside and writes it in the next step") {
  // while p: a.add_(1); a = b
  ControlCase c;
  Value condition = c.condition(1);
  TensorRef a = c.context.make(c.input(ElementType::F32, {2}, {1, 2})), b = c.context.make(c.input(ElementType::F32, {2}, {3, 4}));
  dynamicWhile(
      c.context, {Value::tensor(a)}, [&](const Values &) { return condition; },
      [&](const Values &values) {
        TensorRef now = values[0].asTensor();
        c.context.write(now, fn::add(c.context.read(now), c.b.scalar(ElementType::F32, 1)));
        return Values{Value::tensor(b)};
      });
  CHECK(c.b.status().message().find("may share its memory, depending on data, with one that was written") != std::string::npos);
}
