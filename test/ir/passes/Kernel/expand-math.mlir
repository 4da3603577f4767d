// RUN: stator-opt %s --kernel-expand-math | FileCheck %s

// CHECK-LABEL: func.func @exponential
func.func @exponential(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK-NOT: math.exp
  // CHECK: llvm.intr.fmuladd
  // CHECK: return
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// Functions without a short form of their own are computed in f64.
// CHECK-LABEL: func.func @sine
func.func @sine(%x: f32) -> f32 {
  // CHECK: arith.extf %{{.*}} : f32 to f64
  // CHECK-NOT: math.sin
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  %0 = math.sin %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @keeps_instructions
func.func @keeps_instructions(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: math.sqrt
  // CHECK: math.floor
  %0 = math.sqrt %x : vector<16xf32>
  %1 = math.floor %0 : vector<16xf32>
  return %1 : vector<16xf32>
}

// CHECK-LABEL: func.func @remainder
func.func @remainder(%x: vector<4xf64>, %y: vector<4xf64>) -> vector<4xf64> {
  // CHECK-NOT: arith.remf
  // CHECK: return
  %0 = arith.remf %x, %y : vector<4xf64>
  return %0 : vector<4xf64>
}
