// DEPS: stator::serialization::Base
// Symbolic sizes: canonical forms pinned one by one, and the algebra checked against plain evaluation on random expressions.
#include "serialization/Base/DimExpr.h"
#include "test/unit/Catch.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace stator;

static DimExpr dim(const std::string &text) {
  Result<DimExpr> result = DimExpr::parse(text);
  INFO(text << ": " << result.status().message());
  REQUIRE(result.ok());
  return *result;
}

static std::string parseError(const std::string &text) {
  Result<DimExpr> result = DimExpr::parse(text);
  REQUIRE_FALSE(result.ok());
  return result.status().message();
}

TEST_CASE("DimExpr prints one canonical form") {
  auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"2 + N*64*T", "64*N*T + 2"},
      {"T*N - N*T", "0"},
      {"(N + 1)*(N - 1)", "N*N - 1"},
      {"-N", "-N"},
      {"3 - N - N", "-2*N + 3"},
      {"floordiv(h + 2 - 3, 2) + 1", "floordiv(h + 1, 2)"},
      {"floordiv(4*N, 2)", "2*N"},
      {"floordiv(4*N + 2, 4)", "N"},
      {"floordiv(4*N + 6, 4)", "N + 1"},
      {"floordiv(2*N + 1, 4)", "floordiv(N, 2)"},
      {"floordiv(5*N, 4)", "N + floordiv(N, 4)"},
      {"floordiv(64*N*T, T*16)", "4*N"},
      {"floordiv(N*T + 3, T)", "N + floordiv(3, T)"},
      {"floordiv(N*H, N*W)", "floordiv(H, W)"},
      {"floordiv((N + 1)*(T + 2), N + 1)", "T + 2"},
      {"floordiv(floordiv(h + 1, 2) + 1, 2)", "floordiv(h + 3, 4)"},
      {"floordiv(-N, 4)", "-floordiv(N + 3, 4)"},
      {"floordiv(N, -4)", "-floordiv(N + 3, 4)"},
      {"ceildiv(N, 4)", "floordiv(N + 3, 4)"},
      {"ceildiv(N, T)", "ceildiv(N, T)"},
      {"ceildiv(N*T, T)", "N"},
      {"floordiv(3, N + 4)", "0"},
      {"floordiv(mod(N, 4), 4)", "0"},
      {"mod(4*N + 3, 4)", "3"},
      {"mod(5*N + 6, 4)", "mod(N + 2, 4)"},
      {"mod(2*N, 4)", "2*mod(N, 2)"},
      {"mod(N*T + 1, T)", "mod(1, T)"},
      {"mod(N, 1)", "0"},
      {"min(64, T)", "min(T, 64)"},
      {"min(T, T + 1)", "T"},
      {"min(N + 1, 65)", "min(N, 64) + 1"},
      {"min(2*N, 128)", "2*min(N, 64)"},
      {"min(min(N, 64) + 1, T)", "min(N + 1, T, 65)"},
      {"max(min(T, 64), 64)", "64"},
      {"max(N, 0)", "N"},
      {"min(N, 3, 5)", "min(N, 3)"},
      {"max(-N, 0)", "0"},
      {"'batch size'*2", "2*'batch size'"},
      {"'it\\'s'", "'it\\'s'"},
      {"'a\\x0ab'", "'a\\x0ab'"},
      {"'min' + 1", "'min' + 1"},
      {"-9223372036854775808 + N", "N + -9223372036854775808"},
      {"--N", "N"},
  }));
  CHECK(dim(text).str() == expected);
  CHECK(dim(expected) == dim(text));
}

