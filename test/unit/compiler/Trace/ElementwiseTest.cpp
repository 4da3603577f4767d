// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Expected values: ONNX Runtime 1.32 and NumPy.
#include "test/unit/compiler/Trace/TraceCase.h"

using namespace stator;
using namespace stator::trace;

TEST_CASE("unary functions") {
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::abs(x), {5}, {0.458, 0.296, 0.134, 0.028, 0.19});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::neg(x), {5}, {-0.458, -0.296, -0.134, 0.028, 0.19});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::exp(x), {5}, {1.580909, 1.34447, 1.143393, 0.9723884, 0.8269591});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::sin(x), {5}, {0.4421551, 0.2916965, 0.1335993, -0.02799634, -0.1888589});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::tanh(x), {5}, {0.4284528, 0.2876478, 0.1332037, -0.02799268, -0.1877462});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::erf(x), {5}, {0.4828273, 0.3244968, 0.1503027, -0.03158636, -0.2118399});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::sigmoid(x), {5}, {0.6125396, 0.5734644, 0.5334499, 0.4930004, 0.4526424});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::floor(x), {5}, {0, 0, 0, -1, -1});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::ceil(x), {5}, {1, 1, 1, -0, -0});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::sign(x), {5}, {1, 1, 1, -1, -1});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::reciprocal(x), {5}, {2.183406, 3.378378, 7.462687, -35.71428, -5.263158});
  }
  {
    Case it;
    Tensor x = it.noise({5}, 1);
    it.expect(fn::atan(x), {5}, {0.4294868, 0.2877831, 0.1332065, -0.02799269, -0.1877619});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {7}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6});
    it.expect(fn::roundEven(x), {7}, {-2, -2, -0, 0, 2, 2, 3});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {4}, {-2.7, -0.2, 0.9, 3});
    it.expect(fn::trunc(x), {4}, {-2, -0, 0, 3});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::I64, {3}, {0, 1, 1});
    it.expect(fn::sqrt(x), {3}, {0, 1, 1});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {4}, {-INFINITY, 1, INFINITY, NAN});
    it.expect(fn::isInf(x, true, false), {4}, {1, 0, 0, 0});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {4}, {-INFINITY, 1, INFINITY, NAN});
    it.expect(fn::isInf(x, false, false), {4}, {0, 0, 0, 0});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {4}, {-INFINITY, 1, INFINITY, NAN});
    it.expect(fn::isNan(x), {4}, {0, 0, 0, 1});
  }
}

TEST_CASE("binary functions broadcast and promote") {
  {
    Case it;
    Tensor a = it.noise({2, 1, 3}, 1);
    Tensor b = it.noise({2, 1}, 2);
    it.expect(fn::add(a, b), {2, 2, 3}, {0.374, 0.212, 0.05, 0.212, 0.05, -0.112, -0.112, -0.274, -0.436, -0.274, -0.436, -0.598});
  }
  {
    Case it;
    Tensor a = it.noise({2, 1, 3}, 1);
    Tensor b = it.noise({2, 1}, 2);
    it.expect(fn::sub(a, b), {2, 2, 3}, {0.542, 0.38, 0.218, 0.704, 0.542, 0.38, 0.056, -0.106, -0.268, 0.218, 0.05600001, -0.106});
  }
  {
    Case it;
    Tensor a = it.noise({2, 1, 3}, 1);
    Tensor b = it.noise({2, 1}, 2);
    it.expect(fn::mul(a, b), {2, 2, 3},
              {-0.038472, -0.024864, -0.011256, -0.112668, -0.072816, -0.032964, 0.002352, 0.01596, 0.029568, 0.006888, 0.04674, 0.086592});
  }
  {
    Case it;
    Tensor a = it.noise({2, 1, 3}, 1);
    Tensor b = it.noise({2, 1}, 2);
    it.expect(
        fn::div(a, b), {2, 2, 3},
        {-5.452381, -3.52381, -1.595238, -1.861789, -1.203252, -0.5447155, 0.3333333, 2.261905, 4.190476, 0.1138211, 0.7723577, 1.430894});
  }
  {
    Case it;
    Tensor a = it.noise({2, 1, 3}, 1);
    Tensor b = it.noise({2, 1}, 2);
    it.expect(fn::maximum(a, b), {2, 2, 3}, {0.458, 0.296, 0.134, 0.458, 0.296, 0.134, -0.028, -0.084, -0.084, -0.028, -0.19, -0.246});
  }
  {
    Case it;
    Tensor a = it.noise({2, 1, 3}, 1);
    Tensor b = it.noise({2, 1}, 2);
    it.expect(fn::le(a, b), {2, 2, 3}, {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {4}, {7, -7, 7, -7});
    Tensor b = it.input(ElementType::I64, {4}, {3, 3, -3, -3});
    it.expect(fn::modulo(a, b), {4}, {1, 2, -2, -1});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {4}, {7, -7, 7, -7});
    Tensor b = it.input(ElementType::I64, {4}, {3, 3, -3, -3});
    it.expect(fn::remainder(a, b), {4}, {1, -1, 1, -1});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {4}, {7, -7, 7, -7});
    Tensor b = it.input(ElementType::I64, {4}, {2, 2, -2, -2});
    it.expect(fn::div(a, b), {4}, {3, -3, -3, 3});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {4}, {7, -7, 7, -7});
    Tensor b = it.input(ElementType::I64, {4}, {2, 2, -2, -2});
    it.expect(fn::floorDiv(a, b), {4}, {3, -4, -4, 3});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {2}, {1, 3});
    Tensor b = it.input(ElementType::I64, {2}, {2, 4});
    it.expect(fn::trueDiv(a, b), {2}, {0.5, 0.75});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {2}, {1, 3});
    Tensor b = it.input(ElementType::F32, {2}, {0.5, 0.25});
    it.expect(fn::add(a, b), {2}, {1.5, 3.25});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I32, {3}, {1, 2, 3});
    Tensor b = it.input(ElementType::F32, {3}, {2, 3, 0.5});
    it.expect(fn::pow(a, b), {3}, {1, 8, 1});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::F32, {3}, {1, 2, 3});
    Tensor b = it.input(ElementType::I64, {3}, {2, 3, 4});
    it.expect(fn::pow(a, b), {3}, {1, 8, 81});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I1, {4}, {1, 0, 1, 0});
    Tensor b = it.input(ElementType::I1, {4}, {1, 1, 0, 0});
    it.expect(fn::logicalXor(a, b), {4}, {0, 1, 1, 0});
  }
  {
    Case it;
    Tensor c = it.input(ElementType::I1, {2, 1}, {1, 0});
    Tensor a = it.input(ElementType::I64, {3}, {1, 2, 3});
    Tensor b = it.input(ElementType::F32, {}, {9.5});
    it.expect(fn::where(c, a, b), {2, 3}, {1, 2, 3, 9.5, 9.5, 9.5});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {4}, {-2, 0.5, 2, NAN});
    it.expect(fn::clip(x, -1, 1), {4}, {-1, 0.5, 1, NAN});
  }
  {
    Case it;
    Tensor x = it.noise({3}, 1);
    Tensor y = it.noise({3}, 2);
    Tensor z = it.noise({3}, 3);
    it.expect(fn::meanOf({x, y, z}), {3}, {-0.08399999, -0.246, -0.408});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {4}, {300.7, -5, NAN, 3.9});
    it.expect(fn::cast(x, ElementType::U8), {4}, {255, 0, 0, 3});
  }
}

