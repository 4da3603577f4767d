// RUN: stator-opt %s --graph-fold-batch-norm --split-input-file | FileCheck %s

// CHECK-DAG: graph.parameter @w.mul_channel : tensor<2x1x1x1xf32> {recipe = #graph.recipe<"mul_channel", [@w, @batch_norm.scale], {axis = 0 : i64}>}
// CHECK-DAG: graph.parameter @batch_norm.bias : tensor<2xf32>
graph.parameter @w : tensor<2x1x1x1xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @folds_into_convolution
func.func @folds_into_convolution(%x: tensor<1x1x4x4xf32> {graph.name = "x"}) -> (tensor<1x2x4x4xf32> {graph.name = "y"}) {
  // CHECK-DAG: %[[W:.*]] = graph.get_parameter @w.mul_channel
  // CHECK-DAG: %[[C:.*]] = graph.convolution %{{.*}}, %[[W]]
  // CHECK-DAG: %[[B:.*]] = graph.get_parameter @batch_norm.bias
  // CHECK: %[[R:.*]] = graph.broadcast %[[B]] {dimensions = array<i64: 1>}
  // CHECK: %[[S:.*]] = graph.add %[[C]], %[[R]]
  // CHECK-NEXT: return %[[S]]
  %w = graph.get_parameter @w : tensor<2x1x1x1xf32>
  %scale = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bias = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %mean = graph.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %variance = graph.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %variance {axis = 1 : i64, epsilon = 0.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// -----

graph.parameter @w : tensor<2x1x1x1xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @keeps_norm_of_shared_convolution
func.func @keeps_norm_of_shared_convolution(%x: tensor<1x1x4x4xf32> {graph.name = "x"})
    -> (tensor<1x2x4x4xf32> {graph.name = "y"}, tensor<1x2x4x4xf32> {graph.name = "z"}) {
  // CHECK: graph.batch_norm
  %w = graph.get_parameter @w : tensor<2x1x1x1xf32>
  %c = graph.constant dense<1.0> : tensor<2xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.batch_norm %0, %c, %c, %c, %c {axis = 1 : i64, epsilon = 0.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1, %0 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
