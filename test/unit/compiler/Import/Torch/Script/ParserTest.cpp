// DEPS: stator::compiler::Import::Torch::Script
#include "test/unit/Catch.h"

#include "compiler/Import/Torch/Script/Parser.h"
#include "compiler/Import/Torch/Script/Program.h"

#include <cmath>

using namespace stator;
using namespace stator::torch::script;

namespace {

struct Parsed {
  SourceFile file;
  Arena arena;
  ParsedFile content;
  Status status;

  explicit Parsed(std::string text) {
    file.path = "code/__torch__.py";
    file.text = std::move(text);
    status = parseFile(file, "__torch__", arena, content);
  }
  const Function &function() {
    INFO(status.message());
    REQUIRE(status.ok());
    REQUIRE(content.functions.size() == 1);
    return *content.functions[0];
  }
};

/// The value of `return TEXT`.
struct Returned : Parsed {
  explicit Returned(const std::string &text) : Parsed("def f(x: Tensor) -> Tensor:\n  return " + text + "\n") {}
  const Expr &expr() { return *function().body[0]->value; }
};

void refuses(const std::string &text, const std::string &message) {
  Parsed parsed(text);
  INFO("wanted: " << message << "\ngot: " << parsed.status.message());
  CHECK(parsed.status.code() == StatusCode::InvalidFile);
  CHECK(parsed.status.message().find(message) != std::string::npos);
}

void refusesExpression(const std::string &text, const std::string &message) {
  Returned parsed(text);
  INFO("wanted: " << message << "\ngot: " << parsed.status.message());
  CHECK(parsed.status.message().find(message) != std::string::npos);
}

} // namespace

TEST_CASE("literals of TorchScript") {
  CHECK(Returned("9223372036854775807").expr().integer == INT64_MAX);
  CHECK(Returned("-9223372036854775808").expr().integer == INT64_MIN);
  CHECK(Returned("1.0000000000000001e-05").expr().number == 1e-5);
  CHECK(Returned("0.").expr().number == 0);
  CHECK(Returned("-2.").expr().number == -2);
  CHECK(Returned("1e400").expr().number == HUGE_VAL);
  CHECK(Returned("inf").expr().number == HUGE_VAL);
  CHECK(Returned("-inf").expr().number == -HUGE_VAL);
  CHECK(std::isnan(Returned("nan").expr().number));
  CHECK(Returned("True").expr().kind == ExprKind::True);
  CHECK(Returned("None").expr().kind == ExprKind::None);
  CHECK(Returned("\"a\\n\\\"\\\\\\303\\251\\x41'\"").expr().text == "a\n\"\\\xc3\xa9"
                                                                    "A'");
  CHECK(Returned("'b'").expr().text == "b");
}

TEST_CASE("displays, calls, subscripts and dotted names") {
  Returned call("torch.conv2d(x, self.w, [1, 2], groups=3, )");
  REQUIRE(call.expr().kind == ExprKind::Call);
  CHECK(call.expr().items[0]->dotted == "torch.conv2d");
  CHECK(call.expr().items.size() == 4);
  CHECK(call.expr().items[2]->dotted == "self.w");
  REQUIRE(call.expr().keywords.size() == 1);
  CHECK(call.expr().keywords[0].name == "groups");
  CHECK(Returned("(self.conv).forward(x, )").expr().items[0]->dotted.empty());
  CHECK(Returned("(x)").expr().kind == ExprKind::Name);
  CHECK(Returned("(x,)").expr().kind == ExprKind::Tuple);
  CHECK(Returned("()").expr().items.empty());
  CHECK(Returned("{\"a\": 1, \"b\": 2}").expr().items.size() == 4);
  CHECK(Returned("annotate(Dict[str, int], {})").expr().items[1]->items.size() == 3);
  CHECK(Returned("(x)[1:3:2]").expr().items[1]->kind == ExprKind::Slice);
  CHECK(Returned("x[0]").expr().items[1]->integer == 0);
}