TEST_CASE("activations") {
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::relu(x), {6}, {2.496, 2.01, 1.524, 1.038, 0.552, 0.066});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::leakyRelu(x, 0.2), {6}, {2.496, 2.01, 1.524, 1.038, 0.552, 0.066});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::elu(x, 0.7), {6}, {2.496, 2.01, 1.524, 1.038, 0.552, 0.066});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::selu(x), {6}, {2.62255, 2.111909, 1.601268, 1.090628, 0.5799869, 0.06934626});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::celu(x, 2.0), {6}, {2.496, 2.01, 1.524, 1.038, 0.552, 0.066});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::softplus(x), {6}, {2.575194, 2.135741, 1.721078, 1.341183, 1.006761, 0.7266916});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::softsign(x), {6}, {0.7139589, 0.6677741, 0.6038035, 0.5093228, 0.3556701, 0.0619137});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::mish(x), {6}, {2.467228, 1.954649, 1.429501, 0.9050905, 0.4219593, 0.04098845});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::hardSigmoid(x), {6}, {0.9992, 0.902, 0.8048, 0.7076, 0.6104, 0.5132});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::hardSwish(x), {6}, {2.286336, 1.67835, 1.149096, 0.6985739, 0.326784, 0.033726});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::thresholdedRelu(x, 0.5), {6}, {2.496, 2.01, 1.524, 1.038, 0.552, 0});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::shrink(x, 1.0, 0.25), {6}, {2.246, 1.76, 1.274, 0.788, 0, 0});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::gelu(x), {6}, {2.480325, 1.965347, 1.426839, 0.8826789, 0.3916582, 0.03473653});
  }
  {
    Case it;
    Tensor x = it.noise({6}, 4, 3);
    it.expect(fn::gelu(x, true), {6}, {2.480763, 1.965453, 1.426627, 0.8825129, 0.3916337, 0.03473653});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 4);
    Tensor s = it.noise({3}, 5);
    it.expect(fn::prelu(x, s), {2, 3}, {0.832, 0.67, 0.508, 0.346, 0.184, 0.022});
  }
  {
    Case it;
    Tensor x = it.noise({4}, 4);
    it.expect(fn::silu(x), {4}, {0.579719, 0.4432071, 0.3171635, 0.2026339});
  }
}

TEST_CASE("softmax and its kin") {
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 4, 3);
    it.expect(fn::softmax(x, 1), {2, 3, 2},
              {0.6572651, 0.6572651, 0.2486603, 0.2486603, 0.09407455, 0.09407455, 0.6572651, 0.6572651, 0.2486603, 0.2486603, 0.09407452,
               0.09407455});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 4, 3);
    it.expect(fn::softmax(x, 1, true), {2, 3, 2},
              {0.4069548, 0.2503105, 0.1539614, 0.09469886, 0.05824755, 0.03582701, 0.4069548, 0.2503105, 0.1539614, 0.09469886, 0.05824754,
               0.03582701});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 4, 3);
    it.expect(fn::logSoftmax(x, 1), {2, 3, 2},
              {-0.4196678, -0.4196678, -1.391668, -1.391668, -2.363668, -2.363668, -0.4196678, -0.4196678, -1.391668, -1.391668, -2.363668,
               -2.363668});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 4, 3);
    it.expect(fn::logSoftmax(x, 1, true), {2, 3, 2},
              {-0.8990533, -1.385053, -1.871053, -2.357053, -2.843053, -3.329053, -0.8990533, -1.385053, -1.871053, -2.357053, -2.843053,
               -3.329053});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 4, 3);
    it.expect(fn::hardmax(x, 1), {2, 3, 2}, {1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 4, 3);
    it.expect(fn::hardmax(x, 1, true), {2, 3, 2}, {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
  }
}
