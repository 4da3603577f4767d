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

// -----

// A guarded softmax, and a row of flags that was made a matrix of floats: the mask is the row again.
// CHECK-LABEL: @guarded
// CHECK-SAME: %{{.*}}, %[[M:[^:]*]]: tensor<1x1x8xi1>
func.func @guarded(%q: tensor<2x8x16xf32> {graph.name = "q"}, %k: tensor<2x8x16xf32> {graph.name = "k"}, %m: tensor<1x1x8xi1> {graph.name = "m"}) -> (tensor<2x8x16xf32> {graph.name = "y"}) {
  // CHECK: graph.attention {{.*}}, %[[M]] {{.*}}empty_rows_zero = true
  // CHECK-NOT: graph.is_nan
  %true = graph.constant dense<true> : tensor<1x8x1xi1>
  %lowest = graph.constant dense<0xFF800000> : tensor<1x8x8xf32>
  %zero = graph.constant dense<0.0> : tensor<1x8x8xf32>
  %zeros = graph.constant dense<0.0> : tensor<2x8x8xf32>
  %a = graph.broadcast %true {dimensions = array<i64: 0, 1, 2>} : (tensor<1x8x1xi1>) -> tensor<1x8x8xi1>
  %b = graph.broadcast %m {dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x8xi1>) -> tensor<1x8x8xi1>
  %c = graph.and %a, %b : (tensor<1x8x8xi1>, tensor<1x8x8xi1>) -> tensor<1x8x8xi1>
  %d = graph.select %c, %zero, %lowest : (tensor<1x8x8xi1>, tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %mask = graph.broadcast %d {dimensions = array<i64: 0, 1, 2>} : (tensor<1x8x8xf32>) -> tensor<2x8x8xf32>
  %0 = graph.dot_general %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x8xf32>
  %1 = graph.add %0, %mask : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %3 = graph.is_nan %2 : (tensor<2x8x8xf32>) -> tensor<2x8x8xi1>
  %4 = graph.select %3, %zeros, %2 : (tensor<2x8x8xi1>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %5 = graph.dot_general %4, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  return %5 : tensor<2x8x16xf32>
}
