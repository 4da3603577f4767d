// DEPS: stator::compiler stator::compiler::Import::Torch::Script stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Script/ScriptCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::script;

namespace {

/// What a method computes that returns a tuple of numbers.
Numbers numbers(const Texts &body, const std::string &head = "") { return evaluate({script::method("x: Tensor", body, head)}, {1, 2}); }
Numbers number(const std::string &expression) { return numbers({"return torch.add(" + expression + ", 0)"}); }

} // namespace

TEST_CASE("arithmetic of ints and floats is Python's") {
  CHECK(number("torch.floordiv(-7, 2)") == Numbers{-4});
  CHECK(number("torch.remainder(-7, 3)") == Numbers{2});
  CHECK(number("torch.remainder(7, -3)") == Numbers{-2});
  CHECK(number("torch.remainder(-7.5, 2.)") == Numbers{0.5});
  CHECK(number("torch.floordiv(-7.5, 2.)") == Numbers{-4});
  CHECK(number("torch.div(7, 2)") == Numbers{3.5});
  CHECK(number("torch.pow(2, 3)") == Numbers{8});
  CHECK(number("torch.mul(torch.sub(5, 2), 2.5)") == Numbers{7.5});
  CHECK(number("torch.floor(-1.5)") == Numbers{-2});
  CHECK(number("torch.ceil(-1.5)") == Numbers{-1});
  CHECK(number("torch.round(2.5)") == Numbers{2});
  CHECK(number("torch.sqrt(16)") == Numbers{4});
  CHECK(number("torch.neg(3)") == Numbers{-3});
  CHECK(number("ops.prim.abs(-3)") == Numbers{3});
  CHECK(number("ops.prim.min([3, 1, 2])") == Numbers{1});
  CHECK(number("ops.prim.max(3, 4.5)") == Numbers{4.5});
  CHECK(number("torch.__and__(12, 10)") == Numbers{8});
  CHECK(number("torch.__lshift__(3, 4)") == Numbers{48});
  CHECK(number("int(-2.7)") == Numbers{-2});
  CHECK(number("int(\"12\")") == Numbers{12});
  CHECK(number("int(float(\"-0.5e1\"))") == Numbers{-5});
  CHECK(number("(torch.divmod(-7, 2))[1]") == Numbers{1});
  CHECK(number("torch.gcd(12, 18)") == Numbers{6});
}

TEST_CASE("comparisons, identity, quantifiers") {
  auto isTrue = [](const std::string &condition) { return number("int(" + condition + ")") == Numbers{1}; };
  CHECK(isTrue("torch.eq(1, 1.)"));
  CHECK(isTrue("torch.ne([1, 2], [1, 3])"));
  CHECK(isTrue("torch.lt(\"a\", \"b\")"));
  CHECK(isTrue("torch.ge(2, 2)"));
  CHECK(isTrue("torch.lt([1, 2], [1, 3])"));
  CHECK(isTrue("torch.__is__(None, None)"));
  CHECK(isTrue("torch.__isnot__(x, None)"));
  CHECK(isTrue("torch.__is__(x, x)"));
  CHECK(isTrue("torch.any([False, True])"));
  CHECK(isTrue("torch.__not__(torch.all([False, True]))"));
  CHECK(isTrue("torch.eq(torch.size(x), [2])"));
  CHECK(isTrue("torch.isnan(nan)"));
  CHECK(isTrue("isinstance(x, Tensor)"));
  CHECK(isTrue("isinstance([1], (str, List[int]))"));
  CHECK(isTrue("torch.__not__(isinstance((1, 2.), Tuple[int, int]))"));
  CHECK(isTrue("isinstance({\"a\": 1}, Dict[str, int])"));
  CHECK(isTrue("isinstance(None, Optional[int])"));
}

TEST_CASE("lists, tuples and dicts") {
  CHECK(numbers({"l = [1, 2]", "m = l", "l0 = torch.add_(l, [3])", "torch.append(l0, 4)", "return (len(m), m[3])"}) == Numbers{4, 4});
  CHECK(numbers({"l = annotate(List[int], [])", "_0 = torch.append(l, 5)", "_1 = torch.extend(l, [1, 3])", "torch.insert(l, 1, 9)",
                 "torch.sort(l)", "torch.reverse(l)", "p = torch.pop(l, 0)", "torch.remove(l, 3)", "_2 = torch._set_item(l, -1, 7)",
                 "return (p, l[0], l[-1], torch.len(l), torch.index(l, 7), torch.count(l, 7))"}) == Numbers{9, 5, 7, 2, 1, 1});
  CHECK(numbers({"l = torch.slice([0, 1, 2, 3, 4], 1, None, 2)", "m = torch.slice(l, None, None, -1)",
                 "return torch.add(l, torch.mul(m, 2))"}) == Numbers{1, 3, 3, 1, 3, 1});
  CHECK(numbers({"d = {\"a\": 1, \"b\": 2}", "torch._set_item(d, \"c\", 3)", "_0 = torch.pop(d, \"a\")",
                 "return (torch.len(d), d[\"c\"], torch.get(d, \"z\", 8), torch.sum(torch.values(d)), int(torch.__contains__(d, \"a\")), "
                 "torch.len(torch.items(d)), torch.len((torch.keys(d))[0]))"}) == Numbers{2, 3, 8, 5, 0, 2, 1});
  CHECK(numbers({"t = (1, 2., x)", "return (torch.len(t), (t)[1], torch.len(torch.slice([1, 2, 3], 1)))"}) == Numbers{3, 2, 2});
  CHECK(numbers({"s = torch.sorted([3, 1, 2])", "c = torch.copy(s)", "torch.clear(s)", "return (torch.len(s), c[0])"}) == Numbers{0, 1});
  CHECK(numbers({"return (torch.__range_length(7, 1, -2), torch.__derive_index(2, 7, -2))"}) == Numbers{3, 3});
}

