// RUN: stator-opt %s --optimise-sink-transposes --split-input-file | FileCheck %s

// CHECK-LABEL: @cancels_around_elementwise
// CHECK-SAME: %[[X:.*]]: tensor<1x4x5x3xf32>
func.func @cancels_around_elementwise(%x: tensor<1x4x5x3xf32> {graph.name = "x"}, %s: tensor<3xf32> {graph.name = "s"}) -> (tensor<1x4x5x3xf32> {graph.name = "y"}) {
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast %{{.*}} {dimensions = array<i64: 3>}
  // CHECK-NEXT: %[[Y:.*]] = graph.mul %[[X]], %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  %b = graph.broadcast %s {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<1x3x4x5xf32>
  %1 = graph.mul %0, %b : (tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  return %2 : tensor<1x4x5x3xf32>
}

// -----

// CHECK-LABEL: @passes_concat_pad_and_reduce
func.func @passes_concat_pad_and_reduce(%x: tensor<1x4x5x3xf32> {graph.name = "x"}) -> (tensor<1x6x1x1xf32> {graph.name = "y"}) {
  // CHECK: graph.concat {{.*}} {axis = 3 : i64}
  // CHECK: graph.pad {{.*}}high = #graph.dims<["0", "0", "1", "0"]>
  // CHECK: graph.reduce {{.*}}axes = array<i64: 1, 2>
  // CHECK: graph.reshape
  // CHECK-NOT: graph.transpose
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  %1 = graph.concat %0, %0 {axis = 1 : i64} : (tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>) -> tensor<1x6x4x5xf32>
  %2 = graph.pad %1, %zero {low = #graph.dims<["0", "0", "0", "0"]>, high = #graph.dims<["0", "0", "0", "1"]>, interior = array<i64: 0, 0, 0, 0>} : (tensor<1x6x4x5xf32>, tensor<f32>) -> tensor<1x6x4x6xf32>
  %3 = graph.reduce %2 {kind = #graph.reduce_kind<sum>, axes = array<i64: 2, 3>, keep_dims = true} : (tensor<1x6x4x6xf32>) -> tensor<1x6x1x1xf32>
  return %3 : tensor<1x6x1x1xf32>
}

// -----

// Without keep_dims what is left of the permutation remains.
// CHECK-LABEL: @reduce_without_its_axes
func.func @reduce_without_its_axes(%x: tensor<2x4x5x3xf32> {graph.name = "x"}) -> (tensor<3x4xf32> {graph.name = "y"}) {
  // CHECK: %[[R:.*]] = graph.reduce {{.*}}axes = array<i64: 0, 2>{{.*}} -> tensor<4x3xf32>
  // CHECK: graph.transpose %[[R]] {permutation = array<i64: 1, 0>}
  %0 = graph.transpose %x {permutation = array<i64: 3, 0, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<3x2x4x5xf32>
  %1 = graph.reduce %0 {kind = #graph.reduce_kind<sum>, axes = array<i64: 1, 3>} : (tensor<3x2x4x5xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// The other operand has no order to be brought into.
// CHECK-LABEL: @keeps_transpose_beside_unknown_operand
func.func @keeps_transpose_beside_unknown_operand(%x: tensor<4x3xf32> {graph.name = "x"}, %z: tensor<3x4xf32> {graph.name = "z"}) -> (tensor<3x4xf32> {graph.name = "y"}) {
  // CHECK: graph.transpose
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: return
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = graph.add %0, %z : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @unit_axes_move_for_free
func.func @unit_axes_move_for_free(%x: tensor<2x1x1x8xf32> {graph.name = "x"}) -> (tensor<2x8x1x1xf32> {graph.name = "y"}) {
  // CHECK-NEXT: graph.reshape
  // CHECK-NEXT: return
  %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x1x1x8xf32>) -> tensor<2x8x1x1xf32>
  return %0 : tensor<2x8x1x1xf32>
}
