// DEPS: stator::compiler stator::compiler::Import::Torch::Script stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Script/ScriptCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::script;

namespace {

/// The body of a method, which is run on a vector with a positive and on one with a negative sum.
struct Both {
  explicit Both(const Texts &body) : imported({script::method("x: Tensor", body)}, {{"x=2xf32"}}) {}
  Numbers on(llvm::ArrayRef<double> x) {
    Numbers numbers;
    for (const graph::TensorValue &result : imported.run({floats(x)}))
      for (double number : result.reals())
        numbers.push_back(number);
    return numbers;
  }
  Imported imported;
};

} // namespace

TEST_CASE("an if on data gives what its branches assign") {
  Both both({"if bool(torch.gt(torch.sum(x), 0)):", "  y, k = torch.mul(x, 2), 1", "else:", "  y, k = torch.neg(x), 2", "return (y, k)"});
  CHECK(both.on({1, 2}) == Numbers{2, 4, 1});
  CHECK(both.on({-1, -2}) == Numbers{1, 2, 2});
  CHECK(both.imported.count("graph.if") == 1);
}

TEST_CASE("only what is read later leaves a branch, and what one branch leaves open is the other's") {
  Both both({"_0 = uninitialized(Tensor)", "if bool(torch.gt(torch.sum(x), 0)):", "  t = \"text\"", "  y, z = torch.mul(x, 2), _0",
             "else:", "  t = 5", "  y, z = x, torch.neg(x)", "return (y, z)"});
  CHECK(both.on({-1, -2}) == Numbers{-1, -2, 1, 2});
  Both number({"_0 = uninitialized(int)", "n = int(torch.sum(x))", "if bool(torch.gt(torch.sum(x), 0)):", "  y = torch.add(n, 1)",
               "else:", "  y = _0", "return y"});
  CHECK(number.on({1, 2}) == Numbers{4});
}

TEST_CASE("memory that a branch writes, lists, dicts and objects that it changes") {
  Both memory({"y = torch.clone(x)", "if bool(torch.gt(torch.sum(x), 0)):", "  _0 = torch.add_(torch.select(y, 0, 0), 5)",
               "else:", "  _1 = torch.zero_(y)", "return y"});
  CHECK(memory.on({1, 2}) == Numbers{6, 2});
  CHECK(memory.on({-1, -2}) == Numbers{0, 0});
  Both list({"l = [x, torch.neg(x)]", "if bool(torch.gt(torch.sum(x), 0)):", "  _0 = torch._set_item(l, 1, torch.mul(x, 10))",
             "else:", "  torch.reverse(l)", "return (l[0], l[1])"});
  CHECK(list.on({1, 2}) == Numbers{1, 2, 10, 20});
  Both grown({"l = [x]", "if bool(torch.gt(torch.sum(x), 0)):", "  l0 = torch.add_(l, [torch.neg(x)])",
              "else:", "  l0 = torch.add_(l, [torch.mul(x, 2)])", "return l"});
  CHECK(grown.on({1, 2}) == Numbers{1, 2, -1, -2});
  CHECK(grown.on({-1, 0}) == Numbers{-1, 0, -2, 0});
  CHECK(list.on({-1, -2}) == Numbers{1, 2, -1, -2});
  Both dict({"d = {\"a\": x}", "if bool(torch.gt(torch.sum(x), 0)):", "  torch._set_item(d, \"a\", torch.mul(x, 3))", "else:", "  pass",
             "return d[\"a\"]"});
  CHECK(dict.on({1, 2}) == Numbers{3, 6});
  CHECK(dict.on({-1, -2}) == Numbers{-1, -2});
  std::string code = script::method("x: Tensor", {"o = __torch__.O.__new__(__torch__.O)", "o.s = 1.", "if bool(torch.gt(torch.sum(x), 0)):",
                                                  "  _0 = (o).grow()", "else:", "  pass", "return torch.mul(x, o.s)"}) +
                     "class O:\n  s : float\n  def grow(self: __torch__.O) -> NoneType:\n    self.s = 4.\n";
  CHECK(evaluate({code}, {1, 2}) == Numbers{4, 8});
  CHECK(evaluate({code}, {-1, 2}) == Numbers{-4, 8});
  CHECK(evaluate({code}, {-1, -2}) == Numbers{-1, -2});
}

TEST_CASE("what a branch cannot give is refused by name") {
  auto body = [](const Texts &lines) { return ScriptParts{script::method("x: Tensor", lines)}; };
  refuses(body({"if bool(torch.gt(torch.sum(x), 0)):", "  y = \"a\"", "else:", "  y = \"b\"", "return torch.mul(x, torch.len(y))"}),
          StatusCode::Unsupported, "code/__torch__.py:6: if bool(torch.gt(torch.sum(x), 0)):: a value is str or str, depending on data");
  refuses(body({"l = annotate(List[Tensor], [])", "if bool(torch.gt(torch.sum(x), 0)):", "  _0 = torch.append(l, x)", "else:", "  pass",
                "return torch.cat(l)"}),
          StatusCode::Unsupported, "elements, depending on data");
  refuses(body({"if bool(torch.gt(torch.sum(x), 0)):", "  return x", "else:", "  pass", "return torch.neg(x)"}), StatusCode::Unsupported,
          "`return` inside of a branch that depends on data is not supported");
  refuses(body({"while bool(torch.gt(torch.sum(x), 0)):", "  return x", "return x"}), StatusCode::Unsupported,
          "`return` inside of a loop that depends on data is not supported");
}

