// DEPS: stator::tools::bench::harness stator::dialects::Graph::Interpreter
// Kernels that reduce, against the interpreter: normalisations, sums over any axes, positions of extrema, pools.
#include "test/unit/passes/Kernel/InterpreterComparison.h"

using namespace stator::kernel::testing;

namespace {

using Sizes = std::vector<std::vector<int64_t>>;

const Sizes rowSizes = {{0, 5}, {3, 1}, {1, 3}, {7, 15}, {5, 16}, {3, 17}, {33, 64}, {4, 100}, {2, 1000}, {70, 2}};

/// One op on `%x: $x`.
void check(const std::string &op, const std::string &from, const std::string &to, const Sizes &sizes, InputRange range = {},
           double relative = 1e-5, double absolute = 1e-6) {
  Comparison comparison{
      withTypes("func.func @k(%x: $x) -> $y {\n  %y = graph." + op + " : ($x) -> $y\n  return %y : $y\n}", {{"x", from}, {"y", to}}),
      sizes,
      {range},
      relative,
      absolute};
  compareWithInterpreter(comparison);
}

} // namespace

TEST_CASE("softmax and its logarithm") {
  for (std::string op : {"softmax", "log_softmax"}) {
    check(op + " %x {axis = 1 : i64}", tensor("s0,s1"), tensor("s0,s1"), rowSizes);
    check(op + " %x {axis = 1 : i64}", tensor("s0,5"), tensor("s0,5"), {{1}, {16}, {100}});
    check(op + " %x {axis = 1 : i64}", tensor("4,64"), tensor("4,64"), {});
    check(op + " %x {axis = 1 : i64}", tensor("s0,s1,s2"), tensor("s0,s1,s2"), {{2, 3, 4}, {1, 10, 33}, {3, 1, 16}});
  }
  check("softmax %x {axis = 1 : i64}", tensor("s0,s1"), tensor("s0,s1"), {{40, 20}}, {-3, 3, true});
  check("softmax %x {axis = 1 : i64}", tensor("s0,s1", "f16"), tensor("s0,s1", "f16"), {{3, 50}}, {}, 2e-3, 1e-6);
  check("softmax %x {axis = 1 : i64}", tensor("s0,s1", "f64"), tensor("s0,s1", "f64"), {{3, 50}}, {}, 1e-13, 1e-15);
}

TEST_CASE("layer normalisation, with what surrounds it") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x, %r: $x, %s: $c, %b: $c) -> ($x, $x) {
  %0 = graph.add %x, %r : ($x, $x) -> $x
  %1 = graph.layer_norm %0, %s, %b {axis = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : ($x, $c, $c) -> $x
  return %0, %1 : $x, $x
})",
                                    {{"x", tensor("s0,s1,s2")}, {"c", tensor("s2")}}),
                          {{2, 3, 4}, {1, 1, 17}, {2, 5, 64}, {1, 3, 1000}}});
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x, %s: $c) -> $x {
  %1 = graph.rms_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : ($x, $c) -> $x
  %2 = graph.gelu %1 : ($x) -> $x
  return %2 : $x
})",
                                    {{"x", tensor("s0,768")}, {"c", tensor("768")}}),
                          {{1}, {5}}});
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x, %s: $c, %b: $c) -> $x {
  %1 = graph.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : ($x, $c, $c) -> $x
  return %1 : $x
})",
                                    {{"x", tensor("s0,3,s1", "bf16")}, {"c", tensor("3,s1", "bf16")}}),
                          {{1, 1}, {2, 20}, {5, 33}},
                          {{}},
                          2e-2,
                          2e-2});
}

