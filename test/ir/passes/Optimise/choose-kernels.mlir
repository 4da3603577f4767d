// The measured costs decide, of the level that is asked for; the figure behind a verdict is its reason. Which side wins is up to the table.
// RUN: stator-opt %s --optimise-choose-kernels=level=x86-64-v4 | FileCheck %s
// RUN: stator-opt %s --optimise-choose-kernels=level=x86-64-v3 | FileCheck %s --check-prefix=V3
// RUN: stator-opt %s --optimise-choose-kernels=library=none | FileCheck %s --check-prefix=OWN

// CHECK-LABEL: @product
// CHECK: graph.dot_general
// CHECK-SAME: optimise.kernel = "{{own|onednn}}"
// CHECK-SAME: optimise.reason = "{{own matmul|oneDNN}}: {{[0-9]+\.[0-9]+}} times as fast as {{oneDNN|the own matmul}} at 64x768x768 (x86-64-v4)"
// V3: (x86-64-v3)
// OWN: optimise.kernel = "own", optimise.reason = "no library allowed"
func.func @product(%x: tensor<70x700xf32> {graph.name = "x"}, %w: tensor<700x800xf32> {graph.name = "w"}) -> (tensor<70x800xf32> {graph.name = "y"}) {
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<70x700xf32>, tensor<700x800xf32>) -> tensor<70x800xf32>
  return %0 : tensor<70x800xf32>
}

// CHECK-LABEL: @symbolic
// CHECK: optimise.kernel = "own", optimise.reason = "own matmul: one kernel for all sizes"
func.func @symbolic(%x: tensor<?x768xf32, #graph.dims<["N", "768"]>> {graph.name = "x"}, %w: tensor<768x768xf32> {graph.name = "w"}) -> (tensor<?x768xf32, #graph.dims<["N", "768"]>> {graph.name = "y"}) {
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x768xf32, #graph.dims<["N", "768"]>>, tensor<768x768xf32>) -> tensor<?x768xf32, #graph.dims<["N", "768"]>>
  return %0 : tensor<?x768xf32, #graph.dims<["N", "768"]>>
}

// CHECK-LABEL: @depthwise
// CHECK: depthwise{{.*}}9 taps (x86-64-v4)
func.func @depthwise(%x: tensor<1x56x56x144xf32> {graph.name = "x"}, %w: tensor<144x1x3x3xf32> {graph.name = "w"}) -> (tensor<1x56x56x144xf32> {graph.name = "y"}) {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 144 : i64, layout = #graph.layout<channels_last>} : (tensor<1x56x56x144xf32>, tensor<144x1x3x3xf32>) -> tensor<1x56x56x144xf32>
  return %0 : tensor<1x56x56x144xf32>
}

// CHECK-LABEL: @far
// CHECK: optimise.reason = "own convolution: no shape near it was measured"
func.func @far(%x: tensor<1x9x9x5xf32> {graph.name = "x"}, %w: tensor<3x5x4x4xf32> {graph.name = "w"}) -> (tensor<1x6x6x3xf32> {graph.name = "y"}) {
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} : (tensor<1x9x9x5xf32>, tensor<3x5x4x4xf32>) -> tensor<1x6x6x3xf32>
  return %0 : tensor<1x6x6x3xf32>
}
