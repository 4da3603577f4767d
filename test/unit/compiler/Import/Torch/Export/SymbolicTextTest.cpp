// DEPS: stator::compiler::Import::Torch::Export
#include "compiler/Import/Torch/Export/SymbolicText.h"
#include "test/unit/Catch.h"

using namespace stator;
using namespace stator::torch::exported;

namespace {

std::string sizeOf(const std::string &text) {
  Result<SymbolicValue> value = parseSrepr(text);
  if (!value.ok())
    return "error: " + value.status().message();
  if (value->kind != SymbolicValue::Kind::Integer)
    return value->kind == SymbolicValue::Kind::Number ? "number" : "condition";
  return value->isKnown ? value->value.str() : "unknown";
}
std::string printed(const std::string &text) {
  Result<DimExpr> value = parsePrinted(text);
  return value.ok() ? value->str() : "error: " + value.status().message();
}
bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
const std::string s = "Symbol('s0', positive=True, integer=True)";

} // namespace

TEST_CASE("srepr of sizes") {
  CHECK(sizeOf("Integer(7)") == "7");
  CHECK(sizeOf("Integer(-1)") == "-1");
  CHECK(sizeOf(s) == "s0");
  CHECK(sizeOf("s0") == "s0");
  CHECK(sizeOf("Symbol('u0', integer=True)") == "u0");
  CHECK(sizeOf("Add(Mul(Integer(16), " + s + "), Integer(16))") == "16*s0 + 16");
  CHECK(sizeOf("Mul(Integer(4), Pow(" + s + ", Integer(2)))") == "4*s0*s0");
  CHECK(sizeOf("Add(FloorDiv(Add(" + s + ", Integer(-1)), Integer(2)), Integer(1))") == "floordiv(s0 + 1, 2)");
  CHECK(sizeOf("CleanDiv(Mul(Integer(4), " + s + "), Integer(2))") == "2*s0");
  CHECK(sizeOf("Mod(" + s + ", Integer(3))") == "mod(s0, 3)");
  CHECK(sizeOf("PythonMod(" + s + ", Integer(3))") == "mod(s0, 3)");
  CHECK(sizeOf("Min(Integer(8), " + s + ")") == "min(s0, 8)");
  CHECK(sizeOf("Max(Integer(8), " + s + ")") == "max(s0, 8)");
  CHECK(sizeOf("ModularIndexing(" + s + ", Integer(2), Integer(3))") == "mod(floordiv(s0, 2), 3)");
}

TEST_CASE("srepr of sizes that went through floating point") {
  CHECK(sizeOf("CeilToInt(IntTrueDiv(" + s + ", Integer(2)))") == "floordiv(s0 + 1, 2)");
  CHECK(sizeOf("FloorToInt(Mul(Float('1.5', precision=53), ToFloat(" + s + ")))") == "floordiv(s0, 2) + s0");
  CHECK(sizeOf("TruncToInt(FloatTrueDiv(ToFloat(" + s + "), Float('2.0', precision=53)))") == "floordiv(s0, 2)");
  CHECK(sizeOf("TruncToInt(Float('0.1', precision=53))") == "unknown");
  CHECK(sizeOf("TruncToInt(OpaqueUnaryFn_sqrt(" + s + "))") == "unknown");
  CHECK(sizeOf("Mul(Rational(1, 2), " + s + ")") == "number");
  CHECK(sizeOf("ToFloat(" + s + ")") == "number");
  CHECK(sizeOf("Pow(" + s + ", Integer(-1))") == "number");
}

TEST_CASE("srepr of conditions") {
  CHECK(sizeOf("Equality(" + s + ", Integer(2))") == "condition");
  CHECK(sizeOf("And(GreaterThan(" + s + ", Integer(2)), Not(LessThan(" + s + ", Integer(9))))") == "condition");
  CHECK(sizeOf("true") == "condition");
  CHECK(has(sizeOf("Add(true, Integer(1))"), "mixes conditions and numbers"));
  CHECK(has(sizeOf("And(Integer(1), true)"), "mixes conditions and numbers"));
}

TEST_CASE("srepr that is no size is refused") {
  CHECK(has(sizeOf("__import__('os').system('true')"), "calls `__import__`, which is not a function of sizes"));
  CHECK(has(sizeOf("os.system"), "expected a symbol"));
  CHECK(has(sizeOf("Add(Integer(1)"), "unfinished function"));
  CHECK(has(sizeOf("Integer(1))"), "goes on after its end"));
  CHECK(has(sizeOf("Integer(1.5)"), "an integer that cannot be read"));
  CHECK(has(sizeOf("Integer(99999999999999999999)"), "cannot be read"));
  CHECK(has(sizeOf("Symbol(s0)"), "a symbol without a proper name"));
  CHECK(has(sizeOf("Symbol('a b')"), "a symbol without a proper name"));
  CHECK(has(sizeOf("Symbol('a', positive=exec)"), "unreadable assumptions"));
  CHECK(has(sizeOf("Symbol('a'"), "an unfinished symbol"));
  CHECK(has(sizeOf("Float('x')"), "a number that cannot be read"));
  CHECK(has(sizeOf("FloorDiv(Integer(1))"), "`FloorDiv` of 1 arguments"));
  CHECK(has(sizeOf("Equality(Integer(1))"), "`Equality` of 1 arguments"));
  CHECK(has(sizeOf(""), "is not an expression of sizes"));
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep += "Add(";
  CHECK(has(sizeOf(deep), "nested more than 64 deep"));
  CHECK(has(sizeOf(std::string(100000, 'a')), "is too long"));
  // Too large to be represented is no error as long as nobody needs the size.
  CHECK(sizeOf("Mul(Integer(9223372036854775807), Integer(9223372036854775807), " + s + ")") == "unknown");
  CHECK(sizeOf("FloorDiv(" + s + ", Integer(0))") == "unknown");
}

TEST_CASE("printed sizes") {
  CHECK(printed("s44") == "s44");
  CHECK(printed("2*s44") == "2*s44");
  CHECK(printed("s15 + 1") == "s15 + 1");
  CHECK(printed("s15 - 1") == "s15 - 1");
  CHECK(printed("-s15 + 8") == "-s15 + 8");
  CHECK(printed("s0**2") == "s0*s0");
  CHECK(printed("4*((s0//2))") == "4*floordiv(s0, 2)");
  CHECK(printed("Max(1, s0)") == "max(s0, 1)");
  CHECK(printed("s0 % 8") == "mod(s0, 8)");
  CHECK(has(printed("s0/2"), "is not an integer"));
  CHECK(has(printed("f(s0)"), "is not a function of sizes"));
  CHECK(has(printed("(s0"), "an unfinished bracket"));
  CHECK(has(printed("Max(s0"), "an unfinished function"));
  CHECK(has(printed("Mod(s0)"), "`Mod` of 1 arguments"));
  CHECK(has(printed("s0 s1"), "goes on after its end"));
  CHECK(has(printed("2 +"), "is not an expression of sizes"));
  CHECK(has(printed(std::string(200, '-')), "nested more than 64 deep"));
}
