// DEPS: stator::compiler::Trace
#include "test/unit/Catch.h"

#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/ParameterStore.h"
#include "stator/Trace.h"

#include <cstring>

using namespace stator;
using namespace stator::trace;

namespace {
bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
} // namespace

TEST_CASE("a small model") {
  Builder b("predict");
  Dim n = b.symbol("N", 1, 64);
  Tensor x = b.input("x", ElementType::F32, {n, 784});
  std::vector<float> weights(784 * 10, 0.5f);
  Tensor w = b.parameter("fc.weight", ElementType::F32, {10, 784}, weights.data(), weights.size() * sizeof(float));
  Tensor bias = b.vector(std::vector<float>(10, 1.0f));
  b.output("y", fn::softmax(fn::linear(x, w, bias), -1));
  REQUIRE(b.finish().ok());
  std::string text = b.str();
  CHECK(has(text, "func.func @predict(%arg0: tensor<?x784xf32, #graph.dims<[\"N\", \"784\"]>> {graph.name = \"x\"})"));
  CHECK(has(text, "graph.parameter @fc.weight"));
  CHECK(has(text, "graph.dot_general"));
  CHECK(has(text, "graph.softmax"));
  CHECK(has(text, "{graph.name = \"y\"}"));
}

TEST_CASE("mapped weights are named, not copied") {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  std::vector<std::byte> bytes(16 + 2048 * 4);
  int source = graph::parametersOf(&context).addOwned(bytes);
  Builder b(std::make_unique<BuilderImpl>(*module, "forward"));
  BuilderImpl &impl = BuilderImpl::of(b);
  Tensor w = impl.mappedParameter("w", ElementType::F32, {2048}, source, 16);
  Tensor again = impl.mappedParameter("w", ElementType::F32, {2048}, source, 16);
  Tensor small = impl.mappedParameter("s", ElementType::I64, {2}, source, 0);
  REQUIRE(b.ok());
  CHECK(small.knownIntegers().has_value());
  b.output("y", w + again);
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "graph.parameter @w : tensor<2048xf32> {offset = 16 : i64, source = 0 : i32}"));
  CHECK(has(b.str(), "graph.parameter @w.1"));
  CHECK_FALSE(has(b.str(), "@s "));
}

TEST_CASE("a weight that its file does not hold is an error") {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  int source = graph::parametersOf(&context).addOwned(std::vector<std::byte>(64));
  Builder b(std::make_unique<BuilderImpl>(*module, "forward"));
  BuilderImpl &impl = BuilderImpl::of(b);
  SECTION("too short") { impl.mappedParameter("w", ElementType::F32, {17}, source, 0); }
  SECTION("overflow") { impl.mappedParameter("w", ElementType::F32, {int64_t(1) << 62, 4}, source, 0); }
  SECTION("offset") { impl.mappedParameter("w", ElementType::F32, {1}, source, 65); }
  SECTION("unknown source") { impl.mappedParameter("w", ElementType::F32, {1}, source + 1, 0); }
  SECTION("negative") { impl.mappedParameter("w", ElementType::F32, {-1}, source, 0); }
  CHECK(b.status().code() == StatusCode::InvalidArgument);
}

TEST_CASE("state is not folded") {
  Builder b;
  float zero[4] = {};
  Tensor s = b.state("cache", ElementType::F32, {4}, zero, sizeof(zero));
  b.output("y", s + b.scalar(ElementType::F32, 1));
  REQUIRE(b.finish().ok());
  CHECK(has(b.str(), "is_mutable"));
}

