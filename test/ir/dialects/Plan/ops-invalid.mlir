// RUN: stator-opt %s --split-input-file --verify-diagnostics

plan.method @m {
  // expected-error @+1 {{of kind `parameter` needs the name of a parameter}}
  %b = plan.buffer parameter : tensor<4xf32>
}

// -----

plan.method @m {
  // expected-error @+1 {{of kind `arena` must not name a parameter}}
  %b = plan.buffer arena @w : tensor<4xf32>
}

// -----

plan.method @m {
  // expected-error @+1 {{of kind `output` needs an index}}
  %b = plan.buffer output : tensor<4xf32>
}

// -----

plan.method @m {
  // expected-error @+1 {{of kind `arena` must not have an index}}
  %b = plan.buffer arena[3] : tensor<4xf32>
}

// -----

plan.method @m {
  // expected-error @+1 {{index must not be negative}}
  %b = plan.buffer input[-1] : tensor<4xf32>
}

// -----

plan.method @m {
  // expected-error @+1 {{only arena buffers have an offset}}
  %b = plan.buffer input[0] : tensor<4xf32> {offset = "0"}
}

// -----

plan.method @m {
  // expected-error @+1 {{offset `N *` is not a size expression}}
  %b = plan.buffer arena : tensor<4xf32> {offset = "N *"}
}

// -----

plan.method @m {
  // expected-error @+1 {{offset `N*2` is not in canonical form, which is `2*N`}}
  %b = plan.buffer arena : tensor<4xf32> {offset = "N*2"}
}

// -----

plan.method @m {
  %b = plan.buffer arena : tensor<4xf32>
  %v = plan.view %b at "8" : tensor<2xf32>
  // expected-error @+1 {{the base of a view must be declared by `plan.buffer`}}
  %w = plan.view %v at "0" : tensor<1xf32>
}

// -----

plan.method @m {
  %b = plan.buffer arena : tensor<4xf32>
  // expected-error @+1 {{ends 4 bytes after its base of type 'tensor<4xf32>'}}
  %v = plan.view %b at "12" : tensor<2xf32>
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<4xf32>
  %b = plan.buffer arena : tensor<5xf32>
  // expected-error @+1 {{copies 16 bytes to a buffer of 20}}
  plan.copy %a to %b
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<2xf32>
  // expected-error @+1 {{writes to elements of type 'f32', expected i64 or i32}}
  plan.shape %a {values = #graph.dims<["N", "2"]>}
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<3xi64>
  // expected-error @+1 {{writes 2 values to a buffer of type 'tensor<3xi64>'}}
  plan.shape %a {values = #graph.dims<["N", "2"]>}
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<2xi1>
  // expected-error @+1 {{condition has type 'tensor<2xi1>', expected one i1}}
  plan.if %a {
  } else {
  }
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<4xf32>
  // expected-error @+1 {{names `@kernels::@k`, which is not a function}}
  plan.kernel @kernels::@k() -> (%a) {family = "map", label = "", sizes = #graph.dims<[]>}
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<4xf32>
  // expected-error @+1 {{has 0 inputs, the kernel 1}}
  plan.kernel @kernels::@k() -> (%a) {family = "map", label = "", sizes = #graph.dims<[]>}
}
module @kernels {
  // expected-note @+1 {{kernel defined here}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<4xf32>
  // expected-error @+1 {{has 2 results, the kernel 1}}
  plan.kernel @kernels::@k(%a) -> (%a, %a) {family = "map", label = "", sizes = #graph.dims<[]>}
}
module @kernels {
  // expected-note @+1 {{kernel defined here}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<4xf32>
  // expected-error @+1 {{has 1 sizes, the kernel 0}}
  plan.kernel @kernels::@k(%a) -> (%a) {family = "map", label = "", sizes = #graph.dims<["N"]>}
}
module @kernels {
  // expected-note @+1 {{kernel defined here}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

plan.method @m {
  %a = plan.buffer arena : tensor<2x8xf32>
  // expected-error @+1 {{of type 'tensor<2x4xf32>' has a pitch that is not [elements of its last axes, a larger distance]}}
  %v = plan.view %a at "0" : tensor<2x4xf32> {pitch = array<i64: 3, 8>}
}
