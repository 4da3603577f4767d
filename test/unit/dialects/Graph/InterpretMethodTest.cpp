// DEPS: stator::dialects::Graph::Interpreter
// Whole methods: symbols, control flow, fusion regions, parameters, budgets.
#include "test/unit/dialects/Graph/InterpretOp.h"

#include "dialects/Graph/ParameterStore.h"

using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

static const std::string kDynamic = R"ir(
  func.func @main(%x: tensor<?x2xf32, #graph.dims<["N", "2"]>>, %y: tensor<?xf32, #graph.dims<["2*N"]>>) -> (tensor<?xf32, #graph.dims<["2*N"]>>, tensor<2xi64>)
      attributes {graph.symbols = [#graph.symbol<"N", 1, 4>], graph.guards = [["mod(N, 2)", "1"]]} {
    %0 = graph.reshape %x : (tensor<?x2xf32, #graph.dims<["N", "2"]>>) -> tensor<?xf32, #graph.dims<["2*N"]>>
    %1 = graph.add %0, %y : (tensor<?xf32, #graph.dims<["2*N"]>>, tensor<?xf32, #graph.dims<["2*N"]>>) -> tensor<?xf32, #graph.dims<["2*N"]>>
    %2 = graph.dim_values {values = #graph.dims<["N", "N*N"]>} : () -> tensor<2xi64>
    return %1, %2 : tensor<?xf32, #graph.dims<["2*N"]>>, tensor<2xi64>
  })ir";

TEST_CASE("symbols get their values from the inputs", "[interpreter]") {
  Program program(kDynamic);
  program.check({f32({1, 2}, {1, 2}), f32({2}, {10, 20})}, {f32({2}, {11, 22}), i64({2}, {1, 1})});
  program.check({f32({3, 2}, {1, 2, 3, 4, 5, 6}), f32({6}, {0, 0, 0, 0, 0, 1})}, {f32({6}, {1, 2, 3, 4, 5, 7}), i64({2}, {3, 9})});
}

TEST_CASE("inputs that a method does not take are refused", "[interpreter]") {
  Program(kDynamic).checkError({f32({1, 2}, {1, 2})}, "is given 1 inputs, expected 2");
  Program(kDynamic).checkError({f64({1, 2}, {1, 2}), f32({2}, {0, 0})}, "is given a tensor<1x2xf64> for argument 0");
  Program(kDynamic).checkError({f32({2}, {1, 2}), f32({2}, {0, 0})}, "is given a tensor<2xf32> for argument 0");
  Program(kDynamic).checkError({f32({1, 2}, {1, 2}), f32({3}, {0, 0, 0})}, "for argument 1, whose size 0, `2*N`, is 2");
  Program(kDynamic).checkError({f32({5, 2}, std::vector<double>(10)), f32({10}, std::vector<double>(10))},
                               "is given 5 for the size `N`, which has the range 1..4");
  Program(kDynamic).checkError({f32({2, 2}, std::vector<double>(4)), f32({4}, std::vector<double>(4))},
                               "needs equal sizes in [\"mod(N, 2)\", \"1\"], they are 0 and 1");
}

TEST_CASE("sizes that no input gives are refused", "[interpreter]") {
  Program(R"(func.func @main() -> tensor<1xi64> {
    %0 = graph.dim_values {values = #graph.dims<["N"]>} : () -> tensor<1xi64>
    return %0 : tensor<1xi64>
  })")
      .checkError({}, "has the size `N`, which has no value: ");
  Program(R"(func.func @main(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xi64, #graph.dims<["N - 2"]>> {
    %0 = graph.iota {axis = 0 : i64} : () -> tensor<?xi64, #graph.dims<["N - 2"]>>
    return %0 : tensor<?xi64, #graph.dims<["N - 2"]>>
  })")
      .checkError({f32({1}, {0})}, "has the size `N - 2`, which is -1");
}

TEST_CASE("the branch that the condition chooses runs", "[interpreter]") {
  Program program(R"(func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = graph.if %c : (tensor<i1>) -> tensor<2xf32> {
      %1 = graph.neg %x : (tensor<2xf32>) -> tensor<2xf32>
      graph.yield %1 : tensor<2xf32>
    } else {
      graph.yield %x : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  })");
  program.check({i1({}, {1}), f32({2}, {1, 2})}, {f32({2}, {-1, -2})});
  program.check({i1({}, {0}), f32({2}, {1, 2})}, {f32({2}, {1, 2})});
}

static const std::string kLoop = R"(func.func @main(%n: tensor<i64>, %x: tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
    %zero = graph.constant dense<0> : tensor<i64>
    %one = graph.constant dense<1> : tensor<i64>
    %0, %1 = graph.while %zero, %x : (tensor<i64>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
    ^bb0(%i: tensor<i64>, %v: tensor<2xf32>):
      %c = graph.compare %i, %n {direction = #graph.compare_direction<ne>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
      graph.yield %c : tensor<i1>
    } do {
    ^bb0(%i: tensor<i64>, %v: tensor<2xf32>):
      %j = graph.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %w = graph.add %v, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      graph.yield %j, %w : tensor<i64>, tensor<2xf32>
    }
    return %0, %1 : tensor<i64>, tensor<2xf32>
  })";

TEST_CASE("loops carry their values", "[interpreter]") {
  Program program(kLoop);
  program.check({i64({}, {0}), f32({2}, {1, 2})}, {i64({}, {0}), f32({2}, {1, 2})});
  program.check({i64({}, {3}), f32({2}, {1, 2})}, {i64({}, {3}), f32({2}, {4, 8})});
}

TEST_CASE("loops without end run out of budget", "[interpreter]") {
  InterpretOptions options;
  options.maxWork = 100000;
  Program(kLoop).checkError({i64({}, {-1}), f32({2}, {1, 2})}, "needs more work than the interpreter's budget of 100000 steps", options);
}

TEST_CASE("a fusion region computes what its operations do", "[interpreter]") {
  Program(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = graph.fusion %x, %x {family = "map"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
      %1 = graph.mul %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %2 = graph.neg %1 : (tensor<2xf32>) -> tensor<2xf32>
      graph.yield %2 : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  })")
      .check({f32({2}, {3, -2})}, {f32({2}, {-9, -4})});
}

TEST_CASE("constants of every kind", "[interpreter]") {
  Program(R"(func.func @main() -> (tensor<3xi1>, tensor<2xf16>, tensor<2x2xui8>, tensor<0xf32>) {
    %0 = graph.constant dense<[true, false, true]> : tensor<3xi1>
    %1 = graph.constant dense<1.5> : tensor<2xf16>
    %2 = graph.constant dense<[[1, 2], [3, 255]]> : tensor<2x2xui8>
    %3 = graph.constant dense<> : tensor<0xf32>
    return %0, %1, %2, %3 : tensor<3xi1>, tensor<2xf16>, tensor<2x2xui8>, tensor<0xf32>
  })")
      .check({}, {i1({3}, {1, 0, 1}), f16({2}, {1.5, 1.5}), u8({2, 2}, {1, 2, 3, 255}), f32({0}, {})});
}

