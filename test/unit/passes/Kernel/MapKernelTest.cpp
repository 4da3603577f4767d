// DEPS: stator::tools::bench::harness stator::dialects::Graph::Interpreter
// Element-wise kernels against the interpreter: every op, element types, special values, broadcasts and transposes, odd sizes.
#include "test/unit/passes/Kernel/InterpreterComparison.h"

using namespace stator::kernel::testing;

namespace {

const std::vector<std::vector<int64_t>> oneSize = {{0}, {1}, {15}, {17}, {2500}};

using Strings = std::vector<std::string>;

/// One kernel that computes each of `ops`, applied to the same arguments, as a result of its own. In `ops`, `$x` is the operands' type
/// and `$y` the result's.
void checkOps(const Strings &ops, const std::string &arguments, const Strings &operandElements, const Strings &resultElements,
              std::vector<InputRange> ranges, double relative, double absolute) {
  std::string body, results, types;
  for (size_t i = 0; i < ops.size(); ++i) {
    std::string type = tensor("s0", resultElements[std::min(i, resultElements.size() - 1)]), number = std::to_string(i);
    body += "  %r" + number + " = graph." + ops[i] + " -> " + type + "\n";
    results += (i ? ", %r" : "%r") + number;
    types += (i ? ", " : "") + type;
  }
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < operandElements.size(); ++i)
    names["x" + std::to_string(i)] = tensor("s0", operandElements[i]);
  Comparison comparison;
  comparison.text =
      withTypes("func.func @k(" + arguments + ") -> (" + types + ") {\n" + body + "  return " + results + " : " + types + "\n}", names);
  comparison.sizes = oneSize;
  comparison.ranges = std::move(ranges);
  comparison.relative = relative;
  comparison.absolute = absolute;
  compareWithInterpreter(comparison);
}

void checkUnary(const Strings &names, InputRange range, double relative, double absolute, const std::string &element = "f32",
                const std::string &resultElement = "") {
  Strings ops;
  for (const std::string &name : names)
    ops.push_back(name + " %x : ($x0)");
  checkOps(ops, "%x: $x0", {element}, {resultElement.empty() ? element : resultElement}, {range}, relative, absolute);
}

void checkBinary(const Strings &names, InputRange left, InputRange right, const std::string &element, double relative, double absolute) {
  Strings ops;
  for (const std::string &name : names)
    ops.push_back(name + " %a, %b : ($x0, $x0)");
  checkOps(ops, "%a: $x0, %b: $x0", {element}, {element}, {left, right}, relative, absolute);
}

void checkComparisons(InputRange range, const std::string &element) {
  Strings ops;
  for (std::string direction : {"eq", "ne", "lt", "le", "gt", "ge"})
    ops.push_back("compare %a, %b {direction = #graph.compare_direction<" + direction + ">} : ($x0, $x0)");
  checkOps(ops, "%a: $x0, %b: $x0", {element}, {"i1"}, {range}, 0, 0);
}

} // namespace

TEST_CASE("exact unary functions of floats") {
  for (std::string element : {"f32", "f64"}) {
    checkUnary({"abs", "neg", "sign", "relu", "sqrt", "floor", "ceil", "round_even"}, {-5, 5, true}, 1e-7, 0, element);
    checkUnary({"is_nan", "is_inf"}, {-5, 5, true}, 0, 0, element, "i1");
  }
}

TEST_CASE("transcendental functions of f32") {
  // A few units in the last place (6e-8).
  checkUnary({"exp", "expm1", "log", "log1p", "rsqrt", "sigmoid", "tanh", "erf"}, {-10, 10, true}, 3e-7, 1e-38);
  checkUnary({"atan", "sinh", "cosh", "asinh"}, {-10, 10, true}, 3e-7, 1e-38);
  checkUnary({"exp", "expm1", "sigmoid", "sinh", "cosh", "log", "asinh"}, {-86.9, 87, true}, 5e-7, 1e-38);
  checkUnary({"exp", "expm1", "log", "log1p", "tanh", "erf", "asin"}, {-1e-3, 1e-3, true}, 3e-7, 1e-44);
  checkUnary({"sin", "cos", "tan"}, {-1000, 1000, false}, 3e-7, 1e-38);
  checkUnary({"sin", "cos", "tan"}, {-1e-3, 1e-3, false}, 3e-7, 1e-44);
  checkUnary({"asin", "acos", "atanh"}, {-1.1, 1.1, true}, 3e-7, 1e-38);
  checkUnary({"acosh"}, {0.9, 20, true}, 3e-7, 1e-38);
  checkUnary({"gelu"}, {-6, 6, false}, 5e-7, 5e-7);
}

