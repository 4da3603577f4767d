// RUN: stator-opt %s --split-input-file --plan-outline-kernels | FileCheck %s
// RUN: stator-opt %s --split-input-file --plan-outline-kernels > %t.1 && stator-opt %s --split-input-file --plan-outline-kernels | diff - %t.1

!n = tensor<?x64xf32, #graph.dims<["N", "64"]>>
!t = tensor<?x64xf32, #graph.dims<["T", "64"]>>

// Equal work on sizes of different names is one function.
// CHECK-LABEL: func.func @shares_equal_kernels
func.func @shares_equal_kernels(%x: !n, %y: !t) -> (!n, !t) {
  // CHECK: plan.call @kernels::@[[K0:map_[0-9a-f]{8}]](%arg0) {family = "map", in_place = array<i64: 0>, label = "relu+exp", reason = "chain", sizes = #graph.dims<["N"]>}
  %a = graph.fusion %x {family = "map", reason = "chain"} : (!n) -> !n {
  ^bb0(%v: !n):
    %1 = graph.relu %v : (!n) -> !n
    %2 = graph.exp %1 : (!n) -> !n
    graph.yield %2 : !n
  }
  // CHECK: plan.call @kernels::@[[K0]](%arg1) {{.*}}sizes = #graph.dims<["T"]>}
  %b = graph.fusion %y {family = "map", reason = "chain"} : (!t) -> !t {
  ^bb0(%v: !t):
    %1 = graph.relu %v : (!t) -> !t
    %2 = graph.exp %1 : (!t) -> !t
    graph.yield %2 : !t
  }
  return %a, %b : !n, !t
}
// CHECK: module @kernels {
// CHECK-NEXT: func.func @[[K0]](%arg0: tensor<?x64xf32, #graph.dims<["s0", "64"]>>) -> tensor<?x64xf32, #graph.dims<["s0", "64"]>> attributes {graph.symbols = [#graph.symbol<"s0", 0, 2147483647>], stator.family = "map"}
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.exp
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }

// -----

