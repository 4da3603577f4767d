// RUN: stator-opt %s --optimise-form-gates | FileCheck %s

// From the sum to the sigmoid, with reshapes moved out of the way: one region.
// CHECK-LABEL: @gate
// CHECK: %[[G:.*]] = graph.fusion %{{.*}} {family = "gate"
// CHECK: graph.reduce
// CHECK: graph.convolution
// CHECK-NOT: graph.reshape
// CHECK: graph.convolution
// CHECK: graph.sigmoid
// CHECK: graph.yield
// CHECK: return %[[G]]
func.func @gate(%x: tensor<1x7x7x32xf32> {graph.name = "x"}, %w: tensor<1x1x32x16xf32> {graph.name = "w"}, %v: tensor<1x2x8x16xf32> {graph.name = "v"})
    -> (tensor<1x1x1x32xf32> {graph.name = "y"}) {
  %sum = graph.reduce %x {axes = array<i64: 1, 2>, keep_dims = true, kind = #graph.reduce_kind<sum>} : (tensor<1x7x7x32xf32>) -> tensor<1x1x1x32xf32>
  %few = graph.convolution %sum, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 8, 32, 1, 1>} : (tensor<1x1x1x32xf32>, tensor<1x1x32x16xf32>) -> tensor<1x1x1x8xf32>
  %a = graph.reshape %few : (tensor<1x1x1x8xf32>) -> tensor<1x8x1x1xf32>
  %s = graph.sigmoid %few : (tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
  %b = graph.reshape %s : (tensor<1x1x1x8xf32>) -> tensor<1x8x1x1xf32>
  %silu = graph.mul %a, %b : (tensor<1x8x1x1xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  %c = graph.reshape %silu : (tensor<1x8x1x1xf32>) -> tensor<1x1x1x8xf32>
  %many = graph.convolution %c, %v {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 32, 8, 1, 1>} : (tensor<1x1x1x8xf32>, tensor<1x2x8x16xf32>) -> tensor<1x1x1x32xf32>
  %y = graph.sigmoid %many : (tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
  return %y : tensor<1x1x1x32xf32>
}
