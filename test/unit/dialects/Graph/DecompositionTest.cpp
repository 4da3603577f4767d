// DEPS: stator::dialects::Graph::Interpreter
// Composites and what they are written with compute the same.
#include "test/unit/dialects/Graph/InterpretOp.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

/// Numbers that differ in size and sign, the same in every run.
static TensorValue varied(ElementType type, const Shape &shape, int seed) {
  TensorValue value(type, shape);
  for (int64_t i = 0, n = value.count(); i < n; ++i)
    value.setReal(i, double((i * 37 + seed * 11) % 23 - 11) / 8);
  return value;
}

/// Replaces every composite, several times over, until none is left.
static void decomposeAll(func::FuncOp method) {
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<GraphComposite> composites;
    method.walk([&](GraphComposite composite) { composites.push_back(composite); });
    for (GraphComposite composite : composites) {
      OpBuilder builder(composite);
      FailureOr<SmallVector<Value>> values = composite.decompose(builder);
      REQUIRE(succeeded(values));
      composite->replaceAllUsesWith(*values);
      composite->erase();
      changed = true;
    }
  }
  REQUIRE(succeeded(verify(method)));
}

static void checkDecomposition(const std::string &text, const Tensors &inputs) {
  Program program(text);
  INFO(text);
  auto expected = program.run(inputs);
  INFO(program.diagnostics);
  REQUIRE(succeeded(expected));
  decomposeAll(program.method());
  bool any = false;
  program.method().walk([&](GraphComposite) { any = true; });
  CHECK(!any);
  program.check(inputs, Tensors(expected->begin(), expected->end()));
}

static void checkOpDecomposition(const std::string &op, const std::string &attributes, const Tensors &operands, const TensorValue &like) {
  checkDecomposition(methodOf(op, attributes, operands, {like}), operands);
}

TEST_CASE("normalisations decompose", "[decomposition]") {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    TensorValue x = varied(type, {2, 3, 4}, 1), v = varied(type, {3}, 2), w = varied(type, {3, 4}, 3), b = varied(type, {3, 4}, 4);
    TensorValue variance = make(type, {3}, {0.5, 1, 2});
    checkOpDecomposition("batch_norm", "axis = 1 : i64, epsilon = 1.0e-3 : f64", {x, v, v, v, variance}, x);
    checkOpDecomposition("layer_norm", "axis = 1 : i64, epsilon = 1.0e-3 : f64, operandSegmentSizes = array<i32: 1, 1, 1>", {x, w, b}, x);
    checkOpDecomposition("layer_norm", "axis = 2 : i64, epsilon = 1.0e-3 : f64, operandSegmentSizes = array<i32: 1, 0, 0>", {x}, x);
    checkOpDecomposition("rms_norm", "axis = 1 : i64, epsilon = 1.0e-3 : f64", {x, w}, x);
    checkOpDecomposition("rms_norm", "axis = 0 : i64, epsilon = 1.0e-3 : f64", {x}, x);
  }
}

TEST_CASE("softmax and gelu decompose", "[decomposition]") {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::BF16}) {
    TensorValue x = varied(type, {3, 5}, 5);
    for (const char *axis : {"axis = 0 : i64", "axis = 1 : i64"}) {
      checkOpDecomposition("softmax", axis, {x}, x);
      checkOpDecomposition("log_softmax", axis, {x}, x);
    }
    checkOpDecomposition("gelu", "", {x}, x);
    checkOpDecomposition("gelu", "approximate = #graph.gelu_approximation<tanh>", {x}, x);
  }
}

TEST_CASE("attention decomposes", "[decomposition]") {
  for (ElementType type : {ElementType::F32, ElementType::F16}) {
    TensorValue q = varied(type, {2, 3, 4}, 1), k = varied(type, {2, 5, 4}, 2), v = varied(type, {2, 5, 2}, 3), like(type, {2, 3, 2});
    TensorValue allowed = i1({1, 3, 5}, {1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1}), bias = varied(type, {2, 1, 5}, 4);
    checkOpDecomposition("attention", "scale = 0.5 : f64", {q, k, v}, like);
    checkOpDecomposition("attention", "scale = 0.5 : f64, causal = true", {q, k, v}, like);
    checkOpDecomposition("attention", "scale = 0.5 : f64, causal = true", {q, k, v, allowed}, like);
    checkOpDecomposition("attention", "scale = 0.5 : f64", {q, k, v, bias}, like);
  }
}

TEST_CASE("composites of named sizes decompose", "[decomposition]") {
  const std::string type = "tensor<?x?xf32, #graph.dims<[\"N\", \"T\"]>>";
  for (const char *op : {"softmax %x {axis = 1 : i64}", "rms_norm %x {axis = 1 : i64, epsilon = 1.0e-3 : f64}",
                         "layer_norm %x {axis = 0 : i64, epsilon = 1.0e-3 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}"})
    checkDecomposition("func.func @main(%x: " + type + ") -> " + type + " {\n  %0 = graph." + op + " : (" + type + ") -> " + type +
                           "\n  return %0 : " + type + "\n}",
                       {varied(ElementType::F32, {3, 5}, 1)});
}
