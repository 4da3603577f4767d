// DEPS: stator::compiler::Trace stator::dialects::Graph::Interpreter
// Expected values: ONNX Runtime 1.32 and NumPy.
#include "test/unit/compiler/Trace/TraceCase.h"

using namespace stator;
using namespace stator::trace;

TEST_CASE("matmul as NumPy") {
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({3, 2}, 2);
    it.expect(fn::matmul(a, b), {2, 2}, {-0.257328, -0.401184, 0.337536, 0.429876});
  }
  {
    Case it;
    Tensor a = it.noise({3}, 1);
    Tensor b = it.noise({3}, 2);
    it.expect(fn::matmul(a, b), {}, {-0.16596});
  }
  {
    Case it;
    Tensor a = it.noise({3}, 1);
    Tensor b = it.noise({3, 2}, 2);
    it.expect(fn::matmul(a, b), {2}, {-0.257328, -0.401184});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({3}, 2);
    it.expect(fn::matmul(a, b), {2}, {-0.16596, 0.192708});
  }
  {
    Case it;
    Tensor a = it.noise({2, 2, 3}, 1);
    Tensor b = it.noise({3, 2}, 2);
    it.expect(fn::matmul(a, b), {2, 2, 2}, {-0.257328, -0.401184, 0.337536, 0.429876, 0.9324, 1.260936, -0.752736, -0.836004});
  }
  {
    Case it;
    Tensor a = it.noise({2, 2, 3}, 1);
    Tensor b = it.noise({1, 3, 2}, 2);
    it.expect(fn::matmul(a, b), {2, 2, 2}, {-0.257328, -0.401184, 0.337536, 0.429876, 0.9324, 1.260936, -0.752736, -0.836004});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({2, 3, 2}, 2);
    it.expect(fn::matmul(a, b), {2, 2, 2}, {-0.257328, -0.401184, 0.337536, 0.429876, 0.6555361, 0.51168, -0.248424, -0.156084});
  }
  {
    Case it;
    Tensor a = it.noise({2, 1, 2, 3}, 1);
    Tensor b = it.noise({3, 3, 2}, 2);
    it.expect(fn::matmul(a, b), {2, 3, 2, 2}, {-0.257328, -0.401184, 0.337536,  0.429876,  0.6555361, 0.51168,  -0.248424, -0.156084,
                                               -0.2076,   -0.351456, 0.305616,  0.397956,  0.9324,    1.260936, -0.752736, -0.836004,
                                               -1.152384, -0.823848, -0.224344, -0.307612, 0.818832,  1.147368, -0.723952, -0.80722});
  }
  {
    Case it;
    Tensor a = it.noise({2, 2, 3}, 1);
    Tensor b = it.noise({3}, 2);
    it.expect(fn::matmul(a, b), {2, 2}, {-0.16596, 0.192708, 0.551376, -0.397956});
  }
  {
    Case it;
    Tensor a = it.input(ElementType::I64, {2, 2}, {1, 2, 3, 4});
    Tensor b = it.input(ElementType::I64, {2, 2}, {5, 6, 7, 8});
    it.expect(fn::matmul(a, b), {2, 2}, {19, 22, 43, 50});
  }
}

TEST_CASE("gemm and linear") {
  {
    Case it;
    Tensor a = it.noise({3, 2}, 1);
    Tensor b = it.noise({4, 3}, 2);
    Tensor c = it.noise({4}, 3);
    it.expect(fn::gemm(a, b, c, 0.5, 2.0, true, true), {2, 4},
              {-1.248958, -1.670644, -1.69033, 1.887984, -1.18918, -1.492768, -1.880356, 1.816056});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({3, 2}, 2);
    it.expect(fn::gemm(a, b, {}), {2, 2}, {-0.257328, -0.401184, 0.337536, 0.429876});
  }
  {
    Case it;
    Tensor x = it.noise({2, 2, 3}, 1);
    Tensor w = it.noise({4, 3}, 2);
    Tensor b = it.noise({4}, 3);
    it.expect(fn::linear(x, w, b), {2, 2, 4},
              {-0.79196, -1.385528, -0.203096, 1.203336, -0.433292, -0.318272, -1.343252, 0.771768, -0.074624, 0.748984, -2.483408, 0.3402,
               -1.023956, -1.43576, -0.819564, 0.768632});
  }
}