// Expressions keep their form over the kernel's own symbols, in types and in attributes; ranges come along.
// CHECK-LABEL: func.func @renames_inside_expressions
!in = tensor<?x?xf32, #graph.dims<["T", "N"]>>
!out = tensor<?x?xf32, #graph.dims<["N + T", "N"]>>
func.func @renames_inside_expressions(%x: !in) -> !out attributes {graph.symbols = [#graph.symbol<"N", 1, 8>, #graph.symbol<"T", 2, 16>]} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  // CHECK: sizes = #graph.dims<["T", "N"]>
  %y = graph.fusion %x, %zero {family = "data"} : (!in, tensor<f32>) -> !out {
  ^bb0(%v: !in, %z: tensor<f32>):
    %1 = graph.pad %v, %z {low = #graph.dims<["N", "0"]>, high = #graph.dims<["0", "0"]>, interior = array<i64: 0, 0>} : (!in, tensor<f32>) -> !out
    graph.yield %1 : !out
  }
  return %y : !out
}
// CHECK: func.func @data_{{.*}}(%arg0: tensor<?x?xf32, #graph.dims<["s0", "s1"]>>
// CHECK-SAME: graph.symbols = [#graph.symbol<"s0", 2, 16>, #graph.symbol<"s1", 1, 8>]
// CHECK: low = #graph.dims<["s1", "0"]>

// -----

// Only operands that are read where the result is written may be overwritten.
// CHECK-LABEL: func.func @in_place_operands
func.func @in_place_operands(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %z: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK: plan.call {{.*}}in_place = array<i64: 0>
  %a = graph.fusion %x, %y, %z {family = "map"} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%u: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4xf32>):
    %1 = graph.transpose %v {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = graph.broadcast %w {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
    %3 = graph.add %u, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = graph.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    graph.yield %4 : tensor<4x4xf32>
  }
  // CHECK: plan.call
  // CHECK-NOT: in_place
  // CHECK: return
  %b = graph.fusion %a {family = "rows"} : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%u: tensor<4x4xf32>):
    %1 = graph.softmax %u {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    graph.yield %1 : tensor<4x4xf32>
  }
  return %b : tensor<4x4xf32>
}

// -----

// What a convolution adds behind its sums may be overwritten; its input may not, nor what a matrix product adds.
// CHECK-LABEL: func.func @in_place_residual
func.func @in_place_residual(%x: tensor<1x4x4x8xf32>, %r: tensor<1x4x4x8xf32>, %w: tensor<8x8x1x1xf32>, %m: tensor<8x8xf32>) -> (tensor<1x4x4x8xf32>, tensor<8x8xf32>) {
  // CHECK: plan.call @kernels::@conv_{{.*}}in_place = array<i64: 1>
  %a = graph.fusion %x, %r, %w {family = "conv"} : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32> {
  ^bb0(%u: tensor<1x4x4x8xf32>, %v: tensor<1x4x4x8xf32>, %f: tensor<8x8x1x1xf32>):
    %1 = graph.convolution %u, %f {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (tensor<1x4x4x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x4x4x8xf32>
    %2 = graph.add %1, %v : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %3 = graph.relu %2 : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    graph.yield %3 : tensor<1x4x4x8xf32>
  }
  // CHECK: plan.call @kernels::@matmul_
  // CHECK-NOT: in_place
  // CHECK: return
  %b = graph.fusion %m, %m {family = "matmul"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%u: tensor<8x8xf32>, %v: tensor<8x8xf32>):
    %1 = graph.dot_general %u, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = graph.add %1, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    graph.yield %2 : tensor<8x8xf32>
  }
  return %a, %b : tensor<1x4x4x8xf32>, tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @calls_library
!x = tensor<?x64xf32, #graph.dims<["N", "64"]>>
!y = tensor<?x10xf32, #graph.dims<["N", "10"]>>
func.func @calls_library(%x: !x, %w: tensor<10x64xf32>, %b: tensor<10xf32>) -> !y {
  // CHECK: plan.library_call "onednn" "matmul"(%arg0, %arg1, %arg2)
  // CHECK-SAME: options = {bias = 1 : i64, relu = 1 : i64, rhs_batched = 0 : i64, transpose_rhs = 1 : i64}
  // CHECK-SAME: sizes = #graph.dims<["1", "N", "10", "64"]>
  %y = graph.fusion %x, %w, %b {family = "matmul", kernel = "onednn", reason = "by cost"} : (!x, tensor<10x64xf32>, tensor<10xf32>) -> !y {
  ^bb0(%u: !x, %v: tensor<10x64xf32>, %c: tensor<10xf32>):
    %1 = graph.dot_general %u, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (!x, tensor<10x64xf32>) -> !y
    %2 = graph.broadcast %c {dimensions = array<i64: 1>} : (tensor<10xf32>) -> !y
    %3 = graph.add %1, %2 : (!y, !y) -> !y
    %4 = graph.relu %3 : (!y) -> !y
    graph.yield %4 : !y
  }
  return %y : !y
}

// -----

// CHECK-LABEL: func.func @calls_library_convolution
func.func @calls_library_convolution(%x: tensor<2x8x8x4xf32>, %w: tensor<16x4x3x3xf32>) -> tensor<2x8x8x16xf32> {
  // CHECK: plan.library_call "onednn" "convolution"(%arg0, %arg1)
  // CHECK-SAME: options = {bias = 0 : i64, channels_last = 1 : i64, dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, relu = 0 : i64, strides = array<i64: 1, 1>}
  // CHECK-SAME: sizes = #graph.dims<["2", "8", "8", "4", "16", "4", "3", "3", "2", "8", "8", "16"]>
  %y = graph.fusion %x, %w {family = "conv", kernel = "onednn"} : (tensor<2x8x8x4xf32>, tensor<16x4x3x3xf32>) -> tensor<2x8x8x16xf32> {
  ^bb0(%u: tensor<2x8x8x4xf32>, %v: tensor<16x4x3x3xf32>):
    %1 = graph.convolution %u, %v {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (tensor<2x8x8x4xf32>, tensor<16x4x3x3xf32>) -> tensor<2x8x8x16xf32>
    graph.yield %1 : tensor<2x8x8x16xf32>
  }
  return %y : tensor<2x8x8x16xf32>
}

// -----

// A bias that is a constant of the region is taken out; what follows bias and relu are post-ops: GELU, a vector, a whole tensor.
// CHECK-LABEL: func.func @calls_library_with_post_ops
func.func @calls_library_with_post_ops(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>, %s: tensor<4xf32>, %r: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[BIAS:.*]] = graph.constant dense<2.500000e-01> : tensor<4xf32>
  // CHECK: plan.library_call "onednn" "matmul"(%arg0, %arg1, %[[BIAS]], %arg2, %arg3)
  // CHECK-SAME: options = {bias = 1 : i64, post_ops = array<i64: 2, 0, 0, 0, 5, 1, 0, 0, 4, 2, 0, 0>, relu = 0 : i64
  %y = graph.fusion %x, %w, %s, %r {family = "matmul", kernel = "onednn"} : (tensor<2x8xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%u: tensor<2x8xf32>, %v: tensor<8x4xf32>, %t: tensor<4xf32>, %q: tensor<2x4xf32>):
    %b = graph.constant dense<0.25> : tensor<4xf32>
    %1 = graph.dot_general %u, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    %2 = graph.broadcast %b {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4xf32>
    %3 = graph.add %1, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %4 = graph.gelu %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = graph.broadcast %t {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4xf32>
    %6 = graph.mul %5, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %7 = graph.add %6, %q : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %7 : tensor<2x4xf32>
  }
  return %y : tensor<2x4xf32>
}
