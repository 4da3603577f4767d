// DEPS: stator::dialects::Graph::Interpreter
// Reductions, scans and sorting against NumPy.
#include "test/unit/dialects/Graph/InterpretOp.h"

using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

TEST_CASE("reductions of floats", "[interpreter]") {
  const TensorValue r = f32({2, 3}, {3, -1, 2, NAN, 5, -6});
  const TensorValue p = f32({2, 3}, {3, -1, 2, 4, 5, -6});
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false", {r}, {f32({2}, {4, NAN})});
  checkOp("reduce", "kind = #graph.reduce_kind<prod>, axes = array<i64: 1>, keep_dims = false", {r}, {f32({2}, {-6, NAN})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 1>, keep_dims = false", {r}, {f32({2}, {3, NAN})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 1>, keep_dims = false", {r}, {f32({2}, {-1, NAN})});
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0, 1>, keep_dims = true", {p}, {f32({1, 1}, {7})});
  checkOp("reduce", "kind = #graph.reduce_kind<prod>, axes = array<i64: 0, 1>, keep_dims = true", {p}, {f32({1, 1}, {720})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 0, 1>, keep_dims = true", {p}, {f32({1, 1}, {5})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 0, 1>, keep_dims = true", {p}, {f32({1, 1}, {-6})});
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false", {p}, {f32({3}, {7, 4, -4})});
}

TEST_CASE("reductions of integers wrap", "[interpreter]") {
  const TensorValue t = i32({2, 3, 4}, {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0, 2>, keep_dims = false", {t}, {i32({3}, {4, 36, 68})});
  checkOp("reduce", "kind = #graph.reduce_kind<prod>, axes = array<i64: 0, 2>, keep_dims = false", {t}, {i32({3}, {1411200, 0, 1048320})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 0, 2>, keep_dims = false", {t}, {i32({3}, {8, 12, 16})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 0, 2>, keep_dims = false", {t}, {i32({3}, {-7, -3, 1})});
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false", {i8({3}, {100, 100, 100})}, {i8({}, {44})});
}

TEST_CASE("reductions of nothing", "[interpreter]") {
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false", {f32({0, 2}, {})}, {f32({2}, {0, 0})});
  checkOp("reduce", "kind = #graph.reduce_kind<prod>, axes = array<i64: 0>, keep_dims = false", {f32({0, 2}, {})}, {f32({2}, {1, 1})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false", {f32({0, 2}, {})},
          {f32({2}, {-INFINITY, -INFINITY})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 0>, keep_dims = false", {f32({0, 2}, {})},
          {f32({2}, {INFINITY, INFINITY})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false", {i8({0}, {})}, {i8({}, {-128})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 0>, keep_dims = false", {i8({0}, {})}, {i8({}, {127})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false", {u8({0}, {})}, {u8({}, {0})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 0>, keep_dims = false", {u8({0}, {})}, {u8({}, {255})});
  checkOp("reduce", "kind = #graph.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false", {i64({0}, {})}, {i64({}, {INT64_MIN})});
  checkOp("reduce", "kind = #graph.reduce_kind<min>, axes = array<i64: 0>, keep_dims = false", {i64({0}, {})},
          {i64({}, {9223372036854775807})});
  checkOp("reduce", "kind = #graph.reduce_kind<any>, axes = array<i64: 0>, keep_dims = false", {i1({0}, {})}, {i1({}, {0})});
  checkOp("reduce", "kind = #graph.reduce_kind<all>, axes = array<i64: 0>, keep_dims = false", {i1({0}, {})}, {i1({}, {1})});
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false", {f32({2, 0}, {})}, {f32({0}, {})});
}

TEST_CASE("quantifiers", "[interpreter]") {
  checkOp("reduce", "kind = #graph.reduce_kind<any>, axes = array<i64: 1>, keep_dims = false", {i1({2, 2}, {1, 0, 1, 1})},
          {i1({2}, {1, 1})});
  checkOp("reduce", "kind = #graph.reduce_kind<all>, axes = array<i64: 1>, keep_dims = false", {i1({2, 2}, {1, 0, 1, 1})},
          {i1({2}, {0, 1})});
}

TEST_CASE("half sums are rounded once", "[interpreter]") {
  checkOp("reduce", "kind = #graph.reduce_kind<sum>, axes = array<i64: 0>", {f16({3000}, std::vector<double>(3000, 0.1))},
          {f16({}, {300})});
}

TEST_CASE("positions of extrema", "[interpreter]") {
  const TensorValue q = f32({2, 4}, {1, 5, 5, 0, 2, 2, 1, 1});
  const TensorValue t = i32({2, 3, 4}, {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const TensorValue r = f32({2, 3}, {3, -1, 2, NAN, 5, -6});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<max>, axis = 1 : i64, keep_dims = false, select_last = false", {q},
          {i64({2}, {1, 0})});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<min>, axis = 1 : i64, keep_dims = true, select_last = false", {q},
          {i64({2, 1}, {3, 2})});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<max>, axis = 1 : i64, keep_dims = false, select_last = true", {q},
          {i64({2}, {2, 1})});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<min>, axis = 1 : i64, keep_dims = false, select_last = true", {q},
          {i64({2}, {3, 3})});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<max>, axis = 0 : i64, keep_dims = false, select_last = false", {r},
          {i64({3}, {1, 1, 0})});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<min>, axis = 1 : i64, keep_dims = false, select_last = false", {r},
          {i64({2}, {1, 0})});
  checkOp("arg_reduce", "kind = #graph.arg_reduce_kind<max>, axis = 0 : i64, keep_dims = false, select_last = false", {t},
          {i64({3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})});
}

TEST_CASE("scans", "[interpreter]") {
  const TensorValue c = f32({4}, {1, 2, 3, 4});
  const TensorValue t = i32({2, 3, 4}, {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  checkOp("cumulative", "kind = #graph.cumulative_kind<sum>, axis = 0 : i64, exclusive = false, reverse = false", {c},
          {f32({4}, {1, 3, 6, 10})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<sum>, axis = 0 : i64, exclusive = true, reverse = false", {c},
          {f32({4}, {0, 1, 3, 6})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<sum>, axis = 0 : i64, exclusive = false, reverse = true", {c},
          {f32({4}, {10, 9, 7, 4})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<sum>, axis = 0 : i64, exclusive = true, reverse = true", {c},
          {f32({4}, {9, 7, 4, 0})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<prod>, axis = 1 : i64, exclusive = false, reverse = false", {t},
          {i32({2, 3, 4}, {-7, -6, -5, -4, 21, 12, 5, 0, 21, 24, 15, 0, 5, 6, 7, 8, 45, 60, 77, 96, 585, 840, 1155, 1536})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<prod>, axis = 0 : i64, exclusive = true, reverse = false", {c},
          {f32({4}, {1, 1, 2, 6})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<max>, axis = 0 : i64, exclusive = false, reverse = false",
          {f32({4}, {1, NAN, 3, -2})}, {f32({4}, {1, NAN, NAN, NAN})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<max>, axis = 0 : i64, exclusive = true, reverse = false", {i16({2}, {3, 1})},
          {i16({2}, {-32768, 3})});
  checkOp("cumulative", "kind = #graph.cumulative_kind<sum>, axis = 1 : i64, exclusive = false, reverse = false", {f32({2, 0}, {})},
          {f32({2, 0}, {})});
}

TEST_CASE("sorting is stable and has nan as the largest", "[interpreter]") {
  const TensorValue n = f32({5}, {3, NAN, 1, 3, -INFINITY});
  const TensorValue t = i32({2, 3, 4}, {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  checkOp("top_k", "k = #graph.dims<[\"5\"]>, axis = 0 : i64, largest = true", {n},
          {f32({5}, {NAN, 3, 3, 1, -INFINITY}), i64({5}, {1, 0, 3, 2, 4})});
  checkOp("top_k", "k = #graph.dims<[\"5\"]>, axis = 0 : i64, largest = false", {n},
          {f32({5}, {-INFINITY, 1, 3, 3, NAN}), i64({5}, {4, 2, 0, 3, 1})});
  checkOp("top_k", "k = #graph.dims<[\"2\"]>, axis = 0 : i64, largest = true", {n}, {f32({2}, {NAN, 3}), i64({2}, {1, 0})});
  checkOp("top_k", "k = #graph.dims<[\"0\"]>, axis = 0 : i64, largest = true", {n}, {f32({0}, {}), i64({0}, {})});
  checkOp("top_k", "k = #graph.dims<[\"2\"]>, axis = 1 : i64, largest = true", {t},
          {i32({2, 2, 4}, {1, 2, 3, 4, -3, -2, -1, 0, 13, 14, 15, 16, 9, 10, 11, 12}),
           i64({2, 2, 4}, {2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1})});
}

TEST_CASE("axes that turn out too short", "[interpreter]") {
  Program extremum(R"(
    func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<i64> {
      %0 = graph.arg_reduce %x {kind = #graph.arg_reduce_kind<max>, axis = 0 : i64} : (tensor<?xf32, #graph.dims<["N"]>>) -> tensor<i64>
      return %0 : tensor<i64>
    })");
  extremum.check({f32({2}, {1, 2})}, {i64({}, {1})});
  extremum.checkError({f32({0}, {})}, "looks for an extremum on an empty axis");
  Program best(R"(
    func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<3xf32> {
      %0, %1 = graph.top_k %x {k = #graph.dims<["3"]>, axis = 0 : i64} : (tensor<?xf32, #graph.dims<["N"]>>) -> (tensor<3xf32>, tensor<3xi64>)
      return %0 : tensor<3xf32>
    })");
  best.check({f32({4}, {1, 2, 3, 4})}, {f32({3}, {4, 3, 2})});
  best.checkError({f32({2}, {1, 2})}, "wants 3 elements of axis 0 of size 2");
}
