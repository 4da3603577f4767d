// RUN: stator-opt %s --split-input-file --pass-pipeline='builtin.module(plan.method(plan-assign-memory))' --verify-diagnostics

!huge = tensor<?x4611686018427387904xf32, #graph.dims<["N", "4611686018427387904"]>>
plan.method @size_overflows {
  %x = plan.buffer input[0] : !huge
  // expected-error @+1 {{has a size that cannot be expressed}}
  %a = plan.buffer arena : !huge
  plan.kernel @kernels::@k(%x) -> (%a) {family = "map", label = "", sizes = #graph.dims<["N"]>}
}
module @kernels {
  func.func private @k(!huge) -> !huge attributes {graph.symbols = [#graph.symbol<"N", 1, 64>]}
}

// -----

!large = tensor<1152921504606846976xf32>
// expected-error @+1 {{needs an arena that cannot be laid out: size expression is invalid: a buffer of 4611686018427387904 bytes is too large}}
plan.method @no_arena_is_that_large {
  %x = plan.buffer input[0] : !large
  %a = plan.buffer arena : !large
  plan.copy %x to %a
}
