// RUN: stator-opt %s --kernel-contractions --split-input-file --verify-diagnostics

// Several convolutions in a kernel make a block, with a depthwise one in the middle, or a gate of two.

func.func @no_filter(%x: tensor<1x4x4x8xf32>, %a: tensor<1x1x8x16xf32>, %b: tensor<1x1x8x16xf32>, %c: tensor<1x1x8x16xf32>) -> tensor<1x4x4x8xf32> {
  // expected-error @+1 {{'graph.convolution' op is one of 3 convolutions that make no block}}
  %0 = graph.convolution %x, %a {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 8, 8, 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x16xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.convolution %0, %b {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 8, 8, 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x16xf32>) -> tensor<1x4x4x8xf32>
  %2 = graph.convolution %1, %c {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 8, 8, 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x16xf32>) -> tensor<1x4x4x8xf32>
  return %2 : tensor<1x4x4x8xf32>
}

// -----

func.func @expands_with_taps(%x: tensor<1x4x4x8xf32>, %a: tensor<1x1x72x16xf32>, %f: tensor<9x8xf32>) -> tensor<1x4x4x8xf32> {
  // expected-error @+1 {{'graph.convolution' op is in a block, but neither depthwise nor a product over pixels}}
  %0 = graph.convolution %x, %a {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 8, 8, 3, 3>} : (tensor<1x4x4x8xf32>, tensor<1x1x72x16xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.convolution %0, %f {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 8, 1, 3, 3>} : (tensor<1x4x4x8xf32>, tensor<9x8xf32>) -> tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}
