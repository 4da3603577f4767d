// RUN: stator-opt %s --graph-recognise-attention --split-input-file | FileCheck %s

// CHECK-LABEL: @scaled_and_masked
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x8x16xf32> {graph.name = "q"}, %[[K:.*]]: tensor<2x3x8x16xf32> {graph.name = "k"}, %[[V:.*]]: tensor<2x3x8x16xf32>
func.func @scaled_and_masked(%q: tensor<2x3x8x16xf32> {graph.name = "q"}, %k: tensor<2x3x8x16xf32> {graph.name = "k"},
                             %v: tensor<2x3x8x16xf32> {graph.name = "v"}, %m: tensor<8x8xf32> {graph.name = "m"})
    -> (tensor<2x3x8x16xf32> {graph.name = "y"}) {
  // CHECK: %[[M:.*]] = graph.reshape %{{.*}} : (tensor<8x8xf32>) -> tensor<1x1x8x8xf32>
  // CHECK: graph.attention %[[Q]], %[[K]], %[[V]], %[[M]] {{.*}}scale = 2.500000e-01 : f64
  %s = graph.constant dense<4.0> : tensor<2x3x8x8xf32>
  %kt = graph.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x3x8x16xf32>) -> tensor<2x3x16x8xf32>
  %0 = graph.dot_general %q, %kt {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x8x16xf32>, tensor<2x3x16x8xf32>) -> tensor<2x3x8x8xf32>
  %1 = graph.div %0, %s : (tensor<2x3x8x8xf32>, tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  %mb = graph.broadcast %m {dimensions = array<i64: 2, 3>} : (tensor<8x8xf32>) -> tensor<2x3x8x8xf32>
  %2 = graph.add %1, %mb : (tensor<2x3x8x8xf32>, tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  %4 = graph.dot_general %3, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x8x8xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>
  return %4 : tensor<2x3x8x16xf32>
}

// -----

// The weights are a result too, so they have to be computed anyway.
// CHECK-LABEL: @keeps_shared_weights
func.func @keeps_shared_weights(%q: tensor<2x8x16xf32> {graph.name = "q"}, %k: tensor<2x8x16xf32> {graph.name = "k"},
                                %v: tensor<2x8x16xf32> {graph.name = "v"})
    -> (tensor<2x8x16xf32> {graph.name = "y"}, tensor<2x8x8xf32> {graph.name = "weights"}) {
  // CHECK-NOT: graph.attention
  %0 = graph.dot_general %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x8xf32>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %2 = graph.dot_general %1, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  return %2, %1 : tensor<2x8x16xf32>, tensor<2x8x8xf32>
}