TEST_CASE("statements know what they assign, and until where a name is read") {
  Parsed parsed("def f(x: Tensor,\n    n: int=3) -> Tensor:\n"
                "  y = x\n"
                "  a, b, = torch.chunk(x, 2)\n"
                "  _0, c = True, y\n"
                "  while _0:\n"
                "    if _0:\n"
                "      y = a\n"
                "    else:\n"
                "      pass\n"
                "    for i in range(n):\n"
                "      z : Tensor = b\n"
                "    _0 = False\n"
                "  return y\n");
  const Function &function = parsed.function();
  CHECK(function.parameters.size() == 2);
  CHECK(function.parameters[1].defaultValue->integer == 3);
  REQUIRE(function.body.size() == 5);
  CHECK(function.body[1]->isUnpacking);
  CHECK(function.body[2]->isUnpacking);
  const Stmt &loop = *function.body[3];
  std::vector<std::string> assigned;
  for (int32_t slot : loop.assigned)
    assigned.push_back(function.slotNames[slot].str());
  CHECK(assigned == std::vector<std::string>{"y", "_0", "i", "z"});
  auto lastRead = [&](llvm::StringRef name) {
    return function.lastRead[llvm::find(function.slotNames, name) - function.slotNames.begin()];
  };
  CHECK(lastRead("_0") == loop.end); // by the next iteration
  CHECK(lastRead("y") > loop.end);
  CHECK(lastRead("c") == 0);
}

TEST_CASE("an elif is an if in an else") {
  Parsed parsed("def f(a: bool) -> int:\n  if a:\n    return 1\n  elif a:\n    return 2\n  else:\n    return 3\n");
  const Stmt &outer = *parsed.function().body[0];
  REQUIRE(outer.orElse.size() == 1);
  CHECK(outer.orElse[0]->kind == StmtKind::If);
}

TEST_CASE("classes: attributes, constants, lists of names, methods") {
  Parsed parsed("class M(Module):\n"
                "  __parameters__ = [\"w\", ]\n"
                "  __buffers__ = []\n"
                "  __forward_pre_hooks__ = [\"before\", ]\n"
                "  __annotations__ = []\n"
                "  __annotations__[\"0\"] = __torch__.a.B\n"
                "  w : Tensor\n"
                "  k : Final[int] = 3\n"
                "  def forward(self: __torch__.M) -> Tensor:\n"
                "    return self.w\n"
                "  def forward__0(self: __torch__.M) -> Tensor:\n"
                "    return getattr(self, \"0\")\n"
                "class N(NamedTuple):\n"
                "  a : Tensor\n"
                "class E(Enum):\n"
                "  RED = 1\n"
                "class I(ModuleInterface):\n"
                "  def forward(self: __torch__.I, x: Tensor) -> Tensor:\n"
                "    pass\n"
                "class P:\n"
                "  s : float\n");
  INFO(parsed.status.message());
  REQUIRE(parsed.status.ok());
  REQUIRE(parsed.content.classes.size() == 5);
  const ClassDef &module = *parsed.content.classes[0];
  CHECK(module.qualifiedName == "__torch__.M");
  CHECK(module.parameters == std::vector<std::string>{"w"});
  CHECK(module.preHooks == std::vector<std::string>{"before"});
  REQUIRE(module.field("0"));
  CHECK(module.field("0")->type->dotted == "__torch__.a.B");
  CHECK(module.field("k")->type->text == "int");
  CHECK(module.field("k")->value->integer == 3);
  CHECK(module.method("forward__0"));
  CHECK(parsed.content.classes[1]->kind == ClassKind::NamedTuple);
  CHECK(parsed.content.classes[2]->kind == ClassKind::Enum);
  CHECK(parsed.content.classes[3]->kind == ClassKind::Interface);
  CHECK(parsed.content.classes[4]->kind == ClassKind::Plain);
}

