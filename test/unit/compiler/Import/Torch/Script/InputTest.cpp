// DEPS: stator::compiler stator::compiler::Import::Torch::Script stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Script/ScriptCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::script;

TEST_CASE("what is missing is said at once, with what to type") {
  ScriptParts parts{script::method(
      "x: Tensor, n: int, f: float, b: bool, s: str, l: List[int], ts: List[Tensor], d: Dict[str, Tensor], m: Optional[Tensor], "
      "p: Tuple[Tensor, int], k: int=3",
      {"return x"})};
  Imported imported(parts);
  CHECK(imported.model.status.code() == StatusCode::InvalidArgument);
  const std::string &message = imported.model.status.message();
  INFO(message);
  size_t last = 0;
  for (const char *line :
       {"`x` (Tensor): --input=x=1x3x224x224xf32 (its shape and element type) or --input=x=@x.npy", "`n` (int): --const n=3",
        "`f` (float): --const f=0.5", "`b` (bool): --const b=True", "`s` (str): --const s=text", "`l` (List[int]): --const l=[1,2]",
        "`ts` (List[Tensor]): --input=ts.0=", "`d` (Dict[str, Tensor]): --input=d.KEY=",
        "`m` (Optional[Tensor]): --const m=None, or --input=m=", "`p.0` (Tensor): --input=p.0=", "`p.1` (int): --const p.1=3"}) {
    size_t found = message.find(line);
    CHECK(found != std::string::npos);
    CHECK(found > last);
    last = found;
  }
  CHECK(message.find("`k`") == std::string::npos);
}

TEST_CASE("what to type for tensors in tuples in a list") {
  refuses({script::method("c: List[Tuple[Tensor, Tensor]]", {"return c[0][1]"})}, StatusCode::InvalidArgument,
          "--input=c.0.0=1x3x224x224xf32 --input=c.0.1=1x3x224x224xf32 and so on, one for each element, or --const=c=[] for none", {});
}

TEST_CASE("nested inputs are named by their paths") {
  ScriptParts parts{script::method("x: Tensor, ts: List[Tensor], d: Dict[str, Tensor], p: Tuple[Tensor, int], q: __torch__.Pair",
                                   {"y = torch.add(torch.add(x, ts[0]), torch.mul(ts[1], d[\"u\"]))",
                                    "return torch.add(torch.mul((p)[0], (p)[1]), torch.add(y, q.first))"}) +
                    "class Pair(NamedTuple):\n  first : Tensor\n  second : int\n"};
  Imported imported(parts, {{"x=2xf32", "ts.0=2xf32", "ts.1=2xf32", "d.u=2xf32", "p.0=2xf32", "q.first=2xf32"}, {"p.1=10", "q.second=1"}});
  CHECK(imported.names(false) == Texts{"x", "ts.0", "ts.1", "d.u", "p.0", "q.first"});
  CHECK(imported.run({floats({1, 1}), floats({2, 2}), floats({3, 4}), floats({5, 5}), floats({1, 2}), floats({0.5, 0.5})})[0].reals() ==
        Numbers{28.5, 43.5});
  refuses(parts, StatusCode::InvalidArgument, "`ts.1` is missing",
          {{"x=2xf32", "ts.0=2xf32", "ts.2=2xf32", "d.u=2xf32", "p.0=2xf32", "q.first=2xf32"}, {"p.1=10"}});
}

