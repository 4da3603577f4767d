// DEPS: stator::dialects::Graph::Interpreter
// Element-wise operations against NumPy.
#include "test/unit/dialects/Graph/InterpretOp.h"

using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

TEST_CASE("unary operations of floats", "[interpreter]") {
  const TensorValue x = f32({13}, {-INFINITY, -2.5, -1, -0.5, -0.0, 0, 0.25, 0.5, 1, 1.5, 2.5, INFINITY, NAN});
  checkOp("exp", "", {x},
          {f32({13}, {0, 0.0820849985, 0.36787945, 0.606530666, 1, 1, 1.28402543, 1.64872122, 2.71828175, 4.48168898, 12.1824942, INFINITY,
                      NAN})});
  checkOp("expm1", "", {x},
          {f32({13}, {-1, -0.917914987, -0.63212055, -0.393469334, -0.0, 0, 0.284025431, 0.648721278, 1.71828187, 3.48168898, 11.1824942,
                      INFINITY, NAN})});
  checkOp("log", "", {x},
          {f32({13}, {NAN, NAN, NAN, NAN, -INFINITY, -INFINITY, -1.38629436, -0.693147182, 0, 0.405465096, 0.91629076, INFINITY, NAN})});
  checkOp("log1p", "", {x},
          {f32({13}, {NAN, NAN, -INFINITY, -0.693147182, -0.0, 0, 0.223143548, 0.405465096, 0.693147182, 0.91629076, 1.25276291, INFINITY,
                      NAN})});
  checkOp("sqrt", "", {x}, {f32({13}, {NAN, NAN, NAN, NAN, -0.0, 0, 0.5, 0.707106769, 1, 1.22474492, 1.58113885, INFINITY, NAN})});
  checkOp("rsqrt", "", {x}, {f32({13}, {NAN, NAN, NAN, NAN, -INFINITY, INFINITY, 2, 1.41421354, 1, 0.816496611, 0.632455528, 0, NAN})});
  checkOp("sin", "", {x},
          {f32({13}, {NAN, -0.598472118, -0.841470957, -0.47942555, -0.0, 0, 0.247403964, 0.47942555, 0.841470957, 0.997494996, 0.598472118,
                      NAN, NAN})});
  checkOp("cos", "", {x},
          {f32({13}, {NAN, -0.801143587, 0.540302277, 0.87758255, 1, 1, 0.968912423, 0.87758255, 0.540302277, 0.070737198, -0.801143587,
                      NAN, NAN})});
  checkOp("tan", "", {x},
          {f32({13}, {NAN, 0.747022271, -1.55740774, -0.546302497, -0.0, 0, 0.255341917, 0.546302497, 1.55740774, 14.1014204, -0.747022271,
                      NAN, NAN})});
  checkOp("asin", "", {x},
          {f32({13}, {NAN, NAN, -1.57079637, -0.52359879, -0.0, 0, 0.252680242, 0.52359879, 1.57079637, NAN, NAN, NAN, NAN})});
  checkOp("acos", "", {x},
          {f32({13}, {NAN, NAN, 3.14159274, 2.09439516, 1.57079637, 1.57079637, 1.31811607, 1.04719758, 0, NAN, NAN, NAN, NAN})});
  checkOp("atan", "", {x},
          {f32({13}, {-1.57079637, -1.19028997, -0.785398185, -0.463647604, -0.0, 0, 0.244978666, 0.463647604, 0.785398185, 0.982793748,
                      1.19028997, 1.57079637, NAN})});
  checkOp("sinh", "", {x},
          {f32({13}, {-INFINITY, -6.05020428, -1.17520118, -0.521095276, -0.0, 0, 0.252612323, 0.521095276, 1.17520118, 2.12927938,
                      6.05020428, INFINITY, NAN})});
  checkOp("cosh", "", {x},
          {f32({13}, {INFINITY, 6.13228941, 1.54308069, 1.12762594, 1, 1, 1.03141308, 1.12762594, 1.54308069, 2.3524096, 6.13228941,
                      INFINITY, NAN})});
  checkOp("asinh", "", {x},
          {f32({13}, {-INFINITY, -1.6472311, -0.881373584, -0.481211811, -0.0, 0, 0.24746646, 0.481211811, 0.881373584, 1.19476318,
                      1.6472311, INFINITY, NAN})});
  checkOp("acosh", "", {x}, {f32({13}, {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0.962423623, 1.56679928, INFINITY, NAN})});
  checkOp("atanh", "", {x},
          {f32({13}, {NAN, NAN, -INFINITY, -0.549306154, -0.0, 0, 0.255412817, 0.549306154, INFINITY, NAN, NAN, NAN, NAN})});
  checkOp("tanh", "", {x},
          {f32({13}, {-1, -0.986614287, -0.761594176, -0.462117165, -0.0, 0, 0.244918659, 0.462117165, 0.761594176, 0.905148268,
                      0.986614287, 1, NAN})});
  checkOp("erf", "", {x},
          {f32({13}, {-1, -0.999593019, -0.842700779, -0.520499885, -0.0, 0, 0.276326388, 0.520499885, 0.842700779, 0.966105163,
                      0.999593019, 1, NAN})});
  checkOp("sigmoid", "", {x},
          {f32({13}, {0, 0.0758581832, 0.268941432, 0.377540678, 0.5, 0.5, 0.562176526, 0.622459352, 0.731058598, 0.817574501, 0.924141824,
                      1, NAN})});
  checkOp("floor", "", {x}, {f32({13}, {-INFINITY, -3, -1, -1, -0.0, 0, 0, 0, 1, 1, 2, INFINITY, NAN})});
  checkOp("ceil", "", {x}, {f32({13}, {-INFINITY, -2, -1, -0.0, -0.0, 0, 1, 1, 1, 2, 3, INFINITY, NAN})});
  checkOp("round_even", "", {x}, {f32({13}, {-INFINITY, -2, -1, -0.0, -0.0, 0, 0, 0, 1, 2, 2, INFINITY, NAN})});
  checkOp("abs", "", {x}, {f32({13}, {INFINITY, 2.5, 1, 0.5, 0, 0, 0.25, 0.5, 1, 1.5, 2.5, INFINITY, NAN})});
  checkOp("neg", "", {x}, {f32({13}, {INFINITY, 2.5, 1, 0.5, 0, -0.0, -0.25, -0.5, -1, -1.5, -2.5, -INFINITY, NAN})});
  checkOp("sign", "", {x}, {f32({13}, {-1, -1, -1, -1, 0, 0, 1, 1, 1, 1, 1, 1, NAN})});
  checkOp("relu", "", {x}, {f32({13}, {0, 0, 0, 0, 0, 0, 0.25, 0.5, 1, 1.5, 2.5, INFINITY, NAN})});
}

