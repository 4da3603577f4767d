// RUN: stator-opt %s --optimise-form-blocks --split-input-file | FileCheck %s
// RUN: stator-opt %s --optimise-form-blocks=expand-bytes=100000000 --split-input-file | FileCheck %s --check-prefix=SMALL

// Expand, filter and project become one region: the tensors in between are large.
// CHECK-LABEL: @whole
// CHECK: graph.fusion {{.*}}family = "inverted_residual"
// CHECK-COUNT-3: graph.convolution
// CHECK-NOT: graph.convolution
// SMALL-LABEL: @whole
// SMALL-NOT: graph.fusion
func.func @whole(%x: tensor<1x56x56x24xf32> {graph.name = "x"}, %w: tensor<1x6x24x16xf32> {graph.name = "w"}, %f: tensor<9x96xf32> {graph.name = "f"},
    %p: tensor<1x2x96x16xf32> {graph.name = "p"}) -> (tensor<1x56x56x24xf32> {graph.name = "y"}) {
  %wide = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 96, 24, 1, 1>} : (tensor<1x56x56x24xf32>, tensor<1x6x24x16xf32>) -> tensor<1x56x56x96xf32>
  %active = graph.relu %wide : (tensor<1x56x56x96xf32>) -> tensor<1x56x56x96xf32>
  %filtered = graph.convolution %active, %f {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 96 : i64, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 96, 1, 3, 3>} : (tensor<1x56x56x96xf32>, tensor<9x96xf32>) -> tensor<1x56x56x96xf32>
  %narrow = graph.convolution %filtered, %p {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 24, 96, 1, 1>} : (tensor<1x56x56x96xf32>, tensor<1x2x96x16xf32>) -> tensor<1x56x56x24xf32>
  %y = graph.add %narrow, %x : (tensor<1x56x56x24xf32>, tensor<1x56x56x24xf32>) -> tensor<1x56x56x24xf32>
  return %y : tensor<1x56x56x24xf32>
}

// -----

// The filtered tensor is a result as well, so the region ends with it.
// CHECK-LABEL: @filtered_is_result
// CHECK: %[[F:.*]] = graph.fusion {{.*}}family = "inverted_residual"
// CHECK-COUNT-2: graph.convolution
// CHECK: graph.yield
// CHECK: %[[Y:.*]] = graph.convolution %[[F]]
// CHECK: return %[[Y]], %[[F]]
func.func @filtered_is_result(%x: tensor<1x56x56x24xf32> {graph.name = "x"}, %w: tensor<1x6x24x16xf32> {graph.name = "w"}, %f: tensor<9x96xf32> {graph.name = "f"},
    %p: tensor<1x2x96x16xf32> {graph.name = "p"}) -> (tensor<1x56x56x24xf32> {graph.name = "y"}, tensor<1x56x56x96xf32> {graph.name = "z"}) {
  %wide = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 96, 24, 1, 1>} : (tensor<1x56x56x24xf32>, tensor<1x6x24x16xf32>) -> tensor<1x56x56x96xf32>
  %filtered = graph.convolution %wide, %f {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 96 : i64, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 96, 1, 3, 3>} : (tensor<1x56x56x96xf32>, tensor<9x96xf32>) -> tensor<1x56x56x96xf32>
  %narrow = graph.convolution %filtered, %p {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>, filter_packed, filter_shape = array<i64: 24, 96, 1, 1>} : (tensor<1x56x56x96xf32>, tensor<1x2x96x16xf32>) -> tensor<1x56x56x24xf32>
  return %narrow, %filtered : tensor<1x56x56x24xf32>, tensor<1x56x56x96xf32>
}