TEST_CASE("shapes in order, symbols, numbers as inputs, optional inputs") {
  Imported ordered({script::method("x: Tensor, y: Tensor, m: Optional[Tensor]=None",
                                   {"if torch.__is__(m, None):", "  z = x", "else:", "  z = torch.mul(x, unchecked_cast(Tensor, m))",
                                    "return torch.add(z, y)"})},
                   {{"?nxf32", "?nxf32", "?nxf32"}});
  CHECK(ordered.names(false) == Texts{"x", "y", "m"});
  CHECK(ordered.run({floats({1, 2}), floats({1, 1}), floats({3, 3})})[0].reals() == Numbers{4, 7});
  Imported free({script::method("x: Tensor", {"return torch.add(x, torch.size(x, 0))"})}, {{"x=?xf32"}});
  CHECK(free.run({floats({1, 2, 3})})[0].reals() == Numbers{4, 5, 6});
  Imported number({script::method("x: Tensor, k: int, f: float, b: bool",
                                  {"if b:", "  y = torch.mul(x, k)", "else:", "  y = x", "return torch.add(y, f)"})},
                  {{"x=2xf32", "k=i64", "f=f32", "b=i1"}});
  auto scalar = [](ElementType type, double value) { return graph::TensorValue::of(type, {}, {value}); };
  CHECK(number.run({floats({1, 2}), scalar(ElementType::I64, 3), scalar(ElementType::F32, 0.5), scalar(ElementType::I1, 1)})[0].reals() ==
        Numbers{3.5, 6.5});
}

TEST_CASE("constants are written as in Python") {
  auto run = [](const std::string &type, const std::string &expression, const std::string &value) {
    return evaluate({script::method("x: Tensor, c: " + type, {"return torch.add(" + expression + ", 0)"})}, {0}, {{}, {"c=" + value}});
  };
  CHECK(run("int", "c", "-3") == Numbers{-3});
  CHECK(run("float", "c", "2") == Numbers{2});
  CHECK(run("bool", "int(c)", "True") == Numbers{1});
  CHECK(run("bool", "int(c)", "1") == Numbers{1});
  CHECK(run("str", "torch.len(c)", "\"a b\"") == Numbers{3});
  CHECK(run("str", "torch.len(c)", "bare") == Numbers{4});
  CHECK(run("List[int]", "torch.sum(c)", "[1, 2]") == Numbers{3});
  CHECK(run("List[int]", "torch.sum(c)", "5") == Numbers{5});
  CHECK(run("Tuple[int, float]", "(c)[1]", "(4, 0.5)") == Numbers{0.5});
  CHECK(run("Dict[str, int]", "c[\"a\"]", "{\"a\": 1}") == Numbers{1});
  CHECK(run("Optional[int]", "int(torch.__is__(c, None))", "None") == Numbers{1});
  CHECK(run("Optional[str]", "torch.len(unchecked_cast(str, c))", "ab") == Numbers{2});
  CHECK(run("Tensor", "c", "3") == Numbers{3});
  CHECK(run("Tensor", "torch.sum(c)", "1.5,2") == Numbers{3.5});
  ScriptParts wrong{script::method("x: Tensor, c: int", {"return x"})};
  refuses(wrong, StatusCode::InvalidArgument, "input `c`: is int in the model, which `abc` is not", {{"x=2xf32"}, {"c=abc"}});
  refuses(wrong, StatusCode::NotFound, "there is no input `d`; the inputs are `x`, `c`", {{"x=2xf32"}, {"c=1", "d=1"}});
  refuses({script::method("x: Tensor, c: Tensor", {"return x"})}, StatusCode::InvalidArgument, "give numbers, or an array as @FILE.npy",
          {{"x=2xf32"}, {"c='text'"}});
}

TEST_CASE("options that do not fit the model are refused") {
  ScriptParts parts{script::method("x: Tensor, k: int=1", {"return x"})};
  refuses(parts, StatusCode::InvalidArgument, "there is no tensor input `y`", {{"y=2xf32"}});
  refuses(parts, StatusCode::InvalidArgument, "more --input options than tensor inputs", {{"2xf32", "2xf32"}});
  refuses(parts, StatusCode::InvalidArgument, "input `k` is int in the model; as an input of the compiled model it has no dimensions",
          {{"x=2xf32", "k=2xi64"}});
  refuses(parts, StatusCode::InvalidArgument, "input `x`: the element type is missing, as in --input=x=2xf32", {{"x=2"}});
  refuses(parts, StatusCode::NotFound, "the module has no method `other`; its methods are `forward`", {{"x=2xf32"}, {}, {"other"}});
  refuses(parts, StatusCode::InvalidArgument, "method `forward` is asked for twice", {{"x=2xf32"}, {}, {"forward", "forward"}});
}