TEST_CASE("strings") {
  CHECK(number("torch.len(torch.format(\"{}-{}\", 1.5, [\"a\"]))") == Numbers{9});
  CHECK(number("torch.len(torch.join(\", \", [\"a\", \"bc\"]))") == Numbers{5});
  CHECK(number("torch.find(\"hello\", \"l\")") == Numbers{2});
  CHECK(number("torch.rfind(\"hello\", \"l\")") == Numbers{3});
  CHECK(number("int(torch.startswith(torch.lower(\"ABC\"), \"ab\"))") == Numbers{1});
  CHECK(number("torch.len(torch.split(\"a_b_c\", \"_\"))") == Numbers{3});
  CHECK(number("torch.len(torch.replace(torch.strip(\"  aba \"), \"a\", \"xyz\"))") == Numbers{7});
  CHECK(number("torch.ord(\"A\")") == Numbers{65});
  CHECK(number("int(torch.isdigit(\"12\"))") == Numbers{1});
  CHECK(number("torch.len(torch.percentFormat(\"%d%%\", 5))") == Numbers{2});
  CHECK(number("torch.len(torch.add(\"a\", str(1.)))") == Numbers{4});
}

TEST_CASE("what is known is run, and leaves nothing in the graph") {
  Imported imported({script::method("x: Tensor", {"y = x", "n = 0",
                                                  "while torch.lt(n, 3):", "  if torch.eq(torch.dim(x), 1):", "    y0 = torch.add(y, n)",
                                                  "  else:", "    y0 = torch.matmul(y, 7)", "  y, n = y0, torch.add(n, 1)",
                                                  "for i in range(torch.len([4, 5])):", "  y = torch.mul(y, 2)", "return y"})},
                    {{"x=2xf32"}});
  CHECK(imported.run({floats({1, 2})})[0].reals() == Numbers{16, 20});
  CHECK(imported.count("graph.if") + imported.count("graph.while") == 0);
}

TEST_CASE("functions, their defaults, aliases; other files") {
  ScriptParts parts{
      script::method("x: Tensor", {"_0 = __torch__.lib.ops.twice", "y = _0(x, )", "return __torch__.plus(y, n=torch.len([1, 2]), )"}) +
      "def plus(x: Tensor,\n    k: float=0.5,\n    n: int=1) -> Tensor:\n  return torch.add(torch.mul(x, k), n)\n"};
  parts.records = {{"code/__torch__/lib/ops.py", "def twice(x: Tensor) -> Tensor:\n  return torch.mul(x, 2)\n"}};
  CHECK(evaluate(parts, {1, 2}) == Numbers{3, 4});
}

TEST_CASE("classes, enums, named tuples, interfaces") {
  ScriptParts parts{
      script::method("x: Tensor",
                     {"a = __torch__.Acc.__new__(__torch__.Acc)", "_0 = (a).__init__(2., )", "_1 = (a).add(3., )",
                      "b = __torch__.Pair(x, a.total)", "c = self.c", "if torch.eq(c, __torch__.Color.GREEN):", "  k = (c).value",
                      "else:", "  k = 100", "return torch.add(torch.mul(b.first, b.second), torch.add(k, torch.len((c).name)))"},
                     "  c : __torch__.Color\n") +
          "class Acc:\n  total : float\n  def __init__(self: __torch__.Acc,\n    s: float) -> NoneType:\n    self.total = s\n"
          "  def add(self: __torch__.Acc,\n    s: float) -> NoneType:\n    t = self.total\n    self.total = torch.add(t, s)\n"
          "class Pair(NamedTuple):\n  first : Tensor\n  second : float\nclass Color(Enum):\n  RED = 1\n  GREEN = 2\n",
      {{"c", pickled::global("__torch__", "Color") + pickled::integer(2) + "R"}}};
  CHECK(evaluate(parts, {1, 2}) == Numbers{12, 17});
}

