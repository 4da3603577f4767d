// RUN: stator-opt %s --optimise-pool-first | FileCheck %s

!x = tensor<1x8x8x128xf32>
!y = tensor<1x8x8x64xf32>

// CHECK-LABEL: func.func @average_of_a_product
// CHECK: %[[POOLED:.*]] = graph.pool %{{.*}} -> tensor<1x4x4x128xf32>
// CHECK: %[[PRODUCT:.*]] = graph.convolution %[[POOLED]], {{.*}} -> tensor<1x4x4x64xf32>
// CHECK: return %[[PRODUCT]]
func.func @average_of_a_product(%x: !x, %w: tensor<64x128x1x1xf32>) -> tensor<1x4x4x64xf32> {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
    dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (!x, tensor<64x128x1x1xf32>) -> !y
  %1 = graph.pool %0 {kind = #graph.pool_kind<average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} :
    (!y) -> tensor<1x4x4x64xf32>
  return %1 : tensor<1x4x4x64xf32>
}

// A maximum is not linear.
// CHECK-LABEL: func.func @maximum_of_a_product
// CHECK: graph.convolution %{{.*}} -> tensor<1x8x8x64xf32>
func.func @maximum_of_a_product(%x: !x, %w: tensor<64x128x1x1xf32>) -> tensor<1x4x4x64xf32> {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
    dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (!x, tensor<64x128x1x1xf32>) -> !y
  %1 = graph.pool %0 {kind = #graph.pool_kind<max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} :
    (!y) -> tensor<1x4x4x64xf32>
  return %1 : tensor<1x4x4x64xf32>
}

// Somebody else needs the product of every pixel.
// CHECK-LABEL: func.func @product_with_two_users
// CHECK: graph.convolution %{{.*}} -> tensor<1x8x8x64xf32>
func.func @product_with_two_users(%x: !x, %w: tensor<64x128x1x1xf32>) -> (tensor<1x4x4x64xf32>, !y) {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>,
    dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (!x, tensor<64x128x1x1xf32>) -> !y
  %1 = graph.pool %0 {kind = #graph.pool_kind<average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} :
    (!y) -> tensor<1x4x4x64xf32>
  return %1, %0 : tensor<1x4x4x64xf32>, !y
}
