// DEPS: stator::dialects::Graph::Interpreter
// Moves, makers, gathers and scatters against NumPy.
#include "test/unit/dialects/Graph/InterpretOp.h"

using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

TEST_CASE("moves keep elements", "[interpreter]") {
  const TensorValue y = i32({2, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  const TensorValue x = f32({2, 3}, {0, 1, 2, 3, 4, 5});
  checkOp("reshape", "", {x}, {f32({3, 2}, {0, 1, 2, 3, 4, 5})});
  checkOp("reshape", "", {f32({0, 3}, {})}, {f32({3, 0}, {})});
  checkOp("reshape", "", {f32({}, {7})}, {f32({1, 1}, {7})});
  checkOp("transpose", "permutation = array<i64: 1, 2, 0>", {y},
          {i32({3, 4, 2}, {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23})});
  checkOp("transpose", "permutation = array<i64>", {f32({}, {7})}, {f32({}, {7})});
  checkOp("broadcast", "dimensions = array<i64: 0, 2>", {f32({2, 1}, {0, 3})}, {f32({2, 2, 3}, {0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3})});
  checkOp("broadcast", "dimensions = array<i64>", {f32({}, {7})}, {f32({2, 2}, {7, 7, 7, 7})});
  checkOp("reverse", "axes = array<i64: 0, 2>", {y},
          {i32({2, 3, 4}, {15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8})});
  checkOp("reverse", "axes = array<i64: 0>", {f32({0, 3}, {})}, {f32({0, 3}, {})});
  checkOp("slice", "starts = #graph.dims<[\"1\", \"0\", \"1\"]>, strides = array<i64: 1, 2, 2>", {y}, {i32({1, 2, 2}, {13, 15, 21, 23})});
  checkOp("slice", "starts = #graph.dims<[\"2\", \"0\"]>, strides = array<i64: 1, 1>", {x}, {f32({0, 3}, {})});
  checkOp("concat", "axis = 1 : i64", {x, f32({2, 1}, {0, 3}), f32({2, 0}, {})}, {f32({2, 4}, {0, 1, 2, 0, 3, 4, 5, 3})});
}

TEST_CASE("padding", "[interpreter]") {
  const TensorValue v = f32({4}, {1, 2, 3, 4});
  const TensorValue nine = f32({}, {9});
  checkOp("pad",
          "low = #graph.dims<[\"1\"]>, high = #graph.dims<[\"2\"]>, interior = array<i64: 0>, "
          "mode = #graph.pad_mode<constant>",
          {v, nine}, {f32({7}, {9, 1, 2, 3, 4, 9, 9})});
  checkOp("pad",
          "low = #graph.dims<[\"1\"]>, high = #graph.dims<[\"0\"]>, interior = array<i64: 2>, "
          "mode = #graph.pad_mode<constant>",
          {v, nine}, {f32({11}, {9, 1, 9, 9, 2, 9, 9, 3, 9, 9, 4})});
  checkOp("pad",
          "low = #graph.dims<[\"-1\"]>, high = #graph.dims<[\"-2\"]>, interior = array<i64: 0>, "
          "mode = #graph.pad_mode<constant>",
          {v, nine}, {f32({1}, {2})});
  checkOp("pad",
          "low = #graph.dims<[\"-1\"]>, high = #graph.dims<[\"1\"]>, interior = array<i64: 1>, "
          "mode = #graph.pad_mode<constant>",
          {v, nine}, {f32({7}, {9, 2, 9, 3, 9, 4, 9})});
  checkOp("pad", "low = #graph.dims<[\"2\"]>, high = #graph.dims<[\"3\"]>, interior = array<i64: 0>, mode = #graph.pad_mode<edge>",
          {v, nine}, {f32({9}, {1, 1, 1, 2, 3, 4, 4, 4, 4})});
  checkOp("pad", "low = #graph.dims<[\"2\"]>, high = #graph.dims<[\"3\"]>, interior = array<i64: 0>, mode = #graph.pad_mode<reflect>",
          {v, nine}, {f32({9}, {3, 2, 1, 2, 3, 4, 3, 2, 1})});
  checkOp("pad", "low = #graph.dims<[\"2\"]>, high = #graph.dims<[\"3\"]>, interior = array<i64: 0>, mode = #graph.pad_mode<wrap>",
          {v, nine}, {f32({9}, {3, 4, 1, 2, 3, 4, 1, 2, 3})});
  checkOp("pad",
          "low = #graph.dims<[\"1\", \"0\"]>, high = #graph.dims<[\"0\", \"2\"]>, interior = array<i64: 0, 0>, "
          "mode = #graph.pad_mode<reflect>",
          {f32({2, 3}, {0, 1, 2, 3, 4, 5}), nine}, {f32({3, 5}, {3, 4, 5, 4, 3, 0, 1, 2, 1, 0, 3, 4, 5, 4, 3})});
}

TEST_CASE("makers", "[interpreter]") {
  checkOp("iota", "axis = 1 : i64", {}, {i32({2, 3}, {0, 1, 2, 0, 1, 2})});
  checkOp("iota", "axis = 0 : i64", {}, {f32({3}, {0, 1, 2})});
  checkOp("iota", "axis = 0 : i64", {}, {f32({0}, {})});
  checkOp("dim_values", "values = #graph.dims<[\"3\", \"64\"]>", {}, {i64({2}, {3, 64})});
  checkOp("dim_values", "values = #graph.dims<[\"3\"]>, scalar", {}, {i64({}, {3})});
}

TEST_CASE("gather counts from the end and clamps", "[interpreter]") {
  const TensorValue x = f32({2, 3}, {0, 1, 2, 3, 4, 5});
  const TensorValue y = i32({2, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  checkOp("gather", "axis = 1 : i64", {x, i64({2, 2}, {0, -1, 2, 9})}, {f32({2, 2, 2}, {0, 2, 2, 2, 3, 5, 5, 5})});
  checkOp("gather", "axis = 0 : i64", {x, i32({}, {-7})}, {f32({3}, {0, 1, 2})});
  checkOp("gather", "axis = 1 : i64", {x, i64({0}, {})}, {f32({2, 0}, {})});
  checkOp("gather_elements", "axis = 1 : i64", {x, i32({2, 2}, {2, -3, 0, 7})}, {f32({2, 2}, {2, 0, 3, 5})});
  checkOp("gather_elements", "axis = 0 : i64", {x, i64({1, 3}, {1, 0, -1})}, {f32({1, 3}, {3, 1, 5})});
  checkOp("gather_nd", "", {y, i64({3, 2}, {1, 2, 0, -1, 5, 0})}, {i32({3, 4}, {20, 21, 22, 23, 8, 9, 10, 11, 12, 13, 14, 15})});
  checkOp("gather_nd", "batch_dims = 1 : i64", {y, i64({2, 1}, {2, 0})}, {i32({2, 4}, {8, 9, 10, 11, 12, 13, 14, 15})});
  checkOp("gather_nd", "", {x, i64({2, 2}, {1, 1, 0, -1})}, {f32({2}, {4, 2})});
}

TEST_CASE("scatter drops what is outside and applies updates in order", "[interpreter]") {
  const TensorValue x = f32({2, 3}, {0, 1, 2, 3, 4, 5});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<none>",
          {f32({4}, {1, 2, 3, 4}), i64({2}, {1, -1}), f32({2}, {10, 20})}, {f32({4}, {1, 10, 3, 20})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<none>",
          {f32({4}, {1, 2, 3, 4}), i64({4}, {1, -1, 1, 8}), f32({4}, {10, 20, 30, 40})}, {f32({4}, {1, 30, 3, 20})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<add>",
          {f32({4}, {1, 2, 3, 4}), i64({4}, {1, -1, 1, 8}), f32({4}, {10, 20, 30, 40})}, {f32({4}, {1, 42, 3, 24})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<mul>",
          {f32({4}, {1, 2, 3, 4}), i64({4}, {1, -1, 1, 8}), f32({4}, {10, 20, 30, 40})}, {f32({4}, {1, 600, 3, 80})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<max>",
          {f32({4}, {1, 2, 3, 4}), i64({4}, {1, -1, 1, 8}), f32({4}, {10, 20, 30, 40})}, {f32({4}, {1, 30, 3, 20})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<min>",
          {f32({4}, {1, 2, 3, 4}), i64({4}, {1, -1, 1, 8}), f32({4}, {10, 20, 30, 40})}, {f32({4}, {1, 2, 3, 4})});
  checkOp("scatter_elements", "axis = 1 : i64", {x, i32({2, 2}, {2, 0, 1, 1}), f32({2, 2}, {7, 8, 9, 10})},
          {f32({2, 3}, {8, 1, 7, 3, 10, 5})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<max>",
          {f32({2}, {1, NAN}), i64({2}, {0, 1}), f32({2}, {NAN, 5})}, {f32({2}, {NAN, NAN})});
  checkOp("scatter_elements", "axis = 0 : i64, reduction = #graph.scatter_reduction<add>", {i8({1}, {120}), i64({1}, {0}), i8({1}, {10})},
          {i8({1}, {-126})});
  checkOp("scatter_nd", "", {x, i64({2, 1}, {1, 0}), f32({2, 3}, {1, 1, 1, 2, 2, 2})}, {f32({2, 3}, {2, 2, 2, 1, 1, 1})});
  checkOp("scatter_nd", "reduction = #graph.scatter_reduction<add>", {x, i64({3, 2}, {1, -1, 1, 2, 2, 0}), f32({3}, {10, 20, 30})},
          {f32({2, 3}, {0, 1, 2, 3, 4, 35})});
  checkOp("scatter_nd", "", {f32({0}, {}), i64({1, 1}, {0}), f32({1}, {1})}, {f32({0}, {})});
}

TEST_CASE("sizes that only the run knows are checked", "[interpreter]") {
  Program program(R"(
    func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>, %y: tensor<?xf32, #graph.dims<["M"]>>) -> tensor<?xf32, #graph.dims<["M"]>> {
      %0 = graph.slice %x {starts = #graph.dims<["1"]>, strides = array<i64: 1>} : (tensor<?xf32, #graph.dims<["N"]>>)
        -> tensor<?xf32, #graph.dims<["M"]>>
      return %0 : tensor<?xf32, #graph.dims<["M"]>>
    })");
  program.check({f32({3}, {1, 2, 3}), f32({2}, {0, 0})}, {f32({2}, {2, 3})});
  program.checkError({f32({3}, {1, 2, 3}), f32({3}, {0, 0, 0})}, "reads 3 elements from 1 on, 1 apart, of axis 0 of size 3");
}

TEST_CASE("reshapes between names need equal counts", "[interpreter]") {
  Program program(R"(
    func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>, %y: tensor<?x2xf32, #graph.dims<["M", "2"]>>) -> tensor<?x2xf32, #graph.dims<["M", "2"]>> {
      %0 = graph.reshape %x : (tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?x2xf32, #graph.dims<["M", "2"]>>
      return %0 : tensor<?x2xf32, #graph.dims<["M", "2"]>>
    })");
  program.check({f32({4}, {1, 2, 3, 4}), f32({2, 2}, {0, 0, 0, 0})}, {f32({2, 2}, {1, 2, 3, 4})});
  program.checkError({f32({4}, {1, 2, 3, 4}), f32({1, 2}, {0, 0})},
                     "turns tensor<4xf32> into tensor<1x2xf32>, which has another number of elements");
}

TEST_CASE("modes that copy need something to copy", "[interpreter]") {
  const std::string text = R"(
    func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["N + 3"]>> {
      %v = graph.constant dense<0.0> : tensor<f32>
      %0 = graph.pad %x, %v {low = #graph.dims<["3"]>, high = #graph.dims<["0"]>, interior = array<i64: 0>, mode = #graph.pad_mode<reflect>}
        : (tensor<?xf32, #graph.dims<["N"]>>, tensor<f32>) -> tensor<?xf32, #graph.dims<["N + 3"]>>
      return %0 : tensor<?xf32, #graph.dims<["N + 3"]>>
    })";
  Program(text).check({f32({4}, {1, 2, 3, 4})}, {f32({7}, {4, 3, 2, 1, 2, 3, 4})});
  Program(text).checkError({f32({3}, {1, 2, 3})}, "pads axis 0 of size 3 by 3 and 0, which its mode does not allow");
}

TEST_CASE("padding has a largest amount", "[interpreter]") {
  Program program(R"(
    func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["N"]>> {
      %v = graph.constant dense<0.0> : tensor<f32>
      %0 = graph.pad %x, %v {low = #graph.dims<["1099511627776*N"]>, high = #graph.dims<["-1099511627776*N"]>, interior = array<i64: 0>}
        : (tensor<?xf32, #graph.dims<["N"]>>, tensor<f32>) -> tensor<?xf32, #graph.dims<["N"]>>
      return %0 : tensor<?xf32, #graph.dims<["N"]>>
    })");
  program.checkError({f32({2}, {1, 2})}, "pads axis 0 by 2199023255552 and -2199023255552, expected at most 1099511627776");
}

TEST_CASE("nothing is gathered from an empty axis", "[interpreter]") {
  checkOpError("gather", "axis = 0 : i64", {f32({0, 2}, {}), i64({1}, {0})}, {f32({1, 2}, {0, 0})}, "gathers from axis 0, which is empty");
  checkOp("gather", "axis = 0 : i64", {f32({0, 2}, {}), i64({0}, {})}, {f32({0, 2}, {})});
}

TEST_CASE("indices may not reach past the other axes", "[interpreter]") {
  Program program(R"(
    func.func @main(%x: tensor<?x2xf32, #graph.dims<["N", "2"]>>, %i: tensor<?x2xi64, #graph.dims<["M", "2"]>>) -> tensor<?x2xf32, #graph.dims<["M", "2"]>> {
      %0 = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<?x2xf32, #graph.dims<["N", "2"]>>, tensor<?x2xi64, #graph.dims<["M", "2"]>>)
        -> tensor<?x2xf32, #graph.dims<["M", "2"]>>
      return %0 : tensor<?x2xf32, #graph.dims<["M", "2"]>>
    })");
  program.checkError({f32({1, 2}, {1, 2}), i64({2, 2}, {0, 0, 0, 0})},
                     "has indices of type tensor<2x2xi64> for an input of type tensor<1x2xf32>");
}
