// RUN: stator-opt %s --kernel-contractions="vector-bits=512 vector-registers=32" | FileCheck %s

// Windows with channels last: lanes are channels, borders are bounds of loops, and no position is tested.
// CHECK-LABEL: func.func @pools_over_channels
// CHECK-NOT: cmpi ult
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK-NOT: gather
// CHECK-NOT: cmpi ult
// CHECK: return
func.func @pools_over_channels(%x: tensor<1x8x8x64xf32>) -> tensor<1x4x4x64xf32> {
  %0 = graph.pool %x {kind = #graph.pool_kind<max>, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, 1>,
    pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} :
    (tensor<1x8x8x64xf32>) -> tensor<1x4x4x64xf32>
  return %0 : tensor<1x4x4x64xf32>
}

// A pitched operand: pixels are 96 elements apart.
// CHECK-LABEL: func.func @reads_rows_that_lie_apart
// CHECK: arith.constant 96
func.func @reads_rows_that_lie_apart(%x: tensor<1x8x8x64xf32>) -> tensor<1x4x4x64xf32>
    attributes {stator.pitches = array<i64: 0, 64, 96>} {
  %0 = graph.pool %x {kind = #graph.pool_kind<average>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_low = array<i64: 0, 0>,
    pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<channels_last>} :
    (tensor<1x8x8x64xf32>) -> tensor<1x4x4x64xf32>
  return %0 : tensor<1x4x4x64xf32>
}
