// RUN: stator-opt %s --optimise-channels-last --optimise-sink-transposes --optimise-choose-kernels=library=none --optimise-pack-parameters --split-input-file | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: stator-opt %s --optimise-channels-last --optimise-sink-transposes --optimise-choose-kernels=library=onednn --optimise-pack-parameters --split-input-file | FileCheck %s --check-prefixes=CHECK,LIB

// OWN: graph.parameter @w.pack_conv : tensor<1x1x27x16xf32> {layout = "conv_panels16", recipe = #graph.recipe<"pack_conv", [@w], {groups = 1 : i64}>}
// LIB-NOT: pack_conv
graph.parameter @w : tensor<8x3x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<1x3x8x8xf32> {graph.name = "x"}) -> (tensor<1x8x8x8xf32> {graph.name = "y"}) {
  // CHECK: graph.transpose {{.*}} {permutation = array<i64: 0, 2, 3, 1>}
  // OWN: graph.convolution {{.*}}filter_packed, filter_shape = array<i64: 8, 3, 3, 3>{{.*}}layout = #graph.layout<channels_last>
  // LIB: graph.convolution {{.*}}layout = #graph.layout<channels_last>{{.*}}optimise.kernel = "onednn"
  // CHECK: graph.transpose {{.*}} {permutation = array<i64: 0, 3, 1, 2>}
  %w = graph.get_parameter @w : tensor<8x3x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}

// -----

// OWN: graph.parameter @w.pack_depthwise : tensor<9x8xf32> {layout = "depthwise_taps"
graph.parameter @w : tensor<8x1x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @depthwise
func.func @depthwise(%x: tensor<1x8x8x8xf32> {graph.name = "x"}) -> (tensor<1x8x8x8xf32> {graph.name = "y"}) {
  // OWN: graph.convolution {{.*}}filter_packed
  %w = graph.get_parameter @w : tensor<8x1x3x3xf32>
  %0 = graph.convolution %x, %w {groups = 8 : i64, strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}

// -----

// Weights as [N, K] are packed through the transposition.
// OWN: graph.parameter @w.pack_matmul : tensor<2x8x16xf32> {{.*}}#graph.recipe<"pack_matmul", [@w], {transposed}>
graph.parameter @w : tensor<20x8xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @matmul
func.func @matmul(%x: tensor<4x8xf32> {graph.name = "x"}) -> (tensor<4x20xf32> {graph.name = "y"}) {
  // OWN: graph.dot_general {{.*}}rhs_contract = array<i64: 0>, rhs_packed = 20 : i64
  %w = graph.get_parameter @w : tensor<20x8xf32>
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x8xf32>, tensor<20x8xf32>) -> tensor<4x20xf32>
  return %0 : tensor<4x20xf32>
}

// -----

// State changes between runs, so it is packed when it is used, by ops.
graph.parameter @w : tensor<8x3x1x1xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
// CHECK-LABEL: @mutable_filter
func.func @mutable_filter(%x: tensor<1x3x8x8xf32> {graph.name = "x"}) -> (tensor<1x8x8x8xf32> {graph.name = "y"}) {
  // OWN: graph.get_parameter @w :
  // OWN: graph.pad
  // OWN: graph.transpose
  // OWN: graph.convolution {{.*}}filter_packed
  %w = graph.get_parameter @w : tensor<8x3x1x1xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}