TEST_CASE("unary operations in the other float types", "[interpreter]") {
  checkOp("exp", "", {f64({3}, {0.10000000000000001, 0.69999999999999996, 3})},
          {f64({3}, {1.1051709180756477, 2.0137527074704766, 20.085536923187668})});
  checkOp("exp", "", {f16({3}, {0.0999755859, 0.700195312, 3})}, {f16({3}, {1.10546875, 2.01367188, 20.078125})});
  checkOp("tanh", "", {f64({3}, {0.10000000000000001, 0.69999999999999996, 3})},
          {f64({3}, {0.099667994624955819, 0.60436777711716339, 0.99505475368673046})});
  checkOp("tanh", "", {f16({3}, {0.0999755859, 0.700195312, 3})}, {f16({3}, {0.0996704102, 0.604492188, 0.995117188})});
  checkOp("sqrt", "", {f64({3}, {0.10000000000000001, 0.69999999999999996, 3})},
          {f64({3}, {0.31622776601683794, 0.83666002653407556, 1.7320508075688772})});
  checkOp("sqrt", "", {f16({3}, {0.0999755859, 0.700195312, 3})}, {f16({3}, {0.316162109, 0.836914062, 1.73242188})});
}

TEST_CASE("tests for nan and infinity", "[interpreter]") {
  checkOp("is_nan", "", {f32({13}, {-INFINITY, -2.5, -1, -0.5, -0.0, 0, 0.25, 0.5, 1, 1.5, 2.5, INFINITY, NAN})},
          {i1({13}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})});
  checkOp("is_inf", "", {f32({13}, {-INFINITY, -2.5, -1, -0.5, -0.0, 0, 0.25, 0.5, 1, 1.5, 2.5, INFINITY, NAN})},
          {i1({13}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0})});
}

