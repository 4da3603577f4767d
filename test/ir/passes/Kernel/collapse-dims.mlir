// RUN: stator-opt %s --kernel-graph-to-linalg --kernel-collapse-dims --split-input-file | FileCheck %s

!x = tensor<?x8x64xf32, #graph.dims<["s0", "8", "64"]>>
// CHECK-LABEL: func.func @merges_elementwise_dims(
// CHECK-SAME: tensor<?xf32, #graph.dims<["512*s0"]>>
func.func @merges_elementwise_dims(%x: !x, %y: !x) -> !x {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]}
  %0 = graph.add %x, %y : (!x, !x) -> !x
  return %0 : !x
}

// -----

!x = tensor<?x8x64xf32, #graph.dims<["s0", "8", "64"]>>
// The dim that a broadcast operand runs along alone stays apart.
// CHECK-LABEL: func.func @keeps_broadcast_dim(
// CHECK-SAME: tensor<?x64xf32, #graph.dims<["8*s0", "64"]>>, %{{.*}}: tensor<64xf32>
func.func @keeps_broadcast_dim(%x: !x, %b: tensor<64xf32>) -> !x {
  %0 = graph.broadcast %b {dimensions = array<i64: 2>} : (tensor<64xf32>) -> !x
  %1 = graph.add %x, %0 : (!x, !x) -> !x
  return %1 : !x
}

// -----

// CHECK-LABEL: func.func @keeps_transposed_dims(
// CHECK-SAME: tensor<4x8xf32>
func.func @keeps_transposed_dims(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @merges_what_a_transpose_moves_together(
// CHECK-SAME: tensor<2x3x20xf32>{{.*}} -> tensor<3x2x20xf32>
func.func @merges_what_a_transpose_moves_together(%x: tensor<2x3x4x5xf32>) -> tensor<3x2x4x5xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x3x4x5xf32>) -> tensor<3x2x4x5xf32>
  return %0 : tensor<3x2x4x5xf32>
}

// -----

// Reduced dims merge with each other, not with the rest.
// CHECK-LABEL: func.func @merges_reduced_dims(
// CHECK-SAME: tensor<6x20xf32>{{.*}} -> tensor<6xf32>
func.func @merges_reduced_dims(%x: tensor<2x3x4x5xf32>) -> tensor<2x3xf32> {
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 2, 3>} : (tensor<2x3x4x5xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_indexed_dims(
// CHECK-SAME: -> tensor<2x3x4xi32>
func.func @keeps_indexed_dims() -> tensor<2x3x4xi32> {
  %0 = graph.iota {axis = 1 : i64} : () -> tensor<2x3x4xi32>
  return %0 : tensor<2x3x4xi32>
}

// -----

// CHECK-LABEL: func.func @reshapes_constants(
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
func.func @reshapes_constants(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = graph.add %x, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// Rows of the result lie 96 elements apart, so pixels and channels stay two dims.
// CHECK-LABEL: func.func @keeps_rows_apart(
// CHECK-SAME: tensor<12x64xf32>) -> tensor<12x64xf32>
func.func @keeps_rows_apart(%x: tensor<3x4x64xf32>) -> tensor<3x4x64xf32> attributes {stator.pitches = array<i64: 1, 64, 96>} {
  %0 = graph.relu %x : (tensor<3x4x64xf32>) -> tensor<3x4x64xf32>
  return %0 : tensor<3x4x64xf32>
}