TEST_CASE("a while on data carries variables, memory and lists") {
  Both loop({"y = x", "n = 0", "go = torch.lt(torch.sum(y), 10)", "while bool(go):", "  y0 = torch.add(y, torch.ones([2]))",
             "  n0 = torch.add(n, 1)", "  go, y, n = torch.lt(torch.sum(y0), 10), y0, n0", "return (y, n)"});
  CHECK(loop.on({1, 2}) == Numbers{5, 6, 4});
  CHECK(loop.on({10, 2}) == Numbers{10, 2, 0});
  CHECK(loop.imported.count("graph.while") == 1);
  Both memory(
      {"y = torch.zeros([2])", "while bool(torch.lt(torch.sum(y), 6)):", "  _0 = torch.add_(torch.select(y, 0, 1), 1)", "return y"});
  CHECK(memory.on({0, 0}) == Numbers{0, 6});
  Both list({"l = [x, x]", "while bool(torch.lt(torch.sum(l[0]), 10)):", "  _0 = torch._set_item(l, 0, torch.add(l[0], l[1]))",
             "return (l[0], l[1])"});
  CHECK(list.on({1, 2}) == Numbers{4, 8, 1, 2});
}

TEST_CASE("a for over a number that depends on data") {
  Both loop({"y = torch.zeros([2])", "for i in range(int(torch.sum(x))):", "  y = torch.add(y, torch.mul(x, i))", "return y"});
  CHECK(loop.on({1, 2}) == Numbers{3, 6});
  CHECK(loop.on({-1, -2}) == Numbers{0, 0});
}

TEST_CASE("a variable that a loop on data gives its first value") {
  // How `return` inside of a loop is printed.
  Both loop({"_0 = uninitialized(Tensor)", "done, r, y = False, _0, x", "go = torch.lt(torch.sum(x), 100)",
             "while bool(go):", "  y0 = torch.add(y, 1)",
             "  if bool(torch.gt(torch.max(y0), 5)):", "    go0, done0, r0 = torch.zeros([], dtype=11), True, torch.mul(y0, 2)",
             "  else:", "    go0, done0, r0 = torch.ones([], dtype=11), False, _0", "  go, done, r, y = go0, done0, r0, y0",
             "if done:", "  z = r", "else:", "  z = y", "return z"});
  CHECK(loop.on({1, 3}) == Numbers{8, 12});
  CHECK(loop.on({100, 100}) == Numbers{100, 100});
  // What decides about the return is a number that the loop counts, known before the first step only.
  Both counted({"_0 = uninitialized(Tuple[int, Tensor])", "done, r, n, y = False, _0, 0, x", "go = torch.lt(torch.sum(x), 100)",
                "while bool(go):", "  y0 = torch.add(y, 1)", "  n0 = torch.add(n, 1)", "  if torch.gt(n0, 2):",
                "    go0, done0, r0 = torch.zeros([], dtype=11), True, (n0, y0)", "  else:",
                "    go0, done0, r0 = torch.lt(torch.sum(y0), 10), False, _0", "  go, done, r, n, y = go0, done0, r0, n0, y0", "if done:",
                "  z = r", "else:", "  z = (torch.neg(n), y)", "return z"});
  CHECK(counted.on({0, 0}) == Numbers{3, 3, 3});
  CHECK(counted.on({4, 4}) == Numbers{-1, 5, 5});
  CHECK(counted.on({100, 0}) == Numbers{0, 100, 0});
}

TEST_CASE("loops that do not keep their form are refused") {
  refuses({script::method("x: Tensor", {"y = x", "while bool(torch.lt(torch.sum(y), 10)):", "  y = torch.cat([y, y])", "return y"})},
          StatusCode::InvalidArgument, "");
  refuses(
      {script::method("x: Tensor", {"l = [x]", "while bool(torch.lt(torch.sum(l[0]), 10)):", "  _0 = torch.append(l, x)", "return l[0]"})},
      StatusCode::Unsupported, "it must keep its form");
}

