// RUN: stator-opt %s | stator-opt | FileCheck %s

// Contractions, windows, normalisations, attention, recurrent layers.

// CHECK-LABEL: func.func @dot_products
func.func @dot_products(%x: tensor<8x2x3xf32>, %y: tensor<8x3x4xf32>, %m: tensor<5x3xf32>, %p: tensor<2x3x16xf32>, %q: tensor<8x2x3x16xf32>) {
  // CHECK: graph.dot_general %{{[^ ]+}}, %{{[^ ]+}} {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<8x2x3xf32>, tensor<8x3x4xf32>) -> tensor<8x2x4xf32>
  %0 = graph.dot_general %x, %y {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<8x2x3xf32>, tensor<8x3x4xf32>) -> tensor<8x2x4xf32>
  // CHECK: graph.dot_general %{{[^ ]+}}, %{{[^ ]+}} {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>, rhs_packed = 20 : i64} : (tensor<5x3xf32>, tensor<2x3x16xf32>) -> tensor<5x20xf32>
  %1 = graph.dot_general %m, %p {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>, rhs_packed = 20 : i64} : (tensor<5x3xf32>, tensor<2x3x16xf32>) -> tensor<5x20xf32>
  // CHECK: graph.dot_general %{{[^ ]+}}, %{{[^ ]+}} {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>, rhs_packed = 17 : i64} : (tensor<8x2x3xf32>, tensor<8x2x3x16xf32>) -> tensor<8x2x17xf32>
  %2 = graph.dot_general %x, %q {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>, rhs_packed = 17 : i64} : (tensor<8x2x3xf32>, tensor<8x2x3x16xf32>) -> tensor<8x2x17xf32>
  return
}

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<?x3x8x8xf32, #graph.dims<["N", "3", "8", "8"]>>, %w: tensor<16x3x3x3xf32>, %y: tensor<1x8x8x6xf32>, %p: tensor<2x1x12x16xf32>, %d: tensor<9x6xf32>, %z: tensor<1x4x9xf32>, %v: tensor<6x2x3xf32>) {
  // CHECK: graph.convolution %{{[^ ]+}}, %{{[^ ]+}} {dilations = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x3x8x8xf32, #graph.dims<["N", "3", "8", "8"]>>, tensor<16x3x3x3xf32>) -> tensor<?x16x4x4xf32, #graph.dims<["N", "16", "4", "4"]>>
  %0 = graph.convolution %x, %w {dilations = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x3x8x8xf32, #graph.dims<["N", "3", "8", "8"]>>, tensor<16x3x3x3xf32>) -> tensor<?x16x4x4xf32, #graph.dims<["N", "16", "4", "4"]>>
  // CHECK: graph.convolution %{{[^ ]+}}, %{{[^ ]+}} {dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 4, 3, 2, 2>, groups = 2 : i64, layout = #graph.layout<channels_last>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x6xf32>, tensor<2x1x12x16xf32>) -> tensor<1x7x7x4xf32>
  %1 = graph.convolution %y, %p {dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 4, 3, 2, 2>, groups = 2 : i64, layout = #graph.layout<channels_last>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x6xf32>, tensor<2x1x12x16xf32>) -> tensor<1x7x7x4xf32>
  // CHECK: graph.convolution %{{[^ ]+}}, %{{[^ ]+}} {dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 6, 1, 3, 3>, groups = 6 : i64, layout = #graph.layout<channels_last>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x6xf32>, tensor<9x6xf32>) -> tensor<1x8x8x6xf32>
  %2 = graph.convolution %y, %d {dilations = array<i64: 1, 1>, filter_packed, filter_shape = array<i64: 6, 1, 3, 3>, groups = 6 : i64, layout = #graph.layout<channels_last>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x6xf32>, tensor<9x6xf32>) -> tensor<1x8x8x6xf32>
  // CHECK: graph.convolution %{{[^ ]+}}, %{{[^ ]+}} {dilations = array<i64: 2>, groups = 2 : i64, pad_high = array<i64: 0>, pad_low = array<i64: -1>, strides = array<i64: 1>} : (tensor<1x4x9xf32>, tensor<6x2x3xf32>) -> tensor<1x6x4xf32>
  %3 = graph.convolution %z, %v {dilations = array<i64: 2>, groups = 2 : i64, pad_high = array<i64: 0>, pad_low = array<i64: -1>, strides = array<i64: 1>} : (tensor<1x4x9xf32>, tensor<6x2x3xf32>) -> tensor<1x6x4xf32>
  return
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<1x3x8x8xf32>) {
  // CHECK: graph.pool %{{[^ ]+}} {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, kind = #graph.pool_kind<max>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %0 = graph.pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, kind = #graph.pool_kind<max>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: graph.pool %{{[^ ]+}} {ceil_extra = array<i64: 1, 1>, count_include_pad = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #graph.pool_kind<average>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %1 = graph.pool %x {ceil_extra = array<i64: 1, 1>, count_include_pad = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #graph.pool_kind<average>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// CHECK-LABEL: func.func @normalisations
func.func @normalisations(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // CHECK: graph.batch_norm %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = graph.batch_norm %x, %v, %v, %v, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.layer_norm %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.layer_norm %x, %v, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.layer_norm %{{[^ ]+}}, %{{[^ ]+}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = graph.layer_norm %x, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.rms_norm %{{[^ ]+}}, %{{[^ ]+}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = graph.rms_norm %x, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.softmax %{{[^ ]+}} {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.log_softmax %{{[^ ]+}} {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.log_softmax %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>, %k: tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, %m: tensor<1x1x?x?xi1, #graph.dims<["1", "1", "L", "S"]>>) {
  // CHECK: graph.attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {causal = true, scale = 1.250000e-01 : f64} : (tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>) -> tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>
  %0 = graph.attention %q, %k, %k {causal = true, scale = 1.250000e-01 : f64} : (tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>) -> tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>
  // CHECK: graph.attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {scale = 1.250000e-01 : f64} : (tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, tensor<1x1x?x?xi1, #graph.dims<["1", "1", "L", "S"]>>) -> tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>
  %1 = graph.attention %q, %k, %k, %m {scale = 1.250000e-01 : f64} : (tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, tensor<?x8x?x64xf32, #graph.dims<["B", "8", "S", "64"]>>, tensor<1x1x?x?xi1, #graph.dims<["1", "1", "L", "S"]>>) -> tensor<?x8x?x64xf32, #graph.dims<["B", "8", "L", "64"]>>
  return
}

// CHECK-LABEL: func.func @recurrent_layers
func.func @recurrent_layers(%x: tensor<5x2x3xf32>, %w4: tensor<2x16x3xf32>, %r4: tensor<2x16x4xf32>, %b4: tensor<2x32xf32>, %h: tensor<2x2x4xf32>, %p: tensor<2x12xf32>, %n: tensor<2xi32>, %w3: tensor<1x12x3xf32>, %r3: tensor<1x12x4xf32>, %w1: tensor<1x1x3x1x16xf32>, %r1: tensor<1x1x4x1x16xf32>) {
  // CHECK: graph.lstm %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.recurrent_direction<bidirectional>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>} : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x4xf32>, tensor<2x32xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x12xf32>, tensor<2xi32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
  %0:3 = graph.lstm %x, %w4, %r4, %b4, %h, %h, %p, %n {direction = #graph.recurrent_direction<bidirectional>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>} : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x4xf32>, tensor<2x32xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x12xf32>, tensor<2xi32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
  // CHECK: graph.gru %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {direction = #graph.recurrent_direction<reverse>, linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  %1:2 = graph.gru %x, %w3, %r3 {direction = #graph.recurrent_direction<reverse>, linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  // CHECK: graph.rnn %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {activation = #graph.rnn_activation<relu>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, weights_packed} : (tensor<5x2x3xf32>, tensor<1x1x3x1x16xf32>, tensor<1x1x4x1x16xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  %2:2 = graph.rnn %x, %w1, %r1 {activation = #graph.rnn_activation<relu>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, weights_packed} : (tensor<5x2x3xf32>, tensor<1x1x3x1x16xf32>, tensor<1x1x4x1x16xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}