TEST_CASE("SiLU is one division") {
  // The product with x and a sigmoid that is a result of its own, with every special value.
  for (InputRange range : {InputRange{-10, 10, true}, InputRange{-120, 120, true}}) {
    Comparison comparison;
    comparison.text = withTypes(R"(func.func @k(%x: $x) -> ($x, $x) {
  %0 = graph.sigmoid %x : ($x) -> $x
  %1 = graph.mul %x, %0 : ($x, $x) -> $x
  return %0, %1 : $x, $x
})",
                                {{"x", tensor("s0")}});
    comparison.sizes = oneSize;
    comparison.ranges = {range};
    comparison.relative = 5e-7;
    comparison.absolute = 1e-36;
    compareWithInterpreter(comparison);
  }
}

TEST_CASE("transcendental functions of f64") {
  checkUnary({"exp", "expm1", "log", "log1p", "rsqrt", "sigmoid", "tanh", "erf"}, {-10, 10, true}, 2e-15, 1e-300, "f64");
  checkUnary({"atan", "sinh", "cosh", "asinh"}, {-10, 10, true}, 2e-15, 1e-300, "f64");
  checkUnary({"exp", "sinh", "cosh"}, {-700, 700, true}, 4e-15, 1e-300, "f64");
  checkUnary({"sin", "cos", "tan"}, {-1000, 1000, false}, 2e-14, 1e-15, "f64");
  checkUnary({"asin", "acos", "atanh"}, {-1.1, 1.1, true}, 4e-15, 1e-300, "f64");
  checkUnary({"acosh"}, {0.9, 20, true}, 4e-15, 1e-300, "f64");
}

TEST_CASE("halves are computed in f32 and rounded") {
  for (std::string element : {"f16", "bf16"}) {
    checkUnary({"relu", "exp", "tanh", "sqrt", "neg"}, {-3, 3, true}, 1e-3, 1e-7, element);
    checkBinary({"add", "mul", "div", "maximum"}, {-3, 3, true}, {-3, 3, true}, element, 1e-3, 1e-38);
  }
}

TEST_CASE("binary functions of floats") {
  InputRange any{-5, 5, true};
  for (std::string element : {"f32", "f64"}) {
    double relative = element == "f32" ? 2e-7 : 1e-15;
    checkBinary({"add", "sub", "mul", "div", "maximum", "minimum", "atan2"}, any, any, element, relative, 1e-320);
    checkBinary({"remainder", "modulo", "floor_div"}, {-50, 50}, {-5, 5}, element, 2e-7, 1e-7);
    checkComparisons({-2, 2, true}, element);
  }
  checkBinary({"pow"}, {0, 20, true}, {-5, 5, true}, "f32", 3e-7, 1e-38);
  checkBinary({"pow"}, {0, 20, true}, {-5, 5, true}, "f64", 1e-13, 1e-300);
}

TEST_CASE("integers") {
  InputRange any{-5, 5, true}, small{-9, 9, false};
  for (std::string element : {"i8", "i16", "i32", "i64", "ui8"}) {
    checkUnary({"abs", "neg", "sign", "relu", "not"}, any, 0, 0, element);
    checkBinary({"add", "sub", "mul", "maximum", "minimum", "and", "or", "xor"}, any, any, element, 0, 0);
    checkBinary({"div", "floor_div", "remainder", "modulo"}, any, any, element, 0, 0);
    checkBinary({"shift_left", "shift_right"}, any, {-2, 70, false}, element, 0, 0);
    if (element == "i32" || element == "ui8")
      checkBinary({"pow"}, small, small, element, 0, 0);
    checkComparisons(any, element);
  }
  checkBinary({"and", "or", "xor"}, any, any, "i1", 0, 0);
  checkUnary({"not"}, any, 0, 0, "i1");
  checkComparisons(any, "i1");
}

TEST_CASE("conversions") {
  const Strings types = {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "ui8", "i1"};
  for (const std::string &from : types)
    checkOps(Strings(types.size(), "convert %x : ($x0)"), "%x: $x0", {from}, types, {{-300, 300, true}}, 1e-7, 0);
}