TEST_CASE("values become constants and constants values", "[interpreter]") {
  mlir::MLIRContext context;
  context.loadDialect<GraphDialect>();
  for (const TensorValue &value : {i1({3}, {1, 0, 1}), f32({2}, {1.5, -2}), u8({2}, {0, 255}), i64({1}, {INT64_MIN}), bf16({2, 1}, {1, 3}),
                                   f64({}, {0.1}), i16({0, 2}, {})})
    checkTensor(TensorValue::fromElements(value.toElements(&context)), value, value.typeText());
}

TEST_CASE("parameters are read from the store", "[interpreter]") {
  Program program(R"(
    graph.parameter @w : tensor<2xf32> {source = 0 : i32, offset = 4 : i64}
    graph.parameter @t : tensor<2x1xf32> {recipe = #graph.recipe<"reshape", [@w], {shape = array<i64: 2, 1>}>}
    func.func @main() -> (tensor<2xf32>, tensor<2x1xf32>) {
      %0 = graph.get_parameter @w : tensor<2xf32>
      %1 = graph.get_parameter @t : tensor<2x1xf32>
      return %0, %1 : tensor<2xf32>, tensor<2x1xf32>
    })");
  program.checkError({}, "has its bytes in source 0, which is not loaded");
  parametersOf(&program.context).addOwned(f32({3}, {1, 2, 3}).data);
  program.check({}, {f32({2}, {2, 3}), f32({2, 1}, {2, 3})});
}

TEST_CASE("sizes beyond the budget are refused before they are allocated", "[interpreter]") {
  const std::string huge = R"(func.func @main() -> tensor<1000000x1000000x1000000xf32> {
    %0 = graph.iota {axis = 0 : i64} : () -> tensor<1000000x1000000x1000000xf32>
    return %0 : tensor<1000000x1000000x1000000xf32>
  })";
  Program(huge).checkError({}, "needs more memory than the interpreter's budget of ");
  InterpretOptions options;
  options.maxWork = 1000;
  Program(
      methodOf("dot_general", "lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>",
               {f32({100, 4}, std::vector<double>(400)), f32({100, 4}, std::vector<double>(400))}, {f32({4, 4}, std::vector<double>(16))}))
      .checkError({f32({100, 4}, std::vector<double>(400)), f32({100, 4}, std::vector<double>(400))}, "needs more work", options);
}