TEST_CASE("unary operations of integers wrap", "[interpreter]") {
  checkOp("abs", "", {i8({5}, {-128, -3, 0, 5, 127})}, {i8({5}, {-128, 3, 0, 5, 127})});
  checkOp("abs", "", {i64({4}, {INT64_MIN, -1, 0, 4611686018427387904})}, {i64({4}, {INT64_MIN, 1, 0, 4611686018427387904})});
  checkOp("neg", "", {i8({5}, {-128, -3, 0, 5, 127})}, {i8({5}, {-128, 3, 0, -5, -127})});
  checkOp("neg", "", {i64({4}, {INT64_MIN, -1, 0, 4611686018427387904})}, {i64({4}, {INT64_MIN, 1, 0, -4611686018427387904})});
  checkOp("sign", "", {i8({5}, {-128, -3, 0, 5, 127})}, {i8({5}, {-1, -1, 0, 1, 1})});
  checkOp("sign", "", {i64({4}, {INT64_MIN, -1, 0, 4611686018427387904})}, {i64({4}, {-1, -1, 0, 1})});
  checkOp("relu", "", {i8({5}, {-128, -3, 0, 5, 127})}, {i8({5}, {0, 0, 0, 5, 127})});
  checkOp("relu", "", {i64({4}, {INT64_MIN, -1, 0, 4611686018427387904})}, {i64({4}, {0, 0, 0, 4611686018427387904})});
  checkOp("neg", "", {u8({4}, {0, 1, 128, 255})}, {u8({4}, {0, 255, 128, 1})});
  checkOp("abs", "", {u8({4}, {0, 1, 128, 255})}, {u8({4}, {0, 1, 128, 255})});
  checkOp("sign", "", {u8({4}, {0, 1, 128, 255})}, {u8({4}, {0, 1, 1, 1})});
}

TEST_CASE("complement", "[interpreter]") {
  checkOp("not", "", {i8({5}, {-128, -3, 0, 5, 127})}, {i8({5}, {127, 2, -1, -6, -128})});
  checkOp("not", "", {u8({4}, {0, 1, 128, 255})}, {u8({4}, {255, 254, 127, 0})});
  checkOp("not", "", {i1({2}, {1, 0})}, {i1({2}, {0, 1})});
}

