// RUN: stator-opt %s | stator-opt | FileCheck %s

// Moves, makers, indexing and reductions.

// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<2x3xf32>, %s: tensor<f32>, %v: tensor<3xf32>) {
  // CHECK: graph.reshape %{{[^ ]+}} : (tensor<2x3xf32>) -> tensor<6xf32>
  %0 = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: graph.transpose %{{[^ ]+}} {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: graph.broadcast %{{[^ ]+}} {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %2 = graph.broadcast %v {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.broadcast %{{[^ ]+}} {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
  %3 = graph.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK: graph.slice %{{[^ ]+}} {starts = #graph.dims<["1", "0"]>, strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %4 = graph.slice %x {starts = #graph.dims<["1", "0"]>, strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  // CHECK: graph.reverse %{{[^ ]+}} {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.reverse %x {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.pad %{{[^ ]+}}, %{{[^ ]+}} {high = #graph.dims<["0", "1"]>, interior = array<i64: 0, 1>, low = #graph.dims<["1", "-1"]>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  %6 = graph.pad %x, %s {high = #graph.dims<["0", "1"]>, interior = array<i64: 0, 1>, low = #graph.dims<["1", "-1"]>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  // CHECK: graph.pad %{{[^ ]+}}, %{{[^ ]+}} {high = #graph.dims<["0", "2"]>, interior = array<i64: 0, 0>, low = #graph.dims<["1", "0"]>, mode = #graph.pad_mode<reflect>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  %7 = graph.pad %x, %s {high = #graph.dims<["0", "2"]>, interior = array<i64: 0, 0>, low = #graph.dims<["1", "0"]>, mode = #graph.pad_mode<reflect>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  // CHECK: graph.concat %{{[^ ]+}}, %{{[^ ]+}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %8 = graph.concat %x, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: func.func @makers
func.func @makers() {
  // CHECK: graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK: graph.constant dense<7> : tensor<3x2xui8>
  %1 = graph.constant dense<7> : tensor<3x2xui8>
  // CHECK: graph.constant dense<[true, false]> : tensor<2xi1>
  %2 = graph.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: graph.iota {axis = 1 : i64} : () -> tensor<2x3xi32>
  %3 = graph.iota {axis = 1 : i64} : () -> tensor<2x3xi32>
  // CHECK: graph.dim_values {values = #graph.dims<["N", "2*N + 1"]>} : () -> tensor<2xi64>
  %4 = graph.dim_values {values = #graph.dims<["N", "2*N + 1"]>} : () -> tensor<2xi64>
  // CHECK: graph.dim_values {scalar, values = #graph.dims<["N"]>} : () -> tensor<i64>
  %5 = graph.dim_values {scalar, values = #graph.dims<["N"]>} : () -> tensor<i64>
  return
}

// CHECK-LABEL: func.func @resizes
func.func @resizes(%x: tensor<1x1x2x2xf32>) {
  // CHECK: graph.resize %{{[^ ]+}} {coordinate = #graph.resize_coordinate<asymmetric>, mode = #graph.resize_mode<nearest>, nearest_mode = #graph.resize_nearest<floor>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  %0 = graph.resize %x {coordinate = #graph.resize_coordinate<asymmetric>, mode = #graph.resize_mode<nearest>, nearest_mode = #graph.resize_nearest<floor>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  // CHECK: graph.resize %{{[^ ]+}} {antialias = true, coordinate = #graph.resize_coordinate<half_pixel>, mode = #graph.resize_mode<linear>, scales = array<f64: 1.000000e+00, 1.000000e+00, 5.000000e-01, 5.000000e-01>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  %1 = graph.resize %x {antialias = true, coordinate = #graph.resize_coordinate<half_pixel>, mode = #graph.resize_mode<linear>, scales = array<f64: 1.000000e+00, 1.000000e+00, 5.000000e-01, 5.000000e-01>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  // CHECK: graph.resize %{{[^ ]+}} {coordinate = #graph.resize_coordinate<align_corners>, cubic_coeff = -5.000000e-01 : f64, exclude_outside = true, mode = #graph.resize_mode<cubic>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x5x5xf32>
  %2 = graph.resize %x {coordinate = #graph.resize_coordinate<align_corners>, cubic_coeff = -5.000000e-01 : f64, exclude_outside = true, mode = #graph.resize_mode<cubic>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x5x5xf32>
  return
}

// CHECK-LABEL: func.func @indexing
func.func @indexing(%x: tensor<4x5x6xf32>, %i: tensor<2x3xi64>, %j: tensor<2x5x6xi32>, %u: tensor<2x5x6xf32>, %k: tensor<3x2xi64>, %w: tensor<3x6xf32>) {
  // CHECK: graph.gather %{{[^ ]+}}, %{{[^ ]+}} {axis = 1 : i64} : (tensor<4x5x6xf32>, tensor<2x3xi64>) -> tensor<4x2x3x6xf32>
  %0 = graph.gather %x, %i {axis = 1 : i64} : (tensor<4x5x6xf32>, tensor<2x3xi64>) -> tensor<4x2x3x6xf32>
  // CHECK: graph.gather_elements %{{[^ ]+}}, %{{[^ ]+}} {axis = 0 : i64} : (tensor<4x5x6xf32>, tensor<2x5x6xi32>) -> tensor<2x5x6xf32>
  %1 = graph.gather_elements %x, %j {axis = 0 : i64} : (tensor<4x5x6xf32>, tensor<2x5x6xi32>) -> tensor<2x5x6xf32>
  // CHECK: graph.gather_nd %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>
  %2 = graph.gather_nd %x, %k : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>
  // CHECK: graph.scatter_elements %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {axis = 0 : i64, reduction = #graph.scatter_reduction<add>} : (tensor<4x5x6xf32>, tensor<2x5x6xi32>, tensor<2x5x6xf32>) -> tensor<4x5x6xf32>
  %3 = graph.scatter_elements %x, %j, %u {axis = 0 : i64, reduction = #graph.scatter_reduction<add>} : (tensor<4x5x6xf32>, tensor<2x5x6xi32>, tensor<2x5x6xf32>) -> tensor<4x5x6xf32>
  // CHECK: graph.scatter_nd %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : (tensor<4x5x6xf32>, tensor<3x2xi64>, tensor<3x6xf32>) -> tensor<4x5x6xf32>
  %4 = graph.scatter_nd %x, %k, %w : (tensor<4x5x6xf32>, tensor<3x2xi64>, tensor<3x6xf32>) -> tensor<4x5x6xf32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x3xf32>, %b: tensor<2x3xi1>) {
  // CHECK: graph.reduce %{{[^ ]+}} {axes = array<i64: 1>, kind = #graph.reduce_kind<sum>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %0 = graph.reduce %x {axes = array<i64: 1>, kind = #graph.reduce_kind<sum>} : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK: graph.reduce %{{[^ ]+}} {axes = array<i64: 0, 1>, keep_dims = true, kind = #graph.reduce_kind<max>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %1 = graph.reduce %x {axes = array<i64: 0, 1>, keep_dims = true, kind = #graph.reduce_kind<max>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  // CHECK: graph.reduce %{{[^ ]+}} {axes = array<i64: 0>, kind = #graph.reduce_kind<any>} : (tensor<2x3xi1>) -> tensor<3xi1>
  %2 = graph.reduce %b {axes = array<i64: 0>, kind = #graph.reduce_kind<any>} : (tensor<2x3xi1>) -> tensor<3xi1>
  // CHECK: graph.arg_reduce %{{[^ ]+}} {axis = 1 : i64, kind = #graph.arg_reduce_kind<max>} : (tensor<2x3xf32>) -> tensor<2xi64>
  %3 = graph.arg_reduce %x {axis = 1 : i64, kind = #graph.arg_reduce_kind<max>} : (tensor<2x3xf32>) -> tensor<2xi64>
  // CHECK: graph.arg_reduce %{{[^ ]+}} {axis = 0 : i64, keep_dims = true, kind = #graph.arg_reduce_kind<min>, select_last = true} : (tensor<2x3xf32>) -> tensor<1x3xi64>
  %4 = graph.arg_reduce %x {axis = 0 : i64, keep_dims = true, kind = #graph.arg_reduce_kind<min>, select_last = true} : (tensor<2x3xf32>) -> tensor<1x3xi64>
  // CHECK: graph.cumulative %{{[^ ]+}} {axis = 1 : i64, exclusive = true, kind = #graph.cumulative_kind<sum>, reverse = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.cumulative %x {axis = 1 : i64, exclusive = true, kind = #graph.cumulative_kind<sum>, reverse = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.top_k %{{[^ ]+}} {axis = 1 : i64, k = #graph.dims<["2"]>, largest = false} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  %6:2 = graph.top_k %x {axis = 1 : i64, k = #graph.dims<["2"]>, largest = false} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return
}