TEST_CASE("a tensor is dropped after its last use", "[interpreter]") {
  // Forty tensors of 8 KB, of which two exist at a time; the budget would not hold them all.
  std::string text = "func.func @main(%x0: tensor<1024xf64>) -> tensor<1024xf64> {\n";
  for (int i = 0; i < 40; ++i)
    text += "  %x" + std::to_string(i + 1) + " = graph.neg %x" + std::to_string(i) + " : (tensor<1024xf64>) -> tensor<1024xf64>\n";
  text += "  return %x40 : tensor<1024xf64>\n}";
  InterpretOptions options;
  options.maxBytes = 40000;
  Program program(text);
  auto results = program.run({f64({1024}, std::vector<double>(1024, 1.0))}, options);
  INFO(program.diagnostics);
  REQUIRE(mlir::succeeded(results));
  CHECK((*results)[0].real(0) == 1.0);
}

TEST_CASE("single operations run for folding", "[interpreter]") {
  Program program(methodOf("add", "", {f32({2}, {0, 0}), f32({2}, {0, 0})}, {f32({2}, {0, 0})}));
  mlir::Operation *op = &program.method().front().front();
  llvm::SmallVector<TensorValue> results;
  REQUIRE(mlir::succeeded(interpretOp(op, {f32({2}, {1, 2}), f32({2}, {3, 4})}, results)));
  REQUIRE(results.size() == 1);
  checkTensor(results[0], f32({2}, {4, 6}), "sum");
  results.clear();
  CHECK(mlir::failed(interpretOp(op, {f32({2}, {1, 2})}, results)));
  CHECK_THAT(program.diagnostics, Catch::Matchers::Contains("is given 1 operands, expected 2"));
}

TEST_CASE("regions that use values from outside do not fold alone", "[interpreter]") {
  Program program(R"(func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = graph.if %c : (tensor<i1>) -> tensor<2xf32> {
      graph.yield %x : tensor<2xf32>
    } else {
      graph.yield %x : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  })");
  llvm::SmallVector<TensorValue> results;
  CHECK(mlir::failed(interpretOp(&program.method().front().front(), {i1({}, {1})}, results)));
  CHECK_THAT(program.diagnostics, Catch::Matchers::Contains("uses a value that the interpreter has not seen"));
}

TEST_CASE("what the interpreter does not know is refused", "[interpreter]") {
  Program(R"(func.func @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @callee(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })")
      .checkError({f32({2}, {1, 2})}, "has no function in the interpreter");
  Program(R"(func.func private @main(tensor<2xf32>) -> tensor<2xf32>)")
      .checkError({f32({2}, {1, 2})}, "cannot be interpreted: it has no body of one block");
  Program(R"(func.func @main(%x: i32) { return })").checkError({i32({}, {1})}, "has argument 0 of type 'i32', expected a tensor");
}