TEST_CASE("broadcasts, transposes and constants in a fused map") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x, %bias: $c, %scale: $s, %t: $t) -> $x {
  %half = graph.constant dense<0.5> : tensor<f32>
  %b = graph.broadcast %bias {dimensions = array<i64: 2>} : ($c) -> $x
  %s = graph.broadcast %scale {dimensions = array<i64: 0, 2>} : ($s) -> $x
  %h = graph.broadcast %half {dimensions = array<i64>} : (tensor<f32>) -> $x
  %u = graph.transpose %t {permutation = array<i64: 2, 0, 1>} : ($t) -> $x
  %0 = graph.add %x, %b : ($x, $x) -> $x
  %1 = graph.mul %0, %s : ($x, $x) -> $x
  %2 = graph.mul %1, %h : ($x, $x) -> $x
  %3 = graph.sub %2, %u : ($x, $x) -> $x
  return %3 : $x
})",
                                    {{"x", tensor("s0,s1,s2")}, {"c", tensor("s2")}, {"s", tensor("s0,1")}, {"t", tensor("s1,s2,s0")}}),
                          {{0, 2, 3}, {1, 1, 1}, {2, 3, 4}, {3, 7, 17}, {2, 5, 1100}, {70, 9, 16}, {5, 0, 3}}});
}

TEST_CASE("a transposed operand is read in tiles") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x, %t: $t, %b: $b) -> ($x, $x) {
  %0 = graph.transpose %t {permutation = array<i64: 0, 2, 1>} : ($t) -> $x
  %1 = graph.broadcast %b {dimensions = array<i64: 1>} : ($b) -> $x
  %2 = graph.add %x, %0 : ($x, $x) -> $x
  %3 = graph.mul %0, %1 : ($x, $x) -> $x
  return %2, %3 : $x, $x
})",
                                    {{"x", tensor("s0,s1,s2")}, {"t", tensor("s0,s2,s1")}, {"b", tensor("s1")}}),
                          {{1, 0, 5}, {1, 16, 16}, {2, 17, 33}, {1, 40, 500}, {3, 100, 7}}});
  // An image with channels last, scaled and shifted per channel, and back.
  for (bool channelsLast : {true, false})
    compareWithInterpreter({withTypes(R"(
func.func @k(%t: $t, %b: $b) -> ($x, $h) {
  %0 = graph.transpose %t {permutation = array<i64: 0, 2, 1>} : ($t) -> $x
  %1 = graph.broadcast %b {dimensions = array<i64: )" +
                                          std::string(channelsLast ? "2" : "1") + R"(>} : ($b) -> $x
  %2 = graph.mul %0, %1 : ($x, $x) -> $x
  %3 = graph.add %2, %1 : ($x, $x) -> $x
  %4 = graph.convert %3 : ($x) -> $h
  return %3, %4 : $x, $h
})",
                                      {{"x", channelsLast ? tensor("s0,s1,3") : tensor("s0,3,s1")},
                                       {"h", channelsLast ? tensor("s0,s1,3", "bf16") : tensor("s0,3,s1", "bf16")},
                                       {"t", channelsLast ? tensor("s0,3,s1") : tensor("s0,s1,3")},
                                       {"b", tensor("3")}}),
                            {{1, 0}, {1, 5}, {2, 16}, {1, 100}, {2, 1500}}});
}

TEST_CASE("maps of rank 0, of one size and with several results") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = graph.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = graph.exp %0 : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
})",
                                    {}),
                          {}});
  compareWithInterpreter({R"(
func.func @k(%x: tensor<1x3x1x5xf32>, %y: tensor<1x3x1x5xf32>) -> (tensor<1x3x1x5xf32>, tensor<1x3x1x5xi1>) {
  %0 = graph.add %x, %y : (tensor<1x3x1x5xf32>, tensor<1x3x1x5xf32>) -> tensor<1x3x1x5xf32>
  %1 = graph.compare %x, %y {direction = #graph.compare_direction<gt>} : (tensor<1x3x1x5xf32>, tensor<1x3x1x5xf32>) -> tensor<1x3x1x5xi1>
  %2 = graph.select %1, %0, %x : (tensor<1x3x1x5xi1>, tensor<1x3x1x5xf32>, tensor<1x3x1x5xf32>) -> tensor<1x3x1x5xf32>
  return %2, %1 : tensor<1x3x1x5xf32>, tensor<1x3x1x5xi1>
})",
                          {}});
}