TEST_CASE("types") {
  Program program([](const std::string &) -> Result<std::string> { return notFound("nothing"); });
  auto typeOf = [&](const std::string &text) {
    static std::deque<SourceFile> files;
    files.push_back({"t", text, {}});
    Expr *expr = nullptr;
    REQUIRE(parseExpression(files.back(), program.arena(), expr).ok());
    return *program.type(expr);
  };
  CHECK(typeOf("Tensor").kind == TypeKind::Tensor);
  Type nested = typeOf("Dict[str, Tuple[int, Optional[List[Tensor]]]]");
  CHECK(nested.kind == TypeKind::Dict);
  CHECK(nested.text == "Dict[str, Tuple[int, Optional[List[Tensor]]]]");
  CHECK(nested.arguments[1].arguments[1].arguments[0].arguments[0].kind == TypeKind::Tensor);
  CHECK(typeOf("Tuple[()]").arguments.empty());
  CHECK(typeOf("NoneType").kind == TypeKind::None);
  CHECK(typeOf("Optional[int, str]").kind == TypeKind::Unknown);
  CHECK(typeOf("__torch__.Missing").kind == TypeKind::Unknown);
}

TEST_CASE("errors name file, line and column") {
  refuses("x = 1\n", "code/__torch__.py:1:1: found `x`, expected `class` or `def`");
  refuses("def f(x: Tensor) -> Tensor:\n  return torch.add(x,\n",
          "code/__torch__.py:3:1: found the end of the line, expected an expression");
  refuses("def f(x: Tensor) -> Tensor:\n  return x y\n", "found `y`, expected the end of the line");
  refuses("def f(x: Tensor) -> Tensor:\nreturn x\n", "expected an indented block");
  refuses("def f(x: Tensor) -> Tensor:\n    y = x\n  return y\n", "the indentation is that of no block around it");
  refuses("def f(x: Tensor) -> Tensor:\n  y = x\n    z = x\n", "found an indented line, expected a statement of the same block");
  refuses("def f(x: Tensor, x: Tensor) -> Tensor:\n  return x\n", "two parameters are called `x`");
  refuses("def f(x: Tensor) -> Tensor:\n  torch.add(x, x) = x\n", "nothing can be assigned to this expression");
  refuses("def f(x: Tensor) -> Tensor:\n  for 1 in x:\n    pass\n", "expected the name of the loop's variable");
  refuses("def f(x: Tensor) -> Tensor:\n  with x as 1:\n    pass\n", "expected a name behind `as`");
  refuses("class M(Thing):\n  a : int\n", "not a `Thing`");
  refuses("class M(Module):\n  a : int\n  a : int\n", "two attributes of the class are called `a`");
  refuses("class M(Module):\n  torch.foo(1)\n", "a class holds attributes and methods only");
  refuses("class M(Module):\n  __buffers__ = 3\n", "is a list of names");
  refuses("class M(Module):\n  def f(self: int) -> int:\n    return 1\n  def f(self: int) -> int:\n    return 1\n",
          "two methods of the class are called `f`");
  refusesExpression("99999999999999999999", "does not fit in 64 bits");
  refusesExpression("1.2.3", "expected the end of the line");
  refusesExpression("1x", "a number ends in a letter");
  refusesExpression("2j", "complex numbers are not supported");
  refusesExpression("\"abc", "a string does not end on its line");
  refusesExpression("\"\\q\"", "the string has an escape that is not one");
  refusesExpression("-x", "expected a number behind `-`");
  refusesExpression("f(a=1, x)", "an argument without a name follows one with a name");
  refusesExpression("x + 1", "`+` is no part of TorchScript's printed form");
  refusesExpression("^Foo(1)(x)", "is a Python function that was not exported with the model");
}

TEST_CASE("text that is not UTF-8, or nested too deeply, is refused") {
  refuses("def f(x: Tensor) -> Tensor:\n  return \"\xff\"\n", "is not UTF-8");
  refusesExpression(std::string(100000, '(') + "x" + std::string(100000, ')'), "expressions are nested more than 256 deep");
  refusesExpression(std::string(100000, '['), "expressions are nested more than 256 deep");
  std::string dots = "x";
  for (int i = 0; i < 1000; ++i)
    dots += ".a";
  refusesExpression(dots, "expressions are nested more than 256 deep");
  std::string blocks = "def f(x: bool) -> int:\n";
  for (int i = 1; i < 400; ++i)
    blocks += std::string(i, ' ') + "if x:\n";
  refuses(blocks + std::string(400, ' ') + "pass\n", "deep");
}