TEST_CASE("state is set at the end of the method") {
  Builder b;
  int64_t zero = 0;
  float numbers[2000] = {};
  Tensor count = b.state("count", ElementType::I64, {}, &zero, sizeof(zero));
  Tensor left = b.state("left", ElementType::F32, {2000}, numbers, sizeof(numbers));
  Tensor right = b.state("right", ElementType::F32, {2000}, numbers, sizeof(numbers));
  Tensor untouched = b.state("untouched", ElementType::F32, {2000}, numbers, sizeof(numbers));
  b.setState(count, count);
  b.setState(left, right);
  b.setState(right, left);
  b.setState(count, count + b.scalarInt(ElementType::I64, 1));
  b.setState(untouched, right);
  b.setState(untouched, untouched);
  b.output("count", count);
  REQUIRE(b.finish().ok());
  std::string text = b.str();
  CHECK(has(text, "graph.set_parameter @count, "));
  CHECK(has(text, "graph.set_parameter @left, "));
  CHECK(has(text, "graph.set_parameter @right, "));
  CHECK_FALSE(has(text, "graph.set_parameter @untouched"));
  CHECK(has(text.substr(text.find("graph.set_parameter")), "return"));
  CHECK_FALSE(has(text.substr(text.find("graph.set_parameter")), "graph.get_parameter"));
}

TEST_CASE("methods of one module share parameters and state") {
  Builder first("write");
  std::vector<float> numbers(2000, 1);
  Tensor w = first.parameter("w", ElementType::F32, {2000}, numbers.data(), numbers.size() * 4);
  Tensor s = first.state("s", ElementType::F32, {2000}, numbers.data(), numbers.size() * 4);
  CHECK(first.impl().nameOf(w) == "w");
  first.setState(s, s + w);
  REQUIRE(first.finish().ok());

  SECTION("by name") {
    Builder second(first, "read");
    CHECK_FALSE(bool(second.shared("other")));
    second.output("y", second.shared("s") * second.shared("w"));
    Tensor own = second.parameter("write", ElementType::F32, {2000}, numbers.data(), numbers.size() * 4);
    CHECK(second.impl().nameOf(own) == "write.1");
    REQUIRE(second.finish().ok());
    std::string text = first.str();
    CHECK(has(text, "func.func @write()"));
    CHECK(has(text, "func.func @read()"));
    CHECK(text.find("graph.parameter @s :") == text.rfind("graph.parameter @s :"));
  }
  SECTION("names are taken once") {
    Builder method(first, "write"), parameter(first, "s");
    CHECK(method.status().message() == "the module already has a method named `write`");
    CHECK(parameter.status().message() == "the module already has a parameter named `s`");
  }
  SECTION("one after the other") {
    Builder second(first, "read"), third(second, "last");
    CHECK(third.status().message() == "method `last` is begun before `read` is finished");
  }
}

TEST_CASE("what cannot be set") {
  Builder b;
  float zero[4] = {};
  Tensor s = b.state("cache", ElementType::F32, {4}, zero, sizeof(zero));
  SECTION("no state") {
    b.setState(s + s, s);
    CHECK(b.status().message() == "the tensor that is to be set is no state of this builder");
  }
  SECTION("absent") {
    b.setState(s, {});
    CHECK(b.status().message() == "state `cache` is set to an absent tensor");
  }
  SECTION("another builder") {
    Builder other;
    b.setState(s, other.input("y", ElementType::F32, {4}));
    CHECK(b.status().message() == "state `cache` is set to a tensor of another builder");
  }
  SECTION("sizes") {
    b.setState(s, b.input("x", ElementType::F32, {5}));
    CHECK(b.status().message() == "state `cache` of type f32[4] is set to a value of type f32[5]");
  }
  SECTION("type") {
    b.setState(s, b.input("x", ElementType::F64, {4}));
    CHECK(b.status().message() == "state `cache` of type f32[4] is set to a value of type f64[4]");
  }
  SECTION("a symbol that has to be four") {
    b.setState(s, b.input("x", ElementType::F32, {b.symbol("N")}));
    REQUIRE(b.finish().ok());
    CHECK(has(b.str(), "graph.set_parameter @cache, %arg0 : tensor<4xf32>"));
  }
}

