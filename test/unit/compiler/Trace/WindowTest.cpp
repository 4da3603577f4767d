// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Expected values: ONNX Runtime 1.32.
#include "test/unit/compiler/Trace/TraceCase.h"

using namespace stator;
using namespace stator::trace;

TEST_CASE("convolutions") {
  {
    Case it;
    Tensor x = it.noise({1, 2, 5}, 1);
    Tensor w = it.noise({3, 2, 3}, 2);
    Tensor b = it.noise({3}, 3);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.padLow = {1};
          o.padHigh = {0};
          o.strides = {2};
          return fn::conv(x, w, b, o);
        }(),
        {1, 3, 2}, {-0.142256, 0.86458, -0.419392, -0.968948, -0.472528, 0.449524});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 3, 4}, 1);
    Tensor w = it.noise({2, 1, 2, 2}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.dilations = {1, 2};
          return fn::conv(x, w, {}, o);
        }(),
        {1, 2, 2, 2}, {0.299064, 0.51096, 0.006648011, 0.218544, -1.03636, -1.05256, 0.46284, 0.44664});
  }
  {
    Case it;
    Tensor x = it.noise({1, 4, 3, 3}, 1);
    Tensor w = it.noise({4, 2, 2, 2}, 2);
    Tensor b = it.noise({4}, 3);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.groups = 2;
          return fn::conv(x, w, b, o);
        }(),
        {1, 4, 2, 2},
        {0.125744, -1.14256, -0.751168, -0.5554721, -0.895296, -1.019984, -1.15736, -1.226048, 1.340368, -0.6687039, -1.982848, -2.63992,
         0.7124161, 0.49496, 2.764048, 1.306592});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 5, 5}, 1);
    Tensor w = it.noise({1, 1, 3, 3}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.autoPad = fn::AutoPad::SameUpper;
          o.strides = {2, 3};
          return fn::conv(x, w, {}, o);
        }(),
        {1, 1, 3, 2}, {-1.750884, -1.418032, -1.262064, -0.94052, 0.488892, -0.643488});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 5, 4}, 1);
    Tensor w = it.noise({1, 1, 2, 2}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.autoPad = fn::AutoPad::SameLower;
          return fn::conv(x, w, {}, o);
        }(),
        {1, 1, 5, 4}, {-0.26106,   -0.355584, -0.197148,   -0.038712,   -0.004368007, 0.166872,  0.378768,  0.590664,   0.5244,  1.014456,
                       0.08635199, -0.517752, -0.08683199, -0.09395999, -0.374064,    -0.330168, -0.050064, 0.09362401, 0.30552, 0.517416});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 2, 3, 2}, 1);
    Tensor w = it.noise({1, 1, 2, 2, 2}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          return fn::conv(x, w, {}, o);
        }(),
        {1, 1, 1, 2, 1}, {-0.74248, 3.100912});
  }
}

