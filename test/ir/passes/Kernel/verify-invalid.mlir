// RUN: stator-opt %s --kernel-verify --split-input-file --verify-diagnostics

// expected-error @+1 {{is left in the module of kernels, which should hold functions of the LLVM dialect}}
func.func @not_lowered(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has type '!llvm.func<i32 (ptr)>', a kernel has '!llvm.func<void (ptr, ptr)>'}}
llvm.func @signature(%x: !llvm.ptr) -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}

// -----

llvm.func @allocates(%args: !llvm.ptr, %context: !llvm.ptr) {
  %0 = llvm.mlir.constant(8 : i64) : i64
  // expected-error @+1 {{allocates in kernel `allocates`}}
  %1 = llvm.alloca %0 x f32 : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @calls(%args: !llvm.ptr, %context: !llvm.ptr) {
  // expected-error @+1 {{calls `calls` in kernel `calls`, which may call the barrier only}}
  llvm.call @calls(%args, %context) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}

// -----

llvm.func @mixed(%args: !llvm.ptr, %context: !llvm.ptr) {
  // expected-error @+1 {{is left in kernel `mixed`, which should be in the LLVM dialect}}
  %0 = arith.constant 8 : i64
  llvm.return
}
