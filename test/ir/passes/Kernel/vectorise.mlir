// RUN: stator-opt %s --pass-pipeline='builtin.module(kernel-graph-to-linalg,kernel-collapse-dims,kernel-vectorise{vector-bits=512})' --split-input-file | FileCheck %s
// RUN: stator-opt %s --pass-pipeline='builtin.module(kernel-graph-to-linalg,kernel-collapse-dims,kernel-vectorise{vector-bits=128})' --split-input-file | FileCheck %s --check-prefix=V2

!x = tensor<?x64xf32, #graph.dims<["s0", "64"]>>
// One loop over this worker's rows, one over vectors of a row without a tail; the producer is computed in it, the bias is loaded once.
// CHECK-LABEL: func.func @fuses_into_one_loop(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func @fuses_into_one_loop(%x: !x, %b: tensor<64xf32>) -> !x {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK: %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[B]] fastmath<contract>
  // CHECK: %[[RELU:.*]] = arith.maximumf %[[SUM]]
  // CHECK: llvm.store %[[RELU]]
  // CHECK-NOT: masked
  // CHECK: return
  // V2-LABEL: @fuses_into_one_loop
  // V2: arith.addf {{.*}} : vector<4xf32>
  %0 = graph.broadcast %b {dimensions = array<i64: 1>} : (tensor<64xf32>) -> !x
  %1 = graph.add %x, %0 : (!x, !x) -> !x
  %2 = graph.relu %1 : (!x) -> !x
  return %2 : !x
}

// -----

!x = tensor<?xf32, #graph.dims<["s0"]>>
// Of unknown length: whole vectors, then one masked one; without mask instructions a scalar loop.
// CHECK-LABEL: func.func @masks_the_tail
func.func @masks_the_tail(%x: !x) -> !x {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: arith.addf {{.*}} : vector<16xf32>
  // CHECK: scf.if
  // CHECK: llvm.intr.masked.load
  // CHECK: llvm.intr.masked.store
  // V2-LABEL: @masks_the_tail
  // V2-NOT: masked
  // V2: arith.addf {{.*}} : vector<4xf32>
  // V2: arith.addf {{.*}} : f32
  %0 = graph.add %x, %x : (!x, !x) -> !x
  return %0 : !x
}

// -----

!x = tensor<?x64xf32, #graph.dims<["s0", "64"]>>
!s = tensor<?x1xf32, #graph.dims<["s0", "1"]>>
// CHECK-LABEL: func.func @hoists_row_scalars
func.func @hoists_row_scalars(%x: !x, %s: !s) -> !x {
  // CHECK: scf.for
  // CHECK: %[[S:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: %[[E:.*]] = math.exp %[[S]] : f32
  // CHECK: %[[V:.*]] = vector.broadcast %[[E]] : f32 to vector<16xf32>
  // CHECK: scf.for
  // CHECK: arith.mulf %{{.*}}, %[[V]]
  %0 = graph.exp %s : (!s) -> !s
  %1 = graph.broadcast %0 {dimensions = array<i64: 0, 1>} : (!s) -> !x
  %2 = graph.mul %x, %1 : (!x, !x) -> !x
  return %2 : !x
}

// -----

// An operand whose contiguous dim is not the result's is transposed in registers, one square tile at a time.
// CHECK-LABEL: func.func @transposes_tiles
func.func @transposes_tiles(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK-COUNT-16: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK-COUNT-64: vector.shuffle
  // CHECK: arith.addf
  // V2-LABEL: @transposes_tiles
  // V2-COUNT-8: vector.shuffle
  // V2-NOT: vector.shuffle
  // V2: return
  %0 = graph.transpose %y {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.add %x, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// -----

// Few channels: whole pixels are put together in registers.
// CHECK-LABEL: func.func @interleaves_channels
func.func @interleaves_channels(%x: tensor<3x1024xf32>) -> tensor<1024x3xf32> {
  // CHECK-COUNT-3: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK-COUNT-6: vector.shuffle
  // CHECK-COUNT-3: llvm.store %{{.*}} : vector<16xf32>
  // CHECK-NOT: vector.shuffle
  // CHECK: return
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<3x1024xf32>) -> tensor<1024x3xf32>
  return %0 : tensor<1024x3xf32>
}

// -----

// Elements of other sizes are gathered.
// CHECK-LABEL: func.func @gathers_bytes
func.func @gathers_bytes(%x: tensor<64x64xi8>) -> tensor<64x64xi8> {
  // CHECK: llvm.intr.masked.gather
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x64xi8>) -> tensor<64x64xi8>
  return %0 : tensor<64x64xi8>
}

// -----

// A row of a table is read as vectors; its number is a scalar, computed once per row.
// CHECK-LABEL: func.func @reads_gathered_rows_as_vectors
func.func @reads_gathered_rows_as_vectors(%t: tensor<50x64xf32>, %i: tensor<9xi64>) -> tensor<9x64xf32> {
  // CHECK: scf.for
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
  // CHECK: scf.for
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CHECK-NOT: gather
  // CHECK: return
  %0 = graph.gather %t, %i {axis = 0 : i64} : (tensor<50x64xf32>, tensor<9xi64>) -> tensor<9x64xf32>
  return %0 : tensor<9x64xf32>
}

// -----

// Small constants are data of the kernel library.
// CHECK: llvm.mlir.global private constant @constants_are_data_data0
// CHECK-LABEL: func.func @constants_are_data
func.func @constants_are_data(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: llvm.mlir.addressof @constants_are_data_data0
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @rank_zero
func.func @rank_zero(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: arith.negf %{{.*}} : f32
  %0 = graph.neg %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// bf16 is a shift; f16 is converted by hardware where there is some.
// CHECK-LABEL: func.func @widens_halves
func.func @widens_halves(%x: tensor<64xf16>, %y: tensor<64xbf16>) -> tensor<64xf32> {
  // CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
  // CHECK: arith.shli %{{.*}} : vector<16xi32>
  // V2-LABEL: @widens_halves
  // V2-NOT: arith.extf
  // V2: return
  %0 = graph.convert %x : (tensor<64xf16>) -> tensor<64xf32>
  %1 = graph.convert %y : (tensor<64xbf16>) -> tensor<64xf32>
  %2 = graph.add %0, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