TEST_CASE("binary operations of floats", "[interpreter]") {
  const TensorValue a = f32({14}, {7, -7, 7, -7, 5.5, 0, -0.0, 1, -1, 0, INFINITY, 1, NAN, 1});
  const TensorValue c = f32({14}, {3, 3, -3, -3, -2, 5, 5, 0, 0, 0, 2, INFINITY, 1, NAN});
  checkOp("add", "", {a, c}, {f32({14}, {10, -4, 4, -10, 3.5, 5, 5, 1, -1, 0, INFINITY, INFINITY, NAN, NAN})});
  checkOp("sub", "", {a, c}, {f32({14}, {4, -10, 10, -4, 7.5, -5, -5, 1, -1, 0, INFINITY, -INFINITY, NAN, NAN})});
  checkOp("mul", "", {a, c}, {f32({14}, {21, -21, -21, 21, -11, 0, -0.0, 0, -0.0, 0, INFINITY, INFINITY, NAN, NAN})});
  checkOp("div", "", {a, c},
          {f32({14}, {2.33333325, -2.33333325, -2.33333325, 2.33333325, -2.75, 0, -0.0, INFINITY, -INFINITY, NAN, INFINITY, 0, NAN, NAN})});
  checkOp("floor_div", "", {a, c}, {f32({14}, {2, -3, -3, 2, -3, 0, -0.0, INFINITY, -INFINITY, NAN, NAN, 0, NAN, NAN})});
  checkOp("remainder", "", {a, c}, {f32({14}, {1, -1, 1, -1, 1.5, 0, -0.0, NAN, NAN, NAN, NAN, 1, NAN, NAN})});
  checkOp("modulo", "", {a, c}, {f32({14}, {1, 2, -2, -1, -0.5, 0, 0, NAN, NAN, NAN, NAN, 1, NAN, NAN})});
  checkOp("atan2", "", {a, c},
          {f32({14}, {1.16590452, -1.16590452, 1.97568822, -1.97568822, 1.91956735, 0, -0.0, 1.57079637, -1.57079637, 0, 1.57079637, 0, NAN,
                      NAN})});
  checkOp("maximum", "", {a, c}, {f32({14}, {7, 3, 7, -3, 5.5, 5, 5, 1, 0, 0, INFINITY, INFINITY, NAN, NAN})});
  checkOp("minimum", "", {a, c}, {f32({14}, {3, -7, -3, -7, -2, 0, -0.0, 0, -1, 0, 2, 1, NAN, NAN})});
  checkOp("pow", "", {f32({7}, {2, -2, 0, 4, -8, NAN, 2}), f32({7}, {10, 3, -1, 0.5, 0.333333343, 0, -INFINITY})},
          {f32({7}, {1024, -8, INFINITY, 2, NAN, 1, 0})});
}

TEST_CASE("integers divide by zero to zero and wrap", "[interpreter]") {
  const TensorValue a = i32({8}, {7, -7, 7, -7, -2147483648, 5, -5, 2147483647});
  const TensorValue b = i32({8}, {3, 3, -3, -3, -1, 0, 0, 2});
  checkOp("add", "", {a, b}, {i32({8}, {10, -4, 4, -10, 2147483647, 5, -5, -2147483647})});
  checkOp("sub", "", {a, b}, {i32({8}, {4, -10, 10, -4, -2147483647, 5, -5, 2147483645})});
  checkOp("mul", "", {a, b}, {i32({8}, {21, -21, -21, 21, -2147483648, 0, 0, -2})});
  checkOp("div", "", {a, b}, {i32({8}, {2, -2, -2, 2, -2147483648, 0, 0, 1073741823})});
  checkOp("floor_div", "", {a, b}, {i32({8}, {2, -3, -3, 2, -2147483648, 0, 0, 1073741823})});
  checkOp("remainder", "", {a, b}, {i32({8}, {1, -1, 1, -1, 0, 0, 0, 1})});
  checkOp("modulo", "", {a, b}, {i32({8}, {1, 2, -2, -1, 0, 0, 0, 1})});
  checkOp("maximum", "", {a, b}, {i32({8}, {7, 3, 7, -3, -1, 5, 0, 2147483647})});
  checkOp("minimum", "", {a, b}, {i32({8}, {3, -7, -3, -7, -2147483648, 0, -5, 2})});
  checkOp("div", "", {i64({1}, {INT64_MIN}), i64({1}, {-1})}, {i64({1}, {INT64_MIN})});
  checkOp("remainder", "", {i64({1}, {INT64_MIN}), i64({1}, {-1})}, {i64({1}, {0})});
  checkOp("sub", "", {u8({4}, {0, 1, 128, 255}), u8({4}, {255, 128, 1, 0})}, {u8({4}, {1, 129, 127, 255})});
  checkOp("div", "", {u8({4}, {0, 1, 128, 255}), u8({4}, {0, 2, 3, 7})}, {u8({4}, {0, 0, 42, 36})});
}

