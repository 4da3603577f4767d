// RUN: stator-opt %s -canonicalize -split-input-file | FileCheck %s

// Folds of the dialect, each next to a case that must stay.

// CHECK-LABEL: func.func @folds_identities
func.func @folds_identities(%x: tensor<2x3xf32>, %s: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = graph.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.broadcast %x {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.slice %x {starts = #graph.dims<["0", "0"]>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.reverse %x {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = graph.pad %x, %s {low = #graph.dims<["0", "0"]>, high = #graph.dims<["0", "0"]>, interior = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %7 = graph.concat %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @folds_named_sizes_that_are_equal
func.func @folds_named_sizes_that_are_equal(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["N"]>> {
  %0 = graph.reshape %x : (tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["N"]>>
  // CHECK-NEXT: return %arg0
  return %0 : tensor<?xf32, #graph.dims<["N"]>>
}

// CHECK-LABEL: func.func @keeps_casts_between_names
func.func @keeps_casts_between_names(%x: tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["M"]>> {
  // CHECK-NEXT: graph.reshape
  %0 = graph.reshape %x : (tensor<?xf32, #graph.dims<["N"]>>) -> tensor<?xf32, #graph.dims<["M"]>>
  return %0 : tensor<?xf32, #graph.dims<["M"]>>
}

// -----

// CHECK-LABEL: func.func @folds_neutral_operands
func.func @folds_neutral_operands(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %ones = graph.broadcast %one {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %negative = graph.constant dense<-0.0> : tensor<4xf32>
  %izero = graph.constant dense<0> : tensor<4xi32>
  %ione = graph.constant dense<1> : tensor<4xi32>
  %0 = graph.mul %x, %ones : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.div %x, %ones : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.pow %x, %ones : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.sub %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.add %negative, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.add %izero, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %6 = graph.mul %ione, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg1, %arg1
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @keeps_what_changes_a_bit
func.func @keeps_what_changes_a_bit(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  // CHECK: graph.add
  %0 = graph.add %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.mul
  %1 = graph.mul %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @folds_integer_products_with_zero
func.func @folds_integer_products_with_zero(%i: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[ZERO:.*]] = graph.constant dense<0>
  %zero = graph.constant dense<0> : tensor<4xi32>
  %0 = graph.mul %zero, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: return %[[ZERO]]
  return %0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @folds_inverses_and_repetitions
func.func @folds_inverses_and_repetitions(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: %[[RELU:.*]] = graph.relu %arg0
  %0 = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.not %b : (tensor<4xi1>) -> tensor<4xi1>
  %5 = graph.not %4 : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: return %arg0, %[[RELU]], %arg1
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @folds_decided_choices
func.func @folds_decided_choices(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = graph.constant dense<true> : tensor<4xi1>
  %false = graph.constant dense<false> : tensor<4xi1>
  %0 = graph.select %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.select %true, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.select %false, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return %arg1, %arg1, %arg2
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @folds_chains_of_moves
func.func @folds_chains_of_moves(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>) -> (tensor<24xf32>, tensor<2x3x4xf32>, tensor<5x2x3xf32>) {
  // CHECK-DAG: graph.reshape %arg0 : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %0 = graph.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = graph.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
  // CHECK-NOT: graph.transpose
  %2 = graph.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = graph.transpose %2 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  // CHECK-DAG: graph.broadcast %arg1 {dimensions = array<i64: 2>} : (tensor<3xf32>) -> tensor<5x2x3xf32>
  %4 = graph.broadcast %s {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %5 = graph.broadcast %4 {dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  return %1, %3, %5 : tensor<24xf32>, tensor<2x3x4xf32>, tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @folds_constants_that_only_move
func.func @folds_constants_that_only_move() -> (tensor<2x2xf32>, tensor<3x2xf32>, tensor<2xi64>) {
  // CHECK-DAG: graph.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
  %0 = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = graph.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  // CHECK-DAG: graph.constant dense<5.000000e+00> : tensor<3x2xf32>
  %2 = graph.constant dense<5.0> : tensor<2x3xf32>
  %3 = graph.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-DAG: graph.constant dense<[3, 64]> : tensor<2xi64>
  %4 = graph.dim_values {values = #graph.dims<["3", "64"]>} : () -> tensor<2xi64>
  return %1, %3, %4 : tensor<2x2xf32>, tensor<3x2xf32>, tensor<2xi64>
}

// CHECK-LABEL: func.func @keeps_named_sizes_as_data
func.func @keeps_named_sizes_as_data() -> tensor<2xi64> {
  // CHECK-NEXT: graph.dim_values
  %0 = graph.dim_values {values = #graph.dims<["N", "64"]>} : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// CHECK-LABEL: func.func @drops_unused_control_flow
func.func @drops_unused_control_flow(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    graph.yield %x : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  // CHECK-NEXT: return %arg1
  return %x : tensor<4xf32>
}

// A known condition leaves one branch.
// CHECK-LABEL: func.func @known_branch
// CHECK-NOT: graph.if
// CHECK: %[[Y:.*]] = graph.exp %arg0
// CHECK: return %[[Y]]
func.func @known_branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<true> : tensor<i1>
  %y = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %a : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// What both branches pass on and what nobody uses goes around them.
// CHECK-LABEL: func.func @results_of_if
// CHECK: %[[Y:.*]] = graph.if %arg1 : (tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT: %[[A:.*]] = graph.exp
// CHECK-NEXT: graph.yield %[[A]] : tensor<4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: graph.yield %arg0 : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %arg0, %[[Y]]
func.func @results_of_if(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y:3 = graph.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %b = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %x, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else {
    graph.yield %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

// A loop carries only what changes.
// CHECK-LABEL: func.func @carried
// CHECK: %[[Y:.*]] = graph.while %arg0 : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK: graph.compare %{{.*}}, %arg1
// CHECK: } do {
// CHECK: ^bb0(%[[V:.*]]: tensor<4xf32>):
// CHECK: graph.mul %[[V]], %arg1
// CHECK: return %[[Y]], %arg1
func.func @carried(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y:3 = graph.while %x, %w, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: tensor<4xf32>, %u: tensor<4xf32>, %t: tensor<4xf32>):
    %f = graph.compare %v, %u {direction = #graph.compare_direction<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %c = graph.reduce %f {axes = array<i64: 0>, kind = #graph.reduce_kind<any>} : (tensor<4xi1>) -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%v: tensor<4xf32>, %u: tensor<4xf32>, %t: tensor<4xf32>):
    %n = graph.mul %v, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %m = graph.neg %v : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %n, %u, %m : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @never
// CHECK-NEXT: return %arg0
func.func @never(%x: tensor<4xf32>) -> tensor<4xf32> {
  %no = graph.constant dense<false> : tensor<i1>
  %y = graph.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    graph.yield %no : tensor<i1>
  } do {
  ^bb0(%v: tensor<4xf32>):
    %n = graph.exp %v : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %n : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