TEST_CASE("reductions of every kind over any axes") {
  for (std::string kind : {"sum", "prod", "max", "min"}) {
    std::string op = "reduce %x {kind = #graph.reduce_kind<" + kind + ">, axes = array<i64: ";
    check(op + "1>}", tensor("s0,s1"), tensor("s0"), rowSizes, {-1.5, 1.5}, 1e-4, 1e-5);
    check(op + "0>}", tensor("s0,s1"), tensor("s1"), {{0, 3}, {3, 0}, {5, 1}, {2, 17}, {9, 64}, {3, 1000}}, {-1.5, 1.5}, 1e-4, 1e-5);
    check(op + "0, 1>}", tensor("s0,s1"), tensor(""), {{0, 3}, {1, 1}, {7, 33}, {40, 100}}, {-1.2, 1.2}, 1e-4, 1e-5);
    check(op + "0, 2>}", tensor("s0,s1,s2"), tensor("s1"), {{2, 3, 4}, {3, 5, 33}, {1, 20, 1}}, {-1.2, 1.2}, 1e-4, 1e-5);
    check(op + "1>, keep_dims = true}", tensor("s0,s1,s2"), tensor("s0,1,s2"), {{2, 3, 4}, {3, 5, 33}, {1, 20, 1}}, {-1.2, 1.2}, 1e-4,
          1e-5);
    check(op + "1>}", tensor("s0,7", "i32"), tensor("s0", "i32"), {{1}, {20}}, {-9, 9});
    check(op + "1>}", tensor("s0,s1", "ui8"), tensor("s0", "ui8"), {{3, 5}, {4, 40}}, {-9, 300, true});
    check(op + "1>}", tensor("s0,s1", "f16"), tensor("s0", "f16"), {{3, 5}, {4, 40}}, {-1.1, 1.1}, 2e-3, 1e-4);
  }
  for (std::string kind : {"max", "min"})
    check("reduce %x {kind = #graph.reduce_kind<" + kind + ">, axes = array<i64: 1>}", tensor("s0,s1"), tensor("s0"), {{60, 9}, {30, 100}},
          {-1.5, 1.5, true});
  for (std::string kind : {"any", "all"})
    check("reduce %x {kind = #graph.reduce_kind<" + kind + ">, axes = array<i64: 1>}", tensor("s0,s1", "i1"), tensor("s0", "i1"),
          {{60, 2}, {30, 17}, {3, 0}});
}

TEST_CASE("a reduction with a prologue and an epilogue") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x, %y: $x, %b: $c) -> $c {
  %0 = graph.sub %x, %y : ($x, $x) -> $x
  %1 = graph.mul %0, %0 : ($x, $x) -> $x
  %2 = graph.reduce %1 {kind = #graph.reduce_kind<sum>, axes = array<i64: 1, 2>} : ($x) -> $c
  %3 = graph.add %2, %b : ($c, $c) -> $c
  %4 = graph.sqrt %3 : ($c) -> $c
  return %4 : $c
})",
                                    {{"x", tensor("s0,s1,s2,24")}, {"c", tensor("s0,24")}}),
                          {{1, 1, 1}, {2, 7, 7}, {3, 2, 5}},
                          {{}, {}, {5, 10}}});
}

TEST_CASE("normalisation over an axis that is not the last") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x) -> $x {
  %m = graph.reduce %x {kind = #graph.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : ($x) -> $k
  %n = graph.broadcast %m {dimensions = array<i64: 0, 1, 2>} : ($k) -> $x
  %0 = graph.sub %x, %n : ($x, $x) -> $x
  %1 = graph.exp %0 : ($x) -> $x
  %s = graph.reduce %1 {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : ($x) -> $k
  %t = graph.broadcast %s {dimensions = array<i64: 0, 1, 2>} : ($k) -> $x
  %2 = graph.div %1, %t : ($x, $x) -> $x
  return %2 : $x
})",
                                    {{"x", tensor("s0,s1,s2")}, {"k", tensor("s0,1,s2")}}),
                          {{2, 3, 4}, {1, 10, 33}, {3, 1, 16}, {2, 5, 100}}});
}

TEST_CASE("reductions of different axes in one kernel") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x) -> $x {
  %m = graph.reduce %x {kind = #graph.reduce_kind<max>, axes = array<i64: 1>} : ($x) -> $a
  %n = graph.broadcast %m {dimensions = array<i64: 0>} : ($a) -> $x
  %s = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 0>} : ($x) -> $b
  %t = graph.broadcast %s {dimensions = array<i64: 1>} : ($b) -> $x
  %2 = graph.mul %n, %t : ($x, $x) -> $x
  return %2 : $x
})",
                                    {{"x", tensor("s0,s1")}, {"a", tensor("s0")}, {"b", tensor("s1")}}),
                          {{2, 3}, {5, 33}}});
}

// What is kept in the result's row would be read after the result has replaced it.
TEST_CASE("expensive values that are read elsewhere in the row are computed anew") {
  compareWithInterpreter({withTypes(R"(
func.func @k(%x: $x) -> $x {
  %0 = graph.tanh %x : ($x) -> $x
  %1 = graph.reduce %0 {kind = #graph.reduce_kind<max>, axes = array<i64: 1>} : ($x) -> $y
  %2 = graph.broadcast %1 {dimensions = array<i64: 0>} : ($y) -> $x
  %3 = graph.reverse %0 {axes = array<i64: 1>} : ($x) -> $x
  %4 = graph.sub %3, %2 : ($x, $x) -> $x
  return %4 : $x
})",
                                    {{"x", tensor("s0,s1")}, {"y", tensor("s0")}}),
                          {{2, 3}, {3, 17}, {2, 100}}});
}

