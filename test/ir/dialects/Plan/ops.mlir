// RUN: stator-opt %s | stator-opt | FileCheck %s
// RUN: stator-opt --emit-bytecode %s | stator-opt | FileCheck %s

graph.parameter @w : tensor<64x10xf32> {source = 0 : i32, offset = 0 : i64}
graph.parameter @step : tensor<i64> {source = 0 : i32, offset = 0 : i64, is_mutable}

// CHECK-LABEL: plan.method @forward attributes {arena_size = "{{.*}}", guards = {{.*}}, symbols = [#graph.symbol<"N", 1, 64>]}
plan.method @forward attributes {arena_size = "64*ceildiv(N, 16)", symbols = [#graph.symbol<"N", 1, 64>], guards = [["N", "M"]]} {
  // CHECK: %[[X:.*]] = plan.buffer input[0] "x" : tensor<?x64xf32, #graph.dims<["N", "64"]>>
  %x = plan.buffer input[0] "x" : tensor<?x64xf32, #graph.dims<["N", "64"]>>
  // CHECK: %[[Y:.*]] = plan.buffer output[0] "y" : tensor<?x10xf32, #graph.dims<["N", "10"]>>
  %y = plan.buffer output[0] "y" : tensor<?x10xf32, #graph.dims<["N", "10"]>>
  // CHECK: %[[W:.*]] = plan.buffer parameter @w : tensor<64x10xf32>
  %w = plan.buffer parameter @w : tensor<64x10xf32>
  // CHECK: %[[S:.*]] = plan.buffer state @step : tensor<i64>
  %s = plan.buffer state @step : tensor<i64>
  // CHECK: %[[T:.*]] = plan.buffer arena : tensor<?x10xf32, #graph.dims<["N", "10"]>> {offset = "0"}
  %t = plan.buffer arena : tensor<?x10xf32, #graph.dims<["N", "10"]>> {offset = "0"}
  // CHECK: %[[V:.*]] = plan.view %[[W]] at "40" : tensor<10xf32>
  %v = plan.view %w at "40" : tensor<10xf32>
  // CHECK: %[[C:.*]] = plan.buffer arena : tensor<i1>
  %c = plan.buffer arena : tensor<i1>
  // CHECK: plan.kernel @kernels::@k_0(%[[X]], %[[W]]) -> (%[[T]]) {family = "matmul", label = "fc1", sizes = #graph.dims<["N"]>}
  plan.kernel @kernels::@k_0(%x, %w) -> (%t) {family = "matmul", label = "fc1", sizes = #graph.dims<["N"]>}
  // CHECK: plan.library "onednn" "matmul"(%[[X]], %[[W]]) -> (%[[T]])
  plan.library "onednn" "matmul"(%x, %w) -> (%t) {family = "matmul", label = "fc1", options = {bias = 0 : i64}, sizes = #graph.dims<["1", "N", "10", "64"]>}
  // CHECK: plan.copy %[[T]] to %[[Y]]
  plan.copy %t to %y
  // CHECK: plan.shape %[[S]] {values = #graph.dims<["N"]>}
  plan.shape %s {values = #graph.dims<["N"]>}
  // CHECK: plan.if %[[C]] {
  plan.if %c {
    // CHECK-NEXT: plan.copy
    plan.copy %t to %y
  // CHECK-NEXT: } else {
  } else {
  }
  // CHECK: plan.loop %[[C]] {
  plan.loop %c {
  // CHECK-NEXT: } do {
  } do {
    plan.copy %t to %y
  }
}

module @kernels {
  func.func @k_0(%x: tensor<?x64xf32, #graph.dims<["s0", "64"]>>, %w: tensor<64x10xf32>) -> tensor<?x10xf32, #graph.dims<["s0", "10"]>>
      attributes {graph.symbols = [#graph.symbol<"s0", 1, 64>], stator.family = "matmul"} {
    %y = graph.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<?x64xf32, #graph.dims<["s0", "64"]>>, tensor<64x10xf32>) -> tensor<?x10xf32, #graph.dims<["s0", "10"]>>
    return %y : tensor<?x10xf32, #graph.dims<["s0", "10"]>>
  }
}