TEST_CASE("powers of integers", "[interpreter]") {
  checkOp("pow", "", {i32({9}, {2, 3, -2, 0, 1, -1, -1, 5, 10}), i32({9}, {10, 0, 3, 0, -5, -3, -2, -1, 10})},
          {i32({9}, {1024, 1, -8, 1, 1, -1, 1, 0, 1410065408})});
}

TEST_CASE("bits", "[interpreter]") {
  checkOp("and", "", {i8({6}, {1, -8, 127, -128, 3, 5}), i8({6}, {3, 1, 1, 7, 8, -1})}, {i8({6}, {1, 0, 1, 0, 0, 5})});
  checkOp("or", "", {i8({6}, {1, -8, 127, -128, 3, 5}), i8({6}, {3, 1, 1, 7, 8, -1})}, {i8({6}, {3, -7, 127, -121, 11, -1})});
  checkOp("xor", "", {i8({6}, {1, -8, 127, -128, 3, 5}), i8({6}, {3, 1, 1, 7, 8, -1})}, {i8({6}, {2, -7, 126, -121, 11, -6})});
  checkOp("and", "", {i1({4}, {1, 1, 0, 0}), i1({4}, {1, 0, 1, 0})}, {i1({4}, {1, 0, 0, 0})});
  checkOp("or", "", {i1({4}, {1, 1, 0, 0}), i1({4}, {1, 0, 1, 0})}, {i1({4}, {1, 1, 1, 0})});
  checkOp("xor", "", {i1({4}, {1, 1, 0, 0}), i1({4}, {1, 0, 1, 0})}, {i1({4}, {0, 1, 1, 0})});
  checkOp("shift_left", "", {i8({6}, {1, -8, 127, -128, 3, 5}), i8({6}, {3, 1, 1, 7, 8, -1})}, {i8({6}, {8, -16, -2, 0, 0, 0})});
  checkOp("shift_right", "", {i8({6}, {1, -8, 127, -128, 3, 5}), i8({6}, {3, 1, 1, 7, 8, -1})}, {i8({6}, {0, -4, 63, -1, 0, 0})});
  checkOp("shift_right", "", {u8({2}, {200, 200}), u8({2}, {3, 8})}, {u8({2}, {25, 0})});
}

TEST_CASE("comparisons", "[interpreter]") {
  const TensorValue p = f32({6}, {1, 2, 3, NAN, 0, INFINITY});
  const TensorValue q = f32({6}, {2, 2, 1, NAN, -0.0, INFINITY});
  const TensorValue big = i64({3}, {9007199254740992, 9007199254740993, -1});
  const TensorValue bigger = i64({3}, {9007199254740993, 9007199254740993, 1});
  checkOp("compare", "direction = #graph.compare_direction<eq>", {p, q}, {i1({6}, {0, 1, 0, 0, 1, 1})});
  checkOp("compare", "direction = #graph.compare_direction<eq>", {big, bigger}, {i1({3}, {0, 1, 0})});
  checkOp("compare", "direction = #graph.compare_direction<ne>", {p, q}, {i1({6}, {1, 0, 1, 1, 0, 0})});
  checkOp("compare", "direction = #graph.compare_direction<ne>", {big, bigger}, {i1({3}, {1, 0, 1})});
  checkOp("compare", "direction = #graph.compare_direction<lt>", {p, q}, {i1({6}, {1, 0, 0, 0, 0, 0})});
  checkOp("compare", "direction = #graph.compare_direction<lt>", {big, bigger}, {i1({3}, {1, 0, 1})});
  checkOp("compare", "direction = #graph.compare_direction<le>", {p, q}, {i1({6}, {1, 1, 0, 0, 1, 1})});
  checkOp("compare", "direction = #graph.compare_direction<le>", {big, bigger}, {i1({3}, {1, 1, 1})});
  checkOp("compare", "direction = #graph.compare_direction<gt>", {p, q}, {i1({6}, {0, 0, 1, 0, 0, 0})});
  checkOp("compare", "direction = #graph.compare_direction<gt>", {big, bigger}, {i1({3}, {0, 0, 0})});
  checkOp("compare", "direction = #graph.compare_direction<ge>", {p, q}, {i1({6}, {0, 1, 1, 0, 1, 1})});
  checkOp("compare", "direction = #graph.compare_direction<ge>", {big, bigger}, {i1({3}, {0, 1, 0})});
  checkOp("compare", "direction = #graph.compare_direction<lt>", {u8({1}, {200}), u8({1}, {100})}, {i1({1}, {0})});
}

