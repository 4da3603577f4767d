// RUN: stator-opt %s --graph-fold-constants --split-input-file | FileCheck %s

// CHECK-LABEL: @folds_a_chain
func.func @folds_a_chain() -> (tensor<3xf32> {graph.name = "y"}) {
  // CHECK: %[[C:.*]] = graph.constant dense<[3.000000e+00, 5.000000e+00, 7.000000e+00]>
  // CHECK-NEXT: return %[[C]]
  %a = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %two = graph.constant dense<2.0> : tensor<3xf32>
  %one = graph.constant dense<1.0> : tensor<3xf32>
  %0 = graph.mul %a, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.add %0, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// A broadcast of a constant is cheaper to compute again than to read.
// CHECK-LABEL: @keeps_broadcast
func.func @keeps_broadcast() -> (tensor<4x3xf32> {graph.name = "y"}) {
  // CHECK: graph.broadcast
  %a = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = graph.broadcast %a {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: @folds_through_broadcast
func.func @folds_through_broadcast() -> (tensor<2x2xf32> {graph.name = "y"}) {
  // CHECK: graph.constant dense<{{\[\[}}2.000000e+00, 3.000000e+00], [3.000000e+00, 4.000000e+00]]>
  // CHECK-NOT: graph.broadcast
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = graph.broadcast %a {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x2xf32>
  %1 = graph.broadcast %a {dimensions = array<i64: 1>} : (tensor<2xf32>) -> tensor<2x2xf32>
  %2 = graph.add %0, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: @keeps_what_depends_on_an_input
func.func @keeps_what_depends_on_an_input(%x: tensor<3xf32> {graph.name = "x"}) -> (tensor<3xf32> {graph.name = "y"}) {
  // CHECK: graph.add
  %a = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = graph.add %x, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// More than 1024 elements are a parameter, not IR text.
// CHECK: graph.parameter @folded : tensor<64x32xi64>
// CHECK-LABEL: @large_results_become_parameters
func.func @large_results_become_parameters() -> (tensor<64x32xi64> {graph.name = "y"}) {
  // CHECK: graph.get_parameter @folded
  %0 = graph.iota {axis = 0 : i64} : () -> tensor<64x32xi64>
  %1 = graph.iota {axis = 1 : i64} : () -> tensor<64x32xi64>
  %2 = graph.mul %0, %1 : (tensor<64x32xi64>, tensor<64x32xi64>) -> tensor<64x32xi64>
  return %2 : tensor<64x32xi64>
}

// -----

// Integer division by zero gives 0, here as in a kernel.
// CHECK-LABEL: @integer_division_by_zero_does_not_trap
func.func @integer_division_by_zero_does_not_trap() -> (tensor<2xi64> {graph.name = "y"}) {
  // CHECK: graph.constant dense<[0, 2]>
  %a = graph.constant dense<[7, 4]> : tensor<2xi64>
  %b = graph.constant dense<[0, 2]> : tensor<2xi64>
  %0 = graph.div %a, %b : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
