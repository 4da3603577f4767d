// DEPS: stator::dialects::Graph::Interpreter
// Contractions and windows against NumPy and ONNX Runtime.
#include "test/unit/dialects/Graph/InterpretOp.h"

using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

TEST_CASE("dot products", "[interpreter]") {
  checkOp("dot_general", "lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>",
          {f32({2, 3}, {-0.125, 0, 1, 1.875, -1.875, -1.5}),
           f32({3, 4}, {1.375, 1.875, -1, -0.75, 1.5, -0.375, -0.875, 1.375, -1, -0.375, 0.625, 0.25})},
          {f32({2, 4}, {-1.171875, -0.609375, 0.75, 0.34375, 1.265625, 4.78125, -1.171875, -4.359375})});
  checkOp("dot_general",
          "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, "
          "rhs_contract = array<i64: 1>",
          {f32({2, 2, 3}, {-1.75, -2, 1.5, 1, 1.375, 0.125, 1.25, -0.75, -0.25, 1.25, -1.5, -0.75}),
           f32({2, 3, 2}, {-1.5, -0.25, 2, -1.5, -0.5, -0.375, 1.625, -1.25, 0, -1, -2, 1})},
          {f32({2, 2, 2}, {-2.125, 2.875, 1.1875, -2.359375, 2.53125, -1.0625, 3.53125, -0.8125})});
  checkOp("dot_general",
          "lhs_batch = array<i64: 1>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 0, 2>, "
          "rhs_contract = array<i64: 2, 1>",
          {f32({2, 2, 3}, {-1.75, -2, 1.5, 1, 1.375, 0.125, 1.25, -0.75, -0.25, 1.25, -1.5, -0.75}),
           f32({2, 3, 2}, {-1.5, -0.25, 2, -1.5, -0.5, -0.375, 1.625, -1.25, 0, -1, -2, 1})},
          {f32({2}, {-1.21875, 0.5625})});
  checkOp("dot_general", "lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64>, rhs_contract = array<i64>",
          {f32({3}, {-0.125, 0, 1}), f32({4}, {1.375, 1.875, -1, -0.75})},
          {f32({3, 4}, {-0.171875, -0.234375, 0.125, 0.09375, 0, 0, -0.0, -0.0, 1.375, 1.875, -1, -0.75})});
  checkOp("dot_general", "lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>",
          {f32({2, 0}, {}), f32({0, 3}, {})}, {f32({2, 3}, {0, 0, 0, 0, 0, 0})});
  checkOp("dot_general", "lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>",
          {i8({2, 3}, {0, 20, 40, 60, 80, 100}), i8({3, 2}, {3, 4, 5, 6, 7, 8})}, {i8({2, 2}, {124, -72, 0, -16})});
}

TEST_CASE("packed right-hand sides mean the same", "[interpreter]") {
  checkOp("dot_general",
          "lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, "
          "rhs_packed = 18 : i64",
          {f32({2, 2}, {1, 2, 3, -1}),
           f32({2, 2, 16},
               {0,  1,  2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                16, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  34, 35, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0})},
          {f32({2, 18}, {36,  39,  42,  45,  48,  51, 54, 57, 60, 63, 66, 69, 72, 75, 78, 81, 84, 87,
                         -18, -16, -14, -12, -10, -8, -6, -4, -2, 0,  2,  4,  6,  8,  10, 12, 14, 16})});
}