TEST_CASE("choice", "[interpreter]") {
  checkOp("select", "", {i1({3}, {1, 0, 1}), f32({3}, {1, 2, NAN}), f32({3}, {4, 5, 6})}, {f32({3}, {1, 5, NAN})});
  checkOp("select", "", {i1({}, {1}), i64({}, {3}), i64({}, {4})}, {i64({}, {3})});
}

TEST_CASE("float to integer truncates and saturates", "[interpreter]") {
  const TensorValue v = f32({10}, {-1.5, 1.5, 2.5, NAN, INFINITY, -INFINITY, 300, -200, 0.300000012, -0.0});
  checkOp("convert", "", {v}, {i8({10}, {-1, 1, 2, 0, 127, -128, 127, -128, 0, 0})});
  checkOp("convert", "", {v}, {u8({10}, {0, 1, 2, 0, 255, 0, 255, 0, 0, 0})});
  checkOp("convert", "", {v}, {i32({10}, {-1, 1, 2, 0, 2147483647, -2147483648, 300, -200, 0, 0})});
  checkOp("convert", "", {v}, {i64({10}, {-1, 1, 2, 0, 9223372036854775807, INT64_MIN, 300, -200, 0, 0})});
  checkOp("convert", "", {v}, {i1({10}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 0})});
}

TEST_CASE("integer conversions wrap and round", "[interpreter]") {
  const TensorValue w = i64({5}, {300, -1, 1099511627776, 0, 16777217});
  checkOp("convert", "", {w}, {i32({5}, {300, -1, 0, 0, 16777217})});
  checkOp("convert", "", {w}, {i8({5}, {44, -1, 0, 0, 1})});
  checkOp("convert", "", {w}, {u8({5}, {44, 255, 0, 0, 1})});
  checkOp("convert", "", {w}, {f32({5}, {300, -1, 1.09951163e+12, 0, 16777216})});
  checkOp("convert", "", {w}, {i1({5}, {1, 1, 1, 0, 1})});
  checkOp("convert", "", {i1({2}, {1, 0})}, {f32({2}, {1, 0})});
  checkOp("convert", "", {u8({4}, {0, 1, 128, 255})}, {i32({4}, {0, 1, 128, 255})});
}

TEST_CASE("conversions to half round to even", "[interpreter]") {
  checkOp("convert", "", {f32({9}, {1.00048828, 1.00048828, 65519, 65520, 9.99999994e-09, 5.99999979e-08, NAN, -0.0, 0.100000001})},
          {f16({9}, {1, 1, 65504, INFINITY, 0, 5.96046448e-08, NAN, -0.0, 0.0999755859})});
  checkOp("convert", "", {f16({9}, {1, 1, 65504, INFINITY, 0, 5.96046448e-08, NAN, -0.0, 0.0999755859})},
          {f32({9}, {1, 1, 65504, INFINITY, 0, 5.96046448e-08, NAN, -0.0, 0.0999755859})});
}

TEST_CASE("empty and scalar operands", "[interpreter]") {
  checkOp("add", "", {f32({0, 3}, {}), f32({0, 3}, {})}, {f32({0, 3}, {})});
  checkOp("exp", "", {f32({}, {1})}, {f32({}, {2.71828175})});
}
