// RUN: stator-opt %s --kernel-contractions="vector-bits=512 vector-registers=32" | FileCheck %s
// RUN: stator-opt %s --kernel-contractions="vector-bits=256 vector-registers=16" | FileCheck %s --check-prefix=YMM

// A register tile of 10 rows by two vectors stays in the loop's carried values; each k loads two vectors of weights and 10 scalars. 28
// rows are two such tiles and one of 8.

// CHECK-LABEL: func.func @keeps_a_tile_of_rows_in_registers(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.store
// CHECK-COUNT-20: math.fma
// CHECK: scf.yield
// CHECK-COUNT-20: llvm.store {{.*}} vector<16xf32>

// The same weights are read in half as wide vectors; 28 rows are five tiles of six at most.
// YMM-LABEL: func.func @keeps_a_tile_of_rows_in_registers
// YMM-COUNT-2: llvm.load {{.*}} -> vector<8xf32>
// YMM-COUNT-12: math.fma
// YMM: scf.yield
func.func @keeps_a_tile_of_rows_in_registers(%x: tensor<28x64xf32>, %w: tensor<2x64x16xf32>) -> tensor<28x32xf32> {
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
    rhs_contract = array<i64: 0>, rhs_packed = 32 : i64} : (tensor<28x64xf32>, tensor<2x64x16xf32>) -> tensor<28x32xf32>
  return %0 : tensor<28x32xf32>
}

// The last vector of 20 columns has four lanes: weights are padded, only the store has a mask.

// CHECK-LABEL: func.func @masks_only_stores
// CHECK-NOT: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
func.func @masks_only_stores(%x: tensor<4x8xf32>, %w: tensor<2x8x16xf32>) -> tensor<4x20xf32> {
  %0 = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>,
    rhs_contract = array<i64: 0>, rhs_packed = 20 : i64} : (tensor<4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x20xf32>
  return %0 : tensor<4x20xf32>
}

// A recurrent layer that is large enough to be shared out meets after each step, through the barrier of its context.

// CHECK-LABEL: func.func @meets_after_each_step
// CHECK: stator.scratch
// CHECK: llvm.call %{{.*}}(%arg1)
func.func @meets_after_each_step(%x: tensor<5x2x3xf32>, %w: tensor<1x256x3xf32>, %r: tensor<1x256x256xf32>)
    -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>) {
  %0:2 = graph.rnn %x, %w, %r {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
    : (tensor<5x2x3xf32>, tensor<1x256x3xf32>, tensor<1x256x256xf32>) -> (tensor<5x1x2x256xf32>, tensor<1x2x256xf32>)
  return %0#0, %0#1 : tensor<5x1x2x256xf32>, tensor<1x2x256xf32>
}
