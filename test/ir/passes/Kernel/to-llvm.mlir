// RUN: stator-opt %s --kernel-to-llvm --kernel-verify | FileCheck %s

// CHECK-LABEL: llvm.func @loop(
// CHECK-SAME: stator.scratch = "64"
func.func @loop(%args: !llvm.ptr, %context: !llvm.ptr) attributes {stator.scratch = "64"} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = llvm.load %args : !llvm.ptr -> i64
  // CHECK: llvm.cond_br
  scf.for %i = %zero to %n step %one : i64 {
    // CHECK: llvm.fadd %{{.*}} {fastmathFlags = #llvm.fastmath<contract>} : vector<16xf32>
    %p = llvm.getelementptr %context[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %p : !llvm.ptr -> vector<16xf32>
    %y = arith.addf %x, %x fastmath<contract> : vector<16xf32>
    llvm.store %y, %p : vector<16xf32>, !llvm.ptr
  }
  return
}
