// DEPS: stator::tools::bench::harness stator::dialects::Graph::Interpreter
// Kernels that move elements, against the interpreter: slices, borders, gathers and scatters, interpolation, scans, sorting.
#include "test/unit/passes/Kernel/InterpreterComparison.h"

using namespace stator::kernel::testing;

namespace {

using Sizes = std::vector<std::vector<int64_t>>;

/// One op; `types` are those of its operands %0, %1, ...
void check(const std::string &op, const std::vector<std::string> &types, const std::vector<std::string> &results, const Sizes &sizes = {},
           std::vector<InputRange> ranges = {{}}, double relative = 1e-5, bool skipsMiddleLevels = false) {
  std::string arguments, operands, operandTypes, resultTypes, values;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string comma = i ? ", " : "";
    operands += comma + "%a" + std::to_string(i);
    arguments += comma + "%a" + std::to_string(i) + ": " + types[i];
    operandTypes += comma + types[i];
  }
  for (size_t i = 0; i < results.size(); ++i) {
    values += (i ? ", %r#" : "%r#") + std::to_string(i);
    resultTypes += (i ? ", " : "") + results[i];
  }
  std::string name = op.substr(0, op.find(' ')), attributes = op.substr(name.size());
  compareWithInterpreter({"func.func @k(" + arguments + ") -> (" + resultTypes + ") {\n  %r:" + std::to_string(results.size()) +
                              " = graph." + name + " " + operands + attributes + " : (" + operandTypes + ") -> (" + resultTypes +
                              ")\n  return " + values + " : " + resultTypes + "\n}",
                          sizes, std::move(ranges), relative, 1e-6, skipsMiddleLevels});
}

} // namespace

TEST_CASE("slices, reversals and transposes") {
  check("slice {starts = #graph.dims<[\"1\", \"2\"]>, strides = array<i64: 1, 1>}", {tensor("9,40")}, {tensor("5,33")});
  check("slice {starts = #graph.dims<[\"0\", \"1\"]>, strides = array<i64: 2, 3>}", {tensor("9,40", "i8")}, {tensor("4,13", "i8")});
  check("slice {starts = #graph.dims<[\"s0 - 2\", \"0\"]>, strides = array<i64: 1, 2>}", {tensor("s0,41")}, {tensor("2,20")}, {{2}, {7}});
  check("reverse {axes = array<i64: 1>}", {tensor("s0,s1")}, {tensor("s0,s1")}, {{2, 3}, {3, 17}, {0, 4}});
  check("reverse {axes = array<i64: 0, 2>}", {tensor("3,4,20", "bf16")}, {tensor("3,4,20", "bf16")});
  check("transpose {permutation = array<i64: 1, 0>}", {tensor("s0,s1")}, {tensor("s1,s0")}, {{2, 3}, {33, 17}, {64, 64}, {1, 5}});
  check("transpose {permutation = array<i64: 0, 2, 1, 3>}", {tensor("s0,s1,4,16")}, {tensor("s0,4,s1,16")}, {{2, 3}, {1, 1}, {3, 7}});
  check("transpose {permutation = array<i64: 2, 0, 1>}", {tensor("s0,5,s1", "i64")}, {tensor("s1,s0,5", "i64")}, {{2, 3}, {20, 7}});
  check("transpose {permutation = array<i64: 0, 2, 3, 1>}", {tensor("2,3,8,9")}, {tensor("2,8,9,3")});
  check("transpose {permutation = array<i64: 0, 2, 1>}", {tensor("2,s0,s1", "i32")}, {tensor("2,s1,s0", "i32")},
        {{0, 20}, {16, 16}, {40, 5}, {5, 40}, {33, 300}, {300, 33}});
  // Few channels, first or last.
  for (std::string channels : {"2", "3", "4", "7", "8", "12"}) {
    std::string first = "s0," + channels + ",s1", last = "s0,s1," + channels;
    check("transpose {permutation = array<i64: 0, 2, 1>}", {tensor(first)}, {tensor(last)}, {{1, 5}, {2, 16}, {1, 100}, {2, 1100}});
    check("transpose {permutation = array<i64: 0, 2, 1>}", {tensor(last)}, {tensor(first)}, {{1, 5}, {2, 16}, {1, 100}, {2, 1100}});
  }
  check("transpose {permutation = array<i64: 1, 0>}", {tensor("48,32", "i32")}, {tensor("32,48", "i32")});
  check("reshape", {tensor("s0,6")}, {tensor("s0,2,3")}, {{1}, {5}});
}