TEST_CASE("convolutions", "[interpreter]") {
  const TensorValue x =
      f32({1, 2, 4, 5}, {-1.75, -0.875, 0,     0,      -1.625, 2,     1,      1.875,  -1.625, 0.875, -0.875, 0.125, 1.75,   -0.875,
                         0.875, -1.375, -0.75, 2,      -0.375, 0.125, -0.875, -1.625, -0.25,  0.5,   -0.125, 1.125, -0.625, 0.5,
                         1.125, 1.75,   -0.25, -1.875, 0.875,  0.125, 1.5,    -0.125, -0.5,   -1.75, -0.125, 0.625});
  const TensorValue w = f32({3, 2, 2, 3}, {1.125, 1.5,  -1.125, 0.375, 1.25,   -1,    -0.625, 1.375, 0.375, 0,     0.75,  0,
                                           2,     1,    -1.875, -1.5,  0.125,  1.375, -1.75,  0.75,  1.125, 1.125, 1.5,   -1.25,
                                           0.25,  1.25, -0.625, -1.25, -0.125, -1.75, -1.125, 1.5,   0.75,  1.5,   1.375, 1.5});
  checkOp("convolution",
          "strides = array<i64: 2, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 0, 2>, "
          "dilations = array<i64: 1, 2>, groups = 1 : i64",
          {x, w},
          {f32({1, 3, 2, 3}, {0.78125, 0.046875, -2.125, 6.359375, -0.328125, 8.390625, -0.8125, 0.234375, -0.671875, 6.5, 0.09375, 5.78125,
                              3.1875, -0.65625, -0.34375, 5.515625, -2.078125, 4.703125})});
  checkOp("convolution",
          "strides = array<i64: 2, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 0, 2>, "
          "dilations = array<i64: 1, 2>, groups = 1 : i64, layout = #graph.layout<channels_last>",
          {f32({1, 4, 5, 2}, {-1.75, -0.875, -0.875, -1.625, 0,     -0.25, 0,      0.5,   -1.625, -0.125, 2,     1.125, 1,      -0.625,
                              1.875, 0.5,    -1.625, 1.125,  0.875, 1.75,  -0.875, -0.25, 0.125,  -1.875, 1.75,  0.875, -0.875, 0.125,
                              0.875, 1.5,    -1.375, -0.125, -0.75, -0.5,  2,      -1.75, -0.375, -0.125, 0.125, 0.625}),
           w},
          {f32({1, 2, 3, 3}, {0.78125, -0.8125, 3.1875, 0.046875, 0.234375, -0.65625, -2.125, -0.671875, -0.34375, 6.359375, 6.5, 5.515625,
                              -0.328125, 0.09375, -2.078125, 8.390625, 5.78125, 4.703125})});
  checkOp("convolution",
          "strides = array<i64: 2>, pad_low = array<i64: 1>, pad_high = array<i64: 1>, dilations = array<i64: 1>, "
          "groups = 2 : i64",
          {f32({2, 4, 5}, {-0.75,  -0.125, 0.5,  -0.875, 1.75,  -2,   1.375, 0.625, -1,    0.875, -0.375, 1.375,  2,      -0.875,
                           -0.125, -1.125, 0.75, 0.625,  1.375, 1.25, 2,     1.875, 1.625, -1.5,  -1.875, -0.125, -0.625, 1.625,
                           1.25,   -0.375, 0.25, 0.375,  1.625, -2,   0,     0.75,  -0.25, 1.75,  1.875,  1.375}),
           f32({4, 2, 2}, {-0.125, 1.625, -1.75, 0.625, -1, -1, 0.75, 1.125, 1.625, -1.25, 1.5, 1.375, -0.75, -1.75, 1.125, 1.375})},
          {f32({2, 4, 3}, {-2.46875,  -1.1875,   5.25,      -1.5,     1.359375, -0.640625, -1.078125, 1.71875,
                           2.515625,  -0.890625, -2.828125, 4.140625, 3.171875, 4.515625,  -5.28125,  -2.140625,
                           -2.140625, 3.890625,  0.71875,   0.609375, 1.453125, 0.59375,   -1,        5.5})});
  checkOp(
      "convolution",
      "strides = array<i64: 1, 1, 1>, pad_low = array<i64: 0, 0, 0>, pad_high = array<i64: 0, 0, 0>, "
      "dilations = array<i64: 1, 1, 1>, groups = 1 : i64",
      {f32({1, 1, 2, 3, 3}, {-0.125, -1.375, -1.5, -0.5, 1, -0.75, -1.875, 0.75, 1, -1.375, 0.25, -0.375, 0, -2, 0.5, -1, 0.25, -0.375}),
       f32({1, 1, 2, 2, 2}, {0.5, -1.625, -0.5, 0.5, 1.125, -0.5, -2, 0.875})},
      {f32({1, 1, 1, 2, 2}, {-0.5, 5.78125, 2.65625, -1.484375})});
  checkOp("convolution",
          "strides = array<i64: 1>, pad_low = array<i64: -1>, pad_high = array<i64: -1>, dilations = array<i64: 1>, "
          "groups = 2 : i64",
          {f32({2, 4, 5}, {-0.75,  -0.125, 0.5,  -0.875, 1.75,  -2,   1.375, 0.625, -1,    0.875, -0.375, 1.375,  2,      -0.875,
                           -0.125, -1.125, 0.75, 0.625,  1.375, 1.25, 2,     1.875, 1.625, -1.5,  -1.875, -0.125, -0.625, 1.625,
                           1.25,   -0.375, 0.25, 0.375,  1.625, -2,   0,     0.75,  -0.25, 1.75,  1.875,  1.375}),
           f32({4, 2, 2}, {-0.125, 1.625, -1.75, 0.625, -1, -1, 0.75, 1.125, 1.625, -1.25, 1.5, 1.375, -0.75, -1.75, 1.125, 1.375})},
          {f32({2, 4, 2}, {-1.1875, -3.203125, 1.359375, -0.28125, 1.71875, 7.171875, -2.828125, 2.625, 4.515625, -4.703125, -2.140625, 2.5,
                           0.609375, 10.34375, -1, 6.828125})});
}

