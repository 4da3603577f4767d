// RUN: stator-opt %s --pass-pipeline='builtin.module(kernel-graph-to-linalg,kernel-collapse-dims,kernel-vectorise)' --split-input-file | FileCheck %s

!x = tensor<?x1024xf32, #graph.dims<["s0", "1024"]>>
// Maximum, sum and division; the exponentials are computed once and kept in the row of the result.
// CHECK-LABEL: func.func @softmax_keeps_exponentials
func.func @softmax_keeps_exponentials(%x: !x) -> !x {
  // CHECK: scf.for
  // CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
  // CHECK: scf.for {{.*}} -> (vector<16xf32>
  // CHECK: math.exp
  // CHECK: llvm.store
  // CHECK: scf.for
  // CHECK-NOT: math.exp
  // CHECK: arith.divf
  // CHECK: llvm.store
  // CHECK: return
  %0 = graph.softmax %x {axis = 1 : i64} : (!x) -> !x
  return %0 : !x
}

// -----

!x = tensor<?x1024xf16, #graph.dims<["s0", "1024"]>>
// A half result cannot hold them: scratch does.
// CHECK-LABEL: func.func @softmax_of_halves
// CHECK-SAME: stator.scratch = "4096"
func.func @softmax_of_halves(%x: !x) -> !x {
  %0 = graph.softmax %x {axis = 1 : i64} : (!x) -> !x
  return %0 : !x
}

// -----

!x = tensor<?x1024xf32, #graph.dims<["s0", "1024"]>>
// Nothing is expensive enough to be kept.
// CHECK-LABEL: func.func @layer_norm_recomputes
// CHECK-NOT: stator.scratch
// CHECK: return
func.func @layer_norm_recomputes(%x: !x, %s: tensor<1024xf32>) -> !x {
  %0 = graph.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} :
    (!x, tensor<1024xf32>, tensor<1024xf32>) -> !x
  return %0 : !x
}

// -----

!x = tensor<?x64xf32, #graph.dims<["s0", "64"]>>
// Reduced dims outside: one accumulator per lane, wide vectors.
// CHECK-LABEL: func.func @sums_columns_on_lanes
func.func @sums_columns_on_lanes(%x: !x) -> tensor<64xf32> {
  // CHECK: scf.for {{.*}} -> (vector<64xf32>)
  // CHECK-NOT: vector.shuffle
  // CHECK: return
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 0>} : (!x) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

!x = tensor<?x5xf32, #graph.dims<["s0", "5"]>>
!y = tensor<?xf32, #graph.dims<["s0"]>>
// Very short rows: vectors run across them.
// CHECK-LABEL: func.func @reduces_short_rows_across
func.func @reduces_short_rows_across(%x: !x) -> !y {
  // CHECK: llvm.intr.masked.gather
  // CHECK-NOT: vector.shuffle
  // CHECK: return
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (!x) -> !y
  return %0 : !y
}