TEST_CASE("transposed convolutions") {
  {
    Case it;
    Tensor x = it.noise({1, 1, 3}, 1);
    Tensor w = it.noise({1, 2, 3}, 2);
    Tensor b = it.noise({2}, 3);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.strides = {2};
          return fn::convTranspose(x, w, b, o);
        }(),
        {1, 2, 7},
        {-0.664472, -0.738668, -0.837728, -0.698816, -0.758024, -0.658964, -0.680672, -1.04906, -1.123256, -1.366172, -1.004672, -1.129004,
         -0.886088, -0.907796});
  }
  {
    Case it;
    Tensor x = it.noise({1, 2, 2, 3}, 1);
    Tensor w = it.noise({2, 1, 3, 3}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.strides = {2, 2};
          o.padLow = {1, 1};
          o.padHigh = {1, 1};
          o.outputPadding = {1, 1};
          return fn::convTranspose(x, w, {}, o);
        }(),
        {1, 1, 4, 6}, {-0.237596, -0.378316, -0.088232, -0.079588, 0.061132,  0.17518,   0.416508,    1.618768,
                       0.983236,  1.836224,  0.9579641, 1.019524,  0.210496,  0.461868,  -0.02013999, 0.05659598,
                       0.129224,  0.076736,  0.654104,  0.210548,  -0.715068, -1.499796, -0.73224,    -0.784728});
  }
  {
    Case it;
    Tensor x = it.noise({1, 4, 2}, 1);
    Tensor w = it.noise({4, 1, 2}, 2);
    Tensor b = it.noise({2}, 3);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.groups = 2;
          o.dilations = {2};
          return fn::convTranspose(x, w, b, o);
        }(),
        {1, 2, 4}, {-0.719144, -0.63944, -0.815048, -0.682856, -1.134136, -1.16848, -1.020088, -1.001944});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 3, 3}, 1);
    Tensor w = it.noise({1, 1, 3, 3}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.strides = {3, 2};
          o.outputShape = {10, 8};
          return fn::convTranspose(x, w, {}, o);
        }(),
        {1, 1, 10, 8},
        {-0.038472, -0.112668, -0.211728, -0.072816, -0.132024, -0.032964, -0.054672, 0,         -0.26106,  -0.335256, -0.578172, -0.216672,
         -0.341004, -0.098088, -0.119796, 0,         0.432352,  0.358156,  0.5633841, 0.231472,  0.310016,  0.104788,  0.08308,   0,
         0.002352,  0.006888,  0.027384,  0.04674,   0.107088,  0.086592,  0.143616,  0,         0.01596,   0.020496,  0.133332,  0.13908,
         0.3705,    0.257664,  0.314688,  0,         -0.026432, -0.021896, -0.19672,  -0.14858,  -0.450088, -0.275264, -0.21824,  0,
         0.043176,  0.126444,  0.266496,  0.166296,  0.3462,    0.206148,  0.341904,  0,         0.29298,   0.376248,  0.844836,  0.494832,
         1.082004,  0.613416,  0.749172,  0,         -0.485216, -0.401948, -0.956824, -0.528632, -1.210192, -0.655316, -0.51956,  0,
         0,         0,         0,         0,         0,         0,         0,         0});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 3, 3}, 1);
    Tensor w = it.noise({1, 1, 3, 3}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.strides = {2, 2};
          o.autoPad = fn::AutoPad::SameUpper;
          return fn::convTranspose(x, w, {}, o);
        }(),
        {1, 1, 6, 6}, {-0.038472,  -0.112668, -0.211728, -0.072816, -0.132024, -0.032964, -0.26106, -0.335256, -0.578172,
                       -0.216672,  -0.341004, -0.098088, 0.434704,  0.365044,  0.590768,  0.278212, 0.417104,  0.19138,
                       0.01596,    0.020496,  0.133332,  0.13908,   0.3705,    0.257664,  0.016744, 0.104548,  0.069776,
                       0.01771601, -0.103888, -0.069116, 0.29298,   0.376248,  0.844836,  0.494832, 1.082004,  0.613416});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 3}, 1);
    Tensor w = it.noise({1, 1, 2}, 2);
    it.expect(
        [&] {
          fn::ConvOptions o;
          o.strides = {1};
          o.padLow = {2};
          o.padHigh = {0};
          return fn::convTranspose(x, w, {}, o);
        }(),
        {1, 1, 2}, {-0.084072, -0.032964});
  }
}

TEST_CASE("pools") {
  {
    Case it;
    Tensor x = it.noise({1, 1, 4, 5}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {2, 3};
          o.strides = {2, 2};
          o.padLow = {0, 1};
          o.padHigh = {0, 1};
          return fn::maxPool(x, o);
        }(),
        {1, 1, 2, 3}, {0.458, 0.296, -0.028, 0.838, 0.676, 0.352});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 5}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {2};
          o.strides = {2};
          o.ceilMode = true;
          return fn::maxPool(x, o);
        }(),
        {1, 1, 3}, {0.458, 0.134, -0.19});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 6}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {2};
          o.dilations = {2};
          return fn::maxPool(x, o);
        }(),
        {1, 1, 4}, {0.458, 0.296, 0.134, -0.028});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 5, 5}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {3, 3};
          o.strides = {2, 2};
          o.padLow = {1, 1};
          o.padHigh = {1, 1};
          return fn::avgPool(x, o);
        }(),
        {1, 1, 3, 3}, {-0.028, -0.271, -0.514, 0.09033334, -0.1526667, -0.3956667, -0.458, -0.03433334, 0.05599998});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 5}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {3};
          o.strides = {2};
          o.padLow = {1};
          o.padHigh = {1};
          o.countIncludePad = true;
          return fn::avgPool(x, o);
        }(),
        {1, 1, 3}, {0.2513333, 0.134, -0.07266667});
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 6}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {3};
          o.strides = {2};
          o.padLow = {1};
          o.padHigh = {0};
          o.ceilMode = true;
          o.countIncludePad = true;
          return fn::avgPool(x, o);
        }(),
        {1, 1, 3}, {0.2513333, 0.134, -0.19});
  }
  {
    Case it;
    Tensor x = it.noise({1, 2, 4}, 1);
    it.expect(
        [&] {
          fn::PoolOptions o;
          o.kernel = {2};
          o.strides = {2};
          return fn::lpPool(x, 3, o);
        }(),
        {1, 2, 2}, {0.495976, 0.1344063, 0.3695617, 0.7632962});
  }
  {
    Case it;
    Tensor x = it.noise({1, 2, 2, 2}, 1);
    it.expect(fn::globalAvgPool(x), {1, 2, 1, 1}, {0.215, -0.433});
  }
  {
    Case it;
    Tensor x = it.noise({1, 2, 2, 2}, 1);
    it.expect(fn::globalMaxPool(x), {1, 2, 1, 1}, {0.458, -0.19});
  }
  {
    Case it;
    Tensor x = it.noise({1, 2, 2, 2}, 1);
    it.expect(fn::globalLpPool(x, 2), {1, 2, 1, 1}, {0.5622455, 0.9387097});
  }
}