TEST_CASE("DimExpr knows constants and symbols") {
  CHECK(DimExpr(7).constant() == 7);
  CHECK(DimExpr(7).isConstant(7));
  CHECK_FALSE(dim("N").isConstant());
  CHECK(dim("N").asSymbol() == "N");
  CHECK(dim("'min'").asSymbol() == "min");
  CHECK_FALSE(dim("N + 1").asSymbol());
  CHECK(dim("min(b, a)*c + floordiv(a, d)").symbols() == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(dim("N + 1").substitute({{"N", 4}}).constant() == 5);
  CHECK(dim("floordiv(N*H, K)").substitute({{"K", dim("H")}}).str() == "N");
  CHECK(dim("6*N*N + 9*N + 3").exactDiv(dim("2*N + 1")) == dim("3*N + 3"));
  CHECK_FALSE(dim("N + 1").exactDiv(2));
  CHECK_FALSE(dim("N").exactDiv(0));
}

TEST_CASE("DimExpr orders constants first and hashes equal values equally") {
  CHECK(DimExpr(2) < DimExpr(10));
  CHECK(DimExpr(10) < dim("N"));
  CHECK_FALSE(dim("N") < DimExpr(10));
  CHECK_FALSE(dim("N") < dim("N"));
  CHECK(dim("a") < dim("b"));
  CHECK(dim("N + T").hash() == (dim("T") + dim("N")).hash());
}

TEST_CASE("DimExpr bounds follow the ranges of the symbols") {
  std::map<std::string, DimInterval> ranges{{"N", {1, 8}}, {"T", {2, 100}}};
  auto check = [&](const std::string &text, std::optional<int64_t> lo, std::optional<int64_t> hi) {
    DimInterval interval = dim(text).bounds(ranges);
    INFO(text);
    CHECK(interval.lo == lo);
    CHECK(interval.hi == hi);
  };
  check("N*T + 1", 3, 801);
  check("N - T", -99, 6);
  check("floordiv(T, N)", 0, 100);
  check("min(T, 64)", 2, 64);
  check("mod(T, 7)", 0, 6);
  check("unknown", 0, std::nullopt);
  check("N - unknown", std::nullopt, 8);
  check("ceildiv(T, N)", 1, 100);
}

TEST_CASE("an invalid DimExpr stays invalid and says why") {
  DimExpr huge = DimExpr(INT64_MAX) * DimExpr::symbol("N");
  CHECK((huge + huge).status().message() == "size expression is invalid: a coefficient exceeds 64 bits");
  CHECK((DimExpr(INT64_MAX) + 1).status().message() == "size expression is invalid: a coefficient exceeds 64 bits");
  CHECK(dim("N").floorDiv(0).status().message() == "size expression is invalid: division by zero");
  CHECK(DimExpr(1).mod(0).status().message() == "size expression is invalid: division by zero");
  CHECK(DimExpr(INT64_MIN).floorDiv(-1).status().message() == "size expression is invalid: a quotient exceeds 64 bits");
  CHECK(DimExpr::symbol("").status().message() == "size expression is invalid: a symbol has an empty name");
  DimExpr bad = DimExpr::invalid("reason") * dim("N") + 1;
  CHECK_FALSE(bad.isValid());
  CHECK_FALSE(bad.min(3).isValid());
  CHECK_FALSE(DimExpr(3).floorDiv(bad).isValid());
  CHECK(bad.str() == "invalid(reason)");
  CHECK_FALSE(bad.evaluate({}).ok());
  CHECK_FALSE(compile(bad, {}).ok());
  CHECK_FALSE(bad.constant());
}

TEST_CASE("DimExpr budgets turn growth into an invalid expression") {
  DimExpr sum = 0, power = 1, nested = DimExpr::symbol("x");
  for (int i = 0; i != 40; ++i)
    sum = sum + DimExpr::symbol("s" + std::to_string(i));
  CHECK((sum * sum).status().message() == "size expression is invalid: a product has more than 1024 terms");
  for (int i = 0; i != 65; ++i)
    power = power * DimExpr::symbol("x");
  CHECK(power.status().message() == "size expression is invalid: a product has more than 64 factors");
  for (int i = 0; i != 80; ++i)
    nested = DimExpr::symbol("y" + std::to_string(i)).floorDiv(nested + 1);
  CHECK(nested.status().message() == "size expression is invalid: it is nested more than 64 deep");
}

TEST_CASE("DimExpr parse errors name the place") {
  CHECK(parseError("") == "size expression ``, at character 1: expected a size, found the end");
  CHECK(parseError("N +") == "size expression `N +`, at character 4: expected a size, found the end");
  CHECK(parseError("N T") == "size expression `N T`, at character 3: expected an operator or the end");
  CHECK(parseError("?") == "size expression `?`, at character 1: expected a size");
  CHECK(parseError("(N") == "size expression `(N`, at character 3: expected `)`");
  CHECK(parseError("mod(N, 2") == "size expression `mod(N, 2`, at character 9: expected `)`");
  CHECK(parseError("min(N)") == "size expression `min(N)`, at character 7: `min` takes two operands");
  CHECK(parseError("mod(1, 2, 3)") == "size expression `mod(1, 2, 3)`, at character 12: `mod` takes two operands");
  CHECK(parseError("9223372036854775808") == "size expression `9223372036854775808`, at character 20: the number exceeds 64 bits");
  CHECK(parseError("'a") == "size expression `'a`, at character 3: a quoted name has no end");
  CHECK(parseError("''") == "size expression `''`, at character 3: a quoted name is empty");
  CHECK(parseError("'\\xg1'") == "size expression `'\\xg1'`, at character 4: expected two hexadecimal digits");
  CHECK(parseError("mod(N, 0)") == "size expression `mod(N, 0)`: size expression is invalid: division by zero");
  CHECK(parseError(std::string(100, '(')).find("nested more than 64 deep") != std::string::npos);
  CHECK(parseError(std::string(70000, 'a')) == "size expression of 70000 characters, at most 65536 are accepted");
}

TEST_CASE("postfix code that is malformed is refused with its place") {
  auto message = [](std::vector<int64_t> code) {
    Status status = checkPostfix(code, 2);
    int64_t symbols[] = {3, 4};
    Result<int64_t> value = evaluatePostfix(code, symbols);
    CHECK(value.ok() == status.ok());
    CHECK(value.status().message() == status.message());
    return status.message();
  };
  CHECK(message({0, 5}) == "");
  CHECK(message({}) == "expression code, element 0: 0 results, expected 1");
  CHECK(message({0}) == "expression code, element 0: the operand is missing");
  CHECK(message({12}) == "expression code, element 0: unknown operator 12");
  CHECK(message({-1}) == "expression code, element 0: unknown operator -1");
  CHECK(message({1, 2}) == "expression code, element 1: symbol 2 of 2");
  CHECK(message({1, -1}) == "expression code, element 1: symbol -1 of 2");
  CHECK(message({0, 1, 2}) == "expression code, element 2: an operator has 1 operands, expected 2");
  CHECK(message({0, 1, 0, 2}) == "expression code, element 4: 2 results, expected 1");
  std::vector<int64_t> deep;
  for (unsigned i = 0; i != kMaxPostfixDepth + 1; ++i)
    deep.insert(deep.end(), {0, 1});
  CHECK(message(deep) == "expression code, element 513: more than 256 values at once");
}

TEST_CASE("postfix evaluation reports overflow and division by zero") {
  int64_t symbols[] = {0, INT64_MAX};
  CHECK(evaluatePostfix(std::vector<int64_t>{1, 1, 0, 2, 4}, symbols).status().message() == "a size expression exceeds 64 bits");
  CHECK(evaluatePostfix(std::vector<int64_t>{0, 1, 1, 0, 5}, symbols).status().message() == "a size expression divides by zero");
  CHECK(evaluatePostfix(std::vector<int64_t>{0, INT64_MIN, 0, -1, 5}, symbols).status().message() == "a size expression exceeds 64 bits");
  CHECK(*evaluatePostfix(std::vector<int64_t>{0, INT64_MIN, 0, -1, 7}, symbols) == 0);
  CHECK(dim("N*N").evaluate({{"N", INT64_MAX}}).status().message() == "overflow in `N*N`");
  CHECK(dim("floordiv(4, N)").evaluate({{"N", 0}}).status().message() == "division by zero in `floordiv(4, N)`");
  CHECK(dim("N").evaluate({}).status().message() == "symbol `N` has no value");
  CHECK(compile(dim("N"), {}).status().message() == "size expression uses the symbol `N`, which is not declared");
}

// Random expressions, built twice: as a DimExpr and as numbers. Whatever the rewriting does must not change the value.

namespace {
struct Sample {
  DimExpr expr;
  std::vector<std::optional<int64_t>> values; // One per assignment; empty where a division by zero happened.
};

struct Generator {
  std::mt19937 random;
  std::vector<std::map<std::string, int64_t>> assignments;

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  Sample leaf() {
    Sample sample;
    if (below(2)) {
      std::string name(1, static_cast<char>('a' + below(4)));
      sample.expr = DimExpr::symbol(name);
      for (auto &assignment : assignments)
        sample.values.push_back(assignment.at(name));
      return sample;
    }
    int64_t constant = below(13) - 4;
    sample.expr = constant;
    sample.values.assign(assignments.size(), constant);
    return sample;
  }

  Sample make(int depth) {
    if (depth == 0 || below(6) == 0)
      return leaf();
    Sample a = make(depth - 1), b = make(depth - 1), result;
    int op = below(8);
    switch (op) {
    case 0:
      result.expr = a.expr + b.expr;
      break;
    case 1:
      result.expr = a.expr - b.expr;
      break;
    case 2:
      result.expr = a.expr * b.expr;
      break;
    case 3:
      result.expr = a.expr.floorDiv(b.expr);
      break;
    case 4:
      result.expr = a.expr.ceilDiv(b.expr);
      break;
    case 5:
      result.expr = a.expr.mod(b.expr);
      break;
    case 6:
      result.expr = a.expr.min(b.expr);
      break;
    default:
      result.expr = a.expr.max(b.expr);
      break;
    }
    for (size_t i = 0; i != assignments.size(); ++i)
      result.values.push_back(a.values[i] && b.values[i] ? apply(op, *a.values[i], *b.values[i]) : std::nullopt);
    return result;
  }

  static std::optional<int64_t> apply(int op, int64_t a, int64_t b) {
    if (op >= 3 && op <= 5 && b == 0)
      return std::nullopt;
    double quotient = b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
    int64_t floor = static_cast<int64_t>(std::floor(quotient)), ceil = static_cast<int64_t>(std::ceil(quotient));
    switch (op) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return floor;
    case 4:
      return ceil;
    case 5:
      return a - b * floor;
    case 6:
      return std::min(a, b);
    default:
      return std::max(a, b);
    }
  }
};
} // namespace

