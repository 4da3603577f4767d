// RUN: stator-opt %s --split-input-file --plan-verify --verify-diagnostics

// expected-error @+1 {{is a method that has no plan}}
func.func @left_behind(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

plan.method @no_offset {
  // expected-error @+1 {{has no offset in the arena}}
  %a = plan.buffer arena : tensor<4xf32>
}

// -----

plan.method @unwritten_output {
  // expected-error @+1 {{is an output that no instruction writes}}
  %y = plan.buffer output[0] : tensor<4xf32>
}

// -----

plan.method @read_before_written attributes {arena_size = "64"} {
  %y = plan.buffer output[0] : tensor<4xf32>
  // expected-note @+1 {{declared here, with type 'tensor<4xf32>'}}
  %a = plan.buffer arena : tensor<4xf32> {offset = "0"}
  // expected-error @+1 {{reads a buffer that nothing has written}}
  plan.copy %a to %y
}

// -----

plan.method @written_in_one_branch_only attributes {arena_size = "64"} {
  %c = plan.buffer input[0] : tensor<i1>
  %y = plan.buffer output[0] : tensor<4xf32>
  // expected-note @+1 {{declared here, with type 'tensor<4xf32>'}}
  %a = plan.buffer arena : tensor<4xf32> {offset = "0"}
  %x = plan.buffer input[1] : tensor<4xf32>
  plan.if %c {
    plan.copy %x to %a
  } else {
  }
  // expected-error @+1 {{reads a buffer that nothing has written}}
  plan.copy %a to %y
}

// -----

plan.method @written_input {
  %x = plan.buffer input[0] : tensor<4xf32>
  %y = plan.buffer input[1] : tensor<4xf32>
  // expected-error @+1 {{writes to a buffer of kind `input`}}
  plan.copy %x to %y
}

// -----

plan.method @overlap attributes {arena_size = "128"} {
  %x = plan.buffer input[0] : tensor<16xf32>
  %y = plan.buffer output[0] : tensor<16xf32>
  %z = plan.buffer output[1] : tensor<16xf32>
  // expected-note @+1 {{the other buffer, of type 'tensor<16xf32>'}}
  %a = plan.buffer arena : tensor<16xf32> {offset = "0"}
  // expected-error @+1 {{shares bytes 0 to 64 with a buffer that is alive at the same time}}
  %b = plan.buffer arena : tensor<16xf32> {offset = "0"}
  plan.copy %x to %a
  plan.copy %x to %b
  plan.copy %a to %y
  plan.copy %b to %z
}

// -----

// Right for the sizes that are multiples of 16 only.
plan.method @overlap_at_some_sizes attributes {symbols = [#graph.symbol<"N", 1, 64>], arena_size = "128*ceildiv(N, 16)"} {
  %x = plan.buffer input[0] : tensor<?xf32, #graph.dims<["N"]>>
  // expected-error @+1 {{starts at byte 4, expected a multiple of 64}}
  %a = plan.buffer arena : tensor<?xf32, #graph.dims<["N"]>> {offset = "4*N"}
  plan.copy %x to %a
}

// -----

plan.method @outside_of_arena attributes {arena_size = "64"} {
  %x = plan.buffer input[0] : tensor<32xf32>
  // expected-error @+1 {{ends at byte 128 of an arena of 64}}
  %a = plan.buffer arena : tensor<32xf32> {offset = "0"}
  plan.copy %x to %a
}

// -----

plan.method @wrong_types {
  %x = plan.buffer input[0] : tensor<?x4xf32, #graph.dims<["N", "4"]>>
  %y = plan.buffer output[0] : tensor<?x4xf32, #graph.dims<["2*N", "4"]>>
  // expected-error @+1 {{output 0 is 'tensor<?x4xf32, #graph.dims<["2*N", "4"]>>', the kernel expects 'tensor<?x4xf32, #graph.dims<["N", "4"]>>'}}
  plan.kernel @kernels::@k(%x) -> (%y) {family = "map", label = "", sizes = #graph.dims<["N"]>}
}
module @kernels {
  // expected-note @+1 {{kernel defined here}}
  func.func private @k(tensor<?x4xf32, #graph.dims<["s0", "4"]>>) -> tensor<?x4xf32, #graph.dims<["s0", "4"]>> attributes {graph.symbols = [#graph.symbol<"s0", 1, 64>]}
}

// -----

module @kernels {
  func.func private @k() -> tensor<4xf32>
}
// expected-error @+1 {{is left on tensors after the plan stage}}
%0 = plan.call @kernels::@k() {family = "map", label = "", sizes = #graph.dims<[]>} : () -> tensor<4xf32>

// -----

plan.method @unknown_parameter {
  // expected-error@+1 {{names @w, which is not a `graph.parameter`}}
  %w = plan.buffer parameter @w : tensor<4xf32>
}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @w : tensor<4xf32> {source = 0 : i32, offset = 0 : i64}
plan.method @frozen_state {
  // expected-error@+1 {{of kind `state` names @w, which is frozen}}
  %w = plan.buffer state @w : tensor<4xf32>
}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
plan.method @mutable_parameter {
  // expected-error@+1 {{of kind `parameter` names @s, which is mutable}}
  %s = plan.buffer parameter @s : tensor<4xf32>
}

// -----

// expected-note@+1 {{declared here}}
graph.parameter @s : tensor<4xf32> {source = 0 : i32, offset = 0 : i64, is_mutable}
plan.method @type_of_state {
  // expected-error@+1 {{has the type 'tensor<5xf32>', expected that of the parameter, 'tensor<4xf32>'}}
  %s = plan.buffer state @s : tensor<5xf32>
}

// -----

plan.method @m attributes {arena_size = "64"} {
  %x = plan.buffer input[0] "x" : tensor<2x8xf32>
  %y = plan.buffer output[0] "y" : tensor<2x4xf32>
  %v = plan.view %x at "0" : tensor<2x4xf32> {pitch = array<i64: 4, 8>}
  // expected-error @+1 {{input 0 has rows at another distance than the kernel was made for}}
  plan.kernel @kernels::@k(%v) -> (%y) {family = "map", label = "", sizes = #graph.dims<[]>}
}
module @kernels {
  func.func @k(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    return %x : tensor<2x4xf32>
  }
}