TEST_CASE("packed filters mean the same", "[interpreter]") {
  checkOp("convolution",
          "strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, "
          "dilations = array<i64: 1, 1>, groups = 2 : i64, layout = #graph.layout<channels_last>, filter_packed, "
          "filter_shape = array<i64: 2, 1, 2, 2>",
          {f32({1, 3, 3, 2},
               {0, 0.125, -0.375, -0.125, 0.375, 0.375, -0.25, 0.125, -0.5, 0.375, -0.25, -0.125, 0.5, 0, 0.375, -0.375, 0.25, 0.5}),
           f32({4, 2}, {-0.5, -0.25, -0.25, -0.5, -0.375, 0.5, -0.25, -0.25})},
          {f32({1, 2, 2, 2}, {0.3125, 0, 0.34375, 0.0625, -0.03125, -0.125, 0.109375, -0.34375})});
  checkOp("convolution",
          "strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, "
          "dilations = array<i64: 1, 1>, groups = 2 : i64, layout = #graph.layout<channels_last>, filter_packed, "
          "filter_shape = array<i64: 2, 1, 2, 2>",
          {f32({1, 3, 3, 2},
               {0, 0.125, -0.375, -0.125, 0.375, 0.375, -0.25, 0.125, -0.5, 0.375, -0.25, -0.125, 0.5, 0, 0.375, -0.375, 0.25, 0.5}),
           f32({2, 1, 4, 16}, {-0.5,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                               -0.375, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                               -0.25,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.5,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                               0.5,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
          {f32({1, 2, 2, 2}, {0.3125, 0, 0.34375, 0.0625, -0.03125, -0.125, 0.109375, -0.34375})});
}

TEST_CASE("pools", "[interpreter]") {
  const TensorValue q = f32({1, 1, 4, 5}, {1.75,   1.125, -1.375, 0.875,  1.125,  -1.5,  -1.5,   -0.5,  -1.75, -0.375,
                                           -0.125, 0.625, 0.25,   -0.125, -1.125, 0.375, -0.125, 1.375, 0.875, 0.875});
  checkOp("pool",
          "kind = #graph.pool_kind<max>, kernel = array<i64: 2, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, 0>, "
          "pad_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>",
          {q}, {f32({1, 1, 2, 2}, {1.75, 1.125, 0.625, 0.25})});
  checkOp("pool",
          "kind = #graph.pool_kind<max>, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, "
          "pad_high = array<i64: 0, 0>, dilations = array<i64: 2, 2>",
          {q}, {f32({1, 1, 2, 3}, {1.75, 1.125, 1.125, 1.375, 0.875, 1.375})});
  checkOp("pool",
          "kind = #graph.pool_kind<average>, kernel = array<i64: 2, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, "
          "0>, pad_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>",
          {q}, {f32({1, 1, 2, 2}, {0.5, 0.208333328, -0.458333343, -0.604166687})});
  checkOp("pool",
          "kind = #graph.pool_kind<average>, kernel = array<i64: 2, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, "
          "0>, pad_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, count_include_pad = true",
          {q}, {f32({1, 1, 2, 2}, {0.25, 0.104166664, -0.458333343, -0.604166687})});
  checkOp("pool",
          "kind = #graph.pool_kind<average>, kernel = array<i64: 2, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, "
          "0>, pad_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, count_include_pad = true, "
          "layout = #graph.layout<channels_last>",
          {f32({1, 4, 5, 1}, {1.75,   1.125, -1.375, 0.875,  1.125,  -1.5,  -1.5,   -0.5,  -1.75, -0.375,
                              -0.125, 0.625, 0.25,   -0.125, -1.125, 0.375, -0.125, 1.375, 0.875, 0.875})},
          {f32({1, 2, 2, 1}, {0.25, 0.104166664, -0.458333343, -0.604166687})});
  checkOp("pool",
          "kind = #graph.pool_kind<average>, kernel = array<i64: 2>, strides = array<i64: 2>, pad_low = array<i64: 0>, "
          "pad_high = array<i64: 1>, dilations = array<i64: 1>, count_include_pad = true, ceil_extra = array<i64: 1>",
          {f32({1, 1, 5}, {1, 2, 3, 4, 5})}, {f32({1, 1, 3}, {1.5, 3.5, 5})});
  checkOp("pool",
          "kind = #graph.pool_kind<average>, kernel = array<i64: 2>, strides = array<i64: 2>, pad_low = array<i64: 0>, "
          "pad_high = array<i64: 1>, dilations = array<i64: 1>, count_include_pad = true",
          {f32({1, 1, 5}, {1, 2, 3, 4, 5})}, {f32({1, 1, 3}, {1.5, 3.5, 2.5})});
  checkOp("pool",
          "kind = #graph.pool_kind<max>, kernel = array<i64: 1>, strides = array<i64: 1>, pad_low = array<i64: 1>, "
          "pad_high = array<i64: 0>, dilations = array<i64: 1>",
          {f32({1, 1, 2}, {1, NAN})}, {f32({1, 1, 3}, {-INFINITY, 1, NAN})});
  checkOp("pool",
          "kind = #graph.pool_kind<average>, kernel = array<i64: 1>, strides = array<i64: 1>, pad_low = array<i64: 1>, "
          "pad_high = array<i64: 0>, dilations = array<i64: 1>",
          {f32({1, 1, 2}, {1, 2})}, {f32({1, 1, 3}, {0, 1, 2})});
  checkOp("pool",
          "kind = #graph.pool_kind<max>, kernel = array<i64: 2>, strides = array<i64: 1>, pad_low = array<i64: 1>, "
          "pad_high = array<i64: 0>, dilations = array<i64: 1>",
          {i8({1, 1, 2}, {-5, 3})}, {i8({1, 1, 2}, {-5, 3})});
  checkOp("pool",
          "kind = #graph.pool_kind<max>, kernel = array<i64: 1>, strides = array<i64: 1>, pad_low = array<i64: 1>, "
          "pad_high = array<i64: 0>, dilations = array<i64: 1>",
          {i8({1, 1, 1}, {-5})}, {i8({1, 1, 2}, {-128, -5})});
}
