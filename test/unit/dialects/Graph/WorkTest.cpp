// DEPS: stator::dialects::Graph
#include "unit/Catch.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Work.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace stator;

/// "operations, bytes" of a function.
static std::string workOf(const std::string &signature, const std::string &body) {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>("func.func @k" + signature + " {\n" + body + "\n}", &context);
  REQUIRE(module);
  graph::Work work = graph::workOf((*module->getOps<mlir::func::FuncOp>().begin()).getBody());
  return work.operations.str() + ", " + work.bytes.str();
}

TEST_CASE("products count two operations per multiplication, and epilogues theirs") {
  CHECK(workOf("(%x: tensor<8x3xf32>, %w: tensor<3x5xf32>) -> tensor<8x5xf32>", R"(
    %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
         : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<8x5xf32>
    %1 = graph.relu %0 : (tensor<8x5xf32>) -> tensor<8x5xf32>
    return %1 : tensor<8x5xf32>)") == "280, 316");
  // Packed weights count as they are stored: padded to 16 columns.
  CHECK(workOf("(%x: tensor<8x3xf32>, %w: tensor<1x3x16xf32>) -> tensor<8x5xf32>", R"(
    %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>,
         rhs_packed = 5 : i64} : (tensor<8x3xf32>, tensor<1x3x16xf32>) -> tensor<8x5xf32>
    return %0 : tensor<8x5xf32>)") == "240, 448");
}

TEST_CASE("convolutions and pools count their windows, padding included") {
  CHECK(workOf("(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>", R"(
    %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
    return %0 : tensor<1x6x8x8xf32>)") == "13824, 2992");
  CHECK(workOf("(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>", R"(
    %0 = graph.pool %x {kind = #graph.pool_kind<max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>,
         pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    return %0 : tensor<1x3x4x4xf32>)") == "192, 960");
}

TEST_CASE("attention and recurrent layers count all of their products") {
  CHECK(workOf("(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x4xf32>) -> tensor<1x2x5x4xf32>", R"(
    %0 = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x2x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x4xf32>) -> tensor<1x2x5x4xf32>
    return %0 : tensor<1x2x5x4xf32>)") == "2030, 1152");
  CHECK(workOf("(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>) -> tensor<1x2x4xf32>", R"(
    %0:2 = graph.gru %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
         : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
    return %0#1 : tensor<1x2x4xf32>)") == "1680, 488");
}

TEST_CASE("of a table the rows that are taken count, and sizes stay symbols") {
  CHECK(workOf("(%x: tensor<1000x8xf32>, %i: tensor<?xi64, #graph.dims<[\"N\"]>>) -> tensor<?x8xf32, #graph.dims<[\"N\", \"8\"]>>", R"(
    %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<1000x8xf32>, tensor<?xi64, #graph.dims<["N"]>>) -> tensor<?x8xf32, #graph.dims<["N", "8"]>>
    return %0 : tensor<?x8xf32, #graph.dims<["N", "8"]>>)") == "0, 72*N");
  CHECK(workOf("(%x: tensor<?x8xf32, #graph.dims<[\"N\", \"8\"]>>) -> tensor<?x8xf32, #graph.dims<[\"N\", \"8\"]>>", R"(
    %0 = graph.softmax %x {axis = 1 : i64} : (tensor<?x8xf32, #graph.dims<["N", "8"]>>) -> tensor<?x8xf32, #graph.dims<["N", "8"]>>
    return %0 : tensor<?x8xf32, #graph.dims<["N", "8"]>>)") == "40*N, 64*N");
}