TEST_CASE("outputs are named by their paths; None and strings are left out") {
  Imported tuple({script::method("x: Tensor", {"return (x, [torch.neg(x), torch.abs(x)], 3, 2.5, True, None, \"text\")"})}, {{"x=2xf32"}});
  CHECK(tuple.names(true) == Texts{"output.0", "output.1.0", "output.1.1", "output.2", "output.3", "output.4"});
  auto results = tuple.run({floats({1, 2})});
  CHECK(results[3].type == ElementType::I64);
  CHECK(results[4].type == ElementType::F64);
  CHECK(results[5].type == ElementType::I1);
  CHECK(llvm::is_contained(tuple.model.info, std::pair<std::string, std::string>{"left out", "output.6 (str)"}));
  Imported dict({script::method("x: Tensor", {"return {\"out\": x, \"t\": (torch.neg(x), x)}"})}, {{"x=2xf32"}});
  CHECK(dict.names(true) == Texts{"out", "t.0", "t.1"});
  Imported named({script::method("x: Tensor", {"return __torch__.Pair(x, __torch__.Pair(torch.neg(x), 3))"}) +
                  "class Pair(NamedTuple):\n  a : Tensor\n  b : Any\n"},
                 {{"x=2xf32"}});
  CHECK(named.names(true) == Texts{"a", "b.a", "b.b"});
  CHECK(Imported({script::method("x: Tensor", {"return x"})}, {{"x=2xf32"}}).names(true) == Texts{"output"});
}

TEST_CASE("hooks run around forward") {
  ScriptParts parts{script::method("x: Tensor", {"return torch.mul(x, 10)"},
                                   "  __forward_pre_hooks__ = [\"before\", ]\n  __forward_hooks__ = [\"after\", ]\n") +
                    "  def before(self: __torch__.M,\n    input: Tuple[Tensor]) -> Tuple[Tensor]:\n    return (torch.add((input)[0], 1),)\n"
                    "  def after(self: __torch__.M,\n    input: Tuple[Tensor],\n    output: Tensor) -> Tensor:\n    return "
                    "torch.add(output, (input)[0])\n"};
  CHECK(evaluate(parts, {1, 2}) == Numbers{22, 33});
}

TEST_CASE("a summary needs no shapes") {
  TemporaryFolder folder;
  ScriptParts parts{
      script::method("x: Tensor, n: int=3", {"y = torch.relu(x)", "return torch.add(y, torch.foo(self.w))"}, "  w : Tensor\n")};
  size_t at = parts.code.find("__parameters__ = []");
  parts.code.replace(at, 19, "__parameters__ = [\"w\", ]");
  parts.attributes = {{"w", pickled::floats("0", {2})}};
  parts.records = {{"data/0", floatBytes({1, 2})}};
  writeBytes(folder.path("m.pt"), scriptFile(parts));
  auto summary = torch::summariseScript(folder.path("m.pt"));
  REQUIRE(summary.ok());
  CHECK(summary->kind == "TorchScript");
  CHECK(summary->version == "3");
  REQUIRE(summary->methods.size() == 1);
  CHECK(summary->methods[0].inputs[0].needsShape);
  CHECK(summary->methods[0].inputs[1].value == "3");
  CHECK(summary->methods[0].outputs[0].name == "output");
  CHECK(summary->parameters.total.count == 1);
  CHECK(summary->parameters.total.bytes == 8);
  for (const auto &op : summary->operators)
    CHECK(op.isSupported == (op.name != "foo"));
}
