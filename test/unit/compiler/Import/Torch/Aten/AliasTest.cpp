// DEPS: stator::compiler::Import::Torch::Aten stator::dialects::Graph::Interpreter
// Sequences in which one name is written and another one read. The expected numbers are what PyTorch 1.13 gives for the same program,
// which stands above each.
#include "test/unit/compiler/Trace/TraceCase.h"

#include "compiler/Import/Torch/Aten/Operators.h"

#include <numeric>

using namespace stator;
using namespace stator::torch;

namespace {

/// A program of calls on x, whose elements are 0, 1, 2, ...
struct Program {
  Case test;
  Context context{test.b};

  Value input(const trace::Ints &dims) {
    std::vector<double> values(static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>())));
    std::iota(values.begin(), values.end(), 0.0);
    return Value::tensor(context.make(test.input(ElementType::F32, dims, values)));
  }
  Value number(double value) { return Value::tensor(context.make(test.input(ElementType::I64, {}, {value}))); }
  Result<Value> attempt(std::string_view name, const Values &arguments, const std::vector<KeywordArgument> &keywords = {}) {
    return callByName(context, name, arguments, keywords);
  }
  Value call(std::string_view name, const Values &arguments, const std::vector<KeywordArgument> &keywords = {}) {
    auto result = attempt(name, arguments, keywords);
    INFO(name << ": " << (result.ok() ? "" : result.status().message()));
    REQUIRE(result.ok());
    return *result;
  }
  void expect(const Value &value, const trace::Ints &dims, const std::vector<double> &values) {
    REQUIRE(value.isTensor());
    test.expect(context.read(value.asTensor()), dims, values);
  }
};

Value n(int64_t value) { return Value::integer(value); }
Value ints(const trace::Ints &values) {
  Values items;
  for (int64_t value : values)
    items.push_back(n(value));
  return Value::list(std::move(items));
}

} // namespace

