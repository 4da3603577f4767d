// RUN: stator-opt %s --optimise-channels-last --optimise-sink-transposes --optimise-choose-algorithms --optimise-choose-kernels=library=none --optimise-pack-parameters --optimise-form-fusions --split-input-file | FileCheck %s
// RUN: stator-opt %s --optimise-channels-last --optimise-sink-transposes --optimise-choose-algorithms=weights-budget=0 --optimise-choose-kernels=library=none --split-input-file | FileCheck %s --check-prefix=BUDGET
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet | FileCheck %s --check-prefix=ON
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet --winograd=off | FileCheck %s --check-prefix=OFF
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet --disable=winograd | FileCheck %s --check-prefix=OFF
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet --math=exact | FileCheck %s --check-prefix=OFF
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=onednn --quiet | FileCheck %s --check-prefix=OFF
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet --weights-budget=200kB | FileCheck %s --check-prefix=OFF
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet --weights-budget=300kB | FileCheck %s --check-prefix=SMALL
// RUN: stator-compile %source/test/ir/passes/Optimise/Inputs/winograd.mlir --stop-after=optimise --library=none --quiet --weights-budget=1MB | FileCheck %s --check-prefix=ON

// BUDGET-NOT: winograd =

// ON: winograd = 4
// OFF-NOT: winograd =
// SMALL: winograd = 2

// A quarter of the multiplications; the tiles divide the image.
// CHECK: graph.parameter @w.pack_winograd : tensor<4x36x64x16xf32> {layout = "winograd_panels16", recipe = #graph.recipe<"pack_winograd", [@w], {tile = 4 : i64}>}
graph.parameter @w : tensor<64x64x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @large_image
func.func @large_image(%x: tensor<1x64x56x56xf32> {graph.name = "x"}) -> (tensor<1x64x56x56xf32> {graph.name = "y"}) {
  // CHECK: reason = "Winograd F(4x4), estimated at {{[0-9]+}}% of the direct time"
  // CHECK: graph.convolution {{.*}}filter_packed, filter_shape = array<i64: 64, 64, 3, 3>{{.*}}winograd = 4
  %w = graph.get_parameter @w : tensor<64x64x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// Filters of more than 16 MB come from memory, and F(4x4) would read four times as much.
graph.parameter @w : tensor<768x768x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @small_image_of_many_channels
func.func @small_image_of_many_channels(%x: tensor<1x768x7x7xf32> {graph.name = "x"}) -> (tensor<1x768x7x7xf32> {graph.name = "y"}) {
  // CHECK: reason = "Winograd F(2x2), estimated at
  // CHECK: graph.convolution {{.*}}winograd = 2
  %w = graph.get_parameter @w : tensor<768x768x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x768x7x7xf32>, tensor<768x768x3x3xf32>) -> tensor<1x768x7x7xf32>
  return %0 : tensor<1x768x7x7xf32>
}

// -----

// Products over few channels do not pay for their transforms.
graph.parameter @w : tensor<64x3x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @few_channels
func.func @few_channels(%x: tensor<1x3x56x56xf32> {graph.name = "x"}) -> (tensor<1x64x56x56xf32> {graph.name = "y"}) {
  // CHECK: reason = "no library allowed; direct: Winograd needs 16 channels"
  // CHECK-NOT: winograd =
  %w = graph.get_parameter @w : tensor<64x3x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x56x56xf32>, tensor<64x3x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// Most of a tile would lie outside.
graph.parameter @w : tensor<32x32x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @tiny_image
func.func @tiny_image(%x: tensor<1x32x1x1xf32> {graph.name = "x"}) -> (tensor<1x32x1x1xf32> {graph.name = "y"}) {
  // CHECK: reason = "no library allowed; direct: Winograd F({{[24]x[24]}}) is estimated at {{[0-9]+}}% of its time"
  // CHECK-NOT: winograd =
  %w = graph.get_parameter @w : tensor<32x32x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x1x1xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x1x1xf32>
  return %0 : tensor<1x32x1x1xf32>
}

// -----

// Not for strides.
graph.parameter @w : tensor<64x64x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @stride
func.func @stride(%x: tensor<1x64x56x56xf32> {graph.name = "x"}) -> (tensor<1x64x28x28xf32> {graph.name = "y"}) {
  // CHECK: reason = "no library allowed"
  // CHECK-NOT: winograd =
  %w = graph.get_parameter @w : tensor<64x64x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 2, 2>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %0 : tensor<1x64x28x28xf32>
}

// -----

// Filters that may change between runs are not transformed.
graph.parameter @w : tensor<64x64x3x3xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
// CHECK-LABEL: @state
func.func @state(%x: tensor<1x64x56x56xf32> {graph.name = "x"}) -> (tensor<1x64x56x56xf32> {graph.name = "y"}) {
  // CHECK: reason = "no library allowed; direct: Winograd needs the filter at compile time"
  // CHECK-NOT: winograd =
  %w = graph.get_parameter @w : tensor<64x64x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// The number of tiles decides.
graph.parameter @w : tensor<64x64x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @unknown_size
func.func @unknown_size(%x: tensor<1x64x?x56xf32, #graph.dims<["1", "64", "H", "56"]>> {graph.name = "x"}) -> (tensor<1x64x?x56xf32, #graph.dims<["1", "64", "H", "56"]>> {graph.name = "y"}) {
  // CHECK: reason = "no library allowed; direct: Winograd is chosen for images of known size only"
  // CHECK-NOT: winograd =
  %w = graph.get_parameter @w : tensor<64x64x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x?x56xf32, #graph.dims<["1", "64", "H", "56"]>>, tensor<64x64x3x3xf32>) -> tensor<1x64x?x56xf32, #graph.dims<["1", "64", "H", "56"]>>
  return %0 : tensor<1x64x?x56xf32, #graph.dims<["1", "64", "H", "56"]>>
}

// -----

// The batch may be unknown: one image is assumed.
graph.parameter @w : tensor<64x64x3x3xf32> {source = 0 : i32, offset = 0 : i64}
// CHECK-LABEL: @unknown_batch
func.func @unknown_batch(%x: tensor<?x64x56x56xf32, #graph.dims<["N", "64", "56", "56"]>> {graph.name = "x"}) -> (tensor<?x64x56x56xf32, #graph.dims<["N", "64", "56", "56"]>> {graph.name = "y"}) {
  // CHECK: graph.convolution {{.*}}winograd = 4
  %w = graph.get_parameter @w : tensor<64x64x3x3xf32>
  %0 = graph.convolution %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x64x56x56xf32, #graph.dims<["N", "64", "56", "56"]>>, tensor<64x64x3x3xf32>) -> tensor<?x64x56x56xf32, #graph.dims<["N", "64", "56", "56"]>>
  return %0 : tensor<?x64x56x56xf32, #graph.dims<["N", "64", "56", "56"]>>
}