TEST_CASE("borders") {
  std::string amounts = "{low = #graph.dims<[\"1\", \"2\"]>, high = #graph.dims<[\"0\", \"3\"]>, interior = array<i64: 0, 0>";
  check("pad " + amounts + "}", {tensor("s0,s1"), tensor("")}, {tensor("s0 + 1,s1 + 5")}, {{2, 3}, {4, 20}, {1, 33}, {0, 4}, {3, 0}});
  check("pad " + amounts + "}", {tensor("4,20", "i8"), tensor("", "i8")}, {tensor("5,25", "i8")});
  for (std::string mode : {"edge", "reflect", "wrap"})
    check("pad " + amounts + ", mode = #graph.pad_mode<" + mode + ">}", {tensor("s0,s1"), tensor("")}, {tensor("s0 + 1,s1 + 5")},
          {{2, 4}, {4, 20}, {3, 33}});
  check("pad {low = #graph.dims<[\"-1\", \"2\"]>, high = #graph.dims<[\"1\", \"-3\"]>, interior = array<i64: 0, 0>}",
        {tensor("4,20"), tensor("")}, {tensor("4,19")});
  check("pad {low = #graph.dims<[\"1\", \"2\"]>, high = #graph.dims<[\"0\", \"1\"]>, interior = array<i64: 1, 2>}",
        {tensor("4,9"), tensor("")}, {tensor("8,28")});
  check("pad {low = #graph.dims<[\"0\", \"1\", \"1\", \"0\"]>, high = #graph.dims<[\"0\", \"1\", \"1\", \"0\"]>, interior = array<i64: 0, "
        "0, 0, 0>}",
        {tensor("1,5,6,20"), tensor("")}, {tensor("1,7,8,20")});
}

TEST_CASE("concatenation") {
  check("concat {axis = 0 : i64}", {tensor("s0,7"), tensor("2,7")}, {tensor("s0 + 2,7")}, {{0}, {1}, {5}});
  check("concat {axis = 1 : i64}", {tensor("s0,s1"), tensor("s0,3"), tensor("s0,s1")}, {tensor("s0,2*s1 + 3")}, {{2, 1}, {3, 20}, {4, 0}});
  check("concat {axis = 1 : i64}", {tensor("3,20,2", "i1"), tensor("3,1,2", "i1")}, {tensor("3,21,2", "i1")});
  compareWithInterpreter({R"(
func.func @k(%x: tensor<2x3xf32>) -> tensor<2x8xf32> {
  %c = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = graph.concat %x, %c, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
})",
                          {}});
}

TEST_CASE("gathers") {
  // Indices from far outside to far outside.
  InputRange wild{-40, 40, false};
  check("gather {axis = 0 : i64}", {tensor("10,s0"), tensor("s1", "i64")}, {tensor("s1,s0")}, {{4, 3}, {33, 20}, {16, 1}}, {{}, wild});
  check("gather {axis = 1 : i64}", {tensor("3,10,2"), tensor("s0,3", "i32")}, {tensor("3,s0,3,2")}, {{1}, {20}}, {{}, wild});
  check("gather {axis = 1 : i64}", {tensor("5,9"), tensor("33", "i64")}, {tensor("5,33")}, {}, {{}, wild});
  check("gather {axis = 0 : i64}", {tensor("10,40"), tensor("", "i64")}, {tensor("40")}, {}, {{}, wild});
  check("gather_elements {axis = 1 : i64}", {tensor("5,9"), tensor("4,33", "i64")}, {tensor("4,33")}, {}, {{}, wild});
  check("gather_elements {axis = 0 : i64}", {tensor("9,5"), tensor("20,5", "i32")}, {tensor("20,5")}, {}, {{}, wild});
  check("gather_nd", {tensor("4,5,17"), tensor("6,2", "i64")}, {tensor("6,17")}, {}, {{}, wild});
  check("gather_nd {batch_dims = 1 : i64}", {tensor("4,5,17"), tensor("4,3,1", "i64")}, {tensor("4,3,17")}, {}, {{}, wild});
  // No place to gather from: the result's values do not matter, but nothing is read.
  check("gather {axis = 0 : i64}", {tensor("s0,4"), tensor("3", "i64")}, {tensor("3,4")}, {{5}}, {{}, wild});
  // An embedding with what is fused into it.
  compareWithInterpreter({withTypes(R"(
func.func @k(%t: tensor<50x32xf32>, %i: $i, %p: $p) -> $y {
  %0 = graph.gather %t, %i {axis = 0 : i64} : (tensor<50x32xf32>, $i) -> $y
  %1 = graph.broadcast %p {dimensions = array<i64: 1, 2>} : ($p) -> $y
  %2 = graph.add %0, %1 : ($y, $y) -> $y
  return %2 : $y
})",
                                    {{"i", tensor("s0,s1", "i64")}, {"p", tensor("s1,32")}, {"y", tensor("s0,s1,32")}}),
                          {{1, 1}, {2, 7}},
                          {{}, {0, 49}, {}}});
}

