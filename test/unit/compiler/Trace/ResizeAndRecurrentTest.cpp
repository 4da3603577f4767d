// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Expected values: ONNX Runtime 1.32.
#include "test/unit/compiler/Trace/TraceCase.h"

using namespace stator;
using namespace stator::trace;

TEST_CASE("resize") {
  {
    Case it;
    Tensor x = it.noise({1, 1, 2, 2}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          o.nearest = fn::ResizeNearest::Floor;
          o.coordinate = fn::ResizeCoordinate::Asymmetric;
          return fn::resize(x, it.b.vector(std::vector<float>{1, 1, 2, 2}), {}, o);
        }(),
        {1, 1, 4, 4}, {0.458, 0.458, 0.296, 0.296, 0.458, 0.458, 0.296, 0.296, 0.134, 0.134, -0.028, -0.028, 0.134, 0.134, -0.028, -0.028},
        1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 2, 4}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          return fn::resize(x, {}, it.b.vector(Ints{1, 1, 3, 2}), o);
        }(),
        {1, 1, 3, 2}, {0.458, 0.134, 0.458, 0.134, -0.19, -0.514}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 2, 2}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          o.mode = fn::ResizeMode::Linear;
          return fn::resize(x, it.b.vector(std::vector<float>{1, 1, 2, 1.5}), {}, o);
        }(),
        {1, 1, 4, 3}, {0.458, 0.377, 0.296, 0.377, 0.296, 0.215, 0.215, 0.134, 0.053, 0.134, 0.053, -0.028}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 2, 2}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          o.mode = fn::ResizeMode::Linear;
          o.coordinate = fn::ResizeCoordinate::AlignCorners;
          return fn::resize(x, {}, it.b.vector(Ints{1, 1, 3, 3}), o);
        }(),
        {1, 1, 3, 3}, {0.458, 0.377, 0.296, 0.296, 0.215, 0.134, 0.134, 0.053, -0.028}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 4, 4}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          o.mode = fn::ResizeMode::Cubic;
          return fn::resize(x, it.b.vector(std::vector<float>{1, 1, 0.8, 0.8}), {}, o);
        }(),
        {1, 1, 3, 3}, {0.3818773, 0.1620475, -0.06322782, -0.6078287, -0.5041026, -0.1133854, -0.03991859, 0.06380755, 0.4545248}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 4, 4}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          o.mode = fn::ResizeMode::Linear;
          o.coordinate = fn::ResizeCoordinate::PytorchHalfPixel;
          o.axes = {2, 3};
          return fn::resize(x, {}, it.b.vector(Ints{3, 1}), o);
        }(),
        {1, 1, 3, 1}, {0.35, -0.514, 0.2886665}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({1, 1, 3, 4}, 1);
    it.expect(
        [&] {
          fn::ResizeOptions o;
          o.aspect = fn::ResizeAspect::NotLarger;
          o.axes = {2, 3};
          return fn::resize(x, {}, it.b.vector(Ints{7, 8}), o);
        }(),
        {1, 1, 6, 8},
        {0.458,  0.458,  0.296,  0.296,  0.134,  0.134,  -0.028, -0.028, 0.458,  0.458,  0.296,  0.296,  0.134,  0.134,  -0.028, -0.028,
         -0.19,  -0.19,  -0.352, -0.352, -0.514, -0.514, -0.676, -0.676, -0.19,  -0.19,  -0.352, -0.352, -0.514, -0.514, -0.676, -0.676,
         -0.838, -0.838, -1,     -1,     0.838,  0.838,  0.676,  0.676,  -0.838, -0.838, -1,     -1,     0.838,  0.838,  0.676,  0.676},
        1e-05);
  }
}

TEST_CASE("recurrent layers") {
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({1, 8, 2}, 2);
    Tensor r = it.noise({1, 8, 2}, 3);
    Tensor b = it.noise({1, 16}, 4);
    Tensor h = it.noise({1, 2, 2}, 5);
    Tensor cell = it.noise({1, 2, 2}, 6);
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          in.bias = b;
          in.initialH = h;
          in.initialC = cell;
          return fn::lstm(in, o).y;
        }(),
        {3, 1, 2, 2},
        {-0.05595527, -0.2167721, -0.03945332, -0.1849492, 0.1395851, -0.04283011, 0.218606, -0.01216215, 0.3609146, 0.03374357, 0.07652298,
         -0.1628115},
        1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({2, 8, 2}, 2);
    Tensor r = it.noise({2, 8, 2}, 3);
    Tensor n = it.input(ElementType::I32, {2}, {2, 3});
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          in.sequenceLengths = n;
          o.direction = fn::Direction::Bidirectional;
          return fn::lstm(in, o).y;
        }(),
        {3, 2, 2, 2}, {-0.01153451, -0.08211829, 0.000376862, -0.008451532, -0.0315483, -0.0472193,  0.0756212,  -0.06539785,
                       0.03642084,  0.01472736,  0.05947797,  0.07744563,   0.0940658,  -0.02969552, 0.09943312, -0.06312367,
                       0,           0,           -0.01026348, -0.007843145, 0,          0,           -0.1342118, -0.04814555},
        1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({1, 8, 2}, 2);
    Tensor r = it.noise({1, 8, 2}, 3);
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          o.direction = fn::Direction::Reverse;
          return fn::lstm(in, o).c;
        }(),
        {1, 2, 2}, {-0.05895455, 0.09552336, 0.0272157, 0.04202965}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({1, 6, 2}, 2);
    Tensor r = it.noise({1, 6, 2}, 3);
    Tensor b = it.noise({1, 12}, 4);
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          in.bias = b;
          return fn::gru(in, o).y;
        }(),
        {3, 1, 2, 2},
        {-0.06544213, -0.3164221, -0.1633449, -0.2980879, -0.2270764, -0.489347, -0.3163468, -0.4502768, -0.3498235, -0.5813042, -0.1669647,
         -0.4328781},
        1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({1, 6, 2}, 2);
    Tensor r = it.noise({1, 6, 2}, 3);
    Tensor b = it.noise({1, 12}, 4);
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          in.bias = b;
          o.linearBeforeReset = true;
          return fn::gru(in, o).h;
        }(),
        {1, 2, 2}, {-0.2555848, -0.2942535, 0.06317656, -0.2118195}, 1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({1, 2, 2}, 2);
    Tensor r = it.noise({1, 2, 2}, 3);
    Tensor b = it.noise({1, 4}, 4);
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          in.bias = b;
          return fn::rnn(in, o).y;
        }(),
        {3, 1, 2, 2},
        {0.8422053, 0.5786401, 0.8706191, 0.7518896, 0.4295651, 0.764891, 0.3901489, 0.8960133, 0.6554247, 0.975697, 0.1518371, 0.6130507},
        1e-05);
  }
  {
    Case it;
    Tensor x = it.noise({3, 2, 2}, 1);
    Tensor w = it.noise({1, 2, 2}, 2);
    Tensor r = it.noise({1, 2, 2}, 3);
    it.expect(
        [&] {
          fn::RecurrentInputs in{x, w, r};
          fn::RecurrentOptions o;
          o.relu = true;
          return fn::rnn(in, o).h;
        }(),
        {1, 2, 2}, {0.03300437, 1.061486, 0, 0}, 1e-05);
  }
}