TEST_CASE("mapped weights with strides, and state") {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  std::vector<std::byte> bytes(64 * 64 * 4);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte(i % 8);
  int source = graph::parametersOf(&context).addOwned(bytes);
  Builder b(std::make_unique<BuilderImpl>(*module, "forward"));
  BuilderImpl &impl = BuilderImpl::of(b);
  SECTION("small ones are gathered") {
    Tensor t = impl.mappedParameter("t", ElementType::U8, {2, 3}, source, 1, {1, 2});
    REQUIRE(t.knownNumbers().has_value());
    CHECK(*t.knownNumbers() == std::vector<double>{1, 3, 5, 2, 4, 6});
    CHECK(*impl.mappedParameter("e", ElementType::U8, {3}, source, 2, {0}).knownNumbers() == std::vector<double>{2, 2, 2});
    CHECK(*impl.mappedParameter("r", ElementType::U8, {}, source, 3, {}).knownNumbers() == std::vector<double>{3});
  }
  SECTION("large ones keep their strides, where these say something") {
    impl.mappedParameter("t", ElementType::F32, {64, 64}, source, 0, {1, 64});
    impl.mappedParameter("r", ElementType::F32, {64, 1, 64}, source, 0, {64, 7, 1});
    b.output("y", b.scalar(ElementType::F32, 1));
    REQUIRE(b.finish().ok());
    CHECK(has(b.str(), "graph.parameter @t : tensor<64x64xf32> {offset = 0 : i64, source = 0 : i32, strides = array<i64: 1, 64>}"));
    CHECK(has(b.str(), "graph.parameter @r : tensor<64x1x64xf32> {offset = 0 : i64, source = 0 : i32}"));
  }
  SECTION("state of one element stays a parameter") {
    Tensor s = impl.mappedParameter("s", ElementType::I64, {}, source, 8, {}, /*isMutable=*/true);
    CHECK_FALSE(s.knownIntegers().has_value());
    impl.setParameter(s, s + s);
    REQUIRE(b.finish().ok());
    CHECK(has(b.str(), "graph.parameter @s : tensor<i64> {is_mutable, offset = 8 : i64, source = 0 : i32}"));
  }
  SECTION("booleans become 0 and 1") {
    impl.mappedParameter("s", ElementType::I1, {2000}, source, 0, {}, /*isMutable=*/true);
    REQUIRE(graph::parametersOf(&context).count() == 2);
    CHECK(graph::parametersOf(&context).bytes(1)[7] == std::byte(1));
  }
  SECTION("outside") {
    CHECK(has((impl.mappedParameter("t", ElementType::F32, {64, 65}, source, 0, {1, 64}), b.status().message()),
              "16384 bytes of data, expected 16640"));
  }
  SECTION("overflow") {
    CHECK(has((impl.mappedParameter("t", ElementType::F32, {64, 65}, source, 0, {INT64_MAX, 64}), b.status().message()), "more than 2^63"));
  }
  SECTION("negative") {
    CHECK(has((impl.mappedParameter("t", ElementType::F32, {4, 4}, source, 0, {4, -1}), b.status().message()), "negative stride -1"));
  }
  SECTION("number") {
    CHECK(has((impl.mappedParameter("t", ElementType::F32, {4, 4}, source, 0, {4}), b.status().message()), "1 strides for 2 sizes"));
  }
}