TEST_CASE("powers with a constant exponent") {
  for (std::string exponent : {"1.0", "2.0", "3.0", "4.0", "0.5", "-0.5", "-1.0", "-2.0", "2.5"})
    compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x) -> $x {
  %c = graph.constant dense<)" + exponent +
                                          R"(> : tensor<f32>
  %e = graph.broadcast %c {dimensions = array<i64>} : (tensor<f32>) -> $x
  %0 = graph.pow %x, %e : ($x, $x) -> $x
  return %0 : $x
})",
                                      {{"x", tensor("s0")}}),
                            {{100}},
                            {{-4, 4, true}},
                            1e-6,
                            1e-38});
}

TEST_CASE("sequences and constant data in a map") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x) -> $x {
  %i = graph.iota {axis = 1 : i64} : () -> $i
  %j = graph.iota {axis = 0 : i64} : () -> $i
  %m = graph.compare %i, %j {direction = #graph.compare_direction<le>} : ($i, $i) -> $b
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %d = graph.broadcast %c {dimensions = array<i64: 1>} : (tensor<5xf32>) -> $x
  %0 = graph.select %m, %x, %d : ($b, $x, $x) -> $x
  return %0 : $x
})",
                                    {{"x", tensor("s0,5")}, {"i", tensor("s0,5", "i64")}, {"b", tensor("s0,5", "i1")}}),
                          {{1}, {4}, {33}}});
}

TEST_CASE("maps read parts of tensors directly") {
  Comparison comparison;
  SECTION("gates of a recurrent cell") {
    comparison.text = withTypes(R"(
      func.func @k(%x: $x, %h: $h) -> $h attributes {stator.family = "map"} {
        %r = graph.slice %x {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 1>} : ($x) -> $h
        %z = graph.slice %x {starts = #graph.dims<["0", "20"]>, strides = array<i64: 1, 1>} : ($x) -> $h
        %n = graph.slice %x {starts = #graph.dims<["0", "40"]>, strides = array<i64: 1, 1>} : ($x) -> $h
        %a = graph.sigmoid %r : ($h) -> $h
        %b = graph.tanh %z : ($h) -> $h
        %c = graph.mul %a, %n : ($h, $h) -> $h
        %d = graph.mul %b, %h : ($h, $h) -> $h
        %e = graph.add %c, %d : ($h, $h) -> $h
        return %e : $h
      })",
                                {{"x", tensor("s0,60")}, {"h", tensor("s0,20")}});
    comparison.sizes = {{1}, {3}, {64}, {200}};
  }
  SECTION("halves along any axis, of symbolic sizes") {
    comparison.text = withTypes(R"(
      func.func @k(%x: $x, %y: $y) -> $h attributes {stator.family = "map"} {
        %a = graph.slice %x {starts = #graph.dims<["0", "s1", "0"]>, strides = array<i64: 1, 1, 1>} : ($x) -> $h
        %b = graph.slice %y {starts = #graph.dims<["1", "0", "s2"]>, strides = array<i64: 2, 1, 1>} : ($y) -> $h
        %c = graph.sub %a, %b : ($h, $h) -> $h
        return %c : $h
      })",
                                {{"x", tensor("s0,2*s1,s2")}, {"y", tensor("2*s0,s1,2*s2")}, {"h", tensor("s0,s1,s2")}});
    comparison.sizes = {{1, 1, 1}, {2, 3, 5}, {3, 4, 17}, {4, 8, 64}};
  }
  SECTION("of every element type") {
    const char *element = GENERATE("f64", "f16", "bf16", "i64", "i32", "i16", "i8", "ui8");
    comparison.text = withTypes(R"(
      func.func @k(%x: $x) -> $h attributes {stator.family = "map"} {
        %a = graph.slice %x {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 1>} : ($x) -> $h
        %b = graph.slice %x {starts = #graph.dims<["0", "33"]>, strides = array<i64: 1, 1>} : ($x) -> $h
        %c = graph.add %a, %b : ($h, $h) -> $h
        return %c : $h
      })",
                                {{"x", tensor("s0,70", element)}, {"h", tensor("s0,33", element)}});
    comparison.sizes = {{1}, {7}};
  }
  compareWithInterpreter(comparison);
}