TEST_CASE("DimExpr algebra agrees with plain evaluation on random expressions") {
  Generator generator;
  generator.random.seed(20240501);
  for (int i = 0; i != 12; ++i) {
    std::map<std::string, int64_t> assignment;
    for (char name = 'a'; name != 'e'; ++name)
      assignment[std::string(1, name)] = i == 0 ? 0 : i == 1 ? 1 : generator.below(30);
    generator.assignments.push_back(assignment);
  }
  std::map<std::string, uint32_t> index{{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}};
  std::vector<std::string> names{"a", "b", "c", "d"};
  unsigned checked = 0;
  for (int round = 0; round != 6000; ++round) {
    Sample sample = generator.make(1 + round % 4);
    const DimExpr &expr = sample.expr;
    if (!expr.isValid())
      continue;
    std::string text = expr.str();
    INFO(text);
    Result<DimExpr> reread = DimExpr::parse(text);
    REQUIRE(reread.ok());
    // Reading a canonical text gives the same text: forms are stable.
    REQUIRE(reread->str() == text);
    Result<std::vector<int64_t>> code = compile(expr, index);
    REQUIRE(code.ok());
    REQUIRE(checkPostfix(*code, 4).ok());
    REQUIRE(decompile(*code, names) == expr);
    DimInterval interval = expr.bounds();
    for (size_t i = 0; i != generator.assignments.size(); ++i) {
      if (!sample.values[i] || std::abs(*sample.values[i]) > (int64_t(1) << 50))
        continue;
      const std::map<std::string, int64_t> &assignment = generator.assignments[i];
      INFO("a=" << assignment.at("a") << " b=" << assignment.at("b") << " c=" << assignment.at("c") << " d=" << assignment.at("d"));
      Result<int64_t> value = expr.evaluate(assignment);
      INFO(value.status().message());
      REQUIRE(value.ok());
      REQUIRE(*value == *sample.values[i]);
      int64_t symbols[] = {assignment.at("a"), assignment.at("b"), assignment.at("c"), assignment.at("d")};
      Result<int64_t> postfix = evaluatePostfix(*code, symbols);
      REQUIRE(postfix.ok());
      REQUIRE(*postfix == *value);
      REQUIRE((!interval.lo || *interval.lo <= *value));
      REQUIRE((!interval.hi || *interval.hi >= *value));
      std::map<std::string, DimExpr> constants(assignment.begin(), assignment.end());
      REQUIRE(expr.substitute(constants).constant() == *value);
      ++checked;
    }
  }
  CHECK(checked > 20000);
}
