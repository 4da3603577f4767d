// RUN: stator-opt %s --pass-pipeline='builtin.module(plan.method(plan-assign-memory),plan-verify)' --split-input-file | FileCheck %s

// Buffers whose lives do not meet share bytes; the arena is as large as the two that do.
// CHECK-LABEL: plan.method @reuses_bytes attributes {arena_size = "512", live_peak = 512 : i64}
plan.method @reuses_bytes {
  %x = plan.buffer input[0] : tensor<64xf32>
  %y = plan.buffer output[0] : tensor<64xf32>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "0"}
  %a = plan.buffer arena : tensor<64xf32>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "256"}
  %b = plan.buffer arena : tensor<64xf32>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "0"}
  %c = plan.buffer arena : tensor<64xf32>
  plan.kernel @kernels::@k(%x) -> (%a) {family = "rows", label = "", sizes = #graph.dims<[]>}
  plan.kernel @kernels::@k(%a) -> (%b) {family = "rows", label = "", sizes = #graph.dims<[]>}
  plan.kernel @kernels::@k(%b) -> (%c) {family = "rows", label = "", sizes = #graph.dims<[]>}
  plan.kernel @kernels::@k(%c) -> (%y) {family = "rows", label = "", sizes = #graph.dims<[]>}
}
module @kernels { func.func private @k(tensor<64xf32>) -> tensor<64xf32> }

// -----

// A kernel that may work in place takes over the bytes of its dying operand.
// CHECK-LABEL: plan.method @works_in_place attributes {arena_size = "256", live_peak = 256 : i64}
plan.method @works_in_place {
  %x = plan.buffer input[0] : tensor<64xf32>
  %y = plan.buffer output[0] : tensor<64xf32>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "0"}
  %a = plan.buffer arena : tensor<64xf32>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "0"}
  %b = plan.buffer arena : tensor<64xf32>
  plan.kernel @kernels::@k(%x) -> (%a) {family = "map", label = "", sizes = #graph.dims<[]>, in_place = array<i64: 0>}
  plan.kernel @kernels::@k(%a) -> (%b) {family = "map", label = "", sizes = #graph.dims<[]>, in_place = array<i64: 0>}
  plan.kernel @kernels::@k(%b) -> (%y) {family = "map", label = "", sizes = #graph.dims<[]>, in_place = array<i64: 0>}
}
module @kernels { func.func private @k(tensor<64xf32>) -> tensor<64xf32> }

// -----

// CHECK-LABEL: plan.method @keeps_operand_that_lives_on attributes {arena_size = "512"
plan.method @keeps_operand_that_lives_on {
  %x = plan.buffer input[0] : tensor<64xf32>
  %y = plan.buffer output[0] : tensor<64xf32>
  %a = plan.buffer arena : tensor<64xf32>
  %b = plan.buffer arena : tensor<64xf32>
  plan.kernel @kernels::@k(%x) -> (%a) {family = "map", label = "", sizes = #graph.dims<[]>}
  plan.kernel @kernels::@k(%a) -> (%b) {family = "map", label = "", sizes = #graph.dims<[]>, in_place = array<i64: 0>}
  plan.kernel @kernels::@two(%a, %b) -> (%y) {family = "map", label = "", sizes = #graph.dims<[]>, in_place = array<i64: 0, 1>}
}
module @kernels {
  func.func private @k(tensor<64xf32>) -> tensor<64xf32>
  func.func private @two(tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
}

// -----

// With a free batch size, offsets are multiples of it.
!a = tensor<?x32xf32, #graph.dims<["N", "32"]>>
!b = tensor<?x64xf32, #graph.dims<["N", "64"]>>
// CHECK-LABEL: plan.method @symbolic attributes {arena_size = "384*N", live_peak = 24576 : i64
plan.method @symbolic attributes {symbols = [#graph.symbol<"N", 1, 64>]} {
  %x = plan.buffer input[0] : !a
  %y = plan.buffer output[0] : !a
  // CHECK: plan.buffer arena : tensor<?x64xf32, {{.*}}> {offset = "0"}
  %a = plan.buffer arena : !b
  // CHECK: plan.buffer arena : tensor<?x32xf32, {{.*}}> {offset = "256*N"}
  %b = plan.buffer arena : !a
  plan.kernel @kernels::@up(%x) -> (%a) {family = "rows", label = "", sizes = #graph.dims<["N"]>}
  plan.kernel @kernels::@down(%a) -> (%b) {family = "rows", label = "", sizes = #graph.dims<["N"]>}
  plan.kernel @kernels::@same(%b) -> (%y) {family = "rows", label = "", sizes = #graph.dims<["N"]>}
}
module @kernels {
  func.func private @up(tensor<?x32xf32, #graph.dims<["s0", "32"]>>) -> tensor<?x64xf32, #graph.dims<["s0", "64"]>> attributes {graph.symbols = [#graph.symbol<"s0", 1, 64>]}
  func.func private @down(tensor<?x64xf32, #graph.dims<["s0", "64"]>>) -> tensor<?x32xf32, #graph.dims<["s0", "32"]>> attributes {graph.symbols = [#graph.symbol<"s0", 1, 64>]}
  func.func private @same(tensor<?x32xf32, #graph.dims<["s0", "32"]>>) -> tensor<?x32xf32, #graph.dims<["s0", "32"]>> attributes {graph.symbols = [#graph.symbol<"s0", 1, 64>]}
}

// -----

// What the loop reads again in its next round keeps its bytes through the whole loop.
// CHECK-LABEL: plan.method @keeps_carried_values attributes {arena_size = "576"
plan.method @keeps_carried_values {
  %x = plan.buffer input[0] : tensor<64xf32>
  %y = plan.buffer output[0] : tensor<64xf32>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "0"}
  %a = plan.buffer arena : tensor<64xf32>
  %go = plan.buffer arena : tensor<i1>
  // CHECK: plan.buffer arena : tensor<64xf32> {offset = "256"}
  %b = plan.buffer arena : tensor<64xf32>
  plan.copy %x to %a
  plan.copy %x to %y
  plan.loop %go {
    plan.kernel @kernels::@test(%a) -> (%go) {family = "reduce", label = "", sizes = #graph.dims<[]>}
  } do {
    plan.kernel @kernels::@k(%a) -> (%b) {family = "rows", label = "", sizes = #graph.dims<[]>}
    plan.copy %b to %y
  }
}
module @kernels {
  func.func private @k(tensor<64xf32>) -> tensor<64xf32>
  func.func private @test(tensor<64xf32>) -> tensor<i1>
}