TEST_CASE("writes through chains of views reach the tensor") {
  Program p;
  Value x = p.input({3, 4});
  SECTION("x[:, 1:3][1:].t().mul_(10)") {
    Value columns = p.call("slice", {x, n(1), n(1), n(3)});
    Value rows = p.call("slice", {columns, n(0), n(1)});
    p.call("mul_", {p.call("t", {rows}), n(10)});
    p.expect(x, {3, 4}, {0, 1, 2, 3, 4, 50, 60, 7, 8, 90, 100, 11});
  }
  SECTION("x.view(2, 6)[1, ::2] = -1") {
    Value row = p.call("select", {p.call("view", {x, ints({2, 6})}), n(0), n(1)});
    p.call("fill_", {p.call("slice", {row, n(0), Value::none(), Value::none(), n(2)}), n(-1)});
    p.expect(x, {3, 4}, {0, 1, 2, 3, 4, 5, -1, 7, -1, 9, -1, 11});
  }
  SECTION("x.permute(1, 0).unsqueeze(0).squeeze(0)[3] += 100") {
    Value view = p.call("squeeze", {p.call("unsqueeze", {p.call("permute", {x, ints({1, 0})}), n(0)}), n(0)});
    p.call("add_", {p.call("select", {view, n(0), n(3)}), n(100)});
    p.expect(x, {3, 4}, {0, 1, 2, 103, 4, 5, 6, 107, 8, 9, 10, 111});
  }
  SECTION("x.diagonal(1).zero_()") {
    p.call("zero_", {p.call("diagonal", {x, n(1)})});
    p.expect(x, {3, 4}, {0, 0, 2, 3, 4, 5, 0, 7, 8, 9, 10, 0});
  }
  SECTION("a, b = x.split([1, 3], 1); b[0].copy_(a[:, 0]); a.neg_()") {
    Value parts = p.call("split_with_sizes", {x, ints({1, 3}), n(1)});
    Value a = parts.asList().items[0], b = parts.asList().items[1];
    p.call("copy_", {p.call("select", {b, n(0), n(0)}), p.call("select", {a, n(1), n(0)})});
    p.call("neg_", {a});
    p.expect(x, {3, 4}, {-0.0, 0, 4, 8, -4, 5, 6, 7, -8, 9, 10, 11});
  }
  SECTION("x.unbind(1)[-1].fill_(5)") {
    p.call("fill_", {p.call("unbind", {x, n(1)}).asList().items.back(), n(5)});
    p.expect(x, {3, 4}, {0, 1, 2, 5, 4, 5, 6, 5, 8, 9, 10, 5});
  }
  SECTION("x.as_strided([2, 2], [5, 1], 1).fill_(-1)") {
    p.call("fill_", {p.call("as_strided", {x, ints({2, 2}), ints({5, 1}), n(1)}), n(-1)});
    p.expect(x, {3, 4}, {0, -1, -1, 3, 4, 5, -1, -1, 8, 9, 10, 11});
  }
  SECTION("x.unfold(1, 2, 2)[:, 1].zero_()") {
    p.call("zero_", {p.call("select", {p.call("unfold", {x, n(1), n(2), n(2)}), n(1), n(1)})});
    p.expect(x, {3, 4}, {0, 1, 0, 0, 4, 5, 0, 0, 8, 9, 0, 0});
  }
  SECTION("x[1][[0, -1]] = 7, a row through index_put_") {
    Value index = p.call("tensor", {ints({0, -1})});
    p.call("index_put_", {p.call("select", {x, n(0), n(1)}), Value::list({index}), p.call("tensor", {n(7)})});
    p.expect(x, {3, 4}, {0, 1, 2, 3, 7, 5, 6, 7, 8, 9, 10, 11});
  }
  SECTION("x[:, i].fill_(-1) with a position that is data") {
    p.call("fill_", {p.call("select", {x, n(1), p.call("item", {p.number(-2)})}), n(-1)});
    p.expect(x, {3, 4}, {0, 1, -1, 3, 4, 5, -1, 7, 8, 9, -1, 11});
  }
  SECTION("x.narrow(0, i, 2).mul_(2) with a start that is data") {
    p.call("mul_", {p.call("narrow", {x, n(0), p.number(1), n(2)}), n(2)});
    p.expect(x, {3, 4}, {0, 1, 2, 3, 8, 10, 12, 14, 16, 18, 20, 22});
  }
  SECTION("x[i:i + 1].mul_(2) and x[:, j - 2:j].neg_() with positions that are data") {
    Value i = p.call("item", {p.number(1)}), j = p.call("item", {p.number(3)});
    auto plus = [&](const Value &at, int64_t distance) {
      trace::Tensor by = p.test.b.scalarInt(ElementType::I64, std::abs(distance)), base = at.asInt().data;
      return Value::dataInteger(distance < 0 ? trace::fn::sub(base, by) : trace::fn::add(base, by));
    };
    p.call("mul_", {p.call("slice", {x, n(0), i, plus(i, 1)}), n(2)});
    p.call("neg_", {p.call("slice", {x, n(1), plus(j, -2), j})});
    p.expect(x, {3, 4}, {0, -1, -2, 3, 8, -10, -12, 14, 8, -9, -10, 11});
  }
  SECTION("x.detach().add_(1): detached tensors share memory") {
    p.call("add_", {p.call("detach", {x}), n(1)});
    p.expect(x, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  }
}

TEST_CASE("reading a view again sees writes to the tensor") {
  Program p;
  Value x = p.input({2, 3}), row = p.call("select", {x, n(0), n(1)});
  p.call("add_", {x, n(10)});
  p.expect(row, {3}, {13, 14, 15});
}

TEST_CASE("reshape, contiguous and to alias exactly where PyTorch does") {
  Program p;
  Value x = p.input({2, 3});
  SECTION("reshape of a contiguous tensor is a view") {
    p.call("zero_", {p.call("reshape", {x, ints({6})})});
    p.expect(x, {2, 3}, {0, 0, 0, 0, 0, 0});
  }
  SECTION("reshape of a transposed one is a copy") {
    p.call("zero_", {p.call("reshape", {p.call("t", {x}), ints({6})})});
    p.expect(x, {2, 3}, {0, 1, 2, 3, 4, 5});
  }
  SECTION("flatten of the last axes of a slice is a copy") {
    Value part = p.call("slice", {x, n(1), n(0), n(2)});
    p.call("zero_", {p.call("flatten", {part})});
    p.expect(x, {2, 3}, {0, 1, 2, 3, 4, 5});
  }
  SECTION("contiguous() of a contiguous tensor is the tensor") {
    p.call("zero_", {p.call("contiguous", {x})});
    p.expect(x, {2, 3}, {0, 0, 0, 0, 0, 0});
  }
  SECTION("contiguous() of a transposed one is a copy") {
    p.call("zero_", {p.call("contiguous", {p.call("t", {x})})});
    p.expect(x, {2, 3}, {0, 1, 2, 3, 4, 5});
  }
  SECTION("to() of the same type is the tensor") {
    p.call("zero_", {p.call("to", {x, n(6)})});
    p.expect(x, {2, 3}, {0, 0, 0, 0, 0, 0});
  }
  SECTION("to() of another type, clone() and copy=True are copies") {
    p.call("zero_", {p.call("to", {x, n(7)})});
    p.call("zero_", {p.call("clone", {x})});
    p.call("zero_", {p.call("to", {x, n(6), Value::boolean(false), Value::boolean(true)})});
    p.expect(x, {2, 3}, {0, 1, 2, 3, 4, 5});
  }
}

TEST_CASE("reshape of a strided vector is a view also when its size is unknown") {
  Program p;
  trace::Dim rows = p.test.b.symbol("n", 2, 8);
  p.test.inputs.push_back(graph::TensorValue::of(ElementType::F32, {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  Value x = Value::tensor(p.context.make(p.test.b.input("x", ElementType::F32, {rows, 2})));
  Value column = p.call("select", {x, n(1), n(1)});
  p.call("zero_", {p.call("select", {p.call("reshape", {column, ints({2, -1})}), n(0), n(0)})});
  p.expect(x, {4, 2}, {0, 0, 2, 0, 4, 5, 6, 7});
}

TEST_CASE("tensors whose shape is changed in place") {
  Program p;
  Value x = p.input({2, 3});
  SECTION("y = x; x.unsqueeze_(0); y has the new shape, and memory is the same") {
    Value result = p.call("unsqueeze_", {x, n(0)});
    CHECK(x.asTensor()->rank() == 3);
    p.call("t_", {p.call("squeeze_", {result})});
    p.call("fill_", {p.call("select", {x, n(0), n(2)}), n(9)});
    p.expect(x, {3, 2}, {0, 3, 1, 4, 9, 9});
  }
  SECTION("resize_ to fewer elements keeps the first ones") {
    p.call("resize_", {x, ints({2, 2})});
    p.expect(x, {2, 2}, {0, 1, 2, 3});
  }
  SECTION("views that were taken before are not changed silently") {
    p.call("select", {x, n(0), n(0)});
    auto result = p.attempt("unsqueeze_", {x, n(0)});
    REQUIRE(!result.ok());
    CHECK(std::string(result.status().message()).find("after views of it were taken") != std::string::npos);
  }
}

TEST_CASE("memory formats") {
  Program p;
  Value x = p.input({1, 2, 2, 2});
  Value y = p.call("contiguous", {x}, {{"memory_format", n(2)}});
  CHECK(p.call("is_contiguous", {y}).knownBool() == false);
  CHECK(p.call("is_contiguous", {y, n(2)}).knownBool() == true);
  CHECK(p.call("stride", {y, n(1)}).knownInt() == 1);
  CHECK(p.call("stride", {p.call("clone", {y}), n(1)}).knownInt() == 1);
  CHECK(p.call("storage_offset", {p.call("select", {y, n(1), n(1)})}).knownInt() == 1);
  p.expect(y, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("windows that overlap cannot be written through") {
  Program p;
  Value x = p.input({4});
  auto result = p.attempt("zero_", {p.call("unfold", {x, n(0), n(2), n(1)})});
  REQUIRE(!result.ok());
  CHECK(std::string(result.status().message()).find("windows that overlap") != std::string::npos);
}

TEST_CASE("one copy of an expanded tensor written twice") {
  // e = x.expand(2, 1, 3)[1]; e.add_(1); e.mul_(2)
  Program p;
  Value x = p.input({1, 3});
  Value copy = p.call("select", {p.call("expand", {x, ints({2, 1, 3})}), n(0), n(1)});
  p.call("add_", {copy, n(1)});
  p.call("mul_", {copy, n(2)});
  p.expect(x, {1, 3}, {2, 4, 6});
}
