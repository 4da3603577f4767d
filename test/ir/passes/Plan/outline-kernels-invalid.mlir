// RUN: stator-opt %s --split-input-file --plan-outline-kernels --verify-diagnostics

func.func @unknown_library(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be a call of `fastlib`: no library of that name is known}}
  %y = graph.fusion %x {family = "map", kernel = "fastlib"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    graph.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @library_without_contraction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be a call of `onednn`: the region holds no contraction}}
  %y = graph.fusion %x {family = "map", kernel = "onednn"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    graph.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @library_with_foreign_epilogue(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{cannot be a call of `onednn`: its epilogue has `graph.exp`, which the library does not do at this place}}
  %y = graph.fusion %x, %w {family = "matmul", kernel = "onednn"} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%u: tensor<2x4xf32>, %v: tensor<4x4xf32>):
    %1 = graph.dot_general %u, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %2 = graph.exp %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %2 : tensor<2x4xf32>
  }
  return %y : tensor<2x4xf32>
}

// -----

func.func @library_with_computed_operand(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{cannot be a call of `onednn`: an operand of the matmul is computed inside the region}}
  %y = graph.fusion %x, %w {family = "matmul", kernel = "onednn"} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%u: tensor<2x4xf32>, %v: tensor<4x4xf32>):
    %0 = graph.exp %u : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = graph.dot_general %0, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    graph.yield %1 : tensor<2x4xf32>
  }
  return %y : tensor<2x4xf32>
}
