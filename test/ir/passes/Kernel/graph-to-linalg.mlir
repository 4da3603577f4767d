// RUN: stator-opt %s --kernel-graph-to-linalg --split-input-file | FileCheck %s

!x = tensor<?x1x64xf32, #graph.dims<["s0", "1", "64"]>>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// Axes of size 1 are dropped from types, a broadcast is an indexing map, results are written into poison.
// CHECK-LABEL: func.func @drops_unit_axes(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32, #graph.dims<["s0", "64"]>>, %[[B:.*]]: tensor<64xf32>)
func.func @drops_unit_axes(%x: !x, %b: tensor<64xf32>) -> !x {
  // CHECK: %[[OUT:.*]] = ub.poison
  // CHECK: %[[ROWS:.*]] = linalg.generic {indexing_maps = [#[[$ROW]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[B]]
  // CHECK-SAME: outs(%[[OUT]]
  // CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ALL]], #[[$ALL]]]
  // CHECK-SAME: ins(%[[X]], %[[ROWS]]
  // CHECK: arith.addf
  %0 = graph.broadcast %b {dimensions = array<i64: 2>} : (tensor<64xf32>) -> !x
  %1 = graph.add %x, %0 : (!x, !x) -> !x
  return %1 : !x
}

// -----

// CHECK: affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transposes_by_map
// CHECK: linalg.generic
func.func @transposes_by_map(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @computes_halves_as_f32
func.func @computes_halves_as_f32(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: %[[EXP:.*]] = math.exp %[[WIDE]] : f32
  // CHECK: arith.truncf %[[EXP]] : f32 to bf16
  %0 = graph.exp %x : (tensor<8xbf16>) -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// An explicit conversion states its rounding, so that it is not undone.
// CHECK-LABEL: func.func @rounds_explicit_conversions
func.func @rounds_explicit_conversions(%x: tensor<8xf32>) -> tensor<8xf16> {
  // CHECK: arith.truncf %{{.*}} to_nearest_even : f32 to f16
  %0 = graph.convert %x : (tensor<8xf32>) -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @unsigned_order(
// CHECK-SAME: tensor<8xi8>
func.func @unsigned_order(%x: tensor<8xui8>, %y: tensor<8xui8>) -> tensor<8xui8> {
  // CHECK: arith.maxui
  %0 = graph.maximum %x, %y : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  return %0 : tensor<8xui8>
}

// -----

// CHECK-LABEL: func.func @guards_integer_division
func.func @guards_integer_division(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  // CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
  // CHECK: arith.divsi %{{.*}}, %[[DIVISOR]] : i32
  %0 = graph.div %x, %y : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// CHECK-LABEL: func.func @reads_gathers_by_position
func.func @reads_gathers_by_position(%x: tensor<10x64xf32>, %i: tensor<3xi64>) -> tensor<3x64xf32> {
  // CHECK: %[[COLUMN:.*]] = linalg.index 1
  // CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[COLUMN]]] {kernel.needs_elements} : tensor<10x64xf32>
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<10x64xf32>, tensor<3xi64>) -> tensor<3x64xf32>
  return %0 : tensor<3x64xf32>
}

// -----

!x = tensor<?x64xf32, #graph.dims<["s0", "64"]>>
!y = tensor<2x64xf32>
// A symbolic size in a body is a value made before the op.
// CHECK-LABEL: func.func @symbolic_offsets
func.func @symbolic_offsets(%x: !x) -> !y {
  // CHECK: %[[START:.*]] = graph.dim_values {scalar, values = #graph.dims<["s0 - 2"]>}
  // CHECK: linalg.generic
  // CHECK: tensor.extract %[[START]][]
  %0 = graph.slice %x {starts = #graph.dims<["s0 - 2", "0"]>, strides = array<i64: 1, 1>} : (!x) -> !y
  return %0 : !y
}

// -----

// CHECK-LABEL: func.func @accumulates_halves_in_f32
func.func @accumulates_halves_in_f32(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  // CHECK: %[[START:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4xf32>)
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<4x8xf16>) outs(%[[START]] : tensor<4xf32>)
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]}
  // CHECK: arith.truncf
  %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// Positions of extrema are two reductions: the extremum, then the first position that holds it.
// CHECK-LABEL: func.func @finds_positions_in_two_reductions
func.func @finds_positions_in_two_reductions(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // CHECK: %[[MAX:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[X:.*]] : tensor<4x8xf32>)
  // CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[X]], %[[MAX]]
  // CHECK: arith.minsi
  %0 = graph.arg_reduce %x {kind = #graph.arg_reduce_kind<max>, axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// CHECK-LABEL: func.func @decomposes_composites
func.func @decomposes_composites(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: graph.softmax
  // CHECK: math.exp
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// What has an emitter of its own stays.
// CHECK-LABEL: func.func @keeps_concat
func.func @keeps_concat(%x: tensor<1x8xf32>, %y: tensor<2x8xf32>) -> tensor<3x8xf32> {
  // CHECK: graph.concat
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

// A contraction and its types stay as they are; what follows becomes its epilogue.
// CHECK-LABEL: func.func @keeps_contractions(
// CHECK-SAME: tensor<1x8xf32>
func.func @keeps_contractions(%x: tensor<1x8xf32>, %w: tensor<8x4xf32>) -> tensor<1x4xf32> {
  // CHECK: %[[DOT:.*]] = graph.dot_general
  // CHECK: linalg.generic {{.*}} ins(%[[DOT]] : tensor<1x4xf32>)
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
      rhs_contract = array<i64: 0>} : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
  %1 = graph.relu %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