TEST_CASE("einsum") {
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({3, 2}, 2);
    it.expect(fn::einsum("ij,jk->ik", {a, b}), {2, 2}, {-0.257328, -0.401184, 0.337536, 0.429876});
  }
  {
    Case it;
    Tensor a = it.noise({2, 2, 3}, 1);
    Tensor b = it.noise({2, 3, 2}, 2);
    it.expect(fn::einsum("bij,bjk->bik", {a, b}), {2, 2, 2},
              {-0.257328, -0.401184, 0.337536, 0.429876, -1.152384, -0.823848, -0.224344, -0.307612});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    it.expect(fn::einsum("ij->ji", {a}), {3, 2}, {0.458, -0.028, 0.296, -0.19, 0.134, -0.352});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    it.expect(fn::einsum("ij->i", {a}), {2}, {0.888, -0.57});
  }
  {
    Case it;
    Tensor a = it.noise({3, 3}, 1);
    it.expect(fn::einsum("ii->i", {a}), {3}, {0.458, -0.19, -0.838});
  }
  {
    Case it;
    Tensor a = it.noise({3, 3}, 1);
    it.expect(fn::einsum("ii", {a}), {}, {-0.57});
  }
  {
    Case it;
    Tensor a = it.noise({2, 2, 3}, 1);
    Tensor b = it.noise({3, 2}, 2);
    it.expect(fn::einsum("...ij,...jk->...ik", {a, b}), {2, 2, 2},
              {-0.257328, -0.401184, 0.337536, 0.429876, 0.9324, 1.260936, -0.752736, -0.836004});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({2, 3}, 2);
    it.expect(fn::einsum("ij,ij->", {a, b}), {}, {0.303768});
  }
  {
    Case it;
    Tensor a = it.noise({2}, 1);
    Tensor b = it.noise({3}, 2);
    it.expect(fn::einsum("i,j->ij", {a, b}), {2, 3}, {-0.038472, -0.112668, -0.186864, -0.024864, -0.072816, -0.120768});
  }
  {
    Case it;
    Tensor a = it.noise({2}, 1);
    Tensor b = it.noise({2, 3}, 2);
    Tensor c = it.noise({3}, 3);
    it.expect(fn::einsum("i,ij,j", {a, b, c}), {}, {0.8181357});
  }
  {
    Case it;
    Tensor a = it.noise({1, 2, 2, 3}, 1);
    Tensor b = it.noise({1, 2, 2, 3}, 2);
    it.expect(fn::einsum("bnqd,bnkd->bnqk", {a, b}), {1, 2, 2, 2},
              {-0.16596, -0.597528, 0.192708, 0.469728, -1.533408, -0.5478, 0.130436, -0.119368});
  }
  {
    Case it;
    Tensor a = it.noise({2, 2, 3}, 1);
    Tensor b = it.noise({2, 2, 3}, 2);
    it.expect(fn::einsum("bhw,hkw->bhk", {a, b}), {2, 2, 2},
              {-0.16596, -0.597528, -0.393252, -0.116232, 0.551376, 1.536984, 0.130436, -0.119368});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    it.expect(fn::einsum("...i->...", {a}), {2}, {0.888, -0.57});
  }
  {
    Case it;
    Tensor a = it.noise({2, 3}, 1);
    Tensor b = it.noise({3}, 2);
    it.expect(fn::einsum("ab,b", {a, b}), {2}, {-0.16596, 0.192708});
  }
}

TEST_CASE("attention") {
  {
    Case it;
    Tensor q = it.noise({1, 2, 3}, 1);
    Tensor k = it.noise({1, 4, 3}, 2);
    Tensor v = it.noise({1, 4, 2}, 3);
    it.expect(fn::attention(q, k, v, {}), {1, 2, 2}, {0.08220682, 0.2454055, -0.238196, 0.2301674});
  }
  {
    Case it;
    Tensor q = it.noise({1, 2, 3}, 1);
    Tensor k = it.noise({1, 4, 3}, 2);
    Tensor v = it.noise({1, 4, 2}, 3);
    Tensor m = it.noise({2, 4}, 5);
    it.expect(fn::attention(q, k, v, m), {1, 2, 2}, {-0.01076346, 0.185538, -0.3278525, 0.1692449});
  }
}
