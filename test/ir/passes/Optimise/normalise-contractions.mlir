// RUN: stator-opt %s --optimise-normalise-contractions --split-input-file | FileCheck %s

// CHECK-LABEL: @absorbs_transposes_of_heads
func.func @absorbs_transposes_of_heads(%q: tensor<2x8x3x4xf32> {graph.name = "q"}, %k: tensor<2x8x3x4xf32> {graph.name = "k"}) -> (tensor<2x3x8x8xf32> {graph.name = "y"}) {
  // CHECK-NEXT: graph.dot_general {{.*}} {lhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>, rhs_batch = array<i64: 0, 2>, rhs_contract = array<i64: 3>}
  // CHECK-NEXT: return
  %0 = graph.transpose %q {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x3x4xf32>) -> tensor<2x3x8x4xf32>
  %1 = graph.transpose %k {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x3x4xf32>) -> tensor<2x3x4x8xf32>
  %2 = graph.dot_general %0, %1 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x8x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8x8xf32>
  return %2 : tensor<2x3x8x8xf32>
}

// -----

// The free axes of the left side would come out in the other order.
// CHECK-LABEL: @keeps_transpose_of_rows
func.func @keeps_transpose_of_rows(%x: tensor<5x2x4xf32> {graph.name = "x"}, %w: tensor<4x3xf32> {graph.name = "w"}) -> (tensor<2x5x3xf32> {graph.name = "y"}) {
  // CHECK: graph.transpose
  %0 = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<5x2x4xf32>) -> tensor<2x5x4xf32>
  %1 = graph.dot_general %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x4xf32>, tensor<4x3xf32>) -> tensor<2x5x3xf32>
  return %1 : tensor<2x5x3xf32>
}

// -----

// CHECK-LABEL: @merges_contracted_and_column_axes
func.func @merges_contracted_and_column_axes(%x: tensor<2x3x4xf32> {graph.name = "x"}, %w: tensor<3x4x5x6xf32> {graph.name = "w"}) -> (tensor<2x5x6xf32> {graph.name = "y"}) {
  // CHECK: %[[L:.*]] = graph.reshape {{.*}} -> tensor<2x12xf32>
  // CHECK: %[[R:.*]] = graph.reshape {{.*}} -> tensor<12x30xf32>
  // CHECK: %[[D:.*]] = graph.dot_general %[[L]], %[[R]]
  // CHECK: graph.reshape %[[D]] {{.*}} -> tensor<2x5x6xf32>
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<2x3x4xf32>, tensor<3x4x5x6xf32>) -> tensor<2x5x6xf32>
  return %0 : tensor<2x5x6xf32>
}
