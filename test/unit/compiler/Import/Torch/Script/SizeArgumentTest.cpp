// DEPS: stator::compiler stator::compiler::Import::Torch::Script stator::dialects::Graph::Interpreter
// Arguments that are sizes which are known only when the model runs, where PyTorch's models like to have them.
#include "test/unit/compiler/Import/Torch/Script/ScriptCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::script;

namespace {

/// A method of a tensor x [1, 1, h, w] with open sizes.
struct Image {
  explicit Image(const std::string &result)
      : imported({script::method("x: Tensor", {"h, w = torch.size(x, 2), torch.size(x, 3)", "return " + result})}, {{"x=1x1x?hx?wxf32"}}) {}
  Numbers on(int64_t h, int64_t w, llvm::ArrayRef<double> x) {
    Numbers numbers;
    for (const graph::TensorValue &result : imported.run({graph::TensorValue::of(ElementType::F32, {1, 1, h, w}, x)}))
      for (double number : result.reals())
        numbers.push_back(number);
    return numbers;
  }
  Imported imported;
};

} // namespace

TEST_CASE("pools whose window is a whole axis") {
  Image mean("torch.avg_pool2d(x, torch.slice(torch.size(x), 2))");
  CHECK(mean.on(2, 3, {1, 2, 3, 4, 5, 9}) == Numbers{4});
  CHECK(mean.on(1, 2, {1, 2}) == Numbers{1.5});
  Image greatest("torch.max_pool2d(x, [h, 1], [h, 1])");
  CHECK(greatest.on(2, 3, {1, 8, 3, 4, 5, 9}) == Numbers{4, 8, 9});
  Image mixed("torch.avg_pool2d(x, [2, w], [1, w])");
  CHECK(mixed.on(3, 2, {1, 3, 5, 7, 9, 11}) == Numbers{4, 8});
  refuses({script::method("x: Tensor", {"return torch.avg_pool2d(x, [torch.size(x, 3), 1])"})}, StatusCode::Unsupported,
          "argument `kernel_size` is the size w", {{"x=1x1x?hx?wxf32"}});
}

TEST_CASE("triangles whose diagonal is a size") {
  Image lower("torch.tril(x, torch.sub(w, h))");
  CHECK(lower.on(2, 3, {1, 2, 3, 4, 5, 6}) == Numbers{1, 2, 0, 4, 5, 6});
  CHECK(lower.on(3, 2, {1, 2, 3, 4, 5, 6}) == Numbers{0, 0, 3, 0, 5, 6});
  Image upper("torch.triu(x, torch.add(torch.sub(w, h), 1))");
  CHECK(upper.on(2, 3, {1, 2, 3, 4, 5, 6}) == Numbers{0, 0, 3, 0, 0, 0});
}

TEST_CASE("as many classes as a size") {
  Image codes("torch.one_hot(torch.arange(w), w)");
  CHECK(codes.on(1, 2, {7, 7}) == Numbers{1, 0, 0, 1});
}

TEST_CASE("one element of an axis that is open is one element") {
  Image last("torch.sub(x, torch.slice(x, 3, -1))");
  CHECK(last.on(1, 3, {1, 2, 5}) == Numbers{-4, -3, 0});
  Image first("torch.sub(x, torch.slice(x, 3, 0, 1))");
  CHECK(first.on(1, 3, {1, 2, 5}) == Numbers{0, 1, 4});
  Image squeezed("torch.add(torch.dim(torch.squeeze(torch.slice(x, 3, -1), 3)), x)");
  CHECK(squeezed.on(1, 1, {1}) == Numbers{4});
  // Where 0 is allowed, what the model does with the element says that there is one.
  Imported empty({script::method("x: Tensor", {"return torch.sub(x, torch.slice(x, 0, 0, 1))"})}, {{"x=?n[0..8]xf32"}});
  CHECK(empty.run({floats({1, 2, 5})})[0].reals() == Numbers{0, 1, 4});
}

TEST_CASE("results that are written into out=") {
  CHECK(evaluate({script::method("x: Tensor", {"o = torch.zeros([2, 2])", "_0 = torch.add(x, 1, out=torch.select(o, 0, 1))",
                                               "_1 = torch.exp(torch.zeros([2]), out=torch.select(o, 0, 0))", "return o"})},
                 {3, 4}) == Numbers{1, 1, 4, 5});
  CHECK(evaluate({script::method("x: Tensor", {"e = torch.empty([0])", "_0 = torch.mul(x, 2, out=e)", "return e"})}, {3, 4}) == Numbers{6, 8});
  refuses({script::method("x: Tensor", {"e = torch.zeros([4])", "v = torch.view(e, [2, 2])", "_0 = torch.mul(x, 2, out=e)", "return v"})},
          StatusCode::Unsupported, "`out` has other sizes than the result, and views of it exist");
}