TEST_CASE("modules hold tensors and modules; a weight that is there twice is one parameter") {
  ScriptParts parts{
      "class M(Module):\n  __parameters__ = [\"w\", \"tied\", ]\n  __buffers__ = []\n  w : Tensor\n  tied : Tensor\n"
      "  __annotations__[\"0\"] = __torch__.Layer\n  k : Final[int] = 10\n"
      "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    _0 = getattr(self, \"0\")\n    y = (_0).forward(x, )\n"
      "    w = self.w\n    tied = self.tied\n    k = self.k\n    return torch.mul(torch.add(torch.add(y, w), tied), k)\n"
      "class Layer(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
      "  def forward(self: __torch__.Layer,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n"};
  std::vector<float> weights(2000, 0.5f);
  parts.attributes = {{"w", pickled::floats("0", {2000})},
                      {"tied", pickled::floats("0", {2000})},
                      {"0", pickled::object("__torch__", "Layer", {{"training", pickled::boolean(false)}})}};
  parts.records = {{"data/0", floatBytes(weights)}};
  Imported imported(parts, {{"x=2000xf32"}});
  std::vector<double> x(2000, -1.0);
  x[0] = 3;
  std::vector<double> y = imported.run({floats(x)})[0].reals();
  CHECK(y[0] == 40);
  CHECK(y[1] == 10);
  CHECK(imported.count("graph.parameter") == 1);
}

TEST_CASE("constants of rank 0 are Python numbers to type promotion") {
  ScriptParts parts{script::method("x: Tensor", {"return torch.mul(x, CONSTANTS.c0)"})};
  parts.constants = pickled::tensor(pickled::storage("DoubleStorage", "0", 1), 0, {}, {}) + "\x85";
  double value = 2.5;
  parts.records = {{"constants/0", std::string(reinterpret_cast<const char *>(&value), 8)}};
  Imported imported(parts, {{"x=2xi64"}});
  auto result = imported.run({graph::TensorValue::ofIntegers(ElementType::I64, {2}, {2, 3})});
  CHECK(result[0].type == ElementType::F32);
  CHECK(result[0].reals() == Numbers{5, 7.5});
}

TEST_CASE("traced shapes: numbers as tensors, and back") {
  CHECK(evaluate(
            {script::method("x: Tensor", {"B = ops.prim.NumToTensor(torch.size(x, 0))", "_0 = int(torch.floor_divide(B, 2))",
                                          "_1 = torch.arange(0, annotate(number, B), dtype=6, layout=None, device=torch.device(\"cpu\"))",
                                          "return torch.add(torch.reshape(x, [_0, int(B)]), _1)"})},
            {1, 2}) == Numbers{1, 3});
}

TEST_CASE("properties of tensors and of the system") {
  CHECK(numbers({"return (ops.prim.dtype(x), int(ops.prim.is_cuda(x)), torch.len(ops.prim.type(ops.prim.device(x))), "
                 "int(torch.is_floating_point(x)), "
                 "int(ops.prim.requires_grad(x)), (ops.prim.shape(x))[0], int(torch.is_scripting()))"}) == Numbers{6, 0, 3, 1, 0, 2, 1});
  CHECK(numbers({"l = annotate(List[float], (torch.tensor([1., 2.])).tolist())", "return (l[1], torch.len(l))"}) == Numbers{2, 2});
}

TEST_CASE("blocks with a context, and forks, run where they stand") {
  std::string code = script::method("x: Tensor", {"_0 = __torch__.Guard.__new__(__torch__.Guard)", "with _0 as g:", "  y = torch.mul(x, g)",
                                                  "def f():", "  return torch.add(y, 1)", "w = fork(f)", "return torch.wait(w)"});
  code += "class Guard:\n  def __enter__(self: __torch__.Guard) -> int:\n    return 2\n"
          "  def __exit__(self: __torch__.Guard,\n    a: Any,\n    b: Any,\n    c: Any) -> NoneType:\n    return None\n";
  CHECK(evaluate({code}, {1, 2}) == Numbers{3, 5});
}

TEST_CASE("what operators mean depends on the version of the file") {
  ScriptParts parts{script::method("x: Tensor", {"y = torch.to(x, 4)", "return torch.div(y, torch.full([1], 2, dtype=4))"})};
  CHECK(evaluate(parts, {-7, 7}) == Numbers{-3, 3});
  parts.version = "4";
  CHECK(evaluate(parts, {-7, 7}) == Numbers{-3.5, 3.5});
  ScriptParts full{script::method("x: Tensor", {"return torch.add(ops.prim.dtype(torch.full([2], 1)), 0)"})};
  CHECK(evaluate(full, {0}) == Numbers{6});
  full.version = "5";
  CHECK(evaluate(full, {0}) == Numbers{4});
}
