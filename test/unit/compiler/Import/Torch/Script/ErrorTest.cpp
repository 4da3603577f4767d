// DEPS: stator::compiler stator::compiler::Import::Torch::Script stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Script/ScriptCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::script;

namespace {

ScriptParts body(const Texts &lines, const std::string &more = "") { return {script::method("x: Tensor", lines) + more}; }

} // namespace

TEST_CASE("all operators that are not supported are reported, each with its place") {
  Imported imported(body({"y = torch.foo(x, 1)", "z = torch.bar(y)", "if torch.gt(torch.dim(x), 3):", "  w = torch.never(x)",
                          "else:", "  w = torch.add(z, y)", "return torch.relu(x, \"text\")"}),
                    {{"x=2xf32"}});
  CHECK(imported.model.status.code() == StatusCode::Unsupported);
  REQUIRE(imported.model.unsupported.size() == 3);
  CHECK(imported.model.unsupported[0].place == "code/__torch__.py:6: y = torch.foo(x, 1)");
  CHECK(imported.model.unsupported[0].reason == "`foo` is not supported");
  CHECK(imported.model.unsupported[1].place == "code/__torch__.py:7: z = torch.bar(y)");
  CHECK(imported.model.unsupported[2].place == "code/__torch__.py:12: return torch.relu(x, \"text\")");
  CHECK(imported.model.status.message().find(
            "3 parts of the program cannot be imported:\n  code/__torch__.py:6: y = torch.foo(x, 1): `foo` is not supported") !=
        std::string::npos);
}

TEST_CASE("what comes after an operator that is not supported is not an error of its own") {
  Imported imported(body({"y = torch.foo(x)", "if torch.eq(torch.size(y, 0), 3):", "  z = y", "else:", "  z = x",
                          "for i in range(int(y)):", "  z = torch.add(z, 1)", "a, b, = torch.foo2(z)", "return torch.add(a, z)"}),
                    {{"x=2xf32"}});
  CHECK(imported.model.unsupported.size() == 2);
}

TEST_CASE("the place of an error says in which module it happened") {
  ScriptParts parts{script::method("x: Tensor", {"l = self.layer", "return (l).forward(x, )"}, "  layer : __torch__.Layer\n") +
                    "class Layer(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(self: __torch__.Layer,\n    x: Tensor) "
                    "-> Tensor:\n    return torch.foo(x)\n"};
  parts.attributes = {{"layer", pickled::object("__torch__", "Layer", {{"training", pickled::boolean(false)}})}};
  refuses(parts, StatusCode::Unsupported, "return torch.foo(x) (in `layer`): `foo` is not supported");
}

TEST_CASE("programs that do not make sense are refused") {
  refuses(body({"return y"}), StatusCode::InvalidFile, "`y` has no value here");
  refuses(body({"return torch.add(foo, x)"}), StatusCode::InvalidFile, "`foo` has no value here");
  refuses(body({"return __torch__.missing(x, )"}), StatusCode::InvalidFile, "`__torch__.missing` is not in the archive's code");
  refuses(body({"return CONSTANTS.c7"}), StatusCode::InvalidFile, "the archive has no constant c7");
  refuses(body({"return self.nothing"}), StatusCode::InvalidArgument, "`M` has no attribute `nothing`");
  refuses(body({"return (self).other(x, )"}), StatusCode::InvalidFile, "class `M` has no method `other`");
  refuses(body({"a, b, = [x]", "return a"}), StatusCode::InvalidArgument, "cannot take List[Tensor] of 1 elements apart into 2 values");
  refuses(body({"if x:", "  pass", "else:", "  pass", "return x"}), StatusCode::InvalidArgument,
          "the condition of `if` is Tensor, expected bool");
  refuses(body({"while 1:", "  pass", "return x"}), StatusCode::InvalidArgument, "the condition of `while` is int, expected bool");
  refuses(body({"for i in range(\"a\"):", "  pass", "return x"}), StatusCode::InvalidArgument, "cannot iterate over str");
  refuses(body({"x.y = 1", "return x"}), StatusCode::InvalidArgument, "attribute `y` of Tensor cannot be set");
  refuses(body({"return __torch__.f(x, x, )"}, "def f(x: Tensor) -> Tensor:\n  return x\n"), StatusCode::InvalidArgument,
          "`f` takes 1 arguments, got 2");
  refuses(body({"return __torch__.f()"}, "def f(x: Tensor) -> Tensor:\n  return x\n"), StatusCode::InvalidArgument,
          "`f` needs an argument for `x`");
  refuses(body({"return __torch__.f(x, y=x)"}, "def f(x: Tensor) -> Tensor:\n  return x\n"), StatusCode::InvalidArgument,
          "`f` has no parameter `y`");
  refuses(body({"return foo(x)"}), StatusCode::Unsupported, "`foo` is not a function that TorchScript has");
  refuses(body({"return ops.prim.foo(x)"}), StatusCode::Unsupported, "operator `ops.prim.foo` is not supported");
  refuses(body({"return ops.mine.foo(x)"}), StatusCode::Unsupported, "`mine::foo` is not supported");
  refuses(body({"a = __torch__.torch.classes.q.C.__new__(__torch__.torch.classes.q.C)", "return x"}), StatusCode::Unsupported,
          "is a compiled class that the archive does not contain");
  refuses({"class M(Module):\n  def g(self: int) -> int:\n    return 1\n"}, StatusCode::NotFound,
          "the module has no method `forward`; its methods are `g`");
  refuses({"class N(Module):\n  pass\n"}, StatusCode::InvalidFile, "class `__torch__.M` is not in the archive's code");
  refuses({"class M(Module):\n  def forward(\n"}, StatusCode::InvalidFile, "code/__torch__.py:3:1:");
}

