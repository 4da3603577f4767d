// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Expected values: ONNX Runtime 1.32 and NumPy.
#include "test/unit/compiler/Trace/TraceCase.h"

using namespace stator;
using namespace stator::trace;

TEST_CASE("normalisations") {
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    Tensor s = it.noise({3}, 2);
    Tensor b = it.noise({3}, 3);
    Tensor m = it.noise({3}, 4);
    Tensor v = it.input(ElementType::F32, {3}, {0.5, 1, 2});
    it.expect(fn::batchNorm(x, s, b, m, v), {2, 3, 2},
              {-0.5815715, -0.562327, -0.6561446, -0.6162928, -0.7486278, -0.701891, -0.4661049, -0.4468605, -0.4170339, -0.377182,
               -1.045205, -0.9984678});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 4}, 1);
    Tensor s = it.noise({3}, 2);
    Tensor b = it.noise({3}, 3);
    it.expect(fn::instanceNorm(x, s, b), {2, 3, 4},
              {-0.7386806, -0.6635602, -0.5884398, -0.5133193, -1.117993,  -0.8979977, -0.6780022, -0.4580066,
               -0.5831491, -0.504642,  -1.395358,  -1.316851,  -0.7386807, -0.6635602, -0.5884398, -0.5133194,
               -1.117993,  -0.8979977, -0.6780021, -0.4580066, -0.5831491, -0.504642,  -1.395358,  -1.316851});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    Tensor s = it.noise({3}, 2);
    Tensor b = it.noise({3}, 3);
    it.expect(fn::layerNorm(x, s, b), {2, 3}, {-0.7288492, -0.788, -0.4504468, -0.7288492, -0.788, -0.4504468});
  }
  {
    Case it;
    Tensor x = it.noise({2, 2, 3}, 1);
    Tensor s = it.noise({2, 3}, 2);
    it.expect(fn::layerNorm(x, s, {}, 1, 1e-3), {2, 2, 3},
              {-0.122168, -0.2146666, -0.1186775, 0.1657994, 0.638764, 1.300216, 0.03006636, 0.1425648, 0.3268615, 0.5829561, -1.09175,
               -1.135258});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    Tensor s = it.noise({3}, 2);
    it.expect(fn::rmsNorm(x, s, -1, 1e-6), {2, 3}, {-0.1186633, -0.2245943, -0.1686307, 0.01015938, 0.2018917, 0.620344});
  }
  {
    Case it;
    Tensor x = it.noise({1, 4, 2}, 1);
    Tensor s = it.noise({2}, 2);
    Tensor b = it.noise({2}, 3);
    it.expect(fn::groupNorm(x, 2, s, b, 1e-5, true), {1, 4, 2},
              {-0.7386807, -0.6635602, -0.5884398, -0.5133193, -1.117993, -0.8979978, -0.6780022, -0.4580066});
  }
  {
    Case it;
    Tensor x = it.noise({1, 4, 2}, 1);
    Tensor s = it.noise({4}, 2);
    Tensor b = it.noise({4}, 3);
    it.expect(fn::groupNorm(x, 2, s, b), {1, 4, 2},
              {-0.7386806, -0.6635602, -0.6780022, -0.4580067, -1.497306, -1.132435, 1.142873, 1.652619});
  }
  {
    Case it;
    Tensor x = it.noise({1, 4, 2, 1}, 1);
    it.expect(fn::lrn(x, 3, 0.5, 0.75, 1.0), {1, 4, 2, 1},
              {0.4453815, 0.2927708, 0.1297445, -0.02727922, -0.1827761, -0.3284009, -0.4955139, -0.6307353});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    it.expect(fn::lpNorm(x, 1, 2), {2, 3}, {0.8156028, 0.5271145, 0.2386261, -0.06982826, -0.4738346, -0.877841});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    it.expect(fn::lpNorm(x, 0, 1), {2, 3}, {0.9423869, 0.6090535, 0.2757202, -0.05761317, -0.3909465, -0.7242798});
  }
  {
    Case it;
    Tensor x = it.noise({2, 2, 2, 1}, 1);
    it.expect(fn::meanVarianceNorm(x), {2, 2, 2, 1},
              {1.212678, 0.7276069, 1.212678, 0.727607, -0.7276069, -1.212678, -0.7276068, -1.212678});
  }
}

TEST_CASE("reductions") {
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::Sum, Ints{1, -1}, false), {2}, {0.318, -1.514});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::Mean, Ints{1, -1}, false), {2}, {0.053, -0.2523333});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::Prod, Ints{1, -1}, false), {2}, {-3.401859e-05, 0.164947});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::Max, Ints{1, -1}, false), {2}, {0.458, 0.838});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::Min, Ints{1, -1}, false), {2}, {-0.352, -1});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::L1, Ints{1, -1}, false), {2}, {1.458, 4.542});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::L2, Ints{1, -1}, false), {2}, {0.6900174, 1.892785});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::LogSumExp, Ints{1, -1}, false), {2}, {1.882727, 1.822117});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3, 2}, 1);
    it.expect(fn::reduce(x, fn::Reduction::SumSquare, Ints{1, -1}, false), {2}, {0.476124, 3.582636});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {2, 2}, {1, 2, 3, 4});
    it.expect(fn::reduce(x, fn::Reduction::LogSum, Ints{0}), {1, 2}, {1.386294, 1.791759});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {1, 2}, {-INFINITY, -INFINITY});
    it.expect(fn::reduce(x, fn::Reduction::LogSumExp, Ints{1}), {1, 1}, {-INFINITY});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::I64, {2, 2}, {1, 2, 4, 4});
    it.expect(fn::reduce(x, fn::Reduction::Mean, Ints{0}, false), {2}, {2, 3});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::I64, {1, 2}, {3, 4});
    it.expect(fn::reduce(x, fn::Reduction::L2, Ints{1}, false), {1}, {5});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::I1, {2, 2}, {1, 0, 1, 1});
    it.expect(fn::reduce(x, fn::Reduction::All, Ints{1}, false), {2}, {0, 1});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {2, 3}, {1, 3, 3, 2, 0, 2});
    it.expect(fn::argMax(x, 1), {2, 1}, {1, 0});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {2, 3}, {1, 3, 3, 2, 0, 2});
    it.expect(fn::argMax(x, 1, false, true), {2}, {2, 2});
  }
  {
    Case it;
    Tensor x = it.input(ElementType::F32, {2, 3}, {1, 3, 3, 2, 0, 2});
    it.expect(fn::argMin(x, 0), {1, 3}, {0, 1, 1});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    it.expect(fn::cumSum(x, 1, false, false), {2, 3}, {0.458, 0.754, 0.888, -0.028, -0.218, -0.57});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    it.expect(fn::cumSum(x, 1, true, false), {2, 3}, {0, 0.458, 0.754, 0, -0.028, -0.218});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    it.expect(fn::cumSum(x, 1, false, true), {2, 3}, {0.888, 0.43, 0.134, -0.57, -0.542, -0.352});
  }
  {
    Case it;
    Tensor x = it.noise({2, 3}, 1);
    it.expect(fn::cumSum(x, 1, true, true), {2, 3}, {0.43, 0.134, 0, -0.542, -0.352, 0});
  }
  {
    Case it;
    Tensor x = it.noise({2, 4}, 1);
    it.expect(fn::topK(x, 2, 1).first, {2, 2}, {0.458, 0.296, -0.19, -0.352});
  }
  {
    Case it;
    Tensor x = it.noise({2, 4}, 1);
    it.expect(fn::topK(x, 2, 1, false).second, {2, 2}, {3, 2, 3, 2});
  }
}