TEST_CASE("wrong calls are errors with a sentence") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {2, 3});
  SECTION("absent operand") {
    fn::add(x, {});
    CHECK(b.status().message() == "`add`: operand 1 is absent");
  }
  SECTION("axis") {
    fn::softmax(x, 2);
    CHECK(b.status().message() == "`softmax`: axis 2 of a tensor of rank 2");
  }
  SECTION("dim") {
    x.dim(5);
    CHECK(b.status().message() == "axis 5 of a tensor of rank 2");
  }
  SECTION("another builder") {
    Builder other;
    Tensor y = other.input("y", ElementType::F32, {2, 3});
    fn::add(x, y);
    CHECK(b.status().message() == "`add`: tensors of different builders");
  }
  SECTION("bytes") {
    float data[3] = {};
    b.constant(ElementType::F32, {4}, data, sizeof(data));
    CHECK(has(b.status().message(), "12 bytes of data, expected 16"));
  }
  SECTION("two inputs of one name") {
    b.input("x", ElementType::F32, {2});
    CHECK(b.status().message() == "two inputs are named `x`");
  }
  SECTION("no outputs") { CHECK(has(b.finish().message(), "has neither outputs nor state that it sets")); }
  SECTION("reshape") {
    fn::reshape(x, Dims{4, -1});
    CHECK(b.status().message() == "`reshape`: the shape [2, 3] cannot become [4, -1]");
  }
  SECTION("data-dependent shape") {
    fn::reshape(x, b.input("shape", ElementType::I64, {2}));
    CHECK(b.status().code() == StatusCode::Unsupported);
    CHECK(has(b.status().message(), "must be known when the model is compiled"));
  }
  SECTION("the dialect's own checks") {
    fn::shiftLeft(x, x);
    CHECK(has(b.status().message(), "graph.shift_left"));
  }
  CHECK_FALSE(b.ok());
  CHECK_FALSE(fn::relu(x).rank() == 2);
}

TEST_CASE("control flow") {
  Builder b;
  Tensor x = b.input("x", ElementType::F32, {4}), flag = b.input("flag", ElementType::I1, {});
  SECTION("a known condition traces one branch") {
    Tensors y = fn::ifThenElse(
        fn::eq(fn::sizeOf(x), b.scalarInt(ElementType::I64, 4)), [&] { return Tensors{fn::neg(x)}; },
        [&] { return Tensors{fn::squeeze(x, {0})}; });
    REQUIRE(y.size() == 1);
    b.output("y", y[0]);
    REQUIRE(b.finish().ok());
    CHECK_FALSE(has(b.str(), "graph.if"));
  }
  SECTION("an unknown one makes an operation") {
    Tensors y = fn::ifThenElse(
        flag, [&] { return Tensors{x + b.scalar(ElementType::F32, 1)}; },
        [&] { return Tensors{b.vector(std::vector<float>{1, 2, 3, 4})}; });
    REQUIRE(b.ok());
    b.output("y", y[0]);
    b.output("z", b.scalar(ElementType::F32, 1)); // made in a branch, at the head of the method
    REQUIRE(b.finish().ok());
    CHECK(has(b.str(), "graph.if"));
  }
  SECTION("branches of different rank") {
    fn::ifThenElse(flag, [&] { return Tensors{x}; }, [&] { return Tensors{fn::unsqueeze(x, {0})}; });
    CHECK(b.status().message() == "`if`: result 0 is f32[4] in one place and f32[1, 4] in another");
  }
  SECTION("sizes learnt in a branch hold outside") {
    Tensor t = b.input("t", ElementType::F32, {b.symbol("N")});
    Tensors y = fn::ifThenElse(flag, [&] { return Tensors{t}; }, [&] { return Tensors{x}; });
    REQUIRE(b.ok());
    CHECK(t.dim(0) == Dim(4));
    b.output("y", y[0]);
    REQUIRE(b.finish().ok());
  }
  SECTION("loops") {
    Tensor limit = b.input("limit", ElementType::I64, {});
    Tensors y = fn::whileLoop(
        {b.scalarInt(ElementType::I64, 0), x}, [&](const Tensors &v) { return fn::lt(v[0], limit); },
        [&](const Tensors &v) { return Tensors{v[0] + b.scalarInt(ElementType::I64, 1), v[1] * v[1]}; });
    REQUIRE(b.ok());
    CHECK_FALSE(y[0].knownIntegers().has_value());
    b.output("y", y[1]);
    REQUIRE(b.finish().ok());
    CHECK(has(b.str(), "graph.while"));
  }
  SECTION("a loop may not change shapes") {
    fn::whileLoop({x}, [&](const Tensors &) { return flag; }, [&](const Tensors &v) { return Tensors{fn::concat({v[0], v[0]}, 0)}; });
    CHECK(has(b.status().message(), "sizes differ: `4` and `8`"));
  }
}
