// RUN: stator-opt %s --kernel-graph-to-linalg --kernel-vectorise --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @concat_copies_runs
func.func @concat_copies_runs(%x: tensor<2x16xf32>, %y: tensor<2x32xf32>) -> tensor<2x48xf32> {
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xi32>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xi32>
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x16xf32>, tensor<2x32xf32>) -> tensor<2x48xf32>
  return %0 : tensor<2x48xf32>
}

// -----

// Order needs room for keys and positions, twice for merging.
// CHECK-LABEL: func.func @sort_uses_scratch
// CHECK-SAME: stator.scratch = "32000"
func.func @sort_uses_scratch(%x: tensor<4x1000xf32>) -> (tensor<4x1000xf32>, tensor<4x1000xi64>) {
  // CHECK: scf.while
  %0:2 = graph.top_k %x {k = #graph.dims<["1000"]>, axis = 1 : i64} : (tensor<4x1000xf32>) -> (tensor<4x1000xf32>, tensor<4x1000xi64>)
  return %0#0, %0#1 : tensor<4x1000xf32>, tensor<4x1000xi64>
}

// -----

// A short list needs only itself.
// CHECK-LABEL: func.func @top_k_keeps_a_list
// CHECK-SAME: stator.scratch = "128"
func.func @top_k_keeps_a_list(%x: tensor<4x1000xf32>) -> (tensor<4x5xf32>, tensor<4x5xi64>) {
  %0:2 = graph.top_k %x {k = #graph.dims<["5"]>, axis = 1 : i64} : (tensor<4x1000xf32>) -> (tensor<4x5xf32>, tensor<4x5xi64>)
  return %0#0, %0#1 : tensor<4x5xf32>, tensor<4x5xi64>
}

// -----

// Lanes are the elements inside of the axis; the running values are vectors.
// CHECK-LABEL: func.func @scans_on_lanes
func.func @scans_on_lanes(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK: scf.for {{.*}} -> (vector<16xf32>)
  %0 = graph.cumulative %x {kind = #graph.cumulative_kind<sum>, axis = 0 : i64} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