TEST_CASE("scatters") {
  InputRange wild{-8, 8, false};
  for (std::string reduction : {"none", "add", "mul", "max", "min"}) {
    std::string kind = "reduction = #graph.scatter_reduction<" + reduction + ">";
    check("scatter_elements {axis = 0 : i64, " + kind + "}", {tensor("6,40"), tensor("9,30", "i64"), tensor("9,30")}, {tensor("6,40")}, {},
          {{}, wild, {}});
    check("scatter_elements {axis = 1 : i64, " + kind + "}", {tensor("s0,6", "i32"), tensor("s0,9", "i32"), tensor("s0,9", "i32")},
          {tensor("s0,6", "i32")}, {{1}, {20}}, {{}, wild, {}});
    check("scatter_nd {" + kind + "}", {tensor("6,s0"), tensor("9,1", "i64"), tensor("9,s0")}, {tensor("6,s0")}, {{3}, {33}},
          {{}, wild, {}});
    check("scatter_nd {" + kind + "}", {tensor("6,5"), tensor("3,4,2", "i64"), tensor("3,4")}, {tensor("6,5")}, {}, {{}, wild, {}});
  }
}

TEST_CASE("interpolation") {
  for (std::string mode : {"nearest", "linear", "cubic"})
    for (std::string coordinate : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"}) {
      std::string attributes = "{mode = #graph.resize_mode<" + mode + ">, coordinate = #graph.resize_coordinate<" + coordinate + ">";
      check("resize " + attributes + "}", {tensor("1,2,5,7")}, {tensor("1,2,11,20")});
      check("resize " + attributes + "}", {tensor("1,9,8,20")}, {tensor("1,4,13,20")});
    }
  std::string nearest = "resize {mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>, "
                        "nearest_mode = #graph.resize_nearest<";
  for (std::string rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    check(nearest + rounding + ">, scales = array<f64: 1.0, 2.0, 2.5, 1.0>}", {tensor("1,3,4,17")}, {tensor("1,6,10,17")});
  check("resize {mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<half_pixel>, exclude_outside = true}",
        {tensor("1,2,5,7")}, {tensor("1,2,11,20")});
  for (std::string mode : {"linear", "cubic"})
    for (std::string outside : {"false", "true"})
      check("resize {mode = #graph.resize_mode<" + mode + ">, coordinate = #graph.resize_coordinate<half_pixel>, antialias = true, " +
                "exclude_outside = " + outside + "}",
            {tensor("1,9,8,3")}, {tensor("1,4,13,3")});
  check("resize {mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<half_pixel>}", {tensor("s0,5,7,20")},
        {tensor("s0,10,14,20")}, {{1}, {2}});
}

TEST_CASE("scans") {
  for (std::string kind : {"sum", "prod", "max"})
    for (std::string flags : {"", ", exclusive = true", ", reverse = true", ", exclusive = true, reverse = true"}) {
      std::string attributes = "{kind = #graph.cumulative_kind<" + kind + ">" + flags + ", axis = ";
      check("cumulative " + attributes + "1 : i64}", {tensor("s0,s1")}, {tensor("s0,s1")}, {{3, 1}, {5, 20}, {0, 3}, {4, 0}}, {{-1.2, 1.2}},
            1e-4);
      check("cumulative " + attributes + "0 : i64}", {tensor("s0,s1")}, {tensor("s0,s1")}, {{3, 1}, {5, 20}, {7, 100}}, {{-1.2, 1.2}},
            1e-4);
    }
  check("cumulative {kind = #graph.cumulative_kind<sum>, axis = 1 : i64}", {tensor("s0,s1", "i64")}, {tensor("s0,s1", "i64")}, {{3, 20}},
        {{-9, 9}});
  check("cumulative {kind = #graph.cumulative_kind<max>, axis = 1 : i64}", {tensor("s0,s1")}, {tensor("s0,s1")}, {{30, 6}},
        {{-2, 2, true}});
}

TEST_CASE("the best k, and sorting") {
  for (std::string largest : {"true", "false"}) {
    std::string end = ", largest = " + largest + "}";
    check("top_k {k = #graph.dims<[\"3\"]>, axis = 1 : i64" + end, {tensor("s0,s1")}, {tensor("s0,3"), tensor("s0,3", "i64")},
          {{4, 3}, {5, 10}, {20, 100}}, {{-2, 2, true}});
    check("top_k {k = #graph.dims<[\"s1\"]>, axis = 1 : i64" + end, {tensor("s0,s1")}, {tensor("s0,s1"), tensor("s0,s1", "i64")},
          {{4, 1}, {5, 10}, {20, 33}, {2, 1000}, {3, 0}}, {{-2, 2, true}});
    check("top_k {k = #graph.dims<[\"s0\"]>, axis = 0 : i64" + end, {tensor("s0,s1", "i32")},
          {tensor("s0,s1", "i32"), tensor("s0,s1", "i64")}, {{4, 1}, {20, 7}}, {{-3, 3}});
    check("top_k {k = #graph.dims<[\"2\"]>, axis = 0 : i64" + end, {tensor("9", "ui8")}, {tensor("2", "ui8"), tensor("2", "i64")}, {},
          {{0, 255, true}});
    check("top_k {k = #graph.dims<[\"40\"]>, axis = 1 : i64" + end, {tensor("3,50", "f16")},
          {tensor("3,40", "f16"), tensor("3,40", "i64")});
  }
}

TEST_CASE("moving kernels for every element type") {
  for (std::string element : {"f64", "f16", "bf16", "i64", "i32", "i16", "i8", "ui8", "i1"}) {
    InputRange range{-100, 100, false};
    auto t = [&](const std::string &dims) { return tensor(dims, element); };
    auto check = [&](const std::string &op, const std::vector<std::string> &types, const std::vector<std::string> &results,
                     std::vector<InputRange> ranges) { ::check(op, types, results, {}, std::move(ranges), 1e-5, true); };
    check("transpose {permutation = array<i64: 1, 0>}", {t("20,33")}, {t("33,20")}, {range});
    check("slice {starts = #graph.dims<[\"1\", \"2\"]>, strides = array<i64: 1, 2>}", {t("5,40")}, {t("4,19")}, {range});
    check("concat {axis = 1 : i64}", {t("3,20"), t("3,5")}, {t("3,25")}, {range});
    check("gather {axis = 0 : i64}", {t("9,20"), tensor("5", "i64")}, {t("5,20")}, {range, {-12, 12}});
    check("gather_elements {axis = 1 : i64}", {t("9,20"), tensor("9,17", "i32")}, {t("9,17")}, {range, {-22, 22}});
    check("scatter_elements {axis = 1 : i64}", {t("9,20"), tensor("9,17", "i32"), t("9,17")}, {t("9,20")}, {range, {-22, 22}, range});
    check("scatter_nd", {t("9,20"), tensor("4,1", "i64"), t("4,20")}, {t("9,20")}, {range, {-10, 10}, range});
    check("pad {low = #graph.dims<[\"1\", \"2\"]>, high = #graph.dims<[\"0\", \"3\"]>, interior = array<i64: 0, 0>}", {t("4,20"), t("")},
          {t("5,25")}, {range});
    check("resize {mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>}", {t("1,5,20")}, {t("1,10,20")},
          {range});
    if (element == "i1")
      continue;
    check("cumulative {kind = #graph.cumulative_kind<max>, axis = 1 : i64}", {t("3,20")}, {t("3,20")}, {range});
    check("cumulative {kind = #graph.cumulative_kind<max>, axis = 0 : i64}", {t("3,20")}, {t("3,20")}, {range});
    check("top_k {k = #graph.dims<[\"3\"]>, axis = 1 : i64}", {t("4,30")}, {t("4,3"), tensor("4,3", "i64")}, {range});
    check("arg_reduce {kind = #graph.arg_reduce_kind<min>, axis = 1 : i64}", {t("4,30")}, {tensor("4", "i64")}, {range});
    check("reduce {kind = #graph.reduce_kind<max>, axes = array<i64: 1>}", {t("4,30")}, {t("4")}, {range});
    check("reduce {kind = #graph.reduce_kind<min>, axes = array<i64: 0>}", {t("4,30")}, {t("30")}, {range});
    check("pool {kind = #graph.pool_kind<max>, kernel = array<i64: 3>, strides = array<i64: 2>, pad_low = array<i64: 1>, pad_high = "
          "array<i64: 1>, dilations = array<i64: 1>, layout = #graph.layout<channels_last>}",
          {t("1,9,20")}, {t("1,5,20")}, {range});
    check("iota {axis = 1 : i64}", {}, {t("3,20")}, {range});
  }
}