TEST_CASE("positions of extrema") {
  for (std::string kind : {"max", "min"})
    for (std::string last : {"true", "false"}) {
      std::string attributes = "{kind = #graph.arg_reduce_kind<" + kind + ">, select_last = " + last + ", axis = ";
      check("arg_reduce %x " + attributes + "1 : i64}", tensor("s0,s1"), tensor("s0", "i64"), {{5, 1}, {7, 10}, {20, 33}, {2, 100}},
            {-1.5, 1.5, true});
      check("arg_reduce %x " + attributes + "0 : i64, keep_dims = true}", tensor("s0,s1"), tensor("1,s1", "i64"),
            {{1, 5}, {7, 10}, {20, 33}}, {-1.5, 1.5, true});
      check("arg_reduce %x " + attributes + "1 : i64}", tensor("s0,s1", "i32"), tensor("s0", "i64"), {{7, 10}, {20, 33}}, {-2, 2});
      check("arg_reduce %x " + attributes + "1 : i64}", tensor("s0,s1", "ui8"), tensor("s0", "i64"), {{7, 10}, {20, 33}}, {0, 255, true});
    }
}

TEST_CASE("pools in both layouts") {
  std::string window = "kernel = array<i64: 3, 2>, strides = array<i64: 2, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 1, 1>, "
                       "dilations = array<i64: 1, 1>";
  std::string dilated = "kernel = array<i64: 2, 3>, strides = array<i64: 1, 2>, pad_low = array<i64: 0, 2>, pad_high = array<i64: 1, 2>, "
                        "dilations = array<i64: 2, 2>";
  std::string ceil = "kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 2, 2>, "
                     "dilations = array<i64: 1, 1>, ceil_extra = array<i64: 1, 1>";
  std::string plain = "kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, "
                      "dilations = array<i64: 1, 1>";
  for (std::string kind : {"max", "average"})
    for (std::string counts : {"true", "false"}) {
      std::string start = "pool %x {kind = #graph.pool_kind<" + kind + ">, count_include_pad = " + counts + ", layout = #graph.layout<";
      check(start + "channels_first>, " + window + "}", tensor("2,3,8,9"), tensor("2,3,4,9"), {});
      check(start + "channels_last>, " + window + "}", tensor("s0,8,9,20"), tensor("s0,4,9,20"), {{1}, {2}});
      check(start + "channels_last>, " + dilated + "}", tensor("2,8,9,5"), tensor("2,7,5,5"), {});
      check(start + "channels_first>, " + dilated + "}", tensor("1,2,8,40"), tensor("1,2,7,20"), {});
      check(start + "channels_last>, " + ceil + "}", tensor("1,7,7,33"), tensor("1,4,4,33"), {});
      check(start + "channels_last>, " + plain + "}", tensor("1,8,6,64"), tensor("1,4,3,64"), {});
    }
  // A window of one element, and one of which one axis has one element.
  std::string single = "kernel = array<i64: 1, 1>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 1, 1>, "
                       "dilations = array<i64: 1, 1>, ceil_extra = array<i64: 1, 1>";
  std::string flat = "kernel = array<i64: 1, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 1>, pad_high = array<i64: 0, 1>, "
                     "dilations = array<i64: 1, 1>";
  for (std::string kind : {"max", "average"}) {
    check("pool %x {kind = #graph.pool_kind<" + kind + ">, " + single + "}", tensor("1,1,2,2"), tensor("1,1,2,2"), {});
    check("pool %x {kind = #graph.pool_kind<" + kind + ">, " + flat + "}", tensor("1,3,s0,s1"), tensor("1,3,s0,s1"), {{2, 5}, {3, 40}});
  }
  check("pool %x {kind = #graph.pool_kind<max>, layout = #graph.layout<channels_last>, " + window + "}", tensor("1,8,9,20"),
        tensor("1,4,9,20"), {}, {-1, 1, true});
  check("pool %x {kind = #graph.pool_kind<average>, layout = #graph.layout<channels_last>, " + window + "}", tensor("1,8,9,20", "f16"),
        tensor("1,4,9,20", "f16"), {}, {}, 2e-3, 1e-4);
}