TEST_CASE("an error that a model raises is the import's, with its message and place") {
  refuses({script::method("x: Tensor", {"if torch.eq(torch.dim(x), 1):",
                                        "  ops.prim.RaiseException(torch.format(\"want {}\", 2), \"builtins.ValueError\")",
                                        "else:", "  pass", "return x"})},
          StatusCode::InvalidArgument,
          "code/__torch__.py:7: ops.prim.RaiseException(torch.format(\"want {}\", 2), \"builtins.ValueError\"): the model raises an error: "
          "ValueError: want 2");
  refuses({script::method("x: Tensor", {"return torch.mul(x, [1, 2][2])"})}, StatusCode::InvalidArgument,
          "index 2 is out of range for a length of 2");
  refuses({script::method("x: Tensor", {"return torch.mul(x, {\"a\": 1}[\"b\"])"})}, StatusCode::InvalidArgument, "KeyError: 'b'");
  refuses({script::method("x: Tensor", {"return torch.mul(x, torch.floordiv(1, 0))"})}, StatusCode::InvalidArgument, "division by zero");
}

TEST_CASE("checks of data are dropped with a warning, also inside of branches and functions") {
  Imported imported({script::method("x: Tensor", {"if bool(torch.gt(torch.sum(x), 0)):", "  ops.prim.RaiseException(\"no\")",
                                                  "else:", "  pass", "return torch.mul(x, 2)"})},
                    {{"x=2xf32"}});
  CHECK(imported.run({floats({1, 2})})[0].reals() == Numbers{2, 4});
  REQUIRE(imported.model.warnings.size() == 1);
  CHECK(imported.model.warnings[0].message.find("a compiled model does not make it") != std::string::npos);
  CHECK(imported.model.warnings[0].place.find("code/__torch__.py:6") != std::string::npos);
  CHECK(imported.count("graph.if") == 0);
  std::string code = script::method("x: Tensor", {"if bool(torch.gt(torch.sum(x), 0)):", "  y = __torch__.check(x, )",
                                                  "else:", "  y = torch.neg(x)", "return y"}) +
                     "def check(x: Tensor) -> Tensor:\n  ops.prim.RaiseException(\"no\")\n  return x\n";
  CHECK(evaluate({code}, {-1, -2}) == Numbers{1, 2});
}

TEST_CASE("checks of sizes become facts about them") {
  Imported imported({script::method("x: Tensor, y: Tensor", {"_0 = torch.eq(torch.size(x), torch.size(y))", "if _0:", "  pass",
                                                             "else:", "  ops.prim.RaiseException(\"sizes\")",
                                                             "if torch.gt(torch.size(x, 0), 9):", "  ops.prim.RaiseException(\"long\")",
                                                             "else:", "  pass", "return torch.add(torch.mul(x, 2), y)"})},
                    {{"x=?axf32", "y=?bxf32"}});
  CHECK(imported.run({floats({1, 2, 3}), floats({1, 1, 1})})[0].reals() == Numbers{3, 5, 7});
  CHECK(imported.model.warnings.empty());
  std::vector<double> ten(10, 0.0);
  CHECK(mlir::failed(graph::interpret(imported.method(), {floats(ten), floats(ten)})));
  CHECK(mlir::failed(graph::interpret(imported.method(), {floats({1, 2}), floats({1, 2, 3})})));
}

TEST_CASE("`or` and `and` of data are logical operations") {
  Imported imported({script::method("x: Tensor", {"a = bool(torch.gt(torch.sum(x), 0))", "b = bool(torch.lt(torch.max(x), 5))",
                                                  "if a:", "  c = True", "else:", "  c = b", "if a:", "  d = b", "else:", "  d = False",
                                                  "if torch.__not__(a):", "  e = torch.__not__(b)", "else:", "  e = False",
                                                  "return (int(c), int(d), int(e))"})},
                    {{"x=2xf32"}});
  auto on = [&](double a, double b) {
    Numbers numbers;
    for (const graph::TensorValue &result : imported.run({floats({a, b})}))
      numbers.push_back(result.reals()[0]);
    return numbers;
  };
  CHECK(on(1, 2) == Numbers{1, 1, 0});
  CHECK(on(1, 9) == Numbers{1, 0, 0});
  CHECK(on(-1, -2) == Numbers{1, 0, 0});
  CHECK(on(-10, 6) == Numbers{0, 0, 1});
  CHECK(imported.count("graph.if") == 0);
}

TEST_CASE("numbers that depend on data or on sizes") {
  Imported imported(
      {script::method(
          "x: Tensor",
          {"k = int(torch.sum(x))", "f = float(torch.max(x))", "n = torch.size(x, 0)",
           "return (torch.floordiv(k, 2), torch.remainder(k, 4), torch.mul(f, f), torch.div(k, 2), ops.prim.min(k, n), torch.mul(n, 3), "
           "torch.floordiv(n, 2), torch.sqrt(n), int(torch.gt(k, n)), torch.__and__(k, 3), torch.floor(f), torch.neg(k))"})},
      {{"x=?nxf32"}});
  Numbers numbers;
  for (const graph::TensorValue &result : imported.run({floats({-2.5, -4.5, 1.5, 1.5})}))
    numbers.push_back(result.reals()[0]);
  CHECK(numbers == Numbers{-2, 0, 2.25, -2, -4, 12, 2, 2, 0, 0, 1, 4});
}