TEST_CASE("values that must be known when the model is compiled") {
  refuses(body({"return torch.mul(x, [1, 2][int(torch.sum(x))])"}), StatusCode::Unsupported, "the index of `__getitem__` depends on data");
  refuses(body({"l = [int(torch.sum(x)), 1]", "torch.sort(l)", "return x"}), StatusCode::Unsupported, "sorting depends on data");
  refuses(body({"return torch.mul(x, torch.len(str(torch.size(x, 0))))"}), StatusCode::Unsupported,
          "`len` is given the text \"n\", in which a number is not known", {{"x=?nxf32"}});
  refuses(body({"return torch.mul(x, [1, 2][torch.size(x, 0)])"}), StatusCode::Unsupported, "depends on the size", {{"x=?nxf32"}});
}

TEST_CASE("budgets: recursion, inlining, loops, growth") {
  refuses(body({"return __torch__.f(x, )"}, "def f(x: Tensor) -> Tensor:\n  return __torch__.f(x, )\n"), StatusCode::InvalidArgument,
          "`f` calls itself");
  std::string chain = "def f0(x: Tensor) -> Tensor:\n  return x\n";
  for (int i = 1; i <= 40; ++i) {
    std::string inner = "__torch__.f" + std::to_string(i - 1) + "(x, )";
    chain += "def f" + std::to_string(i) + "(x: Tensor) -> Tensor:\n  return torch.add(" + inner + ", " + inner + ")\n";
  }
  refuses(body({"return __torch__.f40(x, )"}, chain), StatusCode::ResourceExhausted, "calls of functions");
  std::string deep = "def f0(x: Tensor) -> Tensor:\n  return x\n";
  for (int i = 1; i <= 400; ++i)
    deep += "def f" + std::to_string(i) + "(x: Tensor) -> Tensor:\n  return __torch__.f" + std::to_string(i - 1) + "(x, )\n";
  refuses(body({"return __torch__.f400(x, )"}, deep), StatusCode::ResourceExhausted, "deep");
  refuses(body({"while True:", "  pass", "return x"}), StatusCode::ResourceExhausted, "iterations of one loop");
  refuses(body({"for i in range(9223372036854775807):", "  pass", "return x"}), StatusCode::ResourceExhausted, "iterations of one loop");
  refuses(body({"y = x", "while True:", "  y = torch.add(y, x)", "return y"}), StatusCode::ResourceExhausted,
          "becomes more than 30000 operations");
  refuses(body({"l = [1, 2]", "while True:", "  l = torch.add(l, l)", "return x"}), StatusCode::ResourceExhausted,
          "a list grows beyond 500000 elements");
  refuses(body({"s = \"ab\"", "while True:", "  s = torch.add(s, s)", "return x"}), StatusCode::ResourceExhausted,
          "a string grows beyond 16 MiB");
}

TEST_CASE("files of other versions and kinds are refused") {
  ScriptParts parts = body({"return x"});
  parts.version = "11";
  refuses(parts, StatusCode::Unsupported, "version");
}
